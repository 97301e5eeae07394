/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * C declarations of variables ("struct task_struct init_task;"): the parser, and the table from
 * names to them that ships with the program and that users extend with --declare FILE.
 */
#ifndef DEBUGGER_DECLARE_DECLARE_H
#define DEBUGGER_DECLARE_DECLARE_H

#include "debugger/target/target.h"

struct declarations;

/* The target's table, with the list that ships with the program; made when first asked for. */
struct error *target_declarations(struct target *target, struct declarations **ret) MUST_CHECK;
/*
 * The type of a symbol as the user declares it (ORIGIN_USER), else as BTF says it, else as the list
 * that ships with the program does (ORIGIN_DECLARED); ORIGIN_NONE and { NULL, 0 } when nobody says.
 */
struct error *declared_symbol_type(struct target *target, const struct symbol *symbol,
				   struct type *ret_type, enum type_origin *ret_origin) MUST_CHECK;

/* Has the user declared anything? */
bool declarations_of_user(const struct target *target);

/* An empty table. NULL without memory. */
struct declarations *declarations_create(void);
void declarations_destroy(struct declarations *declarations);
/* Makes them the target's, which has none yet: declared_symbol_type() asks them. Takes them. */
struct error *declarations_keep(struct target *target,
				struct declarations *declarations) MUST_CHECK;
/*
 * Adds declarations from C text; `source` names it in messages ("builtin", a file). Later ones
 * outrank earlier ones. Nothing is looked up in BTF yet. Errors: "FILE:LINE: what".
 */
struct error *declarations_add(struct declarations *declarations, const char *text,
			       const char *source) MUST_CHECK;
struct error *declarations_add_file(struct declarations *declarations, struct helper_link *helper,
				    const char *path) MUST_CHECK;
/* The list that ships with the program; parsed when first needed. */
struct error *declarations_add_builtin(struct declarations *declarations) MUST_CHECK;

/*
 * The declared type of `name`, resolved against the target's BTF and checked: the type exists, is
 * complete, and fits the symbol's room (`size` bytes, 0 unknown). *ret { NULL, 0 } when not
 * declared or not fitting; then `*ret_why` says why (NULL: not declared; caller frees).
 */
struct error *declarations_find(struct target *target, const char *name, uint64_t size,
				struct type *ret, struct error **ret_why) MUST_CHECK;

/*
 * A C type name as in a cast or sizeof: "struct list_head *", "int (*)(void *)", "char [16]",
 * "unsigned long". `*ret_length`: bytes of `text` that were taken (NULL: all must be).
 * `near`: BTF to look in first, NULL.
 */
struct error *declare_parse_type(struct target *target, const struct btf *near, const char *text,
				 size_t *ret_length, struct type *ret) MUST_CHECK;
/*
 * Whether the whole text is the name of a type that `near` (NULL: none) or the kernel's BTF has; a
 * quick question: no module is asked, nor what the name could have meant.
 */
bool declare_is_type(struct target *target, const struct btf *near, const char *text,
		     struct type *ret);

#endif
