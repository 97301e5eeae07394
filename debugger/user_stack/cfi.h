/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Call frame information of programs: .eh_frame, found by the table in .eh_frame_hdr, both as they
 * lie in the process's memory (DWARF 5, 6.4; Linux Standard Base, 10.6; x86-64 psABI, 3.6.2).
 */
#ifndef DEBUGGER_USER_STACK_CFI_H
#define DEBUGGER_USER_STACK_CFI_H

#include "base/error.h"
#include "base/memory.h"

/* Registers by DWARF's numbers for x86-64. */
enum {
	CFI_RAX,
	CFI_RDX,
	CFI_RCX,
	CFI_RBX,
	CFI_RSI,
	CFI_RDI,
	CFI_RBP,
	CFI_RSP,
	CFI_R8,
	CFI_R12 = 12,
	CFI_R15 = 15,
	CFI_RIP,
	CFI_REGISTERS
};

struct cfi_registers {
	uint64_t values[CFI_REGISTERS];
	uint32_t known; /* a bit each */
};

static inline bool cfi_has(const struct cfi_registers *registers, unsigned int number)
{
	return registers->known >> number & 1;
}

static inline void cfi_set(struct cfi_registers *registers, unsigned int number, uint64_t value)
{
	registers->values[number] = value;
	registers->known |= 1u << number;
}

/* A function's entry in .eh_frame. */
struct cfi_entry {
	uint64_t start, record; /* where its code begins; where the entry lies */
};

/* What finds a program's entries in its memory: .eh_frame_hdr, or, without one, a list of all. */
struct cfi_table {
	struct memory *memory;	   /* the process's */
	uint64_t address, size;	   /* of .eh_frame_hdr; 0: there is none */
	struct cfi_entry *entries; /* owned; NULL: not listed */
	size_t count, capacity;
};

/*
 * Lists the entries of .eh_frame, which linkers leave without .eh_frame_hdr in static programs: up
 * to the first one that is broken. Errors: bytes that the dump does not have.
 */
struct error *cfi_table_list(struct cfi_table *table, uint64_t address, uint64_t size) MUST_CHECK;
void cfi_table_deinit(struct cfi_table *table);

enum cfi_result {
	CFI_NOTHING,	 /* the table does not know the code */
	CFI_STEP,	 /* *ret are the caller's registers */
	CFI_SIGNAL_STEP, /* those that a signal interrupted: their pc is no return address */
	CFI_OUTERMOST	 /* it has no caller */
};

/*
 * From the frame with `registers` to that which called it. `code`: an address within the call, or
 * what is about to run. Errors: bytes that the dump does not have, that are none of the format, or
 * registers that are not known.
 */
struct error *cfi_step(const struct cfi_table *table, uint64_t code,
		       const struct cfi_registers *registers, struct cfi_registers *ret,
		       enum cfi_result *ret_result) MUST_CHECK;

#endif
