// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The helper process, asked by one that a dump has taken over: it gets what the user's line names,
 * once, and nothing else.
 */
#include "tests/unit/test.h"

#include "base/array.h"
#include "base/cache_file.h"
#include "debugger/helper/serve.h"
#include "debugger/shell/prompt.h"
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct world {
	char folder[64], script[128];
	struct source sources[8];
	struct serve_options options;
	struct helper_link helper;
};

static void start_with(struct world *world, const char *const *commands,
		       struct serve_options options)
{
	*world = (struct world){ .folder = "/tmp/btfcrash-serve-XXXXXX" };
	CHECK(mkdtemp(world->folder));
	CHECK(!chdir(world->folder));
	/* Neither history nor keys nor lines are those of who runs this. */
	CHECK(!setenv("XDG_STATE_HOME", world->folder, 1) && !setenv("INPUTRC", "/dev/null", 1) &&
	      !setenv("XDG_CONFIG_HOME", world->folder, 1) &&
	      !setenv("XDG_CACHE_HOME", world->folder, 1));
	size_t count = 0;
	for (; commands[count]; count++)
		world->sources[count] = (struct source){ commands[count][0] == '/' ||
								 !strcmp(commands[count], "script"),
							 commands[count] };
	world->options = options;
	world->options.sources = world->sources;
	world->options.source_count = count;
	CHECK_OK(serve_start(&world->options, &world->helper));
}

static void start(struct world *world, const char *const *commands)
{
	start_with(world, commands, (struct serve_options){ 0 });
}

static void stop(struct world *world)
{
	char command[128];
	helper_end(&world->helper);
	CHECK(!chdir("/"));
	snprintf(command, sizeof(command), "rm -r %s", world->folder);
	CHECK(!system(command));
}

static bool begin(struct world *world, uint32_t number)
{
	return helper_tell(&world->helper, HELPER_COMMAND, &number, sizeof(number));
}

static bool tell(struct world *world, enum helper_request request, const char *text)
{
	return helper_tell(&world->helper, request, text, strlen(text));
}

/* Whether an open file comes back. */
static bool opens(struct world *world, enum helper_request request, const char *text)
{
	int file = helper_file(&world->helper, request, text);
	if (file < 0)
		return false;
	close(file);
	return true;
}

static bool runs(struct world *world, enum helper_request request, const char *program)
{
	bool ran = request == HELPER_PROGRAM ? opens(world, request, program)
					     : tell(world, request, program);
	if (ran)
		CHECK(helper_tell(&world->helper, HELPER_WAIT, NULL, 0));
	return ran;
}

static bool exists(const char *path)
{
	return !access(path, F_OK);
}

static void test_programs(void)
{
	static const char *const commands[] = { "ps | cat >got", "ps -s D", "!touch beside",
						"print (a | touch)", NULL };
	struct world world;
	start(&world, commands);
	/* Before any line runs, none may do anything. */
	CHECK(!runs(&world, HELPER_PROGRAM, "cat >got"));
	CHECK(errno == EPERM);
	CHECK(begin(&world, 0));
	CHECK(!runs(&world, HELPER_PROGRAM, "cat >other"));
	CHECK(!runs(&world, HELPER_PROGRAM, "cat"));
	CHECK(!runs(&world, HELPER_BESIDE, "cat >got"));
	CHECK(!runs(&world, HELPER_PAGER, ""));
	CHECK(runs(&world, HELPER_PROGRAM, "cat >got"));
	CHECK(exists("got"));
	/* Once. */
	CHECK(!runs(&world, HELPER_PROGRAM, "cat >got"));
	CHECK(tell(&world, HELPER_CLOSE, ""));
	CHECK(!begin(&world, 0));
	CHECK(begin(&world, 1));
	CHECK(!runs(&world, HELPER_PROGRAM, "cat >got"));
	CHECK(!runs(&world, HELPER_BESIDE, ""));
	CHECK(tell(&world, HELPER_CLOSE, ""));
	CHECK(begin(&world, 2));
	CHECK(!runs(&world, HELPER_PROGRAM, "touch beside"));
	CHECK(runs(&world, HELPER_BESIDE, "touch beside"));
	CHECK(exists("beside"));
	CHECK(!runs(&world, HELPER_BESIDE, "touch beside"));
	CHECK(tell(&world, HELPER_CLOSE, ""));
	CHECK(begin(&world, 3));
	CHECK(!runs(&world, HELPER_PROGRAM, "touch)"));
	CHECK(!begin(&world, 99));
	stop(&world);
}

