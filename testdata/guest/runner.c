// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * runner: run one program and measure it.
 *
 *   runner SECONDS OUT PROGRAM [ARG...]
 *
 * The program is killed when it runs for longer than SECONDS.  Writes OUT.stdout,
 * OUT.stderr and OUT.result.  The result has one "key value" a line: exit (or
 * signal), wall_ms, user_ms, system_ms and peak_rss_kb, which is the high-water
 * mark of the resident set as wait4() reports it.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile pid_t child;

static void kill_child(int number)
{
	(void)number;
	kill(child, SIGKILL);
}

static void fail(const char *what)
{
	fprintf(stderr, "guest: failed: runner: %s: %s\n", what, strerror(errno));
	exit(1);
}

static FILE *open_output(const char *prefix, const char *suffix)
{
	char path[4096];
	snprintf(path, sizeof(path), "%s.%s", prefix, suffix);
	FILE *file = fopen(path, "we");
	if (!file)
		fail(path);
	return file;
}

static double now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1e3 + now.tv_nsec / 1e6;
}

static long timeval_ms(struct timeval tv)
{
	return tv.tv_sec * 1000L + tv.tv_usec / 1000;
}

static pid_t start(const char *prefix, char **command)
{
	FILE *out = open_output(prefix, "stdout");
	FILE *err = open_output(prefix, "stderr");
	pid_t pid = fork();
	if (pid < 0)
		fail("fork");
	if (!pid) {
		dup2(fileno(out), STDOUT_FILENO);
		dup2(fileno(err), STDERR_FILENO);
		execv(command[0], command);
		fail(command[0]);
	}
	fclose(out);
	fclose(err);
	return pid;
}

static void write_result(const char *prefix, int status, double wall, const struct rusage *usage)
{
	FILE *file = open_output(prefix, "result");
	if (WIFSIGNALED(status))
		fprintf(file, "signal %d\n", WTERMSIG(status));
	else
		fprintf(file, "exit %d\n", WEXITSTATUS(status));
	fprintf(file, "wall_ms %.0f\nuser_ms %ld\nsystem_ms %ld\npeak_rss_kb %ld\n", wall,
		timeval_ms(usage->ru_utime), timeval_ms(usage->ru_stime), usage->ru_maxrss);
	fclose(file);
}

int main(int argc, char **argv)
{
	if (argc < 4) {
		fprintf(stderr, "usage: runner SECONDS OUT PROGRAM [ARG...]\n");
		return 2;
	}
	struct sigaction action = { .sa_handler = kill_child, .sa_flags = SA_RESTART };
	sigaction(SIGALRM, &action, NULL);
	double started = now_ms();
	child = start(argv[2], argv + 3);
	alarm(atoi(argv[1]));
	int status;
	struct rusage usage;
	if (wait4(child, &status, 0, &usage) != child)
		fail("wait4");
	write_result(argv[2], status, now_ms() - started, &usage);
	return 0;
}
