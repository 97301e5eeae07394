// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/infer/hints/hint_types.h"

#include "base/array.h"
#include "base/hash.h"
#include "debugger/declare/declare.h"
#include "debugger/infer/hints/hints.h"
#include "debugger/infer/hints/unnamed_types.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_SIZE 512

struct parsed {
	const struct btf *btf;
	const char *text;
	struct hint_type type; /* { NULL, 0 }: none here */
};

struct function_pointer {
	uint32_t id, parameters; /* how many it has */
};

struct hint_types {
	struct target *target;
	struct parsed *items;
	size_t count, capacity;
	struct hash_index index;
	struct unnamed_types unnamed;
	const struct btf *pointers_of; /* the BTF that was asked last, NULL */
	const struct btf *base;	       /* the level below it, NULL: not listed */
	struct function_pointer *pointers;
	size_t pointer_count, base_count, pointer_capacity; /* the base's come first */
};

struct error *hint_types_create(struct target *target, struct hint_types **ret)
{
	struct hint_types *types = calloc(1, sizeof(*types));
	if (!types)
		return error_no_memory();
	types->target = target;
	*ret = types;
	return NULL;
}

void hint_types_destroy(struct hint_types *types)
{
	if (!types)
		return;
	hash_index_deinit(&types->index);
	unnamed_types_deinit(&types->unnamed);
	free(types->items);
	free(types->pointers);
	free(types);
}

/* "const char *[]" without its first dimension; false: no array. */
static bool strip_dimension(char *text)
{
	char *open = strchr(text, '[');
	if (!open || open[1] != ']')
		return false;
	memmove(open, open + 2, strlen(open + 2) + 1);
	return true;
}

static bool points_at_function(struct type type, struct btf_type *ret)
{
	struct type target;
	return type_is_pointer(type) && type_target(type, &target) &&
	       type_get_resolved(target, ret) && ret->kind == BTF_FUNC_PROTO;
}

/* The pointers to functions from an id on. What there is no memory for is not found. */
static void list_function_pointers(struct hint_types *types, const struct btf *btf, uint32_t id)
{
	struct btf_type pointer, function;
	for (; id < btf_end_id(btf); id++) {
		if (!btf_get(btf, id, &pointer) || pointer.kind != BTF_PTR ||
		    !points_at_function((struct type){ btf, id }, &function))
			continue;
		if (!array_reserve(&types->pointers, &types->pointer_capacity,
				   types->pointer_count + 1))
			return;
		types->pointers[types->pointer_count++] =
			(struct function_pointer){ id, function.vlen };
	}
}

/* All that a BTF has: modules come one after the other, on one base. */
static void use_function_pointers(struct hint_types *types, const struct btf *btf)
{
	const struct btf *base = btf_base(btf);
	if (types->pointers_of == btf)
		return;
	types->pointers_of = btf;
	if (!base || types->base != base) {
		types->pointer_count = 0;
		if (base)
			list_function_pointers(types, base, 1);
		types->base = base;
		types->base_count = types->pointer_count;
	}
	types->pointer_count = types->base_count;
	list_function_pointers(types, btf, btf_start_id(btf));
}

/*
 * A pointer to a function as the parser makes it, as BTF itself has it: only that has a place
 * among the types that are compared.
 */
static struct type find_function_pointer(struct hint_types *types, const struct btf *btf,
					 struct type made)
{
	struct btf_type wanted, found;
	if (!points_at_function(made, &wanted))
		return made;
	use_function_pointers(types, btf);
	for (size_t i = 0; i < types->pointer_count; i++) {
		struct type type = { btf, types->pointers[i].id };
		if (types->pointers[i].parameters == wanted.vlen &&
		    points_at_function(type, &found) &&
		    type_equal((struct type){ found.btf, found.id },
			       (struct type){ wanted.btf, wanted.id }))
			return type;
	}
	return made;
}

static struct hint_type parse(struct hint_types *types, const struct btf *btf, const char *text)
{
	struct hint_type parsed = { .is_array = false };
	char buffer[TEXT_SIZE];
	if (snprintf(buffer, sizeof(buffer), "%s", text) >= (int)sizeof(buffer))
		return parsed;
	if (unnamed_is_spelled(buffer)) {
		parsed.type = unnamed_find(&types->unnamed, btf, buffer);
		return parsed;
	}
	parsed.is_array = strip_dimension(buffer);
	struct type type;
	if (declare_is_type(types->target, btf, buffer, &type))
		parsed.type = find_function_pointer(types, btf, type);
	return parsed;
}

static uint32_t hash_key(const struct btf *btf, const char *text)
{
	const void *key[] = { btf, text };
	return hash_bytes(key, sizeof(key));
}

/* What cannot be remembered is only looked up again. */
static void remember(struct hint_types *types, uint32_t hash, const struct parsed *parsed)
{
	if (array_reserve(&types->items, &types->capacity, types->count + 1) &&
	    hash_index_add(&types->index, hash, (uint32_t)types->count))
		types->items[types->count++] = *parsed;
}

bool hint_type_find(struct hint_types *types, const struct btf *btf, const char *text,
		    bool is_shared, struct hint_type *ret)
{
	uint32_t hash = hash_key(btf, text), number;
	size_t position = hash_index_first(&types->index, hash);
	while ((number = hash_index_next(&types->index, hash, &position)) != HASH_NONE) {
		const struct parsed *parsed = &types->items[number];
		if (parsed->btf != btf || parsed->text != text)
			continue;
		*ret = parsed->type;
		return ret->type.btf;
	}
	if (is_shared)
		return false;
	struct parsed parsed = { btf, text, parse(types, btf, text) };
	remember(types, hash, &parsed);
	*ret = parsed.type;
	return ret->type.btf;
}

void hint_types_prepare(struct hint_types *types, struct hints *hints, uint32_t kernels,
			const struct btf *btf, const struct symbol *symbol)
{
	struct hint rows[HINTS_A_NAME];
	struct hint_type ignored;
	size_t count = hints_find(hints, symbol, kernels, rows);
	for (size_t i = 0; i < count; i++)
		(void)hint_type_find(types, btf, rows[i].type, false, &ignored);
}
