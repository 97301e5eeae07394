// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * TAB, answered by a reader that a dump has taken over: it may name things, and whatever it names,
 * the line may do the same as with any other name.
 */
#include "tests/unit/debugger/helper/world.h"

#include "base/array.h"
#include "base/ascii.h"
#include "debugger/command/alias.h"
#include "debugger/command/command.h"
#include "debugger/helper/serve_private.h"
#include "debugger/helper/words.h"
#include <sys/socket.h>

#define LINE_SIZE  512
#define REPLY_SIZE 16384

/* --- at the prompt ------------------------------------------------------------------------- */

/* The line that the user has after TAB; what is asked is answered with `words`. */
static void complete_with(const char *typed, const char *words, size_t size, char line[LINE_SIZE])
{
	struct world world;
	struct message message;
	char keys[LINE_SIZE];
	snprintf(keys, sizeof(keys), "alias mine = sys\n%s\t\n", typed);
	start_typing(&world, keys);
	CHECK(tell(&world, HELPER_PROMPT, ""));
	CHECK(next_is(&world, "alias mine = sys"));
	CHECK(helper_ask(&world.helper, HELPER_LINE, NULL, 0, &message));
	while (message.kind == HELPER_COMPLETE) {
		message_deinit(&message);
		CHECK(channel_send(world.helper.socket, HELPER_COMPLETED, words, size, -1));
		if (!helper_hear(&world.helper, &message))
			break;
	}
	CHECK(message.kind == HELPER_GIVEN);
	snprintf(line, LINE_SIZE, "%s", message.data ? (const char *)message.data + 8 : "");
	message_deinit(&message);
	stop(&world);
}

/* Names are taken where one may stand; programs, files, options and commands are not. */
static void test_names_at_the_prompt(void)
{
	static const struct {
		const char *typed, *word, *added;
	} cases[] = {
		{ "mod vi", "virtio_blk", "rtio_blk " },
		{ "mod dm", "dm-mod", "-mod " },
		{ "ps syst", "systemd-udevd", "emd-udevd " },
		{ "print init_task.co", "comm", "mm " },
		{ "print $ri", "rip", "p " },
		{ "sym __pfx", "__pfx.constprop.0", ".constprop.0 " },
		{ "sour", "sour/evil", "ce " },
		{ "mi", "mi/evil", "ne " },
		{ "ps | sour", "ps | source evil", "ce " },
		{ "btf --di", "--diff=evil", "ff " },
		{ "report --h", "--html=evil", "tml " },
		{ "report --html", "--html=evil", " " },
		{ "report ", "--html=evil", "" },
		{ "btf --export", "--export=evil", "" },
		{ "btf --e", "--export=evil", "xport" },
		{ "btf -", "--export", "-" },
		{ "foreach sourc", "source", "" },
		{ "foreach sys", "systemd", "temd " },
		{ "ps kwor", "kworker/0:1", "" },
		{ "ps a", "a=b", "" },
		{ "ps ", "-x", "" },
		{ "ps a", "a b", "" },
		{ "print a", "a|id", "" },
		{ "print a", "a;id", "" },
		{ "print a", "a$(id)", "" },
		{ "print a", "a\x9b", "" },
		{ "print a", "a\x1b[2J", "" },
		{ "print a", "a'b", "" },
		{ "print a", "a\\b", "" },
		{ "print a", "b", "" },
		{ "print a | b", "b/../evil", "" },
		{ "print a | ", "/tmp/evil", "" },
		{ "source d", "d/../dump", "" },
		{ "source d", "dump", "" },
		{ "ps > o", "out", "" },
		{ "ps >> ", "/etc/passwd", "btfcrash/" },
		{ "print a > o", "out", "" },
		{ "ps >o", "out", "" },
		{ "ps | l", "l/../evil", "" },
		{ "ps | cat f", "file", "" },
		{ "!cat f", "file", "" },
		{ "btf --export o", "out", "" },
		{ "btf --diff vmlinux ", "/etc/shadow", "btfcrash/" },
		{ "alias x = ps > o", "out", "" },
		{ "alias x = source d", "dump", "" },
		{ "alias x = ps | l", "less", "" },
	};
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		char line[LINE_SIZE], wanted[LINE_SIZE];
		snprintf(wanted, sizeof(wanted), "%s%s", cases[i].typed, cases[i].added);
		complete_with(cases[i].typed, cases[i].word, strlen(cases[i].word) + 1, line);
		CHECK_STRING(line, wanted);
	}
}

