/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What `list` and `tree` show of the items that a walk finds: addresses, and members that the user
 * chose, as a table that is written while the walk goes on. Each row is an out_item() for a pipe.
 */
#ifndef DEBUGGER_SHOW_LISTING_H
#define DEBUGGER_SHOW_LISTING_H

#include "debugger/eval/selection.h"
#include "debugger/kernel/walk.h"
#include "debugger/session.h"

#define LISTING_LIMIT 10000u

/* The type that items have, and where in it the nodes are that link them. */
struct linkage {
	struct type type;     /* { NULL, 0 }: unknown, the items are the nodes */
	char name[160];	      /* "struct task_struct", "": unknown */
	struct type member;   /* of the node; { NULL, 0 }: no member was named */
	uint64_t node_offset; /* bytes */
};

/*
 * "task_struct.tasks", "struct task_struct.tasks", "struct.task_struct.tasks", "pid": a type, in
 * the kernel's BTF or a module's, and a member path in it.
 */
struct error *linkage_parse(struct target *target, const char *text,
			    struct linkage *ret) MUST_CHECK;
/* Whether the text begins with the name of a type: so an operand is told from an expression. */
bool linkage_is_named(struct target *target, const char *text);
/* Of such a text where a HEAD or ROOT should be: the error that says so. NULL: it is no such text.
 */
struct error *linkage_alone(struct target *target, const char *text, const char *root,
			    const char *example) MUST_CHECK;

struct listing {
	struct session *session;
	const struct linkage *linkage;
	struct selection selection;
	struct render_options options;
	bool has_cpu;	/* there is a walk a CPU: rows begin with it */
	uint32_t cpu;	/* has_cpu: of the walk that goes on */
	bool has_index; /* the items of maps: rows have the index */
	uint64_t limit; /* of items; 0: none */
	bool limit_is_default;
	uint64_t count;
	size_t problems;
	bool full;	  /* the limit ended the walk */
	bool hexadecimal; /* numbers of the members; set before listing_begin() */
	bool has_end, ended;
	uint64_t end; /* has_end: the element, or its node, before which the walk ends */
	struct column columns[SELECTION_MAX + 4];
	char keys[SELECTION_MAX][64];
};

/*
 * Begins the table. `members` is the text of a selection, `limit` of a number; NULL: none given.
 * `session` and `linkage` are borrowed. After success, listing_end() ends it.
 */
struct error *listing_begin(struct listing *listing, struct session *session,
			    const struct linkage *linkage, const char *members,
			    const char *limit) MUST_CHECK;
/* The visitors of a walk, with the listing as their context. */
struct error *listing_visit(void *context, const struct walk_item *item) MUST_CHECK;
struct error *listing_broken(void *context, struct error *problem) MUST_CHECK;
/* Takes what the walk returned. Errors: that, or what was broken, or the limit nobody asked for. */
struct error *listing_end(struct listing *listing, struct error *error) MUST_CHECK;

/* Where walks begin: the results of an expression. */
struct listing_root {
	struct value value;
	bool has_cpu;
	uint32_t cpu;
};
struct listing_roots {
	struct listing_root *roots;
	size_t count, capacity;
};
/* One, or one a CPU (NAME:a) or an element (NAME[0..3].x). The caller frees ret->roots. */
struct error *listing_find_roots(struct session *session, const char *text,
				 struct listing_roots *ret) MUST_CHECK;

/*
 * The object that an expression names: what a pointer points to, or the variable itself. The type
 * is { NULL, 0 } where only an address is known.
 */
struct error *listing_place(const struct value *value, uint64_t *ret,
			    struct type *ret_type) MUST_CHECK;

#endif
