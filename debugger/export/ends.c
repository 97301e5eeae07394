// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/export/ends.h"

#include "base/array.h"
#include "base/bytes.h"
#include "debugger/code/text.h"
#include <stdlib.h>

#define TABLE_MAX      (16u << 20) /* bytes; 6.12's exception table has 120 KiB */
#define JUMPS_MAX      (1u << 20)
#define CODE_MAX       (64u << 10) /* of a function that is looked into */
#define ALIGNMENT      16
#define CALL_SIZE      8 /* bytes that a call leaves on the stack */
#define TRAP	       0xcc
#define JUMP	       0xe9
#define SHORT_JUMP     0xeb
#define RETURN	       0xc3
#define RETURN_TRAPS   4
#define JUMP_SIZE      5
#define TAIL	       64 /* bytes in which padding ends */
#define EXCEPTION_SIZE 12
#define BRANCH_SIZE    16

static bool add_jump(struct code_ends *ends, uint64_t from, uint64_t to)
{
	if (ends->count >= JUMPS_MAX)
		return true;
	if (!array_reserve(&ends->jumps, &ends->capacity, ends->count + 1))
		return false;
	ends->jumps[ends->count++] = (struct code_jump){ from, to };
	return true;
}

static int compare_jumps(const void *a, const void *b)
{
	const struct code_jump *left = a, *right = b;
	if (left->to != right->to)
		return left->to < right->to ? -1 : 1;
	return left->from < right->from ? -1 : left->from > right->from;
}

/* --- the kernel's tables -----------------------------------------------------------------------
 */

/*
 * Entries begin with two distances of 32 bits, each from its own place: struct jump_entry and
 * struct exception_table_entry do. A table that cannot be read costs what it would say.
 */
static struct error *read_table(struct code_ends *ends, const char *start_symbol,
				const char *end_symbol, size_t size)
{
	const struct target *target = ends->exporting->target;
	bool big_endian = target->memory->big_endian;
	uint64_t start, end;
	void *data;
	bool good = true;
	if (!symtab_address(target->symbols, start_symbol, &start) ||
	    !symtab_address(target->symbols, end_symbol, &end) || end <= start)
		return NULL;
	struct error *error =
		memory_read_alloc(target->memory, start, end - start, TABLE_MAX, &data);
	if (error)
		return error_only_fatal(error);
	for (uint64_t at = 0; good && at + size <= end - start; at += size) {
		const uint8_t *entry = (const uint8_t *)data + at;
		int32_t from = (int32_t)load_u32(entry, big_endian);
		int32_t to = (int32_t)load_u32(entry + 4, big_endian);
		good = add_jump(ends, start + at + (uint64_t)from, start + at + 4 + (uint64_t)to);
	}
	free(data);
	return good ? NULL : error_no_memory();
}

/* --- code --------------------------------------------------------------------------------------
 */

static bool read_bytes(struct code_ends *ends, uint64_t address, uint64_t size)
{
	if (!size || size > CODE_MAX)
		return false;
	struct error *error =
		memory_read(ends->exporting->target->memory, address, ends->bytes, (size_t)size);
	bool was_read = !error;
	error_free(error);
	return was_read;
}

bool code_ends_read(struct code_ends *ends, uint64_t address, uint64_t size)
{
	struct code code = { ends->bytes, (size_t)size, address };
	ends->ops.count = 0;
	if (!read_bytes(ends, address, size))
		return false;
	ends->lowering->lower(ends->decoder, &code, &ends->ops);
	return !ends->ops.failed;
}

/* A function that is called may be one that never returns. */
static bool ends_path(uint8_t kind)
{
	return kind == OP_CALL || kind == OP_CALL_REGISTER || kind == OP_JUMP ||
	       kind == OP_JUMP_REGISTER || kind == OP_RETURN || kind == OP_STOP;
}

