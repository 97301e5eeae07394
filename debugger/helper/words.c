// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/helper/words.h"

#include "base/interrupt.h"
#include "debugger/command/alias.h"
#include "debugger/command/command.h"
#include "debugger/helper/serve_private.h"
#include <poll.h>
#include <stdlib.h>
#include <string.h>

/* It stands for a name: no command, program, number or option is called so. */
#define ANY_NAME "any_name_"

/* How long the other process may still look for names after Ctrl-C. */
#define PATIENCE_MS 10000
#define TICK_MS	    50

/* What the line may do with a word in place of [start, point); false without memory. */
static bool grant_with(const struct session *session, const char *line, size_t start, size_t point,
		       const char *word, struct grant *ret)
{
	char *text = NULL;
	if (asprintf(&text, "%.*s%s%s", (int)start, line, word, line + point) < 0)
		return false;
	grant_init(ret, session, text);
	free(text);
	return true;
}

static bool is_command(const struct session *session, const char *word)
{
	return command_find(word, strlen(word)) || alias_find(session, word, strlen(word));
}

/* --- our own words -------------------------------------------------------------------------- */

enum room { ROOM_NONE, ROOM_COMMANDS, ROOM_ANY };

/*
 * Behind a program, or where a file is named, no word of ours may stand; half a name of a command
 * looks like a program, too.
 */
static enum room find_room(const struct session *session, const char *line, size_t point)
{
	struct grant grant;
	if (!grant_with(session, line, point, point, ANY_NAME, &grant))
		return ROOM_NONE;
	bool names_file = grant_names_file(&grant, ANY_NAME);
	grant_deinit(&grant);
	grant_init(&grant, session, line);
	bool is_program = grant.program_count > 0;
	bool is_first = !grant.is_beside && is_program && !strpbrk(grant.programs[0], " \t");
	grant_deinit(&grant);
	if (names_file || (is_program && !is_first))
		return ROOM_NONE;
	return is_first ? ROOM_COMMANDS : ROOM_ANY;
}

/* Only those that may stand there. */
static void keep_own(const struct session *session, const char *line, size_t point,
		     struct completions *words)
{
	size_t kept = 0;
	enum room room = words->count ? find_room(session, line, point) : ROOM_ANY;
	for (size_t i = 0; i < words->count; i++) {
		if (room == ROOM_ANY ||
		    (room == ROOM_COMMANDS && is_command(session, words->words[i])))
			words->words[kept++] = words->words[i];
		else
			free(words->words[i]);
	}
	words->count = kept;
}

/* --- names of others -------------------------------------------------------------------------- */

/* Where a name would stand: in [start, point) of the line. */
struct place {
	const struct session *session;
	const char *line;
	size_t start, point;
	enum helper_names names;
	struct grant grant; /* of the line with any name there */
};

/* False without memory. */
static bool place_init(struct place *place)
{
	return grant_with(place->session, place->line, place->start, place->point, ANY_NAME,
			  &place->grant);
}

static void place_deinit(struct place *place)
{
	grant_deinit(&place->grant);
}

/*
 * A name goes on from what is typed, is made of what such a name has, is not called as a command
 * where one may stand, and leaves the line what it may do with any other name.
 */
static bool place_takes(const struct place *place, const char *name)
{
	struct grant grant;
	size_t typed = place->point - place->start;
	if (strncmp(name, place->line + place->start, typed) != 0 ||
	    strlen(name) > WORDS_NAME_MAX || !complete_is_name(place->names, name) ||
	    (place->names == NAMES_TASKS && is_command(place->session, name)) ||
	    !grant_with(place->session, place->line, place->start, place->point, name, &grant))
		return false;
	bool same = grant_equal(&grant, &place->grant);
	grant_deinit(&grant);
	return same;
}

/*
 * Ctrl-C ends the waiting, for the other process hears it, too, and answers soon; false: it does
 * not. `patience`: in ticks, for all that is asked before there is an answer.
 */
static bool await(const struct server *server, int *patience)
{
	struct pollfd waiting = { .fd = server->socket, .events = POLLIN };
	while (*patience > 0 && poll(&waiting, 1, TICK_MS) <= 0)
		*patience -= interrupt_flag != 0;
	/* One who asks without end is no better than one who says nothing. */
	*patience -= interrupt_flag != 0;
	return *patience > 0;
}

/* Names may depend on types that are in the cache: what is asked before they come is answered. */
static bool hear_names(struct server *server, struct message *ret)
{
	int patience = PATIENCE_MS / TICK_MS;
	while (await(server, &patience) && channel_receive(server->socket, serve_limit, ret)) {
		if (ret->kind == HELPER_COMPLETED && ret->file < 0)
			return true;
		bool served = ret->file < 0 && serve_at_prompt(server, ret);
		message_deinit(ret);
		if (!served)
			return false;
	}
	return false;
}

