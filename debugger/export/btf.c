// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/export/btf.h"

#include "base/array.h"
#include "btf/writer.h"
#include "debugger/infer/symbol_type.h"
#include "debugger/target/btf_files.h"
#include "debugger/target/object.h"
#include <stdlib.h>
#include <string.h>

/* Where the linker put them; its symbols stand at the beginning of what they are called after. */
static const struct {
	const char *name, *start, *end;
} sections[] = {
	{ ".rodata", "__start_rodata", "__end_rodata" },
	{ ".data", "_sdata", "_edata" },
	{ ".bss", "__bss_start", "__bss_stop" },
	{ ".data..percpu", "__per_cpu_start", "__per_cpu_end" }, /* unless BTF has it */
};

struct exported {
	uint64_t address, size;
	uint32_t id; /* of the VAR */
};

struct btf_level {
	struct target *target;
	const struct btf *btf;
	const char *module; /* NULL: the kernel */
	struct btf_writer *writer;
	struct exported *items;
	size_t count, capacity;
};

static bool type_is_array(struct type type)
{
	struct btf_type record;
	return type.btf && type_get_resolved(type, &record) && record.kind == BTF_ARRAY;
}

/*
 * What `whatis` would say, unless that is a guess, as the length of an array may be one too. Before
 * the program's own list goes what inference is surer of.
 */
static struct statement choose(const struct verdict *verdict)
{
	const struct statement *declared = &verdict->declared, *inferred = &verdict->inferred;
	if (declared->origin != ORIGIN_NONE && declared->origin != ORIGIN_DECLARED)
		return *declared;
	if (origin_confidence(inferred->origin) >= CONFIDENCE_INFERRED && !inferred->at_most)
		return *inferred;
	return type_is_array(declared->type) ? (struct statement){ .origin = ORIGIN_NONE }
					     : *declared;
}

static const char *tag_of(enum type_origin origin)
{
	switch (origin) {
	case ORIGIN_DECLARED:
		return "btfcrash:declared";
	case ORIGIN_USER:
		return "btfcrash:user";
	case ORIGIN_FILE:
		return "btfcrash:file";
	case ORIGIN_CERTAIN:
		return "btfcrash:certain";
	case ORIGIN_INFERRED:
		return "btfcrash:inferred";
	default:
		return NULL;
	}
}

static bool is_global(char kind)
{
	return kind >= 'A' && kind <= 'Z';
}

static struct error *export_one(void *context, const struct subject *subject,
				const struct symbol *symbol, const struct typing *typing)
{
	struct btf_level *level = context;
	struct verdict verdict;
	uint64_t size;
	bool is_ours = level->module ? symbol->module && !strcmp(symbol->module, level->module)
				     : !symbol->module;
	if (!is_ours)
		return NULL;
	(void)subject;
	TRY(verdict_of_typing(level->target, symbol, typing, false, &verdict));
	struct statement chosen = choose(&verdict);
	const char *tag = tag_of(chosen.origin);
	if (!tag || !chosen.type.btf || !type_size(chosen.type, &size) || size > UINT32_MAX)
		return NULL;
	uint32_t id = btf_writer_variable(level->writer, symbol->name, chosen.type,
					  is_global(symbol->kind));
	btf_writer_tag(level->writer, tag, id);
	if (!array_reserve(&level->items, &level->capacity, level->count + 1))
		return error_no_memory();
	level->items[level->count++] = (struct exported){ symbol->address, size, id };
	return NULL;
}

static int compare_addresses(const void *a, const void *b)
{
	const struct exported *left = a, *right = b;
	if (left->address != right->address)
		return left->address < right->address ? -1 : 1;
	return left->id < right->id ? -1 : left->id > right->id;
}

/* The variables between two symbols; of those that overlap, the first. */
static struct error *write_section(struct btf_level *level, size_t number)
{
	const struct symtab *symbols = level->target->symbols;
	uint64_t start, end, next;
	uint32_t count = 0;
	if (!symtab_address(symbols, sections[number].start, &start) ||
	    !symtab_address(symbols, sections[number].end, &end) || end <= start ||
	    end - start > UINT32_MAX)
		return NULL;
	struct btf_section_entry *entries = calloc(level->count + 1, sizeof(*entries));
	if (!entries)
		return error_no_memory();
	next = start;
	for (size_t i = 0; i < level->count; i++) {
		const struct exported *item = &level->items[i];
		if (item->address < next || item->address >= end ||
		    item->size > end - item->address)
			continue;
		entries[count++] = (struct btf_section_entry){ item->id,
							       (uint32_t)(item->address - start),
							       (uint32_t)item->size };
		next = item->address + item->size;
	}
	if (count)
		btf_writer_section(level->writer, sections[number].name, (uint32_t)(end - start),
				   entries, count);
	free(entries);
	return NULL;
}

static struct error *write_all(struct btf_level *level, struct progress *progress,
			       struct exported_btf *ret)
{
	struct infer_options options = { .progress = progress };
	TRY(infer_all(level->target, &options, export_one, level));
	array_sort(level->items, level->count, sizeof(*level->items), compare_addresses);
	for (size_t i = 0; !level->module && i < ARRAY_COUNT(sections); i++)
		TRY(write_section(level, i));
	TRY(btf_writer_finish(level->writer, &ret->data, &ret->size));
	ret->variables = level->count;
	return NULL;
}

struct error *export_btf_variables(struct target *target, const char *name,
				   struct progress *progress, struct exported_btf *ret)
{
	struct btf_level level = { .target = target };
	TRY(target_find_btf(target, name, &level.btf));
	if (strcmp(name, "vmlinux") != 0)
		level.module = name;
	level.writer = btf_writer_create(level.btf);
	if (!level.writer)
		return error_no_memory();
	struct error *error = write_all(&level, progress, ret);
	btf_writer_destroy(level.writer);
	free(level.items);
	return error;
}
