// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * From the rt_mutex that a task notes to the lock that is made of it (PREEMPT_RT), and to its
 * owner: by the functions around the wait and the types.
 */
#include "tests/unit/libbpf.h"
#include "tests/unit/test.h"

#include "base/array.h"
#include "debugger/analysis/waits_private.h"
#include "debugger/target/arch_x86_64.h"

#define BASE   0xffff888000100000u
#define TASK_A BASE /* waits */
#define TASK_B (BASE + 32)
#define WAITER (BASE + 64)
#define LOCK   (BASE + 96)
#define SIZE   192u
/* In struct task_struct and struct rt_mutex_waiter. */
#define STATE	   0
#define BLOCKED_ON 8
/* A lock of readers and writers: their number, and behind it the rt_mutex. */
#define RT_MUTEX 8

#define UNINTERRUPTIBLE 2u
#define RTLOCK_WAIT	0x1000u

struct fixture {
	uint64_t words[SIZE / 8];
	struct memory_array memory;
	struct libbpf_btf *written;
	struct target target;
	struct task tasks[2];
	struct frame frames[3];
	struct stack_trace trace;
	struct wait_world world;
	struct waits waits;
	struct wait wait;
	struct sleeper sleeper;
};

#define ENDED "its owner has ended; the last task there was 7 \"gone\""

/* `is_rt`: locks are made of an rt_mutex; elsewhere, they are not. */
static void write_types(struct fixture *fixture, bool is_rt)
{
	const void *data;
	uint32_t size;
	struct libbpf_btf *btf = fixture->written = btf__new_empty();
	int word = btf__add_int(btf, "long unsigned int", 8, 0);
	int number = btf__add_int(btf, "int", 4, 0);
	int counter = btf__add_struct(btf, "atomic_t", 4);
	add_member(btf, "counter", number, 0);
	btf__add_struct(btf, "task_struct", 16);
	add_member(btf, "__state", word, STATE);
	add_member(btf, "pi_blocked_on", word, BLOCKED_ON);
	btf__add_struct(btf, "rt_mutex_waiter", 16);
	add_member(btf, "task", word, 0);
	add_member(btf, "lock", word, 8);
	int rt_mutex = btf__add_struct(btf, "rt_mutex_base", 8);
	add_member(btf, "owner", word, 0);
	int base = btf__add_struct(btf, "rwbase_rt", 16);
	add_member(btf, "readers", counter, 0);
	add_member(btf, "rtmutex", rt_mutex, RT_MUTEX);
	btf__add_struct(btf, "mutex", 8);
	add_member(btf, is_rt ? "rtmutex" : "owner", is_rt ? rt_mutex : word, 0);
	btf__add_struct(btf, "spinlock", 8);
	add_member(btf, is_rt ? "lock" : "rlock", is_rt ? rt_mutex : word, 0);
	btf__add_struct(btf, "rw_semaphore", 16);
	add_member(btf, is_rt ? "rwbase" : "count", is_rt ? base : word, 0);
	int rwlock = btf__add_struct(btf, NULL, 16);
	add_member(btf, is_rt ? "rwbase" : "raw_lock", is_rt ? base : word, 0);
	btf__add_typedef(btf, "rwlock_t", rwlock);
	data = btf__raw_data(btf, &size);
	CHECK_OK(btf_open(data, size, NULL, "vmlinux", &fixture->target.btf));
}

static void put(struct fixture *fixture, uint64_t address, uint64_t value)
{
	fixture->words[(address - BASE) / 8] = value;
}

