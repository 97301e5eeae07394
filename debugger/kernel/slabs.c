// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/kernel/slabs.h"

#include "base/array.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "base/interrupt.h"
#include "debugger/kernel/slab_private.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* More caches than any kernel has: beyond, the list is damaged. */
#define CACHES_MAX 8192

struct slabs {
	struct slab_walk *pages; /* of no cache: knows the pages only */
	uint64_t head_member;	 /* offset in struct page of where its compound begins */
	uint64_t mark_offset;
	uint32_t mark_size; /* bytes, 0: nothing marks a slab */
	struct slab_entry {
		uint64_t address;
		struct slab_walk *walk; /* NULL: it is no cache */
	} * caches;
	size_t cache_count, cache_capacity;
	struct hash_index index;
	struct error *problem; /* why the first cache that could not be read was not */
	uint64_t sheaves_left; /* objects that may still be read of sheaves */
};

void slabs_destroy(struct slabs *slabs)
{
	if (!slabs)
		return;
	for (size_t i = 0; i < slabs->cache_count; i++)
		slab_walk_destroy(slabs->caches[i].walk);
	free(slabs->caches);
	hash_index_deinit(&slabs->index);
	error_free(slabs->problem);
	slab_walk_destroy(slabs->pages);
	free(slabs);
}

struct error *slabs_problem(struct slabs *slabs)
{
	struct error *problem = slabs->problem;
	slabs->problem = NULL;
	return problem;
}

static struct error *find_head_member(struct slabs *slabs, struct target *target)
{
	struct object page;
	struct type_place place;
	TRY(object_at(target, "struct page", 0, &page));
	/* compound_info in 7.x. */
	TRY(type_find_path(page.type,
			   object_has(&page, "compound_head") ? "compound_head" : "compound_info",
			   &place));
	slabs->head_member = place.bit_offset / 8;
	if (slabs->head_member + target->memory->word_size > slabs->pages->page_record)
		return error_create(ERROR_FORMAT, "struct page is not sane");
	return NULL;
}

static struct error *open_pages(struct slabs *slabs, struct target *target)
{
	struct type_place place;
	uint64_t size;
	slabs->pages = calloc(1, sizeof(*slabs->pages));
	if (!slabs->pages)
		return error_no_memory();
	slabs->pages->target = target;
	TRY(slab_find_pages(slabs->pages));
	TRY(find_head_member(slabs, target));
	if (!slabs->pages->mark.member)
		return NULL;
	TRY(type_find_path(slabs->pages->slab.type, slabs->pages->mark.member, &place));
	if (type_size(place.type, &size) && size <= 8 &&
	    place.bit_offset / 8 + size <= slabs->pages->page_record) {
		slabs->mark_offset = place.bit_offset / 8;
		slabs->mark_size = (uint32_t)size;
	}
	return NULL;
}

struct error *slabs_create(struct target *target, struct slabs **ret)
{
	struct slabs *slabs = calloc(1, sizeof(*slabs));
	if (!slabs)
		return error_no_memory();
	slabs->sheaves_left = SLAB_SHEAVES_MOST;
	struct error *error = open_pages(slabs, target);
	if (error)
		slabs_destroy(slabs);
	else
		*ret = slabs;
	return error;
}

/* The rest of what is told of a cache. */
static struct error *read_cache_info(struct slab_walk *walk)
{
	struct object cache;
	uint64_t name, references;
	size_t length;
	TRY(object_at(walk->target, "struct kmem_cache", walk->cache, &cache));
	TRY(object_u64(&cache, "object_size", &walk->info.object_size));
	TRY(object_u64(&cache, "refcount", &references));
	TRY(object_u64(&cache, "name", &name));
	TRY(memory_read_string(walk->target->memory, name, walk->info.name, sizeof(walk->info.name),
			       &length));
	walk->info.is_shared = references != 1;
	if (walk->info.object_size > walk->object_size)
		return error_create(ERROR_FORMAT, "not a cache");
	return NULL;
}

