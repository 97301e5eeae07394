// SPDX-License-Identifier: GPL-3.0-or-later
/* The sandbox: what is forbidden dies of it, what a reader needs goes on. */
#include "tests/unit/test.h"

#include "base/sandbox.h"
#include "base/standard.h"
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WORKED		0
#define REFUSED		1
#define NO_SECCOMP	77
#define PARENT		1  /* a process that is not ours */
#define PSEUDO_TERMINAL 50 /* a file's number */

static int given; /* a file that was opened before */

/* How a child ends that has entered the sandbox, and then does this. */
static int status_of(int (*act)(void))
{
	int status = 0;
	fflush(stdout);
	given = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	pid_t child = fork();
	if (!child) {
		struct sandbox sandbox;
		sandbox_enter(&sandbox);
		_exit(sandbox.seccomp && sandbox.sealed ? act() : NO_SECCOMP);
	}
	waitpid(child, &status, 0);
	close(given);
	return status;
}

static bool is_death(int status)
{
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS;
}

static bool dies(int (*act)(void))
{
	return is_death(status_of(act));
}

static bool ends_with(int status, int wanted)
{
	return WIFEXITED(status) && WEXITSTATUS(status) == wanted;
}

static int run_program(void)
{
	execl("/bin/true", "true", NULL);
	return REFUSED;
}

static int fork_child(void)
{
	pid_t child = fork();
	if (!child)
		_exit(WORKED);
	return child < 0 ? REFUSED : WORKED;
}

/* The kernel itself refuses both, but for other reasons. */
static int clone_with_users(void)
{
	return syscall(SYS_clone, CLONE_THREAD | CLONE_SIGHAND | CLONE_VM | CLONE_NEWUSER, NULL,
		       NULL, NULL, NULL) < 0
		       ? REFUSED
		       : WORKED;
}

static int clone_with_mounts(void)
{
	return syscall(SYS_clone, CLONE_THREAD | CLONE_SIGHAND | CLONE_VM | CLONE_FS | CLONE_NEWNS,
		       NULL, NULL, NULL, NULL) < 0
		       ? REFUSED
		       : WORKED;
}

/* Its flags are in memory: as if no kernel had it. */
static int clone_by_memory(void)
{
	return syscall(SYS_clone3, NULL, 0) < 0 && errno == ENOSYS ? REFUSED : WORKED;
}

static int open_socket(void)
{
	return socket(AF_INET, SOCK_STREAM, 0) < 0 ? REFUSED : WORKED;
}

static int open_to_write(void)
{
	return open("/dev/null", O_WRONLY) < 0 ? REFUSED : WORKED;
}

static int open_to_change(void)
{
	return open("/dev/null", O_RDWR) < 0 ? REFUSED : WORKED;
}

static int open_to_create(void)
{
	return open("/dev/null", O_RDONLY | O_CREAT, 0600) < 0 ? REFUSED : WORKED;
}

static int open_to_empty(void)
{
	return open("/dev/null", O_RDONLY | O_TRUNC) < 0 ? REFUSED : WORKED;
}

static int remove_file(void)
{
	return unlink("/nonexistent/x") ? REFUSED : WORKED;
}

static int make_folder(void)
{
	return mkdir("/nonexistent/x", 0700) ? REFUSED : WORKED;
}

static int trace(void)
{
	return ptrace(PTRACE_TRACEME, 0, NULL, NULL) ? REFUSED : WORKED;
}

static int signal_others(void)
{
	return kill(PARENT, 0) ? REFUSED : WORKED;
}

static int signal_thread_of_another(void)
{
	return syscall(SYS_tgkill, PARENT, PARENT, 0) ? REFUSED : WORKED;
}

static int signal_itself(void)
{
	signal(SIGUSR1, SIG_IGN);
	return raise(SIGUSR1) ? REFUSED : WORKED;
}

static int queue_signal(void)
{
	union sigval value = { 0 };
	return sigqueue(PARENT, 0, value) ? REFUSED : WORKED;
}

static int connect_by_sending(void)
{
	struct sockaddr_in to = { .sin_family = AF_INET };
	return sendto(3, "", 1, 0, (struct sockaddr *)&to, sizeof(to)) < 0 ? REFUSED : WORKED;
}