/* Several words leave what they have in common, which nobody has offered as a word. */
static void test_common_part(void)
{
	static const char harmless[] = "virtio_blk\0virtio_net\0", command[] = "sourceA\0sourceB\0";
	char line[LINE_SIZE];
	complete_with("mod v", harmless, sizeof(harmless) - 1, line);
	CHECK_STRING(line, "mod virtio_");
	complete_with("foreach sour", command, sizeof(command) - 1, line);
	CHECK_STRING(line, "foreach sour");
}

/* --- whatever it names ---------------------------------------------------------------------- */

/* What a dump would call something to get more. */
static const char *const names[] = {
	"0",	  "1",		"42",	      "sh",	   "cat",     "id",	 "less",
	"html",	  "export",	"tiers",      "columns",   "json",    "a-b",	 "a.b",
	"a$b",	  "$rip",	"a@b",	      "a+b",	   "a:b",     "x--html", "-html",
	"--html", "--html=x",	"--export=x", "--columns", "-c",      "/bin/sh", "a/b",
	"..",	  ".",		"~",	      "a>b",	   ">x",      "a|sh",	 "|sh",
	"!sh",	  "a b",	"a;b",	      "'a",	   "\"a",     "a\\",	 "(a",
	"a)",	  "{a",		"a}",	      "[a",	   "a]",      "#",	 "a#b",
	"=x",	  "a=b",	"a\nb",	      "a\tb",	   "\x1b[2J", "*",	 "?",
	"_",	  "task_struct"
};

/* What stands behind a name in lines, and what its user goes on with. */
static const char *const tails[] = {
	"",	     " 8", " out",     " 8 out",    " > out",	   " >> out",	     " | cat",
	" | !cat x", "=x", ".x > out", " --html o", " --export o", " | print ->comm"
};

static const char *const lines[] = {
	"report --html x",
	"report ",
	"btf --export x",
	"btf --export-variables x ",
	"btf --diff a b",
	"export vmlinux init_task out",
	"export module x out",
	"export btf --tiers x out",
	"extract init /bin/sh out",
	"gcore 1 out",
	"gcore  out",
	"source x",
	"print init_task | cat x",
	"print init_task > x",
	"print a | b | sh",
	"ps |so",
	"ps >o",
	"ps x|cat",
	"ps 1 > out",
	"foreach 1 bt",
	"foreach bash source x",
	"foreach a b c print x > y",
	"foreach a print init_task.c | cat",
	"alias x = source a",
	"alias x = ps | cat",
	"alias x",
	"alias x = ps | print init",
	"alias x = ps | bt 1",
	"unalias x",
	"mine ",
	"shut ",
	"paged ",
	"out ",
	"task_struct.pid init",
	"!cat x",
	"help sour",
	"sql SELECT pid FROM tasks",
	"rd init_task 8",
	"dis -s schedule 4",
	"bt -c 0 1",
	"mod virtio_blk",
	"struct task_struct.se",
	"print init_task{pid, comm",
	"print $rip + x",
	"print sizeof(struct list_head)",
	"list -s pid,comm task_struct.tasks init_task",
	"search -k init",
	"ps -g 1",
	"mappings -m 1",
	"gdb print init",
	"p/x init",
};

struct trial {
	struct server server;
	int other; /* the reader's end */
	char reply[REPLY_SIZE];
	size_t size;
	size_t taken; /* names, for the test to be one */
};

static void put(struct trial *trial, const char *prefix, int length, const char *word)
{
	size_t left = sizeof(trial->reply) - trial->size;
	int size = snprintf(trial->reply + trial->size, left, "%.*s%s", length, prefix, word);
	if (size >= 0 && (size_t)size + 1 < left)
		trial->size += (size_t)size + 1;
}

