// SPDX-License-Identifier: GPL-3.0-or-later
/* Where the user's lines come from, and what each of them may do. */
#include "debugger/helper/serve_private.h"

#include "debugger/command/alias.h"
#include "debugger/command/command.h"
#include "debugger/command/line.h"
#include "debugger/shell/shell.h"
#include "debugger/shell/text_file.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct lines *top(struct server *server)
{
	return server->depth ? &server->stack[server->depth - 1] : NULL;
}

struct grant *lines_grant(struct server *server)
{
	struct lines *lines = top(server);
	return lines && lines->line ? &lines->grant : NULL;
}

static int push(struct server *server, FILE *file)
{
	if (server->depth == DEPTH_MAX) {
		if (file && file != stdin)
			fclose(file);
		return ELOOP;
	}
	server->stack[server->depth++] = (struct lines){ .file = file };
	return 0;
}

/* A line begins: what it may do, and what it means for those that follow. */
static void begin(struct server *server, struct lines *lines)
{
	grant_deinit(&lines->grant);
	grant_init(&lines->grant, &server->session, lines->line);
	alias_learn(&server->session, lines->line);
}

/* Sources of the command line run in their order, each once. */
int lines_open_command(struct server *server, const struct message *request)
{
	uint32_t number;
	if (request->size != sizeof(number) || server->depth)
		return EPERM;
	memcpy(&number, request->data, sizeof(number));
	if (number < server->next_source || number >= server->options->source_count ||
	    server->options->sources[number].is_file)
		return EPERM;
	server->next_source = number + 1;
	int status = push(server, NULL);
	if (status)
		return status;
	struct lines *lines = top(server);
	lines->line = strdup(server->options->sources[number].text);
	if (!lines->line)
		return ENOMEM;
	begin(server, lines);
	return 0;
}

/* The next of the command line's files that is this one. */
static bool is_next_source(struct server *server, const char *path)
{
	const struct serve_options *options = server->options;
	for (size_t i = server->next_source; i < options->source_count && !server->depth; i++) {
		if (!options->sources[i].is_file || strcmp(options->sources[i].text, path) != 0)
			continue;
		server->next_source = i + 1;
		return true;
	}
	return false;
}

int lines_open_script(struct server *server, const char *path)
{
	struct grant *grant = lines_grant(server);
	if (!is_next_source(server, path) && !(grant && grant_take_script(grant, path)))
		return EPERM;
	FILE *file = stdin;
	int status = strcmp(path, "-") ? text_file_open(path, false, &file) : 0;
	return status ? status : push(server, file);
}

int lines_open_rc(struct server *server, const char *path)
{
	const struct serve_options *options = server->options;
	if (!options->interactive || options->no_rc || server->depth || server->had_rc)
		return EPERM;
	server->had_rc = true;
	FILE *file;
	int status = path ? text_file_open(path, true, &file) : ENOENT;
	if (status)
		return status == ENOTDIR ? ENOENT : status;
	return push(server, file);
}

/* Whether a word there would be the name of a file: a line has no other right that one may give. */
static bool names_file(const struct server *server, const char *line, size_t point)
{
	static const char word[] = "any_word";
	struct grant grant;
	char *text = NULL;
	if (asprintf(&text, "%.*s%s%s", (int)point, line, word, line + point) < 0)
		return true;
	grant_init(&grant, &server->session, text);
	bool found = grant.script && strstr(grant.script, word);
	for (size_t i = 0; i < grant.file_count; i++)
		found |= strstr(grant.files[i].path, word) != NULL;
	grant_deinit(&grant);
	free(text);
	return found;
}

/* The first word of the line, or behind a `|`; and all that an alias will stand for: a program or a
 * file is not seen there until it is run. */
static bool takes_commands_only(const struct server *server, const char *line, size_t point)
{
	bool to_file;
	char *head = strndup(line, point), *text = alias_expand(&server->session, line);
	const struct command *command = text ? command_find(text, strcspn(text, " \t|>")) : NULL;
	size_t start = head ? line_last_part(head, &to_file) : 0;
	bool only = !head || !text || (command && command->whole_line);
	if (head)
		start += strspn(head + start, " \t");
	only = only || !head[start + strcspn(head + start, " \t")];
	free(text);
	free(head);
	return only;
}

/*
 * Only the user says which programs his line runs and which files it reads and writes: the process
 * that finds words may have been taken over.
 */
static enum prompt_words wanted_words(void *context, const char *line, size_t point)
{
	struct server *server = context;
	struct grant grant;
	grant_init(&grant, &server->session, line);
	bool is_program = grant.program_count > 0;
	bool is_first = !grant.is_beside && is_program && !strpbrk(grant.programs[0], " \t");
	grant_deinit(&grant);
	if ((is_program && !is_first) || names_file(server, line, point))
		return PROMPT_NONE;
	return is_first || takes_commands_only(server, line, point) ? PROMPT_COMMANDS : PROMPT_ANY;
}

static bool is_command(void *context, const char *word)
{
	struct server *server = context;
	return command_find(word, strlen(word)) || alias_find(&server->session, word, strlen(word));
}

static bool serve_while_typing(void *context, const struct message *request)
{
	return serve_at_prompt(context, request);
}

int lines_open_prompt(struct server *server)
{
	const struct prompt_link link = { server, wanted_words, is_command, serve_limit,
					  serve_while_typing };
	if (!server->options->interactive || server->depth || server->had_prompt)
		return EPERM;
	server->had_prompt = true;
	int status = push(server, NULL);
	if (status)
		return status;
	top(server)->prompt = prompt_open(server->socket, &link);
	return top(server)->prompt ? 0 : ENOMEM;
}

/* The next line of a file that is not empty; false: the end, or errno. */
static bool read_line(struct lines *lines)
{
	while (text_file_line(lines->file, &lines->line, &lines->capacity) >= 0) {
		lines->number++;
		if (shell_is_command(lines->line))
			return true;
	}
	return false;
}

int lines_next(struct server *server, struct lines_next *ret)
{
	struct lines *lines = top(server);
	*ret = (struct lines_next){ 0 };
	if (!lines || (!lines->file && !lines->prompt))
		return EPERM;
	grant_deinit(&lines->grant);
	if (lines->prompt) {
		free(lines->line);
		lines->line = prompt_read(lines->prompt);
		if (!lines->line)
			return 0;
	} else if (!read_line(lines)) {
		int status = errno;
		free(lines->line);
		lines->line = NULL;
		lines->capacity = 0;
		return status;
	}
	begin(server, lines);
	*ret = (struct lines_next){ lines->line, lines->number };
	return 0;
}

void lines_close(struct server *server)
{
	struct lines *lines = top(server);
	if (!lines)
		return;
	if (lines->file && lines->file != stdin)
		fclose(lines->file);
	prompt_close(lines->prompt);
	grant_deinit(&lines->grant);
	free(lines->line);
	server->depth--;
}
