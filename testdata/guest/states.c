// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * states: start tasks that each sit in one known state.
 *
 *   states FREEZABLE-DIRECTORY MANIFEST
 *
 * Every state is a process of its own, named after what it does, so that a
 * test can ask a debugger where the task called "pipe-read" sleeps.  When all
 * of them have arrived the manifest is written: "PID COMM STATE EXPLANATION",
 * one a line, COMM with everything unprintable as '?'.  STATE is the letter of
 * /proc/PID/stat that is expected; a state this kernel lacks is left out.
 *
 * File names relative to the working directory /tmp are used by pairs of
 * states (lock holder and waiter).  The program itself stays as the parent of
 * all, so that its zombie stays a zombie.
 */
#define _GNU_SOURCE
#include "states.h"

#include <ctype.h>
#include <errno.h>
#include <linux/fs.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

struct state {
	const char *comm;
	char letter;
	void (*enter)(void);
	const char *explanation;
};

const char *freezable;

/* Ends a child whose kernel lacks what it needs; the manifest leaves it out. */
void give_up(const char *what)
{
	printf("guest: state not reached: %s: %s\n", what, strerror(errno));
	_exit(1);
}

void must(int result, const char *what)
{
	if (result < 0)
		give_up(what);
}

void sleep_ms(long ms)
{
	struct timespec delay = { ms / 1000, ms % 1000 * 1000000 };
	nanosleep(&delay, NULL);
}

void sleep_for_ever(void)
{
	for (;;)
		pause();
}

static void freeze(void)
{
	int fd = open(freezable, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || ioctl(fd, FIFREEZE, 0))
		printf("guest: cannot freeze %s: %s\n", freezable, strerror(errno));
	close(fd);
}

/* All of them */

static const struct state states[] = {
	{ "nanosleep", 'S', enter_nanosleep, "sleeping for a day" },
	{ "pause", 'S', sleep_for_ever, "waiting for any signal" },
	{ "signalfd", 'S', enter_signalfd, "reading a signalfd" },
	{ "sigwait", 'S', enter_sigwait, "in rt_sigtimedwait" },
	{ "timerfd", 'S', enter_timerfd, "reading a timerfd" },
	{ "posix-timer", 'S', enter_posix_timer, "owns an armed timer" },
	{ "sig-pending", 'S', enter_signal_pending, "SIGUSR1 blocked, pending" },
	{ "stopped", 'T', enter_stopped, "stopped by SIGSTOP" },
	{ "zombie", 'Z', enter_zombie, "exited with 7, not waited for" },
	{ "pipe-read", 'S', enter_pipe_read, "reading an empty pipe" },
	{ "pipe-write", 'S', enter_pipe_write, "writing to a full pipe" },
	{ "poll", 'S', enter_poll, "polling a pipe" },
	{ "select", 'S', enter_select, "select on a pipe" },
	{ "epoll", 'S', enter_epoll, "epoll_wait on a pipe" },
	{ "eventfd", 'S', enter_eventfd, "reading an eventfd" },
	{ "inotify", 'S', enter_inotify, "reading an inotify" },
	{ "accept", 'S', enter_accept, "accept on 127.0.0.1:7001" },
	{ "tcp-recv", 'S', enter_tcp_recv, "recv; 6 bytes unread at 7002" },
	{ "udp-recv", 'S', enter_udp_recv, "recv on 127.0.0.1:7003" },
	{ "unix-recv", 'S', enter_unix_recv, "recv on a socketpair" },
	{ "unix-accept", 'S', enter_unix_accept, "accept on /tmp/socket" },
	{ "netlink", 'S', enter_netlink, "recv on a netlink socket" },
	{ "packet", 'S', enter_packet, "recv on a packet socket" },
	{ "tcp-closed", 'S', enter_tcp_closed, "closed two connections" },
	{ "owned", 'S', enter_owned, "of another user, with sockets" },
	{ "tun-read", 'S', enter_tun_read, "reading tun-states" },
	{ "flock-holder", 'S', enter_flock_holder, "holds /tmp/flock" },
	{ "flock-waiter", 'S', enter_flock_waiter, "waits for /tmp/flock" },
	{ "posix-holder", 'S', enter_posix_holder, "holds bytes 100-149" },
	{ "posix-waiter", 'S', enter_posix_waiter, "waits for bytes 100-149" },
	{ "futex", 'S', enter_futex, "waiting on a futex" },
	{ "msgrcv", 'S', enter_msgrcv, "receiving from queue 0xb7f1" },
	{ "semop", 'S', enter_semop, "decrementing set 0xb7f2" },
	{ "shm", 'S', enter_shm, "attached to segment 0xb7f3" },
	{ "vfork-parent", 'D', enter_vfork, "waits for its vfork child" },
	{ "waitpid", 'S', enter_waitpid, "waits for its child" },
	{ "tracer", 'S', enter_tracer, "traces its stopped child" },
	{ "container", 'S', enter_container, "parent of a pid namespace" },
	{ "cgroup", 'S', enter_cgroup, "in cgroup /tests/states" },
	{ "threads", 'S', enter_threads, "leader of five threads" },
	{ "spinner", 'R', enter_spinner, "spins on the last CPU, nice 19" },
	{ "sched-fifo", 'S', enter_fifo, "SCHED_FIFO, priority 10" },
	{ "sched-rr", 'S', enter_round_robin, "SCHED_RR, priority 20" },
	{ "sched-batch", 'S', enter_batch, "SCHED_BATCH" },
	{ "sched-idle", 'S', enter_idle, "SCHED_IDLE" },
	{ "mapped", 'S', enter_mapped, "known text at 0x7b7f00000000" },
	{ "swapped", 'S', enter_swapped, "16 pages, paged out" },
	{ "huge", 'S', enter_huge, "a huge page, if there is one" },
	{ "deleted", 'S', enter_deleted, "has a deleted file, a memfd" },
	{ "user-fault", 'S', enter_user_fault, "userfaultfd, from user mode" },
	{ "kernel-fault", 'S', enter_kernel_fault, "userfaultfd, inside write" },
	{ "dumped", 'S', enter_dumped, "its core is written; /tmp/core" },
	{ "frozen-one", 'D', enter_frozen_one, "writing to a frozen ext4" },
	{ "frozen-two", 'D', enter_frozen_two, "writing to a frozen ext4" },
	{ "frozen-mkdir", 'D', enter_frozen_mkdir, "mkdir on a frozen ext4" },
	{ "perf", 'S', enter_perf, "owns three perf events" },
	{ "ctl\033[7m\tx", 'S', sleep_for_ever, "control characters in comm" },
};

