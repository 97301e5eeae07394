// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/interrupt.h"

#include <stddef.h>

volatile sig_atomic_t interrupt_flag;

static void interrupt_raise(int signal_number)
{
	(void)signal_number;
	interrupt_flag = 1;
}

void interrupt_install(void)
{
	struct sigaction action = { .sa_handler = interrupt_raise, .sa_flags = SA_RESTART };
	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
}

void interrupt_clear(void)
{
	interrupt_flag = 0;
}

struct error *interrupt_check(void)
{
	return interrupt_flag ? error_create(ERROR_INTERRUPTED, "interrupted") : NULL;
}
