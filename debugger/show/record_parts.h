/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts of a record, among one another. */
#ifndef DEBUGGER_SHOW_RECORD_PARTS_H
#define DEBUGGER_SHOW_RECORD_PARTS_H

#include "debugger/analysis/analysis.h"
#include "debugger/kernel/summary.h"
#include "debugger/show/record.h"

struct record {
	struct session *session;
	struct target *target;
	struct out *out;
	const struct record_options *options;
	struct summary summary;
	struct analysis analysis;
};

/* Members of the record. Errors are fatal ones. */
/* Who waits uninterruptibly, by what for and where. */
struct error *record_write_waiting(struct record *record) MUST_CHECK;
/* Nothing where the options do not want them. */
struct error *record_write_log(struct record *record) MUST_CHECK;
struct error *record_write_stacks(struct record *record) MUST_CHECK;

#endif
