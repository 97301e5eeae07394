/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the user is looking at: a target, where output goes, and settings. */
#ifndef DEBUGGER_SESSION_H
#define DEBUGGER_SESSION_H

#include "base/out.h"
#include "base/progress.h"
#include "debugger/eval/expression.h"
#include "debugger/eval/value.h"
#include "debugger/focus.h"
#include "debugger/target/target.h"

struct helper_link;
struct sandbox;
struct source_lines;

enum output_format { FORMAT_TEXT, FORMAT_JSON, FORMAT_CSV };

/* The file whose lines run, for messages. */
struct script {
	const char *path;
	size_t line;
	const struct script *outer; /* the one that sources it; NULL */
};

struct session {
	struct target *target;	    /* NULL: only what is said without a dump runs */
	struct helper_link *helper; /* runs programs, opens files, reads lines; NULL: none does */
	const struct sandbox *sandbox; /* what this process gave up; NULL: nothing */
	struct scope scope;	       /* what expressions may name besides the target's */
	struct focus focus;
	struct out *out;     /* of the command that runs */
	FILE *file;	     /* where its bytes go; NULL between the lines */
	bool json;	     /* the output is data, for JSON or CSV */
	bool exact_integers; /* out_json_exact_create() */
	enum output_format format;
	const char *columns; /* "pid,comm": of tables, in this order; NULL: all. Borrowed */
	bool quiet;
	bool quit;   /* set by `quit`: the loop ends */
	bool failed; /* some command failed: exit status 1 */
	bool interactive;
	bool interrupted;	     /* by Ctrl-C, outside of the prompt: no further lines run */
	bool on_terminal;	     /* standard output is one */
	int width;		     /* places of a line of the output; 0: it has no end */
	bool colors;		     /* of text on standard output */
	bool message_color;	     /* of messages on standard error */
	const char *advised;	     /* what was last said to do about missing memory; NULL */
	bool pager;		     /* long output of the prompt goes through $PAGER */
	unsigned int nesting;	     /* lines within lines: aliases, source */
	const struct script *script; /* NULL: the prompt or -c */
	struct alias *aliases;	     /* debugger/command/alias.c; owned */
	size_t alias_count, alias_capacity;
	struct progress *progress; /* NULL: nobody looks */
	struct render_options render;
	const struct source_lines *lines; /* what frames say of theirs; NULL: nothing */
};

#endif
