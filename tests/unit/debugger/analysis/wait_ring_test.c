// SPDX-License-Identifier: GPL-3.0-or-later
/* From a waiter to its lock through rings, whole and broken. */
#include "tests/unit/test.h"

#include "debugger/analysis/wait_ring.h"

#define BASE  0xffff888000100000u
#define NODES 8u
#define WILD  0xdeadbeefdeadbee8u

struct fixture {
	uint64_t links[NODES][2]; /* next, prev */
	bool is_waiter[NODES];	  /* all but node 0 at first */
	unsigned int asked;
	struct memory_array memory;
	struct target target;
	struct wait_rings rings;
};

static uint64_t address_of(unsigned int node)
{
	return BASE + 16 * (uint64_t)node;
}

static void build(struct fixture *fixture)
{
	*fixture = (struct fixture){ 0 };
	for (unsigned int i = 0; i < NODES; i++) {
		fixture->links[i][0] = address_of((i + 1) % NODES);
		fixture->links[i][1] = address_of((i + NODES - 1) % NODES);
		fixture->is_waiter[i] = i != 0;
	}
	memory_array_init(&fixture->memory, BASE, fixture->links, sizeof(fixture->links));
	fixture->target = (struct target){ .memory = &fixture->memory.memory };
}

static bool is_waiter(void *context, uint64_t node)
{
	struct fixture *fixture = context;
	fixture->asked++;
	CHECK(node >= BASE && node < address_of(NODES));
	return fixture->is_waiter[(node - BASE) / 16 % NODES];
}

static uint64_t head_of(struct fixture *fixture, unsigned int node)
{
	uint64_t head = 1;
	CHECK_OK(wait_rings_head(&fixture->rings, &fixture->target, address_of(node), is_waiter,
				 fixture, &head));
	return head;
}

static void test_every_waiter_leads_to_the_head(void)
{
	struct fixture fixture;
	build(&fixture);
	for (unsigned int i = 1; i < NODES; i++)
		CHECK_U64(head_of(&fixture, i), address_of(0));
	/* The ring was walked for the first of them only. */
	CHECK_U64(fixture.asked, NODES - 1);
	wait_rings_deinit(&fixture.rings);
}

static void test_two_heads_are_none(void)
{
	struct fixture fixture;
	build(&fixture);
	fixture.is_waiter[4] = false;
	CHECK_U64(head_of(&fixture, 2), 0);
	wait_rings_deinit(&fixture.rings);
	build(&fixture);
	fixture.is_waiter[0] = true;
	CHECK_U64(head_of(&fixture, 2), 0);
	wait_rings_deinit(&fixture.rings);
}

/* Any link that is changed breaks the ring: no head is believed, whoever asks, and nothing hangs.
 */
static void test_broken_links(void)
{
	for (unsigned int node = 0; node < NODES; node++)
		for (unsigned int side = 0; side < 2; side++)
			for (unsigned int to = 0; to <= NODES; to++) {
				struct fixture fixture;
				uint64_t wrong = to == NODES ? WILD : address_of(to);
				build(&fixture);
				if (fixture.links[node][side] == wrong)
					continue;
				fixture.links[node][side] = wrong;
				for (unsigned int i = 1; i < NODES; i++)
					CHECK_U64(head_of(&fixture, i), 0);
				CHECK(fixture.rings.count <= NODES);
				wait_rings_deinit(&fixture.rings);
			}
}

static void test_share(void)
{
	struct fixture fixture;
	bool shares;
	build(&fixture);
	/* Nodes 4 to 7 are a ring of their own. */
	fixture.links[3][0] = address_of(0);
	fixture.links[0][1] = address_of(3);
	fixture.links[7][0] = address_of(4);
	fixture.links[4][1] = address_of(7);
	CHECK_OK(wait_rings_share(&fixture.rings, &fixture.target, address_of(1), address_of(3),
				  &shares));
	CHECK(shares);
	CHECK_OK(wait_rings_share(&fixture.rings, &fixture.target, address_of(1), address_of(5),
				  &shares));
	CHECK(!shares);
	CHECK_OK(wait_rings_share(&fixture.rings, &fixture.target, WILD, address_of(5), &shares));
	CHECK(!shares);
	wait_rings_deinit(&fixture.rings);
}

static void test_linked(void)
{
	struct fixture fixture;
	uint64_t next = 0;
	build(&fixture);
	CHECK(wait_node_is_linked(&fixture.target, address_of(2), &next));
	CHECK_U64(next, address_of(3));
	fixture.links[3][1] = address_of(5);
	CHECK(!wait_node_is_linked(&fixture.target, address_of(2), &next));
	CHECK(!wait_node_is_linked(&fixture.target, WILD, &next));
	CHECK(!wait_node_is_linked(&fixture.target, UINT64_MAX - 7, &next));
}

int main(void)
{
	RUN(test_every_waiter_leads_to_the_head);
	RUN(test_two_heads_are_none);
	RUN(test_broken_links);
	RUN(test_share);
	RUN(test_linked);
	return test_finish();
}
