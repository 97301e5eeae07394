// SPDX-License-Identifier: GPL-3.0-or-later
/* What is said of tasks that hold others up, and of whom nothing is said. */
#include "tests/unit/test.h"

#include "debugger/analysis/detect_deadlock.h"
#include <stdbool.h>

#define WAITS_MAX 64u
#define SECOND	  1000000000u

struct fixture {
	struct wait items[WAITS_MAX];
	struct task owner;
	struct waits waits;
	struct target target;
	struct finding *findings;
	size_t count;
	bool is_cause;
};

/* Tasks have their number as address; what they wait for is a futex, which needs no symbols. */
static struct wait *add(struct fixture *fixture, uint64_t task, uint64_t owner, uint64_t object)
{
	struct wait *wait = &fixture->items[fixture->waits.count++];
	*wait = (struct wait){ .task = { .address = task,
					 .pid = (int32_t)task,
					 .comm = "waiter",
					 .state = 2,
					 .state_letter = 'D' },
			       .kind = "futex",
			       .function = "",
			       .caller = "",
			       .object = object,
			       .sure = CONFIDENCE_CERTAIN,
			       .owner = owner,
			       .owner_sure = CONFIDENCE_CERTAIN,
			       .has_age = true,
			       .age = 5 * (uint64_t)SECOND };
	return wait;
}

/* Owners that wait for nothing have exited: their stacks are not asked for. */
static const struct task *task_of(void *context, uint64_t address)
{
	struct fixture *fixture = context;
	fixture->owner = (struct task){
		.address = address, .pid = (int32_t)address, .comm = "owner", .state_letter = 'Z'
	};
	return &fixture->owner;
}

static void detect(struct fixture *fixture)
{
	fixture->waits.items = fixture->items;
	CHECK_OK(waits_link(&fixture->waits, task_of, fixture));
	struct hang hang;
	CHECK_OK(detect_hang(&fixture->target, &fixture->waits, &hang));
	fixture->findings = hang.findings;
	fixture->count = hang.count;
	fixture->is_cause = hang.is_cause;
}

static void finish(struct fixture *fixture)
{
	for (size_t i = 0; i < fixture->count; i++)
		finding_deinit(&fixture->findings[i]);
	free(fixture->findings);
	free(fixture->waits.chains);
}

static bool has_command(const struct finding *finding, const char *command)
{
	for (size_t i = 0; i < finding->count; i++)
		if (finding->evidence[i].command && !strcmp(finding->evidence[i].command, command))
			return true;
	return false;
}

static void test_deadlock(void)
{
	struct fixture fixture = { 0 };
	add(&fixture, 1, 2, 0x100);
	/* How long it lasts does not matter. */
	add(&fixture, 2, 1, 0x200)->age = 0;
	detect(&fixture);
	CHECK_U64(fixture.count, 1);
	const struct finding *finding = &fixture.findings[0];
	CHECK_STRING(finding->kind, "deadlock");
	CHECK_STRING(finding->summary,
		     "deadlock of 2 tasks: 1 \"waiter\" waits for futex 0x100, held up by 2 "
		     "\"waiter\", who waits for futex 0x200, held up by 1 \"waiter\"");
	CHECK_U64(finding->sure, CONFIDENCE_CERTAIN);
	CHECK(has_command(finding, "bt 1") && has_command(finding, "bt 2"));
	finish(&fixture);
}

static void test_chain(void)
{
	struct fixture fixture = { 0 };
	add(&fixture, 1, 9, 0x100)->owner_sure = CONFIDENCE_GUESS;
	add(&fixture, 2, 1, 0x200);
	detect(&fixture);
	CHECK_U64(fixture.count, 1);
	const struct finding *finding = &fixture.findings[0];
	CHECK_STRING(finding->kind, "blocked");
	CHECK_STRING(finding->summary,
		     "9 \"owner\" has exited; it holds up 2 tasks, for up to 5.0 s");
	CHECK_U64(finding->sure, CONFIDENCE_GUESS);
	CHECK_U64(finding->blamed, 9);
	CHECK(has_command(finding, "bt 9") && has_command(finding, "locks --graph"));
	finish(&fixture);
}

/* Three tasks wait for one object that nobody is known to have: one finding. */
static void test_object_without_owner(void)
{
	struct fixture fixture = { 0 };
	add(&fixture, 1, 0, 0x100);
	add(&fixture, 2, 0, 0x200)->owner_how = "nobody comes";
	add(&fixture, 3, 0, 0x100)->age = 7 * (uint64_t)SECOND;
	add(&fixture, 4, 0, 0x100);
	detect(&fixture);
	CHECK_U64(fixture.count, 2);
	CHECK_STRING(fixture.findings[0].summary,
		     "3 tasks wait for futex 0x100, for up to 7.0 s: nobody is known to have it");
	CHECK_STRING(fixture.findings[1].summary,
		     "2 \"waiter\" waits for futex 0x200, for up to 5.0 s: nobody comes");
	CHECK_U64(fixture.findings[0].blamed, 0);
	finish(&fixture);
}

/* Short waits, and those that a signal ends, are a machine at work. */
static void test_nothing_to_say(void)
{
	struct fixture fixture = { 0 };
	add(&fixture, 1, 9, 0x100)->age = SECOND / 2;
	add(&fixture, 2, 0, 0x200)->age = SECOND / 2;
	add(&fixture, 3, 8, 0x300)->task.state_letter = 'S';
	add(&fixture, 4, 0, 0x400)->task.state_letter = 'S';
	add(&fixture, 5, 0, 0);
	detect(&fixture);
	CHECK_U64(fixture.count, 0);
	finish(&fixture);
}

/* Who can be killed hangs nobody: he comes last, however many wait, and is no cause. */
static void test_killable(void)
{
	struct fixture fixture = { 0 };
	add(&fixture, 1, 9, 0x100)->task.state = 0x102;
	add(&fixture, 2, 9, 0x100)->task.state = 0x102;
	detect(&fixture);
	CHECK_U64(fixture.count, 1);
	CHECK(!fixture.is_cause);
	finish(&fixture);
	fixture.waits = (struct waits){ .count = 2 };
	add(&fixture, 3, 8, 0x200);
	detect(&fixture);
	CHECK_U64(fixture.count, 2);
	CHECK(fixture.is_cause);
	CHECK_U64(fixture.findings[0].blamed, 8);
	CHECK_U64(fixture.findings[1].blamed, 9);
	finish(&fixture);
}

/* A machine where everything is stuck has a page of findings, and no more. */
static void test_many(void)
{
	struct fixture fixture = { 0 };
	for (uint64_t i = 0; i < WAITS_MAX; i++)
		add(&fixture, i + 1, i % 2 ? 0 : i + 1000, 0x1000 + i);
	detect(&fixture);
	CHECK(fixture.count > 8 && fixture.count < WAITS_MAX / 2);
	finish(&fixture);
}

int main(void)
{
	RUN(test_deadlock);
	RUN(test_chain);
	RUN(test_object_without_owner);
	RUN(test_nothing_to_say);
	RUN(test_killable);
	RUN(test_many);
	return test_finish();
}
