// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A process that a dump has taken over, on a terminal: whatever it tries, text and our colours are
 * all that the terminal gets, and its modes stay.
 */
#include "tests/unit/test.h"

#include "base/array.h"
#include "base/escape.h"
#include "debugger/helper/serve.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#define SEEN_MAX (4 << 20)
#define SECONDS	 20

/* Exit statuses. */
#define NO_TERMINAL  90
#define HAS_TERMINAL 91
#define OTHER_MODE   92

/* What is written by each way to the terminal: title, screen, clipboard, modes, C1, order. */
#define BAD                                                                                        \
	"\x1b]0;owned\x07\x1b[2J\x1b[?1049h\x1b]52;c;eA==\x07\x1b[8m\x9b"                          \
	"31m\r\b\x1b"                                                                              \
	"c\xe2\x80\xae"
#define BAD_SHOWN                                                                                  \
	"\\x1b]0;owned\\x07\\x1b[2J\\x1b[?1049h\\x1b]52;c;eA==\\x07\\x1b["                         \
	"8m\\x9b31m\\x0d\\x08\\x1bc"                                                               \
	"\\u{202e}"

typedef void attack(struct helper_link *helper);

struct seen {
	char *text;
	size_t size;
	int status;
};

/* --- both sides of a terminal ------------------------------------------------------------------
 */

/* The process that reads the dump: its exit status says whether it had a terminal. */
static int run_attack(attack *act, const struct serve_options *options)
{
	struct helper_link helper;
	struct error *error = serve_start(options, &helper);
	if (error || !helper.has_terminal)
		return NO_TERMINAL;
	for (int file = 0; file < 100; file++)
		if (isatty(file))
			return HAS_TERMINAL;
	act(&helper);
	fflush(stdout);
	helper_end(&helper);
	return 0;
}

static void read_all(int leader, struct seen *ret)
{
	struct pollfd waiting = { .fd = leader, .events = POLLIN };
	ret->text = malloc(SEEN_MAX + 1);
	ret->size = 0;
	while (ret->size < SEEN_MAX && poll(&waiting, 1, SECONDS * 1000) > 0) {
		ssize_t size = read(leader, ret->text + ret->size, SEEN_MAX - ret->size);
		if (size <= 0) /* EIO: nobody has it open any more */
			break;
		ret->size += (size_t)size;
	}
	ret->text[ret->size] = 0;
}

static bool same_modes(const struct termios *a, const struct termios *b)
{
	return a->c_iflag == b->c_iflag && a->c_oflag == b->c_oflag && a->c_cflag == b->c_cflag &&
	       a->c_lflag == b->c_lflag && !memcmp(a->c_cc, b->c_cc, sizeof(a->c_cc));
}

/*
 * The shell, in which a terminal shows bytes as they are written. It waits for both processes. Its
 * exit status is that of the one that reads the dump.
 */
