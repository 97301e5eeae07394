/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All the types that one name has, in the kernel, its modules and files, and their definitions. */
#ifndef DEBUGGER_SHOW_TYPES_NAMED_H
#define DEBUGGER_SHOW_TYPES_NAMED_H

#include "btf/layout.h"
#include "debugger/session.h"
#include "debugger/target/object.h"

#define TYPE_NAME_SIZE	256
#define TYPES_NAMED_MAX 32

struct types_named {
	enum btf_kind kind; /* what the name had before it; else what comes first */
	bool any_kind;	    /* it had nothing */
	char name[TYPE_NAME_SIZE];
	const char *module; /* NULL: anywhere */
	char module_name[64];
	const char *paths; /* "comm,pid", in the text that was parsed; NULL: the whole */
	struct type found[TYPES_NAMED_MAX];
	size_t count;
};

/* The "struct ", "union " or "enum " that a text begins with, which is skipped; BTF_VOID: none. */
enum btf_kind type_tag_skip(const char **text);
/*
 * "[struct] [MODULE:]NAME[.MEMBER,...]"; false: it is not of this form. Of `named` kind and module
 * are what the caller put there, unless the text says another one.
 */
bool types_named_parse(struct types_named *named, const char *text);
/* ERROR_NOT_FOUND with the names that may have been meant. */
struct error *types_named_find(struct types_named *named, struct target *target) MUST_CHECK;
/* Members of an open object, in text a comment: which BTF has the type. */
void types_named_write_holder(const struct types_named *named, struct type type, bool as_pahole,
			      struct out *out);
/* An array of their definitions. */
struct error *types_named_write(const struct types_named *named,
				const struct btf_layout_style *style, struct out *out) MUST_CHECK;

#endif
