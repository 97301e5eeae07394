// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * How many bytes of code each symbol of the kernel has. kallsyms knows where symbols are, and lists
 * the labels within functions in assembler (SYM_INNER_LABEL of include/linux/linkage.h), which have
 * no size in a linked kernel, as it lists functions: a function would end at the first of them.
 * What tells them apart is the code: it runs on into a label, and into no function.
 */
#include "debugger/code/text.h"
#include "debugger/export/ends.h"
#include "debugger/export/quirks.h"
#include <stdlib.h>

#define TRAP		   0xcc
#define FUNCTION_ALIGNMENT 16
#define NEAR		   1024 /* bytes of a function in assembler with jumps to its labels */
#define TRAILS_MAX	   16	/* bytes of a label behind which there is no code */

/* The symbols of one address, from the last one to the first. */
struct place {
	uint32_t first, end;
	uint64_t address, room; /* up to the next place */
	uint64_t own, size;	/* bytes without padding; the same with the labels behind it */
};

/* The room in front of a function, for patches or for the hash of its type. */
static bool is_prefix_of(const char *before, const char *name)
{
	size_t length = strlen(name), all = strlen(before);
	return all > length + 1 && before[all - length - 1] == '_' &&
	       !strcmp(before + all - length, name);
}

/*
 * That none of the symbols is by its name a function, for BTF has it or the compiler set it apart,
 * or where the linker puts code of one kind behind code of another.
 */
static bool may_be_labels(const struct code_ends *ends, const struct place *place,
			  const char *before)
{
	char name[SYMBOL_NAME_SIZE];
	struct symbol symbol;
	for (uint32_t i = place->first; i < place->end; i++) {
		symtab_get_into(ends->exporting->target->symbols, i, name, &symbol);
		if (!code_is_assembler(ends->exporting, name) || quirk_is_label_of_code(name) ||
		    is_prefix_of(before, name))
			return false;
	}
	return true;
}

/* The trap that ends a function is a label's, too: entry_SYSRETQ_end. */
static bool has_traps_only(struct code_ends *ends, const struct place *place)
{
	if (place->own > TRAILS_MAX || !code_ends_read(ends, place->address, place->own))
		return false;
	for (uint64_t i = 0; i < place->own; i++)
		if (ends->bytes[i] != TRAP)
			return false;
	return true;
}

static bool runs_on(struct code_ends *ends, const struct place *place)
{
	return code_ends_read(ends, place->address, place->own) && code_ends_runs_on(ends);
}

/* What was freed after the boot has other contents by now. */
static bool is_kept(const struct exporting *exporting, uint64_t address)
{
	return address < exporting->init_start || address >= exporting->init_end;
}

/*
 * A label to which nothing but a jump leads: functions are aligned, what jumps there lies closely
 * before it, and nobody else knows the name.
 */
static bool is_jumped_to(const struct code_ends *ends, const struct place *next)
{
	const struct symtab *symbols = ends->exporting->target->symbols;
	const struct code_room before = { next->address - NEAR, NEAR };
	struct symbol symbol;
	if (!(next->address % FUNCTION_ALIGNMENT) ||
	    !code_ends_leads_to(ends, &before, next->address))
		return false;
	for (uint32_t i = next->first; i < next->end; i++) {
		symtab_peek(symbols, i, &symbol);
		if (symbol.kind != 't')
			return false;
	}
	return true;
}

/* Whether `next` stands within the function that `place` is of. */
static bool goes_on_at(struct code_ends *ends, const struct place *place, const struct place *next)
{
	char name[SYMBOL_NAME_SIZE];
	struct symbol symbol;
	if (!next->end || next->address - place->address != place->room ||
	    !is_kept(ends->exporting, place->address))
		return false;
	symtab_get_into(ends->exporting->target->symbols, place->end - 1, name, &symbol);
	if (!may_be_labels(ends, next, name))
		return false;
	if (is_jumped_to(ends, next))
		return true;
	return place->own == place->room && (has_traps_only(ends, next) || runs_on(ends, place));
}

static void set_sizes(struct exporting *exporting, const struct place *place, uint64_t size)
{
	for (uint32_t i = place->first; i < place->end; i++)
		exporting->code_sizes[i] = size;
}

static void measure(struct code_ends *ends, uint32_t count)
{
	struct exporting *exporting = ends->exporting;
	const struct target *target = exporting->target;
	struct place next = { 0 };
	char name[SYMBOL_NAME_SIZE];
	struct symbol symbol;
	for (uint32_t i = count; i--;) {
		symtab_get_into(target->symbols, i, name, &symbol);
		if (!exported_is_code(exporting, &symbol))
			continue;
		if (next.end && next.address == symbol.address && next.first == i + 1) {
			next.first = i;
			exporting->code_sizes[i] = next.size;
			continue;
		}
		struct place place = {
			.first = i, .end = i + 1, .address = symbol.address, .room = symbol.size
		};
		place.size = place.own = is_kept(exporting, symbol.address)
						 ? code_ends_size(ends, &symbol)
						 : text_function_size(target, &symbol);
		if (goes_on_at(ends, &place, &next)) {
			place.size = place.room + next.size;
			set_sizes(exporting, &next, 0);
		}
		set_sizes(exporting, &place, place.size);
		next = place;
	}
}

struct error *export_measure_code(struct exporting *exporting)
{
	struct code_ends ends;
	uint32_t count = symtab_kernel_count(exporting->target->symbols);
	exporting->code_sizes = calloc((size_t)count + 1, sizeof(*exporting->code_sizes));
	struct error *error = code_ends_init(&ends, exporting);
	if (!error && !exporting->code_sizes)
		error = error_no_memory();
	if (!error)
		measure(&ends, count);
	if (!error && ends.ops.failed)
		error = error_no_memory();
	code_ends_deinit(&ends);
	return error;
}
