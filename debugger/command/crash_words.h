/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What hands know from crash and is not here under this name: the answer to an unknown command or
 * option says what does the same. Words that mean the same here are aliases (alias.c).
 */
#ifndef DEBUGGER_COMMAND_CRASH_WORDS_H
#define DEBUGGER_COMMAND_CRASH_WORDS_H

#include <stddef.h>

struct crash_word {
	const char *name, *hint; /* what stands in `` runs, unless a word is in capitals */
};

/* crash's commands that have another name here, sorted; ends with a nameless one. */
extern const struct crash_word crash_commands[];

/* Whether crash has a command of this name, not terminated; NULL: it has none that we lack. */
const char *crash_command_hint(const char *name, size_t length);
/* The same of an option ("-l") of a command that both have. */
const char *crash_option_hint(const char *command, const char *option);
/* The same of a word behind such a command, `sys config`. */
const char *crash_operand_hint(const char *command, const char *operand);

#endif