static void test_files(void)
{
	static const char *const commands[] = { "ps > one",
						"ps >> two",
						"btf --export three",
						"btf --diff four five",
						"print a > 5",
						"export module six seven",
						NULL };
	struct world world;
	start(&world, commands);
	CHECK(begin(&world, 0));
	CHECK(!opens(&world, HELPER_WRITE, "two"));
	CHECK(!opens(&world, HELPER_APPEND, "one"));
	CHECK(!opens(&world, HELPER_READ, "one"));
	CHECK(!opens(&world, HELPER_WRITE, "./one"));
	CHECK(!opens(&world, HELPER_WRITE, ""));
	CHECK(opens(&world, HELPER_WRITE, "one"));
	CHECK(!opens(&world, HELPER_WRITE, "one"));
	CHECK(tell(&world, HELPER_CLOSE, ""));
	CHECK(begin(&world, 1));
	CHECK(!opens(&world, HELPER_WRITE, "two"));
	CHECK(opens(&world, HELPER_APPEND, "two"));
	CHECK(tell(&world, HELPER_CLOSE, ""));
	CHECK(begin(&world, 2));
	CHECK(!opens(&world, HELPER_READ, "/etc/passwd"));
	CHECK(opens(&world, HELPER_WRITE, "three"));
	CHECK(tell(&world, HELPER_CLOSE, ""));
	CHECK(begin(&world, 3));
	CHECK(!opens(&world, HELPER_WRITE, "four"));
	CHECK(!opens(&world, HELPER_READ, "one"));
	CHECK(!opens(&world, HELPER_READ, "four") && errno == ENOENT);
	CHECK(!opens(&world, HELPER_READ, "three") && errno == EPERM);
	CHECK(tell(&world, HELPER_CLOSE, ""));
	CHECK(begin(&world, 4));
	CHECK(!opens(&world, HELPER_WRITE, "5"));
	CHECK(tell(&world, HELPER_CLOSE, ""));
	/* The last word alone is a file. */
	CHECK(begin(&world, 5));
	CHECK(!opens(&world, HELPER_WRITE, "six"));
	CHECK(!opens(&world, HELPER_READ, "seven"));
	CHECK(opens(&world, HELPER_WRITE, "seven"));
	stop(&world);
}

/* By whatever name, and whether or not its results are kept, a dump is not written to. */
static void test_dump_stays(void)
{
	static const char *const commands[] = { "export btf the-dump", "ps >> a-link", "ps > other",
						NULL };
	static const char *const dumps[] = { "none", "the-dump" };
	struct world world;
	struct stat status;
	start_with(&world, commands, (struct serve_options){ .dumps = dumps, .dump_count = 2 });
	CHECK(!system("echo 1234 >the-dump && ln -s the-dump a-link"));
	CHECK(begin(&world, 0));
	CHECK(!opens(&world, HELPER_WRITE, "the-dump") && errno == EBUSY);
	CHECK(tell(&world, HELPER_CLOSE, ""));
	CHECK(begin(&world, 1));
	CHECK(!opens(&world, HELPER_APPEND, "a-link") && errno == EBUSY);
	CHECK(tell(&world, HELPER_CLOSE, ""));
	CHECK(begin(&world, 2));
	CHECK(opens(&world, HELPER_WRITE, "other"));
	CHECK(!stat("the-dump", &status));
	CHECK_U64((uint64_t)status.st_size, 5);
	stop(&world);
}

