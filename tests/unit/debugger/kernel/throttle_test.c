// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Groups of tasks with a quota of the CPUs: which have one, on which CPU they must not run, which
 * tasks that concerns; lists in a circle, queues that are nowhere, a kernel without quotas.
 */
#include "base/array.h"
#include "debugger/kernel/throttle.h"
#include "tests/unit/kernel_data.h"
#include "tests/unit/test.h"

#define DATA	0xffffffff82000000u
#define TABLES	0xffffffff83000000u
#define NOWHERE 0xffff8880dead0000u
#define GROUPS	3u
#define CPUS	2u

/* The kernel's structs: the members that are asked for, in layouts of our own. */
struct raw_queue {
	uint64_t since;
	int32_t throttled, count;
};

struct raw_bandwidth {
	uint64_t quota, period, throttled_time;
	int32_t nr_periods, nr_throttled;
};

struct raw_group {
	uint64_t next, prev, cgroup, queues;
	struct raw_bandwidth bandwidth;
};

struct raw_data {
	uint64_t head[2];
	struct raw_group groups[GROUPS];
	uint64_t queues[GROUPS][CPUS];
	struct raw_queue queue[GROUPS][CPUS];
	uint64_t tasks[2]; /* their queues */
};

struct machine {
	struct kernel_data kernel;
	struct raw_data data;
	struct task_group found[8];
	size_t count;
};

#define AT(member) (DATA + offsetof(struct raw_data, member))

/* The first group has no quota, the others have; the last must not run on the second CPU. */
static void put_data(struct machine *machine)
{
	struct raw_data *data = &machine->data;
	for (unsigned int i = 0; i < GROUPS; i++) {
		data->groups[i] = (struct raw_group){
			.next = i + 1 < GROUPS ? AT(groups[i + 1]) : AT(head),
			.prev = i ? AT(groups[i - 1]) : AT(head),
			.cgroup = 0x1000 + i,
			.queues = AT(queues[i]),
			.bandwidth = { .quota = i ? i * 1000 : UINT64_MAX,
				       .period = 100000,
				       .throttled_time = 7,
				       .nr_periods = 10,
				       .nr_throttled = 9 },
		};
		for (unsigned int k = 0; k < CPUS; k++)
			data->queues[i][k] = AT(queue[i][k]);
	}
	data->queue[2][1] = (struct raw_queue){ .since = 123456, .throttled = 1, .count = 1 };
	/* What is above it must not run: its own flag is not set. */
	data->queue[1][0] = (struct raw_queue){ .count = 1 };
	data->head[0] = AT(groups[0]);
	data->head[1] = AT(groups[GROUPS - 1]);
	data->tasks[0] = AT(queue[1][0]);
	data->tasks[1] = AT(queue[1][1]);
}

/* `has_quotas`: it was compiled with CONFIG_CFS_BANDWIDTH. */
static void add_types(struct machine *machine, bool has_quotas)
{
	struct libbpf_btf *btf = machine->kernel.source;
	int int_ = btf__add_int(btf, "int", 4, 1);
	int ulong = btf__add_int(btf, "long unsigned int", 8, 0);
	int list = add_list_head(btf);
	int queue = btf__add_struct(btf, "cfs_rq", sizeof(struct raw_queue));
	add_member(btf, "throttled_clock", ulong, 0);
	add_member(btf, "throttled", int_, offsetof(struct raw_queue, throttled));
	add_member(btf, "throttle_count", int_, offsetof(struct raw_queue, count));
	int to_queue = btf__add_ptr(btf, queue);
	int bandwidth = btf__add_struct(btf, "cfs_bandwidth", sizeof(struct raw_bandwidth));
	add_member(btf, "quota", ulong, 0);
	add_member(btf, "period", ulong, offsetof(struct raw_bandwidth, period));
	add_member(btf, "throttled_time", ulong, offsetof(struct raw_bandwidth, throttled_time));
	add_member(btf, "nr_periods", int_, offsetof(struct raw_bandwidth, nr_periods));
	add_member(btf, "nr_throttled", int_, offsetof(struct raw_bandwidth, nr_throttled));
	int state = btf__add_struct(btf, "cgroup_subsys_state", 8);
	add_member(btf, "cgroup", ulong, 0);
	btf__add_struct(btf, "task_group", sizeof(struct raw_group));
	add_member(btf, "list", list, 0);
	add_member(btf, "css", state, offsetof(struct raw_group, cgroup));
	add_member(btf, "cfs_rq", ulong, offsetof(struct raw_group, queues));
	if (has_quotas)
		add_member(btf, "cfs_bandwidth", bandwidth, offsetof(struct raw_group, bandwidth));
	int entity = btf__add_struct(btf, "sched_entity", 8);
	add_member(btf, "cfs_rq", to_queue, 0);
	btf__add_struct(btf, "task_struct", 8);
	add_member(btf, "se", entity, 0);
	kernel_data_take_types(&machine->kernel);
}

