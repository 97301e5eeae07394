// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Whom the first process of a PID namespace waits for: the last one in it, a thread of that one
 * whose first has ended, the parent that does not wait for it, several; whom a thread waits for
 * that ends while the core of its process is dumped; and what is not known.
 */
#include "tests/unit/sleeper_fixture.h"

#define NOWHERE SLEEPER_NOWHERE
/* 0 waits, 1 is a parent outside, 2 a process of the namespace, 3 another task of it. */
#define TASKS SLEEPER_TASKS

struct raw_task {
	uint64_t pid, leader, parent, signals, mm;
};

/* What a process notes while its core is dumped: struct signal_struct, or, once, its mm_struct. */
struct raw_dumped {
	uint64_t core_state;
};

struct raw_core {
	uint64_t threads, dumper;
};

struct raw_number {
	uint64_t number, space;
};

struct raw_pid {
	uint32_t level, pad;
	struct raw_number numbers[2];
};

struct raw_space {
	uint32_t level, allocated;
};

struct raw_data {
	struct raw_task tasks[TASKS];
	struct raw_pid pids[TASKS];
	struct raw_space spaces[2]; /* the machine's, the one that ends */
	struct raw_dumped signals, mm;
	struct raw_core core;
};

#define AT(member) (SLEEPER_BASE + offsetof(struct raw_data, member))

struct fixture {
	struct raw_data data;
	struct sleeper_fixture base;
};

/* `noted_in`: the struct that leads to what is known of a core dump. */
static void write_types(struct fixture *fixture, const char *noted_in)
{
	struct libbpf_btf *btf = fixture->base.written;
	int word = btf__add_int(btf, "long unsigned int", 8, 0);
	int number = btf__add_int(btf, "unsigned int", 4, 0);
	int space = btf__add_struct(btf, "pid_namespace", sizeof(struct raw_space));
	add_member(btf, "level", number, 0);
	add_member(btf, "pid_allocated", number, 4);
	int argument = btf__add_ptr(btf, space);
	int upid = btf__add_struct(btf, "upid", sizeof(struct raw_number));
	add_member(btf, "nr", word, 0);
	add_member(btf, "ns", argument, 8);
	int numbers = btf__add_array(btf, number, upid, 1);
	btf__add_struct(btf, "pid", sizeof(struct raw_pid));
	add_member(btf, "level", number, 0);
	add_member(btf, "numbers", numbers, offsetof(struct raw_pid, numbers));
	btf__add_struct(btf, "task_struct", sizeof(struct raw_task));
	add_member(btf, "thread_pid", word, offsetof(struct raw_task, pid));
	add_member(btf, "group_leader", word, offsetof(struct raw_task, leader));
	add_member(btf, "parent", word, offsetof(struct raw_task, parent));
	add_member(btf, "signal", word, offsetof(struct raw_task, signals));
	add_member(btf, "mm", word, offsetof(struct raw_task, mm));
	btf__add_struct(btf, noted_in, sizeof(struct raw_dumped));
	add_member(btf, "core_state", word, 0);
	int thread = btf__add_struct(btf, "core_thread", 8);
	add_member(btf, "task", word, 0);
	btf__add_struct(btf, "core_state", sizeof(struct raw_core));
	add_member(btf, "dumper", thread, offsetof(struct raw_core, dumper));
	sleeper_fixture_open(&fixture->base, argument, AT(spaces[1]));
}

/* The namespace has the waiter and one process; the other task is outside. */
static void build_in(struct fixture *fixture, const char *function, const char *noted_in)
{
	struct raw_data *data = &fixture->data;
	*data = (struct raw_data){ 0 };
	sleeper_fixture_init(&fixture->base, data, sizeof(*data), function);
	write_types(fixture, noted_in);
	data->spaces[1] = (struct raw_space){ .level = 1, .allocated = 2 };
	for (unsigned int i = 0; i < TASKS; i++) {
		bool is_inside = i == 0 || i == 2;
		data->tasks[i] = (struct raw_task){ .pid = AT(pids[i]),
						    .leader = AT(tasks[i]),
						    .parent = AT(tasks[1]) };
		data->pids[i].level = is_inside;
		data->pids[i].numbers[0].space = AT(spaces[0]);
		data->pids[i].numbers[1].space = is_inside ? AT(spaces[1]) : 0;
		fixture->base.tasks[i].address = AT(tasks[i]);
	}
}

static void build(struct fixture *fixture)
{
	build_in(fixture, "zap_pid_ns_processes", "signal_struct");
}

/* The other task is a thread of the process in the namespace, or one more process. */
static void add_inside(struct fixture *fixture, bool is_thread)
{
	struct raw_data *data = &fixture->data;
	data->pids[3].level = 1;
	data->pids[3].numbers[1].space = AT(spaces[1]);
	data->tasks[3].leader = is_thread ? AT(tasks[2]) : AT(tasks[3]);
	data->spaces[1].allocated++;
}

static void check_wait(struct fixture *fixture, uint64_t owner, enum confidence sure,
		       const char *how)
{
	struct sleeper_fixture *base = &fixture->base;
	CHECK_OK(wait_find_exit(&base->sleeper));
	CHECK_U64(base->wait.object, AT(spaces[1]));
	sleeper_fixture_check(base, "PID namespace", owner, sure, how);
	sleeper_fixture_deinit(base);
}

