/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What `bt -u` writes: a task and its stack in user mode. */
#ifndef DEBUGGER_SHOW_USER_TRACES_H
#define DEBUGGER_SHOW_USER_TRACES_H

#include "debugger/kernel/task.h"
#include "debugger/session.h"

/* An object: the task and its frames; as rows, one a frame. */
struct error *user_trace_write(struct session *session, const struct task *task) MUST_CHECK;

#endif