/* NULL: there is no cache at the address. */
static struct error *find_cache(struct slabs *slabs, uint64_t address, struct slab_walk **ret)
{
	uint32_t hash = hash_address(address), number;
	size_t position = hash_index_first(&slabs->index, hash);
	while ((number = hash_index_next(&slabs->index, hash, &position)) != HASH_NONE) {
		*ret = slabs->caches[number].walk;
		if (slabs->caches[number].address == address)
			return NULL;
	}
	*ret = NULL;
	if (slabs->cache_count >= CACHES_MAX)
		return NULL;
	struct slab_walk *walk = NULL;
	struct error *error =
		slab_walk_create_like(slabs->pages->target, slabs->pages, address, &walk);
	if (!error)
		error = read_cache_info(walk);
	bool is_fatal = error && error_is_fatal(error);
	if (error)
		slab_walk_destroy(walk);
	if (is_fatal)
		return error;
	if (error)
		walk = NULL;
	else
		walk->sheaves_left = &slabs->sheaves_left;
	/* What nothing marks as a slab may as well be none. */
	if (error && slabs->mark_size && !slabs->problem)
		slabs->problem = error_prefix(error, "kmem_cache 0x%" PRIx64, address);
	else
		error_free(error);
	if (!array_reserve(&slabs->caches, &slabs->cache_capacity, slabs->cache_count + 1) ||
	    !hash_index_add(&slabs->index, hash, (uint32_t)slabs->cache_count)) {
		slab_walk_destroy(walk);
		return error_no_memory();
	}
	slabs->caches[slabs->cache_count++] = (struct slab_entry){ address, walk };
	*ret = walk;
	return NULL;
}

/* The slab that a struct page in `record` begins; *ret NULL: none. */
static struct error *cache_of_page(struct slabs *slabs, const uint8_t *record,
				   struct slab_walk **ret)
{
	const struct slab_walk *pages = slabs->pages;
	const struct memory *memory = pages->target->memory;
	*ret = NULL;
	if (slabs->mark_size) {
		uint64_t mark = load_unsigned(record + slabs->mark_offset, slabs->mark_size,
					      memory->big_endian);
		if ((mark & pages->mark.mask) != pages->mark.value)
			return NULL;
	}
	uint64_t cache =
		load_unsigned(record + pages->cache_member, memory->word_size, memory->big_endian);
	if (!cache || cache % memory->word_size || !(cache >> (memory->word_size * 8 - 1)))
		return NULL;
	return find_cache(slabs, cache, ret);
}

/* --- all slabs ------------------------------------------------------------------------------- */

/* What is asked of each slab; the questions below begin with it. */
struct slab_pass {
	struct slabs *slabs;
	const char *name; /* of the caches; NULL: any */
	struct error *(*visit)(struct slab_pass *pass, struct slab_walk *walk, uint64_t slab);
	uint64_t end; /* of the struct pages of the last slab: `visit` says it */
};

static struct error *visit_chunk(void *context, uint64_t address, size_t size)
{
	struct slab_pass *pass = context;
	const struct slab_walk *pages = pass->slabs->pages;
	for (size_t at = 0; at + pages->page_record <= size; at += pages->page_record) {
		struct slab_walk *walk;
		if (address + at < pass->end)
			continue;
		TRY(interrupt_check());
		TRY(cache_of_page(pass->slabs, pages->chunk + at, &walk));
		if (walk && (!pass->name || !strcmp(pass->name, walk->info.name)))
			TRY(pass->visit(pass, walk, address + at));
	}
	return NULL;
}

struct all_question {
	struct slab_pass pass;
	slab_object_visitor *visit;
	void *context;
	const struct slab_cache *cache;
};

static struct error *visit_any(void *context, uint64_t object, bool is_allocated)
{
	const struct all_question *question = context;
	return question->visit(question->context, question->cache, object, is_allocated);
}

static struct error *visit_objects(struct slab_pass *pass, struct slab_walk *walk, uint64_t slab)
{
	struct all_question *question = container_of(pass, struct all_question, pass);
	question->cache = &walk->info;
	return slab_visit_objects(walk, slab, visit_any, question, &pass->end);
}

struct error *slabs_for_each(struct slabs *slabs, slab_object_visitor *visit, void *context)
{
	struct all_question question = { .pass = { .slabs = slabs, .visit = visit_objects },
					 .visit = visit,
					 .context = context };
	return slab_for_each_chunk(slabs->pages, visit_chunk, &question.pass);
}

/* --- slots, taken or not -------------------------------------------------------------------- */

static struct slab_place place_of(const struct slab_walk *walk, const struct slab_slots *slots,
				  uint64_t slab, uint64_t slot, bool is_whole)
{
	uint64_t object = slots->first + slot * walk->object_size;
	bool is_free = slab_slot_is_free(slots, slot);
	return (struct slab_place){ .cache = &walk->info,
				    .slab = slab,
				    .state = is_free	? SLAB_FREE
					     : is_whole ? SLAB_ALLOCATED
							: SLAB_UNSURE,
				    .object = object,
				    .index = (uint32_t)slot,
				    .count = (uint32_t)slots->count,
				    .in_sheaf = is_free &&
						slab_sheaves_have(&walk->sheaves, object) };
}

struct slot_question {
	struct slab_pass pass;
	slab_place_visitor *visit;
	void *context;
};

