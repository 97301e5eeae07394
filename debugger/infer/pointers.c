// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/infer/pointers.h"

#include "base/array.h"
#include "base/bytes.h"
#include "base/interrupt.h"
#include <stdlib.h>

#define OBJECTS_MAX	   200000 /* that are followed in all */
#define OBJECTS_A_TYPE	   400	  /* more of a kind say nothing new */
#define OBJECT_SIZE_MAX	   65536
#define ARRAY_ELEMENTS_MAX 256
#define DEPTH_MAX	   16

struct node {
	const struct layout *layout;
	uint64_t address;
	uint32_t type, count;
};

struct pointer_walk {
	struct knowledge *knowledge;
	struct node *nodes; /* in the order they were found; `done` of them are followed */
	size_t count, capacity, done;
	struct hash_index seen;
	uint16_t *of_type; /* objects by type, of the kernel's layout */
	uint32_t type_count;
	uint64_t image_start, image_end;
	size_t new_facts;
	uint8_t *buffer;
};

struct error *pointer_walk_create(struct knowledge *knowledge, struct pointer_walk **ret)
{
	const struct layout *layout;
	TRY(knowledge_layout(knowledge, NULL, &layout));
	struct pointer_walk *walk = calloc(1, sizeof(*walk));
	if (!walk)
		return error_no_memory();
	walk->knowledge = knowledge;
	walk->type_count = layout->end;
	walk->of_type = calloc((size_t)layout->end + 1, sizeof(*walk->of_type));
	walk->buffer = malloc(OBJECT_SIZE_MAX);
	struct symtab *symbols = knowledge->target->symbols;
	if (!symtab_address(symbols, "_text", &walk->image_start) ||
	    !symtab_address(symbols, "_end", &walk->image_end))
		walk->image_start = walk->image_end = 0;
	if (!walk->of_type || !walk->buffer || !hash_index_init(&walk->seen, 65536)) {
		pointer_walk_destroy(walk);
		return error_no_memory();
	}
	*ret = walk;
	return NULL;
}

void pointer_walk_destroy(struct pointer_walk *walk)
{
	if (!walk)
		return;
	free(walk->nodes);
	free(walk->of_type);
	free(walk->buffer);
	hash_index_deinit(&walk->seen);
	free(walk);
}

static uint32_t node_hash(uint64_t address, uint32_t type)
{
	uint64_t key = address ^ (uint64_t)type << 40;
	return hash_bytes(&key, sizeof(key));
}

/* Remembers it; false: was there, or is one too many. */
static bool is_new(struct pointer_walk *walk, uint64_t address, uint32_t type)
{
	uint32_t hash = node_hash(address, type), number;
	size_t position = hash_index_first(&walk->seen, hash);
	while ((number = hash_index_next(&walk->seen, hash, &position)) != HASH_NONE)
		if (walk->nodes[number].address == address && walk->nodes[number].type == type)
			return false;
	return walk->count < OBJECTS_MAX;
}

static struct error *push(struct pointer_walk *walk, const struct node *node)
{
	if (!array_reserve(&walk->nodes, &walk->capacity, walk->count + 1) ||
	    !hash_index_add(&walk->seen, node_hash(node->address, node->type),
			    (uint32_t)walk->count))
		return error_no_memory();
	walk->nodes[walk->count++] = *node;
	return NULL;
}

struct error *pointer_walk_add(struct pointer_walk *walk, const struct layout *layout,
			       uint64_t address, uint32_t type, uint32_t count)
{
	struct node node = { layout, address, type, count };
	return is_new(walk, address, type) ? push(walk, &node) : NULL;
}

/* --- one object ---------------------------------------------------------------------------- */

