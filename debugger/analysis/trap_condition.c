// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/analysis/trap_condition.h"

#include "base/array.h"
#include "debugger/analysis/pointer_source.h"
#include "debugger/code/lower.h"
#include "debugger/disassembly/decode.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define FUNCTION_SIZE_MAX (1u << 20)
#define BRANCHES_SHOWN	  2
#define BEFORE		  8 /* instructions in front of a jump that are looked at */

static const char cold[] = ".cold"; /* what the compiler calls the part it put elsewhere */

/* A function, or the part of it that lies elsewhere. */
struct piece {
	struct target *target;
	struct symbol symbol;
	uint8_t *bytes;
	struct ops ops;
	struct function_members members;
};

static void piece_deinit(struct piece *piece)
{
	function_members_deinit(&piece->members);
	free(piece->ops.items);
	free(piece->bytes);
	*piece = (struct piece){ 0 };
}

/* Errors: there is no such code. Deinit in any case. */
static struct error *piece_read(struct target *target, const struct symbol *symbol,
				struct piece *ret)
{
	const struct lowering *lowering = lowering_find(target->arch->name);
	*ret = (struct piece){ .target = target, .symbol = *symbol };
	if (!lowering || !symbol->size || symbol->size > FUNCTION_SIZE_MAX)
		return error_create(ERROR_NOT_FOUND, "no code that is understood");
	ret->bytes = malloc(symbol->size);
	if (!ret->bytes)
		return error_no_memory();
	TRY(memory_read(target->memory, symbol->address, ret->bytes, symbol->size));
	struct code code = { ret->bytes, symbol->size, symbol->address };
	if (!lowering_read(lowering, &code, &ret->ops))
		return error_no_memory();
	return error_only_fatal(function_members_find(target, symbol, &ret->members));
}

/* --- where jumps lead ------------------------------------------------------------------------- */

/* Behind it the code goes on only where something else leads to. */
static bool ends_path(const struct op *op)
{
	return op->kind == OP_JUMP || op->kind == OP_JUMP_REGISTER || op->kind == OP_RETURN ||
	       op->kind == OP_STOP;
}

/* The instruction behind that of an operation. */
static uint32_t behind(const struct piece *piece, size_t op)
{
	size_t next = op;
	while (next < piece->ops.count && piece->ops.items[next].at == piece->ops.items[op].at)
		next++;
	return next < piece->ops.count ? piece->ops.items[next].at : (uint32_t)piece->symbol.size;
}

/*
 * The first instruction from which straight on an instruction is reached. `*ret_branch`: the jump
 * in front of it, which was not taken if it led here; none: ops.count.
 */
static uint32_t start_of_block(const struct piece *piece, uint32_t end, size_t *ret_branch)
{
	uint32_t start = 0;
	*ret_branch = piece->ops.count;
	for (size_t i = 0; i < piece->ops.count && piece->ops.items[i].at < end; i++) {
		const struct op *op = &piece->ops.items[i];
		if (!ends_path(op) && op->kind != OP_BRANCH)
			continue;
		*ret_branch = op->kind == OP_BRANCH ? i : piece->ops.count;
		start = behind(piece, i);
	}
	return start < end ? start : end;
}

/* --- what is in front of a jump --------------------------------------------------------------- */

struct window {
	struct instruction items[BEFORE + 1]; /* the last one is the jump */
	size_t count;
};

static struct error *read_window(const struct piece *piece, uint32_t start, uint32_t branch,
				 struct window *ret)
{
	struct disassembler *disassembler;
	ret->count = 0;
	TRY(disassembler_create(piece->target->arch->name, &disassembler));
	for (uint32_t at = start; at <= branch;) {
		if (ret->count == BEFORE + 1)
			memmove(ret->items, ret->items + 1, --ret->count * sizeof(*ret->items));
		struct instruction *instruction = &ret->items[ret->count++];
		disassemble(disassembler, piece->bytes + at, piece->symbol.size - at,
			    piece->symbol.address + at, instruction);
		at += instruction->size;
	}
	disassembler_destroy(disassembler);
	return NULL;
}

