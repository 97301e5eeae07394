// SPDX-License-Identifier: GPL-3.0-or-later
/* The sandbox: what is forbidden dies of it, what a reader needs goes on. */
#include "tests/unit/test.h"

#include "base/sandbox.h"
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WORKED	   0
#define REFUSED	   1
#define NO_SECCOMP 77

/* How a child ends that has entered the sandbox and then does this. */
static int status_of(int (*act)(void))
{
	int status = 0;
	fflush(stdout);
	pid_t child = fork();
	if (!child) {
		struct error *error = sandbox_enter();
		_exit(error ? NO_SECCOMP : act());
	}
	waitpid(child, &status, 0);
	return status;
}

static bool dies(int (*act)(void))
{
	int status = status_of(act);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS;
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
	return kill(getppid(), 0) ? REFUSED : WORKED;
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
	int file = open(__FILE__[0] == '/' ? __FILE__ : "/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int count = 0;
	pthread_t thread;
	time_t now = time(NULL);
	struct tm broken_down;
	page = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	bool good = file >= 0 && read(file, &byte, 1) == 1 && pread(file, &byte, 1, 1) == 1 &&
		    page != MAP_FAILED && !munmap(page, 1 << 20) &&
		    !pthread_create(&thread, NULL, count_up, &count) &&
		    !pthread_join(thread, NULL) && count == 1 && localtime_r(&now, &broken_down) &&
		    !close(file) && write(STDOUT_FILENO, "", 0) == 0;
	void *memory = malloc(32 << 20);
	good = good && memory;
	free(memory);
	return good ? WORKED : REFUSED;
}

static int enter_again(void)
{
	struct error *error = sandbox_enter();
	error_free(error);
	return WORKED;
}

static void test_forbidden_calls_die(void)
{
	CHECK(dies(run_program));
	CHECK(dies(fork_child));
	CHECK(dies(open_socket));
	CHECK(dies(open_to_write));
	CHECK(dies(open_to_change));
	CHECK(dies(open_to_create));
	CHECK(dies(open_to_empty));
	CHECK(dies(remove_file));
	CHECK(dies(make_folder));
	CHECK(dies(trace));
	CHECK(dies(signal_others));
}

static void test_others_are_refused(void)
{
	int status = status_of(change_priority);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == REFUSED);
	status = status_of(enter_again);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == WORKED);
}

static void test_a_reader_lives(void)
{
	int status = status_of(read_and_think);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == WORKED);
}

static int nothing(void)
{
	return WORKED;
}

int main(void)
{
	int status = status_of(nothing);
	if (WIFEXITED(status) && WEXITSTATUS(status) == NO_SECCOMP) {
		/* Under a sanitizer, and where the kernel or a container does not let it. */
		printf("no seccomp filter here: not tested\n");
		return test_finish();
	}
	RUN(test_forbidden_calls_die);
	RUN(test_others_are_refused);
	RUN(test_a_reader_lives);
	return test_finish();
}
