// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/kernel/bpf.h"

#include "base/bytes.h"
#include "base/interrupt.h"
#include "debugger/target/object.h"
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A program has at most a million instructions, and a line for each at most. */
#define LINE_LIMIT	  (1u << 20)
#define LINE_SIZE_MIN	  16u
#define LINE_SIZE_MAX	  64u /* struct bpf_line_info has four words */
#define PROGRAM_BTF_LIMIT (16u << 20)

static struct error *read_aux(struct target *target, uint64_t aux, struct object *ret)
{
	return object_at(target, "struct bpf_prog_aux", aux, ret);
}

/* --- lines --------------------------------------------------------------------------------- */

/* A string of the program's BTF; "" when there is none. */
static void read_string(const struct object *btf, uint32_t offset, char *buffer, size_t size)
{
	uint64_t strings = 0, limit = 0;
	size_t length;
	buffer[0] = 0;
	struct error *error = object_u64(btf, "strings", &strings);
	if (!error)
		error = object_u64(btf, "hdr.str_len", &limit);
	if (!error && offset < limit) {
		error = memory_read_string(btf->target->memory, strings + offset, buffer, size,
					   &length);
		if (error)
			buffer[0] = 0;
	}
	error_free(error);
}

/* The arrays of a program's lines, of which a function has a part. */
struct lines {
	uint8_t *records;    /* struct bpf_line_info */
	uint64_t *addresses; /* where each one's code begins; NULL words: removed */
	uint32_t count, first;
	uint64_t record_size;
	uint32_t instruction, file, text, place; /* offsets of members */
	uint64_t end;				 /* instruction behind the function */
};

static void lines_deinit(struct lines *lines)
{
	free(lines->records);
	free(lines->addresses);
}

static uint32_t line_word(const struct lines *lines, uint32_t index, uint32_t offset)
{
	return load_u32(lines->records + index * lines->record_size + offset, false);
}

static struct error *word_offset(const struct object *record, const char *name, uint32_t *ret)
{
	struct object member;
	uint64_t size;
	TRY(object_member(record, name, &member));
	if (!type_size(member.type, &size) || size != 4)
		return error_create(ERROR_FORMAT, "bpf_line_info.%s has not 4 bytes", name);
	*ret = (uint32_t)(member.address - record->address);
	return NULL;
}

/* Where the members of a record are, and which part of the lines belongs to the function. */
static struct error *read_shape(const struct object *aux, struct lines *lines)
{
	struct object record, program;
	uint64_t size, count, first, length;
	TRY(object_follow(aux, "linfo", &record));
	if (!type_size(record.type, &size) || size < LINE_SIZE_MIN || size > LINE_SIZE_MAX)
		return error_create(ERROR_FORMAT, "bpf_line_info has no sane size");
	TRY(word_offset(&record, "insn_off", &lines->instruction));
	TRY(word_offset(&record, "file_name_off", &lines->file));
	TRY(word_offset(&record, "line_off", &lines->text));
	TRY(word_offset(&record, "line_col", &lines->place));
	TRY(object_u64(aux, "nr_linfo", &count));
	TRY(object_u64(aux, "linfo_idx", &first));
	TRY(object_follow(aux, "prog", &program));
	TRY(object_u64(&program, "len", &length));
	if (count > LINE_LIMIT || first > count)
		return error_create(ERROR_FORMAT, "line %" PRIu64 " of %" PRIu64, first, count);
	lines->record_size = size;
	lines->count = (uint32_t)count;
	lines->first = (uint32_t)first;
	lines->end = length;
	return NULL;
}

static struct error *read_lines(const struct object *aux, struct lines *lines)
{
	struct memory *memory = aux->target->memory;
	uint64_t records, addresses;
	void *bytes;
	TRY(read_shape(aux, lines));
	TRY(object_u64(aux, "linfo", &records));
	TRY(object_u64(aux, "jited_linfo", &addresses));
	if (!records || !addresses || lines->first == lines->count) {
		lines->count = 0;
		return NULL;
	}
	TRY(memory_read_alloc(memory, records, lines->count * lines->record_size,
			      LINE_LIMIT * lines->record_size, &bytes));
	lines->records = bytes;
	TRY(memory_read_alloc(memory, addresses, 8ull * lines->count, 8ull * LINE_LIMIT, &bytes));
	lines->addresses = bytes;
	lines->end += line_word(lines, lines->first, lines->instruction);
	return NULL;
}

/* The last one of the function whose code begins at or before pc; count: none. */
static uint32_t find_line(const struct lines *lines, uint64_t pc, bool exact)
{
	uint32_t found = lines->count;
	for (uint32_t i = lines->first; i < lines->count; i++) {
		uint64_t start = load_u64((const uint8_t *)&lines->addresses[i], false);
		if (line_word(lines, i, lines->instruction) >= lines->end)
			break;
		if (start && (start < pc || (exact && start == pc)))
			found = i;
	}
	return found;
}

