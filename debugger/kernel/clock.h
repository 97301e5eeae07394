/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Wall-clock time in the dead kernel. */
#ifndef DEBUGGER_KERNEL_CLOCK_H
#define DEBUGGER_KERNEL_CLOCK_H

#include "debugger/target/object.h"

/* The struct timekeeper of the clock that all of the kernel goes by. */
struct error *clock_timekeeper(struct target *target, struct object *ret) MUST_CHECK;
/* Nanoseconds since the machine was started, without time asleep, when the clock last ticked. */
struct error *clock_now(struct target *target, uint64_t *ret) MUST_CHECK;
/*
 * What jiffies count: nanoseconds of a tick, as NTP has adjusted them.  From 6.16 on it is only in
 * what NTP knows of the clock (kernel/time/ntp.c).
 */
struct error *clock_tick(struct target *target, uint64_t *ret) MUST_CHECK;
/*
 * When the machine was started, seconds since 1970 in UTC: by the kernel's own timekeeper, which
 * counts wall-clock and monotonic time. A second more or less; time spent asleep makes it late.
 */
struct error *clock_boot_time(struct target *target, int64_t *ret) MUST_CHECK;

#endif
