// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/infer/known/habits.h"

#include "base/array.h"
#include <string.h>

#define BLOCK_SIZE 4096 /* bytes of text */
#define BLOCKS	   3	/* that are looked at, around the one that is meant */
#define FAITH	   8	/* so many uses the usual shares count as */
#define POINTERS   2	/* that are followed */

/* By size, the one that is taken where nothing else is known, and the other. */
static const char *const kinds[HABITS_MAX] = {
	"_Bool",	"unsigned char",     "int",
	"unsigned int", "long unsigned int", "long long unsigned int",
};

struct block {
	uint64_t address;
	struct habits habits;
};

static void count_type(const struct layout *layout, uint32_t type, struct habits *habits)
{
	type = layout_resolve(layout, type);
	for (int i = 0; i < POINTERS && layout_kind(layout, type) == BTF_PTR; i++)
		type = layout_target(layout, type);
	for (size_t i = 0; type && i < HABITS_MAX; i++)
		habits->counts[i] += habits->types[i] == type;
}

static void count_prototype(const struct layout *layout, const struct btf_type *prototype,
			    struct habits *habits)
{
	struct btf_param param;
	count_type(layout, prototype->type, habits);
	for (uint32_t i = 0; btf_param(prototype, i, &param); i++)
		count_type(layout, param.type, habits);
}

void habits_of_all(const struct layout *layout, struct habits *ret)
{
	struct btf_type type;
	*ret = (struct habits){ .layout = layout };
	for (size_t i = 0; i < HABITS_MAX; i++)
		ret->types[i] = layout_find(layout, BTF_INT, kinds[i]);
	for (uint32_t id = layout->first; id < layout->end; id++)
		if (layout_kind(layout, id) == BTF_FUNC_PROTO && btf_get(layout->btf, id, &type))
			count_prototype(layout, &type, ret);
}

/* Of a function of that name: a namesake's habits are as good. */
static void count_function(const struct layout *layout, const struct symbol *symbol,
			   struct habits *habits)
{
	uint64_t cursor = 0;
	uint32_t id = btf_find(layout->btf, BTF_FUNC, symbol->name, &cursor);
	struct btf_type type;
	if (id && btf_get(layout->btf, id, &type) && btf_get(layout->btf, type.type, &type))
		count_prototype(layout, &type, habits);
}

/* Of those that begin in a block of text. */
static void count_block(struct target *target, const struct layout *layout, uint64_t start,
			struct habits *habits)
{
	char name[SYMBOL_NAME_SIZE];
	struct symbol symbol;
	uint64_t offset;
	for (uint64_t at = start; at - start < BLOCK_SIZE; at += symbol.size - offset) {
		if (!symtab_by_address_into(target->symbols, at, name, &symbol, &offset) ||
		    !symbol_is_text(&symbol) || symbol.size <= offset)
			break;
		if (!offset)
			count_function(layout, &symbol, habits);
		/* What is that large leads out of the block, or round all addresses. */
		if (symbol.size - offset > BLOCK_SIZE)
			break;
	}
}

void habits_around(struct address_map *blocks, struct target *target, const struct habits *all,
		   uint64_t address, struct habits *habits)
{
	uint64_t first = (address & ~(uint64_t)(BLOCK_SIZE - 1)) - BLOCK_SIZE;
	for (int i = 0; i < BLOCKS; i++) {
		uint64_t start = first + (uint64_t)i * BLOCK_SIZE;
		struct block *block = address_map_find(blocks, sizeof(*block), start);
		if (!block) {
			block = address_map_add(blocks, sizeof(*block), start);
			if (!block)
				return;
			memcpy(block->habits.types, all->types, sizeof(all->types));
			count_block(target, all->layout, start, &block->habits);
		}
		for (size_t k = 0; k < HABITS_MAX; k++)
			habits->counts[k] += block->habits.counts[k];
	}
}

int habits_bits(const struct habits *here, const struct habits *all, uint32_t type)
{
	size_t i = 1;
	while (i < HABITS_MAX && all->types[i] != type)
		i += 2;
	if (!type || i > HABITS_MAX)
		return 0;
	/* Shares as fractions of 65536. */
	uint64_t usual = all->counts[i] + all->counts[i - 1];
	uint64_t share = usual ? ((uint64_t)all->counts[i] << 16) / usual : 0;
	uint64_t other = 65536 - share;
	if (!share || !other)
		return 0;
	uint64_t mine = ((uint64_t)here->counts[i] << 16) + FAITH * share;
	uint64_t theirs = ((uint64_t)here->counts[i - 1] << 16) + FAITH * other;
	int bits = 0;
	for (uint64_t left = mine * other, right = theirs * share; left >= 2 * right; left /= 2)
		bits++;
	return bits;
}
