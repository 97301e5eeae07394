/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Code that belongs to no symbol: the linker keeps weak functions that another one replaced, and
 * assembler has code that several functions share. It lies behind a function that has ended.
 */
#ifndef DEBUGGER_EXPORT_ENDS_H
#define DEBUGGER_EXPORT_ENDS_H

#include "debugger/code/lower.h"
#include "debugger/export/exporting.h"
#include "debugger/unwind/orc.h"

/* Control goes on elsewhere, without an instruction that says so or from another function. */
struct code_jump {
	uint64_t from, to;
};

struct code_ends {
	struct exporting *exporting;
	const struct lowering *lowering;
	struct decoder *decoder;
	struct ops ops;
	uint8_t *bytes;
	struct orc *orc;	      /* NULL: there are no unwind tables */
	uint64_t hook, never_returns; /* __fentry__, __stack_chk_fail; 0: there is none */
	/* By `to`: out of the kernel's tables, and out of the functions that are in assembler. */
	struct code_jump *jumps;
	size_t count, capacity;
};

/* Where a symbol's code may lie. */
struct code_room {
	uint64_t address, size;
};

struct error *code_ends_init(struct code_ends *ends, struct exporting *exporting) MUST_CHECK;
void code_ends_deinit(struct code_ends *ends);
/* Neither BTF nor the compiler has a function of that name. */
bool code_is_assembler(const struct exporting *exporting, const char *name);
/* Reads bytes of code and the operations of it, into `ends`. */
bool code_ends_read(struct code_ends *ends, uint64_t address, uint64_t size);
/* That the last instruction of what was read is one behind which the next is executed. */
bool code_ends_runs_on(const struct code_ends *ends);
/* The bytes of a function without padding, and without the code behind it that is not its own. */
uint64_t code_ends_size(struct code_ends *ends, const struct symbol *symbol);
/* Whether the code of the room jumps to an address behind it. */
bool code_ends_leads_to(const struct code_ends *ends, const struct code_room *room, uint64_t to);

#endif
