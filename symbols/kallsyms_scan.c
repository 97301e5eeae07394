// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The kallsyms tables by their shape. The token table gives itself away: digits always are tokens
 * of their own, so it holds "0\0" "1\0" ... "9\0"; the index behind it must point at every string
 * of it. The number of symbols and the names are certain once the markers behind the names agree
 * with them. Where the addresses are follows from the order of the tables (KERNEL-FORMATS 2.3).
 */
#include "symbols/kallsyms.h"

#include "base/bytes.h"
#include "base/interrupt.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SCAN_RANGE ((uint64_t)64 << 20)
#define CHUNK	   ((size_t)1 << 20)
#define PAGE	   4096
#define TOKENS	   256
/* The token table is around 1,000 bytes; room for twice that before the digits, and after them. */
#define WINDOW	     8192
#define NAMES_WINDOW ((uint64_t)16 << 20)
#define COUNT_MIN    1000

static const char digits[] = "0\0"
			     "1\0"
			     "2\0"
			     "3\0"
			     "4\0"
			     "5\0"
			     "6\0"
			     "7\0"
			     "8\0"
			     "9";

static uint64_t align_up(uint64_t address, uint64_t align)
{
	return (address + align - 1) & ~(align - 1);
}

/* True when `index` (256 u16) describes the strings that end at `end` in `window`. */
static bool index_fits(const uint8_t *window, size_t zero, size_t end, const uint8_t *index,
		       bool big_endian, size_t *ret_start)
{
	size_t before = load_u16(index + '0' * 2, big_endian);
	if (load_u16(index, big_endian) || before > zero)
		return false;
	size_t start = zero - before;
	size_t previous = 0;
	for (size_t i = 1; i < TOKENS; i++) {
		size_t offset = load_u16(index + i * 2, big_endian);
		if (offset <= previous || start + offset >= end || window[start + offset - 1])
			return false;
		previous = offset;
	}
	*ret_start = start;
	return strlen((const char *)window + start + previous) == end - 1 - (start + previous);
}

/* Checks digits found at `zero`; sets the two token tables. */
static bool token_tables_at(struct memory *memory, uint64_t zero, struct kallsyms_tables *ret)
{
	uint8_t window[WINDOW];
	uint64_t from = zero - WINDOW / 2;
	struct error *why;
	size_t size = memory_read_some(memory, from, window, WINDOW, &why);
	error_free(why);
	if (size <= zero - from) {
		/* There is a hole before the digits: begin at their page. */
		from = zero & ~(uint64_t)(PAGE - 1);
		size = memory_read_some(memory, from, window, WINDOW, &why);
		error_free(why);
	}
	size_t at = (size_t)(zero - from);
	for (int token = '0'; token < TOKENS; token++) {
		const uint8_t *end = at < size ? memchr(window + at, 0, size - at) : NULL;
		if (!end)
			return false;
		at = (size_t)(end - window) + 1;
	}
	for (size_t pad = 0; pad < 16 && at + pad + TOKENS * 2 <= size; pad++) {
		size_t start;
		if (!index_fits(window, (size_t)(zero - from), at, window + at + pad,
				memory->big_endian, &start))
			continue;
		ret->token_table = from + start;
		ret->token_index = from + at + pad;
		return true;
	}
	return false;
}

static bool find_in_chunk(struct memory *memory, uint64_t address, const uint8_t *chunk,
			  size_t size, struct kallsyms_tables *ret)
{
	const uint8_t *at = chunk;
	const uint8_t *end = chunk + size;
	while ((at = memmem(at, (size_t)(end - at), digits, sizeof(digits)))) {
		if (token_tables_at(memory, address + (uint64_t)(at - chunk), ret))
			return true;
		at++;
	}
	return false;
}

/* Holes (unmapped, excluded) are stepped over by the page. */
static struct error *find_token_tables(struct memory *memory, uint64_t stext,
				       struct kallsyms_tables *ret)
{
	uint8_t *chunk = malloc(CHUNK);
	if (!chunk)
		return error_no_memory();
	struct error *error = NULL;
	bool found = false;
	uint64_t address = stext;
	while (!found && !error && address >= stext && address - stext < SCAN_RANGE) {
		struct error *why;
		size_t size = memory_read_some(memory, address, chunk, CHUNK, &why);
		found = find_in_chunk(memory, address, chunk, size, ret);
		if (!why) {
			/* What straddles the edge is seen with the next chunk. */
			address += CHUNK - sizeof(digits);
		} else {
			address = ((address + size) & ~(uint64_t)(PAGE - 1)) + PAGE;
			error_free(why);
		}
		error = interrupt_check();
	}
	free(chunk);
	if (error || found)
		return error;
	return error_create(ERROR_NOT_FOUND,
			    "kallsyms: no token table within %" PRIu64
			    " MiB after _stext (0x%" PRIx64 ")",
			    SCAN_RANGE >> 20, stext);
}

/* A part of the kernel's memory where the number of symbols and the names are looked for. */
struct region {
	struct memory *memory;
	const bool *kind_tokens; /* tokens that begin with a letter that can be a kind */
	uint8_t *data;
	size_t size;
	uint64_t address;
};

/* A look at a few records, which spares the walk over most numbers that are none. */
static bool begins_like_names(const struct region *region, size_t offset)
{
	for (int i = 0; i < 32; i++) {
		if (region->size - offset < 3)
			return false;
		const uint8_t *record = region->data + offset;
		if (!record[0] || record[0] & 0x80)
			return i > 0;
		if (!region->kind_tokens[record[1]] || record[0] >= region->size - offset)
			return false;
		offset += 1u + record[0];
	}
	return true;
}

/*
 * Is there a number of symbols at `offset`, with names and markers behind it? `*ret_end`: the
 * address where the markers end.
 */
