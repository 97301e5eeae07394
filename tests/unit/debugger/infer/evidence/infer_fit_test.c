// SPDX-License-Identifier: GPL-3.0-or-later
/* How well types explain bytes, what names have in common, and what this kernel's names teach. */
#include "base/array.h"
#include "debugger/infer/evidence/own_data_fit.h"
#include "debugger/infer/known/names_family.h"
#include "debugger/infer/solve/solve.h"
#include "tests/unit/eval_fixture.h"
#include "tests/unit/infer_asked.h"

static struct fixture *fixture; /* of the test that runs */

static struct asked *create(void)
{
	fixture = fixture_create("");
	return asked_create(&fixture->target);
}

static void destroy(struct asked *asked)
{
	asked_destroy(asked);
	fixture_destroy(fixture);
}

static int cost(struct asked *asked, uint32_t type, uint32_t count)
{
	struct fit *fit = fit_create(&asked->question);
	CHECK(fit);
	int bits = fit ? fit_cost(fit, type, count, 1 << 24) : 0;
	fit_destroy(fit);
	return bits;
}

static void test_outlines(void)
{
	struct asked *asked = create();
	const struct outline *outline =
		outlines_find(asked->layout->outlines, struct_named(asked, "thing"));
	CHECK(outline && outline->size == sizeof(struct thing));
	CHECK(!outlines_find(asked->layout->outlines, 0));
	CHECK(!outlines_find(asked->layout->outlines, UINT32_MAX));
	size_t word = offsetof(struct thing, next) / 8;
	if (outline && word < OUTLINE_WORDS)
		CHECK(outline->pointers >> word & 1);
	/* A name in char bytes is no hole. */
	CHECK(outline && !(outline->holes & 0xffff));
	destroy(asked);
}

static void test_words(void)
{
	struct name_word words[NAME_WORDS_MAX], same[NAME_WORDS_MAX];
	CHECK_U64(name_words("amd_l3_event_constraints.3", words), 4);
	CHECK_U64(name_words("event_constraint", same), 2);
	CHECK(words[2].hash == same[0].hash && words[3].hash == same[1].hash);
	CHECK(words[3].is_plural && !same[1].is_plural);
	CHECK_U64(name_words("", words), 0);
	CHECK_U64(name_words("___", words), 0);
	CHECK_U64(name_words(".3", words), 0);
	CHECK_U64(name_words("a_b_c_d_e_f_g_h_i_j_k", words), NAME_WORDS_MAX);
	/* What programmers write short. */
	name_words("dev_attribute", words);
	name_words("dev_attr", same);
	CHECK(words[1].hash == same[1].hash);
}

/* The stem before its number, unless it is but a letter or there is no room. */
static void test_numbered_words(void)
{
	struct name_word words[NAME_WORDS_MAX], stem[NAME_WORDS_MAX];
	size_t count = name_words("attr_ch9_v4_count.2", words);
	CHECK_U64(name_words_numbered(words, count), 5);
	name_words("attr_ch_ch9_v4_count", stem);
	for (size_t i = 0; i < 5; i++)
		CHECK(words[i].hash == stem[i].hash);
	CHECK_U64(name_words_numbered(words, 0), 0);
	count = name_words("ab1_ab2_ab3_ab4_ab5_ab6_ab7", words);
	CHECK_U64(count, NAME_WORDS_MAX - 1);
	CHECK_U64(name_words_numbered(words, count), NAME_WORDS_MAX);
	CHECK(words[0].hash != words[1].hash && words[NAME_WORDS_MAX - 1].length == 3);
}

static void test_costs(void)
{
	struct asked *asked = create();
	struct thing *thing = &fixture->contents->thing;
	ask(asked, "thing", sizeof(struct thing));
	int right = cost(asked, struct_named(asked, "thing"), 0);
	uint32_t byte = layout_find(asked->layout, BTF_INT, "unsigned char");
	CHECK(right < cost(asked, byte, sizeof(struct thing)));
	CHECK_U64(cost(asked, struct_named(asked, "thing"), 2), FIT_IMPOSSIBLE);
	/* A pointer that holds no address costs more than not knowing. */
	thing->next = 0x1234567;
	ask(asked, "thing", sizeof(struct thing));
	CHECK(cost(asked, struct_named(asked, "thing"), 0) > right + 64 * FIT_BIT);
	thing->next = 0;
	memset(&thing->flag, 7, 1);
	ask(asked, "thing", sizeof(struct thing));
	CHECK(cost(asked, struct_named(asked, "thing"), 0) > right + 8 * FIT_BIT);
	destroy(asked);
}