/* A call with its first two arguments, which a test sets before. */
static struct {
	long call;
	unsigned long first, second;
} tried;

static int try_call(void)
{
	return syscall(tried.call, tried.first, tried.second, 0, 0, 0, 0) < 0 ? REFUSED : WORKED;
}

static int status_of_call(long call, unsigned long first, unsigned long second)
{
	tried.call = call;
	tried.first = first;
	tried.second = second;
	return status_of(try_call);
}

/* A pseudo-terminal that is open is not said to be one. */
static int look_for_terminal(void)
{
	errno = 0;
	return isatty(PSEUDO_TERMINAL) || errno != ENOTTY ? WORKED : REFUSED;
}

static int open_file(void)
{
	return open("/etc/passwd", O_RDONLY) < 0 ? REFUSED : WORKED;
}

static int map_code(void)
{
	return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
			       MAP_FAILED
		       ? REFUSED
		       : WORKED;
}

static int make_code(void)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return mprotect(page, 4096, PROT_READ | PROT_EXEC) ? REFUSED : WORKED;
}

static void *count_up(void *context)
{
	++*(int *)context;
	return NULL;
}

static int read_and_think(void)
{
	char byte, *page;
	int count = 0;
	pthread_t thread;
	time_t now = time(NULL);
	struct tm broken_down;
	page = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct statfs system;
	bool good = given >= 0 && !fstatfs(given, &system) && read(given, &byte, 1) == 1 &&
		    pread(given, &byte, 1, 1) == 1 && page != MAP_FAILED &&
		    !munmap(page, 1 << 20) && !pthread_create(&thread, NULL, count_up, &count) &&
		    !pthread_join(thread, NULL) && count == 1 && localtime_r(&now, &broken_down) &&
		    !close(given) && write(STDOUT_FILENO, "", 0) == 0;
	void *memory = malloc(32 << 20);
	good = good && memory;
	free(memory);
	return good ? WORKED : REFUSED;
}

static int enter_again(void)
{
	struct sandbox sandbox;
	sandbox_enter(&sandbox);
	sandbox_deinit(&sandbox);
	return REFUSED;
}

static void test_forbidden_calls_die(void)
{
	CHECK(dies(run_program));
	CHECK(dies(fork_child));
	CHECK(dies(clone_with_users));
	CHECK(dies(clone_with_mounts));
	CHECK(dies(open_socket));
	CHECK(dies(open_to_write));
	CHECK(dies(open_to_change));
	CHECK(dies(open_to_create));
	CHECK(dies(open_to_empty));
	CHECK(dies(remove_file));
	CHECK(dies(make_folder));
	/* The leak checker needs it. */
	CHECK(IS_SANITIZED || dies(trace));
	CHECK(dies(signal_others));
	CHECK(dies(signal_thread_of_another));
	CHECK(dies(queue_signal));
	CHECK(dies(connect_by_sending));
	CHECK(dies(enter_again));
	CHECK(dies(map_code));
	CHECK(dies(make_code));
}

/* isatty() of glibc up to 2.41, and from 2.42 on: no file is one, whatever the kernel would say. */
static int ask_for_terminal(void)
{
	static const unsigned long requests[] = { 0x5401, 0x802c542a };
	char answer[64];
	bool good = true;
	for (size_t i = 0; i < 2; i++)
		good = good && ioctl(given, requests[i], answer) < 0 && errno == ENOTTY;
	return good ? WORKED : REFUSED;
}

static bool is_refused(int status)
{
	return ends_with(status, REFUSED);
}

/* Each way to the user's terminal: its number, and the same to a kernel that looks at 32 bits. */
static void test_terminal_is_out_of_reach(void)
{
	static const long reading[] = { SYS_read, SYS_pread64, SYS_lseek, SYS_recvmsg, SYS_readv };
	for (unsigned long file = 0; file <= 2; file++)
		for (size_t i = 0; i < sizeof(reading) / sizeof(reading[0]); i++)
			CHECK(is_death(status_of_call(reading[i], file, 0)));
	/* These may be other files to the filter, which are to be open. */
	CHECK(!ends_with(status_of_call(SYS_read, 1L << 32, 0), WORKED));
	CHECK(!ends_with(status_of_call(SYS_read, 1L << 40, 0), WORKED));
	CHECK(is_death(status_of_call(SYS_fcntl, 0, F_DUPFD)));
	CHECK(is_death(status_of_call(SYS_fcntl, 1, F_SETOWN)));
	CHECK(is_death(status_of_call(SYS_fcntl, 1, F_SETFL)));
}

