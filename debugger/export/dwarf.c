// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/export/dwarf.h"

#include "base/array.h"
#include "debugger/export/dwarf_codes.h"
#include <stdlib.h>

/* The attributes behind the type, in pairs: what, and in which form. */
struct shape {
	uint8_t tag;
	bool has_children, may_have_type;
	uint8_t attributes[16]; /* ends with 0 */
};

#define NAME	DW_AT_name, DW_FORM_strp
#define SIZE	DW_AT_byte_size, DW_FORM_udata
#define BYTES	DW_AT_byte_size, DW_FORM_data1
#define FLAG(x) DW_AT_##x, DW_FORM_flag_present
#define UNIT	NAME, DW_AT_producer, DW_FORM_strp, DW_AT_language, DW_FORM_data1
#define RANGE	DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_data4
#define LINES	DW_AT_comp_dir, DW_FORM_strp, DW_AT_stmt_list, DW_FORM_sec_offset
#define OFFSET	DW_AT_data_member_location, DW_FORM_udata
#define BITS	DW_AT_bit_size, DW_FORM_udata, DW_AT_data_bit_offset, DW_FORM_udata
#define PLACE	DW_AT_location, DW_FORM_exprloc

static const struct shape shapes[DWARF_ENTRY_COUNT] = {
	[DWARF_UNIT] = { DW_TAG_compile_unit, true, false, { UNIT } },
	[DWARF_CODE_UNIT] = { DW_TAG_compile_unit, true, false, { UNIT, RANGE } },
	[DWARF_LINES_UNIT] = { DW_TAG_compile_unit, true, false, { UNIT, RANGE, LINES } },
	[DWARF_BASE_TYPE] = { DW_TAG_base_type,
			      false,
			      false,
			      { NAME, BYTES, DW_AT_encoding, DW_FORM_data1 } },
	[DWARF_UNSPECIFIED] = { DW_TAG_unspecified_type, false, false, { NAME } },
	[DWARF_POINTER] = { DW_TAG_pointer_type, false, true, { BYTES } },
	[DWARF_ARRAY] = { DW_TAG_array_type, true, true, { 0 } },
	[DWARF_SUBRANGE] = { DW_TAG_subrange_type, false, false, { DW_AT_count, DW_FORM_udata } },
	[DWARF_OPEN_SUBRANGE] = { DW_TAG_subrange_type, false, false, { 0 } },
	[DWARF_STRUCT] = { DW_TAG_structure_type, true, false, { NAME, SIZE } },
	[DWARF_NO_STRUCT] = { DW_TAG_structure_type, true, false, { SIZE } },
	[DWARF_UNION] = { DW_TAG_union_type, true, false, { NAME, SIZE } },
	[DWARF_NO_UNION] = { DW_TAG_union_type, true, false, { SIZE } },
	[DWARF_FWD_STRUCT] = { DW_TAG_structure_type, false, false, { NAME, FLAG(declaration) } },
	[DWARF_FWD_UNION] = { DW_TAG_union_type, false, false, { NAME, FLAG(declaration) } },
	[DWARF_MEMBER] = { DW_TAG_member, false, true, { NAME, OFFSET } },
	[DWARF_NO_MEMBER] = { DW_TAG_member, false, true, { OFFSET } },
	[DWARF_BITS] = { DW_TAG_member, false, true, { NAME, BITS } },
	[DWARF_NO_BITS] = { DW_TAG_member, false, true, { BITS } },
	[DWARF_ENUM] = { DW_TAG_enumeration_type, true, false, { NAME, BYTES } },
	[DWARF_NO_ENUM] = { DW_TAG_enumeration_type, true, false, { BYTES } },
	[DWARF_FWD_ENUM] = { DW_TAG_enumeration_type,
			     false,
			     false,
			     { NAME, BYTES, FLAG(declaration) } },
	[DWARF_SIGNED] = { DW_TAG_enumerator,
			   false,
			   false,
			   { NAME, DW_AT_const_value, DW_FORM_sdata } },
	[DWARF_UNSIGNED] = { DW_TAG_enumerator,
			     false,
			     false,
			     { NAME, DW_AT_const_value, DW_FORM_udata } },
	[DWARF_TYPEDEF] = { DW_TAG_typedef, false, true, { NAME } },
	[DWARF_CONST] = { DW_TAG_const_type, false, true, { 0 } },
	[DWARF_VOLATILE] = { DW_TAG_volatile_type, false, true, { 0 } },
	[DWARF_RESTRICT] = { DW_TAG_restrict_type, false, true, { 0 } },
	[DWARF_PROTOTYPE] = { DW_TAG_subroutine_type, true, true, { FLAG(prototyped) } },
	[DWARF_PARAMETER] = { DW_TAG_formal_parameter, false, true, { NAME } },
	[DWARF_NO_PARAMETER] = { DW_TAG_formal_parameter, false, true, { 0 } },
	[DWARF_ELLIPSIS] = { DW_TAG_unspecified_parameters, false, false, { 0 } },
	[DWARF_FUNCTION] = { DW_TAG_subprogram,
			     true,
			     true,
			     { NAME, RANGE, FLAG(prototyped), FLAG(external) } },
	[DWARF_UNPROTOTYPED] = { DW_TAG_subprogram, false, false, { NAME, RANGE, FLAG(external) } },
	[DWARF_STATIC_FUNCTION] = { DW_TAG_subprogram,
				    true,
				    true,
				    { NAME, RANGE, FLAG(prototyped) } },
	[DWARF_VARIABLE] = { DW_TAG_variable, false, true, { NAME, PLACE, FLAG(external) } },
	[DWARF_STATIC_VARIABLE] = { DW_TAG_variable, false, true, { NAME, PLACE } },
	[DWARF_CONSTANT] = { DW_TAG_variable,
			     false,
			     true,
			     { NAME, DW_AT_const_value, DW_FORM_sdata } },
};

