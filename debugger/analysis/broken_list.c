// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/analysis/broken_list.h"

#include "base/interrupt.h"

#define ENTRIES_MAX 1000000 /* of all lists together */
#define OFFSET_MAX  4096    /* of a list_head in an object */
#define ALIGNMENT   8
#define KERNEL_HALF ((uint64_t)1 << 63)

static bool read_word(struct memory *memory, uint64_t address, uint64_t *ret)
{
	struct error *error = memory_read_u64(memory, address, ret);
	bool is_read = !error;
	error_free(error);
	return is_read;
}

/*
 * True: the list that begins at `head` has the bad pointer as the next of an entry, or what an
 * object around it begins with.
 */
static bool leads_to(struct memory *memory, uint64_t head, uint64_t bad, uint64_t *left,
		     struct broken_list *ret)
{
	uint64_t node = head, next, back;
	bool is_sound = true;
	for (uint64_t i = 0; *left && read_word(memory, node, &next); i++, --*left) {
		if (next + OFFSET_MAX - bad <= 2 * OFFSET_MAX) {
			ret->position = i;
			ret->entry = node;
			/* Any two pointers in a row lead somewhere. */
			return i > 1 || (i == 1 && is_sound);
		}
		if (!is_sound || next == head || next % ALIGNMENT || next < KERNEL_HALF)
			return false;
		/* One that does not point back is none, unless it was written over. */
		is_sound = read_word(memory, next + 8, &back) && back == node;
		node = next;
	}
	return false;
}

struct error *broken_list_find(struct target *target, const struct registers *registers,
			       uint64_t bad, struct broken_list *ret)
{
	const struct arch *arch = target->arch;
	uint64_t left = ENTRIES_MAX;
	*ret = (struct broken_list){ 0 };
	for (unsigned int i = 0; i < arch->register_count && !ret->is_found; i++) {
		uint64_t head = registers->values[i];
		if (!registers_has(registers, i) || head < KERNEL_HALF || head % ALIGNMENT)
			continue;
		TRY(interrupt_check());
		ret->is_found = leads_to(target->memory, head, bad, &left, ret);
		ret->reg = i;
		ret->head = head;
	}
	return ret->is_found ? object_note_find(target, ret->entry, &ret->note) : NULL;
}
