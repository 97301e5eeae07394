// SPDX-License-Identifier: GPL-3.0-or-later
/* What one wants to know first of a dead machine, in one go: for a capture kernel, a ticket. */
#include "base/array.h"
#include "base/interrupt.h"
#include "base/kept_text.h"
#include "base/strbuf.h"
#include "debugger/command/arguments.h"
#include "debugger/command/command.h"
#include "debugger/command/run.h"
#include "debugger/kernel/summary.h"
#include "debugger/shell/child.h"
#include "debugger/show/html.h"
#include "debugger/show/html_report.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How a page shows a section: stacks can be folded away. */
enum section_form { FORM_TEXT, FORM_FOLDED, FORM_LOG, FORM_TABLE };

/* In the order of their worth: what comes later may be lost when the machine has to go. */
static const struct section {
	const char *title, *line, *id;
	enum section_form form;
	bool is_long; /* left out of a short report */
} sections[] = {
	{ "Why it died", "analyze", "why", FORM_TEXT, false },
	{ "System", "sys", "system", FORM_TEXT, false },
	{ "Panicking task", "bt", "stack", FORM_FOLDED, false },
	{ "Running on the other CPUs", "bt --others", "cpus", FORM_FOLDED, false },
	{ "Waiting uninterruptibly", "stacks -s D", "waiting", FORM_FOLDED, false },
	{ "Log", "log", "log", FORM_LOG, false },
	{ "Modules", "mod", "modules", FORM_TABLE, false },
	{ "Tasks", "ps", "tasks", FORM_TABLE, false },
	{ "All stacks, equal ones once", "stacks", "stacks", FORM_FOLDED, true },
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

/* --- in one file ------------------------------------------------------------------------------ */

/* What a command writes, into memory; what it could not say stands at the end. */
struct answer {
	struct kept_text kept;
	bool has_failed;
};

/*
 * A section takes this part of what is left, so that all find room and the page that is made of
 * them, too: as HTML a text may be ten times as long.
 */
#define ANSWER_PART 16

static struct out *create_sink(struct session *session, FILE *file, bool is_table, bool has_colors)
{
	if (!is_table)
		return has_colors ? out_color_create(file) : out_text_create(file);
	struct out *out = out_csv_create(file);
	return out ? out_rows_create(out, NULL, &session->target->kept) : NULL;
}

/* As text, or of a table as CSV, whatever the session's own output is. */
static struct error *run_for(struct session *session, const struct section *section,
			     struct out *out, bool is_table)
{
	struct out *outer = session->out;
	enum output_format format = session->format;
	bool json = session->json;
	session->out = out;
	session->format = is_table ? FORMAT_CSV : FORMAT_TEXT;
	session->json = is_table;
	struct error *error = run_section(session, section);
	out_finish(out);
	session->out = outer;
	session->format = format;
	session->json = json;
	return error;
}

/* What it could not say; takes `error`, and hands a fatal one on. */
static struct error *note_failure(struct answer *answer, struct out *out, struct error *error)
{
	if (!error || error_is_fatal(error))
		return error;
	answer->has_failed = true;
	if (out)
		out_text(out, "(incomplete: %s)\n", error->message);
	error_free(error);
	return NULL;
}

/* Errors are fatal ones. */
static struct error *ask(struct session *session, const struct section *section, bool is_table,
			 bool has_colors, struct answer *ret)
{
	struct budget *budget = &session->target->kept;
	FILE *file = kept_text_open(&ret->kept, budget, budget_left(budget) / ANSWER_PART);
	struct out *out = file ? create_sink(session, file, is_table, has_colors) : NULL;
	struct error *error = out ? run_for(session, section, out, is_table) : error_no_memory();
	error = note_failure(ret, is_table ? NULL : out, error);
	if (!error && is_table)
		error = note_failure(ret, NULL, error_after_bound(out_check(out)));
	out_destroy(out);
	if (file)
		fclose(file);
	if (!error && ret->kept.error)
		ret->has_failed = true;
	return error;
}

static bool is_wanted(const struct section *section, bool is_full)
{
	return is_full || !section->is_long;
}

static void write_answer(FILE *file, const struct section *section, const struct answer *answer)
{
	bool is_folded = section->form == FORM_FOLDED;
	bool is_open = strcmp(section->line, "bt") == 0;
	const char *text = answer->kept.text ?: "";
	size_t size = answer->kept.size;
	const char *tag = is_folded ? "details" : "section";
	fprintf(file, "<%s id=\"%s\"%s>%s<h2>", tag, section->id,
		is_folded && is_open ? " open" : "", is_folded ? "<summary>" : "");
	html_string(file, section->title);
	fprintf(file, "</h2>%s\n", is_folded ? "</summary>" : "");
	if (answer->has_failed)
		fputs("<p class=\"gone\">Parts of it are missing.</p>\n", file);
	if (section->form == FORM_LOG && html_log_is_marked(text, size))
		fputs("<p><a href=\"#oops\">To the first report of a fault</a></p>\n", file);
	if (section->form == FORM_TABLE) {
		html_table(file, text, size);
	} else {
		fprintf(file, "<pre%s>", section->form == FORM_LOG ? " class=\"log\"" : "");
		if (section->form == FORM_LOG)
			html_log(file, text, size);
		else
			html_colored(file, text, size);
		fputs("</pre>\n", file);
	}
	fprintf(file, "</%s>\n", tag);
}

static void write_contents(FILE *file, bool is_full)
{
	fputs("<nav>", file);
	for (size_t i = 1; i < ARRAY_COUNT(sections); i++)
		if (is_wanted(&sections[i], is_full))
			fprintf(file, "<a href=\"#%s\">%s</a>", sections[i].id, sections[i].title);
	fputs("</nav>\n", file);
}

static struct error *write_section_of_page(struct session *session, FILE *file,
					   const struct section *section, bool *ret_failed)
{
	struct answer answer = { .has_failed = false };
	struct error *error = ask(session, section, section->form == FORM_TABLE,
				  section->form != FORM_LOG, &answer);
	if (!error)
		write_answer(file, section, &answer);
	*ret_failed |= answer.has_failed;
	kept_text_deinit(&answer.kept);
	/* Where it belongs: behind the system, and behind the stacks. */
	if (!error && !strcmp(section->line, "sys"))
		error = html_memory(session, file);
	if (!error && !strcmp(section->line, "stacks -s D"))
		error = html_locks(session, file);
	return error;
}

static struct error *write_page(struct session *session, FILE *file, bool is_full, bool *ret_failed)
{
	struct summary summary;
	char title[512];
	summary_read(session->target, &summary);
	snprintf(title, sizeof(title), "%s %s", *summary.nodename ? summary.nodename : "a machine",
		 summary.release);
	html_begin(file, title);
	fputs("<p class=\"soft\">", file);
	html_raw(file, title, strlen(title));
	fputs("</p>\n", file);
	summary_deinit(&summary);
	struct error *error = html_analysis(session, file);
	if (!error)
		write_contents(file, is_full);
	/* The first one is the analysis. */
	for (size_t i = 1; i < ARRAY_COUNT(sections) && !error; i++)
		if (is_wanted(&sections[i], is_full))
			error = write_section_of_page(session, file, &sections[i], ret_failed);
	html_end(file);
	return error;
}

/* The file is touched when all of the page is there. */
static struct error *save(struct session *session, const char *path, const char *text, size_t size)
{
	FILE *file;
	TRY(output_open(session->helper, path, false, &file));
	bool is_whole = fwrite(text, 1, size, file) == size;
	TRY(output_close(session->helper, file, path, is_whole ? NULL : error_system("%s", path)));
	struct out *out = session->out;
	out_object_begin(out, NULL);
	out_string(out, "file", path);
	out_text(out, ": ");
	out_u64(out, "bytes", size);
	out_text(out, " bytes\n");
	out_object_end(out);
	return NULL;
}

static struct error *run_html(struct session *session, const char *path, bool is_full,
			      bool *ret_failed)
{
	struct kept_text page;
	FILE *file = kept_text_open(&page, &session->target->kept, UINT64_MAX);
	if (!file)
		return error_no_memory();
	struct error *error = write_page(session, file, is_full, ret_failed);
	fclose(file);
	if (!error && page.error)
		error = error_copy(page.error);
	if (!error)
		error = save(session, path, page.text ?: "", page.size);
	kept_text_deinit(&page);
	return error;
}

/* --- for a ticket ----------------------------------------------------------------------------- */

/* A fence that no line of the text can end: longer than any run of backticks in it. */
static int fence_length(const struct answer *answer)
{
	int longest = 2, run = 0;
	for (size_t i = 0; i < answer->kept.size; i++) {
		run = answer->kept.text[i] == '`' ? run + 1 : 0;
		if (run > longest)
			longest = run;
	}
	return longest + 1;
}

static void put_section(struct strbuf *text, const struct section *section,
			const struct answer *answer)
{
	const struct kept_text *kept = &answer->kept;
	int length = fence_length(answer);
	strbuf_format(text, "### %s\n\n", section->title);
	strbuf_repeat(text, '`', (size_t)length);
	strbuf_put(text, "text\n");
	strbuf_bytes(text, kept->text ?: "", kept->size);
	if (kept->size && kept->text[kept->size - 1] != '\n')
		strbuf_char(text, '\n');
	if (kept->error)
		strbuf_format(text, "(incomplete: %s)\n", kept->error->message);
	strbuf_repeat(text, '`', (size_t)length);
	strbuf_put(text, "\n\n");
}

/* What a reader of a ticket wants: no lists of tasks and modules. */
static struct error *run_markdown(struct session *session, bool is_full, bool *ret_failed)
{
	struct strbuf text = { 0 };
	struct error *error = NULL;
	for (size_t i = 0; i < ARRAY_COUNT(sections) && !error; i++) {
		struct answer answer = { .has_failed = false };
		if (!is_wanted(&sections[i], is_full) ||
		    (sections[i].form == FORM_TABLE && !is_full))
			continue;
		error = ask(session, &sections[i], false, false, &answer);
		if (!error)
			put_section(&text, &sections[i], &answer);
		*ret_failed |= answer.has_failed;
		kept_text_deinit(&answer.kept);
	}
	if (!error && text.failed)
		error = error_no_memory();
	/* Its escapes are made already. */
	out_quoted(session->out, OUT_QUOTED);
	out_array_begin(session->out, NULL);
	if (!error && out_is_text(session->out))
		out_lines(session->out, text.data ?: "", text.size);
	else if (!error)
		out_string_bytes(session->out, NULL, text.data ?: "", text.size);
	out_array_end(session->out);
	out_quoted(session->out, OUT_RAW);
	strbuf_deinit(&text);
	return error;
}

/* --- the command ------------------------------------------------------------------------------ */

enum { OPTION_FULL, OPTION_HTML, OPTION_MARKDOWN };

static struct error *run_plain(struct session *session, bool is_full, bool *ret_failed)
{
	struct error *error = NULL;
	out_array_begin(session->out, NULL);
	for (size_t i = 0; i < ARRAY_COUNT(sections) && !error; i++) {
		if (!is_wanted(&sections[i], is_full))
			continue;
		error = write_section(session, &sections[i], !i, ret_failed);
		if (session->file)
			fflush(session->file);
	}
	out_array_end(session->out);
	return error;
}

static struct error *report_run(struct session *session, const struct arguments *arguments)
{
	struct error *error;
	bool failed = false, is_full = arguments->options[OPTION_FULL];
	const char *path = arguments->options[OPTION_HTML];
	if (path && arguments->options[OPTION_MARKDOWN])
		return error_create(ERROR_USAGE, "--html and --markdown exclude each other");
	/* Many names will be asked for: no first few of them by a search. */
	btf_make_indexes(session->target->btf);
	if (path)
		error = run_html(session, path, is_full, &failed);
	else if (arguments->options[OPTION_MARKDOWN])
		error = run_markdown(session, is_full, &failed);
	else
		error = run_plain(session, is_full, &failed);
	if (!error && failed)
		error = error_create(ERROR_DAMAGED, "parts of it are missing, see there");
	return error;
}

static const char *const examples[] = { "report", "report --full", "report --html /dev/null",
					"report --markdown", NULL };

const struct command command_report = {
	.name = "report",
	.summary = "what one wants to know first, in one go",
	.description =
		"Writes why it died, the system's facts, the stacks of the panicking task, of the "
		"other CPUs "
		"and of tasks "
		"that wait uninterruptibly, the log, the modules and the tasks; with -f all "
		"stacks, "
		"too. Made for a capture kernel: `btfcrash /proc/vmcore -c report`. A part "
		"that the "
		"dump cannot give is said so in its place, and the rest is still written.\n"
		"\n"
		"--html FILE makes a page for a browser of it: one file that needs nothing from "
		"elsewhere, with who waits for whom and the use of memory drawn, oopses marked in "
		"the "
		"log, tasks that can be sorted. Without scripts it only cannot sort. The file is "
		"written when all of it is there. --markdown is for a ticket; it leaves out "
		"modules "
		"and tasks but with -f.",
	.options = { [OPTION_FULL] = { 'f', "full", NULL, 0, "the stacks of all tasks as well" },
		     [OPTION_HTML] = { 0, "html", "FILE", OPERAND_FILE, "a page, into this file" },
		     [OPTION_MARKDOWN] = { 0, "markdown", NULL, 0, "as text for a ticket" } },
	.examples = examples,
	.run = report_run,
};