bool code_ends_runs_on(const struct code_ends *ends)
{
	const struct ops *ops = &ends->ops;
	if (!ops->count)
		return false;
	uint32_t last = ops->items[ops->count - 1].at;
	for (size_t i = ops->count; i-- && ops->items[i].at == last;)
		if (ends_path(ops->items[i].kind))
			return false;
	return true;
}

bool code_is_assembler(const struct exporting *exporting, const char *name)
{
	uint64_t cursor = 0;
	return *name && !strchr(name + 1, '.') &&
	       !btf_find(exporting->target->btf, BTF_FUNC, name, &cursor);
}

/* What leads out of a function. */
static bool add_jumps_of(struct code_ends *ends, const struct symbol *symbol)
{
	if (!code_ends_read(ends, symbol->address, symbol->size))
		return true;
	for (size_t i = 0; i < ends->ops.count; i++) {
		const struct op *op = &ends->ops.items[i];
		uint64_t to = (uint64_t)op->constant;
		if ((op->kind == OP_JUMP || op->kind == OP_BRANCH) &&
		    to - symbol->address >= symbol->size &&
		    !add_jump(ends, symbol->address + op->at, to))
			return false;
	}
	return true;
}

static struct error *read_assembler(struct code_ends *ends)
{
	struct exporting *exporting = ends->exporting;
	const struct symtab *symbols = exporting->target->symbols;
	char name[SYMBOL_NAME_SIZE];
	struct symbol symbol;
	uint64_t before = 0;
	for (uint32_t i = 0; i < symtab_kernel_count(symbols); i++) {
		symtab_peek(symbols, i, &symbol);
		if (symbol.address == before || !exported_is_code(exporting, &symbol))
			continue;
		symtab_get_into(symbols, i, name, &symbol);
		if (!code_is_assembler(exporting, name))
			continue;
		before = symbol.address;
		if (!add_jumps_of(ends, &symbol))
			return error_no_memory();
	}
	return NULL;
}

/* --- where code of somebody else begins ---------------------------------------------------------
 */

static size_t first_jump(const struct code_ends *ends, uint64_t to)
{
	return array_bound(ends->count, i, ends->jumps[i].to < to);
}

static bool is_within(const struct code_room *room, uint64_t address)
{
	return address - room->address < room->size;
}

/* Up to an address, without padding: of the alignment, and of the room in front of an entry. */
static uint64_t size_up_to(const struct code_ends *ends, const struct code_room *room, uint64_t end)
{
	uint64_t size = end - room->address;
	for (size_t tail, padding = 1; padding; size -= padding) {
		tail = size < TAIL ? (size_t)size : TAIL;
		padding = ends->lowering->padding(ends->bytes + size - tail, tail);
	}
	return size;
}

/*
 * Code in front of a place that ends there: what has no operations is none. Leaves its bytes and
 * its operations, of which there is one, in `ends`.
 */
static bool ends_at(struct code_ends *ends, const struct code_room *room, uint64_t end)
{
	if (!code_ends_read(ends, room->address, end - room->address))
		return false;
	uint64_t size = size_up_to(ends, room, end);
	return code_ends_read(ends, room->address, size) && ends->ops.count &&
	       !code_ends_runs_on(ends);
}

/* Out of another function, and not out of what the compiler set apart from one. */
static bool is_of_others(const struct code_ends *ends, const struct code_room *room, uint64_t from)
{
	const struct symtab *symbols = ends->exporting->target->symbols;
	char name[SYMBOL_NAME_SIZE];
	struct symbol symbol;
	uint64_t offset;
	return !is_within(room, from) &&
	       symtab_by_address_into(symbols, from, name, &symbol, &offset) && !strchr(name, '.');
}

/* To what others jump is of nobody, if what is before does not run into it. */
static uint64_t shared_from(struct code_ends *ends, const struct code_room *room)
{
	for (size_t i = first_jump(ends, room->address + 1);
	     i < ends->count && is_within(room, ends->jumps[i].to); i++)
		if (is_of_others(ends, room, ends->jumps[i].from) &&
		    ends_at(ends, room, ends->jumps[i].to))
			return ends->jumps[i].to;
	return 0;
}