static bool names_at(const struct region *region, size_t offset, size_t gap, uint32_t *records,
		     struct kallsyms_tables *ret)
{
	uint32_t count = load_u32(region->data + offset, region->memory->big_endian);
	size_t names = offset + gap;
	if (count < COUNT_MIN || names >= region->size || count > (region->size - names) / 2 ||
	    !begins_like_names(region, names))
		return false;
	for (int form = 0; form < 2; form++) {
		size_t size = kallsyms_walk_records(region->data + names, region->size - names,
						    count, form == 0, records);
		uint64_t end;
		if (!size || !kallsyms_markers_agree(region->memory, region->address + names + size,
						     records, count, &end))
			continue;
		ret->num_syms = region->address + offset;
		ret->names = region->address + names;
		return true;
	}
	return false;
}

/* The names come before the token table in every kernel: search backwards from that. */
static bool find_names(const struct region *region, struct kallsyms_tables *tables)
{
	uint32_t *records = malloc(region->size / 2 * sizeof(*records));
	if (!records)
		return false;
	bool found = false;
	/* The gap is the padding of the label: to a word, since 7.0 to four bytes. */
	for (size_t offset = region->size & ~(size_t)3; offset >= 4 && !found;) {
		offset -= 4;
		found = names_at(region, offset, region->memory->word_size, records, tables);
		if (!found && region->memory->word_size != 4)
			found = names_at(region, offset, 4, records, tables);
	}
	free(records);
	return found;
}

static struct error *read_kind_tokens(struct memory *memory, const struct kallsyms_tables *tables,
				      bool ret[TOKENS])
{
	uint8_t index[TOKENS * 2];
	struct error *error = memory_read(memory, tables->token_index, index, sizeof(index));
	for (size_t i = 0; i < TOKENS && !error; i++) {
		uint8_t first = 0;
		error = memory_read_u8(
			memory, tables->token_table + load_u16(index + i * 2, memory->big_endian),
			&first);
		ret[i] = first && strchr("abcdginprstuvwABCDGINPRSTUVW?", first);
	}
	return error;
}

/*
 * Reads the last `size` bytes before `end`, or less: down to the first page that is not there.
 * Caller frees ret->data.
 */
static struct error *read_downwards(struct region *ret, uint64_t end, uint64_t size)
{
	ret->data = malloc(size);
	if (!ret->data)
		return error_no_memory();
	uint64_t at = end;
	while (end - at < size) {
		uint64_t from = (at - 1) & ~(uint64_t)(PAGE - 1);
		if (end - from > size)
			from = end - size;
		struct error *error = memory_read(ret->memory, from,
						  ret->data + (size - (end - from)), at - from);
		error_free(error);
		if (error)
			break;
		at = from;
	}
	ret->address = at;
	ret->size = (size_t)(end - at);
	memmove(ret->data, ret->data + (size - ret->size), ret->size);
	return NULL;
}

static struct error *find_name_tables(struct memory *memory, uint64_t stext,
				      struct kallsyms_tables *tables)
{
	bool kind_tokens[TOKENS];
	struct error *error = read_kind_tokens(memory, tables, kind_tokens);
	if (error)
		return error_prefix(error, "kallsyms: looking for the names");
	/* Labels are at multiples of four: let the region end at one. */
	uint64_t end = align_up(tables->token_table, 4);
	uint64_t limit = end - stext < NAMES_WINDOW ? end - stext : NAMES_WINDOW;
	for (uint64_t size = 4 << 20;; size *= 4) {
		size = size < limit ? size : limit & ~(uint64_t)3;
		struct region region = { .memory = memory, .kind_tokens = kind_tokens };
		error = read_downwards(&region, end, size);
		if (error)
			return error;
		bool found = find_names(&region, tables);
		bool is_all = size == (limit & ~(uint64_t)3) || region.size < size;
		free(region.data);
		if (found)
			return NULL;
		if (is_all)
			break;
		error = interrupt_check();
		if (error)
			return error;
	}
	return error_create(ERROR_NOT_FOUND,
			    "kallsyms: no names before the token table (0x%" PRIx64 ")",
			    tables->token_table);
}

struct error *kallsyms_scan(struct memory *memory, uint64_t stext,
			    struct kallsyms_tables ret[KALLSYMS_CANDIDATES], size_t *ret_count)
{
	if (!stext)
		return error_create(ERROR_NOT_FOUND,
				    "kallsyms: VMCOREINFO names neither the tables nor _stext");
	struct kallsyms_tables found = { .stext = stext };
	struct error *error = find_token_tables(memory, stext, &found);
	if (!error)
		error = find_name_tables(memory, stext, &found);
	uint32_t count = 0;
	if (!error)
		error = memory_read_u32(memory, found.num_syms, &count);
	if (error)
		return error;
	uint64_t word = memory->word_size;
	uint64_t size = (uint64_t)count * 4;
	uint64_t behind = found.token_index + TOKENS * 2;
	for (size_t i = 0; i < KALLSYMS_CANDIDATES; i++)
		ret[i] = found;
	/* Up to 6.3: before the number of symbols, with a base or as words. */
	ret[0].relative_base = found.num_syms - word;
	ret[0].offsets = ret[0].relative_base - align_up(size, word);
	ret[1].addresses = found.num_syms - count * word;
	/* 6.4 to 6.19 (404bad70fcf7): behind the token index. */
	ret[2].offsets = align_up(behind, word);
	ret[2].relative_base = align_up(ret[2].offsets + size, word);
	ret[3].addresses = align_up(behind, word);
	/* 7.0 (a081b5789255): no base. */
	ret[4].offsets = align_up(behind, 4);
	*ret_count = KALLSYMS_CANDIDATES;
	return NULL;
}
