// SPDX-License-Identifier: GPL-3.0-or-later
/* Tables of pointers behind which code indexes numbers, in a made-up machine. */
#include "debugger/infer/number_tables.h"

#include "base/array.h"
#include "tests/unit/infer_pass.h"
#include <stddef.h>

#define AT(member) (DATA + offsetof(struct contents, member))

struct contents {
	uint64_t table[4], other[2];
	uint32_t first[8], second[8], narrow[4], known[8], used[8];
	uint64_t end;
};

static struct contents contents;
static struct pass pass;
static uint32_t number, pointer;

static size_t subject_named(uint64_t address)
{
	return pass_number(&pass, address);
}

static struct answer *answer_at(uint64_t address)
{
	return &pass.answers[subject_named(address)];
}

static void begin(void)
{
	static const struct test_symbol symbols[] = {
		{ TEXT, 'T', "_text" },		 { TEXT, 'T', "_stext" },
		{ TEXT + 0x600, 'T', "_etext" }, { AT(table), 'd', "table" },
		{ AT(other), 'd', "other" },	 { AT(first), 'd', "first" },
		{ AT(second), 'd', "second" },	 { AT(narrow), 'd', "narrow" },
		{ AT(known), 'd', "known" },	 { AT(used), 'd', "used" },
		{ AT(end), 'D', "_edata" },	 { AT(end) + 8, 'D', "_end" },
	};
	contents = (struct contents){ .table = { AT(first), 0, AT(second), AT(first) + 4 },
				      .other = { AT(first), AT(second) } };
	pass_init(&pass, &contents, sizeof(contents));
	btf__add_ptr(pass.machine.source, btf__add_int(pass.machine.source, "unsigned int", 4, 0));
	pass_begin(&pass, symbols, ARRAY_COUNT(symbols));
	number = layout_find(pass.layout, BTF_INT, "unsigned int");
	pointer = pass.layout->records[number].pointer;
	*answer_at(AT(table)) = (struct answer){ .type = pointer,
						 .count = 4,
						 .confidence = CONFIDENCE_GUESS,
						 .sources = 1u << SOURCE_CODE };
	CHECK_OK(knowledge_prepare(pass.knowledge));
}

static void end(void)
{
	pass_end(&pass);
}

static size_t facts_about(uint64_t address)
{
	size_t count = 0;
	/* Threads share them from then on, each of which would sort them. */
	CHECK_OK(knowledge_prepare(pass.knowledge));
	CHECK(pass.knowledge->facts_sorted);
	for (size_t i = 0; i < pass.knowledge->fact_count; i++)
		count += pass.knowledge->facts[i].address == address;
	return count;
}

/* The element and the step; nothing of what lies inside a symbol. */
static void test_teach(void)
{
	begin();
	size_t table = subject_named(AT(table));
	CHECK_OK(number_table_teach(pass.knowledge, pass.layout, pass.answers, pass.types, table));
	CHECK_U64(facts_about(AT(first)), 2);
	CHECK_U64(facts_about(AT(second)), 2);
	CHECK_U64(facts_about(AT(first) + 4), 0);
	CHECK_U64(facts_about(AT(narrow)), 0);
	end();
}

static void test_known_and_used(void)
{
	begin();
	size_t table = subject_named(AT(table));
	contents.table[1] = AT(known);
	contents.table[3] = AT(used);
	answer_at(AT(known))->confidence = CONFIDENCE_INFERRED;
	answer_at(AT(used))->sources = 1u << SOURCE_CODE;
	pass.types[subject_named(AT(second))] = pointer; /* a struct that begins with them */
	CHECK_OK(number_table_teach(pass.knowledge, pass.layout, pass.answers, pass.types, table));
	CHECK_U64(facts_about(AT(known)), 0);
	CHECK_U64(facts_about(AT(used)), 0);
	CHECK_U64(facts_about(AT(second)), 0);
	CHECK_U64(facts_about(AT(first)), 2);
	end();
}

/* What is no array, or what no code says, is no such table. */
static void test_no_table(void)
{
	begin();
	struct answer table = *answer_at(AT(table)), *other = answer_at(AT(other));
	for (int i = 0; i < 4; i++) {
		*other = table;
		if (i == 0)
			other->count = 0;
		else if (i == 1)
			other->sources = 1u << SOURCE_DATA;
		else if (i == 2)
			other->type = number;
		else
			other->confidence = CONFIDENCE_UNKNOWN;
		CHECK_OK(number_table_teach(pass.knowledge, pass.layout, pass.answers, pass.types,
					    subject_named(AT(other))));
	}
	CHECK_U64(facts_about(AT(first)), 0);
	end();
}

/* As long as the longest that has the same room; what is proved stays. */
static void test_lengthen(void)
{
	begin();
	size_t table = subject_named(AT(table));
	contents.table[1] = AT(narrow);
	contents.table[3] = AT(known);
	struct answer array = { .type = number, .count = 3, .confidence = CONFIDENCE_GUESS };
	*answer_at(AT(first)) = *answer_at(AT(second)) = *answer_at(AT(narrow)) = array;
	*answer_at(AT(known)) = array;
	answer_at(AT(second))->count = 8;
	answer_at(AT(known))->count_is_proved = true;
	number_table_lengthen(pass.knowledge, pass.layout, pass.answers, table);
	CHECK_U64(answer_at(AT(first))->count, 8);
	CHECK_U64(answer_at(AT(second))->count, 8);
	CHECK_U64(answer_at(AT(narrow))->count, 3);
	CHECK_U64(answer_at(AT(known))->count, 3);
	end();
}

int main(void)
{
	RUN(test_teach);
	RUN(test_known_and_used);
	RUN(test_no_table);
	RUN(test_lengthen);
	return test_finish();
}