static struct error *found_pointer(struct pointer_walk *walk, const struct node *from,
				   uint32_t target, uint64_t value, uint64_t where)
{
	const struct layout *layout = from->layout;
	if (value < walk->image_end && value >= walk->image_start) {
		if (!is_new(walk, value, target))
			return NULL;
		struct clue clue = { .kind = CLUE_OBJECT,
				     .source = SOURCE_POINTER,
				     .type = { layout->btf, target },
				     .where = where,
				     .how = "a typed pointer points at it" };
		walk->new_facts++;
		TRY(knowledge_add_fact(walk->knowledge, value, &clue));
		/* Remembered, not followed: the global's own type may be a larger one. */
		struct node node = { NULL, value, target, 0 };
		return push(walk, &node);
	}
	if (target < walk->type_count && walk->of_type[target]++ > OBJECTS_A_TYPE) {
		walk->of_type[target]--;
		return NULL;
	}
	return pointer_walk_add(walk, layout, value, target, 0);
}

static struct error *follow_type(struct pointer_walk *walk, const struct node *node, uint32_t type,
				 uint32_t offset, int depth);

static struct error *follow_pointer(struct pointer_walk *walk, const struct node *node,
				    uint32_t type, uint32_t offset)
{
	const struct layout *layout = node->layout;
	uint32_t target = layout_target(layout, type);
	if (!layout_is_compound(layout, target) || !layout_size(layout, target))
		return NULL;
	uint64_t value =
		load_u64(walk->buffer + offset, walk->knowledge->target->facts->big_endian);
	if (!is_kernel_pointer(value) || value % layout_alignment(layout, target))
		return NULL;
	return found_pointer(walk, node, target, value, node->address + offset);
}

static struct error *follow_members(struct pointer_walk *walk, const struct node *node,
				    uint32_t type, uint32_t offset, int depth)
{
	const struct field *field;
	for (uint32_t i = 0; (field = layout_field(node->layout, type, i)); i++)
		if (!field->bit_size)
			TRY(follow_type(walk, node, field->type, offset + field->offset,
					depth + 1));
	return NULL;
}

static struct error *follow_type(struct pointer_walk *walk, const struct node *node, uint32_t type,
				 uint32_t offset, int depth)
{
	const struct layout *layout = node->layout;
	uint32_t size = layout_size(layout, type);
	if (depth > DEPTH_MAX || offset + size > OBJECT_SIZE_MAX)
		return NULL;
	switch (layout_kind(layout, type)) {
	case BTF_PTR:
		return follow_pointer(walk, node, type, offset);
	case BTF_STRUCT:
		return follow_members(walk, node, type, offset, depth);
	case BTF_ARRAY: {
		uint32_t element = layout_target(layout, type);
		uint32_t count = layout_array_count(layout, type);
		uint32_t step = layout_size(layout, element);
		bool has_pointers = layout_is_compound(layout, element) ||
				    layout_kind(layout, element) == BTF_PTR;
		for (uint32_t i = 0; has_pointers && i < count && i < ARRAY_ELEMENTS_MAX; i++)
			TRY(follow_type(walk, node, element, offset + i * step, depth + 1));
		return NULL;
	}
	default:
		/* Of a union, nobody knows the arm. */
		return NULL;
	}
}

static struct error *follow(struct pointer_walk *walk, const struct node *node)
{
	uint32_t step = layout_size(node->layout, node->type);
	uint64_t size = node->count ? (uint64_t)step * node->count : step;
	if (size > OBJECT_SIZE_MAX)
		size = OBJECT_SIZE_MAX - OBJECT_SIZE_MAX % (step ? step : 1);
	if (!step || step > OBJECT_SIZE_MAX)
		return NULL;
	struct error *error = memory_read(walk->knowledge->target->memory, node->address,
					  walk->buffer, (size_t)size);
	if (error) {
		error_free(error);
		return NULL;
	}
	for (uint32_t at = 0; at + step <= size; at += step)
		TRY(follow_type(walk, node, node->type, at, 0));
	return NULL;
}

struct error *pointer_walk_run(struct pointer_walk *walk, size_t *ret_new)
{
	walk->new_facts = 0;
	for (; walk->done < walk->count; walk->done++) {
		struct node node = walk->nodes[walk->done];
		if (walk->done % 1024 == 0)
			TRY(interrupt_check());
		if (node.layout)
			TRY(follow(walk, &node));
	}
	*ret_new = walk->new_facts;
	return NULL;
}
