// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A slab is some pages of equal slots. What it says of itself lies in the struct page of the first
 * one, in vmemmap: its cache, its slots, how many of them are taken, the first free one. Free slots
 * are chained through a pointer in the slot. While a CPU allocates from a slab it keeps a second
 * chain of its own (struct kmem_cache_cpu), and the slab counts all slots as taken.
 */
#include "debugger/kernel/slab_objects.h"

#include "base/array.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "base/interrupt.h"
#include "debugger/target/object.h"
#include <inttypes.h>
#include <stdlib.h>

/* struct slab says it in 15 bits. */
#define OBJECTS_MAX 32767u
/* Of vmemmap, read at once. */
#define CHUNK_SIZE (64u << 10)
/* Vmemmap comes and goes with subsections of 2 MiB of memory: 512 struct pages of 64 bytes. */
#define HOLE_SIZE (32u << 10)
/* Page tables that are not right may be endless. */
#define HOLES_MAX (1u << 20)
/* Of kmem_caches, the right and the wrong ones that damage makes. */
#define CACHES_MAX 8192
/* 52 bits are the most that any processor has. */
#define PHYSICAL_MAX ((uint64_t)1 << 52)

/* A CPU's own chain of free slots. */
struct cpu_chain {
	uint64_t slab, first;
};

/* How the type of a page shows that it is a slab's. */
struct slab_mark {
	const char *member; /* NULL: it does not */
	uint64_t mask, value;
};

struct slab_walk {
	struct target *target;
	/* Where struct pages lie and what marks a slab's; the same for all caches. */
	struct object slab; /* address: 0 */
	struct slab_mark mark;
	uint64_t vmemmap, vmemmap_size, page_record, cache_member;
	uint64_t page_offset; /* where physical memory is mapped */
	/* The cache. */
	uint64_t cache;
	uint64_t object_size, objects_limit, left_pad, free_offset;
	bool is_hardened; /* chains are obfuscated (SLAB_FREELIST_HARDENED) */
	bool has_sheaves; /* free objects may be kept where no chain leads */
	uint64_t random;
	struct cpu_chain *chains;
	size_t chain_count, chain_capacity;
	struct slab_cache info;
	uint8_t *chunk; /* CHUNK_SIZE bytes, NULL: not needed yet */
};

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
	walk->info.address = cache->address;
	walk->info.slot_size = walk->object_size;
	if (object_has(cache, "red_left_pad"))
		TRY(object_u64(cache, "red_left_pad", &walk->left_pad));
	walk->is_hardened = object_has(cache, "random");
	if (walk->is_hardened)
		TRY(object_u64(cache, "random", &walk->random));
	/* 6.18 on. */
	walk->has_sheaves = object_has(cache, "cpu_sheaves");
	uint64_t word = walk->target->memory->word_size;
	if (walk->objects_limit > OBJECTS_MAX || walk->object_size < word ||
	    walk->free_offset > walk->object_size - word || walk->left_pad > walk->object_size)
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
	size_t count = target_cpus(walk->target, &cpus);
	for (size_t i = 0; i < count && object_has(cache, "cpu_slab"); i++)
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

