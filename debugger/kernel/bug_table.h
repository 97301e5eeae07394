/* SPDX-License-Identifier: GPL-3.0-or-later */
/* BUG() and WARN(): the kernel's table of where they stand (kernel include/asm-generic/bug.h). */
#ifndef DEBUGGER_KERNEL_BUG_TABLE_H
#define DEBUGGER_KERNEL_BUG_TABLE_H

#include "debugger/target/object.h"

struct bug {
	/*
	 * As the table has it: the instruction that traps, or, of a WARN with text since 6.19, one
	 * of the same function up to some 60 bytes in front of it (is_near).
	 */
	uint64_t address;
	bool is_near;
	char file[256]; /* as it was compiled, "" not known */
	uint64_t line;
	bool is_warning;
	bool is_once;	/* of a warning: says so once */
	uint64_t entry; /* address in the table */
};

/*
 * The entry of the instruction at `pc`, of the kernel or of a module. *ret_found false: it is none.
 * `hint`: what the kernel itself would take for the entry where the table has no exact address
 * (WARN with arguments since 6.19 hands it over in a register); 0: none.
 */
struct error *bug_find(struct target *target, uint64_t pc, uint64_t hint, bool *ret_found,
		       struct bug *ret) MUST_CHECK;

/* `module` NULL: the kernel's. An error ends the walk and is handed on. */
typedef struct error *bug_visitor(void *context, const struct module *module,
				  const struct bug *bug);
/*
 * All entries of the kernel and of its modules, in the order of the tables, those of freed init
 * code too. Entries that cannot be read, and those beyond a million, are left out. Errors: the
 * visitor's, Ctrl-C, and ERROR_NOT_FOUND: this kernel's entries are not understood.
 */
struct error *bug_each(struct target *target, bug_visitor *visit, void *context) MUST_CHECK;
/* Those of one table alone. Errors: also ERROR_NOT_FOUND, there is no table. */
struct error *bug_each_of(struct target *target, const struct module *module, bug_visitor *visit,
			  void *context) MUST_CHECK;

#endif
