// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/analysis/object_owner.h"

#include "debugger/analysis/list_link.h"
#include "debugger/analysis/pointer_way.h"
#include "debugger/analysis/variable_search.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PLACES_MAX 32
#define OBJECT_MAX (64u << 10) /* bytes of an object that are looked into */

/* Two pointers of different modules say nothing: one may be what is left of an earlier owner. */
struct tally {
	struct target *target;
	struct object_owner *ret;
	bool is_several;
	uint32_t links_left;
	/* The slab's object that all ways lead through last; size 0: none, or several. */
	struct object_note container;
	uint64_t last; /* a pointer in it */
	size_t ways;
};

/* `named`: what has a symbol of the module that tells; `place`: where the pointer lies. */
static void count(struct tally *tally, uint64_t named, uint64_t place)
{
	char words[SYMBOL_NAME_SIZE + 96];
	struct symbol symbol;
	uint64_t offset;
	if (!target_symbol_at(tally->target, named, &symbol, &offset) || !symbol.module ||
	    !target_describe(tally->target, named, words, sizeof(words)))
		return;
	if (tally->ret->place) {
		tally->is_several |= strcmp(tally->ret->module, symbol.module) != 0;
		return;
	}
	tally->ret->place = place;
	snprintf(tally->ret->module, sizeof(tally->ret->module), "%s", symbol.module);
	snprintf(tally->ret->name, sizeof(tally->ret->name), "%s", words);
	tally->ret->is_pointed_at = named == place;
}

/* All ways may end in one object, whose owner has what that points at. */
static void note_container(struct tally *tally, uint64_t last)
{
	struct object_note note;
	struct error *error = object_note_find(tally->target, last, &note);
	bool is_slab = !error && note.is_slab && note.object;
	error_free(error);
	if (!tally->ways++ && is_slab)
		tally->container = note;
	else if (!is_slab || note.object != tally->container.object)
		tally->container = (struct object_note){ .is_slab = false };
	tally->last = last;
}

static void count_way(void *context, const struct pointer_way *way)
{
	struct tally *tally = context;
	note_container(tally, way->last);
	bool is_first = !tally->ret->place;
	struct symbol symbol;
	uint64_t offset;
	/* What the kernel has as near is no module's. */
	tally->is_several |= target_symbol_at(tally->target, way->variable, &symbol, &offset) &&
			     !symbol.module;
	count(tally, way->variable, way->variable);
	if (!is_first || !tally->ret->place)
		return;
	tally->ret->pointers = way->pointers;
	tally->ret->last = way->last;
}

static struct error *count_variables(struct tally *tally, uint64_t object, uint64_t size)
{
	uint64_t places[PLACES_MAX];
	size_t found;
	TRY(variables_find_pointers(tally->target, VARIABLES_OF_MODULES, object, size, places,
				    PLACES_MAX, &found));
	for (size_t i = 0; i < found; i++)
		if (!list_link_is_kernels(tally->target, places[i], &tally->links_left))
			count(tally, places[i], places[i]);
	return NULL;
}

static void count_contents(struct tally *tally, uint64_t object, uint64_t size)
{
	for (uint64_t at = 0; at + sizeof(uint64_t) <= size && at < OBJECT_MAX;
	     at += sizeof(uint64_t)) {
		uint64_t value;
		struct error *error = memory_read_word(tally->target->memory, object + at, &value);
		if (!error && is_kernel_pointer(value) &&
		    !list_link_is_kernels(tally->target, object + at, &tally->links_left))
			count(tally, value, object + at);
		error_free(error);
	}
}

/* What the kernel has in lists of its own, a module may have made, and have: a network device. */
static struct error *find_by_container(struct tally *tally)
{
	const struct object_note *container = &tally->container;
	tally->is_several = false;
	TRY(count_variables(tally, container->object, container->size));
	if (tally->is_several)
		*tally->ret = (struct object_owner){ 0 };
	if (!tally->ret->place)
		return NULL;
	tally->ret->pointers = 2;
	tally->ret->last = tally->last;
	return NULL;
}

struct error *object_owner_find(struct target *target, uint64_t object, uint64_t size,
				struct object_owner *ret)
{
	struct tally tally = { .target = target, .ret = ret, .links_left = LIST_LINKS_MOST };
	*ret = (struct object_owner){ 0 };
	TRY(count_variables(&tally, object, size));
	if (!ret->place)
		count_contents(&tally, object, size);
	if (!ret->place)
		TRY(error_only_fatal(pointer_ways_find(target, object, size, count_way, &tally)));
	if (!tally.is_several)
		return NULL;
	*ret = (struct object_owner){ 0 };
	return tally.container.object ? find_by_container(&tally) : NULL;
}

struct error *object_owner_of(struct target *target, const struct object_note *note,
			      struct object_owner *ret)
{
	*ret = (struct object_owner){ 0 };
	return note->is_slab && note->object
		       ? object_owner_find(target, note->object, note->size, ret)
		       : NULL;
}

void object_owner_spell(const struct object_owner *owner, const char *what, char *buffer,
			size_t size)
{
	*buffer = 0;
	if (owner->place && owner->pointers)
		snprintf(buffer, size,
			 "%s leads to %s by %" PRIu32 " pointers, the last at 0x%" PRIx64,
			 owner->name, what, owner->pointers, owner->last);
	else if (owner->place && owner->is_pointed_at)
		snprintf(buffer, size, "%s points at %s", owner->name, what);
	else if (owner->place)
		snprintf(buffer, size, "%s points to %s", what, owner->name);
}
