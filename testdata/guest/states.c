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
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/futex.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SIDE_PORT 7002
#define TEXT_PATTERN "btfcrash user page "

struct state {
	const char *comm;
	char letter;
	void (*enter)(void);
	const char *explanation;
};

static const char *freezable;

/* Ends a child whose kernel lacks what it needs; the manifest leaves it out. */
static void give_up(const char *what)
{
	printf("guest: state not reached: %s: %s\n", what, strerror(errno));
	_exit(1);
}

static void must(int result, const char *what)
{
	if (result < 0)
		give_up(what);
}

static void sleep_ms(long ms)
{
	struct timespec delay = { ms / 1000, ms % 1000 * 1000000 };
	nanosleep(&delay, NULL);
}

static void sleep_for_ever(void)
{
	for (;;)
		pause();
}

/* Time and signals */

static void enter_nanosleep(void)
{
	sleep_ms(100000000);
}

static void enter_signalfd(void)
{
	sigset_t set;
	struct signalfd_siginfo info;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	int fd = signalfd(-1, &set, 0);
	must(fd, "signalfd");
	must(read(fd, &info, sizeof(info)), "read of a signalfd");
}

static void enter_sigwait(void)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
	sigwaitinfo(&set, NULL);
}

static void enter_timerfd(void)
{
	struct itimerspec spec = { .it_value.tv_sec = 1000000 };
	uint64_t expirations;
	int fd = timerfd_create(CLOCK_MONOTONIC, 0);
	must(fd, "timerfd_create");
	must(timerfd_settime(fd, 0, &spec, NULL), "timerfd_settime");
	must(read(fd, &expirations, sizeof(expirations)), "read of a timerfd");
}

static void enter_posix_timer(void)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	struct itimerspec spec = { .it_value.tv_sec = 1000000 };
	timer_t timer;
	must(timer_create(CLOCK_REALTIME, &event, &timer), "timer_create");
	must(timer_settime(timer, 0, &spec, NULL), "timer_settime");
	sleep_for_ever();
}

/* A signal that is blocked stays pending. */
static void enter_signal_pending(void)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	raise(SIGUSR1);
	sleep_for_ever();
}

static void enter_stopped(void)
{
	raise(SIGSTOP);
}

static void enter_zombie(void)
{
	_exit(7);
}

/* Pipes and what waits for many files */

static void make_pipe(int ends[2])
{
	must(pipe(ends), "pipe");
}

static void enter_pipe_read(void)
{
	int ends[2];
	char byte;
	make_pipe(ends);
	must(read(ends[0], &byte, 1), "read of a pipe");
}

static void enter_pipe_write(void)
{
	static const char block[4096];
	int ends[2];
	make_pipe(ends);
	for (;;)
		must(write(ends[1], block, sizeof(block)), "write to a pipe");
}

static void enter_poll(void)
{
	int ends[2];
	make_pipe(ends);
	struct pollfd wanted = { .fd = ends[0], .events = POLLIN };
	poll(&wanted, 1, -1);
}

static void enter_select(void)
{
	int ends[2];
	fd_set set;
	make_pipe(ends);
	FD_ZERO(&set);
	FD_SET(ends[0], &set);
	select(ends[0] + 1, &set, NULL, NULL, NULL);
}

static void enter_epoll(void)
{
	int ends[2];
	make_pipe(ends);
	struct epoll_event event = { .events = EPOLLIN, .data.fd = ends[0] };
	int epoll = epoll_create1(0);
	must(epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event), "epoll_ctl");
	must(epoll_wait(epoll, &event, 1, -1), "epoll_wait");
}

static void enter_eventfd(void)
{
	uint64_t value;
	int fd = eventfd(0, 0);
	must(read(fd, &value, sizeof(value)), "read of an eventfd");
}

static void enter_inotify(void)
{
	char buffer[4096];
	int fd = inotify_init1(0);
	must(inotify_add_watch(fd, "/mnt/image", IN_CREATE), "inotify_add_watch");
	must(read(fd, buffer, sizeof(buffer)), "read of an inotify");
}

/* Sockets */

static struct sockaddr_in local_address(int port)
{
	return (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
}

static int listen_on(int port)
{
	struct sockaddr_in address = local_address(port);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	must(bind(fd, (void *)&address, sizeof(address)), "bind");
	must(listen(fd, 5), "listen");
	return fd;
}

static void enter_accept(void)
{
	must(accept(listen_on(7001), NULL, NULL), "accept");
}

/* Both ends of an established connection, with unread data in one of them. */
static void enter_tcp_recv(void)
{
	struct sockaddr_in address = local_address(SIDE_PORT);
	char byte;
	int listening = listen_on(SIDE_PORT);
	int client = socket(AF_INET, SOCK_STREAM, 0);
	must(connect(client, (void *)&address, sizeof(address)), "connect");
	int server = accept(listening, NULL, NULL);
	must(server, "accept");
	must(write(client, "unread", 6), "write to a socket");
	must(recv(client, &byte, 1, 0), "recv of a tcp socket");
}

static void enter_udp_recv(void)
{
	struct sockaddr_in address = local_address(7003);
	char byte;
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	must(bind(fd, (void *)&address, sizeof(address)), "bind");
	must(recv(fd, &byte, 1, 0), "recv of a udp socket");
}

static void enter_unix_recv(void)
{
	int ends[2];
	char byte;
	must(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), "socketpair");
	must(recv(ends[0], &byte, 1, 0), "recv of a unix socket");
}

static void enter_unix_accept(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = "/tmp/socket" };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	must(bind(fd, (void *)&address, sizeof(address)), "bind");
	must(listen(fd, 1), "listen");
	must(accept(fd, NULL, NULL), "accept");
}

