/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether who has a lock can still be in the code that took it: else it was left taken. */
#ifndef DEBUGGER_ANALYSIS_LOCK_TAKER_H
#define DEBUGGER_ANALYSIS_LOCK_TAKER_H

#include "debugger/kernel/task.h"

struct lock_taker {
	bool is_user;	   /* it is in user space, where nobody has a lock of the kernel */
	const char *sleep; /* a system call that takes no lock, in which it sleeps; NULL */
	char absent[64];   /* the lock is of this module, of which it is in no function; "" */
};

/* `lock`: address of it; 0: not known. Errors are fatal ones. */
struct error *lock_taker_ask(struct target *target, const struct task *task, uint64_t lock,
			     struct lock_taker *ret) MUST_CHECK;

#endif
