// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/whattype/reach.h"

#include "base/array.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "base/interrupt.h"
#include "btf/member_path.h"
#include "debugger/infer/known/knowledge.h"
#include "debugger/kernel/slab_types.h"
#include "debugger/target/attached.h"
#include "debugger/target/object.h"
#include "debugger/whattype/shapes.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OBJECTS_MAX	600000
#define SLAB_ROOTS_MAX	300000 /* of these may be roots by their cache */
#define POINTERS_AT_MAX 4096   /* more, for one place */
#define CHAIN_MAX	12
#define NEAR_MAX	1000  /* objects that are followed around one */
#define NEAR_KNOWN_MAX	65536 /* that these may point at */

struct cache_type {
	uint64_t cache;
	struct slab_type type;
};

struct reach {
	struct target *target;
	struct slabs *slabs;
	struct reach_object *objects;
	size_t count, capacity, done, limit;
	struct hash_index seen;
	struct shapes shapes;
	struct cache_type *cache_types;
	size_t cache_type_count, cache_type_capacity;
	size_t slab_roots;
	uint32_t *order; /* objects by address */
	size_t ordered;
	bool is_cut, has_globals, is_built;
	uint8_t *buffer;
	/* Of one that follows only what is around an object: that one, and the end of its slot. */
	bool is_near, is_met; /* a pointer at it was met */
	uint64_t start, end;
};

/* --- objects --------------------------------------------------------------------------------- */

static uint32_t object_hash(uint64_t address, uint32_t shape)
{
	uint64_t key = address ^ (uint64_t)shape << 40;
	return hash_bytes(&key, sizeof(key));
}

static uint32_t find_object(const struct reach *reach, uint64_t address, uint32_t shape)
{
	uint32_t hash = object_hash(address, shape), number;
	size_t position = hash_index_first(&reach->seen, hash);
	while ((number = hash_index_next(&reach->seen, hash, &position)) != HASH_NONE)
		if (reach->objects[number].address == address &&
		    reach->objects[number].shape == shape)
			return number;
	return REACH_NONE;
}

/* Adds it, or counts one more pointer at it. */
static struct error *add_object(struct reach *reach, const struct reach_object *object)
{
	uint32_t hash = object_hash(object->address, object->shape);
	uint32_t number = find_object(reach, object->address, object->shape);
	if (number != REACH_NONE) {
		struct reach_object *known = &reach->objects[number];
		known->references += object->references;
		if (known->root == REACH_SLAB && known->parent == REACH_NONE) {
			known->parent = object->parent;
			known->offset = object->offset;
		}
		if (known->confidence < object->confidence)
			known->confidence = object->confidence;
		return NULL;
	}
	if (reach->count >= reach->limit) {
		reach->is_cut = true;
		return NULL;
	}
	if (!array_reserve(&reach->objects, &reach->capacity, reach->count + 1) ||
	    !hash_index_add(&reach->seen, hash, (uint32_t)reach->count))
		return error_no_memory();
	reach->objects[reach->count++] = *object;
	return NULL;
}

static struct error *add_root(struct reach *reach, struct type type,
			      const struct reach_object *root)
{
	struct reach_object object = *root;
	TRY(shapes_find(&reach->shapes, type, &object.shape));
	return object.shape == REACH_NONE ? NULL : add_object(reach, &object);
}

/* How much of it there is: kmem_cache.node[] is as long as the machine has nodes. */
static size_t bytes_of(struct reach *reach, const struct reach_object *object,
		       const struct shape *shape)
{
	size_t size = shape->size < SHAPE_BYTES ? shape->size : SHAPE_BYTES;
	struct slab_place place;
	if (object->limit)
		return object->limit < size ? object->limit : size;
	if (shape->least == shape->size || !reach->slabs)
		return size;
	struct error *error = slabs_find(reach->slabs, object->address, &place);
	bool is_slab = !error;
	error_free(error);
	if (!is_slab || !place.object)
		return size;
	uint64_t left = place.object + place.cache->slot_size - object->address;
	return left < size ? (size_t)left : size;
}

