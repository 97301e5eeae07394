/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where a frame's instructions say that the caller's registers are. */
#ifndef DEBUGGER_USER_STACK_CFI_RULES_H
#define DEBUGGER_USER_STACK_CFI_RULES_H

#include "debugger/user_stack/cfi.h"
#include "debugger/user_stack/cfi_cursor.h"

enum cfi_rule_kind {
	RULE_NONE, /* as the ABI has it: kept by the callee, or lost */
	RULE_LOST,
	RULE_SAME,
	RULE_SAVED,	       /* at CFA + value */
	RULE_IS_OFFSET,	       /* it is CFA + value */
	RULE_IN_REGISTER,      /* number `value` */
	RULE_SAVED_EXPRESSION, /* at the address that an expression says */
	RULE_IS_EXPRESSION
};

struct cfi_rule {
	enum cfi_rule_kind kind;
	int64_t value;
	struct cfi_cursor expression;
};

struct cfi_row {
	bool cfa_is_expression;
	uint64_t cfa_register;
	int64_t cfa_offset;
	struct cfi_cursor cfa_expression;
	struct cfi_rule rules[CFI_REGISTERS];
};

/* Of the common entry that a function's entry names. */
struct cfi_common {
	uint64_t code_factor;
	int64_t data_factor;
	uint64_t return_register;
	uint8_t encoding; /* of the addresses of code */
	bool is_signal, has_augmentation;
	struct cfi_cursor instructions;
};

/*
 * The row of the address `code`: instructions of the common entry, then those of a function that
 * begins at `start`.
 */
struct error *cfi_rules_find(const struct cfi_common *common, struct cfi_cursor instructions,
			     uint64_t start, uint64_t code, struct cfi_row *ret) MUST_CHECK;

/* What a row makes of registers. *ret_outermost: the return address is said to be lost. */
struct error *cfi_rules_apply(struct memory *memory, const struct cfi_common *common,
			      const struct cfi_row *row, const struct cfi_registers *registers,
			      struct cfi_registers *ret, bool *ret_outermost) MUST_CHECK;

/* The value of a DWARF expression; `first`: what is on its stack at first, NULL: nothing. */
struct error *cfi_evaluate(struct memory *memory, struct cfi_cursor expression,
			   const struct cfi_registers *registers, const uint64_t *first,
			   uint64_t *ret) MUST_CHECK;

#endif
