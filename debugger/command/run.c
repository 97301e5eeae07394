// SPDX-License-Identifier: GPL-3.0-or-later
/* Running a line: where its output goes, its commands, and what it has to say when it fails. */
#include "debugger/command/run.h"

#include "base/interrupt.h"
#include "base/standard.h"
#include "base/styles.h"
#include "debugger/command/alias.h"
#include "debugger/command/answer.h"
#include "debugger/command/crash_words.h"
#include "debugger/command/foreach_words.h"
#include "debugger/command/line.h"
#include "debugger/command/pipe.h"
#include "debugger/shell/screen.h"
#include "debugger/show/listing.h"
#include "debugger/target/object.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NESTING_MAX	   32
#define STATUS_INTERRUPTED (128 + SIGINT)

/* --- where the output goes ------------------------------------------------------------ */

struct destination {
	FILE *outer; /* session->file before */
	bool outer_colors;
	int outer_width;
	FILE *owned; /* a file that was opened */
	const char *name;
	struct child child;
	struct screen screen;
	bool has_screen;
};

static struct error *open_destination(struct session *session, const struct line *line,
				      struct destination *ret)
{
	*ret = (struct destination){ .outer = session->file,
				     .outer_colors = session->colors,
				     .outer_width = session->width };
	if (line->program) {
		TRY(child_start(session->helper, line->program, true, &ret->child));
		session->file = ret->child.to;
	} else if (line->file) {
		TRY(output_open(session->helper, line->file, line->append, &ret->owned));
		session->file = ret->owned;
		ret->name = line->file;
	}
	if (line->program || line->file) {
		session->colors = false;
		session->width = 0;
		return NULL;
	}
	if (session->file)
		return NULL;
	session->file = stdout;
	if (!session->on_terminal)
		return NULL;
	ret->has_screen = screen_open(&ret->screen, session->progress, session->helper,
				      session->interactive && session->pager);
	if (!ret->has_screen)
		return NULL;
	session->file = ret->screen.file;
	session->width = ret->screen.columns;
	return NULL;
}

/* The user left the reader of the output: neither that nor what it led to is an error. */
static bool was_left(const struct destination *destination)
{
	return destination->child.helper ? ferror(destination->child.to) != 0
					 : destination->has_screen && destination->screen.left;
}

/* Waits for a program; what Ctrl-C left of its line is ended, so that the prompt has its own. */
static void end_child(struct session *session, struct child *child)
{
	int status = child_wait(child);
	if (status)
		session->failed = true;
	if (status == STATUS_INTERRUPTED && session->interactive)
		putchar('\n');
	if (status == STATUS_INTERRUPTED && !session->interactive)
		session->interrupted = true;
}

/* With JSON too: there is nowhere else to say it. */
static void flush_output(struct session *session)
{
	if (session->file && session->file != stdout) {
		fflush(session->file);
		return;
	}
	struct error *error = standard_flush();
	if (!error)
		return;
	run_message(session, error->message);
	error_free(error);
	session->failed = true;
}

static struct error *close_destination(struct session *session, struct destination *destination,
				       struct error *error)
{
	bool left = false;
	flush_output(session);
	progress_end(session->progress);
	if (destination->child.helper) {
		left = was_left(destination);
		end_child(session, &destination->child);
	} else if (destination->owned) {
		bool bad = ferror(destination->owned);
		if ((fclose(destination->owned) || bad) && !error)
			error = error_system("%s", destination->name);
	} else if (destination->has_screen) {
		screen_close(&destination->screen);
		left = destination->screen.left;
	}
	session->file = destination->outer;
	session->colors = destination->outer_colors;
	session->width = destination->outer_width;
	if (left && error) {
		error_free(error);
		error = NULL;
	}
	return error;
}

/* --- what it looks like ----------------------------------------------------------------- */

static struct out *create_json(const struct session *session, FILE *file)
{
	return session->exact_integers ? out_json_exact_create(file) : out_json_create(file);
}

/* For what sinks keep; NULL: nothing is of a dump. */
static struct budget *budget_of(const struct session *session)
{
	return session->target ? &session->target->kept : NULL;
}

/* `file`: what to write to. `is_table`: of rows that are not aligned. */
static struct out *make_sink(const struct session *session, FILE *file, bool is_table)
{
	struct out *out = session->format == FORMAT_JSON  ? create_json(session, file)
			  : session->format == FORMAT_CSV ? out_csv_create(file)
			  : session->colors		  ? out_color_create(file)
							  : out_text_create(file);
	if (out)
		out_set_width(out, session->width);
	bool rows = session->format == FORMAT_CSV || session->columns ||
		    (is_table && session->format == FORMAT_TEXT);
	return rows ? out_rows_create(out, session->columns, budget_of(session)) : out;
}

