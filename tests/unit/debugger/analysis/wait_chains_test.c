// SPDX-License-Identifier: GPL-3.0-or-later
/* Who waits for whom: chains, circles, and both together. */
#include "tests/unit/test.h"

#include "debugger/analysis/waits.h"

#define WAITS_MAX 64u

struct fixture {
	struct wait items[WAITS_MAX];
	struct task owner;
	struct waits waits;
};

/* Tasks have their number as address; an owner 0 is not known. */
static void add(struct fixture *fixture, uint64_t task, uint64_t owner, enum confidence sure)
{
	struct wait *wait = &fixture->items[fixture->waits.count++];
	*wait = (struct wait){ .task = { .address = task, .pid = (int32_t)task },
			       .kind = "mutex",
			       .function = "",
			       .sure = CONFIDENCE_CERTAIN,
			       .owner = owner,
			       .owner_sure = sure };
}

static const struct task *task_of(void *context, uint64_t address)
{
	struct fixture *fixture = context;
	if (address == 666)
		return NULL;
	fixture->owner = (struct task){ .address = address, .pid = (int32_t)address };
	return &fixture->owner;
}

static void link_all(struct fixture *fixture)
{
	fixture->waits.items = fixture->items;
	CHECK_OK(waits_link(&fixture->waits, task_of, fixture));
}

static void finish(struct fixture *fixture)
{
	free(fixture->waits.chains);
}

static const struct wait_chain *chain_of(const struct fixture *fixture, size_t item)
{
	uint32_t chain = fixture->items[item].chain;
	CHECK(chain < fixture->waits.chain_count);
	return &fixture->waits.chains[chain];
}

static void test_abba_with_one_behind(void)
{
	struct fixture fixture = { 0 };
	add(&fixture, 3, 1, CONFIDENCE_CERTAIN);
	add(&fixture, 1, 2, CONFIDENCE_CERTAIN);
	add(&fixture, 2, 1, CONFIDENCE_INFERRED);
	link_all(&fixture);
	CHECK_U64(fixture.waits.chain_count, 1);
	const struct wait_chain *chain = &fixture.waits.chains[0];
	CHECK_U64(chain->length, 2);
	CHECK_U64(chain->behind, 1);
	CHECK_U64(chain->sure, CONFIDENCE_INFERRED);
	CHECK_U64(chain->wait, 1);
	CHECK_U64(fixture.items[0].owner_wait, 1);
	CHECK_U64(fixture.items[1].owner_wait, 2);
	CHECK_U64(fixture.items[2].owner_wait, 1);
	finish(&fixture);
}

static void test_task_that_waits_for_itself(void)
{
	struct fixture fixture = { 0 };
	add(&fixture, 1, 1, CONFIDENCE_CERTAIN);
	link_all(&fixture);
	CHECK_U64(fixture.waits.chain_count, 1);
	CHECK_U64(fixture.waits.chains[0].length, 1);
	CHECK_U64(fixture.waits.chains[0].behind, 0);
	finish(&fixture);
}

/* A tree: 9 runs and holds up 1 and 2; 3 waits for 2. */
static void test_chain_to_a_running_task(void)
{
	struct fixture fixture = { 0 };
	add(&fixture, 1, 9, CONFIDENCE_CERTAIN);
	add(&fixture, 2, 9, CONFIDENCE_CERTAIN);
	add(&fixture, 3, 2, CONFIDENCE_GUESS);
	link_all(&fixture);
	CHECK_U64(fixture.waits.chain_count, 1);
	CHECK_U64(fixture.waits.chains[0].head.address, 9);
	CHECK_U64(fixture.waits.chains[0].wait, WAIT_NONE);
	CHECK_U64(fixture.waits.chains[0].behind, 3);
	CHECK_U64(fixture.waits.chains[0].length, 0);
	CHECK_U64(fixture.waits.chains[0].sure, CONFIDENCE_GUESS);
	finish(&fixture);
}

/* The head waits for what nobody is known to complete; a task alone is no chain. */
static void test_head_that_waits(void)
{
	struct fixture fixture = { 0 };
	add(&fixture, 5, 0, CONFIDENCE_UNKNOWN);
	add(&fixture, 1, 0, CONFIDENCE_UNKNOWN);
	add(&fixture, 2, 1, CONFIDENCE_CERTAIN);
	add(&fixture, 3, 2, CONFIDENCE_CERTAIN);
	link_all(&fixture);
	CHECK_U64(fixture.waits.chain_count, 1);
	CHECK_U64(fixture.items[0].chain, WAIT_NONE);
	CHECK_U64(chain_of(&fixture, 1)->wait, 1);
	CHECK_U64(chain_of(&fixture, 3)->head.address, 1);
	CHECK_U64(chain_of(&fixture, 3)->behind, 2);
	CHECK_U64(chain_of(&fixture, 3)->sure, CONFIDENCE_CERTAIN);
	finish(&fixture);
}

/* Circles come first, then what holds up more. */
static void test_order(void)
{
	struct fixture fixture = { 0 };
	add(&fixture, 1, 20, CONFIDENCE_CERTAIN);
	add(&fixture, 2, 30, CONFIDENCE_CERTAIN);
	add(&fixture, 3, 30, CONFIDENCE_CERTAIN);
	add(&fixture, 4, 5, CONFIDENCE_CERTAIN);
	add(&fixture, 5, 4, CONFIDENCE_CERTAIN);
	add(&fixture, 6, 666, CONFIDENCE_CERTAIN);
	link_all(&fixture);
	CHECK_U64(fixture.waits.chain_count, 4);
	CHECK_U64(fixture.waits.chains[0].length, 2);
	CHECK_U64(fixture.waits.chains[1].head.address, 30);
	CHECK_U64(fixture.waits.chains[1].behind, 2);
	CHECK_U64(chain_of(&fixture, 0)->head.address, 20);
	CHECK_U64(chain_of(&fixture, 5)->head.address, 666);
	/* Nothing but its address is known of that one. */
	CHECK(chain_of(&fixture, 5)->head.pid < 0);
	finish(&fixture);
}

/* Any graph ends, and each wait with an owner is in a chain. */
static void test_all_graphs_of_four(void)
{
	for (unsigned int graph = 0; graph < 6 * 6 * 6 * 6; graph++) {
		struct fixture fixture = { 0 };
		unsigned int counted = 0, members = 0;
		for (unsigned int i = 0, rest = graph; i < 4; i++, rest /= 6)
			add(&fixture, i + 1, rest % 6, CONFIDENCE_CERTAIN);
		link_all(&fixture);
		for (unsigned int i = 0; i < 4; i++) {
			const struct wait *wait = &fixture.items[i];
			CHECK(!wait->owner || wait->chain < fixture.waits.chain_count);
			members += wait->chain != WAIT_NONE;
		}
		for (size_t i = 0; i < fixture.waits.chain_count; i++) {
			const struct wait_chain *chain = &fixture.waits.chains[i];
			counted += chain->length + chain->behind;
			counted += !chain->length && chain->wait != WAIT_NONE;
		}
		CHECK_U64(counted, members);
		finish(&fixture);
	}
}

static void test_nothing(void)
{
	struct fixture fixture = { 0 };
	link_all(&fixture);
	CHECK_U64(fixture.waits.chain_count, 0);
	finish(&fixture);
}

int main(void)
{
	RUN(test_abba_with_one_behind);
	RUN(test_task_that_waits_for_itself);
	RUN(test_chain_to_a_running_task);
	RUN(test_head_that_waits);
	RUN(test_order);
	RUN(test_all_graphs_of_four);
	RUN(test_nothing);
	return test_finish();
}
