/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The memory of the process that a line means. */
#ifndef DEBUGGER_COMMAND_TASK_SPACE_H
#define DEBUGGER_COMMAND_TASK_SPACE_H

#include "debugger/kernel/user_space.h"
#include "debugger/session.h"

/* Of the task of that name, as task_named() has it; NULL: of the chosen one. Caller closes *ret. */
struct error *task_space_open(struct session *session, const char *name,
			      struct user_space **ret) MUST_CHECK;

#endif
