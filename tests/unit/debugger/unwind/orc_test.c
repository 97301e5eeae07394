// SPDX-License-Identifier: GPL-3.0-or-later
/* ORC records of real kernels, every type and register, and tables, whole and damaged. */
#include "tests/unit/test.h"

#include "base/array.h"
#include "base/bytes.h"
#include "debugger/unwind/orc.h"

static struct orc_entry decode(enum orc_version version, const char *hexadecimal)
{
	uint8_t raw[ORC_ENTRY_SIZE];
	struct orc_entry entry;
	for (size_t i = 0; i < sizeof(raw); i++) {
		unsigned int byte;
		CHECK(sscanf(hexadecimal + 2 * i, "%2x", &byte) == 1);
		raw[i] = (uint8_t)byte;
	}
	orc_decode(version, raw, &entry);
	return entry;
}

#define CHECK_ENTRY(version, text, wanted_type, base, offset, bp, bp_at, is_signal)                \
	do {                                                                                       \
		struct orc_entry e = decode(version, text);                                        \
		CHECK_U64(e.type, wanted_type);                                                    \
		CHECK_U64(e.sp_base, base);                                                        \
		CHECK(e.sp_offset == (offset));                                                    \
		CHECK_U64(e.bp_base, bp);                                                          \
		CHECK(e.bp_offset == (bp_at));                                                     \
		CHECK(e.signal == (is_signal));                                                    \
	} while (0)

/* Records of Debian 5.10 and 6.1: do_syscall_64, asm_exc_page_fault, entry_SYSCALL_64. */
static void test_v1(void)
{
	CHECK_ENTRY(ORC_V1, "080000000500", ORC_TYPE_CALL, ORC_BASE_SP, 8, ORC_BASE_UNDEFINED, 0,
		    false);
	CHECK_ENTRY(ORC_V1, "1000f0ff1500", ORC_TYPE_CALL, ORC_BASE_SP, 16, ORC_BASE_PREV_SP, -16,
		    false);
	CHECK_ENTRY(ORC_V1, "1000f0ff1400", ORC_TYPE_CALL, ORC_BASE_BP, 16, ORC_BASE_PREV_SP, -16,
		    false);
	CHECK_ENTRY(ORC_V1, "080000000502", ORC_TYPE_REGS_PARTIAL, ORC_BASE_SP, 8,
		    ORC_BASE_UNDEFINED, 0, true);
	CHECK_ENTRY(ORC_V1, "000000000501", ORC_TYPE_REGS, ORC_BASE_SP, 0, ORC_BASE_UNDEFINED, 0,
		    true);
	CHECK_U64(decode(ORC_V1, "000000000004").type, ORC_TYPE_END_OF_STACK);
	CHECK_U64(decode(ORC_V1, "000000000000").type, ORC_TYPE_UNDEFINED);
	CHECK_U64(decode(ORC_V1, "080000000503").type, ORC_TYPE_INVALID);
}

/* 6.3: the signal bit has taken the place of `end`. */
static void test_v2(void)
{
	CHECK_ENTRY(ORC_V2, "080000000506", ORC_TYPE_REGS_PARTIAL, ORC_BASE_SP, 8,
		    ORC_BASE_UNDEFINED, 0, true);
	CHECK_ENTRY(ORC_V2, "080000000502", ORC_TYPE_REGS_PARTIAL, ORC_BASE_SP, 8,
		    ORC_BASE_UNDEFINED, 0, false);
	CHECK_U64(decode(ORC_V2, "000000000008").type, ORC_TYPE_END_OF_STACK);
	CHECK_U64(decode(ORC_V2, "000000000004").type, ORC_TYPE_UNDEFINED);
}

/* Debian 6.12. */
static void test_v3(void)
{
	CHECK_ENTRY(ORC_V3, "080000000502", ORC_TYPE_CALL, ORC_BASE_SP, 8, ORC_BASE_UNDEFINED, 0,
		    false);
	CHECK_ENTRY(ORC_V3, "1000f0ff1502", ORC_TYPE_CALL, ORC_BASE_SP, 16, ORC_BASE_PREV_SP, -16,
		    false);
	CHECK_ENTRY(ORC_V3, "1000f0ff1402", ORC_TYPE_CALL, ORC_BASE_BP, 16, ORC_BASE_PREV_SP, -16,
		    false);
	CHECK_ENTRY(ORC_V3, "08000000050c", ORC_TYPE_REGS_PARTIAL, ORC_BASE_SP, 8,
		    ORC_BASE_UNDEFINED, 0, true);
	CHECK_ENTRY(ORC_V3, "00000000050b", ORC_TYPE_REGS, ORC_BASE_SP, 0, ORC_BASE_UNDEFINED, 0,
		    true);
	CHECK_ENTRY(ORC_V3, "080000000504", ORC_TYPE_REGS_PARTIAL, ORC_BASE_SP, 8,
		    ORC_BASE_UNDEFINED, 0, false);
	CHECK_U64(decode(ORC_V3, "000000000001").type, ORC_TYPE_END_OF_STACK);
	CHECK_U64(decode(ORC_V3, "000000000000").type, ORC_TYPE_UNDEFINED);
	CHECK_U64(decode(ORC_V3, "080000000505").type, ORC_TYPE_INVALID);
	CHECK_U64(decode(ORC_V3, "080000000507").type, ORC_TYPE_INVALID);
}

