// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * unserved: tasks that wait for another task, which is there and does nothing for them.
 *
 *   unserved MANIFEST READY
 *   unserved core
 *
 * Adds a line for each to MANIFEST, as states does, and makes the file READY when all wait. With
 * `core` it is the program that a core is written to, and does not read it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define FUSE_FOLDER   "/tmp/fuse"
#define SCANNED_FILE  "/tmp/scanned"
#define REQUEST_BYTES (1 << 16)
#define CORE	      "core"

static FILE *manifest;
static int ends[2];

static void fail(const char *what)
{
	printf("guest: failed: unserved: %s: %s\n", what, strerror(errno));
	exit(1);
}

static pid_t start(const char *comm, char letter, const char *explanation, void (*run)(void))
{
	pid_t pid = fork();
	if (pid < 0)
		fail("fork");
	if (pid) {
		fprintf(manifest, "%d %s %c %s\n", pid, comm, letter, explanation);
		return pid;
	}
	prctl(PR_SET_NAME, comm);
	run();
	fail(comm);
	return 0;
}

/* A filesystem whose server says that it is there, and no more */

static void answer_init(int device)
{
	static char request[REQUEST_BYTES];
	struct {
		struct fuse_out_header header;
		struct fuse_init_out init;
	} answer = { 0 };
	if (read(device, request, sizeof(request)) < 0)
		fail("read of a fuse request");
	const struct fuse_in_header *header = (const void *)request;
	answer.header.len = sizeof(answer);
	answer.header.unique = header->unique;
	answer.init.major = FUSE_KERNEL_VERSION;
	answer.init.minor = FUSE_KERNEL_MINOR_VERSION;
	answer.init.max_write = 4096;
	if (write(device, &answer, sizeof(answer)) != sizeof(answer))
		fail("answer to a fuse request");
}

static void serve_fuse(void)
{
	char options[128];
	int device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (device < 0)
		fail("/dev/fuse");
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", device);
	if (mount("unserved", FUSE_FOLDER, "fuse", 0, options))
		fail("mount of a fuse");
	answer_init(device);
	for (;;)
		pause();
}

static void look_at_fuse(void)
{
	struct stat attributes;
	stat(FUSE_FOLDER "/file", &attributes);
}

/* A program that is asked whether others may open a file, and does not say */

static void scan(void)
{
	int group = fanotify_init(FAN_CLASS_CONTENT | FAN_CLOEXEC, O_RDONLY | O_CLOEXEC);
	if (group < 0 || fanotify_mark(group, FAN_MARK_ADD, FAN_OPEN_PERM, AT_FDCWD, SCANNED_FILE))
		fail("fanotify");
	for (;;)
		pause();
}

static void open_scanned(void)
{
	open(SCANNED_FILE, O_RDONLY | O_CLOEXEC);
}

/* A pipe whose reader is stopped */

static void stop(void)
{
	close(ends[1]);
	raise(SIGSTOP);
}

static void fill(void)
{
	static const char page[4096];
	close(ends[0]);
	while (write(ends[1], page, sizeof(page)) > 0)
		;
}

/* A socket whose other end has somebody who is stopped */

static void stop_answering(void)
{
	close(ends[0]);
	raise(SIGSTOP);
}

static void ask(void)
{
	char answer;
	close(ends[1]);
	while (read(ends[0], &answer, sizeof(answer)) > 0)
		;
}

/* A socket that nobody accepts */

static const struct sockaddr_un called = { .sun_family = AF_UNIX, .sun_path = "\0unaccepted" };

static void listen_only(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || bind(fd, (const struct sockaddr *)&called, sizeof(called)) || listen(fd, 4))
		fail("listen");
	for (;;)
		pause();
}

static void call(void)
{
	char answer;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (const struct sockaddr *)&called, sizeof(called)))
		fail("connect");
	while (read(fd, &answer, sizeof(answer)) > 0)
		;
}

/* A PID namespace whose first process ends, with one whose parent does not wait for it */

