// SPDX-License-Identifier: GPL-3.0-or-later
/* What one wants to know first of a dead machine, in one go: for a capture kernel, a ticket. */
#include "base/array.h"
#include "base/interrupt.h"
#include "debugger/command/arguments.h"
#include "debugger/command/command.h"
#include "debugger/command/run.h"
#include <string.h>

/* In the order of their worth: what comes later may be lost when the machine has to go. */
static const struct section {
	const char *title, *line;
	bool is_long; /* left out of a short report */
} sections[] = {
	{ "Why it died", "analyze", false },
	{ "System", "sys", false },
	{ "Panicking task", "bt", false },
	{ "Running on the other CPUs", "bt --others", false },
	{ "Waiting uninterruptibly", "stacks -s D", false },
	{ "Log", "log", false },
	{ "Modules", "mod", false },
	{ "Tasks", "ps", false },
	{ "All stacks, equal ones once", "stacks", true },
};

static struct error *run_section(struct session *session, const struct section *section)
{
	struct call call;
	struct error *error = call_parse(section->line, &call);
	size_t depth = out_depth(session->out);
	if (!error)
		error = run_call(session, &call);
	out_finish_to(session->out, depth);
	call_deinit(&call);
	return error;
}

/* What a section could not say is said in its place; the next may do better. */
static struct error *write_section(struct session *session, const struct section *section,
				   bool is_first, bool *ret_failed)
{
	struct out *out = session->out;
	out_object_begin(out, NULL);
	out_text(out, is_first ? "" : "\n");
	out_style(out, OUT_HEADING);
	out_text(out, "==== ");
	out_string(out, "title", section->title);
	out_text(out, "  (%s) ====", section->line);
	out_style(out, OUT_PLAIN);
	out_text(out, "\n");
	out_string_as(out, "command", section->line, "");
	out_array_begin(out, "result");
	struct error *error = run_section(session, section);
	out_array_end(out);
	if (error && !error_is_fatal(error)) {
		*ret_failed = true;
		out_string_as(out, "error", error->message, "");
		out_text(out, "(incomplete: %s)\n", error->message);
		error_free(error);
		error = NULL;
	}
	out_object_end(out);
	return error;
}

enum { OPTION_FULL };

static struct error *report_run(struct session *session, const struct arguments *arguments)
{
	struct error *error = NULL;
	bool failed = false;
	/* Many names will be asked for: no first few of them by a search. */
	btf_make_indexes(session->target->btf);
	out_array_begin(session->out, NULL);
	for (size_t i = 0; i < ARRAY_COUNT(sections) && !error; i++) {
		if (sections[i].is_long && !arguments->options[OPTION_FULL])
			continue;
		error = write_section(session, &sections[i], !i, &failed);
		if (session->file)
			fflush(session->file);
	}
	out_array_end(session->out);
	if (!error && failed)
		error = error_create(ERROR_DAMAGED, "parts of it are missing, see there");
	return error;
}

static const char *const examples[] = { "report", "report --full", NULL };

const struct command command_report = {
	.name = "report",
	.summary = "what one wants to know first, in one go",
	.description = "Writes why it died, the system's facts, the stacks of the panicking task, "
		       "of the other CPUs "
		       "and of tasks "
		       "that wait uninterruptibly, the log, the modules and the tasks; with -f all "
		       "stacks, "
		       "too. Made for a capture kernel: `btfcrash /proc/vmcore -c report`. A part "
		       "that the "
		       "dump cannot give is said so in its place, and the rest is still written.",
	.options = { [OPTION_FULL] = { 'f', "full", NULL, 0, "the stacks of all tasks as well" } },
	.examples = examples,
	.run = report_run,
};
