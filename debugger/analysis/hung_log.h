/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tasks that khungtaskd named in the log, each with what it said (kernel kernel/hung_task.c).
 */
#ifndef DEBUGGER_ANALYSIS_HUNG_LOG_H
#define DEBUGGER_ANALYSIS_HUNG_LOG_H

#include "debugger/kernel/task.h"

#define HUNG_LINE 160

struct hung_task {
	int32_t pid;
	char comm[64];
	char line[HUNG_LINE]; /* "INFO: task lab-waiter:42 blocked for more than 122 seconds." */
};

struct hung_log {
	struct hung_task *items; /* in the order of the log; of one task the last line */
	size_t count, capacity;
	/* It said that a network device is waited for, which it does each ten seconds. */
	bool has_network_device;
};

/* Errors are fatal ones only: of a log that cannot be read there are none. Deinit in any case. */
struct error *hung_log_read(struct target *target, struct hung_log *ret) MUST_CHECK;
void hung_log_deinit(struct hung_log *log);
/* NULL: it is not among them. */
const struct hung_task *hung_log_find(const struct hung_log *log, const struct task *task);

#endif
