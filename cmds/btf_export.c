// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/array.h"
#include "btf/writer.h"
#include "cmds/btf.h"
#include "debugger/declare/declare.h"
#include "debugger/infer/symbol_type.h"
#include "debugger/shell/child.h"
#include "debugger/target/btf_files.h"
#include "debugger/target/object.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- as it is -----------------------------------------------------------------------------------
 */

static struct error *write_file(struct session *session, const char *path, const void *data,
				size_t size)
{
	FILE *file;
	TRY(output_open(session->helper, path, false, &file));
	bool failed = fwrite(data, 1, size, file) != size;
	failed |= fclose(file) != 0;
	return failed ? error_system("%s", path) : NULL;
}

static void report(struct session *session, const char *path, size_t size, size_t variables,
		   bool with_variables)
{
	struct out *out = session->out;
	out_object_begin(out, NULL);
	out_string(out, "file", path);
	out_text(out, ": ");
	out_u64(out, "bytes", size);
	out_text(out, " bytes");
	if (with_variables) {
		out_text(out, ", ");
		out_u64(out, "variables", variables);
		out_text(out, " variables");
	}
	out_text(out, "\n");
	out_object_end(out);
}

struct error *btf_export(struct session *session, const char *name, const char *path)
{
	const struct btf *btf;
	const void *data;
	size_t size;
	TRY(target_find_btf(session->target, name, &btf));
	TRY(target_btf_bytes(session->target, btf, &data, &size));
	TRY(write_file(session, path, data, size));
	report(session, path, size, 0, false);
	return NULL;
}

/* --- variables
 * ------------------------------------------------------------------------------------ */

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

struct exporting {
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
 * What `whatis` would say, unless that is a guess, as the length of an array may be one too.
 */
static struct error *choose_type(struct exporting *exporting, const struct subject *subject,
				 const struct symbol *symbol, const struct typing *typing,
				 struct type *ret_type, enum type_origin *ret_origin)
{
	TRY(declared_symbol_type(exporting->target, symbol, ret_type, ret_origin));
	bool weak = *ret_origin == ORIGIN_NONE || *ret_origin == ORIGIN_DECLARED;
	if (weak && typing->confidence >= CONFIDENCE_INFERRED &&
	    (typing->count_is_proved || subject->room_is_exact || !type_is_array(typing->type))) {
		*ret_type = typing->type;
		*ret_origin = typing->origin;
	} else if (*ret_origin == ORIGIN_DECLARED && type_is_array(*ret_type))
		*ret_origin = ORIGIN_NONE;
	return NULL;
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
	struct exporting *exporting = context;
	struct type type;
	enum type_origin origin;
	uint64_t size;
	bool is_ours = exporting->module
			       ? symbol->module && !strcmp(symbol->module, exporting->module)
			       : !symbol->module;
	if (!is_ours)
		return NULL;
	TRY(choose_type(exporting, subject, symbol, typing, &type, &origin));
	const char *tag = tag_of(origin);
	if (!tag || !type.btf || !type_size(type, &size) || size > UINT32_MAX)
		return NULL;
	uint32_t id =
		btf_writer_variable(exporting->writer, symbol->name, type, is_global(symbol->kind));
	btf_writer_tag(exporting->writer, tag, id);
	if (!array_reserve(&exporting->items, &exporting->capacity, exporting->count + 1))
		return error_no_memory();
	exporting->items[exporting->count++] = (struct exported){ symbol->address, size, id };
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
static struct error *write_section(struct exporting *exporting, size_t number)
{
	const struct symtab *symbols = exporting->target->symbols;
	uint64_t start, end, next;
	uint32_t count = 0;
	if (!symtab_address(symbols, sections[number].start, &start) ||
	    !symtab_address(symbols, sections[number].end, &end) || end <= start ||
	    end - start > UINT32_MAX)
		return NULL;
	struct btf_section_entry *entries = calloc(exporting->count + 1, sizeof(*entries));
	if (!entries)
		return error_no_memory();
	next = start;
	for (size_t i = 0; i < exporting->count; i++) {
		const struct exported *item = &exporting->items[i];
		if (item->address < next || item->address >= end ||
		    item->size > end - item->address)
			continue;
		entries[count++] = (struct btf_section_entry){ item->id,
							       (uint32_t)(item->address - start),
							       (uint32_t)item->size };
		next = item->address + item->size;
	}
	if (count)
		btf_writer_section(exporting->writer, sections[number].name,
				   (uint32_t)(end - start), entries, count);
	free(entries);
	return NULL;
}

static struct error *write_variables(struct session *session, struct exporting *exporting,
				     const char *path)
{
	struct infer_options options = { .progress = session->progress };
	void *data;
	size_t size;
	TRY(infer_all(exporting->target, &options, export_one, exporting));
	array_sort(exporting->items, exporting->count, sizeof(*exporting->items),
		   compare_addresses);
	for (size_t i = 0; !exporting->module && i < ARRAY_COUNT(sections); i++)
		TRY(write_section(exporting, i));
	TRY(btf_writer_finish(exporting->writer, &data, &size));
	struct error *error = write_file(session, path, data, size);
	free(data);
	if (error)
		return error;
	report(session, path, size, exporting->count, true);
	return NULL;
}

struct error *btf_export_variables(struct session *session, const char *name, const char *path)
{
	struct exporting exporting = { .target = session->target };
	TRY(target_find_btf(session->target, name, &exporting.btf));
	if (strcmp(name, "vmlinux") != 0)
		exporting.module = name;
	exporting.writer = btf_writer_create(exporting.btf);
	if (!exporting.writer)
		return error_no_memory();
	struct error *error = write_variables(session, &exporting, path);
	btf_writer_destroy(exporting.writer);
	free(exporting.items);
	return error;
}