static void enter_netlink(void)
{
	/* A group in which nothing ever happens here. */
	struct sockaddr_nl address = {
		.nl_family = AF_NETLINK,
		.nl_groups = 1 << (RTNLGRP_ND_USEROPT - 1),
	};
	char buffer[4096];
	int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
	must(bind(fd, (void *)&address, sizeof(address)), "bind");
	must(recv(fd, buffer, sizeof(buffer), 0), "recv of a netlink socket");
}

static void enter_tun_read(void)
{
	struct ifreq request = { .ifr_flags = IFF_TUN | IFF_NO_PI };
	char buffer[4096];
	strcpy(request.ifr_name, "tun-states");
	int fd = open("/dev/net/tun", O_RDWR);
	must(fd, "open /dev/net/tun");
	must(ioctl(fd, TUNSETIFF, &request), "TUNSETIFF");
	must(read(fd, buffer, sizeof(buffer)), "read of a tun device");
}

/* Locks */

static void lock_with_flock(void)
{
	int fd = open("/tmp/flock", O_RDWR | O_CREAT, 0600);
	must(flock(fd, LOCK_EX), "flock");
}

static void enter_flock_holder(void)
{
	lock_with_flock();
	sleep_for_ever();
}

static void enter_flock_waiter(void)
{
	sleep_ms(300);
	lock_with_flock();
}

static void lock_with_fcntl(void)
{
	struct flock lock = { .l_type = F_WRLCK, .l_start = 100, .l_len = 50 };
	int fd = open("/tmp/posix-lock", O_RDWR | O_CREAT, 0600);
	must(fcntl(fd, F_SETLKW, &lock), "F_SETLKW");
}

static void enter_posix_holder(void)
{
	lock_with_fcntl();
	sleep_for_ever();
}

static void enter_posix_waiter(void)
{
	sleep_ms(300);
	lock_with_fcntl();
}

static void enter_futex(void)
{
	static int word;
	syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL, NULL, 0);
}

static void enter_msgrcv(void)
{
	struct { long type; char text[16]; } message;
	int queue = msgget(0xb7f1, IPC_CREAT | 0600);
	must(queue, "msgget");
	must(msgrcv(queue, &message, sizeof(message.text), 1, 0), "msgrcv");
}

static void enter_semop(void)
{
	struct sembuf operation = { .sem_op = -1 };
	int set = semget(0xb7f2, 2, IPC_CREAT | 0600);
	must(set, "semget");
	must(semop(set, &operation, 1), "semop");
}

static void enter_shm(void)
{
	int segment = shmget(0xb7f3, 3 * 4096, IPC_CREAT | 0600);
	must(segment, "shmget");
	strcpy(shmat(segment, NULL, 0), "btfcrash shared memory");
	sleep_for_ever();
}

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

static void enter_vfork(void)
{
	if (!vfork())
		vfork_child();
}

static void child_that_waits(void)
{
	prctl(PR_SET_NAME, "waited-for");
	sleep_for_ever();
}

static void enter_waitpid(void)
{
	waitpid(fork_child(child_that_waits), NULL, 0);
}

static void child_that_is_traced(void)
{
	prctl(PR_SET_NAME, "traced");
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	raise(SIGSTOP);
}

static void enter_tracer(void)
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

static void enter_container(void)
{
	must(unshare(CLONE_NEWPID | CLONE_NEWUTS | CLONE_NEWNS | CLONE_NEWIPC |
		     CLONE_NEWNET), "unshare");
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

static void enter_cgroup(void)
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

static void enter_threads(void)
{
	for (intptr_t i = 1; i < 5; i++) {
		pthread_t thread;
		if (pthread_create(&thread, NULL, thread_main, (void *)i))
			give_up("pthread_create");
	}
	sleep_for_ever();
}

/* Processors and scheduling */

static void enter_spinner(void)
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

static void enter_fifo(void)
{
	schedule_as(SCHED_FIFO, 10);
}

static void enter_round_robin(void)
{
	schedule_as(SCHED_RR, 20);
}

static void enter_batch(void)
{
	schedule_as(SCHED_BATCH, 0);
}

static void enter_idle(void)
{
	schedule_as(SCHED_IDLE, 0);
}

/* Memory */

static char *map_anonymous(size_t size)
{
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		give_up("mmap");
	return memory;
}

/*
 * Eight locked pages at a fixed address: page N begins with TEXT_PATTERN and N,
 * and a test that reads 0x7b7f00000000 of this task must find just that.
 */
static void enter_mapped(void)
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
static void enter_user_fault(void)
{
	volatile char *page = map_unanswered_page();
	(void)page[0];
}

static void enter_kernel_fault(void)
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

static void enter_frozen_one(void)
{
	write_below_freezable("one");
}

static void enter_frozen_two(void)
{
	write_below_freezable("two");
}

static void enter_frozen_mkdir(void)
{
	char path[256];
	for (int i = 0;; i++) {
		snprintf(path, sizeof(path), "%s/directory-%d", freezable, i);
		must(mkdir(path, 0700), path);
		sleep_ms(20);
	}
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
	{ "user-fault", 'S', enter_user_fault, "userfaultfd, from user mode" },
	{ "kernel-fault", 'S', enter_kernel_fault, "userfaultfd, inside write" },
	{ "frozen-one", 'D', enter_frozen_one, "writing to a frozen ext4" },
	{ "frozen-two", 'D', enter_frozen_two, "writing to a frozen ext4" },
	{ "frozen-mkdir", 'D', enter_frozen_mkdir, "mkdir on a frozen ext4" },
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
			printf("guest: state not reached: %s is %c\n",
			       states[i].comm, letter_of(pids[i]));
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