static void test_no_file_is_a_terminal(void)
{
	static const unsigned long requests[] = {
		TIOCSTI,    TCSETS,	TCSETSW,   TCSETSF,   TCSETA,	 TCSBRK,    TCXONC,
		TCFLSH,	    TCGETA,	TIOCEXCL,  TIOCSCTTY, TIOCGPGRP, TIOCSPGRP, TIOCOUTQ,
		TIOCGWINSZ, TIOCSWINSZ, TIOCLINUX, TIOCCONS,  TIOCNOTTY, TIOCSETD,  TIOCGSID,
		TCSBRKP,    FIONREAD,	TIOCPKT,   0x5400,    0x54ff
	};
	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		CHECK(is_death(status_of_call(SYS_ioctl, 1, requests[i])));
		CHECK(is_death(status_of_call(SYS_ioctl, 1, requests[i] | 1ul << 32)));
	}
	int terminal = posix_openpt(O_RDWR | O_NOCTTY);
	CHECK(terminal >= 0 && dup2(terminal, PSEUDO_TERMINAL) == PSEUDO_TERMINAL);
	CHECK(isatty(PSEUDO_TERMINAL));
	CHECK(is_refused(status_of(look_for_terminal)));
	CHECK(ends_with(status_of(ask_for_terminal), WORKED));
	close(PSEUDO_TERMINAL);
	close(terminal);
}

/* What no list names, and a reader has no use for. */
static void test_all_others_die(void)
{
	static const long calls[] = {
		SYS_dup,
		SYS_dup2,
		SYS_pipe2,
		SYS_ftruncate,
		SYS_fsync,
		SYS_pwrite64,
		SYS_sendfile,
		SYS_splice,
		SYS_chdir,
		SYS_chmod,
		SYS_utimensat,
		SYS_setxattr,
		SYS_personality,
		SYS_setpriority,
		SYS_setrlimit,
		SYS_setns,
		SYS_unshare,
		SYS_io_uring_setup,
		SYS_bpf,
		SYS_keyctl,
		SYS_add_key,
		SYS_memfd_create,
		SYS_shmat,
		SYS_msgget,
		SYS_mq_open,
		SYS_inotify_init1,
		SYS_eventfd2,
		SYS_timer_create,
		SYS_process_vm_readv,
		SYS_pidfd_open,
		SYS_userfaultfd,
		SYS_perf_event_open,
		SYS_iopl,
		SYS_mount,
		SYS_getppid,
		SYS_capset,
		SYS_seccomp,
		SYS_openat2,
		SYS_kill,
		SYS_rt_sigqueueinfo,
		SYS_syslog,
		SYS_name_to_handle_at,
		SYS_pkey_mprotect,
		SYS_remap_file_pages,
	};
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		/* The leak checker asks these. */
		if (IS_SANITIZED && (calls[i] == SYS_pipe2 || calls[i] == SYS_getppid))
			continue;
		if (!is_death(status_of_call(calls[i], 3, 0)))
			printf("call %ld is not deadly\n", calls[i]);
		CHECK(is_death(status_of_call(calls[i], 3, 0)));
	}
}

/* Libraries try it and live without: processors, names of memory, files of the locale. */
static void test_some_are_refused(void)
{
	static const long calls[] = { SYS_stat,	  SYS_statx, SYS_access,     SYS_readlink,
				      SYS_getcwd, SYS_prctl, SYS_arch_prctl, SYS_clone3,
				      SYS_open,	  SYS_openat };
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]) && !IS_SANITIZED; i++)
		CHECK(is_refused(status_of_call(calls[i], 0, 0)));
	CHECK(ends_with(status_of(clone_by_memory), REFUSED));
}

static int open_under_landlock(void)
{
	const char *lack;
	return landlock_enter(&lack) && open_file() == WORKED ? WORKED : REFUSED;
}

