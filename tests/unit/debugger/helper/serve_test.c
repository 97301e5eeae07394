// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The helper process, asked by one that a dump has taken over: it gets what the user's line names,
 * once, and nothing else.
 */
#include "tests/unit/debugger/helper/world.h"

#include "base/array.h"
#include "base/cache_file.h"
#include <errno.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

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

/* --- TAB ----------------------------------------------------------------------------------- */

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
	CHECK(channel_send(world.helper.socket, HELPER_COMPLETED, word, sizeof(word), -1));
	CHECK(helper_hear(&world.helper, &message) && message.kind == HELPER_GIVEN);
	CHECK_STRING(message.data ? (const char *)message.data + 8 : "", "mod virtio_blk ");
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
	RUN(test_cache_behind_tab);
	RUN(test_nothing_else_behind_tab);
	RUN(test_longest_line);
	RUN(test_no_rc);
	RUN(test_running_kernel);
	RUN(test_dump_and_running_kernel);
	return test_finish();
}
