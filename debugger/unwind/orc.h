/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ORC, the kernel's unwind tables: kernel arch/x86/include/asm/orc_types.h, KERNEL-FORMATS
 * sections 5.1 and 5.2. The table of the kernel and those of modules are read in small pieces
 * through the target's memory.
 */
#ifndef DEBUGGER_UNWIND_ORC_H
#define DEBUGGER_UNWIND_ORC_H

#include "debugger/target/target.h"

#define ORC_ENTRY_SIZE 6

/*
 * The encoding of a record. 1: to 6.2; 2: 6.3, with a signal bit; 3: 6.4 (fb799447ae29), other
 * types; 4: 7.1 (1735858caa4b), other register numbers.
 */
enum orc_version { ORC_UNKNOWN, ORC_V1, ORC_V2, ORC_V3, ORC_V4 };

/* What a rule starts from. */
enum orc_base {
	ORC_BASE_UNDEFINED,
	ORC_BASE_PREV_SP,
	ORC_BASE_SP,
	ORC_BASE_BP,
	ORC_BASE_AX,
	ORC_BASE_DX,
	ORC_BASE_DI,
	ORC_BASE_R10,
	ORC_BASE_R13,
	ORC_BASE_BP_INDIRECT,
	ORC_BASE_SP_INDIRECT,
	ORC_BASE_INVALID
};

enum orc_type {
	ORC_TYPE_CALL,	       /* the return address lies below the CFA */
	ORC_TYPE_REGS,	       /* struct pt_regs at the CFA */
	ORC_TYPE_REGS_PARTIAL, /* an IRET frame at the CFA */
	ORC_TYPE_UNDEFINED,    /* nothing is known here */
	ORC_TYPE_END_OF_STACK, /* the outermost frame */
	ORC_TYPE_INVALID
};

struct orc_entry {
	int16_t sp_offset, bp_offset;
	enum orc_base sp_base, bp_base;
	enum orc_type type;
	bool signal; /* the frame that follows was interrupted: its pc is exact */
};

/* Never fails: what the encoding does not have becomes INVALID. */
void orc_decode(enum orc_version version, const uint8_t raw[ORC_ENTRY_SIZE], struct orc_entry *ret);

/* A sorted table: `count` place-relative s32 at `ips`, as many records at `entries`. */
struct orc_table {
	struct memory *memory;
	uint64_t ips, entries;
	uint32_t count;
};

/*
 * The record that holds for `pc`, the last one at or below it, among [first, last] of the table.
 * `*ret_found` false when pc lies below the first.
 */
struct error *orc_table_find(const struct orc_table *table, uint32_t first, uint32_t last,
			     uint64_t pc, uint8_t ret_raw[ORC_ENTRY_SIZE],
			     bool *ret_found) MUST_CHECK;
/* The version by the commonest records: of kernels whose constants are not there. */
struct error *orc_guess_version(const struct orc_table *table, enum orc_version *ret) MUST_CHECK;

/* The target's tables, opened when first asked for and kept with it. */
struct orc;
struct error *orc_of(struct target *target, struct orc **ret) MUST_CHECK;
enum orc_version orc_version_of(const struct orc *orc);
/* SP_INDIRECT is *(sp) + offset since 5.12, *(sp + offset) before. */
bool orc_indirect_adds_after(const struct orc *orc);
/* `*ret_found` false when no table has anything for `pc` (not kernel or module text). */
struct error *orc_find(struct orc *orc, uint64_t pc, struct orc_entry *ret,
		       bool *ret_found) MUST_CHECK;

#endif
