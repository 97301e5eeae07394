/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which CPU panicked, by all that says so: one word that was damaged shall not accuse another. */
#ifndef DEBUGGER_KERNEL_PANIC_CPU_H
#define DEBUGGER_KERNEL_PANIC_CPU_H

#include "debugger/target/target.h"

/*
 * The CPU that most of these name, the first of them where they are even: panic_cpu, crashing_cpu,
 * who wrote the log's last "Kernel panic", and where these differ, whose stack panic() is on.
 * false: none of them says so. What contradicts it becomes a problem of the target. Asked once,
 * then known.
 */
bool panic_cpu_find(struct target *target, uint32_t *ret);

#endif
