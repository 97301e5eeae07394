/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Between complete.c (commands and their operands) and complete_expression.c (C). */
#ifndef DEBUGGER_COMPLETION_COMPLETE_PRIVATE_H
#define DEBUGGER_COMPLETION_COMPLETE_PRIVATE_H

#include "base/array.h"
#include "base/interrupt.h"
#include "debugger/command/command.h"
#include "debugger/completion/complete.h"

struct completing {
	struct session *session;
	const char *text;   /* the line up to the cursor */
	const char *prefix; /* of the words that fit: the end of `text` */
	struct completions *ret;
	bool names; /* tasks by name too */
};

/* The word at the cursor begins at this offset. */
void complete_begin(struct completing *completing, size_t start);
/* What a word is decides what it may be made of: what TAB puts into the line is parsed and run. */
enum word_kind {
	WORD_OWN,    /* the program's own words, and the user's */
	WORD_NAME,   /* a name in C: a member, a type */
	WORD_SYMBOL, /* "name.constprop.0" */
	WORD_MODULE, /* "dm-mod" */
	WORD_TASK    /* "kworker/0:1H-kblockd" */
};
/* Adds a word if it begins as the prefix does, and is none that only looks like one. */
void complete_offer(struct completing *completing, const char *word, enum word_kind kind);
/* More candidates were offered than anybody will read. */
bool complete_full(const struct completing *completing);

/* Members of what an expression is, or points to. */
void complete_members_of(struct completing *completing, const char *expression);
/* "EXPRESSION{a, se.wo": members of what stands before the braces; `word`: where the last begins.
 * False: the word is in no braces. */
bool complete_in_braces(struct completing *completing, size_t start, size_t word);
/* The end of an expression that begins at `start`: members, types, symbols, variables. */
void complete_expression(struct completing *completing, size_t start);
/* "task_struct", "struct task_struct", "task_struct.se.vr": of commands that show types. */
void complete_type_operand(struct completing *completing, size_t start);

#endif
