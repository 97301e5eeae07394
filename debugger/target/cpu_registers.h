/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which CPU the registers in the dump's notes belong to. KERNEL-FORMATS section 5.6. */
#ifndef DEBUGGER_TARGET_CPU_REGISTERS_H
#define DEBUGGER_TARGET_CPU_REGISTERS_H

#include "debugger/target/target.h"

/*
 * Fills `registers` of target->cpus, whose other members must have been read. CPUs that no
 * note is proved to be of stay without.
 */
void cpu_registers_load(struct target *target);

#endif
