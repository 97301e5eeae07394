// SPDX-License-Identifier: GPL-3.0-or-later
/* The tables of names: reading them, and decoding a name. */
#include "symbols/kallsyms.h"

#include "base/bytes.h"
#include "base/large.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Far beyond any kernel (200,000 symbols, 3 MiB of names); bounds what a bad count allocates. */
#define COUNT_MAX      (1u << 22)
#define NAMES_SIZE_MAX ((uint64_t)64 << 20)
#define TOKENS	       256
#define TOKEN_SHORT    16

static size_t record_size(const uint8_t *record, bool long_lengths, size_t *ret_header)
{
	size_t size = record[0];
	*ret_header = 1;
	if (long_lengths && size & 0x80) {
		size = (size & 0x7f) | (size_t)record[1] << 7;
		*ret_header = 2;
	}
	return size;
}

size_t kallsyms_walk_records(const uint8_t *names, size_t size, uint32_t count, bool long_lengths,
			     uint32_t *records)
{
	size_t at = 0;
	for (uint32_t i = 0; i < count; i++) {
		if (size - at < 2)
			return 0;
		size_t header;
		size_t length = record_size(names + at, long_lengths, &header);
		if (records)
			records[i] = (uint32_t)at;
		at += header;
		/* The kind is part of the name: there is a token at least. */
		if (!length || length > size - at)
			return 0;
		at += length;
	}
	return at;
}

bool kallsyms_markers_agree(struct memory *memory, uint64_t end, const uint32_t *records,
			    uint32_t count, uint64_t *ret_end)
{
	size_t marker_count = (count + KALLSYMS_MARKER_STEP - 1) / KALLSYMS_MARKER_STEP;
	/* Labels are aligned to a word, since 7.0 to four bytes. */
	for (uint64_t align = 4; align <= 8; align *= 2) {
		uint64_t address = (end + align - 1) & ~(align - 1);
		void *markers;
		struct error *error = memory_read_alloc(memory, address, marker_count * 4,
							COUNT_MAX / KALLSYMS_MARKER_STEP * 4,
							&markers);
		if (error) {
			error_free(error);
			continue;
		}
		bool agree = true;
		for (size_t i = 0; i < marker_count && agree; i++)
			agree = load_u32((uint8_t *)markers + i * 4, memory->big_endian) ==
				records[i * KALLSYMS_MARKER_STEP];
		free(markers);
		if (agree) {
			*ret_end = address + marker_count * 4;
			return true;
		}
	}
	return false;
}

/* The names cannot reach past the next of the tables. */
static uint64_t names_limit(const struct kallsyms_tables *tables)
{
	const uint64_t others[] = {
		tables->token_table, tables->token_index, tables->offsets,
		tables->addresses,   tables->num_syms,	  tables->relative_base
	};
	uint64_t limit = NAMES_SIZE_MAX;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (others[i] > tables->names && others[i] - tables->names < limit)
			limit = others[i] - tables->names;
	return limit;
}

/* Makes `names` hold `size` bytes, or as many as there are; false when nothing was added. */
static bool grow_names(struct kallsyms *kallsyms, struct memory *memory, uint64_t names,
		       uint64_t size, struct error **ret_why)
{
	*ret_why = NULL;
	if (size <= kallsyms->names_size)
		return false;
	uint8_t *grown = kallsyms->names ? realloc(kallsyms->names, size) : large_malloc(size);
	if (!grown) {
		*ret_why = error_no_memory();
		return false;
	}
	kallsyms->names = grown;
	size_t got = memory_read_some(memory, names + kallsyms->names_size,
				      grown + kallsyms->names_size, size - kallsyms->names_size,
				      ret_why);
	kallsyms->names_size += got;
	return got;
}

