// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/code/text.h"

#include "base/array.h"
#include "base/large.h"
#include "debugger/target/object.h"
#include <string.h>

#define FUNCTION_TAIL	 64 /* bytes in which padding ends */
#define FUNCTION_OVERLAP 8  /* of it, in front of what is looked at next */

/* Of all ranges: the largest kernel seen has 24 MiB, and its modules as much again. */
#define TEXT_MAX ((uint64_t)192 << 20)

static struct error *add_range(struct text *text, uint64_t start, uint64_t size)
{
	for (size_t i = 0; i < text->count; i++)
		if (text->ranges[i].start == start)
			return NULL;
	if (!size || size > TEXT_MAX - text->total || start + size < start)
		return NULL;
	if (!array_reserve(&text->ranges, &text->capacity, text->count + 1))
		return error_no_memory();
	text->ranges[text->count++] = (struct text_range){ .start = start, .size = size };
	text->total += size;
	return NULL;
}

struct error *text_init(struct text *text, struct target *target, const struct lowering *lowering)
{
	uint64_t start, end;
	*text = (struct text){ .target = target, .lowering = lowering };
	if (!symtab_address(target->symbols, "_stext", &start) ||
	    !symtab_address(target->symbols, "_etext", &end) || end <= start)
		return error_create(ERROR_NOT_FOUND, "the kernel has no _stext and _etext");
	return add_range(text, start, end - start);
}

struct error *text_init_strings(struct text *text, struct target *target,
				const struct lowering *lowering)
{
	uint64_t start, end;
	*text = (struct text){ .target = target, .lowering = lowering };
	if (!symtab_address(target->symbols, "__start_rodata", &start) ||
	    !symtab_address(target->symbols, "__end_rodata", &end) || end <= start)
		return NULL;
	return add_range(text, start, end - start);
}

void text_deinit(struct text *text)
{
	for (size_t i = 0; i < text->count; i++)
		free(text->ranges[i].bytes);
	free(text->ranges);
}

struct error *text_add_module(struct text *text, const struct module *module)
{
	/* The first region is the text, or all of the core with the text in front. */
	if (!module->region_count)
		return NULL;
	for (size_t i = 0; i < text->count; i++)
		if (text->ranges[i].start == module->regions[0].start)
			return NULL;
	return add_range(text, module->regions[0].start, module->regions[0].size);
}

static const struct text_range *range_of(const struct text *text, uint64_t address, size_t size)
{
	for (size_t i = 0; i < text->count; i++) {
		const struct text_range *range = &text->ranges[i];
		if (address - range->start < range->size &&
		    size <= range->size - (address - range->start))
			return range;
	}
	return NULL;
}

const uint8_t *text_bytes(const struct text *text, uint64_t address, size_t size)
{
	const struct text_range *range = range_of(text, address, size);
	return range && range->bytes ? range->bytes + (address - range->start) : NULL;
}

bool text_read(const struct text *text, uint64_t address, uint8_t *buffer, size_t size)
{
	const struct text_range *range = range_of(text, address, size);
	if (!range)
		return false;
	if (range->bytes)
		memcpy(buffer, range->bytes + (address - range->start), size);
	else
		memory_read_filled(text->target->memory, address, buffer, size,
				   text->lowering->filler);
	return true;
}

bool text_string(const struct text *text, uint64_t address, char *buffer, size_t size)
{
	const struct text_range *range = range_of(text, address, 1);
	if (!range || size < 2)
		return false;
	uint64_t left = range->size - (address - range->start);
	size_t length = left < size - 1 ? (size_t)left : size - 1;
	buffer[length] = 0;
	return text_read(text, address, (uint8_t *)buffer, length);
}

static bool is_filled(const struct lowering *lowering, const uint8_t *bytes, size_t count)
{
	while (count && bytes[count - 1] == lowering->filler)
		count--;
	return !count;
}

static bool load_range(const struct text *text, struct text_range *range)
{
	if (range->bytes)
		return true;
	range->bytes = large_malloc(range->size);
	if (range->bytes)
		memory_read_filled(text->target->memory, range->start, range->bytes, range->size,
				   text->lowering->filler);
	return range->bytes;
}

struct error *text_load(struct text *text)
{
	for (size_t i = 0; i < text->count; i++)
		if (!load_range(text, &text->ranges[i]))
			return error_no_memory();
	return NULL;
}

void text_expect_sweep(struct text *text, struct text_range *range)
{
	if (range->was_swept && !target_is_live(text->target))
		(void)load_range(text, range);
	range->was_swept = true;
}

uint64_t text_function_size(const struct target *target, const struct symbol *function)
{
	const struct lowering *lowering = target->arch ? lowering_find(target->arch->name) : NULL;
	uint8_t bytes[FUNCTION_TAIL];
	uint64_t size = function->size;
	struct error *why;
	if (!lowering || function->size_exact)
		return size;
	for (;;) {
		size_t count = size < sizeof(bytes) ? (size_t)size : sizeof(bytes);
		size_t read = memory_read_some(target->memory, function->address + size - count,
					       bytes, count, &why);
		error_free(why);
		if (read != count)
			return function->size;
		/* The linker moves what a mitigation wants elsewhere: a megabyte of traps. */
		if (size <= sizeof(bytes) || !is_filled(lowering, bytes, count))
			return size - lowering->padding(bytes, count);
		size -= count - FUNCTION_OVERLAP;
	}
}