/* Debian 7.2 and 7.3: the same rules with other register numbers. */
static void test_v4(void)
{
	CHECK_ENTRY(ORC_V4, "080000000302", ORC_TYPE_CALL, ORC_BASE_SP, 8, ORC_BASE_UNDEFINED, 0,
		    false);
	CHECK_ENTRY(ORC_V4, "1000f0ff8302", ORC_TYPE_CALL, ORC_BASE_SP, 16, ORC_BASE_PREV_SP, -16,
		    false);
	CHECK_ENTRY(ORC_V4, "1000f0ff8402", ORC_TYPE_CALL, ORC_BASE_BP, 16, ORC_BASE_PREV_SP, -16,
		    false);
	CHECK_ENTRY(ORC_V4, "08000000030c", ORC_TYPE_REGS_PARTIAL, ORC_BASE_SP, 8,
		    ORC_BASE_UNDEFINED, 0, true);
	CHECK_ENTRY(ORC_V4, "00000000030b", ORC_TYPE_REGS, ORC_BASE_SP, 0, ORC_BASE_UNDEFINED, 0,
		    true);
	CHECK_U64(decode(ORC_V4, "000000000001").type, ORC_TYPE_END_OF_STACK);
}

/* Every register number of every version, by name of the table in KERNEL-FORMATS 5.2. */
static void test_registers(void)
{
	static const enum orc_base old[16] = {
		ORC_BASE_UNDEFINED,   ORC_BASE_PREV_SP,	    ORC_BASE_DX,      ORC_BASE_DI,
		ORC_BASE_BP,	      ORC_BASE_SP,	    ORC_BASE_R10,     ORC_BASE_R13,
		ORC_BASE_BP_INDIRECT, ORC_BASE_SP_INDIRECT, ORC_BASE_INVALID, ORC_BASE_INVALID,
		ORC_BASE_INVALID,     ORC_BASE_INVALID,	    ORC_BASE_INVALID, ORC_BASE_INVALID,
	};
	static const enum orc_base new[16] = {
		ORC_BASE_UNDEFINED, ORC_BASE_AX,	  ORC_BASE_DX,		ORC_BASE_SP,
		ORC_BASE_BP,	    ORC_BASE_DI,	  ORC_BASE_R10,		ORC_BASE_R13,
		ORC_BASE_PREV_SP,   ORC_BASE_SP_INDIRECT, ORC_BASE_BP_INDIRECT, ORC_BASE_INVALID,
		ORC_BASE_INVALID,   ORC_BASE_INVALID,	  ORC_BASE_INVALID,	ORC_BASE_INVALID,
	};
	for (uint8_t number = 0; number < 16; number++) {
		uint8_t raw[ORC_ENTRY_SIZE] = { 0, 0, 0, 0, (uint8_t)(number << 4 | number), 2 };
		struct orc_entry entry;
		orc_decode(ORC_V3, raw, &entry);
		CHECK_U64(entry.sp_base, old[number]);
		CHECK_U64(entry.bp_base, old[number]);
		orc_decode(ORC_V4, raw, &entry);
		CHECK_U64(entry.sp_base, new[number]);
		CHECK_U64(entry.bp_base, new[number]);
	}
}

/* --- tables ----------------------------------------------------------------------------- */

#define COUNT 5000
#define BASE  0xffffffff82000000u
#define TEXT  0xffffffff81000000u

struct fixture {
	uint8_t data[COUNT * (4 + ORC_ENTRY_SIZE)];
	struct memory_array memory;
	struct orc_table table;
};

static void store(uint8_t *to, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		to[i] = (uint8_t)(value >> 8 * i);
}

/* Entry i holds from TEXT + 16 i on; every 100th address comes twice. The record says i. */
static uint64_t address_of(uint32_t i)
{
	return TEXT + 16 * (uint64_t)(i % 100 == 1 ? i - 1 : i);
}

static void build(struct fixture *fixture)
{
	for (uint32_t i = 0; i < COUNT; i++) {
		store(fixture->data + 4 * i, address_of(i) - (BASE + 4 * (uint64_t)i), 4);
		store(fixture->data + 4 * COUNT + ORC_ENTRY_SIZE * i, i, ORC_ENTRY_SIZE);
	}
	memory_array_init(&fixture->memory, BASE, fixture->data, sizeof(fixture->data));
	fixture->table = (struct orc_table){ .memory = &fixture->memory.memory,
					     .ips = BASE,
					     .entries = BASE + 4 * COUNT,
					     .count = COUNT };
}

