/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What CPUs did not do: take interrupts, run what another one asked them to. */
#ifndef DEBUGGER_ANALYSIS_CPU_VIEW_H
#define DEBUGGER_ANALYSIS_CPU_VIEW_H

#include "debugger/target/target.h"

/*
 * When the machine died, ns since it was started: what the log says of the panic, else the latest
 * clock of a run queue. Errors: neither is there.
 */
struct error *time_of_death(struct target *target, uint64_t *ret) MUST_CHECK;
/*
 * For how long a CPU has let the timer wait that it set itself, ns; 0: it is not late. `*ret_due`:
 * when that was to be.
 */
struct error *cpu_lateness(struct target *target, const struct cpu *cpu, uint64_t now,
			   uint64_t *ret, uint64_t *ret_due) MUST_CHECK;

/* A function that one CPU was asked to run by another, and that it did not yet. */
struct pending_call {
	uint64_t address; /* of its call_single_data */
	uint64_t function;
	uint32_t by; /* the CPU that asks; UINT32_MAX: not known */
};
typedef struct error *pending_call_visitor(void *context, const struct pending_call *call);
/* In the order in which they were asked for, the latest first. */
struct error *cpu_for_each_call(struct target *target, const struct cpu *cpu,
				pending_call_visitor *visit, void *context) MUST_CHECK;

#endif
