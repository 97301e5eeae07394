// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Derived types: a level of its own on top of the one asked about, grown record by record. It is
 * BTF like any other, so whoever walks types need not know. An opened level never grows, so the ids
 * above its end are free for this.
 */
#include "btf/btf.h"

#include "base/array.h"
#include "base/hash.h"
#include "btf/level.h"
#include <stdlib.h>
#include <string.h>

#define PARAMS_MAX 255
/* Derived types of derived types that are carried over to another level. */
#define IMPORT_DEPTH_MAX 32

/* --- the arena ---------------------------------------------------------------------- */

void arena_destroy(struct arena *arena)
{
	if (!arena)
		return;
	for (size_t i = 0; i < arena->count; i++)
		free(arena->chunks[i]);
	hash_index_deinit(&arena->interned);
	free(arena->chunks);
	free(arena);
}

/* Room for `size` (≤ ARENA_CHUNK) bytes in one piece; NULL without memory. */
static uint8_t *arena_take(struct arena *arena, uint32_t size, uint32_t *ret_offset)
{
	uint32_t rest = (uint32_t)(arena->count * ARENA_CHUNK) - arena->used;
	if (rest < size) {
		if (arena->count >= UINT32_MAX / ARENA_CHUNK / 2 ||
		    !array_reserve(&arena->chunks, &arena->capacity, arena->count + 1))
			return NULL;
		uint8_t *chunk = calloc(1, ARENA_CHUNK);
		if (!chunk)
			return NULL;
		arena->used = (uint32_t)(arena->count * ARENA_CHUNK);
		arena->chunks[arena->count++] = chunk;
	}
	*ret_offset = arena->used;
	arena->used += size;
	return arena->chunks[*ret_offset / ARENA_CHUNK] + *ret_offset % ARENA_CHUNK;
}

/* --- the level ---------------------------------------------------------------------- */

struct btf *scratch_create(const struct btf *base)
{
	struct btf *scratch = level_create(base, base->name);
	if (!scratch)
		return NULL;
	scratch->arena = calloc(1, sizeof(*scratch->arena));
	uint32_t empty;
	/* Offset 0 of the level's strings is "", as everywhere. */
	if (!scratch->arena || !arena_take(scratch->arena, 4, &empty)) {
		btf_close(scratch);
		return NULL;
	}
	return scratch;
}

static const struct btf *without_scratch(const struct btf *btf)
{
	return btf->arena ? btf->base : btf;
}

/* The level that derived types of a view go to. */
static struct error *scratch_of(const struct btf *btf, struct btf **ret)
{
	if (!btf)
		return error_create(ERROR_USAGE, "no type to derive another from");
	const struct btf *below = without_scratch(btf);
	if (!below->lazy->scratch)
		below->lazy->scratch = scratch_create(below);
	*ret = below->lazy->scratch;
	return *ret ? NULL : error_no_memory();
}

/* A record being made; the name goes in last. */
struct draft {
	struct btf *scratch;
	const char *name;
	uint8_t bytes[RECORD_SIZE + PARAM_SIZE * (PARAMS_MAX + 1)];
	uint32_t size;
};

static void draft_u32(struct draft *draft, uint32_t value)
{
	value = level_u32(draft->scratch, (const uint8_t *)&value);
	memcpy(draft->bytes + draft->size, &value, sizeof(value));
	draft->size += sizeof(value);
}

static struct error *draft_begin(struct draft *draft, const struct btf *view, uint32_t info,
				 uint32_t type)
{
	struct error *error = scratch_of(view, &draft->scratch);
	if (error)
		return error;
	draft->size = 0;
	draft->name = "";
	draft_u32(draft, 0);
	draft_u32(draft, info);
	draft_u32(draft, type);
	return NULL;
}

static uint32_t kind_info(enum btf_kind kind, uint32_t vlen)
{
	return (uint32_t)kind << 24 | vlen;
}

