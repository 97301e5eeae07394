// SPDX-License-Identifier: GPL-3.0-or-later
/* What was read of tasks is remembered: whole ones, up to a bound, until the target is refreshed.
 */
#include "base/array.h"
#include "debugger/kernel/task.h"
#include "tests/unit/kallsyms_image.h"
#include "tests/unit/libbpf.h"
#include "tests/unit/test.h"
#include <string.h>

#define DATA	0xffffffff82000000u
#define TABLES	0xffffffff83000000u
#define KEPT	16384u /* TASKS_KEPT_MAX */
#define VISITED (KEPT + 8)
#define TASKS	(VISITED + 1) /* init_task is the head of the list */
#define PARTIAL 5u	      /* its parent cannot be read */

struct raw_task {
	uint64_t tasks[2], thread_node[2];
	uint64_t signal, real_parent, mm, stack;
	uint32_t pid, tgid, cpu, state, exit_state;
	char comm[12];
};

static struct raw_data {
	struct raw_task tasks[TASKS];
	uint64_t thread_heads[TASKS][2]; /* nobody has threads */
} data;

static uint64_t task_at(size_t i)
{
	return DATA + i * sizeof(struct raw_task);
}

static void put_data(void)
{
	for (size_t i = 0; i < TASKS; i++) {
		uint64_t head = DATA + offsetof(struct raw_data, thread_heads) +
				i * sizeof(data.thread_heads[0]);
		data.thread_heads[i][0] = data.thread_heads[i][1] = head;
		data.tasks[i] = (struct raw_task){
			.tasks = { task_at((i + 1) % TASKS), task_at((i + TASKS - 1) % TASKS) },
			.signal = head,
			.stack = 0x1000,
			.state = 1,
			.real_parent = i == PARTIAL ? 8 : task_at(0),
			.pid = (uint32_t)i,
			.comm = "task",
		};
	}
}

/* Each field an unsigned number but for those that lead on. */
static struct libbpf_btf *make_types(struct btf **ret)
{
	static const struct {
		const char *name;
		size_t offset, size;
	} numbers[] = {
#define NUMBER(member, name)                                                                       \
	{ name, offsetof(struct raw_task, member), sizeof(((struct raw_task *)0)->member) }
		NUMBER(mm, "mm"),
		NUMBER(stack, "stack"),
		NUMBER(pid, "pid"),
		NUMBER(tgid, "tgid"),
		NUMBER(cpu, "cpu"),
		NUMBER(state, "__state"),
		NUMBER(exit_state, "exit_state"),
	};
	struct libbpf_btf *btf = btf__new_empty();
	int longs = btf__add_int(btf, "long unsigned int", 8, 0);
	int ints = btf__add_int(btf, "unsigned int", 4, 0);
	int chars = btf__add_int(btf, "char", 1, BTF_INT_CHAR);
	int text = btf__add_array(btf, ints, chars, sizeof(data.tasks[0].comm));
	int head = btf__add_struct(btf, "list_head", 16);
	btf__add_field(btf, "next", longs, 0, 0);
	btf__add_field(btf, "prev", longs, 64, 0);
	int signal = btf__add_struct(btf, "signal_struct", 16);
	btf__add_field(btf, "thread_head", head, 0, 0);
	int signal_pointer = btf__add_ptr(btf, signal);
	int task_pointer = btf__add_ptr(btf, signal_pointer + 2);
	btf__add_struct(btf, "task_struct", sizeof(struct raw_task));
	btf__add_field(btf, "tasks", head, 0, 0);
	btf__add_field(btf, "thread_node", head, offsetof(struct raw_task, thread_node) * 8, 0);
	btf__add_field(btf, "signal", signal_pointer, offsetof(struct raw_task, signal) * 8, 0);
	btf__add_field(btf, "real_parent", task_pointer, offsetof(struct raw_task, real_parent) * 8,
		       0);
	for (size_t i = 0; i < ARRAY_COUNT(numbers); i++)
		btf__add_field(btf, numbers[i].name, numbers[i].size == 8 ? longs : ints,
			       (uint32_t)numbers[i].offset * 8, 0);
	btf__add_field(btf, "comm", text, offsetof(struct raw_task, comm) * 8, 0);
	uint32_t size = 0;
	const void *raw = btf__raw_data(btf, &size);
	CHECK_OK(btf_open(raw, size, NULL, "vmlinux", ret));
	return btf;
}

struct count {
	size_t tasks, stop_after;
	size_t older, newer; /* pids as they were at first, and as they are now */
	size_t problems;
};

#define NEWER 1000000

static struct error *count_task(void *context, const struct task *task)
{
	struct count *count = context;
	if (task->pid >= NEWER)
		count->newer++;
	else
		count->older++;
	count->problems += task->problem != NULL;
	return ++count->tasks == count->stop_after ? error_create(ERROR_OTHER, "stop") : NULL;
}

static struct count count_all(struct target *target)
{
	struct count count = { 0 };
	struct error *problem = NULL;
	CHECK_OK(task_for_each(target, count_task, &count, &problem));
	/* The one that was not whole is told. */
	CHECK(problem && strstr(problem->message, "real_parent"));
	error_free(problem);
	CHECK_U64(count.tasks, VISITED);
	return count;
}

static void check_walks(struct target *target)
{
	struct error *problem = NULL;
	struct count count = { .stop_after = 3 };
	put_data();
	CHECK_FAILS(task_for_each(target, count_task, &count, &problem), "stop");
	error_free(problem);
	count = count_all(target);
	CHECK_U64(count.older, VISITED);
	CHECK_U64(count.problems, 1);
	for (size_t i = 0; i < TASKS; i++)
		data.tasks[i].pid += NEWER;
	/* Those behind the bound, and the one that was not whole, are read again. */
	for (int again = 0; again < 2; again++) {
		count = count_all(target);
		CHECK_U64(count.newer, VISITED - KEPT + 1);
		CHECK_U64(count.problems, 1);
	}
	task_forget(target);
	count = count_all(target);
	CHECK_U64(count.newer, VISITED);
}

static void test_remembered(void)
{
	static const struct test_symbol symbols[] = {
		{ DATA - 4096, 'T', "_stext" },
		{ DATA, 'D', "init_task" },
		{ DATA + sizeof(data), 'D', "_end" },
	};
	struct vmcore_facts facts = { .page_size = 4096 };
	struct memory_array memory;
	struct target target = { .memory = &memory.memory,
				 .facts = &facts,
				 .cpus_loaded = true,
				 .modules_loaded = true };
	struct image tables;
	struct btf *btf = NULL;
	memory_array_init(&memory, DATA, &data, sizeof(data));
	struct libbpf_btf *source = make_types(&btf);
	target.btf = btf;
	image_symbols(&tables, TABLES, symbols, ARRAY_COUNT(symbols), &target.symbols);
	check_walks(&target);
	task_forget(&target);
	symtab_destroy(target.symbols);
	image_destroy(&tables);
	btf_close(btf);
	btf__free(source);
}

int main(void)
{
	RUN(test_remembered);
	return test_finish();
}