/* Reads as much of the names as their records reach. `*ret_size`: of all the records. */
static struct error *read_records(struct kallsyms *kallsyms, struct memory *memory,
				  const struct kallsyms_tables *tables, size_t *ret_size)
{
	uint64_t limit = names_limit(tables);
	uint64_t wanted = (uint64_t)kallsyms->count * 16 + 4096;
	struct error *why = NULL;
	for (;;) {
		/* A record may end with the last byte there is: the walk wants one to spare. */
		size_t size = kallsyms_walk_records(kallsyms->names, kallsyms->names_size,
						    kallsyms->count, kallsyms->long_lengths,
						    kallsyms->records);
		if (size) {
			*ret_size = size;
			error_free(why);
			return NULL;
		}
		if (why)
			return error_prefix(why, "kallsyms_names");
		wanted = wanted < limit ? wanted : limit;
		if (!grow_names(kallsyms, memory, tables->names, wanted, &why))
			return why ? error_prefix(why, "kallsyms_names")
				   : error_create(ERROR_FORMAT,
						  "kallsyms_names: %" PRIu32 " records do not fit "
						  "into the %" PRIu64
						  " bytes before the next table",
						  kallsyms->count, limit);
		wanted = (uint64_t)kallsyms->names_size * 2;
	}
}

/* Reads the records, with lengths of this form; `*ret_sure`: the markers agree. */
static struct error *read_form(struct kallsyms *kallsyms, struct memory *memory,
			       const struct kallsyms_tables *tables, bool long_lengths,
			       bool *ret_sure)
{
	uint64_t end;
	size_t size = 0;
	kallsyms->long_lengths = long_lengths;
	kallsyms->names_size = 0;
	struct error *error = read_records(kallsyms, memory, tables, &size);
	if (error)
		return error;
	uint8_t *fitted = realloc(kallsyms->names, size + 1);
	if (!fitted)
		return error_no_memory();
	*ret_sure = kallsyms_markers_agree(memory, tables->names + size, kallsyms->records,
					   kallsyms->count, &end);
	fitted[size] = 0;
	kallsyms->names = fitted;
	kallsyms->names_size = size + 1;
	return NULL;
}

/*
 * Lengths have one byte up to 6.0, one or two since 6.1 (73bbb94466fd): the same unless one is
 * beyond 127; then the markers tell. They also tell of damage.
 */
static struct error *read_name_records(struct kallsyms *kallsyms, struct memory *memory,
				       const struct kallsyms_tables *tables)
{
	bool sure = false;
	struct error *error = read_form(kallsyms, memory, tables, true, &sure);
	if (!error && sure)
		return NULL;
	struct error *other = read_form(kallsyms, memory, tables, false, &sure);
	if (!other && sure) {
		error_free(error);
		return NULL;
	}
	error_free(other);
	other = kallsyms_resynchronise(kallsyms, memory, tables, names_limit(tables));
	if (!other) {
		error_free(error);
		return NULL;
	}
	error_free(other);
	/* Markers out of reach: believe the newer form. */
	return error ? error : read_form(kallsyms, memory, tables, true, &sure);
}

static uint32_t hash_on(uint32_t hash, const char *text, size_t size, uint32_t *factor)
{
	*factor = 1;
	for (size_t i = 0; i < size; i++) {
		hash = hash * SYMBOL_HASH_FACTOR + (unsigned char)text[i];
		*factor *= SYMBOL_HASH_FACTOR;
	}
	return hash;
}

/* The polynomial's low bits depend on few characters: spread the high ones. */
static uint32_t hash_finish(uint32_t hash)
{
	hash ^= hash >> 16;
	hash *= 0x7feb352d;
	return hash ^ hash >> 15;
}

uint32_t symbol_hash(const char *name, size_t length)
{
	uint32_t factor;
	return hash_finish(hash_on(0, name, length, &factor));
}

