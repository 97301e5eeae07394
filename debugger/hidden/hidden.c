// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/hidden/hidden.h"

#include "debugger/hidden/hidden_private.h"

#include "base/array.h"
#include "debugger/declare/declare.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The image with its read-only data and the log's buffer: 30 MiB in all kernels seen. */
#define IMAGE_MAX ((uint64_t)64 << 20)

/* Kernels that were seen take a twentieth to a tenth. */
#define STEPS_MAX    ((uint64_t)1 << 30)
#define STEPS_TO_ADD 1000u /* and so a bound on memory */

static const char advice[] =
	"what VMCOREINFO, exports and BTF name is as good as ever; a few are known by code that "
	"uses them and by the structure of what is there; other data has no name. `sym NAME` says "
	"how one was found";

struct error *hidden_spend(struct hidden *hidden, uint64_t steps)
{
	if (steps > STEPS_MAX - hidden->spent)
		return error_create(ERROR_FORMAT, "the search was given up: there is more to look "
						  "at than any kernel has");
	hidden->spent += steps;
	return NULL;
}

struct error *hidden_add(struct hidden *hidden, const char *name, char kind, uint64_t address,
			 uint64_t size, const char *evidence)
{
	TRY(hidden_spend(hidden, STEPS_TO_ADD));
	if (!array_reserve(&hidden->items, &hidden->capacity, hidden->count + 1))
		return error_no_memory();
	char *copy = strdup(name);
	if (!copy)
		return error_no_memory();
	hidden->items[hidden->count++] =
		(struct found_symbol){ copy, address, size, kind, false, evidence };
	return NULL;
}

const struct found_symbol *hidden_find_named(const struct hidden *hidden, const char *name)
{
	for (size_t i = 0; i < hidden->count; i++)
		if (!strcmp(hidden->items[i].name, name))
			return &hidden->items[i];
	return NULL;
}

bool hidden_address(const struct hidden *hidden, const char *name, uint64_t *ret)
{
	const struct found_symbol *found = hidden_find_named(hidden, name);
	if (symtab_address(hidden->target->symbols, name, ret))
		return true;
	if (found)
		*ret = found->address;
	return found;
}

static void forget(struct hidden *hidden)
{
	for (size_t i = 0; i < hidden->count; i++)
		free(hidden->items[i].name);
	hidden->count = 0;
}

struct error *hidden_commit(struct hidden *hidden)
{
	struct error *error =
		symtab_add_found(hidden->target->symbols, hidden->items, hidden->count);
	forget(hidden);
	return error;
}

/* VMCOREINFO's SYMBOL(name)=address: the kernel itself says so. */
static struct error *add_noted(struct hidden *hidden)
{
	static const char *const names[] = {
		"init_uts_ns", "swapper_pg_dir",   "init_top_pgt", "vmap_area_list",
		"mem_section", "contig_page_data", "prb",	   "clear_seq",
		"log_buf",     "log_buf_len",
	};
	for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
		char key[64];
		uint64_t address;
		snprintf(key, sizeof(key), "SYMBOL(%s)", names[i]);
		if (vmcoreinfo_hex(hidden->target->vmcoreinfo, key, &address) &&
		    !hidden_find_named(hidden, names[i]))
			TRY(hidden_add(hidden, names[i], 'D', address, 0, "named in VMCOREINFO"));
	}
	return NULL;
}

/* Gives variables whose types are known their sizes. */
static void add_sizes(struct hidden *hidden)
{
	for (size_t i = 0; i < hidden->count; i++) {
		struct found_symbol *found = &hidden->items[i];
		struct symbol symbol = { .address = found->address,
					 .kind = found->kind,
					 .name = found->name };
		enum type_origin origin;
		struct type type;
		if (found->size || found->per_cpu)
			continue;
		struct error *error = declared_symbol_type(hidden->target, &symbol, &type, &origin);
		if (error || origin == ORIGIN_NONE || !type_size(type, &found->size))
			found->size = 0;
		error_free(error);
	}
}

/* Variables that something in the dump names; they help to find the others. */
static struct error *add_said(struct hidden *hidden)
{
	TRY(hidden_add_exports(hidden));
	TRY(hidden_add_per_cpu(hidden));
	TRY(add_noted(hidden));
	add_sizes(hidden);
	return hidden_commit(hidden);
}

/* Variables that code shows; needs the types of what it reads there. */
static struct error *add_told_by_code(struct hidden *hidden)
{
	struct code_reader *reader;
	TRY(code_reader_create(hidden, &reader));
	struct error *error = hidden_add_orc(hidden, reader);
	if (!error && hidden->target->btf)
		error = hidden_add_used(hidden, reader);
	if (!error && hidden->target->btf)
		error = hidden_add_image(hidden);
	code_reader_destroy(reader);
	return error ? error : hidden_commit(hidden);
}

static struct error *add_all(struct hidden *hidden)
{
	TRY(add_said(hidden));
	return add_told_by_code(hidden);
}

/* Every kernel has it, and only the table of functions lacks it. */
static bool has_data(const struct target *target)
{
	uint64_t address;
	return symtab_address(target->symbols, "init_task", &address);
}

void hidden_find(struct target *target)
{
	struct hidden hidden = { .target = target };
	uint32_t before = symtab_kernel_count(target->symbols);
	if (!before || symtab_warning(target->symbols) || has_data(target) ||
	    !symtab_address(target->symbols, "_etext", &hidden.first))
		return;
	hidden.first = (hidden.first + 7) & ~(uint64_t)7;
	hidden.last = hidden.first + IMAGE_MAX;
	if (hidden.last < hidden.first)
		return;
	target_add_problem(target, error_prefix(add_all(&hidden), "symbols of data"));
	forget(&hidden);
	free(hidden.items);
	struct error *error = error_create(
		ERROR_NOT_FOUND,
		"the kernel's symbol table has functions only (built without "
		"CONFIG_KALLSYMS_ALL); %" PRIu32 " symbols of data were found otherwise",
		symtab_kernel_count(target->symbols) - before);
	target_add_problem(target, error_advise(error, advice));
}