/* Task A waits for the rt_mutex at LOCK + RT_MUTEX, which B has, in these functions. */
static void build(struct fixture *fixture, bool is_rt, const char *const functions[3])
{
	*fixture = (struct fixture){ 0 };
	write_types(fixture, is_rt);
	put(fixture, TASK_A + STATE, UNINTERRUPTIBLE);
	put(fixture, TASK_A + BLOCKED_ON, WAITER);
	put(fixture, WAITER, TASK_A);
	put(fixture, WAITER + 8, LOCK + RT_MUTEX);
	put(fixture, LOCK, 1u << 30);
	put(fixture, LOCK + RT_MUTEX, TASK_B | 1);
	memory_array_init(&fixture->memory, BASE, fixture->words, sizeof(fixture->words));
	fixture->target.memory = &fixture->memory.memory;
	fixture->target.arch = &arch_x86_64;
	fixture->tasks[0].address = TASK_A;
	fixture->tasks[1].address = TASK_B;
	for (size_t i = 0; i < 3; i++)
		fixture->frames[i] =
			(struct frame){ .has_symbol = functions[i], .symbol.name = functions[i] };
	fixture->trace = (struct stack_trace){ .frames = fixture->frames, .count = 3 };
	fixture->world = (struct wait_world){ .target = &fixture->target,
					      .waits = &fixture->waits,
					      .tasks = fixture->tasks,
					      .task_count = 2 };
	/* What was asked before: no task was ever at the lock's address, and one was at the
	 * waiter's. */
	fixture->waits.ended[0] = (struct wait_ended){ .task = LOCK };
	fixture->waits.ended[1] = (struct wait_ended){ .task = WAITER, .text = strdup(ENDED) };
	fixture->waits.ended_count = 2;
	/* No arguments are proved. */
	fixture->sleeper = (struct sleeper){ .world = &fixture->world,
					     .task = &fixture->tasks[0],
					     .trace = &fixture->trace,
					     .arguments_asked = true,
					     .wait = &fixture->wait };
}

static void finish(struct fixture *fixture)
{
	free(fixture->waits.ended[1].text);
	btf_close(fixture->target.btf);
	btf__free(fixture->written);
}

static void check_text(const char *got, const char *wanted)
{
	CHECK(!got == !wanted);
	if (got && wanted)
		CHECK_STRING(got, wanted);
}

static const struct {
	const char *functions[3];
	uint64_t state;
	const char *kind, *mode;
	uint64_t object;
} cases[] = {
	{ { "rt_mutex_slowlock_block.constprop.0", "__rt_mutex_slowlock_locked.constprop.0",
	    "mutex_lock" },
	  UNINTERRUPTIBLE,
	  "mutex",
	  NULL,
	  LOCK + RT_MUTEX },
	{ { "__rt_mutex_slowlock_locked.constprop.0", "__rwbase_read_lock", "caller" },
	  UNINTERRUPTIBLE,
	  "rwsem",
	  "read",
	  LOCK },
	{ { "__rt_mutex_slowlock_locked.constprop.0", "rwbase_write_lock", "caller" },
	  UNINTERRUPTIBLE,
	  "rwsem",
	  "write",
	  LOCK },
	{ { "rtlock_slowlock_locked", "rwbase_write_lock", "rt_write_lock" },
	  RTLOCK_WAIT,
	  "rwlock",
	  "write",
	  LOCK },
	{ { "rtlock_slowlock_locked", "rt_spin_lock", "caller" },
	  RTLOCK_WAIT,
	  "spinlock",
	  NULL,
	  LOCK + RT_MUTEX },
	{ { "rt_mutex_slowlock_block.constprop.0", "rt_mutex_lock", "mutex_lock" },
	  UNINTERRUPTIBLE,
	  "rt_mutex",
	  NULL,
	  LOCK + RT_MUTEX },
	{ { "rt_mutex_slowlock_block.constprop.0", "futex_lock_pi", NULL },
	  UNINTERRUPTIBLE,
	  "rt_mutex",
	  NULL,
	  LOCK + RT_MUTEX },
	{ { "rt_mutex_slowlock_block.constprop.0", NULL, "mutex_lock" },
	  UNINTERRUPTIBLE,
	  "rt_mutex",
	  NULL,
	  LOCK + RT_MUTEX },
};

static bool find(struct sleeper *sleeper)
{
	CHECK_OK(wait_find_rt_mutex(sleeper));
	return sleeper->wait->kind;
}

