/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Between complete.c (own words), complete_names.c and complete_expression.c (names of the dump).
 */
#ifndef DEBUGGER_COMPLETION_COMPLETE_PRIVATE_H
#define DEBUGGER_COMPLETION_COMPLETE_PRIVATE_H

#include "base/array.h"
#include "base/interrupt.h"
#include "debugger/command/command.h"
#include "debugger/completion/complete.h"

struct completing {
	struct session *session;
	const char *text;	 /* the line up to the cursor */
	const char *prefix;	 /* of the words that fit: the end of `text` */
	enum helper_names names; /* that are asked for */
	struct completions *ret;
};

/* The word at the cursor begins at this offset. */
void complete_begin(struct completing *completing, size_t start);
/* Adds one of the program's own words if it begins as the prefix does. */
void complete_offer(struct completing *completing, const char *word);
/* Adds a name if it begins as the prefix does, and is none that only looks like one. */
void complete_offer_name(struct completing *completing, const char *word);
/* More candidates were offered than anybody will read. */
bool complete_full(const struct completing *completing);

/* --- what the text alone says: complete_place.c ------------------------------------------ */

/* What the word at the end of an expression is. */
enum place {
	PLACE_EMPTY, /* nothing is typed that a word could go on from */
	PLACE_FREE,
	PLACE_BRACES,	/* "EXPRESSION{a, se.wo" */
	PLACE_MEMBER,	/* behind a point or an arrow */
	PLACE_VARIABLE, /* behind a $ */
	PLACE_SYMBOL,	/* behind "MODULE:" */
	PLACE_STRUCT,	/* behind the keyword, as with the next two */
	PLACE_UNION,
	PLACE_ENUM
};
/* `start`: of the expression; `word`: where its last identifier begins. */
enum place complete_place(const char *text, size_t start, size_t word);
/* Where the identifier that ends at `end` begins, not before `start`. */
size_t complete_identifier(const char *text, size_t start, size_t end);
/* Where the word begins that one of these names would go on from. */
size_t complete_word(enum helper_names names, const char *text, size_t start);

/* The braces that are open at the cursor, and where in each the current path begins. */
#define BRACES_MAX 8
struct braces {
	size_t open[BRACES_MAX], path[BRACES_MAX];
	size_t count;
};
/* False: the word at `word` is in none. */
bool complete_find_braces(const char *text, size_t start, size_t word, struct braces *ret);

/* --- names of the dump ------------------------------------------------------------------------ */

/* Members of what an expression is, or points to. */
void complete_members_of(struct completing *completing, const char *expression);
/* "EXPRESSION{a, se.wo": members of what stands before the braces. */
void complete_in_braces(struct completing *completing, size_t start, size_t word);
/* The end of an expression that begins at `start`: members, types, symbols, variables. */
void complete_expression(struct completing *completing, size_t start);
/* "task_struct", "struct task_struct", "task_struct.se.vr": of commands that show types. */
void complete_type_operand(struct completing *completing, size_t start);

#endif
