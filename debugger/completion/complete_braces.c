// SPDX-License-Identifier: GPL-3.0-or-later
/* TAB within "EXPRESSION{a, mm{b": the word is a member of what stands before the braces. */
#include "debugger/completion/complete_private.h"

#include "base/strbuf.h"
#include "debugger/show/listing.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* [from, end) without blanks around it, and without the joint behind a path. */
static void append(struct strbuf *to, const char *joint, const char *text, size_t from, size_t end)
{
	while (from < end && isspace((unsigned char)text[from]))
		from++;
	while (from < end && (isspace((unsigned char)text[end - 1]) || text[end - 1] == '.' ||
			      text[end - 1] == '>' || text[end - 1] == '-'))
		end--;
	if (from == end)
		return;
	strbuf_put(to, joint);
	strbuf_bytes(to, text + from, end - from);
}

/*
 * The type of what comes through a pipe, as far as the words before it say: that of `list` and
 * `tree`, else tasks.
 */
static void append_items(struct completing *completing, size_t end, struct strbuf *to)
{
	const char *text = completing->text, *name = "struct task_struct";
	struct linkage linkage;
	char word[128];
	for (size_t at = 0, length; at < end; at += length + strspn(text + at + length, " |")) {
		length = strcspn(text + at, " |");
		snprintf(word, sizeof(word), "%.*s", (int)length, text + at);
		struct error *error = strchr(word, '.') ? linkage_parse(completing->session->target,
									word, &linkage)
							: error_create(ERROR_NOT_FOUND, "no type");
		if (!error)
			name = linkage.name;
		error_free(error);
	}
	strbuf_format(to, "((%s *)0)", name);
}

/* Behind "(TYPE)" or "(TYPE *)", which is appended as a pointer; `at`: there is none. */
static size_t append_cast(const char *text, size_t at, size_t end, struct strbuf *to)
{
	const char *close = memchr(text + at, ')', end - at);
	if (text[at] != '(' || !close)
		return at;
	size_t stop = (size_t)(close - text);
	bool is_pointer = stop > at && text[stop - 1] == '*';
	strbuf_format(to, "((%.*s%s)0)", (int)(stop - at - 1), text + at + 1,
		      is_pointer ? "" : " *");
	return stop + 1;
}

static void append_base(struct completing *completing, size_t start, size_t end, struct strbuf *to)
{
	const char *text = completing->text;
	if (text[start] == '/' && start + 2 < end)
		start += 3;
	if (!memchr(text, '|', start)) {
		append(to, "(", text, start, end);
		strbuf_put(to, ")");
		return;
	}
	size_t path = append_cast(text, start, end, to);
	if (path == start)
		append_items(completing, start, to);
	append(to, ".", text, path, end);
}

/* Where the last `.` or `->` before the word ends; `from`: there is none. */
static size_t last_joint(const char *text, size_t from, size_t word)
{
	for (size_t at = word; at > from; at--)
		if (text[at - 1] == '.' || (text[at - 1] == '>' && at > 1 && text[at - 2] == '-'))
			return at;
	return from;
}

void complete_in_braces(struct completing *completing, size_t start, size_t word)
{
	const char *text = completing->text;
	struct strbuf base = { 0 };
	struct braces braces;
	if (!complete_find_braces(text, start, word, &braces))
		return;
	size_t path = braces.path[braces.count - 1];
	append_base(completing, start, braces.open[0], &base);
	for (size_t i = 1; i < braces.count; i++)
		append(&base, ".", text, braces.path[i - 1], braces.open[i]);
	append(&base, ".", text, path, last_joint(text, path, word));
	strbuf_bytes(&base, "", 1);
	if (!base.failed)
		complete_members_of(completing, base.data);
	strbuf_deinit(&base);
}