static bool next_is(struct world *world, const char *line)
{
	struct message reply;
	bool same = helper_ask(&world->helper, HELPER_LINE, NULL, 0, &reply) &&
		    (line ? reply.kind == HELPER_GIVEN && reply.size > 8 &&
				     !strcmp((const char *)reply.data + 8, line)
			  : reply.kind == HELPER_NONE);
	message_deinit(&reply);
	return same;
}

static void write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");
	CHECK(file && fputs(text, file) >= 0);
	if (file)
		fclose(file);
}

static void test_scripts(void)
{
	static const char *const commands[] = { "script", NULL };
	struct world world;
	start(&world, commands);
	write_text("script", "# nothing\n\nalias mine = ps | cat >got\nmine\nsource inner\nps\n");
	write_text("inner", "ps > file");
	CHECK(!tell(&world, HELPER_SCRIPT, "inner"));
	CHECK(!tell(&world, HELPER_RC, ""));
	CHECK(!tell(&world, HELPER_PROMPT, ""));
	CHECK(!next_is(&world, NULL));
	CHECK(tell(&world, HELPER_SCRIPT, "script"));
	CHECK(next_is(&world, "alias mine = ps | cat >got"));
	CHECK(!runs(&world, HELPER_PROGRAM, "cat >got"));
	CHECK(next_is(&world, "mine"));
	CHECK(runs(&world, HELPER_PROGRAM, "cat >got"));
	CHECK(!tell(&world, HELPER_SCRIPT, "inner"));
	CHECK(next_is(&world, "source inner"));
	CHECK(!tell(&world, HELPER_SCRIPT, "script"));
	CHECK(tell(&world, HELPER_SCRIPT, "inner"));
	CHECK(next_is(&world, "ps > file"));
	CHECK(opens(&world, HELPER_WRITE, "file"));
	CHECK(next_is(&world, NULL));
	CHECK(tell(&world, HELPER_CLOSE, ""));
	CHECK(!tell(&world, HELPER_SCRIPT, "inner"));
	CHECK(next_is(&world, "ps"));
	CHECK(next_is(&world, NULL));
	CHECK(tell(&world, HELPER_CLOSE, ""));
	CHECK(!tell(&world, HELPER_SCRIPT, "script"));
	stop(&world);
}

/* Nonsense ends the talk; the helper neither hangs nor dies of it. */
static void test_nonsense(void)
{
	static const char *const commands[] = { "ps | cat", NULL };
	static const struct {
		uint32_t kind, size, sent;
	} bad[] = { { 0, 0, 0 },
		    { HELPER_REQUESTS, 0, 0 },
		    { UINT32_MAX, 0, 0 },
		    { HELPER_PROGRAM, UINT32_MAX, 8 },
		    { HELPER_LINE, 100, 10 },
		    { HELPER_CACHE_KEEP, UINT32_MAX, 4 },
		    { HELPER_COMPLETED, 3, 3 } };
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct world world;
		uint8_t bytes[8 + 16] = { 0 };
		int status;
		start(&world, commands);
		/* At once: it may be gone after the first 8. */
		memcpy(bytes, &bad[i], 8);
		CHECK(write(world.helper.socket, bytes, 8 + bad[i].sent) == 8 + bad[i].sent);
		CHECK(!shutdown(world.helper.socket, SHUT_WR));
		CHECK(waitpid(world.helper.pid, &status, 0) == world.helper.pid);
		CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
		close(world.helper.socket);
		world.helper.socket = -1;
		stop(&world);
	}
}

