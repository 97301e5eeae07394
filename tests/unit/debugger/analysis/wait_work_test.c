// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Who flushes a work waits for the worker that runs it, for one that runs a work before it, for
 * none yet; and what could not be read makes nobody of none of them.
 */
#include "tests/unit/sleeper_fixture.h"

#include "base/array.h"

#define NOWHERE SLEEPER_NOWHERE
#define TASKS	SLEEPER_TASKS
#define WORKER	0x20u
#define PWQ	4u

struct raw_list {
	uint64_t next, prev;
};

struct raw_task {
	uint32_t flags, pad;
	uint64_t kthread;
};

struct raw_kthread {
	uint64_t data;
};

struct raw_worker {
	uint64_t task, work, link, color;
	struct raw_list scheduled;
};

struct raw_pool {
	struct raw_list worklist;
};

/* Its address ends in zeros, for the flags. */
struct raw_link {
	uint64_t pool, queue;
	struct raw_list inactive;
	uint64_t pad[28];
};

struct raw_work {
	uint64_t data;
	struct raw_list entry;
	uint64_t function;
};

struct raw_barrier {
	struct raw_work work;
	uint64_t done, task;
};

struct raw_data {
	struct raw_link links[2];
	struct raw_task tasks[TASKS]; /* 0 waits, 1 and 2 are workers */
	struct raw_kthread kthreads[TASKS];
	struct raw_worker workers[TASKS];
	struct raw_pool pool;
	struct raw_barrier barrier;
	uint64_t function;
};

#define AT(member) (SLEEPER_BASE + offsetof(struct raw_data, member))

struct fixture {
	struct raw_data data;
	struct sleeper_fixture base;
};

static void write_types(struct fixture *fixture)
{
	struct libbpf_btf *btf = fixture->base.written;
	int word = btf__add_int(btf, "long unsigned int", 8, 0);
	int number = btf__add_int(btf, "unsigned int", 4, 0);
	int list = add_list_head(btf);
	int counter = btf__add_struct(btf, "atomic_long_t", 8);
	add_member(btf, "counter", word, 0);
	btf__add_enum(btf, "work_bits", 4);
	btf__add_enum_value(btf, "WORK_STRUCT_PWQ_BIT", 2);
	btf__add_enum_value(btf, "WORK_STRUCT_PWQ_SHIFT", 8);
	btf__add_struct(btf, "task_struct", sizeof(struct raw_task));
	add_member(btf, "flags", number, 0);
	add_member(btf, "worker_private", word, offsetof(struct raw_task, kthread));
	btf__add_struct(btf, "kthread", sizeof(struct raw_kthread));
	add_member(btf, "data", word, 0);
	btf__add_struct(btf, "worker", sizeof(struct raw_worker));
	add_member(btf, "task", word, 0);
	add_member(btf, "current_work", word, offsetof(struct raw_worker, work));
	add_member(btf, "current_pwq", word, offsetof(struct raw_worker, link));
	add_member(btf, "current_color", word, offsetof(struct raw_worker, color));
	add_member(btf, "scheduled", list, offsetof(struct raw_worker, scheduled));
	btf__add_struct(btf, "worker_pool", sizeof(struct raw_pool));
	add_member(btf, "worklist", list, 0);
	btf__add_struct(btf, "pool_workqueue", sizeof(struct raw_link));
	add_member(btf, "pool", word, 0);
	add_member(btf, "wq", word, offsetof(struct raw_link, queue));
	add_member(btf, "inactive_works", list, offsetof(struct raw_link, inactive));
	int work = btf__add_struct(btf, "work_struct", sizeof(struct raw_work));
	add_member(btf, "data", counter, 0);
	add_member(btf, "entry", list, offsetof(struct raw_work, entry));
	add_member(btf, "func", word, offsetof(struct raw_work, function));
	btf__add_struct(btf, "wq_barrier", sizeof(struct raw_barrier));
	add_member(btf, "work", work, 0);
	add_member(btf, "done", word, offsetof(struct raw_barrier, done));
	add_member(btf, "task", word, offsetof(struct raw_barrier, task));
	sleeper_fixture_open(&fixture->base, 0, 0);
}

static void link_two(struct raw_list *head, uint64_t head_at, struct raw_list *node,
		     uint64_t node_at)
{
	*head = (struct raw_list){ node_at, node_at };
	*node = (struct raw_list){ head_at, head_at };
}

