/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What one tool asks of the file that nothing of ELF or DWARF would, each with its reason. Read in
 * the sources of crash 9.0.2, drgn 0.3.0, gdb 13 to 17 and dwarves 1.24 to 1.31.
 */
#ifndef DEBUGGER_EXPORT_QUIRKS_H
#define DEBUGGER_EXPORT_QUIRKS_H

#include "debugger/export/exporting.h"

/*
 * drgn looks at the whole unit of each frame: units of so many functions keep a stack trace at a
 * second or so, one unit for all makes it 13.
 */
#define QUIRK_FUNCTIONS_PER_UNIT 64

/*
 * crash sizes buffers by the lengths of some arrays, and reads beyond them where they are wrong.
 * Those are taken from an enumerator of BTF, from an array that is declared with the same length,
 * or, where the last element is not zero, from what lies there: the linker's padding is.
 */
struct error *quirk_array_type(struct target *target, const struct symbol *symbol, struct type type,
			       struct type *ret) MUST_CHECK;

/*
 * What crash and drgn read by name: on a kernel whose variables the shipped table does not know,
 * inference alone only guesses some of these, and the tools fail, or go wrong without a word. What
 * is not certain of them is declared here, where BTF has the type and the symbol the room for it.
 * In and out: a type and where it comes from.
 */
void quirk_asked_type(struct target *target, const struct symbol *symbol, struct type *type,
		      enum type_origin *origin);

/*
 * Labels that the linker script sets are of no size in a linked kernel: gdb names no object by
 * them. kallsyms does not tell them from objects, nor has it sizes; of those the names do.
 */
bool quirk_is_label(const char *name);
/* The same of code, where functions have names like those of tables: __stop_tty. */
bool quirk_is_label_of_code(const char *name);

/*
 * drgn finds the array of struct page only if there is a function vmemmap_populate, whose entry
 * BTF of 5.10 has not: one without a prototype is as good.
 */
extern const char quirk_asked_function[];

/*
 * crash shows the line of an instruction only if its unit names a folder. Where the kernel was
 * built the dump does not say, and its table has names from there on: the folder in which the user
 * is.
 */
extern const char quirk_folder[];

/*
 * gdb adds the distance that the kernel moved to every DW_OP_addr, drgn only to those within the
 * image: the variables of modules, which have no link-time address, are written as constants.
 */
void quirk_module_location(struct dwarf *dwarf, uint64_t address);

/*
 * crash finds HZ by `write_expire`, 5 * HZ, in the scope of dd_init_sched; a kernel without it is
 * taken for one of 1000 Hz. True: `*ret` is its value.
 */
bool quirk_write_expire(struct target *target, int64_t *ret);
extern const char quirk_write_expire_scope[];

#endif
