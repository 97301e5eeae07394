// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/show/record.h"

#include "debugger/command/arguments.h"
#include "debugger/command/command.h"
#include <stdio.h>

#define LOG_LINES_MAX 100000

enum { OPTION_ANONYMOUS, OPTION_LOG, OPTION_STACKS };

/* Where people read, the object alone in a line; else it is the answer, as that of others. */
static struct error *write_line(struct session *session, const struct record_options *options)
{
	if (!out_is_text(session->out))
		return record_write(session, session->out, options);
	struct out *json = session->exact_integers ? out_json_exact_create(session->file)
						   : out_json_create(session->file);
	if (!json)
		return error_no_memory();
	struct error *error = record_write(session, json, options);
	out_finish(json);
	putc('\n', session->file);
	out_destroy(json);
	return error;
}

static struct error *record_run(struct session *session, const struct arguments *arguments)
{
	struct record_options options = { .is_anonymous = arguments->options[OPTION_ANONYMOUS],
					  .has_stacks = arguments->options[OPTION_STACKS] };
	const char *lines = arguments->options[OPTION_LOG];
	uint64_t count = 0;
	if (lines)
		TRY(argument_number(lines, "a number of lines", 1, LOG_LINES_MAX, &count));
	options.log_lines = (uint32_t)count;
	if (options.is_anonymous && (count || options.has_stacks))
		return error_create(ERROR_USAGE,
				    "--anonymous leaves out what --log and --stacks would show");
	return write_line(session, &options);
}

extern const struct command command_record;
const struct command command_record = {
	.name = "record",
	.options = { [OPTION_ANONYMOUS] = { 'a', "anonymous", NULL, 0,
					    "without names of the host and of tasks, sentences" },
		     [OPTION_LOG] = { 'l', "log", "COUNT", 0, "the log's last COUNT records, too" },
		     [OPTION_STACKS] = { 's', "stacks", NULL, 0,
					 "all tasks' stacks, equal ones once" } },
	.summary = "what to keep of a crash, as one line of JSON",
	.description =
		"Prints one JSON object: which kernel on which machine died when and of what, its "
		"signature,\n"
		"the stack, taints, modules, who waits for what, the use of memory, and what the "
		"dump lacks.\n"
		"Thousands of them can be counted and compared without the dumps. What is not "
		"known is null.\n"
		"It has no contents of memory, and no addresses but those in its sentences; -a "
		"leaves these\n"
		"out, too.",
	.examples =
		(const char *const[]){ "record", "record --log 20", "record --anonymous", NULL },
	.run = record_run,
};
