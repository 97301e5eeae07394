/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the parts of the command `locks` share. */
#ifndef CMDS_LOCKS_H
#define CMDS_LOCKS_H

#include "debugger/analysis/waits.h"
#include "debugger/session.h"

/* Only what has to do with one object or one task; both 0: everything. */
struct locks_choice {
	uint64_t object, task;
};

/* NULL: not known. */
const struct task *locks_owner(const struct waits *waits, const struct wait *wait);
struct error *locks_write_graph(struct session *session, const struct waits *waits,
				const struct locks_choice *choice) MUST_CHECK;
struct error *locks_write_dot(struct session *session, const struct waits *waits,
			      const struct locks_choice *choice) MUST_CHECK;

#endif
