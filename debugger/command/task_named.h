/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The task that an operand means. */
#ifndef DEBUGGER_COMMAND_TASK_NAMED_H
#define DEBUGGER_COMMAND_TASK_NAMED_H

#include "debugger/kernel/task.h"
#include "debugger/session.h"

/*
 * A pid, an address (hexadecimal, with or without 0x), an expression that gives one, or a name that
 * one task has. Caller deinits *ret.
 */
struct error *task_named(struct session *session, const char *text, struct task *ret) MUST_CHECK;

#endif