/* Equal but for where the name lies. The second word says how long a record is. */
static bool draft_equals(const struct draft *draft, uint32_t id)
{
	const uint8_t *record = level_record(draft->scratch, id);
	return !memcmp(record + 4, draft->bytes + 4, 8) &&
	       !memcmp(record + RECORD_SIZE, draft->bytes + RECORD_SIZE,
		       draft->size - RECORD_SIZE) &&
	       !strcmp(btf_string(draft->scratch, level_u32(draft->scratch, record)), draft->name);
}

/* Puts name and record into the arena; 0 without memory. */
static uint32_t draft_store(struct draft *draft, uint32_t hash)
{
	struct btf *scratch = draft->scratch;
	struct arena *arena = scratch->arena;
	uint32_t offset, name_size = (uint32_t)strlen(draft->name) + 1;
	uint32_t index = scratch->end_id - scratch->start_id;
	if (scratch->end_id == UINT32_MAX ||
	    !array_reserve(&scratch->offsets, &arena->offset_capacity, index + 1))
		return 0;
	if (name_size > 1) {
		uint8_t *name = arena_take(arena, name_size, &offset);
		if (!name)
			return 0;
		memcpy(name, draft->name, name_size);
		uint32_t name_offset = scratch->string_start + offset;
		name_offset = level_u32(scratch, (const uint8_t *)&name_offset);
		memcpy(draft->bytes, &name_offset, sizeof(name_offset));
	}
	uint8_t *record = arena_take(arena, draft->size, &scratch->offsets[index]);
	if (!record || !hash_index_add(&arena->interned, hash, scratch->end_id))
		return 0;
	memcpy(record, draft->bytes, draft->size);
	return scratch->end_id++;
}

/* The draft as a type: the one that is there already, or a new one. */
static struct error *draft_finish(struct draft *draft, struct type *ret)
{
	struct hash_index *interned = &draft->scratch->arena->interned;
	uint32_t hash = hash_bytes(draft->bytes + 4, draft->size - 4) ^ hash_string(draft->name);
	size_t position = hash_index_first(interned, hash);
	uint32_t id;
	while ((id = hash_index_next(interned, hash, &position)) != HASH_NONE)
		if (draft_equals(draft, id))
			break;
	if (id == HASH_NONE)
		id = draft_store(draft, hash);
	if (!id)
		return error_no_memory();
	*ret = (struct type){ draft->scratch, id };
	return NULL;
}

/* --- what can be derived --------------------------------------------------------------- */

struct error *type_pointer_to(struct type type, struct type *ret)
{
	struct draft draft;
	struct error *error = draft_begin(&draft, type.btf, kind_info(BTF_PTR, 0), type.id);
	return error ? error : draft_finish(&draft, ret);
}

struct error *type_qualified(struct type type, enum btf_kind modifier, struct type *ret)
{
	struct draft draft;
	if (!kind_is_modifier(modifier) || modifier == BTF_TYPE_TAG)
		return error_create(ERROR_USAGE, "%s is no qualifier", btf_kind_name(modifier));
	struct error *error = draft_begin(&draft, type.btf, kind_info(modifier, 0), type.id);
	return error ? error : draft_finish(&draft, ret);
}

/* The index type is void: nobody looks at it, and there may be no integer in the BTF. */
struct error *type_array_of(struct type type, uint32_t count, struct type *ret)
{
	struct draft draft;
	struct error *error = draft_begin(&draft, type.btf, kind_info(BTF_ARRAY, 0), 0);
	if (error)
		return error;
	draft_u32(&draft, type.id);
	draft_u32(&draft, 0);
	draft_u32(&draft, count);
	return draft_finish(&draft, ret);
}

struct error *type_integer(const struct btf *btf, const char *name, uint32_t size, int encoding,
			   struct type *ret)
{
	struct record record;
	uint64_t cursor = 0;
	for (uint32_t id; btf && (id = btf_find(btf, BTF_INT, name, &cursor));) {
		if (record_get(btf, id, &record) && record.type == size) {
			*ret = (struct type){ btf, id };
			return NULL;
		}
	}
	if (!size || size > 16 || strlen(name) >= ARENA_CHUNK)
		return error_create(ERROR_USAGE, "no integer has %u bytes", size);
	struct draft draft;
	struct error *error = draft_begin(&draft, btf, kind_info(BTF_INT, 0), size);
	if (error)
		return error;
	draft.name = name;
	draft_u32(&draft, (uint32_t)(encoding & 0xf) << 24 | size * 8);
	return draft_finish(&draft, ret);
}

