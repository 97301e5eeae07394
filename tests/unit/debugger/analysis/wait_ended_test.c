// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A task that began after another one went to sleep for its lock is not the owner; but where the
 * clocks that say so are apart, nothing is known.
 */
#include "tests/unit/sleeper_fixture.h"

#define SECOND UINT64_C(1000000000)
#define END    (1000 * SECOND)

struct raw_task {
	uint64_t start, arrival;
};

struct raw_data {
	struct raw_task tasks[SLEEPER_TASKS];
};

#define AT(member) (SLEEPER_BASE + offsetof(struct raw_data, member))

/* The first task sleeps since `arrival`, by one clock; the second began at `start`, by another. */
static bool is_younger(uint64_t arrival, uint64_t start, uint64_t now, uint64_t died)
{
	struct raw_data data = { .tasks = { { 0, arrival }, { start, 0 } } };
	struct sleeper_fixture fixture;
	sleeper_fixture_init(&fixture, &data, sizeof(data), "mutex_lock");
	struct libbpf_btf *btf = fixture.written;
	int word = btf__add_int(btf, "long unsigned int", 8, 0);
	int info = btf__add_struct(btf, "sched_info", 8);
	add_member(btf, "last_arrival", word, 0);
	btf__add_struct(btf, "task_struct", sizeof(struct raw_task));
	add_member(btf, "start_time", word, 0);
	add_member(btf, "sched_info", info, offsetof(struct raw_task, arrival));
	sleeper_fixture_open(&fixture, 0, 0);
	for (unsigned int i = 0; i < SLEEPER_TASKS; i++)
		fixture.tasks[i].address = AT(tasks[i]);
	fixture.world.now = now;
	fixture.world.died = died;
	bool ret = wait_is_younger(&fixture.sleeper, AT(tasks[1]));
	CHECK(!wait_is_younger(&fixture.sleeper, SLEEPER_NOWHERE));
	sleeper_fixture_deinit(&fixture);
	return ret;
}

static void test_ages(void)
{
	CHECK(is_younger(END - 15 * SECOND, END - 14 * SECOND, END, END));
	CHECK(!is_younger(END - 14 * SECOND, END - 15 * SECOND, END, END));
	/* Nearly at the same time, which may be a tick's. */
	CHECK(!is_younger(END - 15 * SECOND, END - 15 * SECOND + 20000000, END, END));
	/* A long sleep is not measured as well as a short one. */
	CHECK(!is_younger(END - 900 * SECOND, END - 900 * SECOND + SECOND / 2, END, END));
	CHECK(is_younger(END - 900 * SECOND, END - 898 * SECOND, END, END));
}

static void test_clocks(void)
{
	/* Time stood still for ten seconds; one clock is ten seconds ahead of the other, or behind.
	 */
	CHECK(!is_younger(END - 95 * SECOND, END - 100 * SECOND, END, END - 10 * SECOND));
	CHECK(!is_younger(END - 95 * SECOND, END - 90 * SECOND, END, END + 10 * SECOND));
	CHECK(!is_younger(END - 95 * SECOND, END - 100 * SECOND, END, END - 4 * SECOND));
	CHECK(!is_younger(END - 15 * SECOND, END - 14 * SECOND, 0, END));
	CHECK(!is_younger(END - 15 * SECOND, END - 14 * SECOND, END, 0));
	CHECK(!is_younger(0, END - 14 * SECOND, END, END));
	CHECK(!is_younger(END + 1, END - 14 * SECOND, END, END));
	CHECK(!is_younger(END - 15 * SECOND, 0, END, END));
}

int main(void)
{
	RUN(test_ages);
	RUN(test_clocks);
	return test_finish();
}
