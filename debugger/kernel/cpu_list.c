// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/kernel/cpu_list.h"

#include <inttypes.h>
#include <stdio.h>

/* Words of 64 bits, as the masks of this machine are. */
static struct error *has_cpu(struct target *target, uint64_t mask, uint32_t number, bool *ret)
{
	uint64_t word;
	size_t size = target->memory->word_size;
	uint32_t bits = (uint32_t)size * 8;
	TRY(memory_read_word(target->memory, mask + number / bits * size, &word));
	*ret = word >> number % bits & 1;
	return NULL;
}

static size_t put_range(char *buffer, size_t size, uint32_t first, uint32_t last)
{
	int length = first == last ? snprintf(buffer, size, "%" PRIu32, first)
				   : snprintf(buffer, size, "%" PRIu32 "-%" PRIu32, first, last);
	return (size_t)length < size ? (size_t)length : size;
}

struct error *cpu_list_text(const struct object *object, const char *path, char *buffer,
			    size_t size)
{
	struct object mask;
	const struct cpu *cpus;
	size_t used = 0;
	*buffer = 0;
	TRY(object_member(object, path, &mask));
	if (type_is_pointer(mask.type))
		TRY(object_follow(object, path, &mask));
	if (!mask.address)
		return NULL;
	TRY(target_need_cpus(object->target));
	size_t count = target_cpus(object->target, &cpus);
	for (size_t i = 0; i < count && used + 1 < size; i++) {
		size_t last = i;
		bool is_in;
		TRY(has_cpu(object->target, mask.address, cpus[i].number, &is_in));
		if (!is_in)
			continue;
		while (last + 1 < count && cpus[last + 1].number == cpus[last].number + 1) {
			TRY(has_cpu(object->target, mask.address, cpus[last + 1].number, &is_in));
			if (!is_in)
				break;
			last++;
		}
		if (used)
			buffer[used++] = ',';
		used += put_range(buffer + used, size - used, cpus[i].number, cpus[last].number);
		i = last;
	}
	return NULL;
}
