// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A reader that a dump has taken over says what it likes: every kind of message, with every kind of
 * bytes, at every moment. Nothing is run and no file is made that no line names, and the helper
 * neither crashes, nor hangs, nor grows. With an argument it prints what came of each kind.
 */
#include "tests/unit/debugger/helper/world.h"

#include "base/array.h"
#include "tests/unit/chance.h"
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define SECONDS	  60
#define GROWTH_KB (64 << 10)
#if defined(__SANITIZE_ADDRESS__)
#define IS_SANITIZED true
#else
#define IS_SANITIZED false
#endif

/* --- moments ------------------------------------------------------------------------------ */

enum moment {
	BEFORE_LINES,
	AT_LINE,       /* one that may do nothing */
	AT_GRANT,      /* one that may write `one` */
	AT_PROGRAM,    /* its program runs */
	BEFORE_PROMPT, /* nothing is typed yet */
	BEHIND_TAB,    /* names are asked for */
	WHILE_TYPING,  /* half a line */
	MOMENTS
};

static const char *const moment_names[] = { "before lines", "at a line",     "at a line > one",
					    "at a program", "at the prompt", "behind TAB",
					    "while typing" };

static const char *const sources[] = { "ps", "ps > one", "ps | cat >got", NULL };

static void begin_at(struct world *world, enum moment moment)
{
	struct message message = { .file = -1 };
	int ends[2];
	if (moment < BEFORE_PROMPT) {
		start(world, sources);
	} else {
		CHECK(!pipe(ends));
		CHECK(write(ends[1], "mod vi\t", 7) == 7);
		start_at_prompt(world, ends[0]);
		CHECK(tell(world, HELPER_PROMPT, ""));
		close(ends[0]);
		/* The end of keys would be one of the session. */
		world->keys = ends[1];
	}
	if (moment >= AT_LINE && moment <= AT_PROGRAM)
		CHECK(begin(world, (uint32_t)(moment - AT_LINE)));
	if (moment == AT_PROGRAM) {
		world->pipe = helper_file(&world->helper, HELPER_PROGRAM, "cat >got");
		CHECK(world->pipe >= 0);
		/* The folder shall not go from under it. */
		while (access("got", F_OK))
			usleep(1000);
	}
	if (moment == BEHIND_TAB || moment == WHILE_TYPING) {
		CHECK(helper_ask(&world->helper, HELPER_LINE, NULL, 0, &message));
		CHECK(message.kind == HELPER_COMPLETE);
	}
	if (moment == WHILE_TYPING)
		CHECK(channel_send(world->helper.socket, HELPER_COMPLETED, "", 0, -1));
	message_deinit(&message);
}

/* Every file there is one that a line names, or one of the helper's own folder. */
static void check_files(enum moment moment, uint32_t kind)
{
	DIR *folder = opendir(".");
	CHECK(folder);
	for (struct dirent *entry; folder && (entry = readdir(folder));) {
		bool is_ours = *entry->d_name == '.' || !strcmp(entry->d_name, "btfcrash") ||
			       (moment == AT_GRANT && !strcmp(entry->d_name, "one")) ||
			       (moment == AT_PROGRAM && !strcmp(entry->d_name, "got"));
		if (!is_ours)
			printf("%s: a message of kind %u made %s\n", moment_names[moment], kind,
			       entry->d_name);
		CHECK(is_ours);
	}
	if (folder)
		closedir(folder);
}

/* The program that gets its input from there ends then. */
static void close_pipe(struct world *world)
{
	if (world->pipe >= 0)
		close(world->pipe);
	world->pipe = -1;
}

/* It ends by itself, in order; returns its greatest size in KiB. */
static long end_helper(struct world *world)
{
	struct rusage usage = { 0 };
	int status = -1;
	close(world->helper.socket);
	world->helper.socket = -1;
	close_pipe(world);
	/* Its children would be its end, not that of this test. */
	CHECK(wait4(world->helper.pid, &status, 0, &usage) == world->helper.pid);
	CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
	if (world->keys >= 0)
		close(world->keys);
	return usage.ru_maxrss;
}

