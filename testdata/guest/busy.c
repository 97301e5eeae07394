// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * busy: tasks that never sleep, all on the last CPU, beside the "spinner" of `states`.
 *
 *   busy MANIFEST
 *
 * adds a line of each to the manifest of `states`. One of them runs; the others wait for it. They
 * weigh little: who has something to do there is not kept waiting.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define CGROUP "/sys/fs/cgroup/busy"

static const struct task {
	const char *comm;
	int policy, nice, is_grouped;
} tasks[] = {
	{ "busy-nice", SCHED_OTHER, 12, 0 },
	{ "busy-batch", SCHED_BATCH, 17, 0 },
	{ "busy-idle", SCHED_IDLE, 0, 0 },
	{ "busy-one", SCHED_OTHER, 0, 1 },
	{ "busy-two", SCHED_OTHER, 5, 1 },
	/* Its turn comes once in many seconds. */
	{ "busy-last", SCHED_IDLE, 0, 1 },
};

static void fail(const char *what)
{
	printf("guest: failed: busy: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void set(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, value, strlen(value)) < 0)
		fail(path);
	close(fd);
}

/* The policy comes last: from then on it hardly runs. */
static void spin(const struct task *task)
{
	struct sched_param parameter = { 0 };
	cpu_set_t cpus;
	CPU_ZERO(&cpus);
	CPU_SET(sysconf(_SC_NPROCESSORS_ONLN) - 1, &cpus);
	prctl(PR_SET_NAME, task->comm);
	if (task->is_grouped)
		set(CGROUP "/cgroup.procs", "0");
	if (setpriority(PRIO_PROCESS, 0, task->nice) || sched_setaffinity(0, sizeof(cpus), &cpus) ||
	    sched_setscheduler(0, task->policy, &parameter))
		fail(task->comm);
	for (volatile unsigned long rounds = 0;; rounds++)
		;
}

static int is_settled(const struct task *task, pid_t pid)
{
	cpu_set_t cpus;
	return !sched_getaffinity(pid, sizeof(cpus), &cpus) && CPU_COUNT(&cpus) == 1 &&
	       sched_getscheduler(pid) == task->policy;
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	FILE *manifest = argc == 2 ? fopen(argv[1], "ae") : NULL;
	if (!manifest)
		fail("usage: busy MANIFEST");
	setvbuf(manifest, NULL, _IONBF, 0);
	/* In a group that counts as one of the least weight. */
	set("/sys/fs/cgroup/cgroup.subtree_control", "+cpu");
	if (mkdir(CGROUP, 0755))
		fail(CGROUP);
	set(CGROUP "/cpu.weight", "1");
	for (size_t i = 0; i < sizeof(tasks) / sizeof(*tasks); i++) {
		pid_t pid = fork();
		if (pid < 0)
			fail("fork");
		if (!pid)
			spin(&tasks[i]);
		while (!is_settled(&tasks[i], pid))
			usleep(10000);
		fprintf(manifest, "%d %s R never sleeps, on the last CPU\n", pid, tasks[i].comm);
	}
	/* So that all are in their loops. */
	sleep(1);
}
