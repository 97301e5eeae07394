// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/infer/length.h"

#include "base/array.h"
#include <string.h>

/* What gcc aligns large objects to on x86-64: the most that is left between two of them. */
#define PADDING_MAX 31

bool ends_with_empty(const struct layout *layout, uint32_t type)
{
	static const char *const targets[] = { "attribute", "attribute_group", "bin_attribute" };
	struct btf_type record;
	if (layout_is_compound(layout, type) && btf_get(layout->btf, type, &record)) {
		size_t length = strlen(record.name);
		return length > 3 && !strcmp(record.name + length - 3, "_id");
	}
	uint32_t target = layout_target(layout, type);
	for (size_t i = 0; target && i < ARRAY_COUNT(targets); i++)
		if (target == layout_find(layout, BTF_STRUCT, targets[i]))
			return true;
	return false;
}

uint32_t length_of_array(const struct question *question, uint32_t type, uint32_t most)
{
	const struct layout *layout = question->layout;
	uint64_t size = layout_size(layout, type), room = question->subject->room;
	uint32_t used = question->size;
	while (used && !question->bytes[used - 1])
		used--;
	/* Of zeros only, or of what is not read to the end, nothing is known. */
	if (!size || !used || question->size < room || question->subject->room_is_exact)
		return most;
	uint64_t count = (used + size - 1) / size;
	uint64_t least = room > PADDING_MAX ? (room - PADDING_MAX + size - 1) / size : 1;
	bool is_text = size == 1 && question->layout->character == type;
	if (is_text || ends_with_empty(layout, type))
		count++;
	return count >= least && count < most ? (uint32_t)count : most;
}
