// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/analysis/finding.h"

#include "base/array.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct error *finding_summarize(struct finding *finding, const char *format, ...)
{
	va_list arguments;
	char *text;
	va_start(arguments, format);
	int length = vasprintf(&text, format, arguments);
	va_end(arguments);
	if (length < 0)
		return error_no_memory();
	free(finding->summary);
	finding->summary = text;
	return NULL;
}

static struct error *add(struct finding *finding, size_t at, const char *command,
			 const char *format, va_list arguments)
{
	struct evidence evidence = { 0 };
	if (!array_reserve(&finding->evidence, &finding->capacity, finding->count + 1) ||
	    vasprintf(&evidence.text, format, arguments) < 0)
		return error_no_memory();
	if (command && !(evidence.command = strdup(command))) {
		free(evidence.text);
		return error_no_memory();
	}
	struct evidence *place = &finding->evidence[at];
	memmove(place + 1, place, (finding->count - at) * sizeof(*place));
	*place = evidence;
	finding->count++;
	return NULL;
}

struct error *finding_add(struct finding *finding, const char *command, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	struct error *error = add(finding, finding->count, command, format, arguments);
	va_end(arguments);
	return error;
}

struct error *finding_add_at(struct finding *finding, size_t at, const char *command,
			     const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	struct error *error = add(finding, at, command, format, arguments);
	va_end(arguments);
	return error;
}

void finding_deinit(struct finding *finding)
{
	for (size_t i = 0; i < finding->count; i++) {
		free(finding->evidence[i].text);
		free(finding->evidence[i].command);
	}
	for (size_t i = 0; i < finding->link_count; i++)
		free(finding->links[i].name);
	free(finding->links);
	free(finding->culprit);
	free(finding->instruction);
	free(finding->evidence);
	free(finding->summary);
	*finding = (struct finding){ 0 };
}

bool finding_is_about_waiting(const struct finding *finding)
{
	static const char *const kinds[] = { "sysrq",	"nmi",	       "hung-task",   "deadlock",
					     "blocked", "soft-lockup", "hard-lockup", "rcu-stall" };
	for (size_t i = 0; i < ARRAY_COUNT(kinds); i++)
		if (!strcmp(finding->kind, kinds[i]))
			return true;
	return false;
}