static bool has_rows(const struct session *session, bool is_table)
{
	return session->format == FORMAT_CSV || session->columns ||
	       (is_table && session->format == FORMAT_TEXT);
}

/* --- running ------------------------------------------------------------------------------ */

static struct error *check_needs(const struct command *command, struct session *session)
{
	struct error *error = NULL;
	if (command->needs & NEEDS_MEMORY)
		error = target_need_memory(session->target);
	if (!error && (command->needs & NEEDS_SYMBOLS))
		error = target_need_symbols(session->target);
	if (!error && (command->needs & NEEDS_BTF))
		error = target_need_btf(session->target);
	return error;
}

struct error *run_call(struct session *session, const struct call *call)
{
	struct error *error = check_needs(call->command, session);
	if (!error)
		error = call->command->run(session, &call->arguments);
	return error_prefix(error_after_bound(error), "%s", call->command->name);
}

/* One stage: the first of a line, or one that gets items. */
static struct error *run_stage(struct session *session, const char *text, const struct out *from)
{
	if (from) {
		const struct out_item *items;
		size_t count = out_items(from, &items);
		return pipe_run(session, text, items, count);
	}
	struct call call;
	struct error *error = call_parse(text, &call);
	if (!error)
		error = run_call(session, &call);
	call_deinit(&call);
	return error;
}

/* Of two errors the earlier one matters. */
static struct error *first_of(struct error *first, struct error *second)
{
	if (!first)
		return second;
	error_free(second);
	return first;
}

static int word_length(const char *text)
{
	return (int)strcspn(text, " \t");
}

/*
 * All stages; the output of the last goes to session->out. What a stage that failed has found is
 * handed on all the same, unless it was told to stop.
 */
static struct error *run_stages(struct session *session, const struct line *line)
{
	struct out *last = session->out, *from = NULL;
	struct error *error = NULL;
	bool json = session->json;
	for (size_t i = 0; i < line->stage_count; i++) {
		bool is_last = i + 1 == line->stage_count;
		struct out *to = is_last ? last : out_items_create(budget_of(session));
		if (!to) {
			error = first_of(error, error_no_memory());
			break;
		}
		session->out = to;
		session->json = is_last ? json : true;
		error = first_of(error, run_stage(session, line->stages[i], from));
		if (!is_last)
			error = first_of(error, error_after_bound(out_check(to)));
		/* What says much, and hands on nothing, would be lost without a word. */
		if (!is_last && !error && out_items_lack(to))
			error = error_create(ERROR_USAGE,
					     "%.*s: no addresses to hand on to %.*s (a program of "
					     "that name: | !%.*s)",
					     word_length(line->stages[i]), line->stages[i],
					     word_length(line->stages[i + 1]), line->stages[i + 1],
					     word_length(line->stages[i + 1]), line->stages[i + 1]);
		out_destroy(from);
		from = is_last ? NULL : to;
		if (error && (error->kind == ERROR_USAGE || error->kind == ERROR_INTERRUPTED))
			break;
	}
	out_destroy(from);
	session->out = last;
	session->json = json;
	return error;
}

static struct error *run_to(struct session *session, const struct line *line, FILE *file)
{
	bool is_table = line->stage_count > 1 && pipe_is_table(line->stages[line->stage_count - 1]);
	struct out *outer = session->out;
	struct out *out = make_sink(session, file, is_table);
	if (!out)
		return error_no_memory();
	session->out = out;
	struct error *error = run_stages(session, line);
	out_finish(out);
	session->out = outer;
	if (!error && has_rows(session, is_table))
		error = out_rows_check(out);
	if (!error && has_rows(session, is_table))
		error = error_after_bound(out_check(out));
	out_destroy(out);
	return error;
}

static struct error *run_json(struct session *session, const struct line *line, const char *text)
{
	struct answer answer;
	TRY(answer_begin(&answer, session, session->file, text));
	return answer_end(&answer, run_to(session, line, answer.result));
}

/* --- the line --------------------------------------------------------------------------------- */

