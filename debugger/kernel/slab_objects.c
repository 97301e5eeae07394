// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A slab is some pages of equal slots. What it says of itself lies in the struct page of the first
 * one, in vmemmap: its cache, its slots, how many of them are taken, the first free one. Free slots
 * are chained through a pointer in the slot. While a CPU allocates from a slab it keeps a second
 * chain of its own (struct kmem_cache_cpu), and the slab counts all slots as taken. Since 6.18 CPUs
 * and nodes keep sheaves of them instead.
 */
#include "debugger/kernel/slab_private.h"

#include "base/array.h"
#include "base/bytes.h"
#include "base/interrupt.h"
#include "debugger/target/object.h"
#include <inttypes.h>
#include <stdlib.h>

/* Page tables that are not right may be endless. */
#define HOLES_MAX (1u << 20)
/* So many bytes of vmemmap are read at once. */
#define CHUNK_SIZE (64u << 10)
/* log2 of the pages of a slab: MAX_PAGE_ORDER is 13 at most. */
#define ORDER_MAX 16
/* 52 bits are the most that any processor has. */
#define PHYSICAL_MAX ((uint64_t)1 << 52)

/* --- what is known before --------------------------------------------------------------- */

static struct error *read_variable(struct target *target, const char *name, uint64_t *ret)
{
	uint64_t address;
	if (!symtab_address(target->symbols, name, &address))
		return error_create(ERROR_NOT_FOUND, "the kernel has no symbol %s", name);
	return error_prefix(memory_read_word(target->memory, address, ret), "%s", name);
}

static struct error *read_cache(struct slab_walk *walk, const struct object *cache)
{
	uint64_t order_objects;
	TRY(object_u64(cache, "size", &walk->object_size));
	TRY(object_u64(cache, "offset", &walk->free_offset));
	/* The number of objects in its lower half, the order of pages above. */
	TRY(object_u64(cache, "oo.x", &order_objects));
	walk->objects_limit = order_objects & 0xffff;
	uint64_t order = order_objects >> 16;
	walk->info.address = cache->address;
	walk->info.slot_size = walk->object_size;
	if (object_has(cache, "red_left_pad"))
		TRY(object_u64(cache, "red_left_pad", &walk->left_pad));
	walk->is_hardened = object_has(cache, "random");
	if (walk->is_hardened)
		TRY(object_u64(cache, "random", &walk->random));
	uint64_t word = walk->target->memory->word_size;
	if (walk->objects_limit > SLAB_OBJECTS_MAX || walk->object_size < word ||
	    walk->free_offset > walk->object_size - word || walk->left_pad > walk->object_size ||
	    order > ORDER_MAX ||
	    (walk->objects_limit &&
	     walk->object_size > (walk->target->facts->page_size << order) / walk->objects_limit))
		return error_create(ERROR_FORMAT, "objects of %" PRIu64 " bytes are not sane",
				    walk->object_size);
	return NULL;
}

static struct error *add_chain(struct slab_walk *walk, const struct object *cache,
			       const struct cpu *cpu)
{
	struct object own;
	struct cpu_chain chain;
	TRY(object_follow(cache, "cpu_slab", &own));
	if (!own.address)
		return error_create(ERROR_FORMAT, "cpu_slab is NULL");
	own.address += cpu->per_cpu_offset;
	/* `page` up to 5.16 (bb192ed9aa71). */
	TRY(object_u64(&own, object_has(&own, "slab") ? "slab" : "page", &chain.slab));
	TRY(object_u64(&own, "freelist", &chain.first));
	if (!chain.slab || !chain.first)
		return NULL;
	if (!array_reserve(&walk->chains, &walk->chain_capacity, walk->chain_count + 1))
		return error_no_memory();
	walk->chains[walk->chain_count++] = chain;
	return NULL;
}

static struct error *read_chains(struct slab_walk *walk, const struct object *cache)
{
	const struct cpu *cpus;
	if (!object_has(cache, "cpu_slab"))
		return NULL;
	TRY(target_need_cpus(walk->target));
	size_t count = target_cpus(walk->target, &cpus);
	for (size_t i = 0; i < count; i++)
		TRY(error_prefix(add_chain(walk, cache, &cpus[i]), "cpu_slab of CPU %" PRIu32,
				 cpus[i].number));
	return NULL;
}

/*
 * A flag up to 6.9, then a page type: some bits cleared in 6.10 and 6.11, a number in the high byte
 * since 6.12 (4ffca5a96678). Where BTF does not have the constant the cache alone tells.
 */
