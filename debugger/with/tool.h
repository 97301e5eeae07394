/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tools that a dump is handed to, and what each of them can read. */
#ifndef DEBUGGER_WITH_TOOL_H
#define DEBUGGER_WITH_TOOL_H

#include "base/strbuf.h"
#include <stdbool.h>
#include <stddef.h>

/* By the first bytes of the file, and where its memory is said to lie. */
enum dump_format {
	DUMP_ELF,	   /* at virtual addresses, as a kernel writes /proc/vmcore */
	DUMP_ELF_PHYSICAL, /* at physical ones alone: written from outside, or by makedumpfile */
	DUMP_KDUMP,	   /* kdump-compressed */
	DUMP_FLATTENED,	   /* makedumpfile -F */
	DUMP_IMAGE,	   /* LiME, AVML */
	DUMP_OTHER,
};

/* What is put on a tool's command line. */
struct tool_files {
	const char *vmlinux;
	const char *const *dumps;
	size_t dump_count;
};

struct tool {
	const char *name;    /* of its program, too */
	const char *package; /* of Debian */
	bool (*reads)(enum dump_format format);
	const char *others; /* what to do with the dumps that it does not read */
	bool reads_split;   /* several files of one dump */
	bool wants_moved;   /* addresses as they were at run time, not as they were linked */
	const char *limits; /* a sentence for the note; NULL */
	/*
	 * A text of this program's own that the tool loads at its start, its name, and the
	 * variable of the environment that lists such; NULL.
	 */
	const char *plugin, *plugin_name, *plugin_variable;
	/* Adds the words that come before the user's. */
	void (*add_words)(const struct tool_files *files, const char **words, size_t *count);
};

#define TOOL_WORDS_MAX 8 /* of add_words(), and one for each dump */

/* By its name, one of the words that --with takes; NULL: there is none. */
const struct tool *tool_find(const char *name);
/* Where the shell would find it; to be freed. NULL: nowhere, or no memory. */
char *tool_program(const struct tool *tool);
/* False: it cannot be read. */
bool dump_format_of(const char *path, enum dump_format *ret);
/* "kdump-compressed" */
const char *dump_format_name(enum dump_format format);

#endif
