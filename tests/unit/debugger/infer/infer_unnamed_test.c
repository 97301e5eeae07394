// SPDX-License-Identifier: GPL-3.0-or-later
/* Variables of a struct that has no name, such as tk_core: written down for them alone. */
#include "debugger/infer/solve/solve.h"
#include "tests/unit/libbpf.h"
#include "tests/unit/test.h"

#define NUMBERS 9 /* members of struct clock; more than the solver makes candidates from */

struct bench {
	struct libbpf_btf *writer;
	struct btf *btf;
	struct layout *layout;
	struct solver solver;
	struct clues clues;
	int number, clock, variable, part;
};

static int add_with_clock(struct libbpf_btf *btf, const char *first, int number, int clock)
{
	int type = btf__add_struct(btf, NULL, 8 + 8 * NUMBERS);
	btf__add_field(btf, first, number, 0, 0);
	btf__add_field(btf, "clock", clock, 64, 0);
	return type;
}

static void init(struct bench *bench)
{
	char name[] = "a";
	uint32_t size;
	*bench = (struct bench){ .writer = btf__new_empty() };
	bench->number = btf__add_int(bench->writer, "long int", 8, BTF_INT_SIGNED);
	bench->clock = btf__add_struct(bench->writer, "clock", 8 * NUMBERS);
	for (uint32_t i = 0; i < NUMBERS; i++, name[0]++)
		btf__add_field(bench->writer, name, bench->number, 64 * i, 0);
	bench->variable = add_with_clock(bench->writer, "sequence", bench->number, bench->clock);
	btf__add_const(bench->writer, bench->variable);
	bench->part = add_with_clock(bench->writer, "another", bench->number, bench->clock);
	btf__add_struct(bench->writer, "whole", 16 + 8 * NUMBERS);
	btf__add_field(bench->writer, "part", bench->part, 64, 0);
	const void *data = btf__raw_data(bench->writer, &size);
	CHECK_OK(btf_open(data, size, NULL, "test", &bench->btf));
	CHECK_OK(layout_create(bench->btf, NULL, &bench->layout));
	CHECK_OK(solver_init(&bench->solver, bench->layout));
}

static void deinit(struct bench *bench)
{
	clues_deinit(&bench->clues);
	solver_deinit(&bench->solver);
	layout_destroy(bench->layout);
	btf_close(bench->btf);
	btf__free(bench->writer);
}

static void clue(struct bench *bench, enum clue_kind kind, uint32_t offset, int type, uint32_t size)
{
	struct clue clue = { .kind = kind,
			     .source = SOURCE_CODE,
			     .offset = offset,
			     .size = size,
			     .type = { bench->btf, (uint32_t)type },
			     .where = 0x1000 + bench->clues.count };
	CHECK(clues_add(&bench->clues, &clue));
}

static void test_declared(void)
{
	struct bench bench;
	init(&bench);
	CHECK(layout_is_declared(bench.layout, (uint32_t)bench.clock));
	CHECK(layout_is_declared(bench.layout, (uint32_t)bench.variable));
	CHECK(!layout_is_declared(bench.layout, (uint32_t)bench.part));
	deinit(&bench);
}

/* Numbers have no holders: however many of them there are, the one that has some is asked. */
static void test_solved(void)
{
	struct bench bench;
	struct subject subject = { .address = 0xffffffff82000040, .room = 8 + 8 * NUMBERS };
	init(&bench);
	for (uint32_t i = 0; i < NUMBERS; i++)
		clue(&bench, CLUE_VALUE, 8 + 8 * i, bench.number, 8);
	clue(&bench, CLUE_OBJECT, 8, bench.clock, 8 * NUMBERS);
	struct solver_input input = { .subject = &subject,
				      .clues = &bench.clues,
				      .place = PLACE_DATA };
	CHECK_OK(solve(&bench.solver, &input));
	CHECK(bench.solver.count);
	CHECK_U64(bench.solver.items[0].type, bench.variable);
	CHECK(!bench.solver.items[0].rejected);
	CHECK_STRING(confidence_name(solver_confidence(&bench.solver)), "inferred");
	for (size_t i = 0; i < bench.solver.count; i++)
		CHECK(bench.solver.items[i].type != (uint32_t)bench.part);
	deinit(&bench);
}

int main(void)
{
	RUN(test_declared);
	RUN(test_solved);
	return test_finish();
}