#define STATE_COUNT (sizeof(states) / sizeof(*states))

static pid_t pids[STATE_COUNT];

static void start_all(void)
{
	for (size_t i = 0; i < STATE_COUNT; i++) {
		pids[i] = fork();
		must(pids[i], "fork");
		if (pids[i])
			continue;
		prctl(PR_SET_NAME, states[i].comm);
		states[i].enter();
		give_up(states[i].comm);
	}
}

static char letter_of(pid_t pid)
{
	char path[64], line[512];
	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	FILE *file = fopen(path, "re");
	if (!file)
		return '?';
	size_t size = fread(line, 1, sizeof(line) - 1, file);
	fclose(file);
	line[size] = 0;
	const char *end = strrchr(line, ')');
	return end ? end[2] : '?';
}

static int all_arrived(void)
{
	int arrived = 1;
	for (size_t i = 0; i < STATE_COUNT; i++) {
		char letter = letter_of(pids[i]);
		arrived &= letter == states[i].letter || letter == 'Z';
	}
	return arrived;
}

/* Gives the slow ones time; a state that a kernel lacks must not hang us. */
static void settle(void)
{
	for (int rounds = 0; rounds < 50 && !all_arrived(); rounds++)
		sleep_ms(100);
	sleep_ms(300);
}

static void print_comm(FILE *file, const char *comm)
{
	for (; *comm; comm++)
		fputc(isprint((unsigned char)*comm) ? *comm : '?', file);
}

static void write_manifest(const char *path)
{
	char temporary[256];
	snprintf(temporary, sizeof(temporary), "%s.new", path);
	FILE *file = fopen(temporary, "we");
	if (!file)
		give_up(temporary);
	for (size_t i = 0; i < STATE_COUNT; i++) {
		if (letter_of(pids[i]) != states[i].letter) {
			printf("guest: state not reached: %s is %c\n", states[i].comm,
			       letter_of(pids[i]));
			continue;
		}
		fprintf(file, "%d ", pids[i]);
		print_comm(file, states[i].comm);
		fprintf(file, " %c %s\n", states[i].letter, states[i].explanation);
	}
	fclose(file);
	must(rename(temporary, path), path);
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	if (argc != 3) {
		printf("guest: failed: usage: states DIRECTORY MANIFEST\n");
		return 2;
	}
	freezable = argv[1];
	start_all();
	sleep_ms(500);
	freeze();
	settle();
	write_manifest(argv[2]);
	sleep_for_ever();
}
