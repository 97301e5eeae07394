// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/analysis/list_link.h"

static bool read_word(struct target *target, uint64_t address, uint64_t *ret)
{
	struct error *error = memory_read_word(target->memory, address, ret);
	error_free(error);
	return !error;
}

static bool is_kernels(struct target *target, uint64_t address)
{
	struct symbol symbol;
	uint64_t offset;
	return target_symbol_at(target, address, &symbol, &offset) && !symbol.module;
}

/*
 * From a node on, by the words at `link` in each. *ret_closed: it led back to where it began; else
 * it ended at NULL, or at what cannot be read.
 */
static bool meets_kernel(struct target *target, uint64_t node, uint64_t link, uint32_t *left,
			 bool *ret_closed)
{
	uint64_t at = node;
	*ret_closed = false;
	for (; *left; --*left) {
		if (!read_word(target, at + link, &at) || !is_kernel_pointer(at))
			return false;
		if (is_kernels(target, at))
			return true;
		*ret_closed = at == node;
		if (*ret_closed)
			return false;
	}
	return true;
}

bool list_link_is_kernels(struct target *target, uint64_t place, uint32_t *left)
{
	const uint64_t word = sizeof(uint64_t);
	uint64_t value, back;
	bool is_closed;
	if (!read_word(target, place, &value))
		return false;
	/* The first word of a node leads to the next one, whose second leads back; and the like. */
	bool is_first = read_word(target, value + word, &back) && back == place;
	bool is_second = !is_first && read_word(target, value, &back) && back == place - word;
	if (!is_first && !is_second)
		return false;
	uint64_t node = is_first ? place : place - word;
	if (meets_kernel(target, node, 0, left, &is_closed))
		return true;
	/* A list of hlist_nodes ends: its head is at the other end. */
	return !is_closed && meets_kernel(target, node, word, left, &is_closed);
}
