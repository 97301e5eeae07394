/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A helper process in a folder of its own, for tests that ask it as a reader of dumps would. */
#ifndef TESTS_UNIT_DEBUGGER_HELPER_WORLD_H
#define TESTS_UNIT_DEBUGGER_HELPER_WORLD_H

#include "tests/unit/test.h"

#include "debugger/helper/serve.h"
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct world {
	char folder[64], script[128];
	struct source sources[8];
	struct serve_options options;
	struct helper_link helper;
	int keys, pipe; /* of a test that uses them; -1 */
};

static inline void start_with(struct world *world, const char *const *commands,
			      struct serve_options options)
{
	*world = (struct world){ .folder = "/tmp/btfcrash-serve-XXXXXX", .keys = -1, .pipe = -1 };
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

static inline void start(struct world *world, const char *const *commands)
{
	start_with(world, commands, (struct serve_options){ 0 });
}

static inline void stop(struct world *world)
{
	char command[128];
	helper_end(&world->helper);
	CHECK(!chdir("/"));
	snprintf(command, sizeof(command), "rm -r %s", world->folder);
	CHECK(!system(command));
}

static inline bool begin(struct world *world, uint32_t number)
{
	return helper_tell(&world->helper, HELPER_COMMAND, &number, sizeof(number));
}

static inline bool tell(struct world *world, enum helper_request request, const char *text)
{
	return helper_tell(&world->helper, request, text, strlen(text));
}

/* Whether an open file comes back. */
static inline bool opens(struct world *world, enum helper_request request, const char *text)
{
	int file = helper_file(&world->helper, request, text);
	if (file < 0)
		return false;
	close(file);
	return true;
}

static inline bool runs(struct world *world, enum helper_request request, const char *program)
{
	bool ran = request == HELPER_PROGRAM ? opens(world, request, program)
					     : tell(world, request, program);
	if (ran)
		CHECK(helper_tell(&world->helper, HELPER_WAIT, NULL, 0));
	return ran;
}

static inline bool exists(const char *path)
{
	return !access(path, F_OK);
}

static inline bool next_is(struct world *world, const char *line)
{
	struct message reply;
	bool same = helper_ask(&world->helper, HELPER_LINE, NULL, 0, &reply) &&
		    (line ? reply.kind == HELPER_GIVEN && reply.size > 8 &&
				     !strcmp((const char *)reply.data + 8, line)
			  : reply.kind == HELPER_NONE);
	message_deinit(&reply);
	return same;
}

static inline void write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");
	CHECK(file && fputs(text, file) >= 0);
	if (file)
		fclose(file);
}

/* A prompt whose user's keys come from a file; it writes nowhere. */
static inline void start_at_prompt(struct world *world, int keys)
{
	/* Any file that was not changed just now is a dump. */
	static const char *const commands[] = { NULL }, *const dumps[] = { "/proc/self/exe" };
	int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
	int input = dup(STDIN_FILENO), output = dup(STDOUT_FILENO), errors = dup(STDERR_FILENO);
	fflush(stdout);
	CHECK(dup2(keys, STDIN_FILENO) >= 0 && dup2(nowhere, STDOUT_FILENO) >= 0 &&
	      dup2(nowhere, STDERR_FILENO) >= 0);
	start_with(world, commands,
		   (struct serve_options){
			   .interactive = true, .dumps = dumps, .dump_count = 1, .keeps = true });
	CHECK(dup2(input, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0 &&
	      dup2(errors, STDERR_FILENO) >= 0);
	close(input);
	close(output);
	close(errors);
	close(nowhere);
}

/* The same whose user has typed these already. */
static inline void start_typing(struct world *world, const char *keys)
{
	FILE *typed = tmpfile();
	CHECK(typed && fputs(keys, typed) >= 0 && !fflush(typed) &&
	      !lseek(fileno(typed), 0, SEEK_SET));
	start_at_prompt(world, fileno(typed));
	fclose(typed);
}

#endif
