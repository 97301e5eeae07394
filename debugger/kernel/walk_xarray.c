// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * XArrays (kernel include/linux/xarray.h), which radix trees and idrs are since 4.20: nodes with 64
 * slots; a slot is empty, an entry, or, with the low bits 10, a node one level down or a sibling:
 * "see slot N", when an entry takes several.
 */
#include "debugger/kernel/walk.h"

#include "base/bytes.h"
#include "base/interrupt.h"
#include "debugger/target/object.h"
#include <inttypes.h>

#define SLOTS_MAX 64u
#define WORD_BITS 64u

struct xarray {
	const struct walk *walk;
	uint64_t base;			       /* added to every index */
	uint64_t shift, offset, parent, slots; /* offsets in struct xa_node */
	uint64_t slot_count;
	unsigned int chunk_shift; /* log2 of slot_count */
};

struct error *walk_entry(const struct walk *walk, uint64_t entry, uint64_t index, uint64_t last)
{
	struct walk_item item = { .address = entry,
				  .is_value = entry & 1,
				  .has_index = true,
				  .index = index,
				  .last = last };
	if (item.is_value)
		item.address = entry >> 1;
	return walk->visit(walk->context, &item);
}

static struct error *find_offsets(struct xarray *xarray)
{
	struct target *target = xarray->walk->target;
	struct type node;
	struct type_place place;
	struct btf_type record;
	TRY(object_offset(target, "struct xa_node", "shift", &xarray->shift));
	TRY(object_offset(target, "struct xa_node", "offset", &xarray->offset));
	TRY(object_offset(target, "struct xa_node", "parent", &xarray->parent));
	TRY(object_offset(target, "struct xa_node", "slots", &xarray->slots));
	TRY(target_find_type(target, NULL, "struct xa_node", &node));
	TRY(type_find_path(node, "slots", &place));
	uint32_t count = type_get_resolved(place.type, &record) && record.kind == BTF_ARRAY
				 ? record.array_count
				 : 0;
	if (!count || count > SLOTS_MAX || (count & (count - 1)))
		return error_create(ERROR_FORMAT, "xa_node.slots is not an array of at most %u",
				    SLOTS_MAX);
	xarray->slot_count = count;
	xarray->chunk_shift = (unsigned int)__builtin_ctz(count);
	return NULL;
}

/* A slot of a node, in which another node lies; of the root the node is 0. */
struct xa_place {
	uint64_t node, slot;
	unsigned int shift; /* of that node; of the root's place more than any has */
};

/*
 * The bytes of its slots, after its level and its place were checked. A node that knows the slot it
 * lies in has one place: where several slots lead to it, all but one are wrong, and what is below
 * it is not walked once for each.
 */
static struct error *read_node(const struct xarray *xarray, uint64_t node, struct xa_place place,
			       uint8_t *ret_shift, uint8_t slots[8 * SLOTS_MAX])
{
	struct memory *memory = xarray->walk->target->memory;
	uint64_t back;
	uint8_t slot;
	TRY(memory_read_u8(memory, node + xarray->shift, ret_shift));
	TRY(memory_read_u8(memory, node + xarray->offset, &slot));
	TRY(memory_read_word(memory, node + xarray->parent, &back));
	if (back != place.node)
		return error_create(ERROR_FORMAT, "does not link back to 0x%" PRIx64, place.node);
	if (place.node && slot != place.slot)
		return error_create(ERROR_FORMAT, "is in slot %" PRIu64 " and says %u", place.slot,
				    slot);
	/* Below the root, a level is just one chunk. */
	if (*ret_shift >= place.shift ||
	    (place.node && *ret_shift + xarray->chunk_shift != place.shift))
		return error_create(ERROR_FORMAT, "has the shift %u below %u", *ret_shift,
				    place.shift);
	return memory_read(memory, node + xarray->slots, slots,
			   xarray->slot_count * memory->word_size);
}

/* How many slots from `slot` on are one entry: those that follow may point back to it. */
static uint64_t entry_width(const struct xarray *xarray, const uint8_t *slots, uint64_t slot)
{
	struct memory *memory = xarray->walk->target->memory;
	uint64_t sibling = slot << 2 | XA_INTERNAL, width = 1;
	while (slot + width < xarray->slot_count &&
	       load_unsigned(slots + (slot + width) * memory->word_size, memory->word_size,
			     memory->big_endian) == sibling)
		width++;
	return width;
}

