// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/user_stack/cfi.h"

#include "base/array.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "debugger/user_stack/cfi_rules.h"
#include <inttypes.h>
#include <stdlib.h>

#define HEADER_SIZE   12 /* with a table as all linkers write it */
#define ENTRY_SIZE    8
#define TABLE_FORMAT  (POINTER_FROM_TABLE | 0x0b)
#define SECTION_MAX   ((uint64_t)64 << 20)
#define ENTRIES_MAX   ((size_t)2 << 20) /* that are listed: a browser has 600,000 */
#define LETTERS_MAX   16		/* of an augmentation: all that are known are fewer */
#define ENTRIES_STEP  4096		/* between looks for Ctrl-C */
#define RECORD_MAX    (1u << 16) /* bytes of an entry's instructions: real ones have hundreds */
#define VERSION_ONE   1
#define VERSION_THREE 3

struct record {
	uint8_t *data; /* owned */
	struct cfi_cursor cursor;
};

static struct error *is_none(const char *what, uint64_t address)
{
	return error_create(ERROR_FORMAT, "%s at 0x%" PRIx64 " is none that is known", what,
			    address);
}

/* --- the table of functions ------------------------------------------------------------------ */

static struct error *read_entry(const struct cfi_table *table, uint64_t number, uint64_t *ret_start,
				uint64_t *ret_record)
{
	uint8_t bytes[ENTRY_SIZE];
	TRY(memory_read(table->memory, table->address + HEADER_SIZE + number * ENTRY_SIZE, bytes,
			sizeof(bytes)));
	*ret_start = table->address + (uint64_t)(int32_t)load_u32(bytes, false);
	*ret_record = table->address + (uint64_t)(int32_t)load_u32(bytes + 4, false);
	return NULL;
}