bool code_ends_leads_to(const struct code_ends *ends, const struct code_room *room, uint64_t to)
{
	for (size_t i = first_jump(ends, to); i < ends->count && ends->jumps[i].to == to; i++)
		if (is_within(room, ends->jumps[i].from))
			return true;
	return false;
}

/* That nothing of the code in front goes there or behind, as far as it and the tables say. */
static bool is_unreached(struct code_ends *ends, const struct code_room *room, uint64_t from)
{
	uint64_t behind = room->address + room->size - from;
	size_t jump = first_jump(ends, from);
	if ((jump < ends->count && ends->jumps[jump].to - from < behind) ||
	    !code_ends_read(ends, room->address, from - room->address))
		return false;
	for (size_t i = 0; i < ends->ops.count; i++) {
		const struct op *op = &ends->ops.items[i];
		if ((op->kind == OP_JUMP || op->kind == OP_BRANCH) &&
		    (uint64_t)op->constant - from < behind)
			return false;
	}
	return true;
}

/* The next instruction is where the called function returns to, if it does. After ends_at(). */
static bool is_behind_call(const struct code_ends *ends, const struct code_room *room, uint64_t end)
{
	const struct op *last = &ends->ops.items[ends->ops.count - 1];
	uint64_t callee = (uint64_t)last->constant;
	return (last->kind == OP_CALL_REGISTER ||
		(last->kind == OP_CALL &&
		 (!ends->never_returns || callee != ends->never_returns))) &&
	       size_up_to(ends, room, end) == end - room->address;
}

/*
 * By the unwind tables the stack is as a call leaves it, or there is no code: newer objtools
 * (6.12's) leave out what has no symbol.
 */
static bool has_entry_rule(const struct code_ends *ends, uint64_t address)
{
	struct orc_entry entry;
	bool found = false;
	if (!ends->orc)
		return false;
	struct error *error = orc_find(ends->orc, address, &entry, &found);
	bool is_call = !error && found && entry.type == ORC_TYPE_CALL &&
		       entry.sp_base == ORC_BASE_SP && entry.sp_offset == CALL_SIZE;
	bool is_none = !error && found && entry.type == ORC_TYPE_UNDEFINED;
	error_free(error);
	return is_call || is_none;
}

/* A weak function that another one replaced has no name, but begins as functions do. */
static uint64_t replaced_from(struct code_ends *ends, const struct code_room *room)
{
	uint64_t end = room->address + room->size;
	uint64_t at = (room->address + ALIGNMENT) / ALIGNMENT * ALIGNMENT;
	if (at >= end || !read_bytes(ends, room->address, room->size))
		return 0;
	for (; at < end; at += ALIGNMENT) {
		if (!ends->lowering->is_entry(ends->bytes + (at - room->address), end - at, at,
					      ends->hook))
			continue;
		if (has_entry_rule(ends, at) && is_unreached(ends, room, at) &&
		    ends_at(ends, room, at) && !is_behind_call(ends, room, at))
			return at;
		if (!read_bytes(ends, room->address, room->size))
			return 0;
	}
	return 0;
}

/* --- padding that bytes alone do not tell from code --------------------------------------------
 */

/*
 * A jump's distance that looks like a return or a trap, and a trap behind a jump: the linker's
 * padding behind a jump to an address, but behind one through a register's thunk the compiler's.
 */
static bool is_ambiguous(const uint8_t *bytes, size_t count, size_t traps)
{
	return traps && count >= JUMP_SIZE &&
	       (traps == 1 || bytes[count - 1] == SHORT_JUMP || bytes[count - JUMP_SIZE] == JUMP ||
		(bytes[count - 1] == RETURN && bytes[count - 2] == SHORT_JUMP));
}

/* 0f b9 cc: that instruction marks the trampolines of static calls. */
static bool is_trampoline(const uint8_t *bytes, size_t count, size_t traps)
{
	return traps && count == JUMP_SIZE + 2 && bytes[count - 2] == 0x0f &&
	       bytes[count - 1] == 0xb9;
}

