/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where a file for another tool lies while that reads it: in the user's cache folder, under the
 * rules of base/cache_file.h; or, where that keeps nothing, in a folder that goes
 * away. Of a dump there is its identity in it, of a kernel none: a dump whose file is unchanged has
 * the same build ID.
 */
#ifndef DEBUGGER_WITH_KEPT_H
#define DEBUGGER_WITH_KEPT_H

#include "base/cache_file.h"
#include "base/error.h"
#include <stdio.h>

#define KEPT_NAME_SIZE 64

struct kept {
	bool is_temporary;
	int folder;		/* open */
	char *place;		/* its path, owned */
	struct cache_dump dump; /* empty if temporary */
	struct cache_key key;
	char name[KEPT_NAME_SIZE];
	char new_name[KEPT_NAME_SIZE]; /* until it is whole; nobody else has the same */
	char *vmlinux, *tiers;	       /* paths of what is there, or will be; owned */
};

/*
 * `key`: what the file depends on beside the dump. `keep` false: it is not to be found again.
 * Errors: ERROR_SYSTEM, ERROR_NO_MEMORY.
 */
struct error *kept_open(struct kept *kept, const struct cache_key *key, bool keep,
			const char *const *dumps, size_t count) MUST_CHECK;
/* Removes what is temporary. */
void kept_close(struct kept *kept);
/* Was it made before? Then it is the youngest now. */
bool kept_find(struct kept *kept);
/* The files to write; nobody finds them before kept_keep(). */
struct error *kept_create(struct kept *kept, FILE **ret_vmlinux, FILE **ret_tiers) MUST_CHECK;
/* They are whole: takes them, and closes them, as kept_drop() does, which removes them. */
struct error *kept_keep(struct kept *kept, FILE *vmlinux, FILE *tiers) MUST_CHECK;
void kept_drop(struct kept *kept, FILE *vmlinux, FILE *tiers);
/* A small file of this program's own text beside them. *ret_path: to be freed. */
struct error *kept_text(struct kept *kept, const char *name, const char *text,
			char **ret_path) MUST_CHECK;

#endif
