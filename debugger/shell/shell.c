// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/shell/shell.h"

#include "base/interrupt.h"
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <readline/history.h>
#include <readline/readline.h>

#define HISTORY_LINES 1000

/* Creates the folders above `path`, as far as they can be. */
static void make_parents(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = 0;
		mkdir(path, 0700);
		*slash = '/';
	}
}

/* $XDG_STATE_HOME/btfcrash/history; NULL: there is no home. Caller frees. */
static char *history_path(void)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	char *path = NULL;
	if (state && *state == '/') {
		if (asprintf(&path, "%s/btfcrash/history", state) < 0)
			return NULL;
	} else if (home && *home == '/') {
		if (asprintf(&path, "%s/.local/state/btfcrash/history", home) < 0)
			return NULL;
	}
	return path;
}

static bool is_command(const char *line)
{
	while (isspace((unsigned char)*line))
		line++;
	return *line && *line != '#';
}

/* Readline calls this when a signal came while it waited: Ctrl-C drops the line, not the shell. */
static int on_signal(void)
{
	if (!interrupt_flag)
		return 0;
	interrupt_clear();
	rl_replace_line("", 0);
	rl_crlf();
	rl_on_new_line();
	rl_redisplay();
	return 0;
}

void shell_interact(struct session *session, shell_runner *run)
{
	char *path = history_path();
	rl_readline_name = "btfcrash";
	rl_catch_signals = 0;
	rl_signal_event_hook = on_signal;
	rl_bind_key('\t', rl_insert);
	using_history();
	stifle_history(HISTORY_LINES);
	if (path)
		read_history(path);
	while (!session->quit) {
		char *line = readline("btfcrash> ");
		if (!line) {
			putchar('\n');
			break;
		}
		if (is_command(line)) {
			add_history(line);
			run(session, line);
		}
		free(line);
	}
	if (path) {
		make_parents(path);
		write_history(path);
	}
	free(path);
}

struct error *shell_run_file(struct session *session, FILE *file, shell_runner *run)
{
	char *line = NULL;
	size_t size = 0;
	ssize_t length;
	while (!session->quit && (length = getline(&line, &size, file)) >= 0) {
		if (length && line[length - 1] == '\n')
			line[length - 1] = 0;
		if (is_command(line))
			run(session, line);
	}
	struct error *error = ferror(file) ? error_system("reading commands") : NULL;
	free(line);
	return error;
}
