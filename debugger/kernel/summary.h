/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The facts that people ask for first: which kernel, when, why, where, how big. */
#ifndef DEBUGGER_KERNEL_SUMMARY_H
#define DEBUGGER_KERNEL_SUMMARY_H

#include "debugger/kernel/task.h"

#define SUMMARY_LOADS 3

struct summary {
	char release[128], version[128], machine[65], nodename[65]; /* of init_uts_ns; "" unknown */
	int64_t crash_time; /* seconds since 1970, 0 unknown */
	int64_t uptime;	    /* seconds, -1 unknown */
	char panic[256];    /* the message, "" none in the log */
	bool has_task;	    /* the panicking task, or what CPU 0 ran when nobody panicked */
	bool panicked;	    /* a CPU says that it panicked */
	struct task task;
	uint64_t cpus, cpus_online; /* 0 unknown */
	uint64_t tasks;		    /* 0 unknown */
	bool has_all_tasks;	    /* none is missing from that number */
	/* Tasks that run or cannot be interrupted, averages of 1, 5, 15 minutes; [0] < 0 unknown.
	 */
	double load[SUMMARY_LOADS];
	uint64_t memory; /* bytes that the kernel manages, MemTotal of /proc/meminfo; 0 unknown */
};

/* Fills in what can be read; the rest is left unknown. */
void summary_read(struct target *target, struct summary *ret);
void summary_deinit(struct summary *summary);

#endif