static void test_what_it_is_part_of(void)
{
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct fixture fixture;
		build(&fixture, true, cases[i].functions);
		put(&fixture, TASK_A + STATE, cases[i].state);
		CHECK(find(&fixture.sleeper));
		CHECK_STRING(fixture.wait.kind, cases[i].kind);
		check_text(fixture.wait.mode, cases[i].mode);
		CHECK_U64(fixture.wait.object, cases[i].object);
		CHECK_U64(fixture.wait.owner, TASK_B);
		CHECK_U64(fixture.wait.sure, CONFIDENCE_CERTAIN);
		CHECK_U64(fixture.wait.owner_sure, CONFIDENCE_CERTAIN);
		finish(&fixture);
	}
}

/* The same functions where locks are of their own: it is an rt_mutex, and no more. */
static void test_other_kernels(void)
{
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct fixture fixture;
		build(&fixture, false, cases[i].functions);
		CHECK(find(&fixture.sleeper));
		CHECK_STRING(fixture.wait.kind, "rt_mutex");
		CHECK_U64(fixture.wait.object, LOCK + RT_MUTEX);
		finish(&fixture);
	}
}

static void test_who_writes(void)
{
	static const struct {
		uint64_t readers, owner;
		const char *how;
	} words[] = {
		{ 1u << 30, TASK_B | 1, "owner word, as writer" },
		{ 2, TASK_B, "the writer that waits for readers" },
		{ 2, 1, "it is free: a waiter is being woken" },
		{ 2, LOCK, "its owner word names no task" },
		{ 2, WAITER | 1, ENDED },
	};
	for (size_t i = 0; i < ARRAY_COUNT(words); i++) {
		struct fixture fixture;
		build(&fixture, true, cases[1].functions);
		put(&fixture, LOCK, words[i].readers);
		put(&fixture, LOCK + RT_MUTEX, words[i].owner);
		CHECK(find(&fixture.sleeper));
		CHECK_STRING(fixture.wait.owner_how, words[i].how);
		CHECK_U64(fixture.wait.owner, i < 2 ? TASK_B : 0);
		finish(&fixture);
	}
}

/* A note that leads to another task's record, or nowhere, is none. */
static void test_no_waiter(void)
{
	static const uint64_t notes[] = { 0, LOCK, BASE - 64, UINT64_MAX - 7 };
	for (size_t i = 0; i < ARRAY_COUNT(notes); i++) {
		struct fixture fixture;
		build(&fixture, true, cases[0].functions);
		put(&fixture, TASK_A + BLOCKED_ON, notes[i]);
		CHECK(!find(&fixture.sleeper));
		CHECK(!fixture.wait.kind);
		finish(&fixture);
	}
}

/* Who has the lock but for its readers: without a proved argument it is not known which lock it is.
 */
static void test_writer_that_drains(void)
{
	static const struct {
		const char *functions[3], *kind;
		uint64_t state;
	} ways[] = {
		{ { "rwbase_write_lock", "caller", NULL }, "rwsem", UNINTERRUPTIBLE },
		{ { "rwbase_write_lock", "caller", NULL }, "rwlock", RTLOCK_WAIT },
		{ { "rt_write_lock", "caller", NULL }, "rwlock", RTLOCK_WAIT },
		{ { "down_write", "caller", NULL }, "rwsem", UNINTERRUPTIBLE },
	};
	for (size_t i = 0; i < ARRAY_COUNT(ways); i++)
		for (int is_rt = 0; is_rt < 2; is_rt++) {
			struct fixture fixture;
			build(&fixture, is_rt, ways[i].functions);
			put(&fixture, TASK_A + STATE, ways[i].state);
			CHECK_U64(wait_find_rt_writer(&fixture.sleeper), is_rt);
			if (is_rt) {
				CHECK_STRING(fixture.wait.kind, ways[i].kind);
				CHECK_STRING(fixture.wait.mode, "write");
				CHECK_U64(fixture.wait.object, 0);
			}
			finish(&fixture);
		}
	struct fixture fixture;
	build(&fixture, true, cases[0].functions);
	CHECK(!wait_find_rt_writer(&fixture.sleeper));
	finish(&fixture);
}

int main(void)
{
	RUN(test_what_it_is_part_of);
	RUN(test_other_kernels);
	RUN(test_who_writes);
	RUN(test_no_waiter);
	RUN(test_writer_that_drains);
	return test_finish();
}