/* What a slot of an object, whose bytes are in the buffer, points at; 0: nothing that can be. */
static uint64_t pointer_in(const struct reach *reach, const struct slot *slot,
			   const struct reach_object *object, size_t got)
{
	const struct memory *memory = reach->target->memory;
	if (slot->offset + memory->word_size > got)
		return 0;
	uint64_t value =
		load_unsigned(reach->buffer + slot->offset, memory->word_size, memory->big_endian);
	/* An empty list's head points at itself: that says nothing new. */
	bool is_own = value - object->address < reach->shapes.all[object->shape].size;
	bool is_aligned = value % reach->shapes.all[slot->shape].alignment == 0;
	return is_kernel_pointer(value) && is_aligned && !is_own ? value : 0;
}

static struct reach_object pointed_at(uint64_t address, const struct slot *slot, uint32_t parent)
{
	return (struct reach_object){ .address = address,
				      .shape = slot->shape,
				      .parent = parent,
				      .offset = slot->offset,
				      .references = 1,
				      .root = REACH_POINTER,
				      .confidence = CONFIDENCE_INFERRED };
}

/* Into the buffer; no bytes of what has no pointers. */
static struct error *read_object(struct reach *reach, const struct reach_object *object,
				 size_t *ret_got)
{
	struct error *why = NULL;
	*ret_got = 0;
	TRY(shapes_lay_out(&reach->shapes, object->shape));
	const struct shape *shape = &reach->shapes.all[object->shape];
	if (!shape->count)
		return NULL;
	*ret_got = memory_read_some(reach->target->memory, object->address, reach->buffer,
				    bytes_of(reach, object, shape), &why);
	error_free(why);
	return NULL;
}

/*
 * Does the slab object around it have no such member? Then the pointer at it is stale, or no
 * pointer, and those in it are of other types than it seems: one wrong link leads along a whole
 * list.
 */
static struct error *contradicts_slab(struct reach *reach, const struct reach_object *object,
				      bool *ret)
{
	const struct slab_cache *cache;
	struct slab_type type;
	uint64_t slot;
	*ret = false;
	if (!reach->slabs || object->root != REACH_POINTER)
		return NULL;
	struct error *error = slabs_slot(reach->slabs, object->address, &cache, &slot);
	if (error)
		return error_only_fatal(error);
	TRY(reach_cache_type(reach, cache, &type));
	if (type.is_sure)
		*ret = !member_is_at(type.type, object->address - slot,
				     reach->shapes.all[object->shape].type);
	return NULL;
}

static struct error *add_near(struct reach *reach, uint32_t number, uint64_t value);

static struct error *follow(struct reach *reach, uint32_t number)
{
	struct reach_object from = reach->objects[number];
	bool is_wrong;
	size_t got;
	TRY(contradicts_slab(reach, &from, &is_wrong));
	if (is_wrong)
		return NULL;
	TRY(read_object(reach, &from, &got));
	struct shape shape = reach->shapes.all[from.shape];
	for (uint32_t i = 0; i < shape.count; i++) {
		struct slot slot = reach->shapes.slots[shape.first + i];
		uint64_t value = pointer_in(reach, &slot, &from, got);
		struct reach_object object = pointed_at(value, &slot, number);
		if (value && reach->is_near)
			TRY(add_near(reach, number, value));
		if (value)
			TRY(add_object(reach, &object));
	}
	return NULL;
}

static struct error *follow_all(struct reach *reach)
{
	for (; reach->done < reach->count; reach->done++) {
		if (reach->done % 1024 == 0)
			TRY(interrupt_check());
		TRY(follow(reach, (uint32_t)reach->done));
	}
	return NULL;
}

/* --- roots ----------------------------------------------------------------------------------- */

