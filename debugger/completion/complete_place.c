// SPDX-License-Identifier: GPL-3.0-or-later
/* What the text before the cursor says of the word that is typed there: both processes need it. */
#include "debugger/completion/complete_private.h"

#include "base/ascii.h"
#include <string.h>

bool complete_is_name(enum helper_names names, const char *word)
{
	/* Letters and digits, and these. */
	static const char *const more[] = {
		[NAMES_MODULES] = "_-",	  [NAMES_CPUS] = "",   [NAMES_PIDS] = "",
		[NAMES_TASKS] = "_.-:+@", [NAMES_TYPES] = "_", [NAMES_EXPRESSION] = "_.$"
	};
	if (names <= NAMES_NONE || names >= ARRAY_COUNT(more) || !*word || *word == '-')
		return false;
	bool are_numbers = names == NAMES_CPUS || names == NAMES_PIDS;
	for (const char *at = word; *at; at++)
		if (are_numbers ? *at < '0' || *at > '9'
				: !ascii_is_alnum(*at) && !strchr(more[names], *at))
			return false;
	return true;
}

static bool is_identifier(char byte)
{
	return ascii_is_alnum(byte) || byte == '_';
}

size_t complete_identifier(const char *text, size_t start, size_t end)
{
	while (end > start && is_identifier(text[end - 1]))
		end--;
	return end;
}

bool complete_find_braces(const char *text, size_t start, size_t word, struct braces *ret)
{
	struct braces braces = { .count = 0 };
	for (size_t i = start; i < word; i++) {
		if (text[i] == '{') {
			if (braces.count == BRACES_MAX)
				return false;
			braces.open[braces.count] = i;
			braces.path[braces.count++] = i + 1;
		} else if (text[i] == '}' && braces.count) {
			braces.count--;
		} else if (text[i] == ',' && braces.count) {
			braces.path[braces.count - 1] = i + 1;
		}
	}
	*ret = braces;
	size_t path = braces.count ? braces.path[braces.count - 1] : word;
	return braces.count && !memchr(text + path, '$', word - path);
}

/* Behind a keyword and a blank; PLACE_FREE: there is none. */
static enum place behind_tag(const char *text, size_t start, size_t word)
{
	static const struct {
		const char *word;
		enum place place;
	} tags[] = { { "struct", PLACE_STRUCT }, { "union", PLACE_UNION }, { "enum", PLACE_ENUM } };
	size_t stop = word;
	while (stop > start && text[stop - 1] == ' ')
		stop--;
	size_t from = complete_identifier(text, start, stop);
	for (size_t i = 0; i < ARRAY_COUNT(tags) && stop < word; i++)
		if (strlen(tags[i].word) == stop - from &&
		    !strncmp(text + from, tags[i].word, stop - from))
			return tags[i].place;
	return PLACE_FREE;
}

enum place complete_place(const char *text, size_t start, size_t word)
{
	struct braces braces;
	char before = word > start ? text[word - 1] : 0;
	if (complete_find_braces(text, start, word, &braces))
		return PLACE_BRACES;
	if (before == '.' || (before == '>' && word > start + 1 && text[word - 2] == '-'))
		return PLACE_MEMBER;
	if (before == '$' || before == ':')
		return before == '$' ? PLACE_VARIABLE : PLACE_SYMBOL;
	enum place place = behind_tag(text, start, word);
	return place == PLACE_FREE && !text[word] ? PLACE_EMPTY : place;
}

static size_t type_word(const char *text, size_t start)
{
	static const char *const tags[] = { "struct ", "union ", "enum " };
	const char *word = text + start;
	for (size_t i = 0; i < ARRAY_COUNT(tags); i++)
		if (!strncmp(word, tags[i], strlen(tags[i])))
			word += strlen(tags[i]);
	const char *point = strrchr(word, '.');
	return (size_t)((point ? point + 1 : word) - text);
}

size_t complete_word(enum helper_names names, const char *text, size_t start)
{
	if (names == NAMES_TYPES)
		return type_word(text, start);
	return names == NAMES_EXPRESSION ? complete_identifier(text, start, strlen(text)) : start;
}
