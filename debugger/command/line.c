// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/command/line.h"

#include "base/ascii.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH_LENGTH_MAX 4096

/* Walks over a line and knows what is quoted or in brackets. */
struct scan {
	const char *at;
	int depth;
	char quote;
};

/* A quote that never ends is no quote: "don't". */
static bool opens_quote(const char *at)
{
	for (const char *end = at + 1; *end; end++) {
		if (*end == '\\' && end[1])
			end++;
		else if (*end == *at)
			return true;
	}
	return false;
}

static bool is_open(const struct scan *scan)
{
	return !scan->quote && scan->depth <= 0;
}

/* Takes one character, an escaped one with its backslash. */
static void scan_next(struct scan *scan)
{
	char byte = *scan->at;
	if (byte == '\\' && scan->at[1])
		scan->at++;
	else if (scan->quote)
		scan->quote = byte == scan->quote ? 0 : scan->quote;
	else if ((byte == '\'' || byte == '"') && opens_quote(scan->at))
		scan->quote = byte;
	else if (byte == '(' || byte == '[' || byte == '{')
		scan->depth++;
	else if (byte == ')' || byte == ']' || byte == '}')
		scan->depth--;
	scan->at++;
}

static const char *skip_blanks(const char *at)
{
	while (isspace((unsigned char)*at))
		at++;
	return at;
}

static size_t word_length(const char *at)
{
	return strcspn(at, " \t\n");
}

size_t line_length(const char *text)
{
	struct scan scan = { .at = text };
	bool blank = true;
	while (*scan.at) {
		if (*scan.at == '#' && blank && is_open(&scan) &&
		    (scan.at == skip_blanks(text) || !scan.at[1] ||
		     isspace((unsigned char)scan.at[1])))
			break;
		blank = isspace((unsigned char)*scan.at);
		scan_next(&scan);
	}
	size_t length = (size_t)(scan.at - text);
	while (length && isspace((unsigned char)text[length - 1]))
		length--;
	return length;
}

bool line_is_program(const char *word, size_t length)
{
	char path[PATH_LENGTH_MAX];
	if (!length)
		return false;
	if (memchr(word, '/', length)) {
		snprintf(path, sizeof(path), "%.*s", (int)length, word);
		return !access(path, X_OK);
	}
	const char *folders = getenv("PATH");
	while (folders && *folders) {
		size_t folder = strcspn(folders, ":");
		int size = snprintf(path, sizeof(path), "%.*s/%.*s", (int)folder, folders,
				    (int)length, word);
		if (folder && size < (int)sizeof(path) && !access(path, X_OK))
			return true;
		folders += folder + (folders[folder] == ':');
	}
	return false;
}

/* --- which operators are the line's ------------------------------------------------ */

struct splitter {
	const struct line_names *names;
	struct line *line;
	const char *stage; /* where the stage that is scanned begins */
	bool expression;   /* it may have C's operators */
};

enum junction { JUNCTION_NONE, JUNCTION_PIPE, JUNCTION_WRITE, JUNCTION_APPEND };

/* What is spelled at this place, if it cannot be another of C's. Its length: 1, for append 2. */
static enum junction spelled(const char *text, const char *at)
{
	char before = at > text ? at[-1] : ' ';
	if (*at == '|' && at[1] != '|' && before != '|' && at[1] != '=')
		return JUNCTION_PIPE;
	if (*at != '>' || before == '>' || before == '-')
		return JUNCTION_NONE;
	if (at[1] == '>' && at[2] != '>' && at[2] != '=')
		return JUNCTION_APPEND;
	return at[1] == '>' || at[1] == '=' ? JUNCTION_NONE : JUNCTION_WRITE;
}

/* Whether a | in a command with an expression is a pipe, not C's operator. */
static bool is_pipe(const struct splitter *splitter, const char *word)
{
	const struct line_names *names = splitter->names;
	size_t length = word_length(word);
	bool expression;
	return (*word == '!' && ascii_is_alpha(word[1])) ||
	       names->is_command(names->context, word, length, &expression) ||
	       names->is_program(names->context, word, length);
}

static struct error *ask_file(const struct splitter *splitter, const char *word, bool *ret)
{
	const struct line_names *names = splitter->names;
	size_t length = word_length(word);
	*ret = false;
	if (!length || *skip_blanks(word + length) || isdigit((unsigned char)*word) ||
	    strpbrk(word, "()[]{}<>|&*$\"'") || strchr("-+!", *word))
		return NULL;
	if (names->is_variable(names->context, word, length))
		return error_create(ERROR_USAGE,
				    "\"> %.*s\" may be C's or the shell's: write (... > %.*s) for "
				    "C's, > ./%.*s for the shell's",
				    (int)length, word, (int)length, word, (int)length, word);
	*ret = true;
	return NULL;
}

static struct error *is_ours(const struct splitter *splitter, const char *at, enum junction kind,
			     bool *ret)
{
	size_t length = kind == JUNCTION_APPEND ? 2 : 1;
	const char *word = skip_blanks(at + length);
	*ret = !splitter->expression;
	if (*ret)
		return NULL;
	if (!isspace((unsigned char)at[-1]) || (at[length] && !isspace((unsigned char)at[length])))
		return NULL;
	if (!*word) {
		*ret = true; /* it has to be something: the message says what is missing */
		return NULL;
	}
	if (kind != JUNCTION_PIPE)
		return ask_file(splitter, word, ret);
	*ret = is_pipe(splitter, word);
	return NULL;
}

