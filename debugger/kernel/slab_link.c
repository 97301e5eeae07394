// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/kernel/slab_link.h"

#include "base/ascii.h"
#include "base/interrupt.h"
#include "debugger/kernel/slab_lists.h"
#include "debugger/kernel/slab_private.h"
#include <string.h>

#define NUMBER_MAX   UINT16_MAX
#define CHUNK	     4096u
#define TEXTS_MAX    4096u	 /* slots that text is looked for in their slabs */
#define SEARCHED_MAX (64u << 10) /* bytes of a slab */
/* Lists that somebody wrote can have as many slabs as a dump has bytes for. */
#define SLOTS_MAX (1u << 22)

/* One byte over and over, or a small number: 64 bits that are so by chance there are none of. */
static bool is_written(uint64_t word)
{
	return word <= NUMBER_MAX || word == (word & 0xff) * UINT64_C(0x0101010101010101);
}

/*
 * Eight letters may be chance, of many slots; that they lie in the slab once more is none. Returns
 * where; 0: nowhere.
 */
static uint64_t find_text(const struct slab_walk *walk, const struct slab_slots *slots,
			  uint64_t word, uint32_t *left)
{
	uint8_t bytes[CHUNK];
	uint64_t size = slots->count * walk->object_size, got;
	for (unsigned int i = 0; i < sizeof(word); i++)
		if (!ascii_is_print((char)(word >> 8 * i)))
			return 0;
	/* Of real slots one in thousands comes so far. */
	if (!*left)
		return 0;
	--*left;
	size = size < SEARCHED_MAX ? size : SEARCHED_MAX;
	/* Each piece begins with the last bytes of the one before, that none is cut in two. */
	for (uint64_t at = 0; at + sizeof(word) <= size; at += got - sizeof(word) + 1) {
		got = size - at < sizeof(bytes) ? size - at : sizeof(bytes);
		struct error *error =
			memory_read(walk->target->memory, slots->first + at, bytes, got);
		const uint8_t *found = error ? NULL : memmem(bytes, got, &word, sizeof(word));
		error_free(error);
		if (found)
			return slots->first + at + (uint64_t)(found - bytes);
	}
	return 0;
}

static struct slab_link link_of(const struct slab_walk *walk, const struct slab_slots *slots,
				uint64_t slot)
{
	return (struct slab_link){ .slot = slot,
				   .place = slot + walk->free_offset,
				   .before = slot == slots->first ? 0 : slot - walk->object_size,
				   .size = walk->object_size };
}

/*
 * Each slot is obfuscated with its own address: of the words that would have led there, one for
 * each slot, a single one is no random number.
 */
static void rebuild(const struct slab_walk *walk, const struct slab_slots *slots, uint64_t access,
		    uint32_t *texts_left, struct slab_link *ret, size_t *count)
{
	for (uint64_t i = 0; i < slots->count && walk->is_hardened; i++) {
		uint64_t slot = slots->first + i * walk->object_size;
		/* To decode is to encode. */
		uint64_t stored = slab_decode_link(walk, access - walk->free_offset,
						   slot + walk->free_offset);
		uint64_t text = find_text(walk, slots, stored, texts_left);
		if (!is_written(stored) && !text)
			continue;
		*ret = link_of(walk, slots, slot);
		ret->stored = stored;
		ret->text = text;
		ret->is_gone = true;
		++*count;
	}
}

static void look_into(const struct slab_walk *walk, const struct slab_slots *slots, uint64_t access,
		      struct slab_link *ret)
{
	for (uint64_t i = 0; i < slots->count && !ret->slot; i++) {
		uint64_t slot = slots->first + i * walk->object_size, stored;
		uint64_t place = slot + walk->free_offset;
		struct error *error = memory_read_word(walk->target->memory, place, &stored);
		bool leads = !error &&
			     slab_decode_link(walk, stored, place) + walk->free_offset == access;
		error_free(error);
		if (leads)
			*ret = link_of(walk, slots, slot);
		if (leads)
			ret->stored = stored;
	}
}

static struct error *look_through(struct slab_walk *walk, const struct slab_lists *lists,
				  uint64_t access, struct slab_link *ret)
{
	struct slab_link rebuilt = { 0 };
	size_t count = 0;
	uint64_t met = 0;
	uint32_t texts_left = TEXTS_MAX;
	for (size_t i = 0; i < lists->count && !ret->slot; i++) {
		struct slab_slots slots = { .free_count = 0 };
		bool is_whole, is_met;
		uint64_t end;
		TRY(interrupt_check());
		TRY(slab_meet(walk, lists->items[i].slab, &slots, &is_whole, &end, &is_met));
		met += is_met ? slots.count : 1;
		/* That one alone leads there would not be known. */
		if (met > SLOTS_MAX)
			return NULL;
		if (!is_met)
			continue;
		look_into(walk, &slots, access, ret);
		rebuild(walk, &slots, access, &texts_left, &rebuilt, &count);
	}
	if (!ret->slot && count == 1 && texts_left)
		*ret = rebuilt;
	return NULL;
}

struct error *slab_link_find(struct target *target, uint64_t cache, uint64_t access,
			     struct slab_link *ret)
{
	struct slab_lists lists = { .items = NULL };
	struct slab_walk *walk;
	struct error *problem = NULL;
	*ret = (struct slab_link){ 0 };
	TRY(slab_walk_create(target, cache, &walk));
	struct error *error = slab_lists_add(&lists, target, cache, &problem);
	/* What is broken in the lists is no wonder here: those that are left are looked at. */
	error_free(problem);
	if (!error)
		error = look_through(walk, &lists, access, ret);
	slab_lists_deinit(&lists);
	slab_walk_destroy(walk);
	return error;
}
