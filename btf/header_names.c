// SPDX-License-Identifier: GPL-3.0-or-later
/* Identifiers: names that C does not allow, and names that several types have. */
#include "btf/header_private.h"

#include "base/array.h"
#include "base/ascii.h"
#include <ctype.h>
#include <stdio.h>

static const char *const keywords[] = {
	"auto",	     "break",  "case",	   "char",    "const",	  "continue", "default",
	"do",	     "double", "else",	   "enum",    "extern",	  "float",    "for",
	"goto",	     "if",     "inline",   "int",     "long",	  "register", "restrict",
	"return",    "short",  "signed",   "sizeof",  "static",	  "struct",   "switch",
	"typedef",   "union",  "unsigned", "void",    "volatile", "while",    "asm",
	"typeof",    "_Bool",  "_Complex", "_Atomic", "_Alignas", "_Alignof", "_Generic",
	"_Noreturn",
};

static bool is_keyword(const char *name)
{
	for (size_t i = 0; i < ARRAY_COUNT(keywords); i++)
		if (!strcmp(keywords[i], name))
			return true;
	return false;
}

void header_put_identifier(struct strbuf *text, const char *name, uint32_t suffix)
{
	if (isdigit((unsigned char)*name))
		strbuf_char(text, '_');
	for (const char *at = name; *at; at++)
		strbuf_char(text, ascii_is_alnum(*at) ? *at : '_');
	if (is_keyword(name))
		strbuf_char(text, '_');
	if (suffix) {
		strbuf_put(text, "___");
		strbuf_u64(text, suffix);
	}
}

void header_names_deinit(struct header_names *names)
{
	hash_index_deinit(&names->index);
	strbuf_deinit(&names->text);
	free(names->entries);
}

static struct header_name *find(struct header_names *names, const char *name)
{
	uint32_t hash = hash_string(name), number;
	size_t position = hash_index_first(&names->index, hash);
	while ((number = hash_index_next(&names->index, hash, &position)) != HASH_NONE)
		if (!strcmp(names->text.data + names->entries[number].offset, name))
			return &names->entries[number];
	return NULL;
}

static bool add(struct header_names *names, const char *name)
{
	if (!array_reserve(&names->entries, &names->capacity, names->count + 1) ||
	    !hash_index_add(&names->index, hash_string(name), (uint32_t)names->count))
		return false;
	names->entries[names->count++] =
		(struct header_name){ .offset = (uint32_t)names->text.size, .last = 1 };
	strbuf_bytes(&names->text, name, strlen(name) + 1);
	return !names->text.failed;
}

bool header_claim(struct header_names *names, const char *name, uint32_t *ret_suffix)
{
	struct strbuf full = { 0 };
	uint32_t suffix = 0;
	header_put_identifier(&full, name, 0);
	size_t length = full.size;
	strbuf_bytes(&full, "", 1);
	struct header_name *entry = full.failed ? NULL : find(names, full.data);
	for (struct header_name *taken = entry; taken && !full.failed;) {
		suffix = ++entry->last;
		full.size = length;
		strbuf_put(&full, "___");
		strbuf_u64(&full, suffix);
		strbuf_bytes(&full, "", 1);
		taken = full.failed ? NULL : find(names, full.data);
	}
	bool done = !full.failed && add(names, full.data);
	strbuf_deinit(&full);
	*ret_suffix = suffix;
	return done;
}