static void test_files(void)
{
	int status = 0;
	/* With sanitizers, which read files, seccomp lets it pass. */
	CHECK(IS_SANITIZED || ends_with(status_of(open_file), REFUSED));
	/* Landlock alone holds it, too. */
	pid_t child = fork();
	if (!child)
		_exit(open_under_landlock());
	CHECK(waitpid(child, &status, 0) == child);
	CHECK(ends_with(status, REFUSED));
}

/* A file of lines as standard input, of which the helper has read the first. */
static bool read_lines_from_file(void)
{
	char path[] = "/tmp/sandbox-test-XXXXXX", line[2];
	int file = mkstemp(path);
	bool good = file >= 0 && write(file, "1\n2\n", 4) == 4 && lseek(file, 0, SEEK_SET) == 0 &&
		    dup2(file, STDIN_FILENO) == STDIN_FILENO && read(STDIN_FILENO, line, 2) == 2;
	unlink(path);
	return good;
}

static int move_lines(void)
{
	return lseek(STDIN_FILENO, 0, SEEK_SET) ? REFUSED : WORKED;
}

static int read_lines(void)
{
	char line[2];
	return pread(STDIN_FILENO, line, 2, 0) == 2 ? WORKED : REFUSED;
}

static int receive_lines(void)
{
	char byte;
	struct iovec part = { &byte, 1 };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	errno = 0;
	return recvmsg(STDIN_FILENO, &message, 0) < 0 && errno == EPERM ? REFUSED : WORKED;
}

/* A script on standard input is the helper's, and so is the place in it. */
static void test_lines_stay_in_place(void)
{
	int saved = dup(STDIN_FILENO);
	CHECK(read_lines_from_file());
	CHECK(dies(move_lines));
	CHECK(dies(read_lines));
	CHECK(dies(receive_lines));
	CHECK_U64(lseek(STDIN_FILENO, 0, SEEK_CUR), 2);
	CHECK(dup2(saved, STDIN_FILENO) == STDIN_FILENO);
	close(saved);
}

static int give_up_input(void)
{
	char line[2];
	standard_close_others(NULL, 0);
	return lseek(STDIN_FILENO, 0, SEEK_SET) == 0 && !read(STDIN_FILENO, line, 2) ? WORKED
										     : REFUSED;
}

/* Who reads the dump has no lines to read. */
static void test_input_is_given_up(void)
{
	int status = 0;
	pid_t child = fork();
	if (!child)
		_exit(read_lines_from_file() ? give_up_input() : REFUSED);
	CHECK(waitpid(child, &status, 0) == child);
	CHECK(ends_with(status, WORKED));
}

static int close_others(void)
{
	for (int fd = 40; fd < 44; fd++)
		if (dup2(STDERR_FILENO, fd) != fd)
			return REFUSED;
	standard_close_others((const int[]){ 42 }, 1);
	bool good = fcntl(40, F_GETFD) < 0 && fcntl(41, F_GETFD) < 0 && fcntl(42, F_GETFD) >= 0 &&
		    fcntl(43, F_GETFD) < 0 && fcntl(2, F_GETFD) >= 0;
	return good ? WORKED : REFUSED;
}

/* A lock or a log that a script has open is not for who reads the dump. */
static void test_inherited_files(void)
{
	int status;
	pid_t child = fork();
	if (!child)
		_exit(close_others());
	CHECK(waitpid(child, &status, 0) == child);
	CHECK(ends_with(status, WORKED));
}

static void test_a_reader_lives(void)
{
	CHECK(ends_with(status_of(read_and_think), WORKED));
	CHECK(ends_with(status_of(signal_itself), WORKED));
}

static int nothing(void)
{
	return WORKED;
}

int main(void)
{
	int status = status_of(nothing);
	if (WIFEXITED(status) && WEXITSTATUS(status) == NO_SECCOMP) {
		/* Where the kernel or a container does not let it. */
		printf("no seccomp filter here: not tested\n");
		return test_finish();
	}
	RUN(test_forbidden_calls_die);
	RUN(test_terminal_is_out_of_reach);
	RUN(test_no_file_is_a_terminal);
	RUN(test_all_others_die);
	RUN(test_some_are_refused);
	RUN(test_files);
	RUN(test_inherited_files);
	RUN(test_lines_stay_in_place);
	RUN(test_input_is_given_up);
	RUN(test_a_reader_lives);
	return test_finish();
}
