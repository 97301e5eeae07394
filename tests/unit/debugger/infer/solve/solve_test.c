// SPDX-License-Identifier: GPL-3.0-or-later
/* The solver of debugger/infer: clues, candidates, tiers, on hand-made types. And the table. */
#include "tests/unit/debugger/infer/solve/solve_bench.h"

static void test_object(void)
{
	struct bench bench;
	init(&bench, 32);
	clue(&bench, CLUE_OBJECT, 0, bench.types.mutex, 32);
	CHECK_BEST(&bench, "struct mutex", "inferred");
	deinit(&bench);
}

static void test_container_when_more_is_used(void)
{
	struct bench bench;
	init(&bench, 64);
	clue(&bench, CLUE_OBJECT, 0, bench.types.mutex, 32);
	clue(&bench, CLUE_OBJECT, 32, bench.types.list, 16);
	CHECK_BEST(&bench, "struct outer", "inferred");
	bool rejected = false;
	for (size_t i = 0; i < bench.solver.count; i++)
		if (bench.solver.items[i].type == (uint32_t)bench.types.mutex &&
		    !bench.solver.items[i].count)
			rejected = bench.solver.items[i].rejected != NULL &&
				   bench.solver.items[i].rejected_by == 0x1001;
	CHECK(rejected);
	deinit(&bench);
}

/* sysfs_create_file(&dev_attr.attr): the first member is named, the prototypes say the rest. */
static void test_first_member_is_not_all(void)
{
	struct bench bench;
	init(&bench, 32);
	clue(&bench, CLUE_OBJECT, 0, bench.types.attribute, 16);
	clue(&bench, CLUE_SHAPE, 16, bench.types.show_named, 8);
	CHECK_BEST(&bench, "struct device_attribute", "inferred");
	bench.clues.count = 1;
	clue(&bench, CLUE_SHAPE, 16, bench.types.other_proto, 8);
	CHECK_BEST(&bench, "struct kobj_attribute", "inferred");
	deinit(&bench);
}

static void test_list_member_is_not_a_pointer(void)
{
	struct bench bench;
	init(&bench, 16);
	clue(&bench, CLUE_VALUE, 0, bench.types.list_pointer, 8);
	clue(&bench, CLUE_VALUE, 8, bench.types.list_pointer, 8);
	CHECK_BEST(&bench, "struct list_head", "guess");
	deinit(&bench);
}

static void test_arrays(void)
{
	struct bench bench;
	init(&bench, 128);
	clue(&bench, CLUE_OBJECT, 0, bench.types.mutex, 32);
	clue(&bench, CLUE_STRIDE, 0, 0, 32);
	CHECK_BEST(&bench, "struct mutex [4]", "inferred");
	CHECK(bench.solver.items[0].is_proved);
	/* Any element will do. */
	bench.clues.count = 1;
	bench.clues.items[0].offset = 64 + 16;
	bench.clues.items[0].type.id = (uint32_t)bench.types.list;
	clue(&bench, CLUE_STRIDE, 0, 0, 32);
	CHECK_BEST(&bench, "struct mutex [4]", "inferred");
	deinit(&bench);
}

/* An attribute, and what is in use behind it may as well be the rest of what holds one. */
static void test_outgrown(void)
{
	struct bench bench;
	init(&bench, 64);
	clue(&bench, CLUE_OBJECT, 0, bench.types.attribute, 16);
	clue(&bench, CLUE_ACCESS, 24, 0, 4);
	bench.input.in_use = 16;
	CHECK_BEST(&bench, "struct attribute [4]", "inferred");
	CHECK(!solver_is_outgrown(&bench.solver));
	bench.input.in_use = 17;
	CHECK_BEST(&bench, "struct attribute [4]", "guess");
	/* Unless another of them is known, or code goes from one to the next. */
	clue(&bench, CLUE_OBJECT, 32, bench.types.attribute, 16);
	CHECK_BEST(&bench, "struct attribute [4]", "inferred");
	bench.clues.count = 2;
	clue(&bench, CLUE_STRIDE, 0, 0, 16);
	CHECK_BEST(&bench, "struct attribute [4]", "inferred");
	deinit(&bench);
}

