// SPDX-License-Identifier: GPL-3.0-or-later
/* Where the user's lines come from, and what each of them may do. */
#include "debugger/helper/serve_private.h"

#include "debugger/command/alias.h"
#include "debugger/helper/words.h"
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

static void settle_terminal(void *context)
{
	const struct server *server = context;
	terminal_settle(server->terminal);
}

int lines_open_prompt(struct server *server)
{
	const struct prompt_link link = { server, words_find, settle_terminal };
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
