// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/analysis/hung_log.h"

#include "base/array.h"
#include "base/digits.h"
#include "debugger/kernel/printk.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TASKS_MAX 4096

/*
 * "INFO: task NAME:PID blocked for more than N seconds." A name may have colons and blanks in it:
 * the last colon before the last such words is that of the pid.
 */
static bool parse(const char *line, struct hung_task *ret)
{
	static const char start[] = "INFO: task ", words[] = " blocked for more than ";
	const char *end = NULL, *colon;
	uint64_t pid;
	if (strncmp(line, start, sizeof(start) - 1) != 0)
		return false;
	line += sizeof(start) - 1;
	for (const char *at = line; (at = strstr(at, words)); at++)
		end = at;
	if (!end)
		return false;
	for (colon = end; colon > line && *colon != ':'; colon--)
		;
	if (*colon != ':' || !digits_scan(colon + 1, 10, &pid) || pid > INT32_MAX)
		return false;
	ret->pid = (int32_t)pid;
	snprintf(ret->comm, sizeof(ret->comm), "%.*s", (int)(colon - line), line);
	return true;
}

static struct error *look_at_record(void *context, const struct printk_record *record)
{
	static const char netdev[] = "unregister_netdevice: waiting for ";
	struct hung_log *log = context;
	struct hung_task task = { .pid = 0 };
	if (!printk_is_of_kernel(record))
		return NULL;
	printk_first_line(record, task.line, sizeof(task.line));
	if (!strncmp(task.line, netdev, sizeof(netdev) - 1))
		log->has_network_device = true;
	if (!parse(task.line, &task))
		return NULL;
	for (size_t i = 0; i < log->count; i++)
		if (log->items[i].pid == task.pid && !strcmp(log->items[i].comm, task.comm)) {
			log->items[i] = task;
			return NULL;
		}
	if (log->count >= TASKS_MAX)
		return NULL;
	if (!array_reserve(&log->items, &log->capacity, log->count + 1))
		return error_no_memory();
	log->items[log->count++] = task;
	return NULL;
}

struct error *hung_log_read(struct target *target, struct hung_log *ret)
{
	uint64_t lost;
	*ret = (struct hung_log){ .count = 0 };
	return error_only_fatal(printk_for_each(target, look_at_record, ret, &lost));
}

void hung_log_deinit(struct hung_log *log)
{
	free(log->items);
	*log = (struct hung_log){ .count = 0 };
}

const struct hung_task *hung_log_find(const struct hung_log *log, const struct task *task)
{
	for (size_t i = 0; i < log->count; i++)
		if (log->items[i].pid == task->pid && !strcmp(log->items[i].comm, task->comm))
			return &log->items[i];
	return NULL;
}