/* --- messages ------------------------------------------------------------------------------- */

struct content {
	const char *name, *bytes;
	uint32_t size; /* 0: of the text */
};

#define TEXT(text)                                                                                 \
	{                                                                                          \
#text, text, sizeof(text) - 1                                                      \
	}
#define HELPER_TOO_MUCH (HELPER_CACHE_MAX + 1)

static const struct content contents[] = {
	{ "nothing", "", 0 },
	TEXT("touch evil"),
	TEXT("one"),
	TEXT("cat >got"),
	TEXT("one\0evil"),
	TEXT("../../../../../../etc/passwd"),
	TEXT("vmlinux"),
	TEXT("\1\0\0\0"),
	TEXT("\377\377\377\377"),
	TEXT("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0evil"),
	TEXT("0123456789abcdef"),
	TEXT("virtio_blk\0virtio_net\0--html=evil\0> evil\0"),
	{ "1 MiB", NULL, 1u << 20 },
	{ "1 MiB and a byte", NULL, (1u << 20) + 1 },
	{ "64 MiB and a byte", NULL, HELPER_TOO_MUCH },
};

static const uint32_t no_requests[] = { 0, HELPER_REQUESTS, HELPER_OK, HELPER_COMPLETE,
					UINT32_MAX };
#define KINDS (HELPER_REQUESTS - 1 + ARRAY_COUNT(no_requests))

static uint32_t kind_at(size_t index)
{
	return index < HELPER_REQUESTS - 1 ? (uint32_t)index + 1
					   : no_requests[index - (HELPER_REQUESTS - 1)];
}

/* What comes with the others is looked at by nobody. */
static bool reads_content(uint32_t kind)
{
	static const enum helper_request kinds[] = {
		HELPER_COMMAND, HELPER_SCRIPT,	   HELPER_COMPLETED,  HELPER_PROGRAM,
		HELPER_BESIDE,	HELPER_WRITE,	   HELPER_APPEND,     HELPER_EMPTY,
		HELPER_READ,	HELPER_CACHE_FIND, HELPER_CACHE_KEEP, HELPER_KERNEL_BTF
	};
	for (size_t i = 0; i < ARRAY_COUNT(kinds); i++)
		if (kinds[i] == kind)
			return true;
	return false;
}

enum outcome { REFUSED, NONE, DONE, OPENED, ASKED, ENDED, OUTCOMES };
static const char *const outcome_names[] = { "refused", "nothing there", "done",
					     "a file",	"a line",	 "ended" };

struct tally {
	unsigned int counts[KINDS][OUTCOMES];
};

/* False: it has ended meanwhile, which is one answer. */
static bool say(struct world *world, uint32_t kind, const struct content *content, bool with_file)
{
	static uint8_t zeros[HELPER_TOO_MUCH];
	const void *bytes = content->bytes ? (const void *)content->bytes : zeros;
	int file = with_file ? open("/dev/null", O_RDONLY | O_CLOEXEC) : -1;
	bool sent = channel_send(world->helper.socket, kind, bytes, content->size, file);
	if (file >= 0)
		close(file);
	return sent;
}

static enum outcome outcome_of(const struct message *reply)
{
	if (reply->file >= 0)
		return OPENED;
	switch (reply->kind) {
	case HELPER_OK:
		return DONE;
	case HELPER_ERRNO:
		return REFUSED;
	case HELPER_NONE:
		return NONE;
	default:
		return ASKED;
	}
}

/* All that comes until it ends. Returns what came first. */
static enum outcome hear_all(struct world *world, bool may_open)
{
	struct message reply;
	enum outcome first = ENDED;
	CHECK(!shutdown(world->helper.socket, SHUT_WR));
	while (helper_hear(&world->helper, &reply)) {
		enum outcome outcome = outcome_of(&reply);
		CHECK(outcome != OPENED || may_open);
		first = first == ENDED ? outcome : first;
		message_deinit(&reply);
	}
	return first;
}

static bool is(const struct content *content, const char *text)
{
	return content->bytes && content->size == strlen(text) && !strcmp(content->bytes, text);
}