static void test_spinlock_twin(void)
{
	struct bench bench;
	init(&bench, 4);
	clue(&bench, CLUE_OBJECT, 0, bench.types.raw, 4);
	CHECK_BEST(&bench, "struct spinlock", "inferred");
	deinit(&bench);
}

/* Both tables speak of a key; the one that knows its type decides between the twins. */
static void test_static_key_twins(void)
{
	struct bench bench;
	init(&bench, 16);
	clue(&bench, CLUE_OBJECT, 0, bench.types.key, 16);
	clue(&bench, CLUE_OBJECT, 0, bench.types.key_true, 16);
	CHECK_BEST(&bench, "struct static_key_true", "inferred");
	deinit(&bench);
}

/* `unsigned long []` of as many bits as there may be processors. */
static void test_cpumask(void)
{
	struct bench bench;
	init(&bench, 1024);
	clue(&bench, CLUE_ACCESS, 0, 0, 8);
	clue(&bench, CLUE_STRIDE, 0, 0, 8);
	char spelled[64];
	CHECK_STRING(best(&bench, spelled, sizeof(spelled)), "struct cpumask");
	bench.subject.room = 1024 + 512;
	CHECK(strcmp(best(&bench, spelled, sizeof(spelled)), "struct cpumask"));
	deinit(&bench);
}

/* As many pointers as a hash has values, used as addresses, are heads of chains; others are not. */
static void test_buckets(void)
{
	struct bench bench;
	char spelled[64];
	init(&bench, 256);
	clue(&bench, CLUE_ACCESS, 0, 0, 8);
	clue(&bench, CLUE_STRIDE, 0, 0, 8);
	clue(&bench, CLUE_VALUE, 0, bench.types.untyped, 8);
	CHECK_STRING(best(&bench, spelled, sizeof(spelled)), "struct hlist_head [32]");
	bench.subject.room = 248;
	CHECK_STRING(best(&bench, spelled, sizeof(spelled)), "void *[31]");
	bench.subject.room = 64;
	CHECK_STRING(best(&bench, spelled, sizeof(spelled)), "void *[8]");
	bench.subject.room = 256;
	bench.input.is_constant = true;
	CHECK_STRING(best(&bench, spelled, sizeof(spelled)), "void *[32]");
	deinit(&bench);
}

/* What goes to functions of bitmaps may be one, and need not. */
static void test_cpumask_pointer(void)
{
	struct bench bench;
	init(&bench, 8);
	for (int i = 0; i < 3; i++)
		clue(&bench, CLUE_VALUE, 0, bench.types.words_pointer, 8);
	CHECK_BEST(&bench, "struct cpumask *", "guess");
	clue(&bench, CLUE_VALUE, 0, bench.types.cpumask_pointer, 8);
	CHECK_BEST(&bench, "struct cpumask *", "inferred");
	deinit(&bench);
}

/* f(struct base *) may serve all that begin with a base; often enough, it is one. */
static void test_up_cast(void)
{
	struct bench bench;
	init(&bench, 8);
	clue(&bench, CLUE_VALUE, 0, bench.types.base_pointer, 8);
	CHECK_BEST(&bench, "struct base *", "guess");
	clue(&bench, CLUE_VALUE, 0, bench.types.base_pointer, 8);
	clue(&bench, CLUE_VALUE, 0, bench.types.base_pointer, 8);
	CHECK_BEST(&bench, "struct base *", "inferred");
	/* Where it does not serve others, one is enough. */
	bench.clues.count = 0;
	clue(&bench, CLUE_VALUE, 0, bench.types.list_pointer, 8);
	CHECK_BEST(&bench, "struct list_head *", "inferred");
	deinit(&bench);
}