/* Jumps look at flags, which these leave as they are. */
static bool keeps_flags(const struct instruction *instruction)
{
	static const char *const names[] = { "mov", "lea", "push", "pop", "nop", "set", "xchg" };
	for (size_t i = 0; i < ARRAY_COUNT(names); i++)
		if (!strncmp(instruction->mnemonic, names[i], strlen(names[i])))
			return true;
	return false;
}

/* It moves something to a register that the later one has among its operands. */
static bool feeds(const struct instruction *earlier, const struct instruction *later)
{
	const char *to = strrchr(earlier->operands, '%');
	return !strncmp(earlier->mnemonic, "mov", 3) && to && to > earlier->operands &&
	       to[-1] != '(' && !strchr(to, ')') && strstr(later->operands, to);
}

static void put_instruction(const struct instruction *instruction, struct strbuf *ret)
{
	strbuf_format(ret, "%s%s%s; ", instruction->mnemonic, *instruction->operands ? " " : "",
		      instruction->operands);
}

static void put_member(const struct piece *piece, const struct instruction *instruction,
		       struct strbuf *ret)
{
	struct named_member member;
	if (!ret->size && named_member_find(&piece->members,
					    instruction->address - piece->symbol.address, &member))
		strbuf_format(ret, ", of %s of a %s", member.path, member.type);
}

/* The registers that are compared, as long as nothing but the jump stands before the trap. */
static void put_registers(const struct piece *piece, const struct frame *frame, uint32_t at,
			  struct strbuf *ret)
{
	const struct lowering *lowering = lowering_find(piece->target->arch->name);
	for (size_t i = 0; i < piece->ops.count; i++) {
		const struct op *op = &piece->ops.items[i];
		if (op->at != at || op->kind != OP_COMPARE)
			continue;
		uint8_t sides[] = { op->from, op->to };
		for (size_t k = 0; k < 2 && (!k || sides[0] != sides[1]); k++) {
			if (sides[k] >= ARRAY_COUNT(lowering->in_target))
				continue;
			uint8_t number = lowering->in_target[sides[k]];
			if (registers_has(&frame->registers, number))
				strbuf_format(ret, "%s %s is 0x%" PRIx64,
					      ret->size ? " and" : ", where",
					      piece->target->arch->register_names[number],
					      frame->registers.values[number]);
		}
	}
}

/* `is_taken`: the jump leads to the trap; else the code behind it does. */
static struct error *show_branch(const struct piece *piece, const struct frame *frame,
				 size_t branch, bool is_taken, bool is_direct, const char *which,
				 struct finding *finding)
{
	struct window window;
	struct strbuf text = { 0 }, member = { 0 }, values = { 0 };
	char command[64];
	size_t unused;
	uint32_t at = piece->ops.items[branch].at;
	TRY(read_window(piece, start_of_block(piece, at, &unused), at, &window));
	if (window.count < 2)
		return NULL;
	size_t compare = window.count - 2;
	while (compare && keeps_flags(&window.items[compare]))
		compare--;
	for (size_t i = compare; i-- > 0;) {
		if (!feeds(&window.items[i], &window.items[compare]))
			continue;
		put_instruction(&window.items[i], &text);
		put_member(piece, &window.items[i], &member);
		break;
	}
	put_instruction(&window.items[compare], &text);
	put_member(piece, &window.items[compare], &member);
	if (is_direct)
		put_registers(piece, frame,
			      (uint32_t)(window.items[compare].address - piece->symbol.address),
			      &values);
	snprintf(command, sizeof(command), "dis -r 0x%" PRIx64,
		 window.items[window.count - 1].address + window.items[window.count - 1].size);
	struct error *error =
		text.failed || member.failed || values.failed
			? error_no_memory()
			: finding_add(finding, command, "%s, as code: %.*s%s%s%.*s%.*s", which,
				      (int)text.size, text.data ?: "",
				      window.items[window.count - 1].mnemonic,
				      is_taken ? " taken" : " not taken", (int)member.size,
				      member.data ?: "", (int)values.size, values.data ?: "");
	strbuf_deinit(&text);
	strbuf_deinit(&member);
	strbuf_deinit(&values);
	return error;
}