/* Without a dump, or before one, nothing is kept; and no path is asked for. */
static void test_cache_is_of_the_dump(void)
{
	static const char *const commands[] = { "ps", NULL };
	struct world world;
	char bytes[64] = "key";
	start(&world, commands);
	CHECK(!helper_tell(&world.helper, HELPER_CACHE_KEEP, bytes, sizeof(bytes)));
	CHECK(!opens(&world, HELPER_CACHE_FIND, "0123456789abcdef"));
	CHECK(!opens(&world, HELPER_CACHE_FIND, "../../etc/passwd"));
	stop(&world);
}

static void test_words(void)
{
	static const char *const good[] = { "task_struct", "se.load", "->mm",
					    "$rip",	   "--json",  "kworker/0:1H-kblockd",
					    NULL };
	static const char *const bad[] = { "source dump",
					   "a|id",
					   "a; id",
					   "a>b",
					   "$(id)",
					   "`id`",
					   "a\nid",
					   "!id",
					   "\x9b"
					   "a",
					   "\xc2\x9b",
					   "a'b",
					   "a\"b",
					   "a#b",
					   "",
					   "a&b",
					   "${a}",
					   "\x1b[2J",
					   "a\\b",
					   NULL };
	for (size_t i = 0; good[i]; i++)
		CHECK(prompt_word_is_plain(good[i]));
	for (size_t i = 0; bad[i]; i++)
		CHECK(!prompt_word_is_plain(bad[i]));
}

/* What is typed stays: a word adds to it, and is one. */
static void test_words_go_on(void)
{
	static const struct {
		const char *line, *word;
		size_t start;
		bool fits;
	} cases[] = { { "mod vi", "virtio_blk", 4, true },
		      { "mod ", "virtio_blk", 4, true },
		      { "so", "source", 0, true },
		      { "mod vi", "source", 0, false },
		      { "mod vi", "source", 4, false },
		      { "mod vi", "vi", 5, false },
		      { "mod vi", "v", 4, false },
		      { "so", "source /tmp/dump", 0, false },
		      { "mod vi", "mod virtio_blk", 0, false },
		      { "mod vi", "virtio_blk", 7, false } };
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		CHECK(prompt_word_fits(cases[i].line, cases[i].start, strlen(cases[i].line),
				       cases[i].word) == cases[i].fits);
}

/* --- TAB ----------------------------------------------------------------------------------- */