static void drain(int socket)
{
	char bytes[4096];
	while (recv(socket, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		;
}

/* What TAB offers where each question is answered with trial->reply. */
static void find(struct trial *trial, const char *line, size_t point, struct completions *ret)
{
	*ret = (struct completions){ 0 };
	for (int i = 0; i < 2; i++)
		CHECK(channel_send(trial->other, HELPER_COMPLETED, trial->reply, trial->size, -1));
	CHECK(words_find(&trial->server, line, point, ret));
	drain(trial->other);
	drain(trial->server.socket);
}

static void grant_of(struct trial *trial, const char *line, size_t start, size_t point,
		     const char *word, const char *tail, struct grant *ret)
{
	char text[2 * LINE_SIZE];
	snprintf(text, sizeof(text), "%.*s%s%s%s", (int)start, line, word, line + point, tail);
	grant_init(ret, &trial->server.session, text);
}

/* Whatever is typed behind it, the line may do the same with this name as with others. */
static void check_name(struct trial *trial, const char *line, size_t start, size_t point,
		       const char *name)
{
	static const char *const words[] = { "zz_other", "Y.isra.0", "x9" }, *const numbers[] = {
		"7"
	};
	bool is_number = !name[strspn(name, "0123456789")];
	const char *const *others = is_number ? numbers : words;
	for (size_t i = 0; i < ARRAY_COUNT(tails); i++) {
		struct grant one, other;
		grant_of(trial, line, start, point, name, tails[i], &one);
		for (size_t k = 0; k < (is_number ? ARRAY_COUNT(numbers) : ARRAY_COUNT(words));
		     k++) {
			grant_of(trial, line, start, point, others[k], tails[i], &other);
			bool same = grant_equal(&one, &other);
			if (!same)
				printf("\"%s\" in [%zu, %zu) of \"%s\", then \"%s\"\n", name, start,
				       point, line, tails[i]);
			CHECK(same);
			grant_deinit(&other);
		}
		grant_deinit(&one);
	}
	/* What an alias stands for is not seen in its own line. */
	CHECK(strncmp(line, "alias ", strlen("alias ")) != 0);
	trial->taken++;
}

static bool has(const struct completions *words, const char *word)
{
	for (size_t i = 0; i < words->count; i++)
		if (!strcmp(words->words[i], word))
			return true;
	return false;
}

static void try_at(struct trial *trial, const char *line, size_t point)
{
	struct completions own, all;
	trial->size = 0;
	find(trial, line, point, &own);
	size_t identifier = point;
	while (identifier && (ascii_is_alnum(line[identifier - 1]) || line[identifier - 1] == '_'))
		identifier--;
	const size_t starts[] = { own.start, identifier };
	for (size_t s = 0; s < 2; s++) {
		int typed = (int)(point - starts[s]);
		for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
			put(trial, line + starts[s], typed, names[i]);
			put(trial, "", 0, names[i]);
		}
		for (size_t i = 0; commands[i]; i++)
			if (!strncmp(commands[i]->name, line + starts[s], (size_t)typed))
				put(trial, "", 0, commands[i]->name);
	}
	find(trial, line, point, &all);
	for (size_t i = 0; i < all.count; i++) {
		CHECK(!strncmp(all.words[i], line + all.start, point - all.start));
		if (!has(&own, all.words[i]))
			check_name(trial, line, all.start, point, all.words[i]);
	}
	/* Which of our own words there are is not for a reader to say. */
	for (size_t i = 0; i < own.count; i++)
		CHECK(has(&all, own.words[i]) || own.start != all.start);
	completions_deinit(&own);
	completions_deinit(&all);
}

static void try_line(struct trial *trial, const char *line, size_t step)
{
	size_t length = strlen(line);
	for (size_t point = 0; point <= length && length < LINE_SIZE; point++)
		if (point % step == 0 || point == length || line[point] == ' ')
			try_at(trial, line, point);
}

static void test_any_name_is_like_another(void)
{
	static const char *const aliases[] = { "alias mine = sys", "alias shut = report --html",
					       "alias paged = ps | less", "alias out = ps > " };
	struct trial trial = { 0 };
	int ends[2];
	CHECK(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends));
	trial.server.socket = ends[0];
	trial.server.options = &(const struct serve_options){ 0 };
	trial.other = ends[1];
	for (size_t i = 0; i < ARRAY_COUNT(aliases); i++)
		alias_learn(&trial.server.session, aliases[i]);
	for (size_t i = 0; i < ARRAY_COUNT(lines); i++)
		try_line(&trial, lines[i], 1);
	for (size_t i = 0; commands[i]; i++) {
		const char *const *examples = command_examples(commands[i]);
		for (size_t k = 0; examples && examples[k]; k++)
			try_line(&trial, examples[k], 11);
	}
	CHECK(trial.taken > 10000);
	aliases_deinit(&trial.server.session);
	close(ends[0]);
	close(ends[1]);
}

int main(void)
{
	RUN(test_names_at_the_prompt);
	RUN(test_common_part);
	RUN(test_any_name_is_like_another);
	return test_finish();
}