static struct error *read_tokens(struct kallsyms *kallsyms, struct memory *memory,
				 const struct kallsyms_tables *tables)
{
	uint8_t index[TOKENS * 2];
	struct error *error = memory_read(memory, tables->token_index, index, sizeof(index));
	if (error)
		return error_prefix(error, "kallsyms_token_index");
	size_t last = 0;
	for (size_t i = 0; i < TOKENS; i++) {
		size_t start = load_u16(index + i * 2, memory->big_endian);
		last = start > last ? start : last;
	}
	/* The last token ends before the index where that follows, as it always did. */
	size_t size = last + SYMBOL_NAME_SIZE;
	if (tables->token_index > tables->token_table + last &&
	    tables->token_index - tables->token_table < size)
		size = tables->token_index - tables->token_table;
	kallsyms->token_text = calloc(size + TOKEN_SHORT, 1);
	if (!kallsyms->token_text)
		return error_no_memory();
	struct error *why;
	size = memory_read_some(memory, tables->token_table, kallsyms->token_text, size, &why);
	for (size_t i = 0; i < TOKENS; i++) {
		size_t start = load_u16(index + i * 2, memory->big_endian);
		const char *text = kallsyms->token_text + start;
		const char *end = start < size ? memchr(text, 0, size - start) : NULL;
		if (!end)
			return why ? error_prefix(why, "kallsyms_token_table")
				   : error_create(ERROR_FORMAT,
						  "kallsyms_token_table: token %zu does not end",
						  i);
		struct kallsyms_token *token = &kallsyms->tokens[i];
		token->start = (uint16_t)start;
		token->size = (uint16_t)(end - text);
		token->hash = hash_on(0, text, token->size, &token->factor);
		if (token->size)
			token->tail_hash =
				hash_on(0, text + 1, token->size - 1u, &token->tail_factor);
	}
	error_free(why);
	return NULL;
}

struct error *kallsyms_read_names(struct kallsyms *kallsyms, struct memory *memory,
				  const struct kallsyms_tables *tables)
{
	struct error *error = memory_read_u32(memory, tables->num_syms, &kallsyms->count);
	if (error)
		return error_prefix(error, "kallsyms_num_syms");
	if (!kallsyms->count || kallsyms->count > COUNT_MAX)
		return error_create(ERROR_FORMAT, "kallsyms_num_syms: %" PRIu32 " is no sane count",
				    kallsyms->count);
	error = read_tokens(kallsyms, memory, tables);
	if (error)
		return error;
	kallsyms->records = malloc(kallsyms->count * sizeof(*kallsyms->records));
	if (!kallsyms->records)
		return error_no_memory();
	return read_name_records(kallsyms, memory, tables);
}

void kallsyms_deinit(struct kallsyms *kallsyms)
{
	free(kallsyms->names);
	free(kallsyms->records);
	free(kallsyms->addresses);
	free(kallsyms->token_text);
	free(kallsyms->sorted);
	free(kallsyms->found);
	error_free(kallsyms->damage);
	*kallsyms = (struct kallsyms){ 0 };
}

/* Reads what one set of tables says, or leaves `kallsyms` empty. */
static struct error *read_tables(struct kallsyms *kallsyms, struct memory *memory,
				 const struct kallsyms_tables *tables)
{
	*kallsyms = (struct kallsyms){ 0 };
	struct error *error = kallsyms_read_names(kallsyms, memory, tables);
	if (!error)
		error = kallsyms_read_addresses(kallsyms, memory, tables);
	if (!error)
		error = kallsyms_count_lost(kallsyms);
	if (error)
		kallsyms_deinit(kallsyms);
	else
		kallsyms_read_sorted(kallsyms, memory, tables);
	return error;
}

struct error *kallsyms_read(struct kallsyms *kallsyms, struct memory *memory,
			    const struct kallsyms_tables *tables)
{
	if (tables->num_syms && tables->names && tables->token_table && tables->token_index &&
	    (tables->offsets || tables->addresses))
		return read_tables(kallsyms, memory, tables);
	*kallsyms = (struct kallsyms){ 0 };
	struct kallsyms_tables candidates[KALLSYMS_CANDIDATES];
	size_t count;
	struct error *error = kallsyms_scan(memory, tables->stext, candidates, &count);
	if (error)
		return error;
	for (size_t i = 0; i < count; i++) {
		error_free(error);
		error = read_tables(kallsyms, memory, &candidates[i]);
		if (!error)
			return NULL;
	}
	return error;
}

