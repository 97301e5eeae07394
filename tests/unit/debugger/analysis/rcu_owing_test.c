// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Who an RCU grace period waits for: CPUs by the bits of the leaves alone, readers from gp_tasks
 * on, its age; lists that go in circles or nowhere, counts that no tree has.
 */
#include "base/array.h"
#include "debugger/analysis/rcu_owing.h"
#include "tests/unit/kernel_data.h"
#include "tests/unit/test.h"

#define DATA	0xffffffff82000000u
#define TABLES	0xffffffff83000000u
#define NOWHERE 0xffff8880dead0000u
#define NODES	3u /* a root and two leaves */
#define READERS 3u

struct raw_list {
	uint64_t next, prev;
};

struct raw_node {
	uint64_t mask, first, level, readers_from;
	struct raw_list readers;
};

struct raw_task {
	uint64_t pid;
	struct raw_list entry;
};

struct raw_data {
	struct {
		uint64_t began;
		struct raw_node nodes[NODES];
	} state;
	uint64_t now, tick;
	int32_t node_count, level_count;
	struct raw_task tasks[READERS];
};

struct machine {
	struct kernel_data kernel;
	struct raw_data data;
};

#define AT(member) (DATA + offsetof(struct raw_data, member))

/* The second leaf has all readers, the last one first. */
static void put_data(struct machine *machine)
{
	struct raw_data *data = &machine->data;
	data->now = 4294900000;
	data->state.began = data->now - 250;
	data->tick = 4000000;
	data->node_count = NODES;
	data->level_count = 2;
	for (unsigned int i = 0; i < NODES; i++) {
		uint64_t head = AT(state.nodes[i].readers);
		data->state.nodes[i] = (struct raw_node){ .first = i == 2 ? 16 : 0,
							  .level = i > 0,
							  .readers = { head, head } };
	}
	uint64_t head = AT(state.nodes[2].readers);
	for (unsigned int i = 0; i < READERS; i++) {
		data->tasks[i].pid = 100 + i;
		data->tasks[i].entry.next = i + 1 < READERS ? AT(tasks[i + 1].entry) : head;
		data->tasks[i].entry.prev = i ? AT(tasks[i - 1].entry) : head;
	}
	data->state.nodes[2].readers =
		(struct raw_list){ AT(tasks[0].entry), AT(tasks[READERS - 1].entry) };
}

static void add_types(struct machine *machine)
{
	struct libbpf_btf *btf = machine->kernel.source;
	int index = btf__add_int(btf, "uint", 4, 0);
	int ulong = btf__add_int(btf, "long unsigned int", 8, 0);
	btf__add_int(btf, "int", 4, 1);
	int list = add_list_head(btf);
	int node = btf__add_struct(btf, "rcu_node", sizeof(struct raw_node));
	add_member(btf, "qsmask", ulong, 0);
	add_member(btf, "grplo", ulong, offsetof(struct raw_node, first));
	add_member(btf, "level", ulong, offsetof(struct raw_node, level));
	add_member(btf, "gp_tasks", ulong, offsetof(struct raw_node, readers_from));
	add_member(btf, "blkd_tasks", list, offsetof(struct raw_node, readers));
	int nodes = btf__add_array(btf, index, node, NODES);
	btf__add_struct(btf, "rcu_state", 8 + NODES * sizeof(struct raw_node));
	add_member(btf, "gp_start", ulong, 0);
	add_member(btf, "node", nodes, 8);
	btf__add_struct(btf, "task_struct", sizeof(struct raw_task));
	add_member(btf, "pid", ulong, 0);
	add_member(btf, "rcu_node_entry", list, offsetof(struct raw_task, entry));
	kernel_data_take_types(&machine->kernel);
}

static struct machine *machine_create(void)
{
	static const struct test_symbol symbols[] = {
		{ AT(state), 'd', "rcu_state" },	  { AT(now), 'D', "jiffies_64" },
		{ AT(tick), 'd', "tick_nsec" },		  { AT(node_count), 'd', "rcu_num_nodes" },
		{ AT(level_count), 'd', "rcu_num_lvls" }, { DATA + 8192, 'D', "_end" },
	};
	struct machine *machine = calloc(1, sizeof(*machine));
	if (!machine)
		abort();
	machine->kernel.start = DATA;
	machine->kernel.bytes = &machine->data;
	machine->kernel.size = sizeof(machine->data);
	kernel_data_init(&machine->kernel, TABLES, symbols, ARRAY_COUNT(symbols));
	add_types(machine);
	put_data(machine);
	return machine;
}

static void machine_destroy(struct machine *machine)
{
	kernel_data_deinit(&machine->kernel);
	free(machine);
}

static struct rcu_owing ask(struct machine *machine)
{
	struct rcu_owing owing;
	CHECK_OK(rcu_owing_find(&machine->kernel.target, &owing));
	return owing;
}

static void test_cpus(void)
{
	struct machine *machine = machine_create();
	struct rcu_owing owing = ask(machine);
	CHECK_U64(owing.count, 0);
	CHECK_U64(owing.task_count, 0);
	CHECK_U64(owing.began_ns, 1000000000);
	/* A bit of the root stands for a leaf. */
	machine->data.state.nodes[0].mask = 2;
	CHECK_U64(ask(machine).count, 0);
	machine->data.state.nodes[2].mask = 0xc;
	owing = ask(machine);
	CHECK_U64(owing.count, 2);
	CHECK_U64(owing.first, 18);
	machine_destroy(machine);
}

static void test_readers(void)
{
	struct machine *machine = machine_create();
	/* Those in front of it came when the grace period had begun. */
	machine->data.state.nodes[2].readers_from = AT(tasks[1].entry);
	struct rcu_owing owing = ask(machine);
	CHECK_U64(owing.task_count, 2);
	CHECK_U64(owing.task, AT(tasks[2]));
	machine->data.state.nodes[2].readers_from = AT(tasks[2].entry);
	owing = ask(machine);
	CHECK_U64(owing.task_count, 1);
	CHECK_U64(owing.task, AT(tasks[2]));
	machine_destroy(machine);
}

static void test_wild(void)
{
	struct machine *machine = machine_create();
	struct raw_data *data = &machine->data;
	struct rcu_owing owing;
	/* One that is not on the list holds nothing up. */
	data->state.nodes[2].readers_from = NOWHERE;
	CHECK_U64(ask(machine).task_count, 0);
	data->state.nodes[2].readers_from = AT(tasks[0].entry);
	data->tasks[1].entry.next = NOWHERE;
	owing = ask(machine);
	CHECK(owing.task_count >= 2 && owing.task_count <= READERS);
	data->tasks[1].entry.next = AT(tasks[0].entry);
	owing = ask(machine);
	CHECK(owing.task_count <= READERS);
	data->state.nodes[2].readers = (struct raw_list){ NOWHERE, NOWHERE };
	CHECK_U64(ask(machine).task_count, 0);
	/* An age that no grace period has is none. */
	data->state.began = data->now + 1;
	CHECK_U64(ask(machine).began_ns, 0);
	data->tick = UINT64_MAX;
	CHECK_U64(ask(machine).began_ns, 0);
	/* More nodes than there are types for. */
	data->node_count = -1;
	CHECK_FAILS(rcu_owing_find(&machine->kernel.target, &owing), "node");
	machine_destroy(machine);
}

int main(void)
{
	RUN(test_cpus);
	RUN(test_readers);
	RUN(test_wild);
	return test_finish();
}
