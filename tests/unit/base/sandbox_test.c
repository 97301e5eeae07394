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

#define WORKED	   0
#define REFUSED	   1
#define NO_SECCOMP 77
#define PARENT	   1 /* a process that is not ours */

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

static bool dies(int (*act)(void))
{
	int status = status_of(act);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS;
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

/* Each way to the user's terminal: its number, and the same to a kernel that looks at 32 bits. */
static int read_terminal(void)
{
	char byte;
	for (long file = 0; file <= 2; file++)
		if (syscall(SYS_read, file, &byte, 0) >= 0 ||
		    syscall(SYS_read, file | 1L << 32, &byte, 0) >= 0 ||
		    syscall(SYS_read, file | 1L << 40, &byte, 0) >= 0)
			return WORKED;
	return readv(0, NULL, 0) < 0 && dup(0) < 0 && fcntl(0, F_DUPFD, 10) < 0 ? REFUSED : WORKED;
}

static int type_into_terminal(void)
{
	return ioctl(1, TIOCSTI, "x") < 0 && ioctl(1, TIOCSCTTY, 0) < 0 &&
			       fcntl(1, F_SETOWN, PARENT) < 0 && fcntl(1, F_SETFL, O_ASYNC) < 0
		       ? REFUSED
		       : WORKED;
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

/* Not deadly, but of no effect. */
static int change_priority(void)
{
	return nice(1) == -1 ? REFUSED : WORKED;
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
	return WORKED;
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
	CHECK(dies(map_code));
	CHECK(dies(make_code));
}

static void test_terminal_is_out_of_reach(void)
{
	CHECK(ends_with(status_of(read_terminal), REFUSED));
	CHECK(ends_with(status_of(type_into_terminal), REFUSED));
}

static int open_under_landlock(void)
{
	const char *lack;
	return landlock_enter(&lack) && open_file() == WORKED ? WORKED : REFUSED;
}

static void test_files(void)
{
	int status = 0;
	CHECK(ends_with(status_of(open_file), IS_SANITIZED ? WORKED : REFUSED));
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
	CHECK(ends_with(status_of(move_lines), REFUSED));
	CHECK(ends_with(status_of(read_lines), REFUSED));
	CHECK(ends_with(status_of(receive_lines), REFUSED));
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

static void test_others_are_refused(void)
{
	CHECK(ends_with(status_of(change_priority), REFUSED));
	CHECK(ends_with(status_of(clone_by_memory), REFUSED));
	CHECK(ends_with(status_of(enter_again), WORKED));
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
	RUN(test_files);
	RUN(test_inherited_files);
	RUN(test_lines_stay_in_place);
	RUN(test_input_is_given_up);
	RUN(test_others_are_refused);
	RUN(test_a_reader_lives);
	return test_finish();
}
