// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Which memory cgroup is of which cgroup: of those below one another, and where their lists lead
 * into one another, or to nowhere.
 */
#include "debugger/kernel/memory_cgroup_map.h"

#include "base/array.h"
#include "tests/unit/kernel_data.h"

#define DATA	0xffffffff82000000u
#define TABLES	0xffffffff83000000u
#define NOWHERE 0xffff8880dead0000u
#define STATES	4u

struct raw_list {
	uint64_t next, prev;
};

struct raw_state {
	uint64_t cgroup;
	struct raw_list sibling, children;
};

struct raw_data {
	struct raw_state states[STATES];
};

struct machine {
	struct kernel_data kernel;
	struct raw_data data;
	struct memory_cgroup_map map;
};

#define AT(member) (DATA + offsetof(struct raw_data, member))
#define CGROUP(i)  (NOWHERE + 64 * (uint64_t)(i))

/* 0 has 1 and 2, in this order, and 2 has 3. */
static void put_data(struct raw_data *data)
{
	struct raw_state *states = data->states;
	for (unsigned int i = 0; i < STATES; i++)
		states[i] = (struct raw_state){ .cgroup = CGROUP(STATES - i),
						.children = { AT(states[i].children),
							      AT(states[i].children) } };
	states[0].children = (struct raw_list){ AT(states[1].sibling), AT(states[2].sibling) };
	states[1].sibling = (struct raw_list){ AT(states[2].sibling), AT(states[0].children) };
	states[2].sibling = (struct raw_list){ AT(states[0].children), AT(states[1].sibling) };
	states[2].children = (struct raw_list){ AT(states[3].sibling), AT(states[3].sibling) };
	states[3].sibling = (struct raw_list){ AT(states[2].children), AT(states[2].children) };
}

static struct machine *machine_create(void)
{
	static const struct test_symbol symbols[] = { { DATA + 8192, 'D', "_end" } };
	struct machine *machine = calloc(1, sizeof(*machine));
	if (!machine)
		abort();
	put_data(&machine->data);
	machine->kernel.start = DATA;
	machine->kernel.bytes = &machine->data;
	machine->kernel.size = sizeof(machine->data);
	kernel_data_init(&machine->kernel, TABLES, symbols, ARRAY_COUNT(symbols));
	struct libbpf_btf *btf = machine->kernel.source;
	int word = btf__add_int(btf, "long unsigned int", 8, 0);
	int list = add_list_head(btf);
	btf__add_struct(btf, "cgroup_subsys_state", sizeof(struct raw_state));
	add_member(btf, "cgroup", word, 0);
	add_member(btf, "sibling", list, offsetof(struct raw_state, sibling));
	add_member(btf, "children", list, offsetof(struct raw_state, children));
	kernel_data_take_types(&machine->kernel);
	return machine;
}

static void machine_destroy(struct machine *machine)
{
	memory_cgroup_map_deinit(&machine->kernel.target, &machine->map);
	kernel_data_deinit(&machine->kernel);
	free(machine);
}

static void load(struct machine *machine)
{
	memory_cgroup_map_deinit(&machine->kernel.target, &machine->map);
	CHECK_OK(memory_cgroup_map_load(&machine->kernel.target, AT(states[0]), &machine->map));
}

static void test_whole(void)
{
	struct machine *machine = machine_create();
	load(machine);
	CHECK_U64(machine->map.count, STATES);
	for (unsigned int i = 0; i < STATES; i++)
		CHECK_U64(memory_cgroup_map_find(&machine->map, CGROUP(STATES - i)), AT(states[i]));
	CHECK_U64(memory_cgroup_map_find(&machine->map, CGROUP(0)), 0);
	machine_destroy(machine);
}

static void test_wild(void)
{
	struct machine *machine = machine_create();
	struct raw_state *states = machine->data.states;
	/* What comes before is there still. */
	states[2].children.next = NOWHERE;
	load(machine);
	CHECK_U64(machine->map.count, 3);
	put_data(&machine->data);
	states[1].sibling.next = NOWHERE;
	load(machine);
	CHECK_U64(machine->map.count, 2);
	CHECK_U64(memory_cgroup_map_find(&machine->map, CGROUP(3)), AT(states[1]));
	/* The last one is above itself. */
	put_data(&machine->data);
	states[3].sibling = (struct raw_list){ AT(states[3].children), AT(states[3].children) };
	states[3].children = (struct raw_list){ AT(states[3].sibling), AT(states[3].sibling) };
	memory_cgroup_map_deinit(&machine->kernel.target, &machine->map);
	CHECK_FAILS(memory_cgroup_map_load(&machine->kernel.target, AT(states[3]), &machine->map),
		    "more memory cgroups");
	machine_destroy(machine);
}

int main(void)
{
	RUN(test_whole);
	RUN(test_wild);
	return test_finish();
}