static struct machine *machine_create(bool has_quotas)
{
	static const struct test_symbol symbols[] = {
		{ AT(head), 'd', "task_groups" },
		{ DATA + 8192, 'D', "_end" },
	};
	struct machine *machine = calloc(1, sizeof(*machine));
	if (!machine)
		abort();
	machine->kernel.start = DATA;
	machine->kernel.bytes = &machine->data;
	machine->kernel.size = sizeof(machine->data);
	kernel_data_init(&machine->kernel, TABLES, symbols, ARRAY_COUNT(symbols));
	add_types(machine, has_quotas);
	put_data(machine);
	return machine;
}

static void machine_destroy(struct machine *machine)
{
	kernel_data_deinit(&machine->kernel);
	free(machine);
}

static struct error *take(void *context, const struct task_group *group)
{
	struct machine *machine = context;
	if (machine->count == ARRAY_COUNT(machine->found))
		return error_create(ERROR_OTHER, "enough");
	machine->found[machine->count++] = *group;
	return NULL;
}

static void test_groups(void)
{
	struct machine *machine = machine_create(true);
	CHECK_OK(limited_groups_for_each(&machine->kernel.target, take, machine));
	CHECK_U64(machine->count, 2);
	CHECK_U64(machine->found[0].address, AT(groups[1]));
	CHECK_U64(machine->found[1].quota, 2000);
	CHECK_U64(machine->found[1].period, 100000);
	CHECK_U64(machine->found[1].cgroup, 0x1002);
	CHECK_U64(machine->found[1].periods, 10);
	CHECK_U64(machine->found[1].throttled_periods, 9);
	machine->count = ARRAY_COUNT(machine->found);
	CHECK_FAILS(limited_groups_for_each(&machine->kernel.target, take, machine), "enough");
	machine_destroy(machine);
}

static void test_queues(void)
{
	struct machine *machine = machine_create(true);
	struct raw_data *data = &machine->data;
	uint64_t since, queue;
	bool is_throttled;
	const struct cpu cpus[CPUS] = { { .number = 0 }, { .number = 1 } };
	CHECK_OK(limited_groups_for_each(&machine->kernel.target, take, machine));
	const struct task_group *group = &machine->found[1];
	CHECK_OK(group_throttled_since(&machine->kernel.target, group, &cpus[0], &since, &queue));
	CHECK_U64(since, 0);
	CHECK_OK(group_throttled_since(&machine->kernel.target, group, &cpus[1], &since, &queue));
	CHECK_U64(since, 123456);
	CHECK_U64(queue, AT(queue[2][1]));
	data->queues[2][1] = 0;
	CHECK_OK(group_throttled_since(&machine->kernel.target, group, &cpus[1], &since, &queue));
	CHECK_U64(since, 0);
	data->queues[2][1] = NOWHERE;
	CHECK_FAILS(group_throttled_since(&machine->kernel.target, group, &cpus[1], &since, &queue),
		    "nothing at");
	CHECK_OK(task_is_throttled(&machine->kernel.target, AT(tasks[0]), &is_throttled));
	CHECK(is_throttled);
	CHECK_OK(task_is_throttled(&machine->kernel.target, AT(tasks[1]), &is_throttled));
	CHECK(!is_throttled);
	data->tasks[0] = 0;
	CHECK_OK(task_is_throttled(&machine->kernel.target, AT(tasks[0]), &is_throttled));
	CHECK(!is_throttled);
	data->tasks[0] = NOWHERE;
	CHECK_FAILS(task_is_throttled(&machine->kernel.target, AT(tasks[0]), &is_throttled),
		    "nothing at");
	machine_destroy(machine);
}

/* A circle beside the head, a list that leads to nowhere, an empty one: each ends. */
static void test_broken(void)
{
	struct machine *machine = machine_create(true);
	struct raw_data *data = &machine->data;
	data->groups[2].next = AT(groups[1]);
	error_free(limited_groups_for_each(&machine->kernel.target, take, machine));
	CHECK(machine->count >= 1 && machine->count <= 2);
	put_data(machine);
	machine->count = 0;
	data->groups[0].next = NOWHERE;
	error_free(limited_groups_for_each(&machine->kernel.target, take, machine));
	CHECK(machine->count <= 2);
	put_data(machine);
	machine->count = 0;
	data->head[0] = data->head[1] = AT(head);
	CHECK_OK(limited_groups_for_each(&machine->kernel.target, take, machine));
	CHECK_U64(machine->count, 0);
	/* A period of nothing is no quota. */
	put_data(machine);
	data->groups[1].bandwidth.period = 0;
	CHECK_OK(limited_groups_for_each(&machine->kernel.target, take, machine));
	CHECK_U64(machine->count, 1);
	machine_destroy(machine);
}

static void test_without_quotas(void)
{
	struct machine *machine = machine_create(false);
	CHECK_OK(limited_groups_for_each(&machine->kernel.target, take, machine));
	CHECK_U64(machine->count, 0);
	machine_destroy(machine);
}

int main(void)
{
	RUN(test_groups);
	RUN(test_queues);
	RUN(test_broken);
	RUN(test_without_quotas);
	return test_finish();
}