static int run_session(int follower, attack *act, const struct serve_options *options)
{
	struct termios before, after;
	int status = 0, other;
	setsid();
	bool good = !ioctl(follower, TIOCSCTTY, 0) && !tcgetattr(follower, &before);
	before.c_oflag &= ~(tcflag_t)OPOST;
	good = good && !tcsetattr(follower, TCSANOW, &before) && !tcgetattr(follower, &before) &&
	       !prctl(PR_SET_CHILD_SUBREAPER, 1);
	for (int file = 0; file < 3; file++)
		dup2(follower, file);
	close(follower);
	setenv("PAGER", "cat -", 1);
	setenv("TERM", "xterm", 1);
	pid_t child = good ? fork() : -1;
	if (!child)
		_exit(run_attack(act, options));
	if (child < 0 || waitpid(child, &status, 0) != child)
		return NO_TERMINAL;
	while (wait(&other) > 0)
		;
	if (tcgetattr(STDIN_FILENO, &after) || !same_modes(&before, &after))
		return OTHER_MODE;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void run_on_terminal(attack *act, const char *command, bool interactive, struct seen *ret)
{
	int leader, follower, status = 0;
	const struct winsize size = { .ws_row = 33, .ws_col = 99 };
	const struct source sources[] = { { false, command } };
	const struct serve_options options = { .sources = sources,
					       .source_count = 1,
					       .interactive = interactive,
					       .no_rc = true,
					       .takes_terminal = true };
	CHECK(!openpty(&leader, &follower, NULL, NULL, &size));
	fflush(NULL);
	pid_t child = fork();
	if (!child) {
		close(leader);
		_exit(run_session(follower, act, &options));
	}
	close(follower);
	read_all(leader, ret);
	CHECK(waitpid(child, &status, 0) == child);
	close(leader);
	ret->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Whether the terminal got text and our colours only; erasing a line is the helper's own. */
static bool is_clean(const struct seen *seen)
{
	static const char *const allowed[] = { "\x1b[0m",  "\x1b[1m",  "\x1b[2m",
					       "\x1b[31m", "\x1b[33m", "\r\x1b[K" };
	for (size_t at = 0, length; at < seen->size; at += length) {
		const char *text = seen->text + at;
		length = *text == '\n' || *text == '\t' ? 1
							: escape_printable(text, seen->size - at);
		for (size_t i = 0; i < ARRAY_COUNT(allowed) && !length; i++)
			if (!strncmp(text, allowed[i], strlen(allowed[i])))
				length = strlen(allowed[i]);
		if (!length) {
			printf("at %zu of %zu: %02x\n", at, seen->size, (unsigned char)*text);
			return false;
		}
	}
	return true;
}

static void check_seen(attack *act, const char *command, const char *wanted)
{
	struct seen seen;
	run_on_terminal(act, command, false, &seen);
	CHECK_U64((uint64_t)seen.status, 0);
	CHECK(is_clean(&seen));
	CHECK_STRING(seen.text, wanted);
	free(seen.text);
}

static void begin(struct helper_link *helper)
{
	uint32_t number = 0;
	(void)helper_tell(helper, HELPER_COMMAND, &number, sizeof(number));
}

static bool write_all(int file, const char *text, size_t size)
{
	while (size) {
		ssize_t part = write(file, text, size);
		if (part < 0)
			return false;
		text += part;
		size -= (size_t)part;
	}
	return true;
}

static bool write_text(int file, const char *text)
{
	return write_all(file, text, strlen(text));
}

/* --- what it tries -----------------------------------------------------------------------------
 */

static void write_both(struct helper_link *helper)
{
	(void)helper;
	printf("one\n");
	fprintf(stderr, "two %s\n", BAD);
	printf("\x1b[31mthree\x1b[0m %s\n", BAD);
	fprintf(stderr, "four\n");
}

static void test_standard_files(void)
{
	check_seen(write_both, "ps",
		   "one\ntwo " BAD_SHOWN "\n\x1b[31mthree\x1b[0m " BAD_SHOWN "\nfour\n");
}

/* Byte by byte, with a request between any two. */
static void write_slowly(struct helper_link *helper)
{
	for (const char *at = BAD; *at; at++) {
		(void)!write(STDERR_FILENO, at, 1);
		(void)helper_tell(helper, HELPER_CLOSE, NULL, 0);
	}
}

static void test_parts(void)
{
	check_seen(write_slowly, "ps", BAD_SHOWN);
}

static void set_modes(struct helper_link *helper)
{
	struct termios mode = { 0 };
	(void)helper;
	for (int file = 0; file < 10; file++) {
		tcsetattr(file, TCSANOW, &mode);
		ioctl(file, TIOCSTI, "x");
	}
	/* The sandbox has it that no file is opened. */
}

static void test_modes(void)
{
	check_seen(set_modes, "ps", "");
}

/* A colour that is left on does not reach the program that comes next. */
static void write_beside(struct helper_link *helper)
{
	begin(helper);
	printf("\x1b[33mbefore");
	fflush(stdout);
	(void)helper_tell(helper, HELPER_BESIDE, "echo beside", strlen("echo beside"));
	(void)helper_tell(helper, HELPER_WAIT, NULL, 0);
	printf("after\n");
}

static void test_program_beside(void)
{
	check_seen(write_beside, "!echo beside", "\x1b[33mbefore\x1b[0mbeside\nafter\n");
}

static void write_to_program(struct helper_link *helper)
{
	begin(helper);
	printf("before\n");
	fflush(stdout);
	int file = helper_file(helper, HELPER_PROGRAM, "cat");
	(void)write_text(file, "piped " BAD "\n");
	close(file);
	(void)helper_tell(helper, HELPER_WAIT, NULL, 0);
	printf("after\n");
}

static void test_program(void)
{
	check_seen(write_to_program, "ps | cat", "before\npiped " BAD_SHOWN "\nafter\n");
}

static void write_to_pager(struct helper_link *helper)
{
	int file = helper_file(helper, HELPER_PAGER, NULL);
	if (file < 0)
		begin(helper);
	if (file < 0)
		file = helper_file(helper, HELPER_PAGER, NULL);
	(void)write_text(file, "paged " BAD "\n");
	close(file);
	(void)helper_tell(helper, HELPER_WAIT, NULL, 0);
}

static void test_pager(void)
{
	struct seen seen;
	run_on_terminal(write_to_pager, "ps", true, &seen);
	CHECK(!seen.status);
	CHECK(is_clean(&seen));
	CHECK_STRING(seen.text, "paged " BAD_SHOWN "\n");
	free(seen.text);
}

/* A file that the user's line names, and that is a terminal. */
static void write_to_file(struct helper_link *helper)
{
	begin(helper);
	int file = helper_file(helper, HELPER_WRITE, "/dev/tty");
	(void)write_text(file, isatty(file) ? "a terminal" : "file " BAD "\n");
	close(file);
	(void)helper_tell(helper, HELPER_CLOSE, NULL, 0);
	printf("after\n");
}

static void test_file(void)
{
	check_seen(write_to_file, "ps > /dev/tty", "file " BAD_SHOWN "\nafter\n");
}

static void read_file(struct helper_link *helper)
{
	begin(helper);
	bool opened = helper_file(helper, HELPER_READ, "/dev/tty") >= 0;
	printf("%s\n", opened ? "opened" : "refused");
}

static void test_file_to_read(void)
{
	check_seen(read_file, "btf --diff /dev/tty x", "refused\n");
}

static void report_progress(struct helper_link *helper)
{
	static const char *const bad[] = { "\x1b[2J", "a\nb",	      "a\tb", "\x1b[31m",
					   "\r",      "\xe2\x80\xae", "\x9b" };
	char longest[200];
	memset(longest, 'x', sizeof(longest));
	for (size_t i = 0; i < ARRAY_COUNT(bad); i++)
		if (helper_tell(helper, HELPER_PROGRESS, bad[i], strlen(bad[i])))
			printf("%zu was taken\n", i);
	if (helper_tell(helper, HELPER_PROGRESS, longest, sizeof(longest)))
		printf("a long one was taken\n");
	(void)helper_tell(helper, HELPER_PROGRESS, "half: 50 %", strlen("half: 50 %"));
	/* It goes before text comes. */
	printf("text\n");
}

static void test_progress(void)
{
	check_seen(report_progress, "ps", "\r\x1b[Khalf: 50 %\r\x1b[Ktext\n");
}

#define PENDING 60000 /* bytes that a pipe holds, and that are not read at once */

static void report_behind(struct helper_link *helper)
{
	static char text[PENDING + 1];
	memset(text, 'm', PENDING);
	(void)write_text(STDOUT_FILENO, text);
	(void)helper_tell(helper, HELPER_PROGRESS, "half", strlen("half"));
}

/* What was written before something is asked is on the terminal before that is done. */
static void test_order(void)
{
	static char wanted[PENDING + 32];
	memset(wanted, 'm', PENDING);
	strcpy(wanted + PENDING, "\r\x1b[Khalf\r\x1b[K");
	check_seen(report_behind, "ps", wanted);
}

static void show_size(struct helper_link *helper)
{
	struct helper_size size = { 0 };
	struct message reply;
	if (helper_ask(helper, HELPER_SIZE, NULL, 0, &reply) && reply.size == sizeof(size))
		memcpy(&size, reply.data, sizeof(size));
	message_deinit(&reply);
	printf("%u %u\n", size.rows, size.columns);
}

static void test_size(void)
{
	check_seen(show_size, "ps", "33 99\n");
}

/* More than any pipe holds, to the terminal, and then to a program that reads a part. */
static void write_much(struct helper_link *helper)
{
	static char line[1000];
	memset(line, 'm', sizeof(line) - 1);
	line[sizeof(line) - 1] = '\n';
	begin(helper);
	for (int i = 0; i < 1000; i++)
		(void)write_all(STDOUT_FILENO, line, sizeof(line));
	int file = helper_file(helper, HELPER_PROGRAM, "head -c 1000");
	memset(line, 'p', sizeof(line) - 1);
	signal(SIGPIPE, SIG_IGN);
	int count = 0;
	while (count < 10000 && write_all(file, line, sizeof(line)))
		count++;
	close(file);
	(void)helper_tell(helper, HELPER_WAIT, NULL, 0);
	printf("%s\n", count < 1000 ? "left" : "not left");
}

static void test_much(void)
{
	static const size_t sizes[] = { 1000 * 1000, 1000, sizeof("left\n") - 1 };
	struct seen seen;
	run_on_terminal(write_much, "ps | head -c 1000", false, &seen);
	CHECK(!seen.status && is_clean(&seen));
	CHECK_U64(seen.size, sizes[0] + sizes[1] + sizes[2]);
	if (seen.size == sizes[0] + sizes[1] + sizes[2]) {
		/* What was written first is seen first. */
		CHECK(!memchr(seen.text, 'p', sizes[0]));
		CHECK(!memchr(seen.text + sizes[0], 'm', sizes[1]));
		CHECK_STRING(seen.text + sizes[0] + sizes[1], "left\n");
	}
	free(seen.text);
}

/* A program that reads no more is noticed before anything is written to it. */
static void wait_for_leaving(struct helper_link *helper)
{
	begin(helper);
	struct pollfd waiting = { .fd = helper_file(helper, HELPER_PROGRAM, "exec <&-; sleep 1") };
	bool left = poll(&waiting, 1, SECONDS * 1000) > 0 && waiting.revents & POLLERR;
	printf("%s\n", left ? "left" : "not left");
}

static void test_leaving(void)
{
	check_seen(wait_for_leaving, "ps | exec <&-; sleep 1", "left\n");
}

static void die_busy(struct helper_link *helper)
{
	(void)helper;
	printf("last words\x1b[31m" BAD);
	fflush(stdout);
	raise(SIGKILL);
}

/* What was written before is shown, colours end, and the user hears of it. */
static void test_death(void)
{
	struct seen seen;
	run_on_terminal(die_busy, "ps", false, &seen);
	CHECK_U64((uint64_t)seen.status, 128 + SIGKILL);
	CHECK(is_clean(&seen));
	CHECK_STRING(seen.text,
		     "last words\x1b[31m" BAD_SHOWN "\x1b[0m\nbtfcrash: the process that "
		     "reads the dump has ended unexpectedly\n");
	free(seen.text);
}

int main(void)
{
	RUN(test_standard_files);
	RUN(test_parts);
	RUN(test_modes);
	RUN(test_program_beside);
	RUN(test_program);
	RUN(test_pager);
	RUN(test_file);
	RUN(test_file_to_read);
	RUN(test_progress);
	RUN(test_order);
	RUN(test_size);
	RUN(test_much);
	RUN(test_leaving);
	RUN(test_death);
	return test_finish();
}
