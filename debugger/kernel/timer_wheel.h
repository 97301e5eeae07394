/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Timers that wait in the wheels of the CPUs (kernel/time/timer.c). */
#ifndef DEBUGGER_KERNEL_TIMER_WHEEL_H
#define DEBUGGER_KERNEL_TIMER_WHEEL_H

#include "debugger/target/object.h"

struct wheel_timer {
	struct object timer; /* a struct timer_list */
	uint32_t cpu;
	uint32_t base;	 /* which of the CPU's wheels */
	uint32_t bucket; /* which list of that */
};

struct wheel_visitor {
	struct error *(*visit)(void *context, const struct wheel_timer *timer);
	/* Something is broken here; takes `problem`. */
	struct error *(*broken)(void *context, struct error *problem);
	void *context;
};

/* Of all possible CPUs, wheel after wheel. Errors: of `visit` and `broken`, and what is missing. */
struct error *timer_wheel_for_each(struct target *target,
				   const struct wheel_visitor *visitor) MUST_CHECK;

#endif