/* Each CPU's copy of a variable. */
static struct error *add_copies(struct reach *reach, const struct symbol *symbol, struct type type,
				enum confidence confidence)
{
	const struct cpu *cpus;
	size_t count = target_cpus(reach->target, &cpus);
	for (size_t i = 0; i < count; i++) {
		struct reach_object root = { .address = symbol->address + cpus[i].per_cpu_offset,
					     .parent = symbol->number,
					     .offset = cpus[i].number,
					     .root = REACH_PER_CPU,
					     .confidence = (uint8_t)confidence };
		TRY(add_root(reach, type, &root));
	}
	return NULL;
}

static struct error *add_per_cpu(struct reach *reach)
{
	struct target *target = reach->target;
	uint32_t count = symtab_count(target->symbols);
	for (uint32_t i = 0; i < count; i++) {
		char name[SYMBOL_NAME_SIZE];
		struct symbol symbol;
		struct type type;
		enum type_origin origin;
		symtab_get_into(target->symbols, i, name, &symbol);
		if (!symbol.per_cpu)
			continue;
		TRY(target_symbol_type(target, &symbol, &type, &origin));
		if (origin != ORIGIN_NONE)
			TRY(add_copies(reach, &symbol, type, CONFIDENCE_CERTAIN));
	}
	return NULL;
}

struct error *reach_cache_type(struct reach *reach, const struct slab_cache *cache,
			       struct slab_type *ret)
{
	for (size_t i = reach->cache_type_count; i-- > 0;)
		if (reach->cache_types[i].cache == cache->address) {
			*ret = reach->cache_types[i].type;
			return NULL;
		}
	if (!array_reserve(&reach->cache_types, &reach->cache_type_capacity,
			   reach->cache_type_count + 1))
		return error_no_memory();
	slab_type_of(reach->target, cache, ret);
	reach->cache_types[reach->cache_type_count++] = (struct cache_type){ cache->address, *ret };
	return NULL;
}

/*
 * An object of a slab as a root; address 0: none. Only where the name is the cache's own: a wrong
 * root spreads.
 */
static struct error *slab_root(struct reach *reach, const struct slab_cache *cache, uint64_t object,
			       struct reach_object *ret)
{
	struct slab_type type;
	*ret = (struct reach_object){ .root = REACH_SLAB,
				      .parent = REACH_NONE,
				      .limit = (uint32_t)cache->object_size };
	TRY(reach_cache_type(reach, cache, &type));
	if (!type.is_sure)
		return NULL;
	ret->confidence = CONFIDENCE_INFERRED;
	TRY(shapes_find(&reach->shapes, type.type, &ret->shape));
	if (ret->shape != REACH_NONE)
		ret->address = object;
	return NULL;
}

static struct error *add_slab_object(void *context, const struct slab_cache *cache, uint64_t object,
				     bool is_allocated)
{
	struct reach *reach = context;
	struct reach_object root;
	TRY(slab_root(reach, cache, object, &root));
	if (!root.address || !is_allocated)
		return NULL;
	if (reach->slab_roots++ < SLAB_ROOTS_MAX)
		return add_object(reach, &root);
	reach->is_cut = true;
	return NULL;
}

static struct error *add_slabs(struct reach *reach)
{
	if (!reach->slabs)
		return NULL;
	return error_only_fatal(slabs_for_each(reach->slabs, add_slab_object, reach));
}

static struct error *add_global(void *context, const struct subject *subject,
				const struct symbol *symbol, const struct typing *typing)
{
	struct reach *reach = context;
	struct reach_object root = { .address = subject->address,
				     .parent = symbol->number,
				     .root = REACH_GLOBAL,
				     .confidence = (uint8_t)typing->confidence };
	if (typing->confidence < CONFIDENCE_INFERRED || !typing->type.btf)
		return NULL;
	if (symbol->per_cpu)
		return add_copies(reach, symbol, typing->type, typing->confidence);
	return add_root(reach, typing->type, &root);
}