static struct error *visit_node(const struct xarray *xarray, uint64_t node, struct xa_place place,
				uint64_t start)
{
	const struct walk *walk = xarray->walk;
	struct memory *memory = walk->target->memory;
	uint8_t shift = 0, slots[8 * SLOTS_MAX];
	TRY(interrupt_check());
	struct error *error = read_node(xarray, node, place, &shift, slots);
	if (error)
		return walk->broken(walk->context,
				    error_prefix(error,
						 "xarray node 0x%" PRIx64 " for index %" PRIu64,
						 node, start + xarray->base));
	for (uint64_t i = 0; i < xarray->slot_count; i++) {
		uint64_t entry = load_unsigned(slots + i * memory->word_size, memory->word_size,
					       memory->big_endian);
		uint64_t index = start + (i << shift);
		if (xa_is_node(entry) && shift) {
			struct xa_place own = { node, i, shift };
			TRY(visit_node(xarray, entry - XA_INTERNAL, own, index));
		} else if (entry && !xa_is_internal(entry)) {
			uint64_t width = entry_width(xarray, slots, i);
			TRY(walk_entry(walk, entry, index + xarray->base,
				       index + xarray->base + (width << shift) - 1));
		}
	}
	return NULL;
}

static struct error *walk_from(struct xarray *xarray, uint64_t address)
{
	const struct walk *walk = xarray->walk;
	uint64_t offset, head;
	TRY(target_need_memory(walk->target));
	TRY(find_offsets(xarray));
	TRY(object_offset(walk->target, "struct xarray", "xa_head", &offset));
	struct error *error = memory_read_word(walk->target->memory, address + offset, &head);
	if (error)
		return walk->broken(walk->context,
				    error_prefix(error, "xarray 0x%" PRIx64, address));
	if (xa_is_node(head)) {
		/* A root does not say whose it is; all other nodes do. */
		bool again;
		TRY(walk_again(walk, head - XA_INTERNAL, "an xarray", &again));
		return again ? NULL
			     : visit_node(xarray, head - XA_INTERNAL,
					  (struct xa_place){ .shift = WORD_BITS }, 0);
	}
	if (!head || xa_is_internal(head))
		return walk_ended(walk, false);
	return walk_entry(walk, head, xarray->base, xarray->base);
}

struct error *walk_xarray(const struct walk *walk, uint64_t address)
{
	struct xarray xarray = { .walk = walk };
	return walk_from(&xarray, address);
}

/* Down from a node; each lies a level below the one before. */
static struct error *load_from(const struct xarray *xarray, uint64_t node, uint64_t index,
			       uint64_t *ret)
{
	struct memory *memory = xarray->walk->target->memory;
	struct xa_place place = { .shift = WORD_BITS };
	for (;;) {
		uint8_t shift = 0, slots[8 * SLOTS_MAX];
		TRY(error_prefix(read_node(xarray, node, place, &shift, slots),
				 "xarray node 0x%" PRIx64 " for index %" PRIu64, node, index));
		/* What is behind the last index of the root is not there. */
		if (shift >= WORD_BITS || (!place.node && shift + xarray->chunk_shift < WORD_BITS &&
					   index >> (shift + xarray->chunk_shift)))
			return NULL;
		uint64_t slot = index >> shift & (xarray->slot_count - 1), entry = 0;
		/* A sibling points to the slot of the entry, which is no sibling. */
		for (unsigned int i = 0; i < 2 && slot < xarray->slot_count; i++) {
			entry = load_unsigned(slots + slot * memory->word_size, memory->word_size,
					      memory->big_endian);
			if (!xa_is_internal(entry) || xa_is_node(entry))
				break;
			slot = entry >> 2;
		}
		if (xa_is_node(entry) && shift) {
			place = (struct xa_place){ node, slot, shift };
			node = entry - XA_INTERNAL;
			continue;
		}
		*ret = xa_is_internal(entry) ? 0 : entry;
		return NULL;
	}
}

struct error *xarray_load(struct target *target, uint64_t address, uint64_t index, uint64_t *ret)
{
	const struct walk walk = { .target = target };
	struct xarray xarray = { .walk = &walk };
	uint64_t offset, head;
	*ret = 0;
	TRY(target_need_memory(target));
	TRY(find_offsets(&xarray));
	TRY(object_offset(target, "struct xarray", "xa_head", &offset));
	TRY(error_prefix(memory_read_word(target->memory, address + offset, &head),
			 "xarray 0x%" PRIx64, address));
	if (xa_is_node(head))
		return load_from(&xarray, head - XA_INTERNAL, index, ret);
	if (!index && !xa_is_internal(head))
		*ret = head;
	return NULL;
}

struct error *walk_idr(const struct walk *walk, uint64_t idr)
{
	struct xarray xarray = { .walk = walk };
	struct object object;
	uint64_t offset;
	TRY(target_need_memory(walk->target));
	TRY(object_at(walk->target, "struct idr", idr, &object));
	TRY(object_offset(walk->target, "struct idr", "idr_rt", &offset));
	/* idr_base since 4.16 (6ce711f27500). */
	if (object_has(&object, "idr_base")) {
		struct error *error = object_u64(&object, "idr_base", &xarray.base);
		if (error)
			return walk->broken(walk->context,
					    error_prefix(error, "idr 0x%" PRIx64, idr));
	}
	return walk_from(&xarray, idr + offset);
}