static struct error *find_in_header(const struct cfi_table *table, uint64_t code, uint64_t *ret)
{
	uint8_t header[HEADER_SIZE];
	uint64_t start, record, low = 0;
	if (table->size < HEADER_SIZE)
		return NULL;
	TRY(memory_read(table->memory, table->address, header, sizeof(header)));
	/* Version, encodings of the address of .eh_frame, of the count, of the table. */
	if (header[0] != 1 || (header[1] & POINTER_FORMAT) != 0x0b || header[2] != 0x03 ||
	    header[3] != TABLE_FORMAT)
		return is_none(".eh_frame_hdr", table->address);
	uint64_t high = load_u32(header + 8, false);
	if (high > (table->size - HEADER_SIZE) / ENTRY_SIZE)
		return error_create(ERROR_FORMAT,
				    ".eh_frame_hdr at 0x%" PRIx64 " is shorter than its table",
				    table->address);
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;
		TRY(read_entry(table, middle, &start, &record));
		if (start <= code) {
			*ret = record;
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return NULL;
}

/* The last function that begins at `code` or before; *ret 0: there is none. */
static struct error *find_record(const struct cfi_table *table, uint64_t code, uint64_t *ret)
{
	*ret = 0;
	if (!table->entries)
		return find_in_header(table, code, ret);
	size_t behind = array_bound(table->count, i, table->entries[i].start <= code);
	if (behind)
		*ret = table->entries[behind - 1].record;
	return NULL;
}

/* --- entries --------------------------------------------------------------------------------- */

/* What stands behind the length of an entry. */
static struct error *read_record(struct memory *memory, uint64_t address, struct record *ret)
{
	uint32_t size;
	TRY(memory_read_u32(memory, address, &size));
	if (size < 4 || size > RECORD_MAX)
		return is_none("an entry of .eh_frame", address);
	ret->data = malloc(size);
	if (!ret->data)
		return error_no_memory();
	ret->cursor =
		(struct cfi_cursor){ .data = ret->data, .size = size, .address = address + 4 };
	return memory_read(memory, address + 4, ret->data, size);
}

/* The letters of an augmentation say what stands in it, in their order. */
static void read_augmentation(struct cfi_cursor *cursor, const char *letters,
			      struct cfi_common *common)
{
	uint64_t size = cursor_uleb(cursor);
	struct cfi_cursor inner = *cursor;
	cursor_skip(cursor, size);
	for (; *letters && !inner.is_bad; letters++) {
		uint8_t encoding;
		switch (*letters) {
		case 'R':
			common->encoding = cursor_u8(&inner);
			break;
		case 'L':
			cursor_u8(&inner);
			break;
		case 'P':
			encoding = cursor_u8(&inner) & POINTER_FORMAT;
			cursor_pointer(&inner, encoding, 0);
			break;
		case 'S':
			common->is_signal = true;
			break;
		default:
			return;
		}
	}
}

/* Takes the same time whatever is in it: each of a million functions may name another one. */
static struct error *parse_common(struct cfi_cursor *cursor, struct cfi_common *ret)
{
	*ret = (struct cfi_common){ .code_factor = 1 };
	uint64_t id = cursor_unsigned(cursor, 4);
	uint8_t version = cursor_u8(cursor);
	const char *letters = (const char *)cursor->data + cursor->at;
	size_t left = cursor->size - cursor->at;
	if (id || (version != VERSION_ONE && version != VERSION_THREE) ||
	    !memchr(letters, 0, left < LETTERS_MAX ? left : LETTERS_MAX))
		return is_none("a common entry of .eh_frame", cursor->address);
	cursor_skip(cursor, strlen(letters) + 1);
	ret->code_factor = cursor_uleb(cursor);
	ret->data_factor = cursor_sleb(cursor);
	ret->return_register = version == VERSION_ONE ? cursor_u8(cursor) : cursor_uleb(cursor);
	ret->has_augmentation = *letters == 'z';
	if (ret->has_augmentation)
		read_augmentation(cursor, letters + 1, ret);
	ret->instructions = *cursor;
	if (cursor->is_bad || (*letters && !ret->has_augmentation) ||
	    ret->return_register != CFI_RIP)
		return is_none("a common entry of .eh_frame", cursor->address);
	return NULL;
}

/* The row for `code` in the function's entry; *ret_found: it has the code. */
static struct error *find_row(const struct cfi_table *table, struct record *record, uint64_t code,
			      struct record *common_record, struct cfi_common *common,
			      struct cfi_row *row, bool *ret_found)
{
	struct cfi_cursor *cursor = &record->cursor;
	uint64_t back = cursor_unsigned(cursor, 4);
	if (!back)
		return is_none("an entry of .eh_frame", cursor->address);
	TRY(read_record(table->memory, cursor->address - back, common_record));
	TRY(parse_common(&common_record->cursor, common));
	uint64_t start = cursor_pointer(cursor, common->encoding, table->address);
	uint64_t size = cursor_pointer(cursor, common->encoding & POINTER_FORMAT, 0);
	if (common->has_augmentation)
		cursor_skip(cursor, cursor_uleb(cursor));
	if (cursor->is_bad)
		return is_none("an entry of .eh_frame", cursor->address);
	*ret_found = code - start < size;
	return *ret_found ? cfi_rules_find(common, *cursor, start, code, row) : NULL;
}

/* --- a list of all --------------------------------------------------------------------------- */

static int compare_entries(const void *a, const void *b)
{
	const struct cfi_entry *left = a, *right = b;
	return left->start < right->start ? -1 : left->start > right->start;
}

/* `cursor` is behind the length of an entry that is no common one: *ret_start is its function. */
static bool read_start(const struct cfi_cursor *section, struct cfi_cursor cursor,
		       uint64_t *ret_start)
{
	struct cfi_common common;
	size_t here = cursor.at;
	uint64_t back = cursor_unsigned(&cursor, 4);
	if (back > here)
		return false;
	struct cfi_cursor outer = *section;
	outer.at = here - (size_t)back;
	outer.is_bad = false;
	uint64_t size = cursor_unsigned(&outer, 4);
	/* From there on it is a record of its own. */
	struct cfi_cursor record = { .data = section->data + outer.at,
				     .address = section->address + outer.at };
	if (outer.is_bad || size > section->size - outer.at)
		return false;
	record.size = (size_t)size;
	struct error *error = parse_common(&record, &common);
	error_free(error);
	*ret_start = cursor_pointer(&cursor, error ? 0xff : common.encoding, 0);
	return !error && !cursor.is_bad;
}

static struct error *list_entries(struct cfi_table *table, struct cfi_cursor *section)
{
	for (size_t seen = 0;;) {
		size_t at = section->at;
		uint64_t size = cursor_unsigned(section, 4);
		/* A length of 0 ends the section. */
		if (section->is_bad || !size || size > section->size - section->at)
			return NULL;
		struct cfi_cursor record = *section;
		record.size = section->at + (size_t)size;
		cursor_skip(section, size);
		struct cfi_cursor id = record;
		struct cfi_entry entry = { .record = section->address + at };
		if (!(++seen % ENTRIES_STEP))
			TRY(interrupt_check());
		if (!cursor_unsigned(&id, 4) || !read_start(section, record, &entry.start))
			continue;
		if (table->count == ENTRIES_MAX)
			return error_create(ERROR_FORMAT,
					    ".eh_frame at 0x%" PRIx64 " has more than %zu entries",
					    section->address, ENTRIES_MAX);
		if (!array_reserve(&table->entries, &table->capacity, table->count + 1))
			return error_no_memory();
		table->entries[table->count++] = entry;
	}
}

struct error *cfi_table_list(struct cfi_table *table, uint64_t address, uint64_t size)
{
	if (size > SECTION_MAX)
		return is_none(".eh_frame", address);
	uint8_t *data = malloc(size ? size : 1);
	if (!data)
		return error_no_memory();
	struct error *error = memory_read(table->memory, address, data, size);
	struct cfi_cursor section = { .data = data, .size = size, .address = address };
	if (!error)
		error = list_entries(table, &section);
	free(data);
	if (table->count)
		array_sort(table->entries, table->count, sizeof(*table->entries), compare_entries);
	return error;
}

void cfi_table_deinit(struct cfi_table *table)
{
	free(table->entries);
}

/* --- a step ---------------------------------------------------------------------------------- */

static struct error *step(const struct cfi_table *table, uint64_t code, struct record *record,
			  struct record *common_record, const struct cfi_registers *registers,
			  struct cfi_registers *ret, enum cfi_result *ret_result)
{
	struct cfi_common common;
	struct cfi_row row;
	uint64_t address;
	bool is_found = false, is_outermost = false;
	*ret_result = CFI_NOTHING;
	TRY(find_record(table, code, &address));
	if (!address)
		return NULL;
	TRY(read_record(table->memory, address, record));
	TRY(find_row(table, record, code, common_record, &common, &row, &is_found));
	if (!is_found)
		return NULL;
	TRY(cfi_rules_apply(table->memory, &common, &row, registers, ret, &is_outermost));
	*ret_result = is_outermost ? CFI_OUTERMOST : common.is_signal ? CFI_SIGNAL_STEP : CFI_STEP;
	return NULL;
}

struct error *cfi_step(const struct cfi_table *table, uint64_t code,
		       const struct cfi_registers *registers, struct cfi_registers *ret,
		       enum cfi_result *ret_result)
{
	struct record record = { 0 }, common = { 0 };
	struct error *error = step(table, code, &record, &common, registers, ret, ret_result);
	free(record.data);
	free(common.data);
	return error;
}
