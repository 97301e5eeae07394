// SPDX-License-Identifier: GPL-3.0-or-later
/* Walking lists, whole and broken. */
#include "tests/unit/test.h"

#include "debugger/target/list.h"

#define BASE  0xffff888000100000u
#define NODES 8u

struct fixture {
	uint64_t links[NODES][2]; /* next, prev; node 0 is the head */
	struct memory_array memory;
	struct target target;
};

static uint64_t address_of(unsigned int node)
{
	return BASE + 16 * (uint64_t)node;
}

static void build(struct fixture *fixture)
{
	for (unsigned int i = 0; i < NODES; i++) {
		fixture->links[i][0] = address_of((i + 1) % NODES);
		fixture->links[i][1] = address_of((i + NODES - 1) % NODES);
	}
	memory_array_init(&fixture->memory, BASE, fixture->links, sizeof(fixture->links));
	fixture->target = (struct target){ .memory = &fixture->memory.memory };
}

/* How many nodes were seen before the end, which must be a failure or not. */
static unsigned int count(struct fixture *fixture, bool backward, bool must_fail)
{
	struct list_walk walk;
	unsigned int seen = 0;
	if (backward)
		list_walk_init_backward(&walk, &fixture->target, BASE);
	else
		list_walk_init(&walk, &fixture->target, BASE);
	for (;;) {
		uint64_t node = 0;
		struct error *error = list_walk_next(&walk, &node);
		CHECK(!error || must_fail);
		if (error || !node) {
			CHECK(!!error == must_fail);
			error_free(error);
			break;
		}
		seen++;
		CHECK_U64(node, address_of(backward ? NODES - seen : seen));
		CHECK(seen < NODES);
	}
	/* After the end there is nothing more, error or not. */
	uint64_t node = 1;
	CHECK_OK(list_walk_next(&walk, &node));
	CHECK_U64(node, 0);
	return seen;
}

static void test_whole(void)
{
	static struct fixture fixture;
	build(&fixture);
	CHECK_U64(count(&fixture, false, false), NODES - 1);
	CHECK_U64(count(&fixture, true, false), NODES - 1);
	fixture.links[0][0] = fixture.links[0][1] = BASE;
	CHECK_U64(count(&fixture, false, false), 0);
}

static void test_unreadable(void)
{
	static struct fixture fixture;
	build(&fixture);
	fixture.links[3][0] = 0xdead000000000100;
	CHECK_U64(count(&fixture, false, true), 3);
	/* From behind, node 3 is refused for where it leads. */
	CHECK_U64(count(&fixture, true, true), NODES - 4);
}

static void test_loop(void)
{
	static struct fixture fixture;
	for (unsigned int from = 1; from < NODES; from++) {
		for (unsigned int to = 1; to < NODES; to++) {
			if (to == from + 1)
				continue;
			build(&fixture);
			fixture.links[from][0] = address_of(to);
			CHECK_U64(count(&fixture, false, true), from);
		}
	}
}

int main(void)
{
	RUN(test_whole);
	RUN(test_unreadable);
	RUN(test_loop);
	return test_finish();
}
