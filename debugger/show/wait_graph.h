/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who waits for whom, as a tree for people and in Graphviz' language. */
#ifndef DEBUGGER_SHOW_WAIT_GRAPH_H
#define DEBUGGER_SHOW_WAIT_GRAPH_H

#include "debugger/analysis/waits.h"
#include "debugger/session.h"

/* Only what has to do with one object or one task; both 0: everything. */
struct wait_choice {
	uint64_t object, task;
};

/* NULL: not known. */
const struct task *wait_owner_task(const struct waits *waits, const struct wait *wait);
struct error *wait_write_graph(struct session *session, const struct waits *waits,
			       const struct wait_choice *choice) MUST_CHECK;
struct error *wait_write_dot(struct session *session, const struct waits *waits,
			     const struct wait_choice *choice) MUST_CHECK;

#endif
