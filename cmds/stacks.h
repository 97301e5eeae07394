/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMDS_STACKS_H
#define CMDS_STACKS_H

#include "debugger/command/command.h"

/* All tasks' stacks, grouped: `bt -g`. */
struct error *stacks_write_all(struct session *session) MUST_CHECK;

#endif