static void find_mark(struct slab_walk *walk)
{
	const struct btf *btf = walk->target->btf;
	struct btf_enumerator slab;
	struct btf_type enumeration;
	uint32_t id;
	const char *type = object_has(&walk->slab, "__page_type") ? "__page_type" : "page_type";
	const char *flags = object_has(&walk->slab, "__page_flags") ? "__page_flags" : "flags";
	if (btf_find_enumerator(btf, "PGTY_slab", &id, &slab) && object_has(&walk->slab, type))
		walk->mark = (struct slab_mark){ type, 0xff000000, (uint64_t)slab.value << 24 };
	else if (btf_find_enumerator(btf, "PG_slab", &id, &slab) &&
		 btf_get(btf, id, &enumeration) && !strcmp(enumeration.name, "pageflags") &&
		 slab.value >= 0 && slab.value < 64 && object_has(&walk->slab, flags))
		walk->mark = (struct slab_mark){ flags, (uint64_t)1 << slab.value,
						 (uint64_t)1 << slab.value };
}

struct error *slab_find_pages(struct slab_walk *walk)
{
	struct target *target = walk->target;
	struct type page;
	TRY(target_find_type(target, NULL, "struct page", &page));
	if (!type_size(page, &walk->page_record) || !walk->page_record ||
	    walk->page_record > SLAB_HOLE_SIZE)
		return error_create(ERROR_FORMAT, "struct page has no sane size");
	/* struct page itself up to 5.16 (d122019bf061). */
	struct error *error = object_at(target, "struct slab", 0, &walk->slab);
	error_free(error);
	if (error)
		TRY(object_at(target, "struct page", 0, &walk->slab));
	struct type_place place;
	TRY(type_find_path(walk->slab.type, "slab_cache", &place));
	walk->cache_member = place.bit_offset / 8;
	if (walk->cache_member + target->memory->word_size > walk->page_record)
		return error_create(ERROR_FORMAT, "struct slab is larger than struct page");
	find_mark(walk);
	TRY(read_variable(target, "vmemmap_base", &walk->vmemmap));
	TRY(read_variable(target, "page_offset_base", &walk->page_offset));
	uint64_t end = target->facts->max_physical;
	if (!target->facts->page_size || !end || end > PHYSICAL_MAX)
		return error_create(ERROR_FORMAT, "the dump does not say how much memory there is");
	walk->vmemmap_size = end / target->facts->page_size * walk->page_record;
	return NULL;
}

static struct error *prepare(struct slab_walk *walk, uint64_t address)
{
	struct object cache;
	walk->cache = address;
	TRY(object_at(walk->target, "struct kmem_cache", address, &cache));
	TRY(error_prefix(read_cache(walk, &cache), "kmem_cache 0x%" PRIx64, address));
	return error_prefix(read_chains(walk, &cache), "kmem_cache 0x%" PRIx64, address);
}

/* With `pages` of another cache's, NULL: none is known. */
struct error *slab_walk_create_like(struct target *target, const struct slab_walk *pages,
				    uint64_t cache, struct slab_walk **ret)
{
	struct slab_walk *walk = calloc(1, sizeof(*walk));
	if (!walk)
		return error_no_memory();
	if (pages)
		*walk = *pages;
	walk->target = target;
	walk->chunk = NULL;
	struct error *error = pages ? NULL : slab_find_pages(walk);
	if (!error)
		error = prepare(walk, cache);
	if (error)
		slab_walk_destroy(walk);
	else
		*ret = walk;
	return error;
}

struct error *slab_walk_create(struct target *target, uint64_t cache, struct slab_walk **ret)
{
	return slab_walk_create_like(target, NULL, cache, ret);
}

void slab_walk_destroy(struct slab_walk *walk)
{
	if (!walk)
		return;
	free(walk->chains);
	slab_sheaves_deinit(&walk->sheaves);
	free(walk->chunk);
	free(walk);
}

/* --- one slab ------------------------------------------------------------------------------ */

uint64_t slab_decode_link(const struct slab_walk *walk, uint64_t stored, uint64_t link)
{
	if (!walk->is_hardened)
		return stored;
	bool is_32 = walk->target->memory->word_size == 4;
	return stored ^ walk->random ^
	       (is_32 ? __builtin_bswap32((uint32_t)link) : __builtin_bswap64(link));
}