/* Both workers are idle; the barrier is in no list. */
static void build(struct fixture *fixture)
{
	struct raw_data *data = &fixture->data;
	*data = (struct raw_data){ 0 };
	sleeper_fixture_init(&fixture->base, data, sizeof(*data), "__flush_work");
	write_types(fixture);
	for (unsigned int i = 0; i < TASKS; i++) {
		data->tasks[i] = (struct raw_task){ .kthread = AT(kthreads[i]) };
		data->kthreads[i].data = AT(workers[i]);
		data->workers[i] = (struct raw_worker){ .task = AT(tasks[i]),
							.scheduled = { AT(workers[i].scheduled),
								       AT(workers[i].scheduled) } };
		fixture->base.tasks[i].address = AT(tasks[i]);
	}
	data->tasks[1].flags = data->tasks[2].flags = WORKER;
	for (unsigned int i = 0; i < ARRAY_COUNT(data->links); i++)
		data->links[i] = (struct raw_link){ .pool = AT(pool), .queue = NOWHERE + i };
	data->barrier = (struct raw_barrier){ .work = { .data = AT(links[0]) | PWQ | 1,
							.function = AT(function) },
					      .task = AT(tasks[0]) };
	CHECK_OK(symtab_create(&fixture->base.target.symbols));
	CHECK_OK(symtab_add(fixture->base.target.symbols, "bpf", "wq_barrier_func", 't',
			    AT(function), 8));
}

static void check_wait(struct fixture *fixture, uint64_t owner, enum confidence sure,
		       const char *how)
{
	struct sleeper_fixture *base = &fixture->base;
	bool found;
	base->wait = (struct wait){ .object = AT(barrier.done) };
	CHECK_OK(wait_flush_of_work(&base->sleeper, &found));
	CHECK(found);
	sleeper_fixture_check(base, "flush work", owner, sure, how);
	sleeper_fixture_deinit(base);
}

static void run_on(struct raw_data *data, unsigned int worker, unsigned int link)
{
	data->workers[worker].work = NOWHERE;
	data->workers[worker].link = AT(links[link]);
}

static void test_running(void)
{
	struct fixture fixture;
	build(&fixture);
	struct raw_data *data = &fixture.data;
	run_on(data, 2, 0);
	link_two(&data->workers[2].scheduled, AT(workers[2].scheduled), &data->barrier.work.entry,
		 AT(barrier.work.entry));
	check_wait(&fixture, AT(tasks[2]), CONFIDENCE_CERTAIN, "the worker that runs it");
}

static void test_pending(void)
{
	struct fixture fixture;
	build(&fixture);
	struct raw_data *data = &fixture.data;
	link_two(&data->pool.worklist, AT(pool.worklist), &data->barrier.work.entry,
		 AT(barrier.work.entry));
	check_wait(&fixture, 0, CONFIDENCE_UNKNOWN, "no worker has begun it");
}

/* `runners`: how many workers run works of the queue, one more runs another's. */
static void build_inactive(struct fixture *fixture, unsigned int runners)
{
	build(fixture);
	struct raw_data *data = &fixture->data;
	for (unsigned int i = 0; i < runners; i++)
		run_on(data, i + 1, 0);
	if (runners < 2)
		run_on(data, 2, 1);
	link_two(&data->links[0].inactive, AT(links[0].inactive), &data->barrier.work.entry,
		 AT(barrier.work.entry));
}

static void test_inactive(void)
{
	struct fixture fixture;
	build_inactive(&fixture, 0);
	check_wait(&fixture, 0, CONFIDENCE_UNKNOWN, "has not come to it");
	build_inactive(&fixture, 1);
	check_wait(&fixture, AT(tasks[1]), CONFIDENCE_CERTAIN, "the worker that runs a work of");
	build_inactive(&fixture, 2);
	check_wait(&fixture, AT(tasks[1]), CONFIDENCE_INFERRED, "one of several workers");
	/* A worker that could not be read may run one, too. */
	build_inactive(&fixture, 1);
	fixture.data.kthreads[2].data = NOWHERE;
	check_wait(&fixture, AT(tasks[1]), CONFIDENCE_INFERRED, "the worker that runs a work of");
}

static void test_not_known(void)
{
	static const char not_known[] = "which worker runs it could not be found out";
	struct fixture fixture;
	build(&fixture);
	check_wait(&fixture, 0, CONFIDENCE_UNKNOWN, not_known);
	build(&fixture);
	fixture.data.barrier.work.entry = (struct raw_list){ NOWHERE, NOWHERE };
	check_wait(&fixture, 0, CONFIDENCE_UNKNOWN, not_known);
	build(&fixture);
	fixture.data.barrier.work.data = 1;
	check_wait(&fixture, 0, CONFIDENCE_UNKNOWN, not_known);
	build(&fixture);
	fixture.data.barrier.work.data = NOWHERE | PWQ;
	check_wait(&fixture, 0, CONFIDENCE_UNKNOWN, not_known);
}

int main(void)
{
	RUN(test_running);
	RUN(test_pending);
	RUN(test_inactive);
	RUN(test_not_known);
	return test_finish();
}
