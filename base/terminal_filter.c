// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/terminal_filter.h"

#include "base/array.h"
#include "base/escape.h"
#include "base/styles.h"
#include <string.h>

static const char *const styles[] = { STYLE_PLAIN, STYLE_HEADING, STYLE_ADDRESS, STYLE_GUESS,
				      STYLE_ERROR };

/* The colour at `text`; NULL: none, and *ret_begins: it may become one. */
static const char *find_style(const char *text, size_t size, bool *ret_begins)
{
	*ret_begins = false;
	for (size_t i = 0; i < ARRAY_COUNT(styles); i++) {
		size_t length = strlen(styles[i]);
		if (size >= length && !memcmp(text, styles[i], length))
			return styles[i];
		*ret_begins |= size < length && !memcmp(text, styles[i], size);
	}
	return NULL;
}

/* Whether all of it can be the beginning of a character of several bytes. */
static bool begins_character(const char *text, size_t size)
{
	const unsigned char *at = (const unsigned char *)text;
	size_t length = at[0] >= 0xf0 ? 4 : at[0] >= 0xe0 ? 3 : 2;
	if (at[0] < 0xc2 || at[0] >= 0xf5 || size >= length)
		return false;
	for (size_t i = 1; i < size; i++)
		if ((at[i] & 0xc0) != 0x80)
			return false;
	return true;
}

/*
 * One thing at `text`: what is shown of it goes to *ret, which moves on. Returns how many bytes it
 * has; 0: more have to come before it is known, and `is_end` says that none do.
 */
static size_t pass_one(struct terminal_filter *filter, const char *text, size_t size, bool is_end,
		       char **ret)
{
	bool begins = false;
	const char *style = *text == '\x1b' ? find_style(text, size, &begins) : NULL;
	if (!is_end && (begins || begins_character(text, size)))
		return 0;
	size_t length = style				 ? strlen(style)
			: *text == '\n' || *text == '\t' ? 1
							 : escape_printable(text, size);
	if (style)
		filter->is_styled = strcmp(style, STYLE_PLAIN) != 0;
	if (length) {
		memcpy(*ret, text, length);
		*ret += length;
		return length;
	}
	length = escape_next(text, size, true, *ret);
	*ret += strlen(*ret);
	return length;
}

/* Of what is held, all that is known by now. */
static void pass_held(struct terminal_filter *filter, bool is_end, char **ret)
{
	while (filter->held_size) {
		size_t length = pass_one(filter, filter->held, filter->held_size, is_end, ret);
		if (!length)
			return;
		filter->held_size -= length;
		memmove(filter->held, filter->held + length, filter->held_size);
	}
}

/* Length of what goes through as it is, which is nearly all. */
static size_t plain_length(const char *text, size_t size)
{
	size_t length = 0;
	while (length < size &&
	       ((unsigned char)(text[length] - 0x20) < 0x5f || text[length] == '\n'))
		length++;
	return length;
}

size_t terminal_filter_pass(struct terminal_filter *filter, const char *bytes, size_t size,
			    char *ret)
{
	char *to = ret;
	size_t at = 0;
	while (filter->held_size && at < size) {
		filter->held[filter->held_size++] = bytes[at++];
		pass_held(filter, false, &to);
	}
	while (at < size) {
		size_t length = plain_length(bytes + at, size - at);
		memcpy(to, bytes + at, length);
		to += length;
		at += length;
		if (at == size)
			break;
		length = pass_one(filter, bytes + at, size - at, false, &to);
		if (!length) {
			filter->held_size = size - at;
			memcpy(filter->held, bytes + at, filter->held_size);
			break;
		}
		at += length;
	}
	return (size_t)(to - ret);
}

size_t terminal_filter_end(struct terminal_filter *filter, char *ret)
{
	char *to = ret;
	pass_held(filter, true, &to);
	if (filter->is_styled)
		to = stpcpy(to, STYLE_PLAIN);
	filter->is_styled = false;
	return (size_t)(to - ret);
}
