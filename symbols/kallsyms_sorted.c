// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Symbols by name, by the order that the kernel keeps for itself: kallsyms_seqs_of_names (since
 * 6.2), the numbers of all symbols, sorted by name and then by number, 3 bytes each, most
 * significant first. Nothing names the table; it lies beside others (KERNEL-FORMATS 2.3).
 */
#include "symbols/kallsyms.h"

#include "base/array.h"
#include <stdlib.h>
#include <string.h>

#define ENTRY	   3u
#define SAMPLES	   64u
#define PLACES	   3
#define NEIGHBOURS 2u /* entries on either side of a place that must be in order, too */

static uint32_t entry_at(const struct kallsyms *kallsyms, uint32_t place)
{
	const uint8_t *entry = kallsyms->sorted + (size_t)place * ENTRY;
	return (uint32_t)entry[0] << 16 | (uint32_t)entry[1] << 8 | entry[2];
}

/* Is the symbol's name before `name` (below 0), the same, or behind it? */
static int compare_name(const struct kallsyms *kallsyms, uint32_t number, const char *name)
{
	struct kallsyms_parts parts = kallsyms_parts(kallsyms, number);
	const char *text;
	size_t size;
	while (kallsyms_next_part(&parts, &text, &size)) {
		int order = strncmp(text, name, size);
		if (order)
			return order;
		name += size;
	}
	return *name ? -1 : 0;
}

/* By name, then by number. */
static int compare(const struct kallsyms *kallsyms, uint32_t place, const char *name, uint32_t from)
{
	uint32_t number = entry_at(kallsyms, place);
	int order = compare_name(kallsyms, number, name);
	return order ? order : number < from ? -1 : number > from;
}

/* Are the entry and the one behind it symbols, and in order? */
static bool is_in_order(const struct kallsyms *kallsyms, uint32_t place)
{
	char name[SYMBOL_NAME_SIZE], kind;
	uint32_t first = entry_at(kallsyms, place), second = entry_at(kallsyms, place + 1);
	if (first >= kallsyms->count || second >= kallsyms->count)
		return false;
	kallsyms_name(kallsyms, first, name, sizeof(name), &kind);
	return compare(kallsyms, place + 1, name, first) > 0;
}

static bool looks_sorted(const struct kallsyms *kallsyms)
{
	for (uint32_t i = 0; i < SAMPLES; i++)
		if (!is_in_order(kallsyms,
				 (uint32_t)((uint64_t)(kallsyms->count - 2) * i / (SAMPLES - 1))))
			return false;
	return true;
}

/* Reads it from there; false: it is not there. */
static bool read_at(struct kallsyms *kallsyms, struct memory *memory, uint64_t address)
{
	struct error *error =
		memory_read(memory, address, kallsyms->sorted, (size_t)kallsyms->count * ENTRY);
	bool is_read = !error;
	error_free(error);
	return is_read && looks_sorted(kallsyms);
}

void kallsyms_read_sorted(struct kallsyms *kallsyms, struct memory *memory,
			  const struct kallsyms_tables *tables)
{
	uint64_t size = (uint64_t)kallsyms->count * ENTRY, word = memory->word_size;
	uint64_t addresses = tables->offsets + (uint64_t)kallsyms->count * 4;
	uint64_t places[PLACES];
	size_t count = 0;
	/* Names that are lost would lie where nothing finds them, nor their neighbours. */
	if (kallsyms->count < 2 || kallsyms->damage)
		return;
	/* Behind the addresses since 6.4, without a base since 7.0; before that behind the names.
	 */
	if (tables->offsets > tables->names && tables->relative_base)
		places[count++] = tables->relative_base + word;
	else if (tables->offsets > tables->names)
		places[count++] = addresses;
	if (tables->token_table > tables->names)
		places[count++] = tables->token_table - (size + word - 1) / word * word;
	kallsyms->sorted = malloc((size_t)size);
	for (size_t i = 0; kallsyms->sorted && i < count; i++)
		if (read_at(kallsyms, memory, places[i]))
			return;
	free(kallsyms->sorted);
	kallsyms->sorted = NULL;
}

/* A damaged entry leads astray to where it does not fit its neighbours. */
static bool is_sound_around(const struct kallsyms *kallsyms, uint32_t place)
{
	uint32_t start = place > NEIGHBOURS ? place - NEIGHBOURS : 0;
	for (uint32_t i = start; i < place + NEIGHBOURS && i + 1 < kallsyms->count; i++)
		if (!is_in_order(kallsyms, i))
			return false;
	return true;
}

/* Whether an entry is before that name and number; `*damaged` is set where it is no symbol's. */
static bool is_before(const struct kallsyms *kallsyms, uint32_t place, const char *name,
		      uint32_t from, bool *damaged)
{
	if (entry_at(kallsyms, place) < kallsyms->count)
		return compare(kallsyms, place, name, from) < 0;
	*damaged = true;
	return false;
}

enum kallsyms_found kallsyms_find_sorted(const struct kallsyms *kallsyms, const char *name,
					 uint32_t from, uint32_t *ret)
{
	bool is_damaged = false;
	uint32_t place =
		array_bound(kallsyms->count, i, is_before(kallsyms, i, name, from, &is_damaged));
	if (is_damaged)
		return KALLSYMS_UNSURE;
	if (place < kallsyms->count && entry_at(kallsyms, place) < kallsyms->count &&
	    kallsyms_name_is(kallsyms, entry_at(kallsyms, place), name, strlen(name))) {
		*ret = entry_at(kallsyms, place);
		return KALLSYMS_FOUND;
	}
	return is_sound_around(kallsyms, place) ? KALLSYMS_ABSENT : KALLSYMS_UNSURE;
}
