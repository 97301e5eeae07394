// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/user_stack/cfi_rules.h"

#include "base/error.h"
#include <inttypes.h>
#include <string.h>

/* Rows that a function remembers at once. */
#define REMEMBERED_MAX 16

/* DWARF 5, table 7.29; those with an operand in their low six bits first. */
enum {
	CFA_ADVANCE = 0x40,
	CFA_OFFSET = 0x80,
	CFA_RESTORE = 0xc0,
	CFA_NOP = 0x00,
	CFA_SET_LOC,
	CFA_ADVANCE1,
	CFA_ADVANCE2,
	CFA_ADVANCE4,
	CFA_OFFSET_EXTENDED,
	CFA_RESTORE_EXTENDED,
	CFA_UNDEFINED,
	CFA_SAME_VALUE,
	CFA_REGISTER,
	CFA_REMEMBER,
	CFA_RECALL,
	CFA_DEF_CFA,
	CFA_DEF_CFA_REGISTER,
	CFA_DEF_CFA_OFFSET,
	CFA_DEF_CFA_EXPRESSION,
	CFA_EXPRESSION,
	CFA_OFFSET_EXTENDED_SF,
	CFA_DEF_CFA_SF,
	CFA_DEF_CFA_OFFSET_SF,
	CFA_VAL_OFFSET,
	CFA_VAL_OFFSET_SF,
	CFA_VAL_EXPRESSION,
	CFA_GNU_ARGS_SIZE = 0x2e
};

struct machine {
	const struct cfi_common *common;
	struct cfi_cursor cursor;
	struct cfi_row row, remembered[REMEMBERED_MAX];
	const struct cfi_row *initial; /* that of the common entry; NULL: it is being made */
	unsigned int depth;
	uint64_t location, code;
	bool is_done;
};

static void set_rule(struct machine *machine, uint64_t number, enum cfi_rule_kind kind,
		     int64_t value)
{
	/* Others are those of vectors, which no frame needs. */
	if (number < CFI_REGISTERS)
		machine->row.rules[number] = (struct cfi_rule){ .kind = kind, .value = value };
}

static void restore_rule(struct machine *machine, uint64_t number)
{
	if (number < CFI_REGISTERS && machine->initial)
		machine->row.rules[number] = machine->initial->rules[number];
}

static int64_t scaled(const struct machine *machine, uint64_t value)
{
	return (int64_t)(value * (uint64_t)machine->common->data_factor);
}

static void advance(struct machine *machine, uint64_t delta)
{
	uint64_t left = machine->code - machine->location;
	uint64_t factor = machine->common->code_factor;
	/* What is behind does not hold there yet. */
	if (delta && (!factor || delta > left / factor))
		machine->is_done = true;
	else
		machine->location += delta * factor;
}

static struct cfi_cursor take_expression(struct machine *machine)
{
	uint64_t size = cursor_uleb(&machine->cursor);
	struct cfi_cursor expression = machine->cursor;
	cursor_skip(&machine->cursor, size);
	if (!machine->cursor.is_bad)
		expression.size = machine->cursor.at;
	return expression;
}

static void set_expression(struct machine *machine, uint64_t number, enum cfi_rule_kind kind)
{
	struct cfi_cursor expression = take_expression(machine);
	set_rule(machine, number, kind, 0);
	if (number < CFI_REGISTERS)
		machine->row.rules[number].expression = expression;
}

static void remember(struct machine *machine)
{
	if (machine->depth == REMEMBERED_MAX)
		machine->cursor.is_bad = true;
	else
		machine->remembered[machine->depth++] = machine->row;
}

static void recall(struct machine *machine)
{
	if (!machine->depth)
		machine->cursor.is_bad = true;
	else
		machine->row = machine->remembered[--machine->depth];
}

