// SPDX-License-Identifier: GPL-3.0-or-later
/* Pointers in the arms of a union: the bytes that they point at tell which arm is in use. */
#include "tests/unit/eval_fixture.h"

#include "debugger/infer/evidence/pointers.h"
#include "debugger/infer/known/knowledge.h"

struct node {
	uint64_t thing; /* struct thing * */
	uint64_t value;
};

/* What lies at `thing`: a union of pointers to nodes or points, each with a count or without. */
struct suite {
	uint64_t items;
	uint32_t count;
};

/* One of a table: rows with one function use one arm. */
struct row {
	uint64_t test;
	struct suite suite;
};

struct walked {
	struct fixture *fixture;
	struct knowledge *knowledge;
	const struct layout *layout;
	struct pointer_walk *walk;
	struct suite *suite;
	struct node *nodes; /* at `other` */
};

/* struct NAME_of_nodes { struct node *items; unsigned int count; }, and the same of points. */
static int add_arm(struct fixture *fixture, const char *name, int element, bool counted)
{
	int pointer = btf__add_ptr(fixture->source, btf__add_const(fixture->source, element));
	int arm = btf__add_struct(fixture->source, name, 16);
	add_member(fixture->source, "items", pointer, 0);
	if (counted)
		add_member(fixture->source, "count", fixture->ids.uint, 8);
	return arm;
}

static void add_holder(struct fixture *fixture, const char *name, int node, bool counted)
{
	int nodes = add_arm(fixture, "nodes", node, true);
	int points = add_arm(fixture, "points", fixture->ids.point, counted);
	int both = btf__add_union(fixture->source, NULL, 16);
	add_member(fixture->source, "nodes", nodes, 0);
	add_member(fixture->source, "points", points, 0);
	btf__add_struct(fixture->source, name, 16);
	add_member(fixture->source, "suite", both, 0);
}

static void add_rows(struct fixture *fixture, int node)
{
	int test = btf__add_ptr(fixture->source,
				btf__add_func_proto(fixture->source, fixture->ids.int_));
	int nodes = add_arm(fixture, "row_nodes", node, true);
	int points = add_arm(fixture, "row_points", fixture->ids.point, true);
	int both = btf__add_union(fixture->source, NULL, 16);
	add_member(fixture->source, "nodes", nodes, 0);
	add_member(fixture->source, "points", points, 0);
	btf__add_struct(fixture->source, "row", sizeof(struct row));
	add_member(fixture->source, "test", test, offsetof(struct row, test));
	add_member(fixture->source, "suite", both, offsetof(struct row, suite));
}

/* struct same { union { struct node *nodes; const struct node *constants; }; } */
static void add_same(struct fixture *fixture, int node)
{
	int plain = btf__add_ptr(fixture->source, node);
	int constant = btf__add_ptr(fixture->source, btf__add_const(fixture->source, node));
	int both = btf__add_union(fixture->source, NULL, 8);
	add_member(fixture->source, "nodes", plain, 0);
	add_member(fixture->source, "constants", constant, 0);
	btf__add_struct(fixture->source, "same", 8);
	add_member(fixture->source, "both", both, 0);
}

static void add_types(struct fixture *fixture)
{
	uint32_t size = 0;
	int thing = btf__add_ptr(fixture->source, fixture->ids.thing);
	int node = btf__add_struct(fixture->source, "node", sizeof(struct node));
	add_member(fixture->source, "thing", thing, offsetof(struct node, thing));
	add_member(fixture->source, "value", fixture->ids.ulong, offsetof(struct node, value));
	add_holder(fixture, "suite_holder", node, true);
	add_holder(fixture, "loose", node, false);
	add_rows(fixture, node);
	add_same(fixture, node);
	btf_close(fixture->btf);
	const void *raw = btf__raw_data(fixture->source, &size);
	CHECK_OK(btf_open(raw, size, NULL, "vmlinux", &fixture->btf));
	fixture->target.btf = fixture->btf;
}

static struct walked *create(void)
{
	struct walked *walked = calloc(1, sizeof(*walked));
	if (!walked)
		abort();
	walked->fixture = fixture_create("");
	add_types(walked->fixture);
	CHECK_OK(knowledge_create(&walked->fixture->target, &walked->knowledge));
	CHECK_OK(knowledge_layout(walked->knowledge, NULL, &walked->layout));
	CHECK_OK(pointer_walk_create(walked->knowledge, &walked->walk));
	struct contents *contents = walked->fixture->contents;
	walked->suite = (struct suite *)&contents->thing;
	walked->nodes = (struct node *)&contents->other;
	*walked->suite = (struct suite){ AT(other), 2 };
	memset(&contents->other, 0, sizeof(contents->other));
	for (int i = 0; i < 2; i++)
		walked->nodes[i] = (struct node){ AT(thing), 7 };
	return walked;
}

static void destroy(struct walked *walked)
{
	pointer_walk_destroy(walked->walk);
	knowledge_destroy(walked->knowledge);
	fixture_destroy(walked->fixture);
	free(walked);
}

static uint32_t find(const struct walked *walked, const char *name)
{
	return layout_find(walked->layout, BTF_STRUCT, name);
}