static int compare_addresses(const void *a, const void *b, void *context)
{
	const struct reach *reach = context;
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	uint64_t first = reach->objects[left].address, second = reach->objects[right].address;
	if (first != second)
		return first < second ? -1 : 1;
	return left < right ? -1 : left > right;
}

static struct error *sort(struct reach *reach)
{
	free(reach->order);
	reach->order = calloc(reach->count + 1, sizeof(*reach->order));
	if (!reach->order)
		return error_no_memory();
	for (size_t i = 0; i < reach->count; i++)
		reach->order[i] = (uint32_t)i;
	qsort_r(reach->order, reach->count, sizeof(*reach->order), compare_addresses, reach);
	reach->ordered = reach->count;
	return NULL;
}

static struct error *put_in_order(struct reach *reach)
{
	TRY(follow_all(reach));
	return sort(reach);
}

struct error *reach_add_globals(struct reach *reach)
{
	if (reach->has_globals)
		return NULL;
	TRY(infer_all(reach->target, NULL, add_global, reach));
	reach->has_globals = true;
	return put_in_order(reach);
}

/* --- pointers at one place, where the walk was cut ---------------------------------------------
 */

struct pointers_question {
	struct reach *reach;
	uint64_t first, last;
};

static struct error *add_pointer_at(struct reach *reach, const struct reach_object *from,
				    const struct slot *slot, uint64_t value)
{
	uint32_t number = find_object(reach, from->address, from->shape);
	bool is_counted = number != REACH_NONE &&
			  find_object(reach, value, slot->shape) != REACH_NONE;
	if (is_counted)
		return NULL;
	if (number == REACH_NONE)
		TRY(add_object(reach, from));
	struct reach_object object =
		pointed_at(value, slot, find_object(reach, from->address, from->shape));
	return object.parent == REACH_NONE ? NULL : add_object(reach, &object);
}

static struct error *add_pointers_of(const struct pointers_question *question,
				     const struct reach_object *from)
{
	struct reach *reach = question->reach;
	size_t got;
	TRY(read_object(reach, from, &got));
	struct shape shape = reach->shapes.all[from->shape];
	for (uint32_t i = 0; i < shape.count; i++) {
		struct slot slot = reach->shapes.slots[shape.first + i];
		uint64_t value = pointer_in(reach, &slot, from, got);
		if (value && value <= question->last &&
		    value + reach->shapes.all[slot.shape].size > question->first)
			TRY(add_pointer_at(reach, from, &slot, value));
	}
	return NULL;
}

static struct error *add_pointers_of_slab(void *context, const struct slab_cache *cache,
					  uint64_t object, bool is_allocated)
{
	const struct pointers_question *question = context;
	struct reach_object root;
	TRY(slab_root(question->reach, cache, object, &root));
	return root.address && is_allocated ? add_pointers_of(question, &root) : NULL;
}

/* Objects that are known had pointers that were left out, others are not even known. */
struct error *reach_add_pointers_at(struct reach *reach, uint64_t first, uint64_t last)
{
	struct pointers_question question = { reach, first, last };
	size_t known = reach->count;
	if (!reach->is_cut)
		return NULL;
	reach->limit = reach->count + POINTERS_AT_MAX;
	for (size_t i = 0; i < known; i++) {
		struct reach_object from = reach->objects[i];
		if (i % 1024 == 0)
			TRY(interrupt_check());
		TRY(add_pointers_of(&question, &from));
	}
	if (reach->slabs)
		TRY(slabs_for_each(reach->slabs, add_pointers_of_slab, &question));
	/* What these point at besides was left out before. */
	reach->done = reach->count;
	return put_in_order(reach);
}