/* Small negative numbers have a sign, masks have none, and -1 is both. */
static void test_signs(void)
{
	static const struct {
		uint32_t number;
		int favours; /* 1: the type with a sign, -1: the other */
	} cases[] = { { 5, 0 }, { (uint32_t)-5, 1 }, { 0x80010000, -1 }, { UINT32_MAX, 0 } };
	struct asked *asked = create();
	uint32_t count = sizeof(struct thing) / 4;
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		memset(&fixture->contents->thing, 0, sizeof(struct thing));
		memcpy(&fixture->contents->thing, &cases[i].number, 4);
		ask(asked, "thing", sizeof(struct thing));
		int with = cost(asked, layout_find(asked->layout, BTF_INT, "int"), count);
		int without =
			cost(asked, layout_find(asked->layout, BTF_INT, "unsigned int"), count);
		CHECK((without > with) - (without < with) == cases[i].favours);
	}
	destroy(asked);
}

/* Zeros fit anything, missing bytes too: nothing to tell. */
static void test_nothing(void)
{
	struct asked *asked = create();
	memset(&fixture->contents->thing, 0, sizeof(struct thing));
	ask(asked, "thing", sizeof(struct thing));
	CHECK(!fit_create(&asked->question));
	asked->question.size = 0;
	CHECK(!fit_create(&asked->question));
	struct solver solver;
	CHECK_OK(solver_init(&solver, asked->layout));
	CHECK_OK(own_data_refine(&asked->question, &solver));
	CHECK_U64(solver.count, 0);
	solver_deinit(&solver);
	destroy(asked);
}

static bool is_among(const struct fitted *found, size_t count, uint32_t type)
{
	for (size_t i = 0; i < count; i++)
		if (found[i].type == type)
			return true;
	return false;
}

static void test_search(void)
{
	struct asked *asked = create();
	struct fitted found[16];
	ask(asked, "thing", sizeof(struct thing));
	struct fit *fit = fit_create(&asked->question);
	size_t count = fit_search(fit, found, 16);
	CHECK(count && found[0].type == struct_named(asked, "thing") && !found[0].count);
	for (size_t i = 1; i < count; i++)
		CHECK(found[i - 1].cost <= found[i].cost);
	fit_destroy(fit);
	/* No place for results; a room that nothing fits. */
	fit = fit_create(&asked->question);
	CHECK_U64(fit_search(fit, found, 1), 1);
	fit_destroy(fit);
	ask(asked, "thing", 3);
	fit = fit_create(&asked->question);
	CHECK(!is_among(found, fit ? fit_search(fit, found, 16) : 0, struct_named(asked, "thing")));
	fit_destroy(fit);
	destroy(asked);
}

/* Whatever the bytes are, the search ends, and finds nothing larger than the room. */
static void test_noise(void)
{
	struct asked *asked = create();
	struct fitted found[16];
	uint32_t state = 1;
	for (int round = 0; round < 300; round++) {
		uint8_t *bytes = (uint8_t *)&fixture->contents->thing;
		for (size_t i = 0; i < sizeof(struct thing); i++) {
			state = state * 1664525 + 1013904223;
			bytes[i] = state >> 24 & 1 ? (uint8_t)(state >> 16) : round & 1 ? 0xff : 0;
		}
		ask(asked, "thing", sizeof(struct thing) - (size_t)round % 40);
		asked->question.is_constant = round & 2;
		struct fit *fit = fit_create(&asked->question);
		size_t count = fit ? fit_search(fit, found, 16) : 0;
		for (size_t i = 0; i < count; i++) {
			uint64_t size = layout_size(asked->layout, found[i].type);
			size *= found[i].count ? found[i].count : 1;
			CHECK(size && size <= asked->subject.room);
		}
		fit_destroy(fit);
	}
	destroy(asked);
}