static bool is_thunk(const struct code_ends *ends, uint64_t address)
{
	char name[SYMBOL_NAME_SIZE];
	struct symbol symbol;
	uint64_t offset;
	uint8_t number;
	return symtab_by_address_into(ends->exporting->target->symbols, address, name, &symbol,
				      &offset) &&
	       (ends->lowering->helper(name, &number) == HELPER_REGISTER ||
		!strcmp(name, "__x86_indirect_thunk_array"));
}

static uint64_t size_by_code(struct code_ends *ends, const struct symbol *symbol, bool is_assembler)
{
	const struct ops *ops = &ends->ops;
	uint64_t size = text_function_size(ends->exporting->target, symbol);
	uint8_t tail[TAIL];
	size_t count = symbol->size < TAIL ? (size_t)symbol->size : TAIL, traps = 0, last;
	struct error *error = memory_read(ends->exporting->target->memory,
					  symbol->address + symbol->size - count, tail, count);
	bool was_read = !error;
	error_free(error);
	while (traps < count && tail[count - 1 - traps] == TRAP)
		traps++;
	if (was_read && is_trampoline(tail, count - traps, traps))
		return symbol->size - traps + 1;
	/* Assembler has traps behind jumps as its author put them there. */
	if (!was_read || is_assembler || !is_ambiguous(tail, count - traps, traps) ||
	    !code_ends_read(ends, symbol->address, symbol->size) || !ops->count)
		return size;
	for (last = ops->count; last && ends->bytes[ops->items[last - 1].at] == TRAP;)
		last--;
	if (!last || last == ops->count)
		return size;
	const struct op *op = &ops->items[last - 1];
	uint64_t end = ops->items[last].at;
	traps = (size_t)(symbol->size - end);
	if (op->kind == OP_JUMP)
		return end + is_thunk(ends, (uint64_t)op->constant);
	if (op->kind == OP_RETURN)
		return end + (traps < RETURN_TRAPS ? traps : RETURN_TRAPS);
	return op->kind == OP_STOP ? end : size;
}

uint64_t code_ends_size(struct code_ends *ends, const struct symbol *symbol)
{
	bool is_assembler = code_is_assembler(ends->exporting, symbol->name);
	const struct code_room room = { symbol->address, size_by_code(ends, symbol, is_assembler) };
	uint64_t end = is_assembler ? shared_from(ends, &room) : 0;
	if (!end)
		end = replaced_from(ends, &room);
	return end ? size_up_to(ends, &room, end) : room.size;
}

/* -----------------------------------------------------------------------------------------------
 */

struct error *code_ends_init(struct code_ends *ends, struct exporting *exporting)
{
	const struct target *target = exporting->target;
	*ends = (struct code_ends){ .exporting = exporting };
	ends->lowering = target->arch ? lowering_find(target->arch->name) : NULL;
	ends->bytes = malloc(CODE_MAX);
	if (ends->lowering)
		ends->decoder = ends->lowering->create();
	if (!ends->bytes || !ends->decoder)
		return error_no_memory();
	if (!symtab_address(target->symbols, "__fentry__", &ends->hook))
		ends->hook = 0;
	/* What a function with a guard on its stack ends with. */
	if (!symtab_address(target->symbols, "__stack_chk_fail", &ends->never_returns))
		ends->never_returns = 0;
	TRY(error_only_fatal(orc_of(exporting->target, &ends->orc)));
	TRY(read_table(ends, "__start___ex_table", "__stop___ex_table", EXCEPTION_SIZE));
	TRY(read_table(ends, "__start___jump_table", "__stop___jump_table", BRANCH_SIZE));
	TRY(read_assembler(ends));
	array_sort(ends->jumps, ends->count, sizeof(*ends->jumps), compare_jumps);
	return NULL;
}

void code_ends_deinit(struct code_ends *ends)
{
	if (ends->decoder)
		ends->lowering->destroy(ends->decoder);
	free(ends->bytes);
	free(ends->ops.items);
	free(ends->jumps);
}
