// SPDX-License-Identifier: GPL-3.0-or-later
/* States of kinship, scheduling and memory, and of writing to what is frozen. */
#define _GNU_SOURCE
#include "states.h"

#include <linux/futex.h>
#include <linux/perf_event.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define TEXT_PATTERN "btfcrash user page "

/* Parents and children */

static pid_t fork_child(void (*body)(void))
{
	pid_t pid = fork();
	must(pid, "fork");
	if (!pid) {
		body();
		_exit(0);
	}
	return pid;
}

static void vfork_child(void)
{
	prctl(PR_SET_NAME, "vfork-child");
	sleep_for_ever();
}

void enter_vfork(void)
{
	if (!vfork())
		vfork_child();
}

static void child_that_waits(void)
{
	prctl(PR_SET_NAME, "waited-for");
	sleep_for_ever();
}

void enter_waitpid(void)
{
	waitpid(fork_child(child_that_waits), NULL, 0);
}

static void child_that_is_traced(void)
{
	prctl(PR_SET_NAME, "traced");
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	raise(SIGSTOP);
}

void enter_tracer(void)
{
	waitpid(fork_child(child_that_is_traced), NULL, 0);
	sleep_for_ever();
}

/* The child is pid 1 of a pid namespace of its own, with another host name. */
static void child_in_container(void)
{
	prctl(PR_SET_NAME, "contained");
	sethostname("container", 9);
	sleep_for_ever();
}

void enter_container(void)
{
	must(unshare(CLONE_NEWPID | CLONE_NEWUTS | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWNET),
	     "unshare");
	waitpid(fork_child(child_in_container), NULL, 0);
}

static void join_cgroup(void)
{
	FILE *file = fopen("/sys/fs/cgroup/tests/states/cgroup.procs", "we");
	if (!file)
		give_up("cgroup.procs");
	fprintf(file, "%d\n", getpid());
	fclose(file);
}

void enter_cgroup(void)
{
	join_cgroup();
	sleep_for_ever();
}

static void *thread_main(void *number)
{
	static int word;
	char comm[16];
	snprintf(comm, sizeof(comm), "thread-%d", (int)(intptr_t)number);
	prctl(PR_SET_NAME, comm);
	syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
	return NULL;
}

void enter_threads(void)
{
	for (intptr_t i = 1; i < 5; i++) {
		pthread_t thread;
		if (pthread_create(&thread, NULL, thread_main, (void *)i))
			give_up("pthread_create");
	}
	sleep_for_ever();
}

/* Processors and scheduling */

void enter_spinner(void)
{
	cpu_set_t set;
	long last = sysconf(_SC_NPROCESSORS_ONLN) - 1;
	CPU_ZERO(&set);
	CPU_SET(last, &set);
	must(sched_setaffinity(0, sizeof(set), &set), "sched_setaffinity");
	setpriority(PRIO_PROCESS, 0, 19);
	for (volatile unsigned long rounds = 0;; rounds++)
		;
}

static void schedule_as(int policy, int priority)
{
	struct sched_param parameter = { .sched_priority = priority };
	must(sched_setscheduler(0, policy, &parameter), "sched_setscheduler");
	sleep_for_ever();
}

void enter_fifo(void)
{
	schedule_as(SCHED_FIFO, 10);
}

void enter_round_robin(void)
{
	schedule_as(SCHED_RR, 20);
}

void enter_batch(void)
{
	schedule_as(SCHED_BATCH, 0);
}

void enter_idle(void)
{
	schedule_as(SCHED_IDLE, 0);
}

/* Memory */

static char *map_anonymous(size_t size)
{
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		give_up("mmap");
	return memory;
}

/*
 * Eight locked pages at a fixed address: page N begins with TEXT_PATTERN and N,
 * and a test that reads 0x7b7f00000000 of this task must find just that.
 */
void enter_mapped(void)
{
	char *address = (char *)0x7b7f00000000;
	char *memory = mmap(address, 8 * 4096, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (memory != address)
		give_up("mmap at a fixed address");
	for (int page = 0; page < 8; page++)
		sprintf(memory + page * 4096, TEXT_PATTERN "%d", page);
	mlock(memory, 8 * 4096);
	sleep_for_ever();
}

static void open_perf_event(uint64_t config, pid_t task, int cpu)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.size = sizeof(attr),
					.config = config };
	must(syscall(SYS_perf_event_open, &attr, task, cpu, -1, 0), "perf_event_open");
}

/* Of its own task, of that on one CPU, and of all on a CPU. */
void enter_perf(void)
{
	open_perf_event(PERF_COUNT_SW_PAGE_FAULTS, 0, -1);
	open_perf_event(PERF_COUNT_SW_CONTEXT_SWITCHES, 0, 0);
	open_perf_event(PERF_COUNT_SW_CPU_MIGRATIONS, -1, 0);
	sleep_for_ever();
}

#define SWAPPED_PAGES 16

/* Where there is swap, they are in it. */
void enter_swapped(void)
{
	char *memory = map_anonymous(SWAPPED_PAGES * 4096);
	for (int page = 0; page < SWAPPED_PAGES; page++)
		sprintf(memory + page * 4096, "btfcrash swapped page %d", page);
	madvise(memory, SWAPPED_PAGES * 4096, MADV_PAGEOUT);
	sleep_for_ever();
}

void enter_huge(void)
{
	char *memory = mmap(NULL, 2 << 20, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
	if (memory != MAP_FAILED)
		strcpy(memory, "btfcrash huge page");
	sleep_for_ever();
}

/* Open files whose names are gone. */
void enter_deleted(void)
{
	int file = open("/tmp/deleted", O_RDWR | O_CREAT, 0600);
	int memory = memfd_create("states", 0);
	must(file, "open");
	must(memory, "memfd_create");
	must(write(file, "deleted", 7), "write");
	must(write(memory, "nameless", 8), "write");
	must(unlink("/tmp/deleted"), "unlink");
	sleep_for_ever();
}

static char *map_unanswered_page(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	char *page = map_anonymous(4096);
	struct uffdio_register range = {
		.range = { .start = (uintptr_t)page, .len = 4096 },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC);
	must(fd, "userfaultfd");
	must(ioctl(fd, UFFDIO_API, &api), "UFFDIO_API");
	must(ioctl(fd, UFFDIO_REGISTER, &range), "UFFDIO_REGISTER");
	return page;
}

/* Page faults that nobody answers: from user mode, and from inside a system
 * call, where the sleeping stack has an exception frame in its middle. */
void enter_user_fault(void)
{
	volatile char *page = map_unanswered_page();
	(void)page[0];
}

void enter_kernel_fault(void)
{
	int ends[2];
	make_pipe(ends);
	must(write(ends[1], map_unanswered_page(), 1), "write from a faulting page");
}

/* A file system that is frozen: its writers never return. */

static void write_below_freezable(const char *name)
{
	char path[256];
	snprintf(path, sizeof(path), "%s/%s", freezable, name);
	int fd = open(path, O_WRONLY | O_CREAT, 0600);
	must(fd, path);
	for (;;) {
		must(write(fd, "data", 4), "write to the freezable file system");
		sleep_ms(20);
	}
}

void enter_frozen_one(void)
{
	write_below_freezable("one");
}

void enter_frozen_two(void)
{
	write_below_freezable("two");
}

void enter_frozen_mkdir(void)
{
	char path[256];
	for (int i = 0;; i++) {
		snprintf(path, sizeof(path), "%s/directory-%d", freezable, i);
		must(mkdir(path, 0700), path);
		sleep_ms(20);
	}
}