static void test_families(void)
{
	struct families *families;
	struct name_word words[NAME_WORDS_MAX];
	struct kinship kin[4];
	CHECK_OK(families_create(&families));
	families_settle(families);
	size_t count = name_words("third_policy", words);
	CHECK_U64(families_kin(families, words, count, kin, 4), 0);
	CHECK_U64(families_kin(NULL, words, count, kin, 4), 0);
	CHECK_U64(families_rarity(families, 7), families_rarity(NULL, 7));
	CHECK_OK(families_learn(families, "first_policy", 7));
	families_settle(families);
	/* One is no family. */
	CHECK_U64(families_kin(families, words, count, kin, 4), 0);
	CHECK_OK(families_learn(families, "second_policy", 7));
	for (int i = 0; i < 1000; i++)
		CHECK_OK(families_learn(families, i & 1 ? "a_lock" : "b_lock", 9));
	families_settle(families);
	CHECK_U64(families_kin(families, words, count, kin, 4), 1);
	CHECK(kin[0].type == 7 && kin[0].points > 2);
	CHECK(families_rarity(families, 9) < families_rarity(families, 7));
	CHECK(families_rarity(families, 7) < families_rarity(families, 8));
	CHECK_U64(families_rarity(families, 1u << 30), families_rarity(families, 8));
	/* A table of them is not one of them. */
	CHECK_U64(families_kin(families, words, name_words("third_policies", words), kin, 4), 0);
	CHECK_U64(families_kin(families, words, name_words("x_lock", words), kin, 0), 0);
	CHECK_U64(families_kin(families, words, 0, kin, 4), 0);
	families_destroy(families);
	families_destroy(NULL);
}

static int points_of_name(struct asked *asked, const char *name)
{
	ask(asked, "thing", sizeof(struct thing));
	asked->symbol.name = name;
	struct fit *fit = fit_create(&asked->question);
	CHECK(fit);
	int points = fit ? fit_name(fit, struct_named(asked, "thing")) : 0;
	fit_destroy(fit);
	return points;
}

/* Names end in what a thing is. */
static void test_ends(void)
{
	struct asked *asked = create();
	int begins = points_of_name(asked, "thing_table");
	CHECK(begins > 0 && begins < points_of_name(asked, "table_thing"));
	CHECK_U64(points_of_name(asked, "table_things.7"), points_of_name(asked, "table_thing"));
	CHECK_U64(points_of_name(asked, "table"), 0);
	destroy(asked);
}

/* Behind the first of some constants lies what is no pointer: it costs no more than not knowing. */
static void test_literals_behind(void)
{
	struct asked *asked = create();
	uint64_t *words = (uint64_t *)&fixture->contents->thing;
	uint32_t pointer = asked->layout->records[struct_named(asked, "thing")].pointer;
	for (size_t i = 0; i < 4; i++)
		words[i] = i ? 0x5e3779b97f4a7c15 * (i + 1) >> 1 : 0;
	ask(asked, "thing", 32);
	int known = cost(asked, pointer, 4);
	asked->question.has_literals = true;
	CHECK(cost(asked, pointer, 4) < known);
	/* And no more than numbers of which as little is known. */
	uint32_t number = layout_find(asked->layout, BTF_INT, "long unsigned int");
	CHECK(cost(asked, pointer, 4) < cost(asked, number, 4) + 4 * 12 * FIT_BIT);
	destroy(asked);
}

static int judge_bytes(void *context, uint32_t type, uint32_t count, const char **ret_why)
{
	return own_data_judge(context, type, count, ret_why);
}

static struct solver_input input_of(struct asked *asked, const struct clues *clues)
{
	return (struct solver_input){ .subject = &asked->subject,
				      .clues = clues,
				      .place = PLACE_DATA,
				      .judge = judge_bytes,
				      .refine = own_data_refine,
				      .context = &asked->question };
}

/* Numbers that look like ints, but all code reads halves: then they are halves. */
static void test_accessed_otherwise(void)
{
	struct asked *asked = create();
	struct solver solver;
	struct clues clues = { .items = NULL };
	struct clue clue = { .kind = CLUE_ACCESS, .source = SOURCE_CODE, .size = 2, .where = 1 };
	uint32_t *words = (uint32_t *)&fixture->contents->thing;
	for (uint32_t i = 0; i < 8; i++)
		words[i] = i + 1;
	ask(asked, "thing", 32);
	struct solver_input input = input_of(asked, &clues);
	CHECK_OK(solver_init(&solver, asked->layout));
	CHECK_OK(solve(&solver, &input));
	CHECK_OK(solver_refine(&solver));
	CHECK(solver.count && layout_size(asked->layout, solver.items[0].type) == 4);
	CHECK(clues_add(&clues, &clue));
	CHECK_OK(solve(&solver, &input));
	CHECK_OK(solver_refine(&solver));
	CHECK(solver.count && layout_size(asked->layout, solver.items[0].type) == 2);
	solver_deinit(&solver);
	clues_deinit(&clues);
	destroy(asked);
}

