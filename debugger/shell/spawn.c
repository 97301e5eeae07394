// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/shell/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* R: colours, F: leave if it fits, X: leave it on the screen. */
#define LESS_OPTIONS "-RFX"

extern char **environ;

/* With default signals, and `input` (-1: ours) as standard input. Returns an errno. */
static int spawn(const char *command, int input, pid_t *ret)
{
	char *const words[] = { "sh", "-c", (char *)command, NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t signals;
	sigemptyset(&signals);
	sigaddset(&signals, SIGPIPE);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	int status = posix_spawn_file_actions_init(&actions);
	if (status)
		return status;
	status = posix_spawnattr_init(&attributes);
	if (status) {
		posix_spawn_file_actions_destroy(&actions);
		return status;
	}
	posix_spawnattr_setsigdefault(&attributes, &signals);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
	if (input >= 0)
		status = posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
	if (!status)
		status = posix_spawn(ret, "/bin/sh", &actions, &attributes, words, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return status;
}

int spawn_shell(const char *command, int *ret_input, pid_t *ret)
{
	int ends[2] = { -1, -1 };
	if (ret_input && pipe2(ends, O_CLOEXEC))
		return errno;
	int status = spawn(command, ends[0], ret);
	if (ret_input)
		close(ends[0]);
	if (ret_input && status)
		close(ends[1]);
	else if (ret_input)
		*ret_input = ends[1];
	return status;
}

int spawn_wait(pid_t pid)
{
	int status = 0;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

const char *spawn_pager(void)
{
	const char *pager = getenv("PAGER"), *term = getenv("TERM");
	if (!term || !strcmp(term, "dumb"))
		return NULL; /* it cannot move its cursor: a pager is no help there */
	if (!pager)
		return "command -v less >/dev/null && exec less " LESS_OPTIONS "; exec more";
	return *pager && strcmp(pager, "cat") ? pager : NULL;
}