static bool is_command(void *context, const char *word, size_t length, bool *ret_expression)
{
	const struct session *session = context;
	const struct alias *alias = alias_find(session, word, length);
	const struct command *command =
		alias ? command_find(alias->text, strcspn(alias->text, " \t"))
		      : command_find(word, length);
	const char *inner = foreach_command(session, word);
	*ret_expression = command && command_takes_expression(command);
	/* What may have C's operators is the command within. */
	if (inner)
		is_command(context, inner, strcspn(inner, " \t|>"), ret_expression);
	return command || alias;
}

/* In the sandbox no path is looked up: the helper does, for words of the user's line. */
static bool is_program(void *context, const char *word, size_t length)
{
	const struct session *session = context;
	if (session->helper && session->helper->is_asked_to_read)
		return helper_tell(session->helper, HELPER_IS_PROGRAM, word, length);
	return line_is_program(word, length);
}

/* An identifier that is a symbol; others name nothing that could be meant. */
static bool is_variable(void *context, const char *word, size_t length)
{
	const struct session *session = context;
	char name[SYMBOL_NAME_SIZE];
	uint64_t cursor = 0;
	struct symbol symbol;
	if (length >= sizeof(name) || !session->target)
		return false;
	memcpy(name, word, length);
	name[length] = 0;
	return target_find_symbol(session->target, NULL, name, &cursor, &symbol);
}

static struct error *take_options_of(struct session *session, const struct call *call,
				     char **columns)
{
	if (call->json)
		session->format = FORMAT_JSON;
	if (call->csv)
		session->format = FORMAT_CSV;
	if (!call->columns)
		return NULL;
	free(*columns);
	session->columns = *columns = strdup(call->columns);
	return *columns ? NULL : error_no_memory();
}

/* --json, --csv and --columns of one command, and of the one within. */
static struct error *take_options(struct session *session, const char *text, char **columns)
{
	struct call call;
	const char *inner = foreach_command(session, text);
	struct error *error = call_parse(text, &call);
	if (!error)
		error = take_options_of(session, &call, columns);
	call_deinit(&call);
	if (error || !inner)
		return error;
	char *expanded = alias_expand(session, inner);
	if (!expanded)
		return error_no_memory();
	error = take_options(session, expanded, columns);
	free(expanded);
	return error;
}

static struct error *take_piped_options(struct session *session, const char *text, char **columns)
{
	struct piped piped;
	struct error *error = piped_parse(text, &piped);
	if (!error)
		error = take_options_of(session, &piped.call, columns);
	piped_deinit(&piped);
	return error;
}

/* They hold for the line, whichever command has them; of several the last. */
static struct error *set_format(struct session *session, const struct line *line,
				char **ret_columns)
{
	struct error *error = NULL;
	*ret_columns = NULL;
	for (size_t i = 0; i < line->stage_count && !error; i++) {
		const char *text = line->stages[i];
		/* None is there: what is wrong with the words is said when the command runs. */
		if (strstr(text, "--") || line->file || line->program)
			error = i ? take_piped_options(session, text, ret_columns)
				  : take_options(session, text, ret_columns);
	}
	session->json = session->format != FORMAT_TEXT;
	return error;
}

/* ret_told: an error stands in the JSON that was written. */
static struct error *run_split(struct session *session, const struct line *line, const char *text,
			       bool *ret_told)
{
	struct destination destination;
	enum output_format format = session->format;
	bool json = session->json;
	const char *columns = session->columns;
	char *chosen;
	struct error *error = set_format(session, line, &chosen);
	*ret_told = session->format == FORMAT_JSON;
	/* Where the words are wrong, there is no file to be made and no program to be run. */
	if (!error)
		error = open_destination(session, line, &destination);
	if (error) {
		if (session->format == FORMAT_JSON)
			answer_refuse(session, session->file ? session->file : stdout, text, error);
	} else {
		error = session->format == FORMAT_JSON ? run_json(session, line, text)
						       : run_to(session, line, session->file);
		error = close_destination(session, &destination, error);
	}
	free(chosen);
	session->format = format;
	session->json = json;
	session->columns = columns;
	return error;
}

static struct error *run_program(struct session *session, const char *program)
{
	struct child child;
	program += strspn(program, " \t");
	if (session->file)
		fflush(session->file);
	TRY(child_start(session->helper, program, false, &child));
	end_child(session, &child);
	return NULL;
}

