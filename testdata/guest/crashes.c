// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The ways in which collect crashes the machine: each a function, and a line in crashes[].
 */
#define _GNU_SOURCE
#include "crashes.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/io.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#define LOCKUP_SECONDS 3
#define FAULT_SECONDS  120
#define PROGRESS_PORT  0x2f8
#define FAILING	       "/sys/fs/ext4/loop1"
#define WISH_DISK      "/dev/vdb"
#define WISH_SIZE      512
#define WISH_PERIOD_US 50000

static void set(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY);
	if (fd < 0 || write(fd, value, strlen(value)) < 0)
		fail(path);
	close(fd);
}

static void crash_sysrq(void)
{
	set("/proc/sysrq-trigger", "c");
}

/* The host sends the NMI, or the machine check, when it reads "ready". */
static void crash_nmi(void)
{
	pause();
}

/* As the first process, which must not end. */
static void crash_init(void)
{
	*(volatile int *)8 = 1;
}

static void crash_hung(void)
{
	set("/proc/sys/kernel/hung_task_panic", "1");
	set("/proc/sys/kernel/hung_task_timeout_secs", "2");
	pause();
}

static void eat_memory(void)
{
	const size_t chunk = 1 << 20;
	for (;;) {
		char *memory = mmap(NULL, chunk, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (memory == MAP_FAILED)
			fail("mmap");
		memset(memory, 0x5a, chunk);
	}
}

static void crash_oom(void)
{
	set("/proc/sys/vm/panic_on_oom", "1");
	eat_memory();
}

/* Files in memory are nobody's. */
static void crash_tmpfs(void)
{
	static char chunk[1 << 20];
	memset(chunk, 0x5a, sizeof(chunk));
	set("/proc/sys/vm/panic_on_oom", "1");
	if (mkdir("/tmp/greedy", 0755) || mount("greedy", "/tmp/greedy", "tmpfs", 0, "size=100%"))
		fail("mount of a tmpfs");
	int fd = open("/tmp/greedy/spool", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	while (write(fd, chunk, sizeof(chunk)) > 0)
		;
	fail("write to a tmpfs");
}

/* Huge pages that are kept for somebody who does not come. */
static void crash_huge(void)
{
	set("/proc/sys/vm/drop_caches", "3");
	set("/proc/sys/vm/compact_memory", "1");
	set("/proc/sys/vm/nr_hugepages", "48");
	crash_oom();
}

/* Somebody else dies of it; who asks for the end has seen that. */
static void crash_oomkill(void)
{
	pid_t child = fork();
	if (child < 0)
		fail("fork");
	if (!child) {
		prctl(PR_SET_NAME, "lab-greedy");
		set("/proc/self/oom_score_adj", "1000");
		eat_memory();
	}
	waitpid(child, NULL, 0);
	crash_sysrq();
}

/* One node of two, for this process. */
static void join_cpuset(void)
{
	set("/sys/fs/cgroup/cgroup.subtree_control", "+cpuset");
	if (mkdir("/sys/fs/cgroup/near", 0755))
		fail("mkdir of a cgroup");
	set("/sys/fs/cgroup/near/cpuset.mems", "1");
	set("/sys/fs/cgroup/near/cgroup.procs", "0");
}

static void crash_node(void)
{
	join_cpuset();
	set("/proc/sys/vm/panic_on_oom", "2");
	eat_memory();
}

static void crash_cpuset(void)
{
	join_cpuset();
	set("/sys/module/faults/parameters/start", "cpuset");
	crash_sysrq();
}

/* A file system that would rather end everything than go on with an error, and one that goes on. */
static void crash_ext4(void)
{
	if (mount(NULL, "/mnt/failing", NULL, MS_REMOUNT, "errors=panic"))
		fail("remount");
	set(FAILING "/trigger_fs_error", "lab");
	sleep(FAULT_SECONDS);
}

static void crash_fserror(void)
{
	set(FAILING "/trigger_fs_error", "lab");
	crash_sysrq();
}

/* As the first process, which must not end. */
static void crash_exit(void)
{
	exit(3);
}

/* It has less memory than the machine, and 2 is for those, too. */
static void crash_cgroup(void)
{
	set("/sys/fs/cgroup/cgroup.subtree_control", "+memory");
	if (mkdir("/sys/fs/cgroup/greedy", 0755))
		fail("mkdir of a cgroup");
	set("/sys/fs/cgroup/greedy/memory.max", "16M");
	set("/sys/fs/cgroup/greedy/cgroup.procs", "0");
	set("/proc/sys/vm/panic_on_oom", "2");
	eat_memory();
}

/* To the second serial port itself: its driver may wait for a CPU that hangs. */
static void say_directly(const char *text)
{
	if (ioperm(PROGRESS_PORT, 1, 1))
		fail("ioperm");
	for (; *text; text++)
		outb(*text, PROGRESS_PORT);
}

/* From the first CPU, which the module leaves alone. */
static void lock_up(const char *how)
{
	cpu_set_t first;
	CPU_ZERO(&first);
	CPU_SET(0, &first);
	if (sched_setaffinity(0, sizeof(first), &first))
		fail("sched_setaffinity");
	set("/sys/module/lockup/parameters/start", how);
}

/* The host dumps the machine in between. */
static void crash_lockup(void)
{
	lock_up("interrupt");
	say_directly("guest: locked up\n");
	sleep(LOCKUP_SECONDS);
	crash_sysrq();
}

static void crash_deaf(void)
{
	lock_up("nmi");
	crash_sysrq();
}

/* Without a panic of its own a fault ends a task, and a stall is only reported. */
static void make_faults_panic(const char *name)
{
	static const struct {
		const char *fault, *path, *value;
	} settings[] = {
		{ "warn", "/proc/sys/kernel/panic_on_warn", "1" },
		{ "refcount", "/proc/sys/kernel/panic_on_warn", "1" },
		{ "kfence", "/proc/sys/kernel/panic_on_warn", "1" },
		{ "kfence", "/sys/module/kfence/parameters/sample_interval", "20" },
		{ "atomic", "/proc/sys/kernel/panic_on_warn", "1" },
		{ "oomslab", "/proc/sys/vm/panic_on_oom", "1" },
		{ "oomvm", "/proc/sys/vm/panic_on_oom", "1" },
		{ "spin", "/proc/sys/kernel/softlockup_panic", "1" },
		{ "spin", "/proc/sys/kernel/watchdog_thresh", "3" },
		{ "rcusleep", "/proc/sys/kernel/panic_on_rcu_stall", "1" },
		{ "rcusleep", "/sys/module/rcupdate/parameters/rcu_cpu_stall_timeout", "5" },
		{ "rcupreempt", "/sys/kernel/debug/sched/preempt", "full" },
		{ "rcupreempt", "/proc/sys/kernel/sched_rt_runtime_us", "-1" },
		{ "rcupreempt", "/proc/sys/kernel/panic_on_rcu_stall", "1" },
		{ "rcupreempt", "/sys/module/rcupdate/parameters/rcu_cpu_stall_timeout", "5" },
		{ "rcuresume", "/sys/kernel/debug/sched/preempt", "full" },
		{ "rcuresume", "/proc/sys/kernel/panic_on_rcu_stall", "1" },
		{ "rcuresume", "/sys/module/rcupdate/parameters/rcu_cpu_stall_timeout", "5" },
		{ "ipi", "/proc/sys/kernel/softlockup_panic", "1" },
		{ "ipi", "/proc/sys/kernel/watchdog_thresh", "3" },
		{ "storm", "/proc/sys/kernel/softlockup_panic", "1" },
		{ "storm", "/proc/sys/kernel/watchdog_thresh", "3" },
		{ "timers", "/proc/sys/kernel/softlockup_panic", "1" },
		{ "timers", "/proc/sys/kernel/watchdog_thresh", "3" },
		{ "hard", "/proc/sys/kernel/hardlockup_panic", "1" },
		{ "hard", "/proc/sys/kernel/watchdog_thresh", "3" },
		{ "soft", "/proc/sys/kernel/softlockup_panic", "1" },
		{ "soft", "/proc/sys/kernel/watchdog_thresh", "3" },
		{ "rcu", "/proc/sys/kernel/panic_on_rcu_stall", "1" },
		{ "rcu", "/sys/module/rcupdate/parameters/rcu_cpu_stall_timeout", "5" },
		{ "irqoff", "/proc/sys/kernel/panic_on_rcu_stall", "1" },
		{ "irqoff", "/sys/module/rcupdate/parameters/rcu_cpu_stall_timeout", "5" },
	};
	set("/proc/sys/kernel/panic_on_oops", "1");
	for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++)
		if (!strcmp(settings[i].fault, name))
			set(settings[i].path, settings[i].value);
}

/* An oops that the machine survives, until somebody has seen enough. */
static void crash_oops(void)
{
	set("/sys/module/faults/parameters/start", "oops");
	crash_sysrq();
}

/* In this task, or soon elsewhere. */
static void crash_fault(const char *name)
{
	make_faults_panic(name);
	set("/sys/module/faults/parameters/start", name);
	sleep(FAULT_SECONDS);
}

static const struct crash {
	const char *name;
	void (*run)(void);
} crashes[] = {
	{ "sysrq", crash_sysrq },   { "nmi", crash_nmi },	  { "hung", crash_hung },
	{ "oom", crash_oom },	    { "lockup", crash_lockup },	  { "deaf", crash_deaf },
	{ "cgroup", crash_cgroup }, { "mce", crash_nmi },	  { "init", crash_init },
	{ "oops", crash_oops },	    { "oomnode", crash_node },	  { "oomtmpfs", crash_tmpfs },
	{ "oomhuge", crash_huge },  { "oomkill", crash_oomkill }, { "cpuset", crash_cpuset },
	{ "ext4", crash_ext4 },	    { "fserror", crash_fserror }, { "initexit", crash_exit },
};

static const struct crash *find_crash(const char *name)
{
	for (size_t i = 0; i < sizeof(crashes) / sizeof(*crashes); i++)
		if (!strcmp(crashes[i].name, name))
			return &crashes[i];
	errno = EINVAL;
	fail(name);
	return NULL;
}

/* Something is wrong with the machine, and it lives on until somebody asks for its end. */
static void crash_ailing(const char *name)
{
	set("/sys/module/faults/parameters/start", name);
	crash_sysrq();
}

static void crash_as_wished(void);

void crash_as(const char *name)
{
	if (!strcmp(name, "wish"))
		crash_as_wished();
	else if (!strncmp(name, "fault:", 6))
		crash_fault(name + 6);
	else if (!strncmp(name, "ail:", 4))
		crash_ailing(name + 4);
	else
		find_crash(name)->run();
}

/* The host writes to a disk what it is to be. Each of its answers is asked for anew. */
static void crash_as_wished(void)
{
	int disk = open(WISH_DISK, O_RDONLY | O_DIRECT | O_CLOEXEC);
	char *wish = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (disk < 0 || wish == MAP_FAILED)
		fail(WISH_DISK);
	while (!*wish) {
		usleep(WISH_PERIOD_US);
		if (pread(disk, wish, WISH_SIZE, 0) != WISH_SIZE)
			fail(WISH_DISK);
	}
	wish[WISH_SIZE] = 0;
	close(disk);
	printf("guest: told to die\n");
	tcdrain(STDOUT_FILENO);
	crash_as(wish);
}