/* --- all ----------------------------------------------------------------------------------------
 */

static bool leads_into(const struct op *op, uint64_t first, uint64_t last)
{
	uint64_t to = (uint64_t)op->constant;
	return op->kind == OP_BRANCH && to >= first && to <= last;
}

/* Jumps of a piece into [first, last]; `straight`: what is behind this one leads there, too. */
static struct error *show_branches(const struct piece *piece, const struct frame *frame,
				   uint64_t first, uint64_t last, size_t straight,
				   struct finding *finding, size_t *ret_shown)
{
	size_t count = straight < piece->ops.count;
	for (size_t i = 0; i < piece->ops.count; i++)
		count += i != straight && leads_into(&piece->ops.items[i], first, last);
	const char *which = count > 1 ? "one of the conditions" : "the condition";
	if (straight < piece->ops.count) {
		TRY(show_branch(piece, frame, straight, false, first == last, which, finding));
		++*ret_shown;
	}
	for (size_t i = 0; i < piece->ops.count && *ret_shown < BRANCHES_SHOWN; i++) {
		const struct op *op = &piece->ops.items[i];
		if (i == straight || !leads_into(op, first, last))
			continue;
		TRY(show_branch(piece, frame, i, true, (uint64_t)op->constant == last, which,
				finding));
		++*ret_shown;
	}
	return NULL;
}

/* Of the part that lies elsewhere, the jumps there are the function's own: no other one has any. */
static struct error *show_of_hot(struct target *target, const struct frame *frame, uint64_t first,
				 struct finding *finding, size_t *ret_shown)
{
	char name[SYMBOL_NAME_SIZE];
	struct symbol symbol;
	uint64_t cursor = 0;
	const char *end = strstr(frame->symbol.name, cold);
	if (!end)
		return NULL;
	snprintf(name, sizeof(name), "%.*s", (int)(end - frame->symbol.name), frame->symbol.name);
	while (!*ret_shown &&
	       symtab_find_own(target->symbols, frame->symbol.module, name, &cursor, &symbol)) {
		struct piece piece;
		struct error *error = piece_read(target, &symbol, &piece);
		if (!error)
			error = show_branches(&piece, frame, first, frame->pc, piece.ops.count,
					      finding, ret_shown);
		piece_deinit(&piece);
		TRY(error_only_fatal(error));
	}
	return NULL;
}

static struct error *show(struct target *target, const struct frame *frame,
			  const struct piece *piece, struct finding *finding)
{
	size_t straight, shown = 0;
	char command[64];
	uint32_t start = start_of_block(piece, (uint32_t)frame->offset, &straight);
	uint64_t first = piece->symbol.address + start;
	TRY(show_branches(piece, frame, first, frame->pc, straight, finding, &shown));
	if (!shown)
		TRY(show_of_hot(target, frame, first, finding, &shown));
	if (shown)
		return NULL;
	snprintf(command, sizeof(command), "dis -r 0x%" PRIx64, frame->pc);
	if (!start && !strstr(frame->symbol.name, cold))
		return finding_add(finding, command,
				   "nothing leads past it: whoever calls the function gets there");
	return finding_add(finding, command, "the code in front of it has the condition");
}

struct error *trap_condition_show(struct target *target, const struct frame *frame,
				  struct finding *finding)
{
	struct piece piece;
	if (!frame->has_symbol || frame->offset >= frame->symbol.size)
		return NULL;
	struct error *error = piece_read(target, &frame->symbol, &piece);
	if (!error)
		error = show(target, frame, &piece, finding);
	piece_deinit(&piece);
	return error_only_fatal(error);
}