/* False: no slot begins there, or it is known to be free. */
static bool take_free(const struct slab_walk *walk, struct slab_slots *slots, uint64_t object)
{
	uint64_t offset = object - slots->first;
	uint64_t slot = offset / walk->object_size;
	if (slot >= slots->count || offset % walk->object_size ||
	    slots->is_free[slot / 8] >> (slot % 8) & 1)
		return false;
	slots->is_free[slot / 8] |= (uint8_t)(1u << (slot % 8));
	slots->free_count++;
	return true;
}

/* False when the chain breaks; what it went through before is free all the same. */
static bool follow_chain(const struct slab_walk *walk, struct slab_slots *slots, uint64_t object)
{
	while (object) {
		uint64_t stored;
		if (!take_free(walk, slots, object))
			return false;
		uint64_t link = object + walk->free_offset;
		struct error *error = memory_read_word(walk->target->memory, link, &stored);
		error_free(error);
		if (error)
			return false;
		object = slab_decode_link(walk, stored, link);
	}
	return true;
}

static struct error *need_sheaves(struct slab_walk *walk)
{
	struct object cache;
	if (walk->sheaves_read)
		return NULL;
	TRY(object_at(walk->target, "struct kmem_cache", walk->cache, &cache));
	TRY(slab_sheaves_read(&cache, walk->sheaves_left ? *walk->sheaves_left : SLAB_SHEAVES_MOST,
			      &walk->sheaves));
	if (walk->sheaves_left)
		*walk->sheaves_left -= walk->sheaves.count;
	walk->sheaves_read = true;
	return NULL;
}

/* False where one of those in sheaves is none: so no slot is taken more than once. */
static bool take_from_sheaves(const struct slab_walk *walk, struct slab_slots *slots)
{
	const struct slab_sheaves *sheaves = &walk->sheaves;
	uint64_t size = slots->count * walk->object_size;
	for (size_t i = slab_sheaves_first(sheaves, slots->first);
	     i < sheaves->count && sheaves->objects[i] - slots->first < size; i++)
		if (!take_free(walk, slots, sheaves->objects[i]))
			return false;
	return sheaves->is_whole;
}

/* The first object's address, from the slab's struct page. */
uint64_t slab_first_slot(const struct slab_walk *walk, uint64_t slab)
{
	uint64_t page = (slab - walk->vmemmap) / walk->page_record;
	return walk->page_offset + page * walk->target->facts->page_size + walk->left_pad;
}

static struct error *read_slots(const struct slab_walk *walk, const struct object *slab,
				struct slab_slots *ret, uint64_t *ret_free)
{
	uint64_t mark;
	TRY(object_u64(slab, "objects", &ret->count));
	TRY(object_u64(slab, "inuse", &ret->in_use));
	TRY(object_u64(slab, "freelist", ret_free));
	if (ret->count > walk->objects_limit || ret->in_use > ret->count)
		return error_create(ERROR_FORMAT, "not a slab of the cache");
	if (walk->mark.member) {
		TRY(object_u64(slab, walk->mark.member, &mark));
		if ((mark & walk->mark.mask) != walk->mark.value)
			return error_create(ERROR_FORMAT, "not a slab");
	}
	ret->first = slab_first_slot(walk, slab->address);
	return NULL;
}

struct error *slab_read(struct slab_walk *walk, uint64_t address, struct slab_slots *slots,
			bool *ret_whole)
{
	struct object slab = walk->slab;
	uint64_t free_object;
	slab.address = address;
	TRY(read_slots(walk, &slab, slots, &free_object));
	TRY(need_sheaves(walk));
	*ret_whole = follow_chain(walk, slots, free_object) &&
		     slots->free_count == slots->count - slots->in_use;
	for (size_t i = 0; i < walk->chain_count; i++)
		if (walk->chains[i].slab == address &&
		    !follow_chain(walk, slots, walk->chains[i].first))
			*ret_whole = false;
	*ret_whole &= take_from_sheaves(walk, slots);
	return NULL;
}

bool slab_slot_is_free(const struct slab_slots *slots, uint64_t slot)
{
	return slots->is_free[slot / 8] >> (slot % 8) & 1;
}

