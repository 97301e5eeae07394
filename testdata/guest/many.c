// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * many: processes with many open files, each file with an inode of its own.
 *
 *   many FOLDER PROCESSES FILES READY
 *
 * Makes the file READY when all files are open.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SPARE 16 /* what a process has open beside its files */

static void fail(const char *what)
{
	printf("guest: failed: many: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void open_files(const char *folder, long process, long count)
{
	char path[256];
	snprintf(path, sizeof(path), "%s/%ld", folder, process);
	if (mkdir(path, 0755) || chdir(path))
		fail(path);
	for (long i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "file-%ld-%ld", process, i);
		if (open(path, O_CREAT | O_RDWR, 0644) < 0)
			fail(path);
	}
}

/* The other end of the pipe is at its end when all processes have closed theirs. */
static void run_process(const char *folder, long process, long count, int ready)
{
	char name[16];
	snprintf(name, sizeof(name), "many-%ld", process);
	prctl(PR_SET_NAME, name);
	open_files(folder, process, count);
	close(ready);
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	long processes = argc == 5 ? atol(argv[2]) : 0, count = argc == 5 ? atol(argv[3]) : 0;
	struct rlimit limit = { count + SPARE, count + SPARE };
	int ends[2];
	char byte;
	if (!processes || !count) {
		printf("guest: failed: usage: many FOLDER PROCESSES FILES READY\n");
		return 2;
	}
	if (setrlimit(RLIMIT_NOFILE, &limit) || pipe(ends))
		fail("limits");
	for (long i = 0; i < processes; i++) {
		pid_t pid = fork();
		if (pid < 0)
			fail("fork");
		if (!pid) {
			close(ends[0]);
			run_process(argv[1], i, count, ends[1]);
		}
	}
	close(ends[1]);
	if (read(ends[0], &byte, 1) || waitpid(-1, NULL, WNOHANG))
		fail("a process ended");
	close(open(argv[4], O_CREAT | O_WRONLY, 0644));
	for (;;)
		pause();
}
