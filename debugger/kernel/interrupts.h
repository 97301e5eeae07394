/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How often interrupts of devices and softirqs came on each CPU since the machine was started
 * (kernel include/linux/irqdesc.h, kernel_stat.h).
 */
#ifndef DEBUGGER_KERNEL_INTERRUPTS_H
#define DEBUGGER_KERNEL_INTERRUPTS_H

#include "debugger/kernel/walk.h"
#include "debugger/target/object.h"

#define SOFTIRQS_MAX 32

struct interrupt {
	uint32_t number;
	uint64_t desc;	  /* address of its struct irq_desc */
	uint64_t counts;  /* of its per-CPU counts; 0: damaged */
	uint64_t handler; /* of the first who handles it; 0: nobody does */
	char name[64];	  /* of that, raw bytes of the dump */
};

/*
 * The items are struct irq_desc, their index is the number. One that says another number is handed
 * to walk->broken, which there must be.
 */
struct error *interrupts_walk(const struct walk *walk) MUST_CHECK;
typedef struct error *interrupt_visitor(void *context, const struct interrupt *interrupt);
/* By ascending number. Those that cannot be read are counted in `*ret_lost` and skipped. */
struct error *interrupts_for_each(struct target *target, interrupt_visitor *visit, void *context,
				  uint64_t *ret_lost) MUST_CHECK;
/* It is counted in 32 bits, and begins anew when these are used up. */
struct error *interrupt_count(struct target *target, const struct interrupt *interrupt,
			      const struct cpu *cpu, uint32_t *ret) MUST_CHECK;

/*
 * The interrupts of devices on a CPU since it last began to count those from which it takes
 * randomness (struct fast_pool of kernel drivers/char/random.c). ns 0: it is not known.
 */
struct interrupt_rate {
	uint64_t count, ns;
};
struct error *interrupt_rate_read(struct target *target, const struct cpu *cpu,
				  struct interrupt_rate *ret) MUST_CHECK;

/* The counts of the kinds of softirqs on a CPU, by their number. */
struct error *softirq_counts(struct target *target, const struct cpu *cpu,
			     uint32_t ret[SOFTIRQS_MAX], size_t *ret_count) MUST_CHECK;
/* "TIMER", "NET_RX"; "" where the kernel does not say. */
void softirq_name(struct target *target, size_t number, char *buffer, size_t size);

#endif
