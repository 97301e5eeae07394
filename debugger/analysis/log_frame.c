// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/analysis/log_frame.h"

#include "debugger/analysis/stack_words.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define NAME_MAX_SIZE 128

void log_text_after(const char *line, const char *word, const char *stops, char *buffer,
		    size_t size)
{
	const char *text = strstr(line, word);
	*buffer = 0;
	if (text)
		snprintf(buffer, size, "%.*s", (int)strcspn(text + strlen(word), stops),
			 text + strlen(word));
}

/* As symbols are made of. */
static size_t name_length(const char *text)
{
	size_t length = 0;
	while (isalnum((unsigned char)text[length]) || text[length] == '_' || text[length] == '.')
		length++;
	return length;
}

bool log_frame_to_blame(const char *line, char *buffer, size_t size)
{
	char name[NAME_MAX_SIZE], module[64];
	const char *text = line + strspn(line, " ");
	size_t length = name_length(text);
	if (!length || length >= sizeof(name) || strncmp(text + length, "+0x", 3) != 0)
		return false;
	snprintf(name, sizeof(name), "%.*s", (int)length, text);
	log_text_after(text, " [", "]", module, sizeof(module));
	const struct frame frame = {
		.has_symbol = true, .symbol = { .name = name, .module = *module ? module : NULL }
	};
	if (frame_is_generic(&frame))
		return false;
	snprintf(buffer, size, "%s%s%s%s", name, *module ? " [" : "", module, *module ? "]" : "");
	return true;
}
