/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is known of a kernel and its dump, written as the vmlinux that crash, drgn, gdb and pahole
 * ask for: an ELF file of symbols, sections and notes, with DWARF of all types of BTF, of variables
 * and of functions. What each of the tools demands of it is in quirks.h.
 */
#ifndef DEBUGGER_EXPORT_EXPORT_H
#define DEBUGGER_EXPORT_EXPORT_H

#include "base/progress.h"
#include "debugger/target/target.h"
#include <stdio.h>

struct export_options {
	bool no_modules; /* nothing that holds for this boot alone */
	bool run_time;	 /* addresses as they were at run time, not as they were linked */
	bool guesses;	 /* variables whose type is a guess, too */
	/*
	 * A list of all variables, those that were left out too, one a line with tabs between:
	 * name, module, address, type, confidence, origin, whether it is in the file. NULL: none.
	 */
	FILE *tiers;
	struct progress *progress;
};

struct export_summary {
	uint64_t bytes; /* of the file, with its holes */
	uint64_t symbols, types, variables, functions;
	uint64_t modules;     /* whose types are in it */
	uint64_t without_btf; /* modules that have none, or none that can be read */
};

/*
 * Writes the file from its beginning; it is not closed. Errors: ERROR_UNSUPPORTED where the
 * machine is no 64-bit little-endian one, ERROR_NOT_FOUND without the kernel's limits,
 * ERROR_FORMAT where the types are more than any kernel's, ERROR_SYSTEM.
 */
struct error *export_vmlinux(struct target *target, const struct export_options *options,
			     FILE *file, struct export_summary *ret) MUST_CHECK;

/*
 * The same for one module, as the object file that it was loaded from: its sections by the names
 * that the kernel keeps, none of which has contents; its symbols; types of its own, and those of
 * the kernel's that they need; its variables and functions. Debuggers read it beside the kernel's.
 * `options`: guesses and progress alone. Errors: ERROR_NOT_FOUND too where there is no such module,
 * or the kernel keeps no names of sections.
 */
struct error *export_module(struct target *target, const char *name,
			    const struct export_options *options, FILE *file,
			    struct export_summary *ret) MUST_CHECK;

#endif