/* `text`: the line up to the cursor. */
static bool ask_names(struct server *server, const struct helper_question *question,
		      const char *text, struct message *ret)
{
	size_t size = strlen(text);
	uint8_t *data = malloc(sizeof(*question) + size);
	if (!data)
		return false;
	memcpy(data, question, sizeof(*question));
	memcpy(data + sizeof(*question), text, size);
	bool sent =
		channel_send(server->socket, HELPER_COMPLETE, data, sizeof(*question) + size, -1);
	free(data);
	return sent && hear_names(server, ret);
}

/* The names that fit and may stand there; `start`: of the operand. False: nobody answers. */
static bool find_names(struct server *server, struct place *place, size_t start, const char *text,
		       struct completions *ret)
{
	const struct helper_question question = { place->names, (uint32_t)start };
	struct message reply;
	if (!ask_names(server, &question, text, &reply))
		return false;
	const char *name = (const char *)reply.data, *end = name + reply.size;
	/* Whoever sends more has sent what nobody reads. */
	for (size_t i = 0; name < end && i < COMPLETE_WORDS_MAX; i++, name += strlen(name) + 1)
		if (place_takes(place, name))
			completions_add(ret, name);
	message_deinit(&reply);
	completions_sort(ret);
	return true;
}

/* --- all of them ---------------------------------------------------------------------------- */

static size_t common_length(const char *a, const char *b)
{
	size_t length = 0;
	while (a[length] && a[length] == b[length])
		length++;
	return length;
}

/*
 * What the words, which are sorted, have in common is put into the line, too: where it is no word
 * of theirs it has to be a name that may stand there.
 */
static bool common_may_stand(const struct place *place, const struct completions *words)
{
	const char *first = words->words[0];
	size_t length = common_length(first, words->words[words->count - 1]);
	if (!first[length] || length <= place->point - place->start)
		return true;
	char *common = strndup(first, length);
	bool may = common && place_takes(place, common);
	free(common);
	return may;
}

/* Adds names to words of our own, unless what they have in common may not stand there. */
static void join(const struct place *place, const struct completions *names,
		 struct completions *ret)
{
	struct completions all = { .start = ret->start };
	for (size_t i = 0; i < ret->count; i++)
		completions_add(&all, ret->words[i]);
	for (size_t i = 0; i < names->count; i++)
		completions_add(&all, names->words[i]);
	completions_sort(&all);
	if (!all.count || !common_may_stand(place, &all)) {
		completions_deinit(&all);
		return;
	}
	completions_deinit(ret);
	*ret = all;
}

/* Adds the names of one kind; `start`: of the operand. False: nobody answers. */
static bool add_names(struct server *server, const char *line, const char *text,
		      enum helper_names kind, size_t start, struct completions *ret)
{
	struct place place = { .session = &server->session,
			       .line = line,
			       .start = ret->start,
			       .point = strlen(text),
			       .names = kind };
	struct completions names = { 0 };
	if (!place_init(&place))
		return true;
	bool heard = find_names(server, &place, start, text, &names);
	if (names.count)
		join(&place, &names, ret);
	completions_deinit(&names);
	place_deinit(&place);
	return heard;
}

static bool add_wanted(struct server *server, const char *line, const char *text,
		       const struct complete_wanted *wanted, struct completions *ret)
{
	if (!add_names(server, line, text, wanted->names, wanted->start, ret))
		return false;
	if (ret->count || !wanted->or_expression)
		return true;
	complete_own_expression(&server->session, text, wanted->start, ret);
	keep_own(&server->session, line, strlen(text), ret);
	return add_names(server, line, text, NAMES_EXPRESSION, wanted->start, ret);
}

/* What an alias will stand for: which program or file is there is not seen until it is run. */
static bool is_definition(const struct session *session, const char *line)
{
	char *text = alias_expand(session, line);
	const struct command *command = text ? command_find(text, strcspn(text, " \t|>")) : NULL;
	bool is_whole = !text || (command && command->whole_line);
	free(text);
	return is_whole;
}

bool words_find(void *context, const char *line, size_t point, struct completions *ret)
{
	struct server *server = context;
	struct complete_wanted wanted;
	size_t size = strlen(line);
	char *text = size <= HELPER_TEXT_MAX ? strndup(line, point) : NULL;
	bool heard = true;
	if (!text)
		return true;
	complete_own(&server->session, text, ret, &wanted);
	keep_own(&server->session, line, point, ret);
	if (wanted.names != NAMES_NONE && size <= WORDS_LINE_MAX &&
	    !is_definition(&server->session, line))
		heard = add_wanted(server, line, text, &wanted, ret);
	free(text);
	return heard;
}