/* Of sheaves; a cache is named once. */
static void note_problem(struct slabs *slabs, struct slab_walk *walk)
{
	struct error *problem = walk->sheaves.problem;
	walk->sheaves.problem = NULL;
	if (!slabs->problem)
		slabs->problem = error_prefix(problem, "kmem_cache 0x%" PRIx64, walk->cache);
	else
		error_free(problem);
}

static struct error *visit_slots(struct slab_pass *pass, struct slab_walk *walk, uint64_t slab)
{
	const struct slot_question *question = container_of(pass, struct slot_question, pass);
	struct slab_slots slots = { .free_count = 0 };
	bool is_whole, is_met;
	TRY(slab_meet(walk, slab, &slots, &is_whole, &pass->end, &is_met));
	note_problem(pass->slabs, walk);
	if (!is_met)
		return NULL;
	for (uint64_t i = 0; i < slots.count; i++) {
		struct slab_place place = place_of(walk, &slots, slab, i, is_whole);
		TRY(question->visit(question->context, &place));
	}
	return NULL;
}

struct error *slabs_for_each_slot(struct slabs *slabs, const char *name, slab_place_visitor *visit,
				  void *context)
{
	struct slot_question question = {
		.pass = { .slabs = slabs, .name = name, .visit = visit_slots },
		.visit = visit,
		.context = context
	};
	return slab_for_each_chunk(slabs->pages, visit_chunk, &question.pass);
}

/* --- one address ----------------------------------------------------------------------------- */

/* Reads the struct page of the first page of the compound that holds an address. */
static struct error *read_head(const struct slabs *slabs, uint64_t address, uint8_t *record,
			       uint64_t *ret)
{
	const struct slab_walk *pages = slabs->pages;
	struct memory *memory = pages->target->memory;
	uint64_t pages_in = (address - pages->page_offset) / pages->target->facts->page_size;
	uint64_t page = pages->vmemmap + pages_in * pages->page_record;
	uint64_t span = pages->vmemmap_size / pages->page_record * pages->target->facts->page_size;
	if (address < pages->page_offset || address - pages->page_offset >= span)
		return error_create(ERROR_NOT_FOUND, "not in the direct map");
	TRY(memory_read(memory, page, record, (size_t)pages->page_record));
	uint64_t head =
		load_unsigned(record + slabs->head_member, memory->word_size, memory->big_endian);
	*ret = page;
	if (!(head & 1))
		return NULL;
	/* compound_info in 7.x may be a mask for the address of a tail page instead. */
	bool is_mask = head >= pages->vmemmap + pages->vmemmap_size;
	*ret = is_mask ? page & head : head - 1;
	/* The address comes from the dump, so it is checked. */
	if (*ret < pages->vmemmap || *ret >= pages->vmemmap + pages->vmemmap_size ||
	    (*ret - pages->vmemmap) % pages->page_record)
		return error_create(ERROR_FORMAT, "the page has no head");
	return memory_read(memory, *ret, record, (size_t)pages->page_record);
}

static struct error *find_slab(struct slabs *slabs, uint64_t address, struct slab_walk **ret_cache,
			       uint64_t *ret)
{
	uint8_t record[SLAB_HOLE_SIZE];
	TRY(read_head(slabs, address, record, ret));
	TRY(cache_of_page(slabs, record, ret_cache));
	if (!*ret_cache)
		return error_create(ERROR_NOT_FOUND, "not in a slab");
	return NULL;
}

struct error *slabs_slot(struct slabs *slabs, uint64_t address, const struct slab_cache **ret_cache,
			 uint64_t *ret_slot)
{
	struct slab_walk *walk;
	uint64_t slab;
	TRY(find_slab(slabs, address, &walk, &slab));
	uint64_t first = slab_first_slot(walk, slab);
	if (address < first)
		return error_create(ERROR_NOT_FOUND, "before the first object");
	*ret_cache = &walk->info;
	*ret_slot = address - (address - first) % walk->object_size;
	return NULL;
}

struct error *slabs_find(struct slabs *slabs, uint64_t address, struct slab_place *ret)
{
	struct slab_walk *walk;
	struct slab_slots slots = { .free_count = 0 };
	uint64_t head;
	bool whole;
	TRY(find_slab(slabs, address, &walk, &head));
	TRY(slab_read(walk, head, &slots, &whole));
	uint64_t slot = (address - slots.first) / walk->object_size;
	/* Before the first one lies its left red zone, behind the last one nothing. */
	if (address < slots.first || slot >= slots.count)
		*ret = (struct slab_place){ .cache = &walk->info,
					    .slab = head,
					    .state = SLAB_NO_OBJECT,
					    .count = (uint32_t)slots.count };
	else
		*ret = place_of(walk, &slots, head, slot, whole);
	return NULL;
}