size_t line_last_part(const char *text, bool *ret_file)
{
	size_t start = 0;
	*ret_file = false;
	for (struct scan scan = { .at = text }; *scan.at; scan_next(&scan)) {
		enum junction kind = is_open(&scan) ? spelled(text, scan.at) : JUNCTION_NONE;
		bool blanks = scan.at > text && isspace((unsigned char)scan.at[-1]) &&
			      scan.at[kind == JUNCTION_APPEND ? 2 : 1] == ' ';
		if (kind == JUNCTION_NONE || !blanks)
			continue;
		*ret_file = kind != JUNCTION_PIPE;
		start = (size_t)(scan.at - text) + (kind == JUNCTION_APPEND ? 2 : 1);
	}
	return start;
}

/* --- cutting ----------------------------------------------------------------------- */

static void trim(char *text)
{
	size_t length = strlen(text);
	while (length && isspace((unsigned char)text[length - 1]))
		text[--length] = 0;
}

static struct error *add_stage(struct splitter *splitter, const char *stage)
{
	struct line *line = splitter->line;
	if (line->stage_count == LINE_STAGES_MAX)
		return error_create(ERROR_USAGE, "more than %d commands in a pipe",
				    LINE_STAGES_MAX);
	stage = skip_blanks(stage);
	bool expression = false;
	splitter->names->is_command(splitter->names->context, stage, word_length(stage),
				    &expression);
	splitter->expression = expression;
	splitter->stage = stage;
	line->stages[line->stage_count++] = stage;
	return NULL;
}

/* What follows a pipe: a command of ours, or a program with all the rest. */
static struct error *after_pipe(struct splitter *splitter, const char *text)
{
	const struct line_names *names = splitter->names;
	const char *word = skip_blanks(text);
	size_t length = word_length(word);
	bool expression;
	if (!length)
		return error_create(ERROR_USAGE, "there is nothing behind the |");
	if (names->is_command(names->context, word, strcspn(word, " \t|>"), &expression))
		return add_stage(splitter, word);
	splitter->line->program = skip_blanks(word + (*word == '!'));
	return NULL;
}

static struct error *after_redirection(struct splitter *splitter, char *text)
{
	char *word = (char *)skip_blanks(text);
	size_t length = strlen(word);
	char quote = *word == '"' || *word == '\'' ? *word : 0;
	if (quote && length > 1 && word[length - 1] == quote) {
		word[length - 1] = 0;
		word++;
	} else if (word[word_length(word)]) {
		return error_create(ERROR_USAGE,
				    "> takes one file name, at the end of the line: \"%s\"", word);
	}
	if (!*word)
		return error_create(ERROR_USAGE, "there is no file name behind the >");
	splitter->line->file = word;
	return NULL;
}

bool line_may_have_parts(const char *text)
{
	return strpbrk(text, "|>") != NULL;
}

static struct error *split(struct splitter *splitter, char *text)
{
	struct error *error = add_stage(splitter, text);
	struct scan scan = { .at = splitter->stage };
	if (!line_may_have_parts(text))
		return error;
	while (!error && *scan.at) {
		bool ours = false;
		char *at = (char *)scan.at;
		enum junction kind = is_open(&scan) ? spelled(text, at) : JUNCTION_NONE;
		if (kind != JUNCTION_NONE)
			error = is_ours(splitter, at, kind, &ours);
		if (!ours) {
			scan_next(&scan);
			continue;
		}
		*at = 0;
		trim((char *)splitter->stage);
		if (kind != JUNCTION_PIPE) {
			splitter->line->append = kind == JUNCTION_APPEND;
			return after_redirection(splitter, at + (kind == JUNCTION_APPEND ? 2 : 1));
		}
		error = after_pipe(splitter, at + 1);
		if (splitter->line->program)
			break;
		scan = (struct scan){ .at = splitter->stage };
	}
	return error;
}

/* "ps ; bt" as a shell has it. C and names need no `;`, unless it is quoted. */
static struct error *check_semicolon(const struct line_names *names, const char *stage)
{
	for (struct scan scan = { .at = stage }; *scan.at; scan_next(&scan)) {
		if (*scan.at != ';' || !is_open(&scan))
			continue;
		const char *next = skip_blanks(scan.at + 1);
		bool expression;
		if (!*next)
			return error_create(ERROR_USAGE, "one line is one command: leave out the "
							 "\";\" at its end");
		if (next > scan.at + 1 ||
		    names->is_command(names->context, next, strcspn(next, " \t|>;"), &expression))
			return error_create(ERROR_USAGE,
					    "one line is one command: what follows the \";\" "
					    "needs a line of its own, or another -c");
	}
	return NULL;
}

struct error *line_split(const char *text, const struct line_names *names, struct line *ret)
{
	struct line line = { .text = strdup(text) };
	struct splitter splitter = { .names = names, .line = &line };
	if (!line.text)
		return error_no_memory();
	trim(line.text);
	struct error *error = split(&splitter, line.text);
	for (size_t i = 0; i < line.stage_count && !error; i++)
		error = *line.stages[i]
				? check_semicolon(names, line.stages[i])
				: error_create(ERROR_USAGE, "there is no command before the %s",
					       line.stage_count > 1 || line.program ? "|" : ">");
	if (error)
		free(line.text);
	else
		*ret = line;
	return error;
}

void line_deinit(struct line *line)
{
	free(line->text);
}

char *line_path(const char *path)
{
	const char *home = getenv("HOME");
	char *expanded = NULL;
	if (path[0] != '~' || path[1] != '/' || !home)
		return strdup(path);
	return asprintf(&expanded, "%s%s", home, path + 1) < 0 ? NULL : expanded;
}