#define VERSION	     4
#define ADDRESS_SIZE 8

/* --- bytes --------------------------------------------------------------------------------- */

static void put_bytes(struct strbuf *buffer, uint64_t number, unsigned int size)
{
	char bytes[8];
	for (unsigned int i = 0; i < size; i++)
		bytes[i] = (char)(number >> (8 * i));
	strbuf_bytes(buffer, bytes, size);
}

static void patch_u32(struct strbuf *buffer, size_t at, uint64_t number)
{
	for (unsigned int i = 0; i < 4 && at + i < buffer->size; i++)
		buffer->data[at + i] = (char)(number >> (8 * i));
}

static void put_number(struct strbuf *buffer, uint64_t number)
{
	for (; number >= 0x80; number >>= 7)
		strbuf_char(buffer, (char)(number | 0x80));
	strbuf_char(buffer, (char)number);
}

static void put_signed(struct strbuf *buffer, int64_t number)
{
	for (; number < -0x40 || number >= 0x40; number >>= 7)
		strbuf_char(buffer, (char)(number | 0x80));
	strbuf_char(buffer, (char)(number & 0x7f));
}

/* Room in .debug_info; an entry that would not fit whole is all lost, and so is the file. */
static bool has_room(struct dwarf *dwarf)
{
	dwarf->is_full |= dwarf->info.size >= DWARF_INFO_MAX;
	return !dwarf->is_full;
}

void dwarf_byte(struct dwarf *dwarf, uint8_t byte)
{
	if (has_room(dwarf))
		strbuf_char(&dwarf->info, (char)byte);
}

void dwarf_number(struct dwarf *dwarf, uint64_t number)
{
	if (has_room(dwarf))
		put_number(&dwarf->info, number);
}

void dwarf_signed(struct dwarf *dwarf, int64_t number)
{
	if (has_room(dwarf))
		put_signed(&dwarf->info, number);
}

void dwarf_u32(struct dwarf *dwarf, uint32_t number)
{
	if (has_room(dwarf))
		put_bytes(&dwarf->info, number, 4);
}

