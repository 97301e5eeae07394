// SPDX-License-Identifier: GPL-3.0-or-later
/* What the void * of all rows of a table points at, in a made-up machine. */
#include "debugger/infer/siblings.h"

#include "base/array.h"
#include "tests/unit/infer_pass.h"
#include <stddef.h>

#define AT(member) (DATA + offsetof(struct contents, member))
#define ROWS	   4

struct row {
	uint64_t function;
	uint64_t id, data;
};

/* struct driven { unsigned int kind, size; struct driven *next; } */
struct driven {
	uint32_t kind, size;
	uint64_t next;
};

struct contents {
	struct row rows[ROWS];
	struct driven first, second, third, fourth;
	uint64_t end;
};

static const uint64_t places[ROWS] = { AT(first), AT(second), AT(third), AT(fourth) };
static struct contents contents;
static struct pass pass;
static uint32_t driven;

static size_t subject_named(uint64_t address)
{
	return pass_number(&pass, address);
}

/* struct listed { unsigned int numbers[2]; struct driven *next; } */
static void add_listed(struct libbpf_btf *source, int number, int pointer)
{
	int numbers = btf__add_array(source, number, number, 2);
	int listed = btf__add_struct(source, "listed", sizeof(struct driven));
	add_member(source, "numbers", numbers, 0);
	add_member(source, "next", pointer, 8);
	btf__add_const(source, listed);
	btf__add_ptr(source, number);
}

static void add_types(struct libbpf_btf *source, bool has_const, bool has_listed)
{
	int number = btf__add_int(source, "unsigned int", 4, 0);
	int word = btf__add_int(source, "long unsigned int", 8, 0);
	int function = btf__add_ptr(source, btf__add_func_proto(source, number));
	int any = btf__add_ptr(source, 0);
	int self = btf__add_struct(source, "driven", sizeof(struct driven));
	add_member(source, "kind", number, 0);
	add_member(source, "size", number, 4);
	add_member(source, "next", self + 1, 8);
	CHECK(btf__add_ptr(source, self) == self + 1);
	if (has_const)
		btf__add_const(source, self);
	if (has_listed)
		add_listed(source, number, self + 1);
	btf__add_struct(source, "counted", 16);
	add_member(source, "low", word, 0);
	add_member(source, "high", word, 8);
	btf__add_struct(source, "row", sizeof(struct row));
	add_member(source, "function", function, 0);
	add_member(source, "id", word, 8);
	add_member(source, "data", any, 16);
}

/* All of it among constants, which are of a type that is const if `has_const`. */
static void begin_with(bool has_const, bool has_listed)
{
	static const struct test_symbol symbols[] = {
		{ TEXT, 'T', "_text" },
		{ TEXT, 'T', "_stext" },
		{ TEXT + 0x600, 'T', "_etext" },
		{ AT(rows), 'd', "rows" },
		{ AT(rows), 'R', "__start_rodata" },
		{ AT(first), 'd', "first" },
		{ AT(second), 'd', "second" },
		{ AT(third), 'd', "third" },
		{ AT(fourth), 'd', "fourth" },
		{ AT(end), 'D', "_edata" },
		{ AT(end), 'R', "__end_rodata" },
		{ AT(end) + 8, 'D', "_end" },
	};
	for (int i = 0; i < ROWS; i++)
		contents.rows[i] = (struct row){ TEXT + 0x100, (uint64_t)i, places[i] };
	contents.first = (struct driven){ 800, 1280, AT(fourth) };
	contents.second = (struct driven){ 1200, 1920, AT(first) };
	contents.third = (struct driven){ 720, 1280, AT(first) };
	contents.fourth = (struct driven){ 640, 960, AT(third) };
	pass_init(&pass, &contents, sizeof(contents));
	add_types(pass.machine.source, has_const, has_listed);
	pass_begin(&pass, symbols, ARRAY_COUNT(symbols));
	driven = layout_find(pass.layout, BTF_STRUCT, "driven");
	pass.answers[subject_named(AT(rows))] =
		(struct answer){ .type = layout_find(pass.layout, BTF_STRUCT, "row"),
				 .count = ROWS,
				 .confidence = CONFIDENCE_INFERRED };
}

static void begin(void)
{
	begin_with(true, false);
}

static void end(void)
{
	pass_end(&pass);
}

static void find(void)
{
	CHECK_OK(siblings_find(&pass.one, pass.answers, subject_named(AT(rows)), pass.types));
}

static void test_all_alike(void)
{
	begin();
	find();
	for (int i = 0; i < ROWS; i++)
		CHECK_U64(pass.types[subject_named(places[i])], driven);
	CHECK_U64(pass.types[subject_named(AT(rows))], 0);
	end();
}

/* Of three, nothing is said: so many are alike by chance. */
static void test_too_few(void)
{
	begin();
	contents.rows[3].data = contents.rows[0].data;
	find();
	CHECK_U64(pass.types[subject_named(AT(first))], 0);
	end();
	begin();
	contents.rows[3].data++;
	find();
	CHECK_U64(pass.types[subject_named(AT(first))], 0);
	end();
}

/* Rows with another function mean another thing. */
static void test_functions(void)
{
	begin();
	contents.rows[3].function += 16;
	find();
	CHECK_U64(pass.types[subject_named(AT(first))], 0);
	end();
}

/* What is known, or used by code, is left out. */
static void test_known_and_used(void)
{
	begin();
	pass.answers[subject_named(AT(second))].confidence = CONFIDENCE_INFERRED;
	find();
	CHECK_U64(pass.types[subject_named(AT(first))], 0);
	end();
	begin();
	pass.answers[subject_named(AT(second))].sources = 1u << SOURCE_CODE;
	find();
	CHECK_U64(pass.types[subject_named(AT(first))], 0);
	end();
}

/* A table that may be another one, and bytes that fit anything. */
static void test_unclear(void)
{
	begin();
	pass.answers[subject_named(AT(rows))].confidence = CONFIDENCE_GUESS;
	find();
	CHECK_U64(pass.types[subject_named(AT(first))], 0);
	end();
	begin();
	contents.first = contents.second = contents.third = contents.fourth = (struct driven){ 0 };
	find();
	CHECK_U64(pass.types[subject_named(AT(first))], 0);
	end();
}

/* What a table points at is const only if its type is; with one it is found above. */
static void test_constants(void)
{
	begin_with(false, false);
	find();
	CHECK_U64(pass.types[subject_named(AT(first))], 0);
	end();
}

/* A table of pointers behind which code indexes numbers: the struct that begins with them. */
static void test_numbers(void)
{
	begin_with(true, true);
	uint32_t number = layout_find(pass.layout, BTF_INT, "unsigned int");
	pass.answers[subject_named(AT(rows))] =
		(struct answer){ .type = pass.layout->records[number].pointer,
				 .count = sizeof(contents.rows) / 8,
				 .confidence = CONFIDENCE_GUESS };
	find();
	CHECK_U64(pass.types[subject_named(AT(first))],
		  layout_find(pass.layout, BTF_STRUCT, "listed"));
	end();
}

int main(void)
{
	RUN(test_all_alike);
	RUN(test_too_few);
	RUN(test_functions);
	RUN(test_known_and_used);
	RUN(test_unclear);
	RUN(test_constants);
	RUN(test_numbers);
	return test_finish();
}
