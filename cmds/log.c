// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/command/command.h"

#include "debugger/kernel/clock.h"
#include "debugger/kernel/printk.h"
#include "debugger/target/object.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

extern const struct command command_log;

struct log_view {
	struct out *out;
	bool times; /* seconds since boot */
	bool dates; /* instead of these */
	bool levels;
	bool callers;
	int64_t boot_time;
};

/* What stands before each line of a record, as the kernel's console has it (info_print_prefix()).
 */
static void show_prefix(const struct log_view *view, const struct printk_record *record)
{
	struct out *out = view->out;
	if (view->levels && record->level != PRINTK_UNKNOWN)
		out_text(out, "<%" PRIu32 ">", record->level);
	if (view->dates) {
		char text[64] = "?";
		time_t seconds = (time_t)(view->boot_time + (int64_t)(record->time / 1000000000));
		struct tm parts;
		if (gmtime_r(&seconds, &parts))
			strftime(text, sizeof(text), "%a %b %e %H:%M:%S UTC %Y", &parts);
		out_text(out, "[%s]", text);
	} else if (view->times) {
		out_text(out, "[%5" PRIu64 ".%06u]", record->time / 1000000000,
			 (unsigned int)(record->time % 1000000000 / 1000));
	}
	if (view->callers) {
		char text[16];
		snprintf(text, sizeof(text), "%c%" PRIu32,
			 record->caller & PRINTK_CALLER_CPU ? 'C' : 'T',
			 record->caller & ~PRINTK_CALLER_CPU);
		out_text(out, "[%6s]", text);
	}
	if (view->times || view->dates || view->callers)
		out_text(out, " ");
}

/*
 * Tabs are the kernel's way to indent; the sink would show them as \t. Backslashes are the
 * console's: dmesg doubles none either.
 */
static void show_line(struct out *out, const char *line, size_t size)
{
	const char *end = line + size;
	const char *tab;
	out_quoted(out, OUT_QUOTED_TEXT);
	while ((tab = memchr(line, '\t', (size_t)(end - line)))) {
		out_string_bytes(out, NULL, line, (size_t)(tab - line));
		out_text(out, "\t");
		line = tab + 1;
	}
	out_string_bytes(out, NULL, line, (size_t)(end - line));
	out_quoted(out, OUT_RAW);
	out_text(out, "\n");
}

static struct error *show_text(void *context, const struct printk_record *record)
{
	const struct log_view *view = context;
	const char *end = record->text + record->size;
	const char *line = record->text;
	/* A record without text still is a line. */
	do {
		const char *stop = memchr(line, '\n', (size_t)(end - line));
		stop = stop ? stop : end;
		show_prefix(view, record);
		show_line(view->out, line, (size_t)(stop - line));
		line = stop + 1;
	} while (line <= end);
	return NULL;
}

static struct error *show_object(void *context, const struct printk_record *record)
{
	const struct log_view *view = context;
	struct out *out = view->out;
	char caller[16];
	snprintf(caller, sizeof(caller), "%c%" PRIu32,
		 record->caller & PRINTK_CALLER_CPU ? 'C' : 'T',
		 record->caller & ~PRINTK_CALLER_CPU);
	out_object_begin(out, NULL);
	out_double(out, "time", (double)(record->time / 1000) / 1e6);
	if (view->dates)
		out_i64(out, "date", view->boot_time + (int64_t)(record->time / 1000000000));
	if (record->level != PRINTK_UNKNOWN) {
		out_u64(out, "level", record->level);
		out_u64(out, "facility", record->facility);
	}
	out_string(out, "caller", caller);
	out_string_bytes(out, "text", record->text, record->size);
	out_object_end(out);
	return NULL;
}

static struct error *run(struct session *session, const struct arguments *arguments)
{
	struct log_view view = {
		.out = session->out,
		.times = !argument_option(&command_log, arguments, 't'),
		.dates = argument_option(&command_log, arguments, 'T'),
		.levels = argument_option(&command_log, arguments, 'm'),
		.callers = argument_option(&command_log, arguments, 'c'),
	};
	if (view.dates)
		TRY(error_prefix(clock_boot_time(session->target, &view.boot_time),
				 "no dates, as when the machine started is not known"));
	uint64_t lost = 0;
	out_array_begin(session->out, NULL);
	struct error *error = printk_for_each(
		session->target, session->json ? show_object : show_text, &view, &lost);
	out_array_end(session->out);
	if (!error && lost)
		error = error_create(ERROR_FORMAT,
				     "%" PRIu64 " record%s could not be read and %s left out", lost,
				     lost == 1 ? "" : "s", lost == 1 ? "is" : "are");
	return error;
}

const struct command command_log = {
	.name = "log",
	.alias = "dmesg",
	.summary = "show the kernel's log",
	.description =
		"Shows the kernel's log, oldest first, as its console would: every line with the\n"
		"seconds since boot.\n"
		"\n"
		"-T computes dates, in UTC, from when the machine was started: that is exact to about\n"
		"a second, and wrong by the time the machine was suspended.",
	.options = {
		{ 't', NULL, NULL, OPERAND_WORD, "no time stamps" },
		{ 'T', NULL, NULL, OPERAND_WORD, "dates instead of seconds" },
		{ 'm', NULL, NULL, OPERAND_WORD, "each line's level before it: <0> emergency to <7> debug" },
		{ 'c', NULL, NULL, OPERAND_WORD, "who wrote it: T and a task's pid, or C and a CPU" },
	},
	.examples = (const char *const[]){ "log", "log -t -m", "log -c", NULL },
	.run = run,
};