static void keep_place(const struct dwarf *dwarf, struct strbuf *places,
		       const struct strbuf *section, uint64_t address)
{
	struct dwarf_place place = { section->size, address };
	if (dwarf->is_relocatable)
		strbuf_bytes(places, (const char *)&place, sizeof(place));
}

void dwarf_address(struct dwarf *dwarf, uint64_t address)
{
	if (!has_room(dwarf))
		return;
	keep_place(dwarf, &dwarf->info_places, &dwarf->info, address);
	put_bytes(&dwarf->info, address, ADDRESS_SIZE);
}

void dwarf_location(struct dwarf *dwarf, uint8_t operation, uint64_t address)
{
	dwarf_number(dwarf, 1 + ADDRESS_SIZE);
	dwarf_byte(dwarf, operation);
	dwarf_address(dwarf, address);
}

/* --- names --------------------------------------------------------------------------------- */

size_t dwarf_clean_name(const char *name, char ret[DWARF_NAME_MAX + 1])
{
	size_t length = 0;
	for (; length < DWARF_NAME_MAX && name[length]; length++) {
		unsigned char byte = (unsigned char)name[length];
		ret[length] = byte < ' ' || byte >= 0x7f ? '?' : name[length];
	}
	ret[length] = 0;
	return length;
}

void dwarf_name(struct dwarf *dwarf, const char *name)
{
	char clean[DWARF_NAME_MAX + 1];
	size_t length = dwarf_clean_name(name, clean);
	uint32_t hash = hash_bytes(clean, length);
	size_t position = hash_index_first(&dwarf->names, hash);
	for (uint32_t at; (at = hash_index_next(&dwarf->names, hash, &position)) != HASH_NONE;)
		if (!strcmp(dwarf->strings.data + at, clean)) {
			dwarf_u32(dwarf, at);
			return;
		}
	uint32_t offset = (uint32_t)dwarf->strings.size;
	dwarf->is_full |= offset >= DWARF_STRINGS_MAX;
	if (dwarf->is_full)
		return;
	strbuf_bytes(&dwarf->strings, clean, length + 1);
	dwarf->failed |= dwarf->strings.failed || !hash_index_add(&dwarf->names, hash, offset);
	dwarf_u32(dwarf, offset);
}

/* --- entries ------------------------------------------------------------------------------- */

/*
 * Each entry that may have a type thrice: the type is nowhere, in its unit, in another one. Codes
 * follow upon another from 1 on, for drgn takes no others.
 */
static void number_codes(struct dwarf *dwarf)
{
	uint8_t code = 1;
	for (unsigned int entry = 0; entry < DWARF_ENTRY_COUNT; entry++)
		for (unsigned int where = DWARF_VOID; where <= DWARF_ELSEWHERE; where++)
			if (!where || shapes[entry].may_have_type)
				dwarf->codes[entry][where] = code++;
}

void dwarf_init(struct dwarf *dwarf, const char *producer)
{
	*dwarf = (struct dwarf){ .producer = producer };
	number_codes(dwarf);
	dwarf->failed = !hash_index_init(&dwarf->names, 1 << 10);
}

void dwarf_deinit(struct dwarf *dwarf)
{
	strbuf_deinit(&dwarf->info);
	strbuf_deinit(&dwarf->strings);
	strbuf_deinit(&dwarf->ranges);
	strbuf_deinit(&dwarf->lines);
	strbuf_deinit(&dwarf->line_places);
	strbuf_deinit(&dwarf->info_places);
	strbuf_deinit(&dwarf->range_places);
	hash_index_deinit(&dwarf->names);
}