/* The type that the walk gives to what lies at `other`; 0: none. */
static uint32_t walk(struct walked *walked, const char *holder)
{
	size_t found;
	CHECK_OK(
		pointer_walk_add(walked->walk, walked->layout, AT(thing), find(walked, holder), 0));
	CHECK_OK(pointer_walk_run(walked->walk, &found));
	if (!found)
		return 0;
	CHECK_U64(found, 1);
	const struct fact *fact =
		&walked->knowledge->facts[knowledge_first_fact(walked->knowledge, AT(other))];
	CHECK(fact->address == AT(other) && fact->clue.kind == CLUE_OBJECT &&
	      fact->clue.source == SOURCE_POINTER);
	CHECK_U64(fact->clue.count, walked->suite->count);
	return fact->clue.type.id;
}

static void test_bytes_choose(void)
{
	struct walked *walked = create();
	CHECK_U64(walk(walked, "suite_holder"), find(walked, "node"));
	destroy(walked);
}

static void test_bytes_fit_both(void)
{
	struct walked *walked = create();
	for (int i = 0; i < 2; i++)
		walked->nodes[i] = (struct node){ 0, 7 };
	CHECK_U64(walk(walked, "suite_holder"), 0);
	destroy(walked);
}

/* More than there is room for, and none. */
static void test_counts(void)
{
	struct walked *walked = create();
	walked->suite->count = 1000000;
	CHECK_U64(walk(walked, "suite_holder"), 0);
	destroy(walked);
	walked = create();
	walked->suite->count = 0;
	CHECK_U64(walk(walked, "suite_holder"), 0);
	destroy(walked);
}

/* One arm does not say how many: then nothing is known. */
static void test_arm_without_count(void)
{
	struct walked *walked = create();
	CHECK_U64(walk(walked, "loose"), 0);
	destroy(walked);
}

/* Into the middle of a symbol, and out of the image. */
static void test_places(void)
{
	struct walked *walked = create();
	walked->suite->items = AT(other) + sizeof(struct node);
	CHECK_U64(walk(walked, "suite_holder"), 0);
	destroy(walked);
	walked = create();
	walked->suite->items = 0xffff888000001000;
	CHECK_U64(walk(walked, "suite_holder"), 0);
	destroy(walked);
}

/* The type that a walk over two rows gives to what lies at `other`; 0: none. */
static uint32_t walk_rows(struct walked *walked, uint64_t second_function)
{
	struct contents *contents = walked->fixture->contents;
	struct row *rows = (struct row *)&contents->thing;
	size_t found;
	/* What the first points at may be either, what the second points at is a node. */
	rows[0] = (struct row){ TEXT_BASE + 0x100, { AT(other), 2 } };
	rows[1] = (struct row){ second_function, { AT(matrix), 1 } };
	for (int i = 0; i < 2; i++)
		walked->nodes[i] = (struct node){ 0, 7 };
	struct node node = { AT(thing), 7 };
	memset(contents->matrix, 0, sizeof(contents->matrix));
	memcpy(contents->matrix, &node, sizeof(node));
	CHECK_OK(pointer_walk_add(walked->walk, walked->layout, AT(thing), find(walked, "row"), 2));
	CHECK_OK(pointer_walk_run(walked->walk, &found));
	size_t at = knowledge_first_fact(walked->knowledge, AT(other));
	if (at == walked->knowledge->fact_count ||
	    walked->knowledge->facts[at].address != AT(other))
		return 0;
	CHECK_U64(walked->knowledge->facts[at].clue.count, 2);
	return walked->knowledge->facts[at].clue.type.id;
}

static void test_rows_agree(void)
{
	struct walked *walked = create();
	CHECK_U64(walk_rows(walked, TEXT_BASE + 0x100), find(walked, "node"));
	destroy(walked);
	walked = create();
	CHECK_U64(walk_rows(walked, TEXT_BASE + 0x200), 0);
	destroy(walked);
	walked = create();
	CHECK_U64(walk_rows(walked, 0), 0);
	destroy(walked);
}

/* A global is known from the pointer to it, and followed once it has an answer. */
static void test_answered_later(void)
{
	struct walked *walked = create();
	size_t found;
	CHECK_U64(walk(walked, "suite_holder"), find(walked, "node"));
	CHECK_OK(
		pointer_walk_add(walked->walk, walked->layout, AT(other), find(walked, "node"), 2));
	CHECK_OK(pointer_walk_run(walked->walk, &found));
	CHECK_U64(found, 1);
	CHECK_U64(walked->knowledge->facts[knowledge_first_fact(walked->knowledge, AT(thing))]
			  .address,
		  AT(thing));
	destroy(walked);
}

/* Arms that differ by const alone: whatever the bytes are, and in whichever arm. */
static void test_one_type(void)
{
	struct walked *walked = create();
	for (int i = 0; i < 2; i++)
		walked->nodes[i] = (struct node){ 0, 7 };
	walked->suite->count = 0;
	CHECK_U64(walk(walked, "same"), find(walked, "node"));
	destroy(walked);
}

int main(void)
{
	RUN(test_bytes_choose);
	RUN(test_bytes_fit_both);
	RUN(test_counts);
	RUN(test_arm_without_count);
	RUN(test_places);
	RUN(test_one_type);
	RUN(test_rows_agree);
	RUN(test_answered_later);
	return test_finish();
}