static void destroy(void *data)
{
	struct reach *reach = data;
	if (!reach->is_near)
		slabs_destroy(reach->slabs);
	free(reach->objects);
	shapes_deinit(&reach->shapes);
	free(reach->cache_types);
	free(reach->order);
	free(reach->buffer);
	hash_index_deinit(&reach->seen);
	free(reach);
}

static struct error *create(struct target *target, size_t limit, struct reach **ret)
{
	struct reach *reach = calloc(1, sizeof(*reach));
	if (!reach)
		return error_no_memory();
	reach->target = target;
	reach->limit = limit;
	reach->buffer = malloc(SHAPE_BYTES);
	if (!reach->buffer) {
		free(reach);
		return error_no_memory();
	}
	*ret = reach;
	return NULL;
}

struct error *reach_open(struct target *target, struct reach **ret)
{
	static const char key;
	struct reach *reach = target_attached(target, &key);
	if (!reach) {
		TRY(create(target, OBJECTS_MAX, &reach));
		struct error *error = error_only_fatal(slabs_create(target, &reach->slabs));
		if (error) {
			destroy(reach);
			return error;
		}
		TRY(target_attach(target, &key, reach, destroy));
	}
	*ret = reach;
	return NULL;
}

/* What a walk that failed or was stopped has met is no basis for the next one. */
static void forget(struct reach *reach)
{
	hash_index_deinit(&reach->seen);
	reach->seen = (struct hash_index){ 0 };
	reach->count = reach->done = reach->ordered = reach->slab_roots = 0;
	reach->is_cut = false;
}

struct error *reach_get(struct target *target, struct reach **ret)
{
	struct reach *reach;
	TRY(reach_open(target, &reach));
	if (!reach->is_built) {
		struct error *error = add_per_cpu(reach);
		if (!error)
			error = add_slabs(reach);
		if (!error)
			error = put_in_order(reach);
		if (error) {
			forget(reach);
			return error;
		}
		reach->is_built = true;
	}
	*ret = reach;
	return NULL;
}

/* --- around one object -------------------------------------------------------------------------
 */

/*
 * The object of a slab around what is pointed at is a root by its cache; nothing else is followed,
 * for it would be typed by nothing but the pointer, and that by what is asked.
 */
static struct error *add_near(struct reach *reach, uint32_t number, uint64_t value)
{
	struct slab_place place;
	struct reach_object root;
	if (number && value >= reach->start && value < reach->end)
		reach->is_met = true;
	struct error *error = slabs_find(reach->slabs, value, &place);
	if (error)
		return error_only_fatal(error);
	if (place.state != SLAB_ALLOCATED)
		return NULL;
	TRY(slab_root(reach, place.cache, place.object, &root));
	return root.address ? add_object(reach, &root) : NULL;
}

/* In rounds, each of what the one before led to, until one has met a pointer back. */
static struct error *follow_near(struct reach *reach)
{
	size_t followed = 0;
	while (reach->done < reach->count && followed < NEAR_MAX && !reach->is_met) {
		size_t end = reach->count;
		for (; reach->done < end && followed < NEAR_MAX; reach->done++) {
			if (reach->objects[reach->done].root != REACH_SLAB)
				continue;
			TRY(follow(reach, (uint32_t)reach->done));
			followed++;
		}
	}
	return sort(reach);
}

static struct error *build_near(struct reach *reach, const struct slab_place *from)
{
	struct reach_object root;
	reach->is_near = true;
	reach->start = from->object;
	reach->end = from->object + from->cache->slot_size;
	TRY(slab_root(reach, from->cache, from->object, &root));
	if (!root.address)
		return NULL;
	TRY(add_object(reach, &root));
	return follow_near(reach);
}

struct error *reach_create_near(struct reach *whole, const struct slab_place *from,
				struct reach **ret)
{
	struct reach *reach;
	TRY(create(whole->target, NEAR_KNOWN_MAX, &reach));
	reach->slabs = whole->slabs;
	struct error *error = build_near(reach, from);
	if (error)
		destroy(reach);
	else
		*ret = reach;
	return error;
}

