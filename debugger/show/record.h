/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a fleet keeps of a crash: one object of some kilobytes, so that thousands of dumps can be
 * counted and compared without the dumps.
 */
#ifndef DEBUGGER_SHOW_RECORD_H
#define DEBUGGER_SHOW_RECORD_H

#include "debugger/session.h"

/* Of what a record has, the number that readers look at first; another one has other members. */
#define RECORD_VERSION 1

struct record_options {
	bool is_anonymous;  /* without names of the host, of tasks and what others wrote */
	bool has_stacks;    /* those of all tasks, equal ones once */
	uint32_t log_lines; /* of the log's end */
};

/* As an object to `out`, which takes data. Errors are fatal ones: what is not known is null. */
struct error *record_write(struct session *session, struct out *out,
			   const struct record_options *options) MUST_CHECK;

#endif
