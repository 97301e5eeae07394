// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * From the record on a stack to the lock: kernels whose locks have the head of a list, and those
 * whose waiters hang in a ring of their own, into which the lock points.
 */
#include "tests/unit/libbpf.h"
#include "tests/unit/test.h"

#include "base/array.h"
#include "debugger/analysis/waits_private.h"
#include "debugger/target/arch_x86_64.h"

#define BASE	   0xffff888000100000u
#define STACK_SIZE 1024u
#define STACK_A	   BASE
#define STACK_B	   (BASE + STACK_SIZE)
#define LOCK	   (BASE + 2 * STACK_SIZE)
#define OTHER_LOCK (LOCK + 64)
#define TASK_A	   (LOCK + 128)
#define TASK_B	   (TASK_A + 16)
#define SIZE	   (2 * STACK_SIZE + 256)
/* On each stack; the live frames begin at FRAME, what lies below is stale. */
#define FRAME  256u
#define RECORD 320u
#define STALE  64u

struct fixture {
	uint64_t words[SIZE / 8];
	struct memory_array memory;
	struct libbpf_btf *written;
	struct target target;
	struct task tasks[2];
	struct frame frames[3];
	struct stack_trace trace;
	struct wait_world world;
	struct sleeper sleeper;
};

static const struct wait_class class = { "mutex", "struct mutex", "struct mutex_waiter", "task",
					 "list",  "wait_list",	  "first_waiter",	 NULL };

static void write_types(struct fixture *fixture, bool has_head)
{
	const void *data;
	uint32_t size;
	struct libbpf_btf *btf = fixture->written = btf__new_empty();
	int word = btf__add_int(btf, "long unsigned int", 8, 0);
	int list = add_list_head(btf);
	int task = btf__add_ptr(btf, word);
	int waiter = btf__add_struct(btf, "mutex_waiter", 24);
	add_member(btf, "list", list, 0);
	add_member(btf, "task", task, 16);
	int pointer = btf__add_ptr(btf, waiter);
	btf__add_struct(btf, "mutex", has_head ? 24 : 16);
	add_member(btf, "owner", word, 0);
	add_member(btf, has_head ? "wait_list" : "first_waiter", has_head ? list : pointer, 8);
	data = btf__raw_data(btf, &size);
	CHECK_OK(btf_open(data, size, NULL, "vmlinux", &fixture->target.btf));
}

static void put(struct fixture *fixture, uint64_t address, uint64_t value)
{
	fixture->words[(address - BASE) / 8] = value;
}

static void put_record(struct fixture *fixture, uint64_t record, uint64_t task, uint64_t next,
		       uint64_t prev)
{
	put(fixture, record, next);
	put(fixture, record + 8, prev);
	put(fixture, record + 16, task);
}

/* Tasks A and B wait for the lock; A is the one that is asked about. */
static void build(struct fixture *fixture, bool has_head)
{
	*fixture = (struct fixture){ 0 };
	uint64_t a = STACK_A + RECORD, b = STACK_B + RECORD, head = LOCK + 8;
	write_types(fixture, has_head);
	put_record(fixture, a, TASK_A, b, has_head ? head : b);
	put_record(fixture, b, TASK_B, has_head ? head : a, a);
	put(fixture, head, a);
	if (has_head)
		put(fixture, head + 8, b);
	memory_array_init(&fixture->memory, BASE, fixture->words, sizeof(fixture->words));
	fixture->target.memory = &fixture->memory.memory;
	fixture->target.arch = &arch_x86_64;
	fixture->tasks[0] = (struct task){ .address = TASK_A, .stack = STACK_A };
	fixture->tasks[1] = (struct task){ .address = TASK_B, .stack = STACK_B };
	for (unsigned int i = 0; i < ARRAY_COUNT(fixture->frames); i++)
		fixture->frames[i].sp = STACK_A + FRAME + 128 * i;
	fixture->trace = (struct stack_trace){ .frames = fixture->frames,
					       .count = ARRAY_COUNT(fixture->frames) };
	fixture->world = (struct wait_world){ .target = &fixture->target,
					      .tasks = fixture->tasks,
					      .task_count = 2,
					      .stack_size = STACK_SIZE };
	fixture->sleeper = (struct sleeper){ .world = &fixture->world,
					     .task = &fixture->tasks[0],
					     .trace = &fixture->trace };
}

static void finish(struct fixture *fixture)
{
	free(fixture->sleeper.stack);
	wait_rings_deinit(&fixture->world.rings);
	btf_close(fixture->target.btf);
	btf__free(fixture->written);
}

/* The lock; both locks, and addresses that cannot be read, may be it. */
static uint64_t ask(struct fixture *fixture)
{
	const uint64_t candidates[] = { 0xdeadbeef, OTHER_LOCK, LOCK, UINT64_MAX - 7 };
	uint64_t lock = 1;
	CHECK_OK(wait_lock_by_list(&fixture->sleeper, &class, candidates, ARRAY_COUNT(candidates),
				   &lock));
	return lock;
}

static void test_both_kinds(void)
{
	for (int has_head = 0; has_head < 2; has_head++) {
		struct fixture fixture;
		build(&fixture, has_head);
		CHECK_U64(ask(&fixture), LOCK);
		finish(&fixture);
	}
}

/* Its only waiter's list points to itself where locks have no head, and is left where they have. */
static void test_alone(void)
{
	for (int has_head = 0; has_head < 2; has_head++) {
		struct fixture fixture;
		uint64_t record = STACK_A + RECORD;
		build(&fixture, has_head);
		put_record(&fixture, record, TASK_A, record, record);
		CHECK_U64(ask(&fixture), has_head ? 0 : LOCK);
		finish(&fixture);
	}
}

/* A record of another lock's: none of the candidates leads to it. */
static void test_lock_is_not_among_them(void)
{
	struct fixture fixture;
	build(&fixture, false);
	put(&fixture, LOCK + 8, OTHER_LOCK);
	CHECK_U64(ask(&fixture), 0);
	finish(&fixture);
}

/* What is left of an earlier wait: below the frames, or unlinked. */
static void test_stale(void)
{
	for (int has_head = 0; has_head < 2; has_head++) {
		struct fixture fixture;
		uint64_t stale = STACK_A + STALE, record = STACK_A + RECORD;
		build(&fixture, has_head);
		put_record(&fixture, record, 0, 0, 0);
		put_record(&fixture, stale, TASK_A, stale, stale);
		CHECK_U64(ask(&fixture), 0);
		finish(&fixture);
		build(&fixture, has_head);
		put(&fixture, STACK_B + RECORD + 8, stale);
		CHECK_U64(ask(&fixture), 0);
		finish(&fixture);
	}
}

/* A stack pointer that is none. */
static void test_wild_stack(void)
{
	static const uint64_t wild[] = { 0, STACK_A + FRAME + 1, STACK_B, UINT64_MAX - 7 };
	for (size_t i = 0; i < ARRAY_COUNT(wild); i++) {
		struct fixture fixture;
		build(&fixture, true);
		fixture.frames[0].sp = wild[i];
		CHECK_U64(ask(&fixture), 0);
		finish(&fixture);
	}
}

int main(void)
{
	RUN(test_both_kinds);
	RUN(test_alone);
	RUN(test_lock_is_not_among_them);
	RUN(test_stale);
	RUN(test_wild_stack);
	return test_finish();
}
