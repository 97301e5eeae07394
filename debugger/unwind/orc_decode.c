// SPDX-License-Identifier: GPL-3.0-or-later
/* ORC records and searching one table; nothing here knows a target. */
#include "base/array.h"
#include "base/bytes.h"
#include "debugger/target/object.h"
#include "debugger/unwind/orc.h"

/* When so few entries are left, they are read at once. */
#define SEARCH_PIECE 128

/* --- one record -------------------------------------------------------------------- */

static enum orc_base decode_base(enum orc_version version, unsigned int number)
{
	static const uint8_t before_v4[] = {
		ORC_BASE_UNDEFINED,   ORC_BASE_PREV_SP,	    ORC_BASE_DX,  ORC_BASE_DI,
		ORC_BASE_BP,	      ORC_BASE_SP,	    ORC_BASE_R10, ORC_BASE_R13,
		ORC_BASE_BP_INDIRECT, ORC_BASE_SP_INDIRECT,
	};
	static const uint8_t since_v4[] = {
		ORC_BASE_UNDEFINED, ORC_BASE_AX,	  ORC_BASE_DX,		ORC_BASE_SP,
		ORC_BASE_BP,	    ORC_BASE_DI,	  ORC_BASE_R10,		ORC_BASE_R13,
		ORC_BASE_PREV_SP,   ORC_BASE_SP_INDIRECT, ORC_BASE_BP_INDIRECT,
	};
	if (version == ORC_V4)
		return number < ARRAY_COUNT(since_v4) ? since_v4[number] : ORC_BASE_INVALID;
	return number < ARRAY_COUNT(before_v4) ? before_v4[number] : ORC_BASE_INVALID;
}

/* Up to v2 there are three types; "empty" is a CFA without base, `end` says which kind. */
static enum orc_type decode_old_type(unsigned int type, enum orc_base sp_base, bool end)
{
	static const uint8_t types[] = { ORC_TYPE_CALL, ORC_TYPE_REGS, ORC_TYPE_REGS_PARTIAL,
					 ORC_TYPE_INVALID };
	if (sp_base == ORC_BASE_UNDEFINED)
		return end ? ORC_TYPE_END_OF_STACK : ORC_TYPE_UNDEFINED;
	return types[type];
}

static enum orc_type decode_new_type(unsigned int type)
{
	static const uint8_t types[] = { ORC_TYPE_UNDEFINED, ORC_TYPE_END_OF_STACK, ORC_TYPE_CALL,
					 ORC_TYPE_REGS, ORC_TYPE_REGS_PARTIAL };
	return type < ARRAY_COUNT(types) ? types[type] : ORC_TYPE_INVALID;
}

void orc_decode(enum orc_version version, const uint8_t raw[ORC_ENTRY_SIZE], struct orc_entry *ret)
{
	uint16_t word = load_u16(raw + 4, false);
	ret->sp_offset = (int16_t)load_u16(raw, false);
	ret->bp_offset = (int16_t)load_u16(raw + 2, false);
	ret->sp_base = decode_base(version, word & 0xf);
	ret->bp_base = decode_base(version, word >> 4 & 0xf);
	if (version == ORC_V3 || version == ORC_V4) {
		ret->type = decode_new_type(word >> 8 & 7);
		ret->signal = word >> 11 & 1;
		return;
	}
	bool end = version == ORC_V2 ? word >> 11 & 1 : word >> 10 & 1;
	ret->type = decode_old_type(word >> 8 & 3, ret->sp_base, end);
	ret->signal = version == ORC_V2
			      ? word >> 10 & 1
			      : ret->type == ORC_TYPE_REGS || ret->type == ORC_TYPE_REGS_PARTIAL;
}

/* --- one table ----------------------------------------------------------------------- */

static uint64_t entry_address(const struct orc_table *table, uint32_t index, const uint8_t raw[4])
{
	int32_t relative = (int32_t)load_u32(raw, false);
	return table->ips + 4 * (uint64_t)index + (uint64_t)(int64_t)relative;
}

/* Narrows [*first, *last] to a piece, keeping address(*first) <= pc < address(*last + 1). */
static struct error *narrow(const struct orc_table *table, uint64_t pc, uint32_t *first,
			    uint32_t *last)
{
	while (*last - *first >= SEARCH_PIECE) {
		uint32_t middle = *first + (*last - *first) / 2;
		uint8_t raw[4];
		TRY(memory_read(table->memory, table->ips + 4 * (uint64_t)middle, raw, 4));
		if (entry_address(table, middle, raw) <= pc)
			*first = middle;
		else
			*last = middle - 1;
	}
	return NULL;
}

struct error *orc_table_find(const struct orc_table *table, uint32_t first, uint32_t last,
			     uint64_t pc, uint8_t ret_raw[ORC_ENTRY_SIZE], bool *ret_found)
{
	uint8_t ips[4 * SEARCH_PIECE];
	*ret_found = false;
	if (!table->count || first > last)
		return NULL;
	if (last >= table->count)
		last = table->count - 1;
	TRY(narrow(table, pc, &first, &last));
	uint32_t count = last - first + 1;
	TRY(memory_read(table->memory, table->ips + 4 * (uint64_t)first, ips, 4 * (size_t)count));
	/* Of several entries for one address, the last one is valid. */
	while (count && entry_address(table, first + count - 1, ips + 4 * (count - 1)) > pc)
		count--;
	if (!count)
		return NULL;
	uint64_t entry = table->entries + ORC_ENTRY_SIZE * (uint64_t)(first + count - 1);
	TRY(memory_read(table->memory, entry, ret_raw, ORC_ENTRY_SIZE));
	*ret_found = true;
	return NULL;
}

struct error *orc_guess_version(const struct orc_table *table, enum orc_version *ret)
{
	/* Nearly every record is a CALL from sp: 0x5 in v1 and v2, 0x205 in v3, 0x203 in v4. */
	enum { PIECES = 64, PIECE = 16 };
	uint32_t v1 = 0, v3 = 0, v4 = 0, seen = 0;
	for (uint32_t piece = 0; piece < PIECES; piece++) {
		uint8_t raw[PIECE * ORC_ENTRY_SIZE];
		uint64_t index = (uint64_t)table->count * piece / PIECES;
		if (index + PIECE > table->count)
			break;
		TRY(memory_read(table->memory, table->entries + index * ORC_ENTRY_SIZE, raw,
				sizeof(raw)));
		for (uint32_t i = 0; i < PIECE; i++, seen++) {
			uint16_t word = load_u16(raw + i * ORC_ENTRY_SIZE + 4, false) & 0xf0f;
			v1 += word == 0x005;
			v3 += word == 0x205;
			v4 += word == 0x203;
		}
	}
	if (seen && v1 > seen / 2)
		*ret = ORC_V1;
	else if (seen && v3 > seen / 2)
		*ret = ORC_V3;
	else if (seen && v4 > seen / 2)
		*ret = ORC_V4;
	else
		return error_create(ERROR_FORMAT, "no known ORC encoding fits the records");
	return NULL;
}
