/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * C types as written: a small tree from specifiers and a declarator, made without looking at BTF,
 * and its resolution against BTF. Theory: C's declarators read inside out; ctype_parse_declarator()
 * parses "*(*x[3])(int)" with a placeholder for what the inner parentheses apply to and
 * fills it in afterwards.
 */
#ifndef DEBUGGER_DECLARE_CTYPE_H
#define DEBUGGER_DECLARE_CTYPE_H

#include "debugger/declare/lexer.h"
#include "debugger/target/target.h"

#define CTYPE_NAME_SIZE	 128
#define CTYPE_PARAMS_MAX 16

enum ctype_kind {
	CTYPE_VOID,
	CTYPE_INTEGER, /* name, size, encoding */
	CTYPE_FLOAT,   /* name */
	CTYPE_NAMED,   /* name: "struct x", "union x", "enum x" or a typedef's */
	CTYPE_POINTER,
	CTYPE_ARRAY,
	CTYPE_FUNCTION,
	CTYPE_GROUP, /* parentheses: the same as its target */
	CTYPE_KNOWN  /* known: a type that was looked up already, as typeof() gives it */
};

struct ctype {
	enum ctype_kind kind;
	struct ctype *target;
	struct ctype *next; /* of all nodes, for freeing */
	char name[CTYPE_NAME_SIZE];
	uint32_t size; /* INTEGER: bytes, 0: of a word; ARRAY: elements */
	int encoding;
	bool is_open; /* ARRAY: [] */
	bool is_const, is_volatile;
	bool varargs; /* FUNCTION */
	struct type known;
	uint32_t column;
	uint32_t param_count;
	struct ctype *params[CTYPE_PARAMS_MAX];
};

/* Owns the nodes of a parse. Zeroed is empty. */
struct ctype_pool {
	struct ctype *nodes;
	uint32_t count;
	uint32_t depth;
	bool keeps_qualifiers; /* const and volatile matter: else they are dropped */
	/*
	 * An array's length, from the current token up to the bracket; NULL: only numbers and the
	 * operators between them.
	 */
	struct error *(*evaluate)(void *context, struct lexer *lexer, uint64_t *ret);
	void *context;
};

void ctype_pool_deinit(struct ctype_pool *pool);

/* One parsed declarator: "name" with what is around it. */
struct declarator {
	struct ctype *type;
	const char *name; /* borrowed from the lexer's text; NULL: abstract */
	size_t name_length;
};

/* True for a word that can only begin a type (keywords, not typedef names). */
bool ctype_is_keyword(const struct token *token);
/*
 * "const unsigned long", "struct x", "foo_t" with storage classes and the kernel's annotations
 * dropped. The lexer ends at the first token that is not taken.
 */
struct error *ctype_parse_specifiers(struct lexer *lexer, struct ctype_pool *pool,
				     struct ctype **ret) MUST_CHECK;
/* `named`: a name is required, else it must not be there. */
struct error *ctype_parse_declarator(struct lexer *lexer, struct ctype_pool *pool,
				     struct ctype *base, bool named,
				     struct declarator *ret) MUST_CHECK;
/* Specifiers and an abstract declarator. */
struct error *ctype_parse_name(struct lexer *lexer, struct ctype_pool *pool,
			       struct ctype **ret) MUST_CHECK;

/*
 * Looks the names up. An outermost [] becomes as many elements as `room` bytes hold, others none.
 * `near`: BTF to look in first, NULL.
 */
struct error *ctype_resolve(struct target *target, const struct btf *near,
			    const struct ctype *ctype, uint64_t room, struct type *ret) MUST_CHECK;
/* The same, and in the BTF of every module when neither `near` nor the kernel has the name. */
struct error *ctype_resolve_anywhere(struct target *target, const struct btf *near,
				     const struct ctype *ctype, struct type *ret) MUST_CHECK;

#endif
