/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts of running a line that pipes need too. */
#ifndef DEBUGGER_COMMAND_RUN_H
#define DEBUGGER_COMMAND_RUN_H

#include "debugger/command/arguments.h"
#include "debugger/command/line.h"

/* Runs one command with its needs checked; its name goes before the error. */
struct error *run_call(struct session *session, const struct call *call) MUST_CHECK;
/* The line without blanks around it and without its comment; "": nothing else. Caller frees. */
char *run_trim(const char *line);
/*
 * Whether a line begins with a struct's name, which makes it one of `struct`: the dump says so; or
 * it does not, or it does, where no dump is there to say.
 */
enum run_reading { RUN_BY_DUMP, RUN_AS_TYPED, RUN_AS_STRUCT };
/* Aliases expanded, cut into its parts; line_deinit() afterwards, on errors not. */
struct error *run_cut(const struct session *session, const char *text, enum run_reading reading,
		      struct line *ret) MUST_CHECK;
/* "btfcrash: FILE:LINE: message" on standard error. */
void run_message(const struct session *session, const char *text);

#endif
