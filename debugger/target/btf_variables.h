/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The VARs of one level of BTF and the symbols they are. A DATASEC has offsets into a section whose
 * address BTF does not say: the symbols whose names are unique tell it. So two variables of one
 * name are told apart; one that is in no section goes by its name, if there is only one.
 */
#ifndef DEBUGGER_TARGET_BTF_VARIABLES_H
#define DEBUGGER_TARGET_BTF_VARIABLES_H

#include "debugger/target/target.h"

struct btf_variables;

/* `module`: whose symbols they are, "": the kernel's. Borrows `btf`. */
struct error *btf_variables_create(struct target *target, const struct btf *btf, const char *module,
				   struct btf_variables **ret) MUST_CHECK;
void btf_variables_destroy(struct btf_variables *variables);
/* The VAR of a symbol; 0: none, or it cannot be told which. */
uint32_t btf_variables_find(const struct btf_variables *variables, const struct symbol *symbol);
/* How the tags of `btf --export-variables` mark it: inferred, declared; else ORIGIN_FILE. */
enum type_origin btf_variables_origin(const struct btf_variables *variables, uint32_t variable);

#endif
