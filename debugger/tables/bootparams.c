// SPDX-License-Identifier: GPL-3.0-or-later
/* What the kernel was started with, word by word: /proc/cmdline. */
#include "debugger/tables/walks.h"

#include "base/array.h"
#include <string.h>

enum { COLUMN_PLACE, COLUMN_NAME, COLUMN_VALUE, COLUMN_TEXT_ITSELF };

static const struct table_column columns[] = {
	[COLUMN_PLACE] = { "place", COLUMN_INTEGER, 5, "from 0 on", NULL },
	[COLUMN_NAME] = { "name", COLUMN_TEXT, -32, "of the parameter", NULL },
	[COLUMN_VALUE] = { "value", COLUMN_TEXT, -32, "behind its =; NULL: it has none", NULL },
	[COLUMN_TEXT_ITSELF] = { "text", COLUMN_TEXT, 0, "the word as it stands", NULL },
};

#define LINE_MAX_SIZE 65536

/* The end of a word: a blank that is not within quotes (kernel lib/cmdline.c: next_arg()). */
static char *word_end(char *at)
{
	bool is_quoted = false;
	for (; *at && (is_quoted || !strchr(" \t\n", *at)); at++)
		is_quoted ^= *at == '"';
	return at;
}

static void without_quotes(char *text)
{
	char *to = text;
	for (; *text; text++)
		if (*text != '"')
			*to++ = *text;
	*to = 0;
}

static struct error *visit_word(struct table_scan *scan, char *word, uint64_t place)
{
	table_set(scan, COLUMN_PLACE, place);
	table_set_text(scan, COLUMN_TEXT_ITSELF, word);
	without_quotes(word);
	char *value = strchr(word, '=');
	if (value)
		*value++ = 0;
	table_set_text(scan, COLUMN_NAME, word);
	if (value)
		table_set_text(scan, COLUMN_VALUE, value);
	return table_emit(scan);
}

static struct error *visit(struct table_scan *scan)
{
	static const char blanks[] = " \t\n";
	struct object variable;
	char line[LINE_MAX_SIZE];
	uint64_t address;
	size_t length;
	TRY(object_variable(scan->target, "saved_command_line", "unsigned long", &variable));
	TRY(object_u64(&variable, NULL, &address));
	if (!address)
		return NULL;
	TRY(memory_read_string(scan->target->memory, address, line, sizeof(line), &length));
	char *at = line + strspn(line, blanks);
	for (uint64_t place = 0; *at; place++) {
		char *end = word_end(at), *next = end + strspn(end, blanks);
		*end = 0;
		TRY(visit_word(scan, at, place));
		at = next;
	}
	return NULL;
}

static const char *const examples[] = { "bootparams", "bootparams --where \"name = 'root'\"",
					NULL };

const struct table table_bootparams = {
	.name = "bootparams",
	.summary = "parameters that the kernel was started with",
	.description = "A row is a word of the kernel's command line, as /proc/cmdline has it; the "
		       "values that modules have now are in parameters.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit = visit,
	.item = COLUMN_PLACE,
};
