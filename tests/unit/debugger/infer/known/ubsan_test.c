// SPDX-License-Identifier: GPL-3.0-or-later
/* What a sanitizer left behind a variable is no part of it, in a made-up machine. */
#include "debugger/infer/known/ubsan.h"

#include "base/array.h"
#include "debugger/infer/known/subjects.h"
#include "tests/unit/infer_machine.h"
#include <stddef.h>

#define AT(member) (DATA + offsetof(struct contents, member))

/* As lib/ubsan.h has them. */
struct record {
	uint64_t file;
	uint32_t line, column;
	uint64_t types[2];
};

struct named_type {
	uint16_t kind, details;
	char name[12];
};

struct contents {
	uint64_t list[2];
	struct record record;
	struct named_type type, index;
	uint64_t words[4];
	uint64_t end;
};

static struct contents contents;
static struct machine machine;

static void begin(bool is_sanitized)
{
	static const struct test_symbol symbols[] = {
		{ TEXT, 'T', "_text" },	      { TEXT + 0x600, 'T', "_etext" },
		{ DATA, 'D', "_sdata" },      { AT(list), 'd', "list" },
		{ AT(words), 'd', "words" },  { AT(end), 'D', "_edata" },
		{ AT(end) + 8, 'D', "_end" },
	};
	contents = (struct contents){
		.record = { TEXT + 0x700, 238, 31, { AT(type), AT(index) } },
		.type = { 0, 12, "'long int'" },
		.index = { UINT16_MAX, 0, "'u8 [4]'" },
		.words = { 1, 2, 3, 4 },
	};
	machine_init(&machine);
	machine_add_part(&machine, DATA, &contents, sizeof(contents));
	if (is_sanitized)
		btf__add_struct(machine.source, "type_descriptor", 4);
	machine_set_symbols(&machine, symbols, ARRAY_COUNT(symbols));
	machine_set_types(&machine);
}

static uint64_t room_of(const char *name)
{
	struct symbol symbol;
	uint64_t cursor = 0;
	struct subject subject;
	CHECK(symtab_find(machine.target.symbols, NULL, name, &cursor, &symbol));
	CHECK(subject_of_symbol(&machine.target, &symbol, &subject));
	return subject.room;
}

static void test_rooms(void)
{
	begin(true);
	CHECK_U64(room_of("list"), sizeof(contents.list));
	CHECK_U64(room_of("words"), sizeof(contents.words));
	machine_deinit(&machine);
	begin(false);
	CHECK_U64(room_of("list"), offsetof(struct contents, words));
	machine_deinit(&machine);
}

/* It has reported what it found there, and set the highest bit of the line. */
static void test_reported(void)
{
	begin(true);
	contents.record.line |= (uint32_t)1 << 31;
	CHECK_U64(room_of("list"), sizeof(contents.list));
	machine_deinit(&machine);
}

/* A type alone; and neither, where a number is none that a record has there. */
static void test_kinds(void)
{
	begin(true);
	contents.record.column = 0;
	CHECK_U64(room_of("list"), offsetof(struct contents, type));
	contents.type.name[0] = '"';
	CHECK_U64(room_of("list"), offsetof(struct contents, index));
	contents.index.kind = 7;
	CHECK_U64(room_of("list"), offsetof(struct contents, words));
	contents.record.column = 31;
	CHECK_U64(room_of("list"), offsetof(struct contents, words));
	machine_deinit(&machine);
}

/* What a variable begins with is its own, and the end of memory is one. */
static void test_bounds(void)
{
	begin(true);
	CHECK_U64(ubsan_start(&machine.target, AT(record), 100),
		  offsetof(struct contents, type) - offsetof(struct contents, record));
	CHECK_U64(ubsan_start(&machine.target, AT(words), 1 << 20), 1 << 20);
	CHECK_U64(ubsan_start(&machine.target, AT(list), 17), 17);
	CHECK_U64(ubsan_start(&machine.target, 16, 64), 64);
	machine_deinit(&machine);
}

int main(void)
{
	RUN(test_rooms);
	RUN(test_reported);
	RUN(test_kinds);
	RUN(test_bounds);
	return test_finish();
}