static struct error *find_pages(struct slab_walk *walk)
{
	struct target *target = walk->target;
	struct type page;
	TRY(target_find_type(target, NULL, "struct page", &page));
	if (!type_size(page, &walk->page_record) || !walk->page_record ||
	    walk->page_record > HOLE_SIZE)
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
static struct error *create_walk(struct target *target, const struct slab_walk *pages,
				 uint64_t cache, struct slab_walk **ret)
{
	struct slab_walk *walk = calloc(1, sizeof(*walk));
	if (!walk)
		return error_no_memory();
	if (pages)
		*walk = *pages;
	walk->target = target;
	walk->chunk = NULL;
	struct error *error = pages ? NULL : find_pages(walk);
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
	return create_walk(target, NULL, cache, ret);
}

void slab_walk_destroy(struct slab_walk *walk)
{
	if (!walk)
		return;
	free(walk->chains);
	free(walk->chunk);
	free(walk);
}

/* --- one slab ------------------------------------------------------------------------------ */

struct slab_slots {
	uint64_t first; /* address of the first object */
	uint64_t count, in_use;
	uint64_t free_count;
	uint8_t is_free[OBJECTS_MAX / 8 + 1];
};

/* The pointer to the next free slot, as it lies in a free one (kernel freelist_ptr_decode()). */
static uint64_t decode_link(const struct slab_walk *walk, uint64_t stored, uint64_t link)
{
	if (!walk->is_hardened)
		return stored;
	bool is_32 = walk->target->memory->word_size == 4;
	return stored ^ walk->random ^
	       (is_32 ? __builtin_bswap32((uint32_t)link) : __builtin_bswap64(link));
}

/* False when the chain breaks; what it went through before is free all the same. */
static bool follow_chain(const struct slab_walk *walk, struct slab_slots *slots, uint64_t object)
{
	while (object) {
		uint64_t offset = object - slots->first, stored;
		uint64_t slot = offset / walk->object_size;
		if (slot >= slots->count || offset % walk->object_size ||
		    slots->is_free[slot / 8] >> (slot % 8) & 1)
			return false;
		slots->is_free[slot / 8] |= (uint8_t)(1u << (slot % 8));
		slots->free_count++;
		uint64_t link = object + walk->free_offset;
		struct error *error = memory_read_word(walk->target->memory, link, &stored);
		error_free(error);
		if (error)
			return false;
		object = decode_link(walk, stored, link);
	}
	return true;
}

/* The first object's address, from the slab's struct page. */
static uint64_t first_slot(const struct slab_walk *walk, uint64_t slab)
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
	ret->first = first_slot(walk, slab->address);
	return NULL;
}

/* The slots with their free ones; `*ret_whole`: all free ones are known. */
static struct error *read_slab(const struct slab_walk *walk, uint64_t address,
			       struct slab_slots *slots, bool *ret_whole)
{
	struct object slab = walk->slab;
	uint64_t free_object;
	slab.address = address;
	TRY(read_slots(walk, &slab, slots, &free_object));
	*ret_whole = follow_chain(walk, slots, free_object) &&
		     slots->free_count == slots->count - slots->in_use && !walk->has_sheaves;
	for (size_t i = 0; i < walk->chain_count; i++)
		if (walk->chains[i].slab == address &&
		    !follow_chain(walk, slots, walk->chains[i].first))
			*ret_whole = false;
	return NULL;
}

static bool slot_is_free(const struct slab_slots *slots, uint64_t slot)
{
	return slots->is_free[slot / 8] >> (slot % 8) & 1;
}

static struct error *visit_slab(const struct slab_walk *walk, uint64_t address, slab_visitor *visit,
				void *context)
{
	struct slab_slots slots = { .free_count = 0 };
	bool whole;
	struct error *error = read_slab(walk, address, &slots, &whole);
	error_free(error);
	if (error)
		return NULL;
	for (uint64_t i = 0; i < slots.count; i++)
		if (!slot_is_free(&slots, i))
			TRY(visit(context, slots.first + i * walk->object_size, whole));
	return NULL;
}

/* --- all of them ----------------------------------------------------------------------------- */

/* What lies in walk->chunk, read from an address in vmemmap. */
typedef struct error *chunk_visitor(void *context, uint64_t address, size_t size);

struct chunk_question {
	const struct slab_walk *walk;
	slab_visitor *visit;
	void *context;
};

static struct error *visit_chunk(void *context, uint64_t address, size_t size)
{
	const struct chunk_question *question = context;
	const struct slab_walk *walk = question->walk;
	const struct memory *memory = walk->target->memory;
	for (size_t at = 0; at + walk->page_record <= size; at += walk->page_record)
		if (load_unsigned(walk->chunk + at + walk->cache_member, memory->word_size,
				  memory->big_endian) == walk->cache)
			TRY(visit_slab(walk, address + at, question->visit, question->context));
	return NULL;
}

