// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * How many bytes of code each symbol of the kernel has. kallsyms knows where symbols are, and lists
 * the labels within functions in assembler (SYM_INNER_LABEL of include/linux/linkage.h), which have
 * no size in a linked kernel, as it lists functions: a function would end at the first of them.
 * What tells them apart is the code: it runs on into a label, and into no function.
 */
#include "debugger/code/text.h"
#include "debugger/export/exporting.h"
#include "debugger/export/quirks.h"
#include <stdlib.h>

#define TRAP	   0xcc
#define CODE_MAX   (64u << 10) /* bytes of what is looked into: functions in assembler are short */
#define TRAILS_MAX 16	       /* bytes of a label behind which there is no code */

/* The symbols of one address, from the last one to the first. */
struct place {
	uint32_t first, end;
	uint64_t address, room; /* up to the next place */
	uint64_t own, size;	/* bytes without padding; the same with the labels behind it */
};

struct measuring {
	struct exporting *exporting;
	const struct lowering *lowering;
	struct decoder *decoder;
	struct ops ops;
	uint8_t *bytes; /* CODE_MAX */
};

static bool has_function(const struct btf *btf, const char *name)
{
	uint64_t cursor = 0;
	return btf_find(btf, BTF_FUNC, name, &cursor) != 0;
}

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
static bool may_be_labels(const struct measuring *measuring, const struct place *place,
			  const char *before)
{
	const struct target *target = measuring->exporting->target;
	char name[SYMBOL_NAME_SIZE];
	struct symbol symbol;
	for (uint32_t i = place->first; i < place->end; i++) {
		symtab_get_into(target->symbols, i, name, &symbol);
		if (!*name || strchr(name + 1, '.') || quirk_is_label_of_code(name) ||
		    has_function(target->btf, name) || is_prefix_of(before, name))
			return false;
	}
	return true;
}

static bool read_code(struct measuring *measuring, uint64_t address, uint64_t size)
{
	if (!size || size > CODE_MAX)
		return false;
	struct error *error = memory_read(measuring->exporting->target->memory, address,
					  measuring->bytes, (size_t)size);
	bool was_read = !error;
	error_free(error);
	return was_read;
}

/* The trap that ends a function is a label's, too: entry_SYSRETQ_end. */
static bool has_traps_only(struct measuring *measuring, const struct place *place)
{
	if (place->own > TRAILS_MAX || !read_code(measuring, place->address, place->own))
		return false;
	for (uint64_t i = 0; i < place->own; i++)
		if (measuring->bytes[i] != TRAP)
			return false;
	return true;
}

/* A function that is called may be one that never returns. */
static bool ends_path(uint8_t kind)
{
	return kind == OP_CALL || kind == OP_CALL_REGISTER || kind == OP_JUMP ||
	       kind == OP_JUMP_REGISTER || kind == OP_RETURN || kind == OP_STOP;
}

/* That the last instruction is one behind which the next is executed. */
static bool runs_on(struct measuring *measuring, const struct place *place)
{
	struct ops *ops = &measuring->ops;
	struct code code = { measuring->bytes, (size_t)place->own, place->address };
	ops->count = 0;
	if (!read_code(measuring, place->address, place->own))
		return false;
	measuring->lowering->lower(measuring->decoder, &code, ops);
	if (ops->failed || !ops->count)
		return false;
	uint32_t last = ops->items[ops->count - 1].at;
	for (size_t i = ops->count; i-- && ops->items[i].at == last;)
		if (ends_path(ops->items[i].kind))
			return false;
	return true;
}

/* What was freed after the boot has other contents by now. */
static bool is_kept(const struct exporting *exporting, uint64_t address)
{
	return address < exporting->init_start || address >= exporting->init_end;
}

/* Whether `next` stands within the function that `place` is of. */
static bool goes_on_at(struct measuring *measuring, const struct place *place,
		       const struct place *next)
{
	char name[SYMBOL_NAME_SIZE];
	struct symbol symbol;
	if (!next->end || place->own != place->room ||
	    next->address - place->address != place->room ||
	    !is_kept(measuring->exporting, place->address))
		return false;
	symtab_get_into(measuring->exporting->target->symbols, place->end - 1, name, &symbol);
	return may_be_labels(measuring, next, name) &&
	       (has_traps_only(measuring, next) || runs_on(measuring, place));
}

static void set_sizes(struct exporting *exporting, const struct place *place, uint64_t size)
{
	for (uint32_t i = place->first; i < place->end; i++)
		exporting->code_sizes[i] = size;
}

static void measure(struct measuring *measuring, uint32_t count)
{
	struct exporting *exporting = measuring->exporting;
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
		place.size = place.own = text_function_size(target, &symbol);
		if (goes_on_at(measuring, &place, &next)) {
			place.size += next.size;
			set_sizes(exporting, &next, 0);
		}
		set_sizes(exporting, &place, place.size);
		next = place;
	}
}

struct error *export_measure_code(struct exporting *exporting)
{
	const struct target *target = exporting->target;
	uint32_t count = symtab_kernel_count(target->symbols);
	struct measuring measuring = { .exporting = exporting };
	measuring.lowering = target->arch ? lowering_find(target->arch->name) : NULL;
	exporting->code_sizes = calloc((size_t)count + 1, sizeof(*exporting->code_sizes));
	measuring.bytes = malloc(CODE_MAX);
	if (measuring.lowering)
		measuring.decoder = measuring.lowering->create();
	bool has_memory = exporting->code_sizes && measuring.bytes && measuring.decoder;
	if (has_memory)
		measure(&measuring, count);
	if (measuring.decoder)
		measuring.lowering->destroy(measuring.decoder);
	free(measuring.bytes);
	free(measuring.ops.items);
	return has_memory && !measuring.ops.failed ? NULL : error_no_memory();
}
