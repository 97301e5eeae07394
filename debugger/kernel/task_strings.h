/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Arguments and environment of a process, as they lie at the top of its stack. */
#ifndef DEBUGGER_KERNEL_TASK_STRINGS_H
#define DEBUGGER_KERNEL_TASK_STRINGS_H

#include "debugger/kernel/task.h"

/* Of longer ones the beginning is read: nothing that a person looks at is longer. */
#define TASK_STRINGS_MAX (128u << 10)

enum task_strings_kind { TASK_ARGUMENTS, TASK_ENVIRONMENT };

struct task_strings {
	char *bytes; /* strings with a NUL behind each, and one more at the end; NULL: none */
	size_t size; /* without that one */
	bool is_cut; /* there were more than TASK_STRINGS_MAX bytes */
};

/* As /proc/PID/cmdline and environ have them: what the process made of them since. Kernel threads
 * and what has exited have none. Errors: users' pages are not in the dump. */
struct error *task_strings_read(struct target *target, const struct task *task,
				enum task_strings_kind kind, struct task_strings *ret) MUST_CHECK;
void task_strings_deinit(struct task_strings *strings);
/* The one behind `at` (NULL: the first); NULL: there is none. */
const char *task_strings_next(const struct task_strings *strings, const char *at);

#endif