void reach_destroy_near(struct reach *near)
{
	if (near)
		destroy(near);
}

/* --- questions ------------------------------------------------------------------------------- */

bool reach_is_cut(const struct reach *reach)
{
	return reach->is_cut && !reach->is_near;
}

struct slabs *reach_slabs(const struct reach *reach)
{
	return reach->slabs;
}

const struct reach_object *reach_object(const struct reach *reach, uint32_t number)
{
	return &reach->objects[number];
}

struct type reach_type(const struct reach *reach, uint32_t number)
{
	return reach->shapes.all[reach->objects[number].shape].shown;
}

/* How many objects in order begin at or below an address. */
static size_t count_below(const struct reach *reach, uint64_t address)
{
	return array_bound(reach->ordered, i, reach->objects[reach->order[i]].address <= address);
}

size_t reach_find(const struct reach *reach, uint64_t first, uint64_t last, uint32_t *ret,
		  size_t limit)
{
	size_t count = 0;
	for (size_t at = count_below(reach, last); at-- > 0 && count < limit;) {
		const struct reach_object *object = &reach->objects[reach->order[at]];
		uint64_t offset = object->address < first ? first - object->address : 0;
		if (offset >= SHAPE_BYTES)
			break;
		if (offset < reach->shapes.all[object->shape].size)
			ret[count++] = reach->order[at];
	}
	return count;
}

uint32_t reach_search(const struct reach *reach, struct type type,
		      bool (*matches)(void *context, const struct reach_object *object),
		      void *context)
{
	type = shapes_lowest(type);
	for (size_t i = 0; i < reach->count; i++) {
		const struct reach_object *object = &reach->objects[i];
		const struct type *own = &reach->shapes.all[object->shape].type;
		if (own->btf == type.btf && own->id == type.id && matches(context, object))
			return (uint32_t)i;
	}
	return REACH_NONE;
}

static void spell_root(const struct reach *reach, uint32_t number, char *buffer, size_t size)
{
	const struct reach_object *object = &reach->objects[number];
	struct symbol symbol;
	char type[256];
	if (object->root == REACH_SLAB) {
		type_spell(reach_type(reach, number), NULL, type, sizeof(type));
		snprintf(buffer, size, "((%s *)0x%" PRIx64 ")", type, object->address);
		return;
	}
	symtab_get(reach->target->symbols, object->parent, &symbol);
	if (object->root == REACH_PER_CPU)
		snprintf(buffer, size, "%s:%" PRIu32, symbol.name, object->offset);
	else
		snprintf(buffer, size, "%s", symbol.name);
}

static bool has_parent(const struct reach_object *object)
{
	return object->root == REACH_POINTER ||
	       (object->root == REACH_SLAB && object->parent != REACH_NONE);
}

void reach_spell(const struct reach *reach, uint32_t number, char *buffer, size_t size)
{
	uint32_t chain[CHAIN_MAX];
	size_t count = 0;
	bool more = has_parent(&reach->objects[number]);
	for (; count < CHAIN_MAX && more; count++) {
		chain[count] = number;
		number = reach->objects[number].parent;
		more = reach->objects[number].root == REACH_POINTER;
	}
	if (more)
		snprintf(buffer, size, "...");
	else
		spell_root(reach, number, buffer, size);
	bool is_pointer = more || reach->objects[number].root == REACH_SLAB;
	while (count-- > 0) {
		const struct reach_object *object = &reach->objects[chain[count]];
		struct member_place place;
		size_t length = strlen(buffer);
		member_path_at(reach_type(reach, object->parent), object->offset, &place);
		bool is_name = *place.path && *place.path != '[';
		snprintf(buffer + length, size - length, "%s%s",
			 !is_name     ? ""
			 : is_pointer ? "->"
				      : ".",
			 place.path);
		is_pointer = true;
	}
}
