/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The printk ring buffer (5.10 on; KERNEL-FORMATS 7.4), read from VMCOREINFO's offsets alone, so
 * that it works without BTF and kallsyms.
 */
#ifndef DEBUGGER_KERNEL_PRINTK_H
#define DEBUGGER_KERNEL_PRINTK_H

#include "debugger/target/target.h"

/* A level or facility of a kernel that keeps them elsewhere. */
#define PRINTK_UNKNOWN	  UINT32_MAX
#define PRINTK_CALLER_CPU 0x80000000u

struct printk_record {
	uint64_t seq;
	uint64_t time;		  /* ns since boot */
	uint32_t level, facility; /* as in syslog(3), or PRINTK_UNKNOWN */
	uint32_t caller;	  /* task pid, or CPU with PRINTK_CALLER_CPU set */
	const char *text;	  /* raw bytes, may hold newlines; borrowed for the call */
	size_t size;
};

typedef struct error *printk_visitor(void *context, const struct printk_record *record);
/*
 * Oldest first. Records that cannot be read are counted in `*ret_lost` and skipped.
 */
struct error *printk_for_each(struct target *target, printk_visitor *visit, void *context,
			      uint64_t *ret_lost) MUST_CHECK;
/* What programs write to the log, by /dev/kmsg, is never of the kernel's facility. */
bool printk_is_of_kernel(const struct printk_record *record);
/* Copies the first line of a record, or as much of it as has room, with a NUL behind it. */
void printk_first_line(const struct printk_record *record, char *ret, size_t size);
/* Reads all of it. Errors: that it cannot be read, or how many of its records. */
struct error *printk_check(struct target *target) MUST_CHECK;
/*
 * The line that says why, without time stamp: the last "Kernel panic - not syncing: ...", else the
 * last "BUG: ..." and the like, else "Oops ...". Raw bytes; false: none in the log.
 */
bool printk_panic_message(struct target *target, char *buffer, size_t size);
/* Who wrote the last "Kernel panic", as in printk_record; false: there is none in the log. */
bool printk_panic_caller(struct target *target, uint32_t *ret);

#endif
