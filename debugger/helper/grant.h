/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a line lets the process that runs it do: found out by the helper from the user's words
 * alone, without the dump. Where only the dump could tell how a line is meant, it may do either.
 */
#ifndef DEBUGGER_HELPER_GRANT_H
#define DEBUGGER_HELPER_GRANT_H

#include "debugger/session.h"

#define GRANT_PROGRAMS_MAX 2
#define GRANT_FILES_MAX	   8

struct grant_file {
	char *path;
	bool write, append;
	bool is_private; /* of the written: nobody else may read it */
	/* What was opened by that right, and the path as it was; NULL: nothing. */
	char *opened_path;
	int opened;
};

struct grant {
	char *programs[GRANT_PROGRAMS_MAX]; /* for sh -c; two where a line can be read in two ways
					     */
	size_t program_count;
	bool is_beside; /* a program gets no output: `!PROGRAM` */
	struct grant_file files[GRANT_FILES_MAX];
	size_t file_count;
	char *script; /* what it sources; NULL */
	bool pager;   /* not used yet */
};

/* `session`: the aliases; it has no target. */
void grant_init(struct grant *grant, const struct session *session, const char *line);
void grant_deinit(struct grant *grant);
/* The same rights, in the same words. */
bool grant_equal(const struct grant *a, const struct grant *b);
/* A file or a script has the word in its name. */
bool grant_names_file(const struct grant *grant, const char *word);
/* A program begins with the word. */
bool grant_begins_with(const struct grant *grant, const char *word);
/* Takes the right away: each holds once. False: there is none. */
bool grant_take_program(struct grant *grant, const char *program, bool is_beside);
bool grant_take_write(struct grant *grant, const char *path, bool append, bool *ret_private);
/* Keeps a copy of the file that the right was taken for, so that it can be emptied. */
void grant_keep_opened(struct grant *grant, const char *path, int file);
/* The same once more, of a regular file; it is the caller's to close. Below 0: there is none. */
int grant_take_opened(struct grant *grant, const char *path);
bool grant_take_script(struct grant *grant, const char *path);
/* Reading again is the same as before. */
bool grant_has_read(const struct grant *grant, const char *path);

#endif
