/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Between serve.c (requests) and serve_lines.c (where lines come from). */
#ifndef DEBUGGER_HELPER_SERVE_PRIVATE_H
#define DEBUGGER_HELPER_SERVE_PRIVATE_H

#include "base/cache_file.h"
#include "debugger/helper/grant.h"
#include "debugger/helper/serve.h"
#include "debugger/helper/terminal.h"
#include "debugger/shell/prompt.h"
#include "debugger/target/running_kernel.h"
#include <stdio.h>
#include <sys/types.h>

#define CHILDREN_MAX 64 /* programs at once: of lines that run lines */
#define DEPTH_MAX    64 /* sources at once */
#define KEPT_MAX     4	/* results of one session: two sets of rules, and each once more */

struct lines {
	FILE *file;	       /* NULL: a command, or the prompt */
	struct prompt *prompt; /* owned */
	char *line;	       /* that runs now, of getline() or readline() */
	size_t capacity;
	uint64_t number;
	struct grant grant; /* what that line may do */
};

struct server {
	int socket;
	bool was_left; /* the other process has said that it ends */
	struct terminal *terminal;
	const struct serve_options *options;
	struct session session; /* aliases, nothing else */
	struct lines stack[DEPTH_MAX];
	size_t depth;
	size_t next_source; /* of the command line */
	bool had_rc, had_prompt;
	pid_t children[CHILDREN_MAX]; /* the last one ends first */
	size_t child_count;
	bool has_dump;
	struct cache_dump dump;
	struct cache_place place;
	unsigned int kept_count;
	struct running_kernel *kernel; /* NULL: not asked for yet */
};

struct lines_next {
	const char *line; /* NULL: the end. Borrowed */
	uint64_t number;
};

/* These return an errno; 0: done. */
int lines_open_command(struct server *server, const struct message *request);
int lines_open_script(struct server *server, const char *path);
int lines_open_rc(struct server *server, const char *path);
int lines_open_prompt(struct server *server);
int lines_next(struct server *server, struct lines_next *ret);
/* The uppermost one, if there is one. */
void lines_close(struct server *server);
/* serve.c's: the most bytes of a request, and the answer to one that comes at the prompt. */
size_t serve_limit(uint32_t kind);
bool serve_at_prompt(struct server *server, const struct message *request);
/* What the line that runs may do; NULL: none does. */
struct grant *lines_grant(struct server *server);

#endif
