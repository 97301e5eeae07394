/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How the process that reads the dump died. */
#ifndef DEBUGGER_HELPER_DEATH_H
#define DEBUGGER_HELPER_DEATH_H

#include <sys/types.h>

/*
 * Says on standard error, in one line, that the sandbox or a fault ended that process; nothing when
 * it was anything else, or its parent has cleared it away already, and with it the reason.
 */
void death_tell(pid_t reader);

#endif