static void put_abbreviation(struct strbuf *buffer, enum dwarf_entry entry, enum dwarf_where where,
			     uint8_t code)
{
	static const uint8_t forms[] = {
		[DWARF_HERE] = DW_FORM_ref4, [DWARF_ELSEWHERE] = DW_FORM_ref_addr
	};
	const struct shape *shape = &shapes[entry];
	put_number(buffer, code);
	put_number(buffer, shape->tag);
	strbuf_char(buffer, shape->has_children);
	if (where != DWARF_VOID) {
		put_number(buffer, DW_AT_type);
		put_number(buffer, forms[where]);
	}
	for (size_t i = 0; i < ARRAY_COUNT(shape->attributes) && shape->attributes[i]; i++)
		put_number(buffer, shape->attributes[i]);
	strbuf_bytes(buffer, "\0", 2);
}

void dwarf_abbreviations(const struct dwarf *dwarf, struct strbuf *ret)
{
	for (unsigned int entry = 0; entry < DWARF_ENTRY_COUNT; entry++)
		for (unsigned int where = DWARF_VOID; where <= DWARF_ELSEWHERE; where++)
			if (dwarf->codes[entry][where])
				put_abbreviation(ret, (enum dwarf_entry)entry,
						 (enum dwarf_where)where,
						 dwarf->codes[entry][where]);
	strbuf_char(ret, 0);
}

/* A set of one range; its tuple is aligned to twice an address. */
static void put_range(struct dwarf *dwarf, uint64_t start, uint64_t size)
{
	put_bytes(&dwarf->ranges, 44, 4);
	put_bytes(&dwarf->ranges, 2, 2);
	put_bytes(&dwarf->ranges, dwarf->unit, 4);
	put_bytes(&dwarf->ranges, ADDRESS_SIZE, 1);
	put_bytes(&dwarf->ranges, 0, 5); /* size of a segment's number, and padding */
	keep_place(dwarf, &dwarf->range_places, &dwarf->ranges, start);
	put_bytes(&dwarf->ranges, start, ADDRESS_SIZE);
	put_bytes(&dwarf->ranges, size, ADDRESS_SIZE);
	put_bytes(&dwarf->ranges, 0, ADDRESS_SIZE);
	put_bytes(&dwarf->ranges, 0, ADDRESS_SIZE);
}

static void begin_unit(struct dwarf *dwarf, enum dwarf_entry entry, const char *name)
{
	dwarf->unit = dwarf->info.size;
	dwarf_u32(dwarf, 0); /* its length, known at its end */
	put_bytes(&dwarf->info, VERSION, 2);
	dwarf_u32(dwarf, 0);
	dwarf_byte(dwarf, ADDRESS_SIZE);
	dwarf_entry(dwarf, entry, (struct dwarf_type){ 0 });
	dwarf_name(dwarf, name);
	dwarf_name(dwarf, dwarf->producer);
	dwarf_byte(dwarf, DW_LANG_C99);
}

void dwarf_unit_begin(struct dwarf *dwarf, const char *name)
{
	begin_unit(dwarf, DWARF_UNIT, name);
}

void dwarf_code_unit_begin(struct dwarf *dwarf, const char *name, uint64_t start, uint32_t size)
{
	begin_unit(dwarf, DWARF_CODE_UNIT, name);
	dwarf_address(dwarf, start);
	dwarf_u32(dwarf, size);
	put_range(dwarf, start, size);
}

/* --- lines --------------------------------------------------------------------------------- */

/* The files that the lines name, in the order in which they do; `numbers` are theirs in the unit.
 */
static void put_files(struct dwarf *dwarf, const struct dwarf_lines *lines, uint32_t *numbers)
{
	uint32_t number = 0;
	for (size_t i = 0; i < lines->count; i++) {
		char clean[DWARF_NAME_MAX + 1];
		uint32_t file = lines->items[i].file;
		if (numbers[file])
			continue;
		numbers[file] = ++number;
		size_t length = dwarf_clean_name(lines->names[file], clean);
		strbuf_bytes(&dwarf->lines, clean, length + 1);
		/* Folder: that of the unit. Time and size: not known. */
		strbuf_bytes(&dwarf->lines, "\0\0", 3);
	}
	strbuf_char(&dwarf->lines, 0);
}