/* &disk->base is a disk's address too: of the two types that are seen, the disk's explains both. */
static void test_pointers_to_first_members(void)
{
	struct bench bench;
	init(&bench, 8);
	clue(&bench, CLUE_VALUE, 0, bench.types.base_pointer, 8);
	clue(&bench, CLUE_VALUE, 0, bench.types.disk_pointer, 8);
	CHECK_BEST(&bench, "struct disk *", "inferred");
	deinit(&bench);
	/* So is the first element's, where an array comes first. */
	init(&bench, 8);
	clue(&bench, CLUE_VALUE, 0, bench.types.words_pointer, 8);
	clue(&bench, CLUE_VALUE, 0, bench.types.cpumask_pointer, 8);
	CHECK_BEST(&bench, "struct cpumask *", "inferred");
	CHECK_U64(bench.solver.items[0].against, 0);
	deinit(&bench);
	/* The entry that a list begins with says nothing against the list. */
	init(&bench, 16);
	clue(&bench, CLUE_OBJECT, 0, bench.types.list, 16);
	clue(&bench, CLUE_VALUE, 0, bench.types.entry_pointer, 8);
	CHECK_BEST(&bench, "struct list_head", "inferred");
	CHECK_U64(bench.solver.items[0].against, 0);
	/* Nor is it what a pointer to a list points at, though that would explain both. */
	deinit(&bench);
	init(&bench, 8);
	clue(&bench, CLUE_VALUE, 0, bench.types.list_pointer, 8);
	clue(&bench, CLUE_VALUE, 0, bench.types.entry_pointer, 8);
	char spelled[64];
	best(&bench, spelled, sizeof(spelled));
	CHECK(solver_confidence(&bench.solver) < CONFIDENCE_INFERRED);
	deinit(&bench);
}

/* What one clue contradicts is not shown as known, but it is shown. */
static void test_contradicted_is_a_guess(void)
{
	struct bench bench;
	init(&bench, 16);
	clue(&bench, CLUE_OBJECT, 0, bench.types.list, 16);
	clue(&bench, CLUE_VALUE, 0, bench.types.base_pointer, 8);
	CHECK_BEST(&bench, "struct list_head", "guess");
	CHECK(bench.solver.items[0].rejected != NULL);
	/* Misaligned it cannot be. */
	bench.subject.address += 4;
	char spelled[64];
	best(&bench, spelled, sizeof(spelled));
	CHECK(solver_confidence(&bench.solver) == CONFIDENCE_UNKNOWN);
	deinit(&bench);
}

/* A variable that is a pointer to a function; a constant that is one is a struct of one. */
static void test_constant_operations(void)
{
	struct bench bench;
	init(&bench, 8);
	clue(&bench, CLUE_SHAPE, 0, bench.types.show, 8);
	CHECK_BEST(&bench, "long int (*)(char *attr)", "guess");
	bench.input.is_constant = true;
	CHECK_BEST(&bench, "struct operation", "guess");
	deinit(&bench);
}

/* An `int *` to a struct's first int. */
static void test_first_int_is_not_all(void)
{
	struct bench bench;
	init(&bench, 24);
	clue(&bench, CLUE_OBJECT, 0, bench.types.int_, 4);
	clue(&bench, CLUE_OBJECT, 8, bench.types.list, 16);
	CHECK_BEST(&bench, "struct counted", "inferred");
	bench.clues.count = 1;
	char spelled[64];
	best(&bench, spelled, sizeof(spelled));
	CHECK(solver_confidence(&bench.solver) < CONFIDENCE_INFERRED);
	deinit(&bench);
}

static void test_union_arms(void)
{
	struct bench bench;
	init(&bench, 8);
	clue(&bench, CLUE_OBJECT, 0, bench.types.choice, 8);
	clue(&bench, CLUE_VALUE, 0, bench.types.ulong, 8);
	clue(&bench, CLUE_VALUE, 0, bench.types.const_text, 8);
	CHECK_BEST(&bench, "union choice", "inferred");
	CHECK_U64(bench.solver.items[0].against, 0);
	deinit(&bench);
}

static void test_sizes_alone_are_a_guess(void)
{
	struct bench bench;
	init(&bench, 4);
	for (int i = 0; i < 4; i++)
		clue(&bench, CLUE_ACCESS, 0, 0, 4);
	CHECK_BEST(&bench, "int", "guess");
	deinit(&bench);
}