/* Where to go on behind what could not be read: a page may be filtered, a subsection not there. */
static uint64_t skip_hole(const struct slab_walk *walk, uint64_t at, const struct error *why)
{
	uint64_t step = why->kind == ERROR_FAULT ? HOLE_SIZE : walk->target->facts->page_size;
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
	uint64_t subsection = HOLE_SIZE / walk->page_record * page_size;
	uint64_t physical = at / walk->page_record * page_size;
	if (!vmcore || physical % subsection || !vmcore_next_run(vmcore, 0, &start, &size))
		return at;
	if (!vmcore_next_run(vmcore, physical, &start, &size))
		return walk->vmemmap_size;
	return (start - start % subsection) / page_size * walk->page_record;
}

static struct error *for_each_chunk(struct slab_walk *walk, chunk_visitor *visit, void *context)
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
	struct chunk_question question = { walk, visit, context };
	return for_each_chunk(walk, visit_chunk, &question);
}

/* --- all caches ------------------------------------------------------------------------------ */

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
};

void slabs_destroy(struct slabs *slabs)
{
	if (!slabs)
		return;
	for (size_t i = 0; i < slabs->cache_count; i++)
		slab_walk_destroy(slabs->caches[i].walk);
	free(slabs->caches);
	hash_index_deinit(&slabs->index);
	slab_walk_destroy(slabs->pages);
	free(slabs);
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
	TRY(find_pages(slabs->pages));
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
	uint32_t hash = hash_bytes(&address, sizeof(address)), number;
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
	struct error *error = create_walk(slabs->pages->target, slabs->pages, address, &walk);
	if (!error)
		error = read_cache_info(walk);
	bool is_fatal = error && error->kind == ERROR_NO_MEMORY;
	if (error)
		slab_walk_destroy(walk);
	if (is_fatal)
		return error;
	if (error)
		walk = NULL;
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

struct all_question {
	struct slabs *slabs;
	slab_object_visitor *visit;
	void *context;
	const struct slab_cache *cache;
};

static struct error *visit_any(void *context, uint64_t object, bool is_allocated)
{
	const struct all_question *question = context;
	return question->visit(question->context, question->cache, object, is_allocated);
}

static struct error *visit_any_chunk(void *context, uint64_t address, size_t size)
{
	struct all_question *question = context;
	const struct slab_walk *pages = question->slabs->pages;
	for (size_t at = 0; at + pages->page_record <= size; at += pages->page_record) {
		struct slab_walk *walk;
		TRY(cache_of_page(question->slabs, pages->chunk + at, &walk));
		if (!walk)
			continue;
		question->cache = &walk->info;
		TRY(visit_slab(walk, address + at, visit_any, question));
	}
	return NULL;
}

struct error *slabs_for_each(struct slabs *slabs, slab_object_visitor *visit, void *context)
{
	struct all_question question = { slabs, visit, context, NULL };
	return for_each_chunk(slabs->pages, visit_any_chunk, &question);
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
	/* It comes from the dump. */
	if (*ret < pages->vmemmap || *ret >= pages->vmemmap + pages->vmemmap_size ||
	    (*ret - pages->vmemmap) % pages->page_record)
		return error_create(ERROR_FORMAT, "the page has no head");
	return memory_read(memory, *ret, record, (size_t)pages->page_record);
}

static struct error *find_slab(struct slabs *slabs, uint64_t address, struct slab_walk **ret_cache,
			       uint64_t *ret)
{
	uint8_t record[HOLE_SIZE];
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
	uint64_t first = first_slot(walk, slab);
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
	TRY(read_slab(walk, head, &slots, &whole));
	uint64_t slot = (address - slots.first) / walk->object_size;
	*ret = (struct slab_place){ .cache = &walk->info,
				    .slab = head,
				    .state = SLAB_NO_OBJECT,
				    .count = (uint32_t)slots.count };
	/* Before the first one lies its left red zone, behind the last one nothing. */
	if (address < slots.first || slot >= slots.count)
		return NULL;
	ret->index = (uint32_t)slot;
	ret->object = slots.first + slot * walk->object_size;
	ret->state = slot_is_free(&slots, slot) ? SLAB_FREE : whole ? SLAB_ALLOCATED : SLAB_UNSURE;
	return NULL;
}
