/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Between the files of btf/header*.c. */
#ifndef BTF_HEADER_PRIVATE_H
#define BTF_HEADER_PRIVATE_H

#include "base/hash.h"
#include "btf/header.h"

/* Nesting of types, and of what they need, that is followed. */
#define HEADER_DEPTH_MAX 512
/* Members and parameters that a header may have: hostile types branch without end. */
#define HEADER_PARTS_MAX (1u << 22)

/* Names that are taken, in one of C's name spaces. */
struct header_names {
	struct hash_index index; /* of entries, by name */
	struct strbuf text;
	struct header_name {
		uint32_t offset; /* in `text`, ends in NUL */
		uint32_t last;	 /* number given last to a namesake */
	} * entries;
	size_t count, capacity;
};

void header_names_deinit(struct header_names *names);
/*
 * Takes a name, or what it becomes with "___2", "___3"... when it is taken: *ret_suffix is that
 * number, 0 for none. False: no memory.
 */
bool header_claim(struct header_names *names, const char *name, uint32_t *ret_suffix);
/* The name as an identifier of C. */
void header_put_identifier(struct strbuf *text, const char *name, uint32_t suffix);

enum header_state { HEADER_WAITING, HEADER_OPEN, HEADER_DONE };

/* What is known of a type, by id. */
struct header_type {
	uint32_t suffix;
	uint32_t alignment; /* of a struct or union as it is written; 0: not known */
	uint8_t state;	    /* of a definition; of an anonymous enum: whether it has been written */
	bool is_packed, is_open;
	/* What must stand before a mention, or before a use by value, stands. */
	bool is_mentionable, is_usable;
};

struct header {
	const struct btf *btf;
	struct strbuf *text;
	struct header_names tags, ordinary;
	struct header_type *types;
	uint32_t parts, holes;
	int depth;
	struct error *error;
};

struct type header_view(const struct header *header, uint32_t id);
/* Counts a member or parameter; false: something is wrong, see header->error. */
bool header_may_go_on(struct header *header);

/* --- header_type.c -------------------------------------------------------------- */
/* "int (*name)(void)", without semicolon; anonymous structs in braces at `indent`. Empties `name`.
 */
void header_put_declaration(struct header *header, struct strbuf *text, uint32_t id,
			    struct strbuf *name, int indent);
/* "enum x { ... }" */
void header_put_enum(struct header *header, struct strbuf *text, const struct btf_type *record,
		     int indent);

/* --- header_record.c ------------------------------------------------------------- */
/* "struct x { ... }" with its attribute. */
void header_put_record(struct header *header, struct strbuf *text, const struct btf_type *record,
		       int indent);

#endif
