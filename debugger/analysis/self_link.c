// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/analysis/self_link.h"

#define WORD 8u

static bool word_is(struct target *target, uint64_t place, uint64_t wanted)
{
	uint64_t word;
	struct error *error = memory_read_word(target->memory, place, &word);
	bool is_so = !error && word == wanted;
	error_free(error);
	return is_so;
}

struct error *self_link_find(struct target *target, const struct registers *registers,
			     struct self_link *ret)
{
	*ret = (struct self_link){ .node = 0 };
	unsigned int count = target->arch ? target->arch->register_count : 0;
	for (unsigned int i = 0; i < count && !ret->node; i++) {
		uint64_t node = registers->values[i];
		if (!registers_has(registers, i) || !is_kernel_pointer(node) || node % WORD ||
		    !word_is(target, node, node) || word_is(target, node + WORD, node))
			continue;
		TRY(object_note_find(target, node, &ret->note));
		if (!ret->note.is_slab || !ret->note.object)
			continue;
		ret->node = node;
		ret->reg = i;
	}
	return NULL;
}