/* Where the frame is. */
static bool run_frame(struct machine *machine, uint8_t code)
{
	struct cfi_cursor *cursor = &machine->cursor;
	struct cfi_row *row = &machine->row;
	switch (code) {
	case CFA_DEF_CFA:
	case CFA_DEF_CFA_SF:
	case CFA_DEF_CFA_REGISTER:
		row->cfa_is_expression = false;
		row->cfa_register = cursor_uleb(cursor);
		if (code == CFA_DEF_CFA)
			row->cfa_offset = (int64_t)cursor_uleb(cursor);
		else if (code == CFA_DEF_CFA_SF)
			row->cfa_offset = scaled(machine, (uint64_t)cursor_sleb(cursor));
		return true;
	case CFA_DEF_CFA_OFFSET:
		row->cfa_offset = (int64_t)cursor_uleb(cursor);
		return true;
	case CFA_DEF_CFA_OFFSET_SF:
		row->cfa_offset = scaled(machine, (uint64_t)cursor_sleb(cursor));
		return true;
	case CFA_DEF_CFA_EXPRESSION:
		row->cfa_is_expression = true;
		row->cfa_expression = take_expression(machine);
		return true;
	default:
		return false;
	}
}

/* Where registers are; the operands are a register and mostly a number. */
static bool run_register(struct machine *machine, uint8_t code)
{
	struct cfi_cursor *cursor = &machine->cursor;
	if (code < CFA_OFFSET_EXTENDED || code > CFA_VAL_EXPRESSION ||
	    (code > CFA_REGISTER && code < CFA_EXPRESSION))
		return false;
	uint64_t number = cursor_uleb(cursor);
	switch (code) {
	case CFA_OFFSET_EXTENDED:
		set_rule(machine, number, RULE_SAVED, scaled(machine, cursor_uleb(cursor)));
		return true;
	case CFA_OFFSET_EXTENDED_SF:
		set_rule(machine, number, RULE_SAVED,
			 scaled(machine, (uint64_t)cursor_sleb(cursor)));
		return true;
	case CFA_VAL_OFFSET:
		set_rule(machine, number, RULE_IS_OFFSET, scaled(machine, cursor_uleb(cursor)));
		return true;
	case CFA_VAL_OFFSET_SF:
		set_rule(machine, number, RULE_IS_OFFSET,
			 scaled(machine, (uint64_t)cursor_sleb(cursor)));
		return true;
	case CFA_REGISTER:
		set_rule(machine, number, RULE_IN_REGISTER, (int64_t)cursor_uleb(cursor));
		return true;
	case CFA_RESTORE_EXTENDED:
		restore_rule(machine, number);
		return true;
	case CFA_UNDEFINED:
		set_rule(machine, number, RULE_LOST, 0);
		return true;
	case CFA_SAME_VALUE:
		set_rule(machine, number, RULE_SAME, 0);
		return true;
	case CFA_EXPRESSION:
		set_expression(machine, number, RULE_SAVED_EXPRESSION);
		return true;
	case CFA_VAL_EXPRESSION:
		set_expression(machine, number, RULE_IS_EXPRESSION);
		return true;
	default:
		return false;
	}
}

static void run_other(struct machine *machine, uint8_t code)
{
	struct cfi_cursor *cursor = &machine->cursor;
	switch (code) {
	case CFA_NOP:
		return;
	case CFA_ADVANCE1:
		advance(machine, cursor_u8(cursor));
		return;
	case CFA_ADVANCE2:
		advance(machine, cursor_unsigned(cursor, 2));
		return;
	case CFA_ADVANCE4:
		advance(machine, cursor_unsigned(cursor, 4));
		return;
	case CFA_REMEMBER:
		remember(machine);
		return;
	case CFA_RECALL:
		recall(machine);
		return;
	case CFA_GNU_ARGS_SIZE:
		cursor_uleb(cursor);
		return;
	default:
		cursor->is_bad = true;
	}
}

static void run_one(struct machine *machine)
{
	uint8_t code = cursor_u8(&machine->cursor), low = code & 0x3f;
	switch (code & 0xc0) {
	case CFA_ADVANCE:
		advance(machine, low);
		return;
	case CFA_OFFSET:
		set_rule(machine, low, RULE_SAVED, scaled(machine, cursor_uleb(&machine->cursor)));
		return;
	case CFA_RESTORE:
		restore_rule(machine, low);
		return;
	default:
		if (!run_frame(machine, code) && !run_register(machine, code))
			run_other(machine, code);
	}
}

static struct error *run(struct machine *machine, struct cfi_cursor instructions)
{
	machine->cursor = instructions;
	machine->is_done = false;
	/* Each instruction has one byte at least. */
	while (!machine->is_done && machine->cursor.at < machine->cursor.size) {
		run_one(machine);
		if (machine->cursor.is_bad)
			return error_create(ERROR_FORMAT,
					    "the call frame instructions at 0x%" PRIx64
					    " are not known",
					    instructions.address);
	}
	return NULL;
}

