/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The files that a command line names: they are opened before the process that reads them gives up
 * its rights (base/sandbox.h), and read behind that.
 */
#ifndef DEBUGGER_COMMAND_GIVEN_H
#define DEBUGGER_COMMAND_GIVEN_H

#include "base/error.h"
#include "base/opened.h"

/* As they stand on the command line; borrowed. */
struct given_words {
	const char *const *dumps;
	size_t dump_count;
	const char *const *btf; /* of target_add_btf() */
	size_t btf_count;
	const char *const *declarations;
	size_t declaration_count;
	const char *vmcoreinfo; /* NULL: none */
};

struct given_files {
	struct given_words words;
	char **btf_paths; /* NULL where a word names no file */
	/* In which files are looked for by names that are in the dump. */
	char **folders;
	size_t folder_count;
};

struct error *given_init(struct given_files *files, const struct given_words *words) MUST_CHECK;
/* Opens all; nothing is read. The paths are borrowed of `files`. */
struct error *given_open(const struct given_files *files, struct opened *ret) MUST_CHECK;
void given_deinit(struct given_files *files);

#endif
