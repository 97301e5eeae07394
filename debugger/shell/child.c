// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/shell/child.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* With default signals, and `input` (-1: ours) as standard input. Returns an errno. */
static int spawn_shell(const char *command, int input, pid_t *ret)
{
	char *const words[] = { "sh", "-c", (char *)command, NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t signals;
	sigemptyset(&signals);
	sigaddset(&signals, SIGPIPE);
	sigaddset(&signals, SIGINT);
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

struct error *child_start(const char *command, bool piped, struct child *ret)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	struct child child = { 0 };
	int ends[2] = { -1, -1 };
	fflush(stdout);
	if (piped && pipe2(ends, O_CLOEXEC))
		return error_system("pipe");
	int status = spawn_shell(command, ends[0], &child.pid);
	if (piped)
		close(ends[0]);
	if (!status && piped && !(child.to = fdopen(ends[1], "w")))
		status = errno;
	if (status) {
		if (piped)
			close(ends[1]);
		errno = status;
		return error_system("%s", command);
	}
	sigemptyset(&ignore.sa_mask);
	sigaction(SIGPIPE, &ignore, &child.pipe_action);
	*ret = child;
	return NULL;
}

int child_wait(struct child *child)
{
	int status = 0;
	if (child->to)
		fclose(child->to);
	while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
		;
	sigaction(SIGPIPE, &child->pipe_action, NULL);
	*child = (struct child){ 0 };
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