struct error *cfi_rules_find(const struct cfi_common *common, struct cfi_cursor instructions,
			     uint64_t start, uint64_t code, struct cfi_row *ret)
{
	struct cfi_row initial;
	struct machine machine = { .common = common, .location = start, .code = code };
	TRY(run(&machine, common->instructions));
	initial = machine.row;
	machine.initial = &initial;
	machine.location = start;
	TRY(run(&machine, instructions));
	*ret = machine.row;
	return NULL;
}

/* --- what becomes of the registers ------------------------------------------------------------ */

static struct error *need(const struct cfi_registers *registers, uint64_t number, uint64_t *ret)
{
	if (number >= CFI_REGISTERS || !cfi_has(registers, (unsigned int)number))
		return error_create(ERROR_NOT_FOUND,
				    "register %" PRIu64 ", which leads on, is not known", number);
	*ret = registers->values[number];
	return NULL;
}

static struct error *find_frame(struct memory *memory, const struct cfi_row *row,
				const struct cfi_registers *registers, uint64_t *ret)
{
	if (row->cfa_is_expression)
		return cfi_evaluate(memory, row->cfa_expression, registers, NULL, ret);
	TRY(need(registers, row->cfa_register, ret));
	*ret += (uint64_t)row->cfa_offset;
	return NULL;
}

/* x86-64 psABI, 3.2.1: what a callee leaves as it was. */
static bool is_kept(unsigned int number)
{
	return number == CFI_RBX || number == CFI_RBP || (number >= CFI_R12 && number <= CFI_R15);
}

/* *ret_known false: it is lost. */
static struct error *apply_rule(struct memory *memory, const struct cfi_rule *rule,
				unsigned int number, uint64_t frame,
				const struct cfi_registers *registers, uint64_t *ret,
				bool *ret_known)
{
	uint64_t from = number;
	*ret_known = true;
	switch (rule->kind) {
	case RULE_SAVED:
		return memory_read_word(memory, frame + (uint64_t)rule->value, ret);
	case RULE_IS_OFFSET:
		*ret = frame + (uint64_t)rule->value;
		return NULL;
	case RULE_SAVED_EXPRESSION:
		TRY(cfi_evaluate(memory, rule->expression, registers, &frame, ret));
		return memory_read_word(memory, *ret, ret);
	case RULE_IS_EXPRESSION:
		return cfi_evaluate(memory, rule->expression, registers, &frame, ret);
	case RULE_IN_REGISTER:
		from = (uint64_t)rule->value;
		break;
	case RULE_LOST:
		*ret_known = false;
		return NULL;
	case RULE_SAME:
		break;
	case RULE_NONE:
		if (number == CFI_RSP) {
			*ret = frame;
			return NULL;
		}
		if (!is_kept(number)) {
			*ret_known = false;
			return NULL;
		}
	}
	*ret_known = from < CFI_REGISTERS && cfi_has(registers, (unsigned int)from);
	if (*ret_known)
		*ret = registers->values[from];
	return NULL;
}

struct error *cfi_rules_apply(struct memory *memory, const struct cfi_common *common,
			      const struct cfi_row *row, const struct cfi_registers *registers,
			      struct cfi_registers *ret, bool *ret_outermost)
{
	uint64_t frame;
	*ret = (struct cfi_registers){ .known = 0 };
	*ret_outermost = row->rules[common->return_register].kind == RULE_LOST;
	if (*ret_outermost)
		return NULL;
	TRY(find_frame(memory, row, registers, &frame));
	for (unsigned int i = 0; i < CFI_REGISTERS; i++) {
		uint64_t value = 0;
		bool is_known = false;
		struct error *error =
			apply_rule(memory, &row->rules[i], i, frame, registers, &value, &is_known);
		/* One that is missing need not lead on. */
		if (error && (i == CFI_RIP || i == CFI_RSP))
			return error;
		if (!error && is_known)
			cfi_set(ret, i, value);
		TRY(error_only_fatal(error));
	}
	if (!cfi_has(ret, CFI_RIP))
		return error_create(ERROR_FORMAT, "no rule says where the return address is");
	return NULL;
}
