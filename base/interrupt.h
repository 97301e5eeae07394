/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ctrl-C: the only mutable file-scope variable of the program. Long loops ask for it. */
#ifndef BASE_INTERRUPT_H
#define BASE_INTERRUPT_H

#include "base/error.h"
#include <signal.h>

extern volatile sig_atomic_t interrupt_flag;

/* Routes SIGINT to the flag. */
void interrupt_install(void);
void interrupt_clear(void);
/* ERROR_INTERRUPTED when the user pressed Ctrl-C since the last clear, else NULL. */
struct error *interrupt_check(void) MUST_CHECK;

#endif
