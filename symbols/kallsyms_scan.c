// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The kallsyms tables by their shape. The token table gives itself away: digits always are tokens
 * of their own, so it holds "0\0" "1\0" ... "9\0"; the index behind it must point at every string
 * of it. Before the token table the markers count up from zero; the names end before the markers,
 * with as many records behind the last marker as the number of symbols, before the names, says.
 * Where the addresses are follows from the order of the tables (KERNEL-FORMATS 2.3).
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
#define MARKERS_MIN  4
/* Looks at what is not it: a kernel has one such row of digits, and markers behind few zeros. */
#define DIGITS_MAX   1024u
#define STEPS_MAX    (1u << 26)
#define RECORD_STEPS 64u
/* Bytes of a record: its length and one token; two of length and what KSYM_NAME_LEN allows. */
#define RECORD_MIN 2
#define RECORD_MAX 514

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

/* *tries: how many rows of digits may still be looked at. */
static bool find_in_chunk(struct memory *memory, uint64_t address, const uint8_t *chunk,
			  size_t size, unsigned int *tries, struct kallsyms_tables *ret)
{
	const uint8_t *at = chunk;
	const uint8_t *end = chunk + size;
	while (*tries && (at = memmem(at, (size_t)(end - at), digits, sizeof(digits)))) {
		--*tries;
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
	unsigned int tries = DIGITS_MAX;
	uint64_t address = stext;
	while (!found && !error && tries && address >= stext && address - stext < SCAN_RANGE) {
		struct error *why;
		size_t size = memory_read_some(memory, address, chunk, CHUNK, &why);
		found = find_in_chunk(memory, address, chunk, size, &tries, ret);
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

/* What lies before the token table; what is not there is zero. */
struct region {
	struct memory *memory;
	uint8_t *data;
	size_t size;
	uint64_t address;
	uint64_t steps; /* that may still be taken */
};

static void take_steps(struct region *region, uint64_t count)
{
	region->steps -= count < region->steps ? count : region->steps;
}

static uint32_t word_at(const struct region *region, size_t offset)
{
	return load_u32(region->data + offset, region->memory->big_endian);
}

/* Can `runs` runs of records lie between two markers? */
static bool is_distance(uint32_t from, uint32_t to, uint32_t runs)
{
	return to > from && to - from >= RECORD_MIN * KALLSYMS_MARKER_STEP * runs &&
	       to - from <= RECORD_MAX * KALLSYMS_MARKER_STEP * runs;
}

/*
 * Where markers end that begin at `start` with 0: as long as each is as far from the one before as
 * markers are. A damaged one between two that fit is stepped over.
 */
static size_t markers_end(const struct region *region, size_t start)
{
	size_t at = start + 4;
	uint32_t value = 0;
	while (region->size - at >= 4) {
		uint32_t next = word_at(region, at);
		uint32_t beyond = region->size - at >= 8 ? word_at(region, at + 4) : 0;
		if (is_distance(value, next, 1)) {
			at += 4;
			value = next;
		} else if (is_distance(value, beyond, 2)) {
			at += 8;
			value = beyond;
		} else {
			break;
		}
	}
	return at;
}

/*
 * Are there names at `names`, `count` of them? Their last run, which the last marker points at, has
 * to end where the markers begin. The names before it may be damaged.
 */
static bool names_fit(struct region *region, size_t names, uint32_t count, size_t markers,
		      size_t marker_count)
{
	if (!count || (count - 1) / KALLSYMS_MARKER_STEP + 1 != marker_count)
		return false;
	take_steps(region, RECORD_STEPS);
	size_t last = names + word_at(region, markers + (marker_count - 1) * 4);
	uint32_t left = count - (uint32_t)(marker_count - 1) * KALLSYMS_MARKER_STEP;
	for (int form = 0; form < 2 && last < markers; form++) {
		size_t size = kallsyms_walk_records(region->data + last, markers - last, left,
						    form == 0, NULL);
		/* The gap is the padding of the label. */
		if (size && markers - last - size < region->memory->word_size)
			return true;
	}
	return false;
}

/* The number of symbols and the names behind it, by the markers behind these. */
static bool find_names_before(struct region *region, size_t markers, size_t end,
			      struct kallsyms_tables *tables)
{
	size_t marker_count = (end - markers) / 4;
	size_t last = word_at(region, end - 4);
	if (last + RECORD_MIN + 4 > markers)
		return false;
	/* From the shortest to the longest of last runs. */
	size_t offset = (markers - last - RECORD_MIN) & ~(size_t)3;
	size_t longest = KALLSYMS_MARKER_STEP * RECORD_MAX + 8;
	size_t lowest = offset > longest ? offset - longest : 4;
	for (; offset >= lowest && region->steps; offset -= 4) {
		take_steps(region, 1);
		uint32_t count = word_at(region, offset - 4);
		/* The padding of the label: to a word, since 7.0 to four bytes. */
		for (size_t gap = 0; gap < region->memory->word_size; gap += 4) {
			if (!names_fit(region, offset + gap, count, markers, marker_count))
				continue;
			tables->num_syms = region->address + offset - 4;
			tables->names = region->address + offset + gap;
			return true;
		}
	}
	return false;
}

/*
 * In every kernel the order is: number of symbols, names, markers, token table; the last two are
 * next to each other in most.
 */
static bool find_names(struct region *region, struct kallsyms_tables *tables)
{
	for (size_t start = region->size & ~(size_t)3; start >= 4 && region->steps;) {
		start -= 4;
		if (word_at(region, start))
			continue;
		size_t end = markers_end(region, start);
		take_steps(region, (end - start) / 4);
		/* What follows the markers can look like one or two more. */
		for (size_t i = 0; i < 3 && (end - start) / 4 >= MARKERS_MIN; i++, end -= 4)
			if (find_names_before(region, start, end, tables))
				return true;
	}
	return false;
}

/* Reads the last ret->size bytes before `end`. Caller frees ret->data. */
static struct error *read_downwards(struct region *ret, uint64_t end)
{
	ret->address = end - ret->size;
	ret->data = calloc(1, ret->size);
	if (!ret->data)
		return error_no_memory();
	for (uint64_t at = ret->address; at < end;) {
		struct error *why;
		at += memory_read_some(ret->memory, at, ret->data + (at - ret->address),
				       (size_t)(end - at), &why);
		/* Holes (unmapped, excluded) are stepped over by the page. */
		if (why)
			at = (at & ~(uint64_t)(PAGE - 1)) + PAGE;
		error_free(why);
	}
	return NULL;
}

static struct error *find_name_tables(struct memory *memory, uint64_t stext,
				      struct kallsyms_tables *tables)
{
	/* Labels are at multiples of four: let the region end at one. */
	uint64_t end = align_up(tables->token_table, 4);
	uint64_t limit = end - stext < NAMES_WINDOW ? end - stext : NAMES_WINDOW;
	for (uint64_t size = 4 << 20;; size *= 4) {
		struct region region = { .memory = memory, .steps = STEPS_MAX };
		region.size = (size_t)(size < limit ? size : limit & ~(uint64_t)3);
		struct error *error = read_downwards(&region, end);
		bool found = !error && find_names(&region, tables);
		free(region.data);
		if (!error)
			error = interrupt_check();
		if (error || found)
			return error;
		if (size >= limit)
			break;
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