static uint32_t find(const struct orc_table *table, uint64_t pc)
{
	uint8_t raw[ORC_ENTRY_SIZE];
	bool found = false;
	CHECK_OK(orc_table_find(table, 0, table->count - 1, pc, raw, &found));
	return found ? load_u32(raw, false) : UINT32_MAX;
}

static void test_search(void)
{
	static struct fixture fixture;
	build(&fixture);
	CHECK_U64(find(&fixture.table, TEXT - 1), UINT32_MAX);
	CHECK_U64(find(&fixture.table, 0), UINT32_MAX);
	CHECK_U64(find(&fixture.table, UINT64_MAX), COUNT - 1);
	for (uint64_t pc = TEXT; pc < TEXT + 16 * COUNT; pc += 5) {
		/* The plain way. */
		uint32_t wanted = UINT32_MAX;
		uint32_t near = (uint32_t)((pc - TEXT) / 16);
		for (uint32_t i = near < 2 ? 0 : near - 2; i < COUNT && i <= near + 2; i++)
			if (address_of(i) <= pc)
				wanted = i;
		CHECK_U64(find(&fixture.table, pc), wanted);
	}
	struct orc_table one = fixture.table;
	one.count = 1;
	CHECK_U64(find(&one, TEXT + 100), UINT32_MAX - find(&one, TEXT - 1));
}

/* A piece of the table, as orc_lookup names it; bounds past the end are cut. */
static void test_piece(void)
{
	static struct fixture fixture;
	uint8_t raw[ORC_ENTRY_SIZE];
	bool found;
	build(&fixture);
	CHECK_OK(orc_table_find(&fixture.table, 40, 60, TEXT + 50 * 16, raw, &found));
	CHECK(found);
	CHECK_U64(load_u32(raw, false), 50);
	CHECK_OK(orc_table_find(&fixture.table, 40, 60, TEXT + 39 * 16, raw, &found));
	CHECK(!found);
	CHECK_OK(orc_table_find(&fixture.table, COUNT - 3, COUNT + 10, UINT64_MAX, raw, &found));
	CHECK(found);
	CHECK_OK(orc_table_find(&fixture.table, 60, 40, TEXT + 50 * 16, raw, &found));
	CHECK(!found);
}

/* Whatever the bytes are, a search ends with a record, nothing, or an error. */
static void test_damaged(void)
{
	static struct fixture fixture;
	uint8_t raw[ORC_ENTRY_SIZE];
	bool found;
	build(&fixture);
	srand(1);
	for (int round = 0; round < 2000; round++) {
		for (int i = 0; i < 50; i++)
			fixture.data[(unsigned int)rand() % (4 * COUNT)] = (uint8_t)rand();
		uint64_t pc = TEXT + (unsigned int)rand() % (17 * COUNT);
		CHECK_OK(orc_table_find(&fixture.table, 0, COUNT - 1, pc, raw, &found));
	}
	fixture.memory.size = 100;
	CHECK_FAILS(orc_table_find(&fixture.table, 0, COUNT - 1, TEXT, raw, &found), "no memory");
	for (unsigned int word = 0; word < 0x10000; word++) {
		struct orc_entry entry;
		uint8_t record[ORC_ENTRY_SIZE] = {
			1, 2, 3, 4, (uint8_t)word, (uint8_t)(word >> 8)
		};
		for (int version = ORC_V1; version <= ORC_V4; version++) {
			orc_decode((enum orc_version)version, record, &entry);
			CHECK(entry.type <= ORC_TYPE_INVALID && entry.sp_base <= ORC_BASE_INVALID);
		}
	}
}

static void test_guess(void)
{
	static struct fixture fixture;
	static const struct {
		uint16_t word;
		enum orc_version version;
	} kinds[] = { { 0x0005, ORC_V1 }, { 0x0205, ORC_V3 }, { 0x0203, ORC_V4 } };
	enum orc_version version;
	build(&fixture);
	for (size_t kind = 0; kind < ARRAY_COUNT(kinds); kind++) {
		for (uint32_t i = 0; i < COUNT; i++)
			store(fixture.data + 4 * COUNT + ORC_ENTRY_SIZE * i + 4,
			      i % 4 ? kinds[kind].word : 0x1414, 2);
		version = ORC_UNKNOWN;
		CHECK_OK(orc_guess_version(&fixture.table, &version));
		CHECK_U64(version, kinds[kind].version);
	}
	memset(fixture.data, 0xff, sizeof(fixture.data));
	CHECK_FAILS(orc_guess_version(&fixture.table, &version), "no known ORC encoding");
}

int main(void)
{
	RUN(test_v1);
	RUN(test_v2);
	RUN(test_v3);
	RUN(test_v4);
	RUN(test_registers);
	RUN(test_search);
	RUN(test_piece);
	RUN(test_damaged);
	RUN(test_guess);
	return test_finish();
}
