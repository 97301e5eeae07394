/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The helper process (base/helper.h). It is forked before the dump is opened, holds the user's
 * lines and does for them what the process that reads the dump may not. Whoever takes that over by
 * a dump can: have the programs run that the user's own line of this moment names, once each, and
 * write what he likes to them; write the files that it names; complete a line with plain words that
 * name neither programs nor files; replace this dump's results in the cache; of a running kernel
 * ask what its BTF and its BPF programs are; read what lies in the folders that the command line
 * names; show text in our colours (terminal.h). Nothing else: no other program, no other file, no
 * terminal.
 */
#ifndef DEBUGGER_HELPER_SERVE_H
#define DEBUGGER_HELPER_SERVE_H

#include "base/helper.h"
#include <stdbool.h>

struct terminal;

/* -c and -i may be mixed; they run in the order given. */
struct source {
	bool is_file;
	const char *text; /* command or path */
};

struct serve_options {
	const struct source *sources;
	size_t source_count;
	bool interactive;
	bool no_rc;		  /* the prompt's own lines are not wanted */
	const char *const *dumps; /* which are not written to, whatever a line says */
	size_t dump_count;
	bool keeps; /* their results, in the cache */
	bool live;  /* no dump but the running kernel, which may be asked for facts */
	const char *const *folders; /* what lies in and below them may be read at any time */
	size_t folder_count;
	bool takes_terminal; /* the process that starts it has none from then on */
};

/*
 * Errors: ERROR_SYSTEM; there is no helper then. Standard files that are a terminal become pipes to
 * the helper, if that is wanted.
 */
struct error *serve_start(const struct serve_options *options, struct helper_link *ret) MUST_CHECK;
/* The process itself, until the other end is closed; `reader`: whose that is. */
void serve(const struct serve_options *options, int socket, pid_t reader,
	   struct terminal *terminal);

#endif