static bool level_is_below(const struct btf *btf, const struct btf *view)
{
	while (view && view != btf)
		view = view->base;
	return view;
}

static struct error *import(const struct btf *view, struct type type, int depth, uint32_t *ret);

/* Makes a derived type of another scratch level again on top of `view`. */
static struct error *rederive(const struct btf *view, const struct btf_type *record, int depth,
			      struct type *ret)
{
	struct error *error;
	struct type inner = { view, 0 };
	struct type target = { record->btf, record->type };
	if (record->kind == BTF_INT)
		return type_integer(view, record->name, record->size, record->int_encoding, ret);
	if (record->kind == BTF_FUNC_PROTO) {
		struct draft draft;
		error = import(view, target, depth, &inner.id);
		if (!error)
			error = draft_begin(&draft, view, kind_info(BTF_FUNC_PROTO, record->vlen),
					    inner.id);
		struct btf_param param;
		for (uint32_t i = 0; !error && btf_param(record, i, &param); i++) {
			error = import(view, (struct type){ record->btf, param.type }, depth,
				       &inner.id);
			draft_u32(&draft, 0);
			draft_u32(&draft, inner.id);
		}
		return error ? error : draft_finish(&draft, ret);
	}
	error = import(view, target, depth, &inner.id);
	if (error)
		return error;
	if (record->kind == BTF_ARRAY)
		return type_array_of(inner, record->array_count, ret);
	return record->kind == BTF_PTR ? type_pointer_to(inner, ret)
				       : type_qualified(inner, record->kind, ret);
}

/* The id that `type` has in `view` (or in the scratch level on top of it). */
static struct error *import(const struct btf *view, struct type type, int depth, uint32_t *ret)
{
	struct btf_type record;
	const struct btf *below = without_scratch(view);
	*ret = type.id;
	if (!type.id || type.btf == below->lazy->scratch || level_is_below(type.btf, below))
		return NULL;
	if (depth > IMPORT_DEPTH_MAX || !type_get(type, &record))
		return error_create(ERROR_USAGE, "type %u of %s cannot be carried to %s", type.id,
				    btf_name(type.btf), btf_name(view));
	/* What the scratch level itself did not make belongs to the levels below it. */
	if (level_is_below(record.btf, below))
		return NULL;
	struct type made;
	if (!record.btf->arena)
		return error_create(ERROR_USAGE, "types of %s and %s do not mix",
				    btf_name(type.btf), btf_name(view));
	struct error *error = rederive(below, &record, depth + 1, &made);
	if (!error)
		*ret = made.id;
	return error;
}

static const struct btf *deeper(const struct btf *a, const struct btf *b)
{
	return b && without_scratch(b)->depth > without_scratch(a)->depth ? b : a;
}

struct error *type_function(struct type result, const struct type *params, uint32_t count,
			    bool varargs, struct type *ret)
{
	if (!result.btf || count > PARAMS_MAX)
		return error_create(ERROR_USAGE, "no function with %u parameters", count);
	/* Ids must be of one view: the deepest that takes part. */
	const struct btf *view = result.btf;
	for (uint32_t i = 0; i < count; i++)
		view = deeper(view, params[i].btf);
	struct draft draft;
	uint32_t id;
	struct error *error = import(view, result, 0, &id);
	if (!error)
		error = draft_begin(&draft, view, kind_info(BTF_FUNC_PROTO, count + varargs), id);
	for (uint32_t i = 0; !error && i < count; i++) {
		error = import(view, params[i], 0, &id);
		draft_u32(&draft, 0);
		draft_u32(&draft, id);
	}
	if (error)
		return error;
	if (varargs) {
		draft_u32(&draft, 0);
		draft_u32(&draft, 0);
	}
	return draft_finish(&draft, ret);
}