/* A void * may be a function's address, a pointer to functions of one type not any other's. */
static void test_untyped_function(void)
{
	struct bench bench;
	init(&bench, 24);
	clue(&bench, CLUE_OBJECT, 0, bench.types.probe, 24);
	clue(&bench, CLUE_SHAPE, 8, bench.types.other_proto, 8);
	CHECK_BEST(&bench, "struct probe", "inferred");
	clue(&bench, CLUE_SHAPE, 16, bench.types.other_proto, 8);
	CHECK_BEST(&bench, "struct probe", "guess");
	deinit(&bench);
}

/* Where nothing contradicts the kernel's own table, nobody else is asked. */
static void test_settled_by_table(void)
{
	for (int contradicted = 0; contradicted < 2; contradicted++) {
		struct bench bench;
		init(&bench, 64);
		clue(&bench, CLUE_WHOLE, 0, bench.types.mutex, 32);
		clue(&bench, CLUE_OBJECT, 16, bench.types.list, 16);
		if (contradicted)
			clue(&bench, CLUE_OBJECT, 0, bench.types.device, 32);
		CHECK_BEST(&bench, "struct mutex", contradicted ? "guess" : "certain");
		CHECK(bench.solver.count > 1);
		bench.input.judge_most = 10;
		CHECK_BEST(&bench, "struct mutex", contradicted ? "guess" : "certain");
		CHECK((bench.solver.count == 1) == !contradicted);
		deinit(&bench);
	}
}

static void test_facts(void)
{
	struct bench bench;
	init(&bench, 4);
	clue(&bench, CLUE_WHOLE, 0, bench.types.uint, 4);
	/* Whether it has a sign, compilers do not check. */
	CHECK_BEST(&bench, "unsigned int", "inferred");
	deinit(&bench);
	init(&bench, 1);
	clue(&bench, CLUE_WHOLE, 0, bench.types.byte, 1);
	CHECK_BEST(&bench, "_Bool", "certain");
	deinit(&bench);
	/* A table's word that code contradicts is none. */
	init(&bench, 32);
	clue(&bench, CLUE_WHOLE, 0, bench.types.mutex, 32);
	for (int i = 0; i < 3; i++)
		clue(&bench, CLUE_OBJECT, 0, bench.types.device, 32);
	char spelled[64];
	best(&bench, spelled, sizeof(spelled));
	CHECK(solver_confidence(&bench.solver) < CONFIDENCE_INFERRED);
	deinit(&bench);
}

static void test_nothing_known(void)
{
	struct bench bench;
	init(&bench, 4096);
	CHECK_BEST(&bench, "", "unknown");
	/* What cannot be within the room is dropped. */
	clue(&bench, CLUE_OBJECT, 4090, bench.types.mutex, 32);
	clue(&bench, CLUE_ACCESS, 5000, 0, 8);
	CHECK_BEST(&bench, "", "unknown");
	deinit(&bench);
}

static void test_alignment_and_exact_room(void)
{
	struct bench bench;
	init(&bench, 32);
	bench.subject.address = PLACE + 2;
	clue(&bench, CLUE_OBJECT, 0, bench.types.mutex, 32);
	CHECK_BEST(&bench, "struct mutex", "unknown");
	deinit(&bench);
	init(&bench, 48);
	bench.subject.room_is_exact = true;
	clue(&bench, CLUE_OBJECT, 0, bench.types.list, 16);
	CHECK_BEST(&bench, "struct list_head [3]", "inferred");
	CHECK(!bench.solver.items[0].is_proved);
	deinit(&bench);
}

static void test_cyclic_types_end(void)
{
	struct bench bench;
	init(&bench, 8);
	clue(&bench, CLUE_OBJECT, 0, bench.types.loop, 8);
	clue(&bench, CLUE_VALUE, 0, bench.types.list_pointer, 8);
	clue(&bench, CLUE_ACCESS, 4, 0, 4);
	char spelled[64];
	best(&bench, spelled, sizeof(spelled));
	deinit(&bench);
}

/* Points that differ from type to type, and with the seed. */
static int judge_somehow(void *context, uint32_t type, uint32_t count, const char **ret_why)
{
	unsigned int mixed =
		(type * 2654435761u ^ (count != 0) ^ *(unsigned int *)context) * 40503u;
	int points = (int)((mixed >> 8) % 15) - 4;
	if (points < 0)
		*ret_why = "somehow";
	return points;
}