static void test_last_process(void)
{
	struct fixture fixture;
	build(&fixture);
	check_wait(&fixture, AT(tasks[2]), CONFIDENCE_CERTAIN, "the last process");
	build(&fixture);
	fixture.base.tasks[2].state_letter = 'Z';
	check_wait(&fixture, AT(tasks[1]), CONFIDENCE_CERTAIN, "it has not waited");
	/* One more number is in use than there are tasks. */
	build(&fixture);
	fixture.data.spaces[1].allocated++;
	check_wait(&fixture, AT(tasks[2]), CONFIDENCE_INFERRED, "the last process");
}

/* The first thread has ended, and another one cannot: no parent is to blame. */
static void test_thread(void)
{
	struct fixture fixture;
	build(&fixture);
	add_inside(&fixture, true);
	fixture.base.tasks[2].state_letter = 'Z';
	fixture.base.tasks[3].state_letter = 'D';
	check_wait(&fixture, AT(tasks[3]), CONFIDENCE_CERTAIN, "a thread of the last process");
}

static void test_several(void)
{
	struct fixture fixture;
	build(&fixture);
	add_inside(&fixture, false);
	check_wait(&fixture, 0, CONFIDENCE_UNKNOWN, "several processes");
	CHECK_U64(fixture.base.wait.other_count, 2);
}

static void test_not_known(void)
{
	struct fixture fixture;
	build(&fixture);
	fixture.data.tasks[3].pid = NOWHERE;
	check_wait(&fixture, AT(tasks[2]), CONFIDENCE_INFERRED, "the last process");
	/* Who has ended may have a thread among those that were not read. */
	build(&fixture);
	fixture.data.tasks[3].pid = NOWHERE;
	fixture.base.tasks[2].state_letter = 'Z';
	check_wait(&fixture, AT(tasks[2]), CONFIDENCE_INFERRED, "the last process");
	build(&fixture);
	fixture.data.tasks[2].pid = 0;
	check_wait(&fixture, 0, CONFIDENCE_UNKNOWN, "no other process is seen");
	build(&fixture);
	fixture.base.world.members_left = 1;
	check_wait(&fixture, 0, CONFIDENCE_UNKNOWN, "too many processes");
}

/* The second task dumps the core of the first one's process. */
static void build_core_dump(struct fixture *fixture, const char *function, const char *noted_in)
{
	build_in(fixture, function, noted_in);
	struct raw_data *data = &fixture->data;
	bool by_signals = !strcmp(noted_in, "signal_struct");
	if (by_signals)
		data->tasks[0].signals = AT(signals);
	else
		data->tasks[0].mm = AT(mm);
	*(by_signals ? &data->signals : &data->mm) = (struct raw_dumped){ AT(core) };
	data->core.dumper = AT(tasks[1]);
}

static void check_core_dump(struct fixture *fixture, bool is_found)
{
	struct sleeper_fixture *base = &fixture->base;
	CHECK_OK(wait_find_exit(&base->sleeper));
	CHECK(!base->wait.kind == !is_found);
	if (is_found) {
		CHECK_U64(base->wait.object, AT(core));
		sleeper_fixture_check(base, "core dump", AT(tasks[1]), CONFIDENCE_CERTAIN,
				      "the thread that dumps the core");
	} else {
		CHECK_U64(base->wait.owner, 0);
	}
	sleeper_fixture_deinit(base);
}

static void test_core_dump(void)
{
	struct fixture fixture;
	build_core_dump(&fixture, "coredump_task_exit", "signal_struct");
	check_core_dump(&fixture, true);
	build_core_dump(&fixture, "do_exit", "signal_struct");
	check_core_dump(&fixture, true);
	build_core_dump(&fixture, "exit_mm", "mm_struct");
	check_core_dump(&fixture, true);
	/* Who sleeps elsewhere waits for something else. */
	build_core_dump(&fixture, "do_wait", "signal_struct");
	check_core_dump(&fixture, false);
	/* No core is dumped; the dumper itself; a dumper that is no task; what is not there. */
	build_core_dump(&fixture, "do_exit", "signal_struct");
	fixture.data.signals.core_state = 0;
	check_core_dump(&fixture, false);
	build_core_dump(&fixture, "do_exit", "signal_struct");
	fixture.data.core.dumper = AT(tasks[0]);
	check_core_dump(&fixture, false);
	build_core_dump(&fixture, "do_exit", "signal_struct");
	fixture.data.core.dumper = AT(core);
	check_core_dump(&fixture, false);
	build_core_dump(&fixture, "do_exit", "signal_struct");
	fixture.data.signals.core_state = NOWHERE;
	check_core_dump(&fixture, false);
	build_core_dump(&fixture, "exit_mm", "mm_struct");
	fixture.data.tasks[0].mm = 0;
	check_core_dump(&fixture, false);
}

int main(void)
{
	RUN(test_last_process);
	RUN(test_thread);
	RUN(test_several);
	RUN(test_not_known);
	RUN(test_core_dump);
	return test_finish();
}