/* A sequence of its own, which ends behind the instruction. */
static void put_line(struct dwarf *dwarf, const struct dwarf_line *line, uint32_t file)
{
	struct strbuf *buffer = &dwarf->lines;
	const char set_address[] = { 0, 1 + ADDRESS_SIZE, DW_LNE_set_address };
	const char end[] = { 0, 1, DW_LNE_end_sequence };
	strbuf_bytes(buffer, set_address, sizeof(set_address));
	keep_place(dwarf, &dwarf->line_places, buffer, line->address);
	put_bytes(buffer, line->address, ADDRESS_SIZE);
	strbuf_char(buffer, DW_LNS_set_file);
	put_number(buffer, file);
	strbuf_char(buffer, DW_LNS_advance_line);
	put_signed(buffer, (int64_t)line->line - 1);
	strbuf_char(buffer, DW_LNS_copy);
	strbuf_char(buffer, DW_LNS_advance_pc);
	put_number(buffer, line->size);
	strbuf_bytes(buffer, end, sizeof(end));
}

/* The program of one unit; returns its offset. */
static uint32_t put_lines(struct dwarf *dwarf, const struct dwarf_lines *lines)
{
	/*
	 * Instructions of a byte, one operation each, that begin statements; opcodes that advance
	 * both address and line, which are not used; the operands of the 12 others.
	 */
	static const char machine[] = { 1, 1, 1, -5, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1 };
	struct strbuf *buffer = &dwarf->lines;
	size_t start = buffer->size;
	uint32_t *numbers = calloc(lines->name_count + 1, sizeof(*numbers));
	dwarf->failed |= !numbers;
	dwarf->is_full |= start >= DWARF_LINES_MAX;
	if (!numbers || dwarf->is_full) {
		free(numbers);
		return 0;
	}
	put_bytes(buffer, 0, 4);
	put_bytes(buffer, VERSION, 2);
	put_bytes(buffer, 0, 4);
	size_t header = buffer->size;
	strbuf_bytes(buffer, machine, sizeof(machine));
	strbuf_char(buffer, 0); /* no folders */
	put_files(dwarf, lines, numbers);
	patch_u32(buffer, header - 4, buffer->size - header);
	for (size_t i = 0; i < lines->count; i++)
		put_line(dwarf, &lines->items[i], numbers[lines->items[i].file]);
	patch_u32(buffer, start, buffer->size - start - 4);
	free(numbers);
	return (uint32_t)start;
}

void dwarf_lines_unit_begin(struct dwarf *dwarf, const char *name, uint64_t start, uint32_t size,
			    const struct dwarf_lines *lines)
{
	begin_unit(dwarf, DWARF_LINES_UNIT, name);
	dwarf_address(dwarf, start);
	dwarf_u32(dwarf, size);
	dwarf_name(dwarf, lines->folder);
	dwarf_u32(dwarf, put_lines(dwarf, lines));
	put_range(dwarf, start, size);
}

void dwarf_unit_end(struct dwarf *dwarf)
{
	dwarf_end_children(dwarf);
	patch_u32(&dwarf->info, dwarf->unit, dwarf->info.size - dwarf->unit - 4);
	dwarf->failed |= dwarf->info.failed || dwarf->ranges.failed || dwarf->lines.failed ||
			 dwarf->info_places.failed || dwarf->range_places.failed ||
			 dwarf->line_places.failed;
}

void dwarf_unit_drop(struct dwarf *dwarf)
{
	dwarf->info.size = dwarf->unit;
}

uint32_t dwarf_entry(struct dwarf *dwarf, enum dwarf_entry entry, struct dwarf_type type)
{
	uint32_t offset = (uint32_t)dwarf->info.size;
	dwarf_number(dwarf, dwarf->codes[entry][type.where]);
	if (type.where == DWARF_HERE)
		dwarf_u32(dwarf, type.offset - (uint32_t)dwarf->unit);
	else if (type.where == DWARF_ELSEWHERE)
		dwarf_u32(dwarf, type.offset);
	return offset;
}

void dwarf_end_children(struct dwarf *dwarf)
{
	dwarf_byte(dwarf, 0);
}
