// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Whom the first process of a PID namespace waits for: the last one in it, a thread of that one
 * whose first has ended, the parent that does not wait for it, several; and what is not known.
 */
#include "tests/unit/libbpf.h"
#include "tests/unit/test.h"

#include "base/array.h"
#include "debugger/analysis/waits_private.h"

#define BASE	0xffff888000100000u
#define NOWHERE 0xffff8880dead0000u
/* 0 waits, 1 is a parent outside, 2 a process of the namespace, 3 another task of it. */
#define TASKS 4u

struct raw_task {
	uint64_t pid, leader, parent;
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
};

#define AT(member) (BASE + offsetof(struct raw_data, member))

struct fixture {
	struct raw_data data;
	struct memory_array memory;
	struct libbpf_btf *written;
	struct target target;
	struct task tasks[TASKS];
	struct frame frames[1];
	struct frame_arguments arguments[1];
	struct stack_trace trace;
	struct wait_world world;
	struct wait wait;
	struct sleeper sleeper;
};

static void write_types(struct fixture *fixture)
{
	const void *data;
	uint32_t size;
	struct libbpf_btf *btf = fixture->written = btf__new_empty();
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
	data = btf__raw_data(btf, &size);
	CHECK_OK(btf_open(data, size, NULL, "vmlinux", &fixture->target.btf));
	fixture->arguments[0] = (struct frame_arguments){
		.has_prototype = true,
		.count = 1,
		.items = { { .name = "pid_ns",
			     .type = { fixture->target.btf, (uint32_t)argument },
			     .is_known = true,
			     .value = AT(spaces[1]) } }
	};
}

/* The namespace has the waiter and one process; the other task is outside. */
static void build(struct fixture *fixture)
{
	*fixture = (struct fixture){ 0 };
	struct raw_data *data = &fixture->data;
	write_types(fixture);
	data->spaces[1] = (struct raw_space){ .level = 1, .allocated = 2 };
	for (unsigned int i = 0; i < TASKS; i++) {
		bool is_inside = i == 0 || i == 2;
		data->tasks[i] = (struct raw_task){ AT(pids[i]), AT(tasks[i]), AT(tasks[1]) };
		data->pids[i].level = is_inside;
		data->pids[i].numbers[0].space = AT(spaces[0]);
		data->pids[i].numbers[1].space = is_inside ? AT(spaces[1]) : 0;
		fixture->tasks[i] = (struct task){ .address = AT(tasks[i]), .state_letter = 'S' };
	}
	memory_array_init(&fixture->memory, BASE, &fixture->data, sizeof(fixture->data));
	fixture->target.memory = &fixture->memory.memory;
	fixture->frames[0] =
		(struct frame){ .has_symbol = true, .symbol.name = "zap_pid_ns_processes" };
	fixture->trace = (struct stack_trace){ .frames = fixture->frames, .count = 1 };
	fixture->world = (struct wait_world){ .target = &fixture->target,
					      .tasks = fixture->tasks,
					      .task_count = TASKS,
					      .members_left = TASKS };
	fixture->sleeper = (struct sleeper){ .world = &fixture->world,
					     .task = &fixture->tasks[0],
					     .trace = &fixture->trace,
					     .arguments = fixture->arguments,
					     .arguments_asked = true,
					     .wait = &fixture->wait };
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
	CHECK_OK(wait_find_exit(&fixture->sleeper));
	CHECK_STRING(fixture->wait.kind, "PID namespace");
	CHECK_U64(fixture->wait.object, AT(spaces[1]));
	CHECK_U64(fixture->wait.owner, owner);
	CHECK_U64(fixture->wait.owner_sure, sure);
	CHECK(fixture->wait.owner_how && strstr(fixture->wait.owner_how, how));
	btf_close(fixture->target.btf);
	btf__free(fixture->written);
}

static void test_last_process(void)
{
	struct fixture fixture;
	build(&fixture);
	check_wait(&fixture, AT(tasks[2]), CONFIDENCE_CERTAIN, "the last process");
	build(&fixture);
	fixture.tasks[2].state_letter = 'Z';
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
	fixture.tasks[2].state_letter = 'Z';
	fixture.tasks[3].state_letter = 'D';
	check_wait(&fixture, AT(tasks[3]), CONFIDENCE_CERTAIN, "a thread of the last process");
}

static void test_several(void)
{
	struct fixture fixture;
	build(&fixture);
	add_inside(&fixture, false);
	check_wait(&fixture, 0, CONFIDENCE_UNKNOWN, "several processes");
	CHECK_U64(fixture.wait.other_count, 2);
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
	fixture.tasks[2].state_letter = 'Z';
	check_wait(&fixture, AT(tasks[2]), CONFIDENCE_INFERRED, "the last process");
	build(&fixture);
	fixture.data.tasks[2].pid = 0;
	check_wait(&fixture, 0, CONFIDENCE_UNKNOWN, "no other process is seen");
	build(&fixture);
	fixture.world.members_left = 1;
	check_wait(&fixture, 0, CONFIDENCE_UNKNOWN, "too many processes");
}

int main(void)
{
	RUN(test_last_process);
	RUN(test_thread);
	RUN(test_several);
	RUN(test_not_known);
	return test_finish();
}
