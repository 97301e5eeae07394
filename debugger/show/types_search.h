/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Searching types by what they are called, hold and take: `types --member` and its like. */
#ifndef DEBUGGER_SHOW_TYPES_SEARCH_H
#define DEBUGGER_SHOW_TYPES_SEARCH_H

#include "debugger/session.h"

struct types_search {
	const char *pattern;  /* of the type's name, as the shell's; NULL: any */
	const char *member;   /* of a member's, NULL: any */
	struct type contains; /* { NULL, 0 }: anything */
	bool has_size;
	uint64_t size; /* bytes */
};

/* Begins and ends the table of what types_search_in() finds, once for all BTFs. */
void types_search_begin(struct out *out);
void types_search_end(struct out *out);
struct error *types_search_in(struct out *out, const struct btf *btf,
			      const struct types_search *search) MUST_CHECK;

#endif
