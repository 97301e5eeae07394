// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/target/btf_variables.h"

#include "base/array.h"
#include <stdlib.h>
#include <string.h>

/* Entries of a section that are asked where it is. */
#define VOTES_MAX 512

struct place {
	uint32_t variable; /* id */
	uint32_t section;  /* number */
	uint32_t offset;
};

struct section {
	uint64_t address;
	bool is_known;
};

struct mark {
	uint32_t variable;
	enum type_origin origin;
};

struct btf_variables {
	struct target *target;
	const struct btf *btf;
	char *module;	      /* NULL: the kernel */
	struct place *places; /* by variable */
	size_t place_count, place_capacity;
	struct section *sections;
	size_t section_count, section_capacity;
	struct mark *marks; /* by variable */
	size_t mark_count, mark_capacity;
};

static bool is_owned(const struct btf_variables *variables, const struct symbol *symbol)
{
	if (!variables->module)
		return !symbol->module;
	return symbol->module && !strcmp(symbol->module, variables->module);
}

/* The only symbol of a name. */
static bool find_only(const struct btf_variables *variables, const char *name, struct symbol *ret)
{
	struct symbol symbol;
	uint64_t cursor = 0;
	uint32_t count = 0;
	while (symtab_find(variables->target->symbols, variables->module, name, &cursor, &symbol)) {
		if (!is_owned(variables, &symbol))
			continue;
		if (count++)
			return false;
		*ret = symbol;
	}
	return count == 1;
}

/* --- sections ---------------------------------------------------------------------------- */

struct vote {
	uint64_t address;
	size_t for_it, all;
};

static void cast_votes(const struct btf_variables *variables, const struct btf_type *record,
		       struct vote *vote, bool counts)
{
	struct btf_section_entry entry;
	struct btf_type variable;
	struct symbol symbol;
	size_t standing = 0;
	vote->for_it = vote->all = 0;
	for (uint32_t i = 0; vote->all < VOTES_MAX && btf_section_entry(record, i, &entry); i++) {
		if (!btf_get(variables->btf, entry.type, &variable) || variable.kind != BTF_VAR ||
		    !find_only(variables, variable.name, &symbol))
			continue;
		uint64_t address = symbol.address - entry.offset;
		vote->all++;
		if (counts) {
			vote->for_it += address == vote->address;
			continue;
		}
		/* The one that more than half name is what remains. */
		if (!standing)
			vote->address = address;
		standing += address == vote->address ? 1 : (size_t)-1;
	}
}

static struct error *add_section(struct btf_variables *variables, const struct btf_type *record)
{
	struct vote vote = { 0 };
	struct btf_section_entry entry;
	uint32_t number = (uint32_t)variables->section_count;
	if (!array_reserve(&variables->sections, &variables->section_capacity, number + 1u))
		return error_no_memory();
	cast_votes(variables, record, &vote, false);
	cast_votes(variables, record, &vote, true);
	variables->sections[variables->section_count++] =
		(struct section){ vote.address, vote.for_it > vote.all / 2 };
	if (!array_reserve(&variables->places, &variables->place_capacity,
			   variables->place_count + record->vlen))
		return error_no_memory();
	for (uint32_t i = 0; btf_section_entry(record, i, &entry); i++)
		variables->places[variables->place_count++] =
			(struct place){ entry.type, number, entry.offset };
	return NULL;
}

static int compare_places(const void *a, const void *b)
{
	const struct place *left = a, *right = b;
	return left->variable < right->variable ? -1 : left->variable > right->variable;
}

/* --- tags -------------------------------------------------------------------------------- */

static int compare_marks(const void *a, const void *b)
{
	const struct mark *left = a, *right = b;
	return left->variable < right->variable ? -1 : left->variable > right->variable;
}

static struct error *add_mark(struct btf_variables *variables, const struct btf_type *tag)
{
	bool is_inferred = !strcmp(tag->name, "btfcrash:inferred");
	if (!is_inferred && strcmp(tag->name, "btfcrash:declared") != 0)
		return NULL;
	if (!array_reserve(&variables->marks, &variables->mark_capacity, variables->mark_count + 1))
		return error_no_memory();
	variables->marks[variables->mark_count++] =
		(struct mark){ tag->type, is_inferred ? ORIGIN_INFERRED : ORIGIN_DECLARED };
	return NULL;
}

enum type_origin btf_variables_origin(const struct btf_variables *variables, uint32_t variable)
{
	struct mark wanted = { .variable = variable };
	const struct mark *mark = array_search(&wanted, variables->marks, variables->mark_count,
					       sizeof(*variables->marks), compare_marks);
	return mark ? mark->origin : ORIGIN_FILE;
}

static struct error *add_sections(struct btf_variables *variables)
{
	const struct btf *btf = variables->btf;
	struct btf_type record;
	for (uint32_t id = btf_start_id(btf); id < btf_end_id(btf); id++) {
		struct error *error = NULL;
		if (!btf_get(btf, id, &record))
			continue;
		if (record.kind == BTF_DATASEC)
			error = add_section(variables, &record);
		else if (record.kind == BTF_DECL_TAG)
			error = add_mark(variables, &record);
		if (error)
			return error;
	}
	array_sort(variables->marks, variables->mark_count, sizeof(*variables->marks),
		   compare_marks);
	array_sort(variables->places, variables->place_count, sizeof(*variables->places),
		   compare_places);
	return NULL;
}

struct error *btf_variables_create(struct target *target, const struct btf *btf, const char *module,
				   struct btf_variables **ret)
{
	struct btf_variables *variables = calloc(1, sizeof(*variables));
	if (!variables)
		return error_no_memory();
	variables->target = target;
	variables->btf = btf;
	struct error *error = NULL;
	if (*module) {
		variables->module = strdup(module);
		if (!variables->module)
			error = error_no_memory();
	}
	if (!error)
		error = add_sections(variables);
	if (error) {
		btf_variables_destroy(variables);
		return error;
	}
	*ret = variables;
	return NULL;
}

void btf_variables_destroy(struct btf_variables *variables)
{
	if (!variables)
		return;
	free(variables->module);
	free(variables->places);
	free(variables->sections);
	free(variables->marks);
	free(variables);
}

/* --- look-up -------------------------------------------------------------------------------- */

/* Where the section says the variable is; false: no section does. */
static bool find_address(const struct btf_variables *variables, uint32_t variable, uint64_t *ret)
{
	struct place wanted = { .variable = variable };
	const struct place *place = array_search(&wanted, variables->places, variables->place_count,
						 sizeof(*variables->places), compare_places);
	if (!place || !variables->sections[place->section].is_known)
		return false;
	*ret = variables->sections[place->section].address + place->offset;
	return true;
}

uint32_t btf_variables_find(const struct btf_variables *variables, const struct symbol *symbol)
{
	uint64_t cursor = 0, address;
	uint32_t id, only = 0;
	bool is_only = true;
	struct symbol found;
	if (!is_owned(variables, symbol))
		return 0;
	while ((id = btf_find(variables->btf, BTF_VAR, symbol->name, &cursor))) {
		if (id < btf_start_id(variables->btf))
			break;
		if (find_address(variables, id, &address)) {
			if (address == symbol->address)
				return id;
			continue;
		}
		is_only = !only;
		only = id;
	}
	/* Unless the one of no section is the only one of the name on both sides, it may be
	 * another. */
	return only && is_only && find_only(variables, symbol->name, &found) ? only : 0;
}