static void try_message(enum moment moment, size_t index, const struct content *content,
			bool with_file, struct tally *tally)
{
	struct world world;
	uint32_t kind = kind_at(index);
	alarm(SECONDS);
	begin_at(&world, moment);
	bool may_open = moment == AT_GRANT && kind == HELPER_WRITE && is(content, "one");
	if (kind == HELPER_WAIT)
		close_pipe(&world);
	(void)say(&world, kind, content, with_file);
	enum outcome outcome = hear_all(&world, may_open && !with_file);
	CHECK(!with_file || outcome == ENDED);
	tally->counts[index][outcome]++;
	long size = end_helper(&world);
	CHECK(IS_SANITIZED || size < GROWTH_KB + (long)(content->size >> 10) * 2);
	check_files(moment, kind);
	stop(&world);
}

static void print_table(const struct tally *tally)
{
	for (size_t index = 0; index < KINDS; index++) {
		printf("kind %2u:", kind_at(index));
		for (size_t i = 0; i < OUTCOMES; i++)
			if (tally->counts[index][i])
				printf(" %s %u", outcome_names[i], tally->counts[index][i]);
		putchar('\n');
	}
}

static void try_kind(enum moment moment, size_t index, struct tally *tally)
{
	bool reads = reads_content(kind_at(index));
	/* Each is a process of its own, which sanitizers make slow. */
	const size_t step = IS_SANITIZED ? 4 : 1;
	for (size_t i = index % step; i < ARRAY_COUNT(contents) && (reads || i < 3); i += step)
		if (contents[i].bytes || moment == BEFORE_LINES || moment == BEHIND_TAB)
			try_message(moment, index, &contents[i], false, tally);
	try_message(moment, index, &contents[1], true, tally);
}

/* Static: tests have no arguments. */
static struct tally told;

static void test_every_message(void)
{
	for (enum moment moment = 0; moment < MOMENTS; moment++)
		for (size_t index = 0; index < KINDS; index++)
			try_kind(moment, index, &told);
	alarm(0);
}

/* --- many of them ------------------------------------------------------------------------------
 */

#define TALKS	   60
#define TALK_WORDS 40

/* Hears one answer at most: to some messages there is none. */
static bool hear_one(struct world *world)
{
	struct message reply;
	struct timeval soon = { .tv_usec = 20000 };
	CHECK(!setsockopt(world->helper.socket, SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof(soon)));
	bool heard = helper_hear(&world->helper, &reply);
	message_deinit(&reply);
	return heard;
}

/* Text with a NUL inside ends the talk, as no other content does. */
static bool is_text(const struct content *content, uint32_t kind)
{
	bool wants_text = kind == HELPER_SCRIPT || kind == HELPER_IS_PROGRAM ||
			  kind == HELPER_PROGRAM || kind == HELPER_BESIDE || kind == HELPER_WRITE ||
			  kind == HELPER_APPEND || kind == HELPER_EMPTY || kind == HELPER_READ ||
			  kind == HELPER_LIST || kind >= HELPER_KERNEL_BTF;
	return kind != HELPER_COMPLETED &&
	       (!wants_text || !memchr(content->bytes, 0, content->size));
}

/* Any number of messages in any order, on lines that may do a little. */
static void test_talks(void)
{
	uint64_t state = 33;
	for (int i = 0; i < TALKS; i++) {
		struct world world;
		enum moment moment = i % 2 ? AT_GRANT : AT_PROGRAM;
		alarm(SECONDS);
		begin_at(&world, moment);
		for (int k = 0; k < TALK_WORDS; k++) {
			/* Those that are none would be its end. */
			uint32_t kind = 1 + next_random(&state) % (HELPER_REQUESTS - 1);
			size_t at = next_random(&state) % ARRAY_COUNT(contents);
			bool waits = kind == HELPER_WAIT && world.pipe >= 0;
			if (!contents[at].bytes || waits || !is_text(&contents[at], kind))
				continue;
			if (!say(&world, kind, &contents[at], false) || !hear_one(&world))
				break;
		}
		end_helper(&world);
		check_files(moment, 0);
		stop(&world);
	}
	alarm(0);
}

