/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How the process that reads the dump died. */
#ifndef DEBUGGER_HELPER_DEATH_H
#define DEBUGGER_HELPER_DEATH_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Says on standard error, in one line, that the sandbox or a fault ended that process. When it was
 * anything else, or its parent has cleared it away already, and with it the reason: that it has
 * ended, if that is to be told (terminal_close()).
 */
void death_tell(pid_t reader, bool is_told);

#endif