static int space_ends[2];
static pid_t space_owner;

static void end_space(void)
{
	char byte;
	if (unshare(CLONE_NEWPID))
		fail("unshare");
	pid_t pid = fork();
	if (!pid) {
		prctl(PR_SET_NAME, "space-waits");
		if (read(space_ends[0], &byte, 1) < 0)
			fail("read");
		_exit(0);
	}
	if (pid < 0 || fprintf(manifest, "%d space-waits S waits for space-parent\n", pid) < 0)
		fail("fork");
	for (;;)
		pause();
}

static void never_wait(void)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/ns/pid_for_children", space_owner);
	int space = open(path, O_RDONLY | O_CLOEXEC);
	if (space < 0 || setns(space, CLONE_NEWPID))
		fail("setns");
	pid_t pid = fork();
	if (!pid)
		for (;;)
			pause();
	if (pid < 0 || write(space_ends[1], "", 1) != 1)
		fail("fork");
	for (;;)
		pause();
}

/* A process whose core goes to a program that does not read it: one thread writes, one waits */

static void *dump_core(void *unused)
{
	(void)unused;
	prctl(PR_SET_NAME, "dump-writes");
	abort();
}

static void dump(void)
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, dump_core, NULL))
		fail("a thread");
	for (;;)
		pause();
}

static void set_kernel(const char *path, const char *value)
{
	FILE *file = fopen(path, "we");
	if (!file || fputs(value, file) < 0 || fclose(file))
		fail(path);
}

int main(int argc, char **argv)
{
	/* It is what the kernel started for the core. */
	while (argc == 2 && !strcmp(argv[1], CORE))
		pause();
	setvbuf(stdout, NULL, _IONBF, 0);
	manifest = argc == 3 ? fopen(argv[1], "ae") : NULL;
	if (!manifest)
		fail("usage: unserved MANIFEST READY");
	setvbuf(manifest, NULL, _IONBF, 0);
	if (mkdir(FUSE_FOLDER, 0755))
		fail(FUSE_FOLDER);
	start("fuse-server", 'S', "answers nothing for " FUSE_FOLDER, serve_fuse);
	sleep(1);
	start("fuse-waits", 'S', "waits for fuse-server", look_at_fuse);
	close(open(SCANNED_FILE, O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
	start("scan-server", 'S', "is asked who may open " SCANNED_FILE, scan);
	sleep(1);
	start("scan-waits", 'D', "waits for scan-server", open_scanned);
	/* The others would have its ends, too. */
	if (pipe2(ends, O_CLOEXEC))
		fail("pipe");
	start("pipe-stopped", 'T', "stopped, the only reader of a full pipe", stop);
	start("pipe-waits", 'S', "waits for pipe-stopped", fill);
	close(ends[0]);
	close(ends[1]);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		fail("socketpair");
	start("unix-stopped", 'T', "stopped, has the other end of a socket", stop_answering);
	start("unix-waits", 'S', "waits for unix-stopped", ask);
	close(ends[0]);
	close(ends[1]);
	if (pipe2(space_ends, O_CLOEXEC))
		fail("pipe");
	space_owner = start("space-owner", 'S', "made a PID namespace", end_space);
	sleep(1);
	start("space-parent", 'S', "does not wait for its child", never_wait);
	close(space_ends[0]);
	close(space_ends[1]);
	/* One program that takes a core is there by now. */
	set_kernel("/proc/sys/kernel/core_pipe_limit", "8");
	set_kernel("/proc/sys/kernel/core_pattern", "|/bin/unserved " CORE);
	start("dump-waits", 'S', "waits for its thread dump-writes", dump);
	start("call-server", 'S', "listens, and accepts nobody", listen_only);
	sleep(1);
	start("call-waits", 'S', "waits for call-server", call);
	sleep(1);
	if (fclose(manifest) || close(open(argv[2], O_CREAT | O_WRONLY | O_CLOEXEC, 0644)))
		fail(argv[2]);
	for (;;)
		pause();
}