static struct bpf_line line_of(const struct lines *lines, const struct object *btf, uint32_t index)
{
	uint32_t place = line_word(lines, index, lines->place);
	struct bpf_line line = { .line = place >> 10, .column = place & 0x3ff };
	read_string(btf, line_word(lines, index, lines->file), line.file, sizeof(line.file));
	read_string(btf, line_word(lines, index, lines->text), line.source, sizeof(line.source));
	size_t blanks = strspn(line.source, " \t");
	memmove(line.source, line.source + blanks, strlen(line.source + blanks) + 1);
	return line;
}

struct error *bpf_line_at(struct target *target, uint64_t address, uint64_t pc, bool exact,
			  struct bpf_line *ret)
{
	struct object aux, btf;
	struct lines lines = { .records = NULL };
	struct bpf_line line = { .line = 0 };
	TRY(read_aux(target, address, &aux));
	struct error *error = read_lines(&aux, &lines);
	uint32_t index = error || !lines.count ? lines.count : find_line(&lines, pc, exact);
	if (!error && index < lines.count) {
		error = object_follow(&aux, "btf", &btf);
		if (!error)
			line = line_of(&lines, &btf, index);
	}
	lines_deinit(&lines);
	if (!error)
		*ret = line;
	return error;
}

struct error *bpf_for_each_line(struct target *target, uint64_t address, bpf_line_visitor *visit,
				void *context)
{
	struct object aux, btf;
	struct lines lines = { .records = NULL };
	TRY(read_aux(target, address, &aux));
	struct error *error = read_lines(&aux, &lines);
	if (!error && lines.count)
		error = object_follow(&aux, "btf", &btf);
	for (uint32_t i = 0; !error && i < lines.count; i++) {
		struct bpf_line line = line_of(&lines, &btf, i);
		error = visit(context, load_u64((const uint8_t *)&lines.addresses[i], false),
			      &line);
		if (!error)
			error = interrupt_check();
	}
	lines_deinit(&lines);
	return error;
}

/* --- functions -------------------------------------------------------------------------------- */

/* The type id of the function in the program's BTF; 0: none. */
static struct error *function_type(const struct object *aux, uint32_t *ret)
{
	struct object info;
	uint64_t count, index, id, size;
	*ret = 0;
	TRY(object_u64(aux, "func_info_cnt", &count));
	TRY(object_u64(aux, "func_idx", &index));
	TRY(object_follow(aux, "func_info", &info));
	if (!info.address || index >= count || !type_size(info.type, &size))
		return NULL;
	info.address += index * size;
	TRY(object_u64(&info, "type_id", &id));
	*ret = (uint32_t)id;
	return NULL;
}

static void spell_function(const struct btf *btf, uint32_t id, struct bpf_function *function)
{
	struct type type = { btf, id };
	struct btf_type record;
	if (!type_get(type, &record) || record.kind != BTF_FUNC || !record.name)
		return;
	snprintf(function->name, sizeof(function->name), "%s", record.name);
	type_spell((struct type){ btf, record.type }, function->name, function->prototype,
		   sizeof(function->prototype));
}

/* Name and prototype by the program's own BTF, which stands alone. */
static struct error *read_function_type(const struct object *aux, struct bpf_function *function)
{
	struct object object;
	struct btf *btf;
	uint64_t data, size;
	uint32_t id;
	void *bytes;
	TRY(function_type(aux, &id));
	TRY(object_follow(aux, "btf", &object));
	if (!id || !object.address)
		return NULL;
	TRY(object_u64(&object, "data", &data));
	TRY(object_u64(&object, "data_size", &size));
	TRY(memory_read_alloc(aux->target->memory, data, size, PROGRAM_BTF_LIMIT, &bytes));
	struct error *error = btf_open(bytes, (size_t)size, NULL, "bpf", &btf);
	if (!error) {
		spell_function(btf, id, function);
		btf_close(btf);
	}
	free(bytes);
	return error;
}

static struct error *read_tag(const struct object *aux, struct bpf_function *function)
{
	struct object program;
	uint8_t tag[8];
	TRY(object_follow(aux, "prog", &program));
	if (!object_has(&program, "tag"))
		return NULL;
	struct object member;
	TRY(object_member(&program, "tag", &member));
	TRY(memory_read(aux->target->memory, member.address, tag, sizeof(tag)));
	for (size_t i = 0; i < sizeof(tag); i++)
		snprintf(function->tag + 2 * i, 3, "%02x", tag[i]);
	return NULL;
}

struct error *bpf_function_read(struct target *target, uint64_t address, struct bpf_function *ret)
{
	struct bpf_function function = { .aux = address };
	struct object aux;
	uint64_t id;
	TRY(read_aux(target, address, &aux));
	TRY(object_u64(&aux, "id", &id));
	function.id = (uint32_t)id;
	/* What follows is for people: without it there is still the program. */
	error_free(object_string(&aux, "name", function.name, sizeof(function.name)));
	error_free(read_tag(&aux, &function));
	error_free(read_function_type(&aux, &function));
	*ret = function;
	return NULL;
}
