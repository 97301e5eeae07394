/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Starts another tool on a dump, with a vmlinux that is written out of it. Nothing here reads more
 * of the dump than the bytes by which its format is told: the file is made by another process.
 */
#ifndef DEBUGGER_WITH_START_H
#define DEBUGGER_WITH_START_H

#include "debugger/with/tool.h"
#include <stdint.h>
#include <stdio.h>

struct with {
	const struct tool *tool;
	char **arguments; /* of the tool; ends with NULL */
	const char *const *dumps;
	size_t dump_count;
	bool quiet;
	bool keep;	   /* the file may be found again, and by `rules` be another one */
	const char *rules; /* what it depends on beside the dump and this program */
};

/* Writes both files, in a process of its own, which may give up all rights. An exit status. */
typedef int with_maker(void *context, FILE *vmlinux, FILE *tiers);

/*
 * An exit status: that of the tool, which this process becomes where the file is kept; 2 where it
 * cannot be started, and what `make` returned where there is no file. What is wrong is said on
 * standard error.
 */
int with_start(const struct with *with, with_maker *make, void *context);

#endif
