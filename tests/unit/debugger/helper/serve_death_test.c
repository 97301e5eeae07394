// SPDX-License-Identifier: GPL-3.0-or-later
/* The helper says of what the process died that reads the dump. */
#include "tests/unit/test.h"

#include "debugger/helper/serve.h"
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* A reader that ends by a signal, or by 0 as it means to; what the helper says. */
static void end_by(int number, char *text, size_t size)
{
	int ends[2], status = 0;
	CHECK(!pipe(ends));
	fflush(stdout);
	pid_t reader = fork();
	if (!reader) {
		struct helper_link link;
		const struct serve_options options = { .sources = NULL };
		const struct rlimit none = { 0, 0 };
		dup2(ends[1], STDERR_FILENO);
		close(ends[0]);
		close(ends[1]);
		error_free(serve_start(&options, &link));
		/* As the reader is: nobody may look into it. */
		(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
		(void)setrlimit(RLIMIT_CORE, &none);
		if (!number)
			helper_end(&link);
		signal(number, SIG_DFL);
		_exit(number ? raise(number) : 0);
	}
	close(ends[1]);
	size_t length = 0;
	/* The helper has ended when nothing more comes: until then the dead one is not cleared
	 * away. */
	for (ssize_t part = 1; part > 0 && length + 1 < size; length += (size_t)part) {
		part = read(ends[0], text + length, size - 1 - length);
		if (part < 0)
			break;
	}
	text[length] = 0;
	close(ends[0]);
	CHECK(waitpid(reader, &status, 0) == reader);
	CHECK(number ? WIFSIGNALED(status) && WTERMSIG(status) == number : !status);
}

static void test_deaths(void)
{
	char text[1024];
	end_by(SIGSYS, text, sizeof(text));
	CHECK(strstr(text, "the sandbox ended the process that reads the dump"));
	CHECK(strchr(text, '\n') == text + strlen(text) - 1);
	end_by(SIGSEGV, text, sizeof(text));
	CHECK(strstr(text, "died of SIGSEGV, which is a bug"));
}

/* Somebody ended it, or it ended as it meant to. */
static void test_ends(void)
{
	static const int numbers[] = { 0, SIGTERM, SIGKILL, SIGPIPE };
	char text[1024];
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		end_by(numbers[i], text, sizeof(text));
		CHECK_STRING(text, "");
	}
}

int main(void)
{
	RUN(test_deaths);
	RUN(test_ends);
	return test_finish();
}
