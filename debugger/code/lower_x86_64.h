/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is known of x86-64 instructions beyond those that are modelled; for lower_x86_64.c. */
#ifndef DEBUGGER_CODE_LOWER_X86_64_H
#define DEBUGGER_CODE_LOWER_X86_64_H

#include "debugger/code/lower.h"

enum lower_class {
	CLASS_UNKNOWN, /* may write anything */
	CLASS_PLAIN,   /* writes what Capstone says and lower_x86_64_hidden_writes() */
	CLASS_NUMBER,  /* the same, and what it writes is a quotient or some bits */
	CLASS_AREA,    /* the same, and its memory operand is longer than Capstone says */
	CLASS_ALL,     /* others run, and may write anything: hypervisors, enclaves */
	CLASS_NOTHING, /* writes nothing, and its memory operand is not accessed */
	CLASS_END,     /* nothing runs after it */
	CLASS_CHOICE,  /* a conditional move */
	CLASS_BRANCH   /* a conditional jump */
};

/* `id`: Capstone's x86_insn. */
enum lower_class lower_x86_64_class(unsigned int id);
/*
 * Of vectors and floating point, by Capstone's groups. What is not in the table writes its first
 * operand and no more: those that imply a general register or an address are in it.
 */
bool lower_x86_64_is_vector(const uint8_t *groups, size_t count);
/* Registers written beside those that Capstone lists, a mask. */
int64_t lower_x86_64_hidden_writes(unsigned int id);
/* Of a plain one: its first operand is not the destination. */
bool lower_x86_64_only_reads(unsigned int id);
/* The number of a general register by Capstone's x86_reg, whole or part; LOWER_NONE: another. */
uint8_t lower_x86_64_gpr(unsigned int reg);
/* Of conditional jumps, moves and sets: as what they ask. */
enum sign lower_x86_64_condition(unsigned int id);
/* What it does to its first operand, in memory. */
enum change lower_x86_64_change(unsigned int id);
/* lowering.padding. */
size_t lower_x86_64_padding(const uint8_t *bytes, size_t count);
/* lowering.is_entry. */
bool lower_x86_64_is_entry(const uint8_t *bytes, size_t count, uint64_t address, uint64_t hook);
enum helper lower_x86_64_helper(const char *name, uint8_t *ret_register);

#endif
