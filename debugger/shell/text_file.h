/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The user's own files of lines: scripts, the file for the prompt, the history. What lies there in
 * place of one (a FIFO, /dev/zero) neither hangs the program nor fills its memory.
 */
#ifndef DEBUGGER_SHELL_TEXT_FILE_H
#define DEBUGGER_SHELL_TEXT_FILE_H

#include "base/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

/* What an errno of these functions means. */
struct error *text_file_error(int number) MUST_CHECK;

/*
 * Opens a file of lines; 0, or an errno. `only_regular`: nothing else is opened but /dev/null. Else
 * pipes and devices are read as they come; a FIFO to which nothing writes is given up after a
 * while. Caller closes *ret.
 */
int text_file_open(const char *path, bool only_regular, FILE **ret);
/*
 * The next line, without its end; its length, or -1 at the end (errno 0) or with an errno: a line
 * of more than HELPER_TEXT_MAX bytes is E2BIG. `*line` is the caller's, as getline() has it.
 */
ssize_t text_file_line(FILE *file, char **line, size_t *capacity);

#endif