/* A prompt whose user types `keys`; it writes nowhere. */
static void start_typing(struct world *world, const char *keys)
{
	/* Any file that was not changed just now is a dump. */
	static const char *const commands[] = { NULL }, *const dumps[] = { "/proc/self/exe" };
	int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
	int input = dup(STDIN_FILENO), output = dup(STDOUT_FILENO), errors = dup(STDERR_FILENO);
	FILE *typed = tmpfile();
	CHECK(typed && fputs(keys, typed) >= 0 && !fflush(typed) &&
	      !lseek(fileno(typed), 0, SEEK_SET));
	fflush(stdout);
	CHECK(dup2(fileno(typed), STDIN_FILENO) >= 0 && dup2(nowhere, STDOUT_FILENO) >= 0 &&
	      dup2(nowhere, STDERR_FILENO) >= 0);
	start_with(world, commands,
		   (struct serve_options){
			   .interactive = true, .dumps = dumps, .dump_count = 1, .keeps = true });
	CHECK(dup2(input, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0 &&
	      dup2(errors, STDERR_FILENO) >= 0);
	fclose(typed);
	close(input);
	close(output);
	close(errors);
	close(nowhere);
}

/* The line that the user has after TAB, which is answered with one word. */
static void complete_with(const char *typed, const char *word, char line[256])
{
	struct world world;
	struct message message;
	uint8_t answer[256];
	char keys[256];
	const char *blank = strrchr(typed, ' ');
	struct helper_words head = { .start = blank ? (size_t)(blank + 1 - typed) : 0,
				     .is_partial = 1 };
	snprintf(keys, sizeof(keys), "alias mine = sys\n%s\t\n", typed);
	start_typing(&world, keys);
	CHECK(tell(&world, HELPER_PROMPT, ""));
	CHECK(next_is(&world, "alias mine = sys"));
	CHECK(helper_ask(&world.helper, HELPER_LINE, NULL, 0, &message));
	CHECK(message.kind == HELPER_COMPLETE);
	message_deinit(&message);
	memcpy(answer, &head, sizeof(head));
	memcpy(answer + sizeof(head), word, strlen(word) + 1);
	CHECK(channel_send(world.helper.socket, HELPER_COMPLETED, answer,
			   sizeof(head) + strlen(word) + 1, -1));
	CHECK(helper_hear(&world.helper, &message) && message.kind == HELPER_GIVEN);
	snprintf(line, 256, "%s", message.data ? (const char *)message.data + 8 : "");
	message_deinit(&message);
	stop(&world);
}

/* A line up to a TAB: the helper waits for words. */
static void type_to_tab(struct world *world)
{
	struct message message;
	start_typing(world, "mod vi\t\n");
	CHECK(tell(world, HELPER_PROMPT, ""));
	CHECK(helper_ask(&world->helper, HELPER_LINE, NULL, 0, &message));
	CHECK(message.kind == HELPER_COMPLETE);
	message_deinit(&message);
}

/* Words may take types from the cache, and bring some there. */
static void test_cache_behind_tab(void)
{
	static const char word[] = "virtio_blk";
	struct {
		struct cache_key key;
		char bytes[16];
	} kept = { { { 1, 2 } }, "types" };
	struct {
		struct helper_words head;
		char word[sizeof(word)];
	} answer = { .head = { .start = strlen("mod "), .is_partial = 1 } };
	struct world world;
	struct message message;
	char read[sizeof(kept.bytes)] = "";
	type_to_tab(&world);
	CHECK(helper_ask(&world.helper, HELPER_CACHE_FIND, &kept.key, sizeof(kept.key), &message));
	CHECK(message.kind == HELPER_NONE);
	message_deinit(&message);
	CHECK(helper_tell(&world.helper, HELPER_CACHE_KEEP, &kept, sizeof(kept)));
	CHECK(helper_ask(&world.helper, HELPER_CACHE_FIND, &kept.key, sizeof(kept.key), &message));
	CHECK(message.kind == HELPER_OK && message.file >= 0);
	size_t size = 0;
	void *found = message.file < 0 ? NULL : cache_file_read(message.file, &kept.key, &size);
	message.file = -1;
	message_deinit(&message);
	CHECK(found && size == sizeof(read));
	snprintf(read, sizeof(read), "%s", found ? (const char *)found : "");
	free(found);
	CHECK_STRING(read, "types");
	memcpy(answer.word, word, sizeof(word));
	CHECK(channel_send(world.helper.socket, HELPER_COMPLETED, &answer,
			   sizeof(answer.head) + sizeof(word), -1));
	CHECK(helper_hear(&world.helper, &message) && message.kind == HELPER_GIVEN);
	CHECK_STRING(message.data ? (const char *)message.data + 8 : "", "mod virtio_blk");
	message_deinit(&message);
	stop(&world);
}

/* A line that is half typed gives no rights, and is no line. */
static void test_nothing_else_behind_tab(void)
{
	static const enum helper_request requests[] = {
		HELPER_COMMAND, HELPER_SCRIPT,	HELPER_RC,     HELPER_PROMPT,  HELPER_LINE,
		HELPER_CLOSE,	HELPER_PROGRAM, HELPER_BESIDE, HELPER_PAGER,   HELPER_WAIT,
		HELPER_WRITE,	HELPER_APPEND,	HELPER_READ,   HELPER_REQUESTS
	};
	for (size_t i = 0; i < ARRAY_COUNT(requests); i++) {
		struct world world;
		int status = -1;
		type_to_tab(&world);
		CHECK(!tell(&world, requests[i], "id") && errno == ECHILD);
		CHECK(waitpid(world.helper.pid, &status, 0) == world.helper.pid);
		CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
		stop(&world);
	}
}

/* What is longer than a message is left out, and the session goes on; TAB there finds nothing. */
static void test_longest_line(void)
{
	const size_t size = HELPER_TEXT_MAX + 1;
	struct world world;
	char *line = calloc(1, size + 2);
	CHECK(line);
	memset(line, 'x', size);
	line[size] = '\n';
	/* Typed it would take long: Ctrl-P has it from the history at once. */
	start_typing(&world, "\x10\t\nps\n");
	CHECK(!mkdir("btfcrash", 0700));
	write_text("btfcrash/history", line);
	free(line);
	CHECK(tell(&world, HELPER_PROMPT, ""));
	CHECK(next_is(&world, "ps"));
	CHECK(next_is(&world, NULL));
	stop(&world);
}

/* With --no-rc, nobody has those lines run. */
static void test_no_rc(void)
{
	static const char *const commands[] = { NULL };
	struct world world;
	for (int no_rc = 0; no_rc < 2; no_rc++) {
		start_with(&world, commands,
			   (struct serve_options){ .interactive = true, .no_rc = no_rc });
		CHECK(!mkdir("btfcrash", 0700));
		write_text("btfcrash/rc", "ps > file\n");
		CHECK(tell(&world, HELPER_RC, "") == !no_rc);
		CHECK(next_is(&world, "ps > file") == !no_rc);
		CHECK(opens(&world, HELPER_WRITE, "file") == !no_rc);
		stop(&world);
	}
}

/* A word may be all but what is run, read or written. */
static void test_words_name_no_files(void)
{
	static const struct {
		const char *typed, *word;
		bool taken;
	} cases[] = { { "mod vi", "virtio_blk", true },
		      { "so", "source", true },
		      { "mi", "mine", true },
		      { "ps | so", "source", true },
		      { "alias x = ps | so", "source", true },
		      { "btf --di", "--diff", true },
		      { "ps kwor", "kworker/0:1", true },
		      { "print a | b", "b/../evil", false },
		      { "print a | ", "/tmp/evil", false },
		      { "so", "so/evil", false },
		      { "source d", "d/../dump", false },
		      { "source ", "dump", false },
		      { "ps > o", "o/../.bashrc", false },
		      { "ps >> ", "/etc/passwd", false },
		      { "print a > o", "o/../.bashrc", false },
		      { "ps >o", "o/../.bashrc", false },
		      { "ps | l", "l/../evil", false },
		      { "ps | cat f", "f/../../x", false },
		      { "!cat f", "f/../../x", false },
		      { "btf --export o", "o/../.bashrc", false },
		      { "btf --diff vmlinux ", "/etc/shadow", false },
		      { "alias x = ps > o", "o/../.bashrc", false },
		      { "alias x = source d", "d/../dump", false },
		      { "alias x = ps | l", "l/../evil", false } };
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		char line[256], wanted[256];
		const char *blank = strrchr(cases[i].typed, ' ');
		int length = cases[i].taken && blank ? (int)(blank + 1 - cases[i].typed) : 0;
		if (cases[i].taken)
			snprintf(wanted, sizeof(wanted), "%.*s%s", length, cases[i].typed,
				 cases[i].word);
		else
			snprintf(wanted, sizeof(wanted), "%s", cases[i].typed);
		complete_with(cases[i].typed, cases[i].word, line);
		CHECK_STRING(line, wanted);
	}
}

