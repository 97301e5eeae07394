/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What bt writes for one task; foreach writes it for all. */
#ifndef CMDS_BT_H
#define CMDS_BT_H

#include "debugger/arguments/arguments.h"
#include "debugger/kernel/task.h"
#include "debugger/session.h"

struct error *bt_write_task(struct session *session, const struct task *task,
			    bool with_arguments) MUST_CHECK;
/* Of the frames of a trace; *ret NULL: not known, for without them a stack is still worth showing.
 * Caller frees *ret. */
struct error *bt_find_arguments(struct session *session, const struct task *task,
				struct stack_trace *trace, struct argument_places *places,
				struct frame_arguments **ret) MUST_CHECK;
/* An object: "PID: ... COMMAND: ..." and the line's end. */
void bt_write_header(struct out *out, const char *key, const struct task *task);
/* A pid, an address, an expression that gives one. Caller deinits *ret. */
struct error *bt_find_task(struct session *session, const char *text, struct task *ret) MUST_CHECK;

#endif
