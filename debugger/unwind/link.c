// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/unwind/link.h"

#include "base/bytes.h"
#include "debugger/unwind/scan.h"
#include <stdlib.h>
#include <string.h>

/* Tail calls behind tail calls that are followed, and the largest function looked through. */
#define JUMP_DEPTH   3
#define FUNCTION_MAX (64u << 10)
#define THUNK	     "__x86_indirect_"

struct jumps {
	struct target *target;
	uint64_t wanted;
	const struct symbol *function; /* the same */
	uint32_t *budget;
};

static enum link leads_to(struct jumps *jumps, uint64_t address, int depth);

/* Where calls and jumps through a register lead: of several makings, each for one kind of attack.
 */
static bool is_thunk(const struct symbol *symbol)
{
	return !strncmp(symbol->name, THUNK, strlen(THUNK));
}

/* A jump is of interest when it leaves the function, to the start of another. */
static enum link jump_leads_to(struct jumps *jumps, const struct symbol *from, uint64_t to,
			       int depth)
{
	struct symbol symbol;
	uint64_t offset;
	if (to == jumps->wanted)
		return LINK_POSSIBLE;
	if (depth < 0 || to - from->address < from->size || !scan_is_text(jumps->target, to) ||
	    !target_symbol_at(jumps->target, to, &symbol, &offset) || offset)
		return LINK_IMPOSSIBLE;
	return leads_to(jumps, to, depth);
}

/* "jmp *register": it can lead anywhere. */
static bool is_indirect_jump(const uint8_t *code)
{
	return code[0] == 0xff && code[1] >> 3 == 0x1c;
}

/*
 * The bytes of a jump or a conditional one, and how far it leads from its end; 0: it is none.
 * Neighbours jump to each other with one byte of distance.
 */
static size_t jump_length(const uint8_t *code, size_t size, int64_t *ret_distance)
{
	bool is_short = code[0] == 0xeb || code[0] >> 4 == 7;
	bool is_branch = size >= 2 && code[0] == 0x0f && code[1] >> 4 == 8;
	size_t length = is_short ? 2 : code[0] == 0xe9 ? 5 : is_branch ? 6 : 0;
	if (length > size)
		return 0;
	if (is_short)
		*ret_distance = (int8_t)code[1];
	else if (length)
		*ret_distance = (int32_t)load_u32(code + length - 4, false);
	return length;
}

/*
 * Looks at each byte that could begin a jump: what is no instruction can let a link pass that is
 * none, it cannot refuse one.
 */
static enum link code_leads_to(struct jumps *jumps, const struct symbol *symbol,
			       const uint8_t *code, size_t size, int depth)
{
	enum link best = LINK_IMPOSSIBLE;
	for (size_t i = 0; i < size && best != LINK_POSSIBLE; i++) {
		int64_t distance;
		size_t length = jump_length(code + i, size - i, &distance);
		if (size - i >= 2 && is_indirect_jump(code + i))
			best = LINK_DOUBTFUL;
		if (!length)
			continue;
		uint64_t next = symbol->address + i + length;
		enum link link = jump_leads_to(jumps, symbol, next + (uint64_t)distance, depth);
		best = link > best ? link : best;
	}
	return best;
}

static bool is_same_function(const struct jumps *jumps, const struct symbol *called)
{
	const struct symbol *function = jumps->function;
	size_t length = strlen(called->name);
	if (called->address == function->address)
		return true;
	/* "f.cold": a part of f that lies elsewhere. */
	return !strncmp(called->name, function->name, length) && function->name[length] == '.';
}

/* What lies nearest is looked at first: a system call's table of jumps has hundreds. */
static enum link leads_to(struct jumps *jumps, uint64_t address, int depth)
{
	struct symbol symbol;
	uint64_t offset;
	if (!*jumps->budget || !target_symbol_at(jumps->target, address, &symbol, &offset))
		return LINK_IMPOSSIBLE;
	--*jumps->budget;
	if (is_same_function(jumps, &symbol))
		return LINK_POSSIBLE;
	if (is_thunk(&symbol))
		return LINK_DOUBTFUL;
	if (!symbol.size || symbol.size > FUNCTION_MAX)
		return LINK_IMPOSSIBLE;
	uint8_t *code = malloc(symbol.size);
	if (!code)
		return LINK_IMPOSSIBLE;
	struct error *error;
	size_t size =
		memory_read_some(jumps->target->memory, symbol.address, code, symbol.size, &error);
	error_free(error);
	enum link best = LINK_IMPOSSIBLE;
	for (int next = -1; best != LINK_POSSIBLE && next < depth; next++) {
		enum link link = code_leads_to(jumps, &symbol, code, size, next);
		best = link > best ? link : best;
	}
	free(code);
	return best;
}

/* The code that booted is gone, and the idle task of the first CPU will yet return to it. */
static bool is_init_text(struct target *target, uint64_t address)
{
	uint64_t start, end;
	return symtab_address(target->symbols, "_sinittext", &start) &&
	       symtab_address(target->symbols, "_einittext", &end) && address >= start &&
	       address < end;
}

/* A call through a register, through memory or through a thunk. */
static enum link indirect(struct target *target, uint64_t address)
{
	return scan_follows_call(target, address) ? LINK_POSSIBLE : LINK_IMPOSSIBLE;
}

enum link link_check(struct target *target, uint64_t address, uint64_t function, uint32_t *budget)
{
	struct symbol symbol, thunk;
	struct jumps jumps = {
		.target = target, .wanted = function, .function = &symbol, .budget = budget
	};
	uint64_t called, offset;
	if (is_init_text(target, address))
		return LINK_POSSIBLE;
	if (!scan_call_target(target, address, &called))
		return indirect(target, address);
	/* Outside of the kernel's text lie trampolines and JITed code, which jump on from there. */
	if (!scan_is_text(target, called))
		return called >> 31 == 0x1ffffffff ? LINK_DOUBTFUL : LINK_IMPOSSIBLE;
	if (called == function ||
	    (target_symbol_at(target, called, &thunk, &offset) && is_thunk(&thunk)))
		return LINK_POSSIBLE;
	if (!target_symbol_at(target, function, &symbol, &offset))
		return LINK_IMPOSSIBLE;
	return leads_to(&jumps, called, JUMP_DEPTH);
}