/* --- names -------------------------------------------------------------------- */

static const uint8_t *record_tokens(const struct kallsyms *kallsyms, uint32_t number,
				    size_t *ret_count)
{
	const uint8_t *record = kallsyms->names + kallsyms->records[number];
	size_t header;
	*ret_count = record_size(record, kallsyms->long_lengths, &header);
	return record + header;
}

char kallsyms_kind(const struct kallsyms *kallsyms, uint32_t number)
{
	size_t count;
	const uint8_t *codes = record_tokens(kallsyms, number, &count);
	for (size_t i = 0; i < count; i++) {
		const struct kallsyms_token *token = &kallsyms->tokens[codes[i]];
		if (token->size)
			return kallsyms->token_text[token->start];
	}
	return '?';
}

struct kallsyms_parts kallsyms_parts(const struct kallsyms *kallsyms, uint32_t number)
{
	struct kallsyms_parts parts = { .kallsyms = kallsyms };
	parts.codes = record_tokens(kallsyms, number, &parts.left);
	return parts;
}

static inline bool next_part(struct kallsyms_parts *parts, const char **ret_text, size_t *ret_size)
{
	while (parts->left) {
		const struct kallsyms_token *token = &parts->kallsyms->tokens[*parts->codes];
		parts->codes++;
		parts->left--;
		if (!token->size)
			continue;
		bool is_first = !parts->has_kind;
		parts->has_kind = true;
		*ret_text = parts->kallsyms->token_text + token->start + is_first;
		*ret_size = token->size - is_first;
		return true;
	}
	return false;
}

bool kallsyms_next_part(struct kallsyms_parts *parts, const char **ret_text, size_t *ret_size)
{
	return next_part(parts, ret_text, ret_size);
}

size_t kallsyms_name(const struct kallsyms *kallsyms, uint32_t number, char *buffer, size_t size,
		     char *ret_kind)
{
	struct kallsyms_parts parts = kallsyms_parts(kallsyms, number);
	const char *text;
	size_t part, length = 0;
	bool is_first = true;
	*ret_kind = '?';
	while (next_part(&parts, &text, &part)) {
		if (is_first)
			*ret_kind = text[-1]; /* the kind is the first character of all */
		is_first = false;
		part = part < size - 1 - length ? part : size - 1 - length;
		/* Most are short: a copy of a fixed size needs no call. */
		if (part <= TOKEN_SHORT && size - length > TOKEN_SHORT)
			memcpy(buffer + length, text, TOKEN_SHORT);
		else
			memcpy(buffer + length, text, part);
		length += part;
	}
	buffer[length] = 0;
	return length;
}

bool kallsyms_name_is(const struct kallsyms *kallsyms, uint32_t number, const char *name,
		      size_t length)
{
	struct kallsyms_parts parts = kallsyms_parts(kallsyms, number);
	const char *text;
	size_t part;
	while (next_part(&parts, &text, &part)) {
		if (part > length || memcmp(name, text, part))
			return false;
		name += part;
		length -= part;
	}
	return parts.has_kind && !length;
}

uint32_t kallsyms_name_hash(const struct kallsyms *kallsyms, uint32_t number)
{
	size_t count;
	const uint8_t *codes = record_tokens(kallsyms, number, &count);
	size_t i = 0;
	while (i < count && !kallsyms->tokens[codes[i]].size)
		i++;
	if (i == count)
		return hash_finish(0);
	uint32_t hash = kallsyms->tokens[codes[i]].tail_hash;
	for (i++; i < count; i++) {
		const struct kallsyms_token *token = &kallsyms->tokens[codes[i]];
		hash = hash * token->factor + token->hash;
	}
	return hash_finish(hash);
}
