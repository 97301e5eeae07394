/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * TAB: what may stand at the cursor. Completion is the only way by which what the process that
 * reads the dump says gets into the user's line, where it is parsed and run; so it is asked for
 * names alone, all other words are the helper's own, and one rule holds for each name, whatever
 * else stands in the line or is typed later: any other name in its place would let the line do the
 * same. No program, file, script, option or command can come of it.
 */
#ifndef DEBUGGER_HELPER_WORDS_H
#define DEBUGGER_HELPER_WORDS_H

#include "debugger/completion/complete.h"

/* The most bytes of a line in which TAB looks for names, and of a name. */
#define WORDS_LINE_MAX 4096
#define WORDS_NAME_MAX 255

/* prompt.h's: `context` is the struct server. */
bool words_find(void *context, const char *line, size_t point, struct completions *ret);

#endif