/* --- the running kernel ----------------------------------------------------------------------- */

static size_t read_whole(int file, uint8_t *buffer, size_t size)
{
	size_t done = 0;
	ssize_t part;
	while (done < size && (part = read(file, buffer + done, size - done)) > 0)
		done += (size_t)part;
	return done;
}

/* The bytes that come back; NULL: words, which are in `lack`. */
static uint8_t *facts(struct world *world, enum helper_request request, const char *text,
		      size_t *ret_size, char lack[256])
{
	struct message reply;
	uint8_t *bytes = NULL;
	CHECK(helper_ask(&world->helper, request, text, strlen(text), &reply));
	snprintf(lack, 256, "%s", (const char *)reply.data);
	CHECK(reply.kind == (reply.file < 0 ? HELPER_NONE : HELPER_OK));
	struct stat status;
	if (reply.file >= 0 && !fstat(reply.file, &status)) {
		*ret_size = (size_t)status.st_size;
		bytes = malloc(*ret_size + 1);
		CHECK(pread(reply.file, bytes, *ret_size, 0) == status.st_size);
	}
	message_deinit(&reply);
	return bytes;
}

/* `make LIBBPF=no` has but one answer. */
static bool says(const char *lack, const char *words)
{
	return strstr(lack, words) || !strcmp(lack, "this program was built without libbpf");
}