static bool is_tried(const struct solver *solver, uint32_t type)
{
	for (size_t i = 0; i < solver->count; i++)
		if (solver->items[i].type == type)
			return true;
	return false;
}

/* Ints that code takes from places of their own may be members: other types are tried, too. */
static void test_picked_apart(void)
{
	struct asked *asked = create();
	struct solver solver;
	struct clues clues = { .items = NULL };
	uint32_t number = layout_find(asked->layout, BTF_INT, "int");
	uint32_t text = layout_find(asked->layout, BTF_INT, "char");
	static const uint32_t places[] = { 0, offsetof(struct thing, points[1].x),
					   offsetof(struct thing, points[3].y) };
	struct clue stride = { .kind = CLUE_STRIDE, .source = SOURCE_CODE, .size = 4 };
	struct thing *bytes = &fixture->contents->thing;
	memset(bytes, 0, sizeof(*bytes));
	bytes->number = bytes->points[1].x = bytes->points[3].y = 5;
	ask(asked, "thing", sizeof(struct thing));
	struct solver_input input = input_of(asked, &clues);
	CHECK_OK(solver_init(&solver, asked->layout));
	for (uint32_t i = 0; i < 3; i++) {
		struct clue access = {
			.kind = CLUE_ACCESS, .source = SOURCE_CODE, .offset = places[i], .size = 4
		};
		struct clue value = access;
		value.kind = CLUE_VALUE;
		value.type = (struct type){ asked->layout->btf, number };
		CHECK(clues_add(&clues, &access) && clues_add(&clues, &value));
	}
	CHECK_OK(solve(&solver, &input));
	CHECK_OK(solver_refine(&solver));
	CHECK(is_tried(&solver, text));
	CHECK(clues_add(&clues, &stride));
	CHECK_OK(solve(&solver, &input));
	CHECK_OK(solver_refine(&solver));
	CHECK(solver.count && solver.items[0].type == number);
	CHECK(!is_tried(&solver, text));
	solver_deinit(&solver);
	clues_deinit(&clues);
	destroy(asked);
}

/* The best that clues name is refuted: then all other types are tried, too. */
static void test_refuted(void)
{
	struct asked *asked = create();
	struct solver solver;
	struct clues clues = { .items = NULL };
	struct thing *bytes = &fixture->contents->thing;
	uint32_t thing = struct_named(asked, "thing");
	struct clue pointer = { .kind = CLUE_VALUE,
				.source = SOURCE_CODE,
				.size = 8,
				.type = { asked->layout->btf,
					  asked->layout->records[thing].pointer } };
	struct clue other = { .kind = CLUE_OBJECT,
			      .source = SOURCE_CODE,
			      .offset = 8,
			      .type = { asked->layout->btf, struct_named(asked, "point") } };
	uint32_t text = layout_find(asked->layout, BTF_INT, "char");
	memcpy(bytes->name, "one way, then a", 16);
	ask(asked, "thing", sizeof(struct thing));
	struct solver_input input = input_of(asked, &clues);
	CHECK_OK(solver_init(&solver, asked->layout));
	CHECK(clues_add(&clues, &pointer) && clues_add(&clues, &other));
	CHECK_OK(solve(&solver, &input));
	CHECK_OK(solver_refine(&solver));
	CHECK(is_tried(&solver, text));
	solver_deinit(&solver);
	clues_deinit(&clues);
	destroy(asked);
}

int main(void)
{
	RUN(test_outlines);
	RUN(test_words);
	RUN(test_numbered_words);
	RUN(test_costs);
	RUN(test_signs);
	RUN(test_nothing);
	RUN(test_search);
	RUN(test_noise);
	RUN(test_families);
	RUN(test_accessed_otherwise);
	RUN(test_picked_apart);
	RUN(test_refuted);
	RUN(test_ends);
	RUN(test_literals_behind);
	return test_finish();
}
