// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/helper/grant.h"

#include "base/array.h"
#include "base/ascii.h"
#include "debugger/command/command.h"
#include "debugger/command/line.h"
#include "debugger/command/run.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void add_program(struct grant *grant, const char *program, bool is_beside)
{
	char *copy = grant->program_count < GRANT_PROGRAMS_MAX ? strdup(program) : NULL;
	if (!copy)
		return;
	grant->programs[grant->program_count++] = copy;
	grant->is_beside = is_beside;
}

static void add_file(struct grant *grant, const char *path, struct grant_file rights)
{
	rights.path = grant->file_count < GRANT_FILES_MAX ? strdup(path) : NULL;
	if (rights.path)
		grant->files[grant->file_count++] = rights;
}

/*
 * The files that a command names: operands are read, but for a
 * last one that is an output; those of options are written.
 */
static void add_named(struct grant *grant, const char *text)
{
	struct call call;
	struct error *error = call_parse(text, &call);
	const struct command *command = error ? NULL : call.command;
	for (size_t i = 0; command && i < command_option_count(command); i++)
		if (command->options[i].argument_kind == OPERAND_FILE &&
		    call.arguments.options[i] && command->options[i].argument)
			add_file(grant, call.arguments.options[i],
				 (struct grant_file){ .write = true });
	size_t last = command ? command_operand_count(command) : 0;
	for (size_t i = 0; last && i < call.arguments.operand_count; i++) {
		const char *word = call.arguments.operands[i];
		const struct operand_spec *spec = &command->operands[i < last ? i : last - 1];
		if (spec->kind == OPERAND_SCRIPT && !grant->script)
			grant->script = line_path(word);
		if (spec->kind == OPERAND_FILE)
			add_file(grant, word, (struct grant_file){ 0 });
		if (spec->kind == OPERAND_OUTPUT && i + 1 == call.arguments.operand_count)
			add_file(grant, word,
				 (struct grant_file){ .write = true,
						      .is_private = spec->is_private });
	}
	call_deinit(&call);
	error_free(error);
}

static void add_reading(struct grant *grant, const struct session *session, const char *text,
			enum run_reading reading)
{
	struct line line = { 0 };
	struct error *error = run_cut(session, text, reading, &line);
	if (!error && line.program)
		add_program(grant, line.program, false);
	if (!error && line.file)
		add_file(grant, line.file,
			 (struct grant_file){ .write = true, .append = line.append });
	if (!error && line.stage_count)
		add_named(grant, line.stages[0]);
	if (!error)
		line_deinit(&line);
	error_free(error);
}

void grant_init(struct grant *grant, const struct session *session, const char *line)
{
	*grant = (struct grant){ .pager = true };
	char *text = run_trim(line);
	if (!text)
		return;
	if (*text == '!') {
		const char *program = text + 1 + strspn(text + 1, " \t");
		add_program(grant, program, true);
	} else {
		add_reading(grant, session, text, RUN_AS_TYPED);
		add_reading(grant, session, text, RUN_AS_STRUCT);
	}
	free(text);
}

void grant_deinit(struct grant *grant)
{
	for (size_t i = 0; i < grant->program_count; i++)
		free(grant->programs[i]);
	for (size_t i = 0; i < grant->file_count; i++) {
		free(grant->files[i].path);
		if (grant->files[i].opened_path)
			close(grant->files[i].opened);
		free(grant->files[i].opened_path);
	}
	free(grant->script);
	*grant = (struct grant){ 0 };
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

bool grant_equal(const struct grant *a, const struct grant *b)
{
	if (a->program_count != b->program_count || a->file_count != b->file_count ||
	    a->is_beside != b->is_beside || !same_text(a->script, b->script))
		return false;
	for (size_t i = 0; i < a->program_count; i++)
		if (!same_text(a->programs[i], b->programs[i]))
			return false;
	for (size_t i = 0; i < a->file_count; i++)
		if (a->files[i].write != b->files[i].write ||
		    a->files[i].append != b->files[i].append ||
		    !same_text(a->files[i].path, b->files[i].path))
			return false;
	return true;
}

bool grant_names_file(const struct grant *grant, const char *word)
{
	bool found = grant->script && strstr(grant->script, word);
	for (size_t i = 0; i < grant->file_count; i++)
		found |= strstr(grant->files[i].path, word) != NULL;
	return found;
}

bool grant_begins_with(const struct grant *grant, const char *word)
{
	size_t length = strlen(word);
	for (size_t i = 0; i < grant->program_count; i++)
		if (length && !strncmp(grant->programs[i], word, length) &&
		    !ascii_is_alnum(grant->programs[i][length]))
			return true;
	return false;
}

bool grant_take_program(struct grant *grant, const char *program, bool is_beside)
{
	for (size_t i = 0; i < grant->program_count && grant->is_beside == is_beside; i++) {
		if (strcmp(grant->programs[i], program) != 0)
			continue;
		/* A line has one program, however it is read. */
		for (size_t j = 0; j < grant->program_count; j++)
			free(grant->programs[j]);
		grant->program_count = 0;
		return true;
	}
	return false;
}

bool grant_take_write(struct grant *grant, const char *path, bool append, bool *ret_private)
{
	bool found = false, is_private = false;
	/* The two readings of a line may both have it. */
	for (size_t i = 0; i < grant->file_count; i++) {
		struct grant_file *file = &grant->files[i];
		if (!file->write || file->append != append || strcmp(file->path, path) != 0)
			continue;
		found = true;
		is_private |= file->is_private;
		file->write = false;
		file->path[0] = 0;
	}
	if (found)
		*ret_private = is_private;
	return found;
}

void grant_keep_opened(struct grant *grant, const char *path, int file)
{
	struct stat status;
	struct grant_file *kept = NULL;
	for (size_t i = 0; i < grant->file_count && !kept; i++)
		if (!grant->files[i].path[0] && !grant->files[i].opened_path)
			kept = &grant->files[i];
	if (!kept || fstat(file, &status) || !S_ISREG(status.st_mode))
		return;
	kept->opened_path = strdup(path);
	kept->opened = kept->opened_path ? fcntl(file, F_DUPFD_CLOEXEC, 0) : -1;
	if (kept->opened >= 0)
		return;
	free(kept->opened_path);
	kept->opened_path = NULL;
}

int grant_take_opened(struct grant *grant, const char *path)
{
	for (size_t i = 0; i < grant->file_count; i++) {
		struct grant_file *file = &grant->files[i];
		if (!file->opened_path || strcmp(file->opened_path, path) != 0)
			continue;
		free(file->opened_path);
		file->opened_path = NULL;
		return file->opened;
	}
	return -1;
}

bool grant_take_script(struct grant *grant, const char *path)
{
	bool found = grant->script && !strcmp(grant->script, path);
	if (found) {
		free(grant->script);
		grant->script = NULL;
	}
	return found;
}

bool grant_has_read(const struct grant *grant, const char *path)
{
	for (size_t i = 0; i < grant->file_count; i++)
		if (!grant->files[i].write && *path && !strcmp(grant->files[i].path, path))
			return true;
	return false;
}