struct error *slab_meet(struct slab_walk *walk, uint64_t address, struct slab_slots *slots,
			bool *ret_whole, uint64_t *ret_end, bool *ret_met)
{
	*ret_end = address + walk->page_record;
	struct error *error = slab_read(walk, address, slots, ret_whole);
	*ret_met = !error;
	if (error)
		return error_only_fatal(error);
	uint64_t page_size = walk->target->facts->page_size;
	uint64_t pages = (slots->count * walk->object_size + page_size - 1) / page_size;
	if (pages > 1)
		*ret_end = address + pages * walk->page_record;
	return NULL;
}

struct error *slab_visit_objects(struct slab_walk *walk, uint64_t address, slab_visitor *visit,
				 void *context, uint64_t *ret_end)
{
	struct slab_slots slots = { .free_count = 0 };
	bool whole, is_met;
	TRY(interrupt_check());
	TRY(slab_meet(walk, address, &slots, &whole, ret_end, &is_met));
	if (!is_met)
		return NULL;
	for (uint64_t i = 0; i < slots.count; i++)
		if (!slab_slot_is_free(&slots, i))
			TRY(visit(context, slots.first + i * walk->object_size, whole));
	return NULL;
}

/* --- all of them ----------------------------------------------------------------------------- */

struct chunk_question {
	struct slab_walk *walk;
	slab_visitor *visit;
	void *context;
	uint64_t end; /* of the struct pages of the last slab */
};

static struct error *visit_chunk(void *context, uint64_t address, size_t size)
{
	struct chunk_question *question = context;
	struct slab_walk *walk = question->walk;
	const struct memory *memory = walk->target->memory;
	for (size_t at = 0; at + walk->page_record <= size; at += walk->page_record)
		if (address + at >= question->end &&
		    load_unsigned(walk->chunk + at + walk->cache_member, memory->word_size,
				  memory->big_endian) == walk->cache)
			TRY(slab_visit_objects(walk, address + at, question->visit,
					       question->context, &question->end));
	return NULL;
}

/* Where to go on behind what could not be read: a page may be filtered, a subsection not there. */
static uint64_t skip_hole(const struct slab_walk *walk, uint64_t at, const struct error *why)
{
	uint64_t step = why->kind == ERROR_FAULT ? SLAB_HOLE_SIZE : walk->target->facts->page_size;
	uint64_t next = walk->vmemmap + at;
	next = next - next % step + step - walk->vmemmap;
	return (next + walk->page_record - 1) / walk->page_record * walk->page_record;
}

/*
 * Where to go on at a subsection of vmemmap: at the next one whose memory the dump has. What is
 * said to be the end of memory may be far from what there is.
 */
static uint64_t skip_absent(const struct slab_walk *walk, uint64_t at)
{
	const struct vmcore *vmcore = walk->target->vmcore;
	uint64_t page_size = walk->target->facts->page_size, start, size;
	uint64_t subsection = SLAB_HOLE_SIZE / walk->page_record * page_size;
	uint64_t physical = at / walk->page_record * page_size;
	if (!vmcore || physical % subsection || !vmcore_next_run(vmcore, 0, &start, &size))
		return at;
	if (!vmcore_next_run(vmcore, physical, &start, &size))
		return walk->vmemmap_size;
	return (start - start % subsection) / page_size * walk->page_record;
}

struct error *slab_for_each_chunk(struct slab_walk *walk, slab_chunk_visitor *visit, void *context)
{
	uint32_t holes = 0;
	uint64_t at = 0;
	if (!walk->chunk)
		walk->chunk = malloc(CHUNK_SIZE);
	if (!walk->chunk)
		return error_no_memory();
	/* A struct page is not cut in two. */
	size_t most = CHUNK_SIZE - CHUNK_SIZE % walk->page_record;
	while (at < walk->vmemmap_size && holes < HOLES_MAX) {
		TRY(interrupt_check());
		at = skip_absent(walk, at);
		if (at >= walk->vmemmap_size)
			break;
		uint64_t left = walk->vmemmap_size - at;
		size_t wanted = left < most ? (size_t)left : most;
		struct error *why;
		size_t got = memory_read_some(walk->target->memory, walk->vmemmap + at, walk->chunk,
					      wanted, &why);
		struct error *error = visit(context, walk->vmemmap + at, got);
		at = why ? skip_hole(walk, at + got, why) : at + wanted;
		holes += why != NULL;
		error_free(why);
		if (error)
			return error;
	}
	return NULL;
}

struct error *slab_walk_objects(struct slab_walk *walk, slab_visitor *visit, void *context)
{
	struct chunk_question question = { walk, visit, context, 0 };
	return slab_for_each_chunk(walk, visit_chunk, &question);
}