/* What whoever was taken over may not have read for him: other files, called modules. */
static void test_running_kernel(void)
{
	static const char *const commands[] = { "sys", NULL };
	static const char *const paths[] = {
		"../btf/vmlinux", "/sys/kernel/btf/vmlinux", "", ".", "..", "a/b", "x%n"
	};
	struct world world;
	char lack[256];
	size_t size;
	start_with(&world, commands, (struct serve_options){ .live = true });
	for (size_t i = 0; i < ARRAY_COUNT(paths); i++) {
		CHECK(!facts(&world, HELPER_KERNEL_BTF, paths[i], &size, lack));
		CHECK(says(lack, "module's name"));
	}
	int file = open("/sys/kernel/btf/vmlinux", O_RDONLY | O_CLOEXEC);
	uint8_t *ours = facts(&world, HELPER_KERNEL_BTF, "vmlinux", &size, lack);
	if (file < 0) {
		CHECK(!ours && says(lack, "no /sys/kernel/btf/vmlinux"));
	} else if (ours) {
		uint8_t *theirs = malloc(size + 1);
		CHECK(read_whole(file, theirs, size + 1) == size);
		CHECK(!memcmp(ours, theirs, size));
		free(theirs);
	} else {
		CHECK(says(lack, "/sys/kernel/btf/vmlinux: libbpf: "));
	}
	free(ours);
	CHECK(!facts(&world, HELPER_KERNEL_BTF, "no_such_module", &size, lack));
	CHECK(says(lack, "/sys/kernel/btf/"));
	if (file >= 0)
		close(file);
	stop(&world);
}

/* A dump is of another kernel: nothing of this one is told. */
static void test_dump_and_running_kernel(void)
{
	static const enum helper_request requests[] = { HELPER_KERNEL_BTF, HELPER_BPF_PROGRAMS,
							HELPER_BPF_MAPS };
	static const char *const commands[] = { "sys", NULL };
	struct world world;
	char lack[256];
	size_t size;
	start(&world, commands);
	for (size_t i = 0; i < ARRAY_COUNT(requests); i++) {
		CHECK(!facts(&world, requests[i], "vmlinux", &size, lack));
		CHECK(!strcmp(lack, "this is no running kernel"));
	}
	stop(&world);
}

int main(void)
{
	RUN(test_programs);
	RUN(test_files);
	RUN(test_dump_stays);
	RUN(test_scripts);
	RUN(test_nonsense);
	RUN(test_cache_is_of_the_dump);
	RUN(test_words);
	RUN(test_words_go_on);
	RUN(test_words_name_no_files);
	RUN(test_cache_behind_tab);
	RUN(test_nothing_else_behind_tab);
	RUN(test_longest_line);
	RUN(test_no_rc);
	RUN(test_running_kernel);
	RUN(test_dump_and_running_kernel);
	return test_finish();
}
