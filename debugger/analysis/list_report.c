// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/analysis/list_report.h"

#include "base/digits.h"
#include "debugger/kernel/printk.h"
#include <stdio.h>
#include <string.h>

#define LINE 256

/* The number behind the last such words. */
static bool number_behind(const char *line, const char *words, uint64_t *ret)
{
	const char *found = NULL;
	for (const char *at = line; (at = strstr(at, words)); at++)
		found = at;
	return found && digits_scan(found + strlen(words), 16, ret);
}

bool list_report_parse(const char *line, struct list_report *ret)
{
	const char *poison = strstr(line, "->next is LIST_POISON1");
	poison = poison ?: strstr(line, "->prev is LIST_POISON2");
	*ret = (struct list_report){ .fault = LIST_UNKNOWN };
	if (!strstr(line, "list_add corruption") && !strstr(line, "list_del corruption") &&
	    !strstr(line, "list_add double add"))
		return false;
	if (poison && number_behind(line, "corruption, ", &ret->entry))
		ret->fault = LIST_DELETED;
	else if (number_behind(line, "double add: new=", &ret->entry))
		ret->fault = LIST_ADDED;
	else if (number_behind(line, "but was ", &ret->found) &&
		 (number_behind(line, "(prev=", &ret->entry) ||
		  number_behind(line, "(next=", &ret->entry)))
		ret->fault = LIST_BROKEN;
	if (ret->fault == LIST_BROKEN && !number_behind(line, "should be next (", &ret->neighbour))
		number_behind(line, "should be prev (", &ret->neighbour);
	return true;
}

static struct error *look_at_record(void *context, const struct printk_record *record)
{
	char line[LINE];
	struct list_report report;
	if (!printk_is_of_kernel(record))
		return NULL;
	printk_first_line(record, line, sizeof(line));
	if (list_report_parse(line, &report))
		*(struct list_report *)context = report;
	return NULL;
}

struct error *list_report_find(struct target *target, struct list_report *ret)
{
	uint64_t lost;
	*ret = (struct list_report){ .fault = LIST_UNKNOWN };
	return error_only_fatal(printk_for_each(target, look_at_record, ret, &lost));
}
