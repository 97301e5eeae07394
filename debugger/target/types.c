// SPDX-License-Identifier: GPL-3.0-or-later
/* Types by name, and the types of symbols. */
#include "debugger/target/btf_files.h"

#include <string.h>

const char *type_origin_name(enum type_origin origin)
{
	static const char *const names[] = {
		[ORIGIN_NONE] = "none",		[ORIGIN_KERNEL] = "BTF",
		[ORIGIN_MODULE] = "module BTF", [ORIGIN_FILE] = "file",
		[ORIGIN_DECLARED] = "declared", [ORIGIN_USER] = "declared by user",
		[ORIGIN_CERTAIN] = "certain",	[ORIGIN_INFERRED] = "inferred",
		[ORIGIN_GUESSED] = "guess",	[ORIGIN_CAST] = "expression",
	};
	return names[origin];
}

/* Variables of one name: static ones of different files are. */
#define NAMESAKES_MAX 64

/* --- by name -------------------------------------------------------------------------- */

/* How people spell integers, and how gcc's DWARF, and so BTF, does. */
static const char *canonical_integer(const char *name)
{
	static const char *const pairs[][2] = {
		{ "unsigned long", "long unsigned int" },
		{ "long", "long int" },
		{ "unsigned", "unsigned int" },
		{ "unsigned short", "short unsigned int" },
		{ "short", "short int" },
		{ "long long", "long long int" },
		{ "unsigned long long", "long long unsigned int" },
		{ "bool", "_Bool" },
	};
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		if (!strcmp(name, pairs[i][0]))
			return pairs[i][1];
	return name;
}

static bool find_kind(const struct btf *btf, enum btf_kind kind, const char *name, struct type *ret)
{
	uint64_t cursor = 0;
	uint32_t id = btf_find(btf, kind, name, &cursor);
	if (id)
		*ret = (struct type){ btf, id };
	return id != 0;
}

static bool find_in(const struct btf *btf, const char *name, struct type *ret)
{
	static const struct {
		const char *prefix;
		enum btf_kind kind;
	} tagged[] = { { "struct ", BTF_STRUCT }, { "union ", BTF_UNION }, { "enum ", BTF_ENUM } };
	for (size_t i = 0; i < sizeof(tagged) / sizeof(tagged[0]); i++)
		if (!strncmp(name, tagged[i].prefix, strlen(tagged[i].prefix)))
			return find_kind(btf, tagged[i].kind, name + strlen(tagged[i].prefix), ret);
	if (!strcmp(name, "void")) {
		*ret = (struct type){ btf, 0 };
		return true;
	}
	return find_kind(btf, BTF_TYPEDEF, name, ret) ||
	       find_kind(btf, BTF_INT, canonical_integer(name), ret) ||
	       find_kind(btf, BTF_FLOAT, name, ret);
}

/* What only a file knows; that continues the kernel's BTF, or is as good. */
static bool find_in_files(const struct target *target, const char *name, struct type *ret)
{
	for (size_t i = target_btf_file_count(target); i-- > 0;)
		if (find_in(target_btf_file(target, i)->btf, name, ret))
			return true;
	return false;
}

struct error *target_find_type(struct target *target, const struct btf *near, const char *name,
			       struct type *ret)
{
	if (near && find_in(near, name, ret))
		return NULL;
	struct error *error = target_need_btf(target);
	if (error)
		return error;
	if (find_in(target->btf, name, ret) || find_in_files(target, name, ret))
		return NULL;
	return error_create(ERROR_NOT_FOUND, "no type \"%s\" in the kernel's BTF", name);
}

/* --- of symbols ------------------------------------------------------------------------- */

/* The VAR of a per-CPU symbol: the DATASEC's entry at its offset, with its name. */
static bool find_per_cpu_variable(const struct btf *btf, const char *name, uint64_t offset,
				  struct type *ret)
{
	uint64_t cursor = 0;
	uint32_t id;
	while ((id = btf_find(btf, BTF_DATASEC, ".data..percpu", &cursor))) {
		struct btf_type section, variable;
		struct btf_section_entry entry;
		if (!btf_get(btf, id, &section) || section.id < btf_start_id(btf))
			continue;
		for (uint32_t i = 0; btf_section_entry(&section, i, &entry); i++) {
			if (entry.offset != offset || !btf_get(btf, entry.type, &variable) ||
			    strcmp(variable.name, name))
				continue;
			*ret = (struct type){ btf, variable.type };
			return true;
		}
	}
	return false;
}

static bool is_per_cpu_variable(const struct btf *btf, uint32_t variable)
{
	uint64_t cursor = 0;
	uint32_t id = btf_find(btf, BTF_DATASEC, ".data..percpu", &cursor);
	struct btf_type section;
	struct btf_section_entry entry;
	if (!id || !btf_get(btf, id, &section))
		return false;
	for (uint32_t i = 0; btf_section_entry(&section, i, &entry); i++)
		if (entry.type == variable)
			return true;
	return false;
}

/* An ordinary VAR of the name, if there is exactly one (pahole's global_var). */
static bool find_variable(const struct btf *btf, const char *name, struct type *ret)
{
	uint64_t cursor = 0;
	uint32_t id, only = 0, seen = 0;
	while ((id = btf_find(btf, BTF_VAR, name, &cursor))) {
		/* Sections are long: not for each of millions that are called the same. */
		if (seen++ == NAMESAKES_MAX)
			return false;
		if (id < btf_start_id(btf) || is_per_cpu_variable(btf, id))
			continue;
		if (only)
			return false;
		only = id;
	}
	struct btf_type variable;
	if (!only || !btf_get(btf, only, &variable))
		return false;
	*ret = (struct type){ btf, variable.type };
	return true;
}

static bool symbol_type_of_btf(struct target *target, const struct symbol *symbol,
			       struct type *ret_type, enum type_origin *ret_origin)
{
	const struct module *module = symbol->module ? target_module(target, symbol->module) : NULL;
	const struct btf *btf = target_symbol_btf(target, symbol);
	if (!btf)
		return false;
	bool is_of_file = module ? module->btf_is_of_file : target->btf_is_of_file;
	*ret_origin = is_of_file ? ORIGIN_FILE : module ? ORIGIN_MODULE : ORIGIN_KERNEL;
	if (!symbol->per_cpu)
		return find_variable(btf, symbol->name, ret_type);
	uint64_t start = 0;
	if (module)
		start = module->percpu;
	else if (!symtab_address(target->symbols, "__per_cpu_start", &start))
		return false;
	return find_per_cpu_variable(btf, symbol->name, symbol->address - start, ret_type);
}

struct error *target_symbol_type(struct target *target, const struct symbol *symbol,
				 struct type *ret_type, enum type_origin *ret_origin)
{
	if (symbol_type_of_btf(target, symbol, ret_type, ret_origin))
		return NULL;
	if (btf_files_symbol_type(target, symbol, ret_type, ret_origin))
		return NULL;
	*ret_type = (struct type){ NULL, 0 };
	*ret_origin = ORIGIN_NONE;
	return NULL;
}