/* The answer is the same where those that clues put too far behind are not judged. */
static void test_judging_the_best_only(void)
{
	unsigned int spared = 0;
	for (unsigned int seed = 0; seed < 600; seed++) {
		struct bench bench;
		init(&bench, 16 << seed % 4);
		const int types[] = { bench.types.list, bench.types.mutex, bench.types.raw,
				      bench.types.base, bench.types.list_pointer };
		bench.input.judge = judge_somehow;
		bench.input.context = &seed;
		clue(&bench, CLUE_OBJECT, seed % 3 * 8, types[seed % ARRAY_COUNT(types)], 0);
		if (seed & 1)
			clue(&bench, CLUE_OBJECT, 0, types[seed / 2 % ARRAY_COUNT(types)], 0);
		if (seed & 2)
			clue(&bench, CLUE_ACCESS, 8, 0, 4);
		CHECK_OK(solve(&bench.solver, &bench.input));
		struct scored first = { .type = 0 };
		if (bench.solver.count)
			first = bench.solver.items[0];
		int confidence = (int)solver_confidence(&bench.solver);
		int margin = solver_margin(&bench.solver);
		bench.input.judge_most = 10;
		CHECK_OK(solve(&bench.solver, &bench.input));
		CHECK_U64(solver_confidence(&bench.solver), confidence);
		if (bench.solver.count) {
			CHECK_U64(bench.solver.items[0].type, first.type);
			CHECK_U64(bench.solver.items[0].count, first.count);
			CHECK(bench.solver.items[0].score == first.score);
			CHECK(solver_margin(&bench.solver) == margin);
		}
		for (size_t i = 0; i < bench.solver.count; i++)
			spared += !bench.solver.items[i].is_judged;
		deinit(&bench);
	}
	CHECK(spared > 100);
}

static void test_layout(void)
{
	struct bench bench;
	init(&bench, 8);
	const struct layout *layout = bench.layout;
	const struct types *types = &bench.types;
	CHECK(layout_match(layout, (uint32_t)types->outer, 16, (uint32_t)types->list) ==
	      LIKE_EXACTLY);
	CHECK(layout_match(layout, (uint32_t)types->outer, 16,
			   layout_resolve(layout, (uint32_t)types->list_pointer)) == LIKE_EXACTLY);
	CHECK(layout_match(layout, (uint32_t)types->outer, 24, (uint32_t)types->list) == LIKE_NOT);
	CHECK(layout_match(layout, (uint32_t)types->outer, 48, (uint32_t)types->uint) ==
	      LIKE_WEAKLY);
	CHECK(layout_access_fits(layout, (uint32_t)types->outer, 8, 4));
	CHECK(!layout_access_fits(layout, (uint32_t)types->outer, 8, 8));
	CHECK(!layout_access_fits(layout, (uint32_t)types->outer, 60, 4));
	CHECK_U64(layout_resolve(layout, (uint32_t)types->text),
		  layout_resolve(layout, (uint32_t)types->const_text));
	CHECK_U64(layout_alignment(layout, (uint32_t)types->outer), 8);
	deinit(&bench);
}

int main(void)
{
	RUN(test_object);
	RUN(test_container_when_more_is_used);
	RUN(test_first_member_is_not_all);
	RUN(test_list_member_is_not_a_pointer);
	RUN(test_arrays);
	RUN(test_outgrown);
	RUN(test_spinlock_twin);
	RUN(test_static_key_twins);
	RUN(test_cpumask);
	RUN(test_cpumask_pointer);
	RUN(test_buckets);
	RUN(test_up_cast);
	RUN(test_pointers_to_first_members);
	RUN(test_contradicted_is_a_guess);
	RUN(test_constant_operations);
	RUN(test_first_int_is_not_all);
	RUN(test_union_arms);
	RUN(test_sizes_alone_are_a_guess);
	RUN(test_untyped_function);
	RUN(test_facts);
	RUN(test_settled_by_table);
	RUN(test_nothing_known);
	RUN(test_alignment_and_exact_room);
	RUN(test_cyclic_types_end);
	RUN(test_judging_the_best_only);
	RUN(test_layout);
	return test_finish();
}
