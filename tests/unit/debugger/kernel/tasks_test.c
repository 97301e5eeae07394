// SPDX-License-Identifier: GPL-3.0-or-later
/* Processes that share one list of threads: it is walked once, and not for each of them. */
#include "base/array.h"
#include "debugger/kernel/task.h"
#include "tests/unit/kallsyms_image.h"
#include "tests/unit/libbpf.h"
#include "tests/unit/test.h"

#define DATA	  0xffffffff82000000u
#define TABLES	  0xffffffff83000000u
#define PROCESSES 2200u
#define THREADS	  2200u

struct raw_task {
	uint64_t tasks[2], thread_node[2];
	uint64_t signal;
	uint64_t pid;
};

struct raw_data {
	struct raw_task processes[PROCESSES], threads[THREADS];
	uint64_t thread_head[2];
};

#define AT(member) (DATA + offsetof(struct raw_data, member))
#define TASK(array, i, member)                                                                     \
	(AT(array[0]) + (i) * sizeof(struct raw_task) + offsetof(struct raw_task, member))

static struct raw_data data;

/* Links so many tasks, whose `member` is a node, behind `head`; the first node is at `first`. */
static void put_list(struct raw_task *tasks, size_t count, size_t member, uint64_t head,
		     uint64_t first)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t links[2] = {
			i + 1 < count ? first + (i + 1) * sizeof(struct raw_task) : head,
			i ? first + (i - 1) * sizeof(struct raw_task) : head,
		};
		memcpy((uint8_t *)&tasks[i] + member, links, sizeof(links));
	}
}

static void put_data(void)
{
	/* The first process is init_task, whose link is the head. */
	put_list(data.processes + 1, PROCESSES - 1, offsetof(struct raw_task, tasks),
		 TASK(processes, 0, tasks), TASK(processes, 1, tasks));
	data.processes[0].tasks[0] = TASK(processes, 1, tasks);
	data.processes[0].tasks[1] = TASK(processes, PROCESSES - 1, tasks);
	put_list(data.threads, THREADS, offsetof(struct raw_task, thread_node), AT(thread_head),
		 TASK(threads, 0, thread_node));
	data.thread_head[0] = TASK(threads, 0, thread_node);
	data.thread_head[1] = TASK(threads, THREADS - 1, thread_node);
	for (size_t i = 0; i < PROCESSES; i++)
		data.processes[i].signal = AT(thread_head);
}

static void field(struct libbpf_btf *btf, const char *name, int type, size_t offset)
{
	btf__add_field(btf, name, type, (uint32_t)offset * 8, 0);
}

static struct libbpf_btf *make_types(struct btf **ret)
{
	struct libbpf_btf *btf = btf__new_empty();
	int ulong = btf__add_int(btf, "long unsigned int", 8, 0);
	int head = btf__add_struct(btf, "list_head", 16);
	field(btf, "next", ulong, 0);
	field(btf, "prev", ulong, 8);
	int signal = btf__add_struct(btf, "signal_struct", 16);
	field(btf, "thread_head", head, 0);
	int pointer = btf__add_ptr(btf, signal);
	btf__add_struct(btf, "task_struct", sizeof(struct raw_task));
	field(btf, "tasks", head, offsetof(struct raw_task, tasks));
	field(btf, "thread_node", head, offsetof(struct raw_task, thread_node));
	field(btf, "signal", pointer, offsetof(struct raw_task, signal));
	field(btf, "pid", ulong, offsetof(struct raw_task, pid));
	uint32_t size = 0;
	const void *raw = btf__raw_data(btf, &size);
	CHECK_OK(btf_open(raw, size, NULL, "vmlinux", ret));
	return btf;
}

static struct error *count_task(void *context, const struct task *task)
{
	size_t *count = context;
	(void)task;
	++*count;
	return NULL;
}

static size_t count_all(struct target *target)
{
	size_t count = 0;
	struct error *problem = NULL;
	CHECK_OK(task_for_each(target, count_task, &count, &problem));
	CHECK(problem);
	error_free(problem);
	return count;
}

static void test_shared_threads(void)
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
	struct task task;
	memory_array_init(&memory, DATA, &data, sizeof(data));
	put_data();
	struct libbpf_btf *source = make_types(&btf);
	target.btf = btf;
	image_symbols(&tables, TABLES, symbols, ARRAY_COUNT(symbols), &target.symbols);
	CHECK_FAILS(task_find(&target, 17, &task), "of another process");
	CHECK_U64(count_all(&target), PROCESSES - 1 + THREADS);
	/* From what was kept of that walk. */
	data.processes[0].tasks[0] = data.processes[0].tasks[1] = TASK(processes, 0, tasks);
	CHECK_U64(count_all(&target), PROCESSES - 1 + THREADS);
	task_forget(&target);
	symtab_destroy(target.symbols);
	image_destroy(&tables);
	btf_close(btf);
	btf__free(source);
}

int main(void)
{
	RUN(test_shared_threads);
	return test_finish();
}