/* It keeps nothing of what it is asked. */
static void test_no_growth(void)
{
	static const uint32_t kinds[] = { HELPER_PROGRAM, HELPER_WRITE,	     HELPER_READ,
					  HELPER_SCRIPT,  HELPER_CACHE_FIND, HELPER_CACHE_KEEP,
					  HELPER_COMMAND, HELPER_PAGER,	     HELPER_KERNEL_BTF };
	struct world world;
	struct message reply;
	alarm(SECONDS);
	begin_at(&world, AT_LINE);
	for (size_t i = 0; i < 9000; i++) {
		uint32_t kind = kinds[i % ARRAY_COUNT(kinds)];
		CHECK(say(&world, kind, &contents[1], false));
		CHECK(helper_hear(&world.helper, &reply));
		message_deinit(&reply);
	}
	long size = end_helper(&world);
	CHECK(IS_SANITIZED || size < GROWTH_KB);
	check_files(AT_LINE, 0);
	stop(&world);
	alarm(0);
}

/* A hundred thousand words behind TAB: as many as anybody reads are looked at, and none is shown
 * to who wants none. */
static void test_words_without_end(void)
{
	const size_t size = HELPER_TEXT_MAX;
	struct world world;
	struct message reply;
	char *words = calloc(1, size);
	CHECK(words);
	for (size_t i = 0; i < size; i += 8)
		snprintf(words + i, 8, "vi%05zu", (i / 8) % 100000);
	alarm(SECONDS);
	begin_at(&world, BEHIND_TAB);
	CHECK(channel_send(world.helper.socket, HELPER_COMPLETED, words, size, -1));
	CHECK(write(world.keys, "n\n", 2) == 2);
	CHECK(helper_hear(&world.helper, &reply) && reply.kind == HELPER_GIVEN);
	CHECK_STRING(reply.data ? (const char *)reply.data + 8 : "", "mod vi0");
	message_deinit(&reply);
	long grown = end_helper(&world);
	CHECK(IS_SANITIZED || grown < GROWTH_KB);
	stop(&world);
	free(words);
	alarm(0);
}

/* A reader that asks for all that a TAB may need, again and again, before it names anything. */
static void test_questions_behind_tab(void)
{
	struct world world;
	struct message reply;
	alarm(SECONDS);
	begin_at(&world, BEHIND_TAB);
	for (size_t i = 0; i < 5000; i++) {
		uint32_t kind = i % 2 ? HELPER_CACHE_FIND : HELPER_CACHE_KEEP;
		CHECK(say(&world, kind, &contents[9], false));
		CHECK(helper_hear(&world.helper, &reply));
		message_deinit(&reply);
	}
	long size = end_helper(&world);
	CHECK(IS_SANITIZED || size < GROWTH_KB);
	check_files(BEHIND_TAB, 0);
	stop(&world);
	alarm(0);
}

/* Ctrl-C, and no names come, nor anything else; or nothing but questions. */
static void test_silence_behind_tab(void)
{
	for (int asks = 0; asks < 2; asks++) {
		struct world world;
		int status = -1;
		alarm(SECONDS);
		begin_at(&world, BEHIND_TAB);
		CHECK(!kill(world.helper.pid, SIGINT));
		while (asks && say(&world, HELPER_CACHE_FIND, &contents[10], false))
			if (!hear_one(&world))
				break;
		CHECK(waitpid(world.helper.pid, &status, 0) == world.helper.pid);
		CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
		close(world.helper.socket);
		close(world.keys);
		world.helper.socket = -1;
		stop(&world);
	}
	alarm(0);
}

int main(int argc, char **argv)
{
	(void)argv;
	signal(SIGPIPE, SIG_IGN);
	RUN(test_every_message);
	RUN(test_talks);
	RUN(test_no_growth);
	RUN(test_words_without_end);
	RUN(test_questions_behind_tab);
	RUN(test_silence_behind_tab);
	if (argc > 1)
		print_table(&told);
	return test_finish();
}
