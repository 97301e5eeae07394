/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A program or library that a process has mapped: its call frame information and its symbols. */
#ifndef DEBUGGER_USER_STACK_PROGRAM_H
#define DEBUGGER_USER_STACK_PROGRAM_H

#include "debugger/kernel/user_space.h"
#include "debugger/user_stack/cfi.h"

struct program_symbol {
	uint64_t value, size;
	uint64_t name; /* where it is in the file */
};

/* Bytes of tables that are read of all the programs of a stack: those of a browser have 30 MB. */
#define PROGRAMS_ROOM ((uint64_t)192 << 20)

struct program {
	uint64_t start;		 /* of the mapping with its ELF header */
	uint64_t bias;		 /* what is added to addresses in the file */
	struct cfi_table frames; /* it may have none, or they are not in memory */
	/* By address, as far as the file's table of symbols is in memory; owned. */
	struct program_symbol *symbols;
	size_t symbol_count, symbol_capacity;
	struct error *problem; /* what of it could not be read at first; NULL */
	struct memory
		*file; /* the file's own bytes; owned, NULL: all of it is mapped in one piece */
	uint64_t room; /* bytes of tables that may still be read */
};

/*
 * The program around a mapping; *ret NULL: what is mapped there is no ELF file of 64 bits. Errors:
 * fatal ones. program_destroy() it before the space is closed. `*room` is what the stack's programs
 * may take, and becomes what this one leaves of it: as many as are mapped may share one large file.
 */
struct error *program_create(struct user_space *space, const struct user_mapping *mappings,
			     size_t number, uint64_t *room, struct program **ret) MUST_CHECK;
void program_destroy(struct program *program);
/*
 * The same of what lies at `program->start` in memory, with `program->file` and `program->room`
 * set. Errors: fatal ones, and ERROR_NOT_FOUND: it is none.
 */
struct error *program_read(struct program *program, struct memory *user) MUST_CHECK;
/* The function around an address; false: none is known. `name` is cut to `size`. */
bool program_symbol_at(struct program *program, struct memory *user, uint64_t address, char *name,
		       size_t size, uint64_t *ret_offset);
/* The mapping that has a program's ELF header; `number` itself when none is known. */
size_t program_first_mapping(const struct user_mapping *mappings, size_t number);

#endif