static bool names_struct(const struct session *session, const char *line, enum run_reading reading)
{
	char name[SYMBOL_NAME_SIZE];
	size_t length = strcspn(line, " \t|>");
	if (command_find(line, length) || crash_command_hint(line, length) ||
	    length >= sizeof(name) || reading == RUN_AS_TYPED)
		return false;
	if (reading == RUN_AS_STRUCT)
		return true;
	memcpy(name, line, length);
	name[length] = 0;
	return session->target->btf && linkage_is_named(session->target, name);
}

/*
 * As crash has it: a line that begins with a struct's name, "task_struct.pid ADDRESS", is one of
 * `struct`. Takes the line; NULL without memory.
 */
static char *name_struct(const struct session *session, char *line, enum run_reading reading)
{
	char *named = NULL;
	if (!names_struct(session, line, reading))
		return line;
	if (asprintf(&named, "struct %s", line) < 0)
		named = NULL;
	free(line);
	return named;
}

char *run_trim(const char *line)
{
	size_t length = line_length(line), blank = strspn(line, " \t");
	return strndup(line + (length > blank ? blank : 0), length > blank ? length - blank : 0);
}

/* Aliases, pipes, and commands that have `|` for themselves. */
struct error *run_cut(const struct session *session, const char *text, enum run_reading reading,
		      struct line *ret)
{
	const struct line_names names = { (void *)session, is_command, is_program, is_variable };
	char *expanded = alias_expand(session, text);
	if (expanded)
		expanded = name_struct(session, expanded, reading);
	if (!expanded)
		return error_no_memory();
	const struct command *command = command_find(expanded, strcspn(expanded, " \t|>"));
	if (command && command->whole_line) {
		*ret = (struct line){ .text = expanded, .stages = { expanded }, .stage_count = 1 };
		return NULL;
	}
	struct error *error = line_split(expanded, &names, ret);
	free(expanded);
	return error;
}

static struct error *run_text(struct session *session, const char *text, bool *ret_told)
{
	struct line line = { 0 };
	*ret_told = false;
	if (*text == '!')
		return run_program(session, text + 1);
	struct error *error = run_cut(session, text, RUN_BY_DUMP, &line);
	if (!error)
		error = run_split(session, &line, text, ret_told);
	else if ((*ret_told = session->format == FORMAT_JSON))
		answer_refuse(session, session->file ? session->file : stdout, text, error);
	line_deinit(&line);
	return error;
}

/* --- messages -----------------------------------------------------------------------------------
 */

void run_message(const struct session *session, const char *text)
{
	const struct script *script = session->script;
	progress_hide(session->progress);
	if (session->message_color)
		fputs(STYLE_ERROR, stderr);
	fputs("btfcrash: ", stderr);
	if (script) {
		out_escape(stderr, script->path, strlen(script->path));
		fprintf(stderr, ":%zu: ", script->line);
	}
	out_escape(stderr, text, strlen(text));
	if (session->message_color)
		fputs(STYLE_PLAIN, stderr);
	putc('\n', stderr);
}

static void show_error(struct session *session, const struct error *error)
{
	char *text = NULL;
	bool stopped = error->kind == ERROR_INTERRUPTED;
	if (stopped && asprintf(&text, "%s: what is shown is not all", error->message) < 0)
		text = NULL;
	run_message(session, text ? text : error->message);
	free(text);
	const char *advice = session->target ? target_advice(session->target, error->kind) : NULL;
	if (!advice || session->quiet || advice == session->advised)
		return;
	session->advised = advice;
	fprintf(stderr, "btfcrash: advice: %s\n", advice);
}

bool command_run_line(struct session *session, const char *line)
{
	char *text = run_trim(line);
	struct error *error = NULL;
	bool told = false;
	if (text && !*text) {
		free(text);
		return true;
	}
	if (!text)
		error = error_no_memory();
	else if (session->nesting >= NESTING_MAX)
		error = error_create(ERROR_USAGE, "%d lines run one another", NESTING_MAX);
	/* At a prompt, Ctrl-C ends the line that runs; a script it ends whenever it comes. */
	if (!session->nesting && session->interactive)
		interrupt_clear();
	if (!session->nesting && session->target)
		focus_refresh(&session->focus, session->target);
	session->nesting++;
	if (!error)
		error = run_text(session, text, &told);
	session->nesting--;
	flush_output(session);
	free(text);
	if (!error)
		return true;
	if (error->kind == ERROR_INTERRUPTED && !session->interactive)
		session->interrupted = true;
	if (session->format != FORMAT_JSON || !told)
		show_error(session, error);
	error_free(error);
	session->failed = true;
	return false;
}
