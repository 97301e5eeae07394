// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Sheaves of a slab cache: of two CPUs and a node, in rings, of another cache, too large, leading
 * nowhere, and with every byte changed.
 */
#include "debugger/kernel/slab_sheaves.h"

#include "base/array.h"
#include "base/interrupt.h"
#include "tests/unit/changed_bytes.h"
#include "tests/unit/kernel_data.h"

#define DATA	 0xffffffff82000000u
#define TABLES	 0xffffffff83000000u
#define NOWHERE	 0xffff8880dead0000u
#define OBJECT	 0xffff888001000000u
#define CAPACITY 4u
#define SHEAVES	 7u
#define CPUS	 2u
#define NODES	 3u /* of which the second is not there */

/* Whose a sheaf is. The last three are full ones of nodes. */
enum { MAIN, SPARE, FREED, MAIN_TOO, LISTED, LISTED_TOO, FAR };

struct raw_sheaf {
	uint64_t link[2], cache;
	uint32_t size, node;
	uint64_t objects[CAPACITY];
};

struct raw_data {
	struct {
		uint64_t cpu_sheaves;
		struct {
			uint64_t barn, node;
		} nodes[NODES];
		uint64_t old_nodes[NODES]; /* as 6.18 has them: pointers to nodes, which have... */
		uint32_t capacity, unused;
	} cache;
	uint32_t nr_node_ids;
	uint64_t cpus[CPUS][4]; /* lock, main, spare, rcu_free */
	uint64_t barn[3];	/* lock, sheaves_full */
	uint64_t barn_too[3];
	uint64_t node[2];
	uint64_t old_node[2][3]; /* partial, barn */
	struct raw_sheaf sheaves[SHEAVES];
};

struct machine {
	struct kernel_data kernel;
	struct raw_data data;
	struct vmcore_facts facts;
	struct cpu cpus[CPUS];
	struct slab_sheaves sheaves;
};

#define AT(member) (DATA + offsetof(struct raw_data, member))

static void put_sheaf(struct raw_data *data, unsigned int number, uint32_t size)
{
	struct raw_sheaf *sheaf = &data->sheaves[number];
	sheaf->cache = AT(cache);
	sheaf->size = size;
	/* Whatever their order is. */
	for (unsigned int i = 0; i < CAPACITY; i++)
		sheaf->objects[i] = OBJECT + (number * 16 + CAPACITY - i) * 64;
}

static void put_data(struct raw_data *data)
{
	*data = (struct raw_data){ .cache = { .cpu_sheaves = AT(cpus), .capacity = CAPACITY },
				   .nr_node_ids = NODES };
	data->cache.nodes[0].barn = AT(barn);
	data->cache.nodes[2].barn = AT(barn_too);
	data->cache.nodes[0].node = data->cache.nodes[2].node = AT(node);
	data->cache.old_nodes[0] = AT(old_node[0]);
	data->cache.old_nodes[2] = AT(old_node[1]);
	data->old_node[0][2] = AT(barn);
	data->old_node[1][2] = AT(barn_too);
	put_sheaf(data, MAIN, 3);
	put_sheaf(data, SPARE, 0);
	put_sheaf(data, FREED, 1);
	put_sheaf(data, MAIN_TOO, 2);
	put_sheaf(data, LISTED, CAPACITY);
	put_sheaf(data, LISTED_TOO, CAPACITY);
	put_sheaf(data, FAR, CAPACITY);
	data->barn_too[1] = data->barn_too[2] = AT(sheaves[FAR]);
	data->sheaves[FAR].link[0] = data->sheaves[FAR].link[1] = AT(barn_too[1]);
	data->cpus[0][1] = AT(sheaves[MAIN]);
	data->cpus[0][2] = AT(sheaves[SPARE]);
	data->cpus[0][3] = AT(sheaves[FREED]);
	data->cpus[1][1] = AT(sheaves[MAIN_TOO]);
	data->barn[1] = data->sheaves[LISTED_TOO].link[1] = AT(sheaves[LISTED]);
	data->barn[2] = data->sheaves[LISTED].link[0] = AT(sheaves[LISTED_TOO]);
	data->sheaves[LISTED].link[1] = data->sheaves[LISTED_TOO].link[0] = AT(barn[1]);
}

static void add_types(struct machine *machine, bool is_old)
{
	struct libbpf_btf *btf = machine->kernel.source;
	int uint_ = btf__add_int(btf, "unsigned int", 4, 0);
	int ulong = btf__add_int(btf, "long unsigned int", 8, 0);
	int list = add_list_head(btf);
	int objects = btf__add_array(btf, uint_, ulong, 0);
	btf__add_struct(btf, "slab_sheaf", offsetof(struct raw_sheaf, objects));
	add_member(btf, "barn_list", list, 0);
	add_member(btf, "cache", ulong, offsetof(struct raw_sheaf, cache));
	add_member(btf, "size", uint_, offsetof(struct raw_sheaf, size));
	add_member(btf, "objects", objects, offsetof(struct raw_sheaf, objects));
	int own = btf__add_struct(btf, "slub_percpu_sheaves", 32);
	add_member(btf, "main", ulong, 8);
	add_member(btf, "spare", ulong, 16);
	add_member(btf, "rcu_free", ulong, 24);
	btf__add_struct(btf, "node_barn", 24);
	add_member(btf, "sheaves_full", list, 8);
	int node = btf__add_struct(btf, "kmem_cache_node", is_old ? 24 : 16);
	add_member(btf, "partial", list, 0);
	if (is_old)
		add_member(btf, "barn", ulong, 16);
	int to_nodes = btf__add_array(btf, uint_, btf__add_ptr(btf, node), NODES);
	int pointers = btf__add_struct(btf, "kmem_cache_per_node_ptrs", 16);
	add_member(btf, "barn", ulong, 0);
	add_member(btf, "node", ulong, 8);
	int nodes = btf__add_array(btf, uint_, pointers, NODES), to_own = btf__add_ptr(btf, own);
#define CACHE(member) (offsetof(struct raw_data, cache.member) - offsetof(struct raw_data, cache))
	btf__add_struct(btf, "kmem_cache", sizeof(machine->data.cache));
	add_member(btf, "cpu_sheaves", to_own, CACHE(cpu_sheaves));
	if (is_old)
		add_member(btf, "node", to_nodes, CACHE(old_nodes));
	else
		add_member(btf, "per_node", nodes, CACHE(nodes));
	add_member(btf, "sheaf_capacity", uint_, CACHE(capacity));
	kernel_data_take_types(&machine->kernel);
}

static struct machine *machine_create_of(bool is_old)
{
	static const struct test_symbol symbols[] = { { AT(nr_node_ids), 'D', "nr_node_ids" },
						      { DATA + 65536, 'D', "_end" } };
	struct machine *machine = calloc(1, sizeof(*machine));
	if (!machine)
		abort();
	put_data(&machine->data);
	machine->kernel.start = DATA;
	machine->kernel.bytes = &machine->data;
	machine->kernel.size = sizeof(machine->data);
	kernel_data_init(&machine->kernel, TABLES, symbols, ARRAY_COUNT(symbols));
	machine->kernel.target.facts = &machine->facts;
	machine->cpus[1] =
		(struct cpu){ .number = 1, .per_cpu_offset = sizeof(machine->data.cpus[0]) };
	machine->kernel.target.cpus = machine->cpus;
	machine->kernel.target.cpu_count = CPUS;
	machine->kernel.target.cpus_loaded = true;
	add_types(machine, is_old);
	return machine;
}

static struct machine *machine_create(void)
{
	return machine_create_of(false);
}

static void machine_destroy(struct machine *machine)
{
	slab_sheaves_deinit(&machine->sheaves);
	kernel_data_deinit(&machine->kernel);
	free(machine);
}

/* How many free objects there are; those before are forgotten. */
static size_t read_sheaves(struct machine *machine)
{
	struct object cache;
	slab_sheaves_deinit(&machine->sheaves);
	CHECK_OK(object_at(&machine->kernel.target, "struct kmem_cache", AT(cache), &cache));
	CHECK_OK(slab_sheaves_read(&cache, SLAB_SHEAVES_MOST, &machine->sheaves));
	return machine->sheaves.count;
}

static bool has(const struct machine *machine, unsigned int sheaf, unsigned int place)
{
	return slab_sheaves_have(&machine->sheaves, machine->data.sheaves[sheaf].objects[place]);
}

static void test_whole(void)
{
	struct machine *machine = machine_create();
	CHECK_U64(read_sheaves(machine), 3 + 1 + 2 + 3 * CAPACITY);
	CHECK(machine->sheaves.is_whole && !machine->sheaves.problem);
	for (size_t i = 1; i < machine->sheaves.count; i++)
		CHECK(machine->sheaves.objects[i - 1] < machine->sheaves.objects[i]);
	CHECK(has(machine, MAIN, 2) && !has(machine, MAIN, 3) && !has(machine, SPARE, 0));
	CHECK(has(machine, FREED, 0) && !has(machine, FREED, 1));
	CHECK(has(machine, MAIN_TOO, 1) && has(machine, LISTED, 3) && has(machine, LISTED_TOO, 3));
	CHECK(has(machine, FAR, 3));
	CHECK_U64(slab_sheaves_first(&machine->sheaves, 0), 0);
	CHECK_U64(slab_sheaves_first(&machine->sheaves, UINT64_MAX), machine->sheaves.count);
	/* A cache without any. */
	machine->data.cache.cpu_sheaves = 0;
	memset(machine->data.cache.nodes, 0, sizeof(machine->data.cache.nodes));
	CHECK_U64(read_sheaves(machine), 0);
	CHECK(machine->sheaves.is_whole);
	machine_destroy(machine);
}

/* What can be read is, and the rest is said to be missing. */
static void check_missing(struct machine *machine, size_t left)
{
	CHECK_U64(read_sheaves(machine), left);
	CHECK(!machine->sheaves.is_whole && machine->sheaves.problem);
	put_data(&machine->data);
}

static void test_broken(void)
{
	struct machine *machine = machine_create();
	struct raw_data *data = &machine->data;
	data->sheaves[MAIN_TOO].cache = AT(node);
	check_missing(machine, 4 + 3 * CAPACITY);
	data->sheaves[MAIN_TOO].size = CAPACITY + 1;
	check_missing(machine, 4 + 3 * CAPACITY);
	data->cache.capacity = 1u << 20;
	check_missing(machine, 0);
	data->cpus[1][1] = NOWHERE;
	check_missing(machine, 4 + 3 * CAPACITY);
	data->cpus[0][2] = NOWHERE;
	check_missing(machine, 3 + 2 + 3 * CAPACITY);
	data->cache.cpu_sheaves = NOWHERE;
	check_missing(machine, 3 * CAPACITY);
	data->cache.nodes[0].barn = NOWHERE;
	check_missing(machine, 6 + CAPACITY);
	/* The list is followed from its end, too. */
	data->barn[1] = NOWHERE;
	check_missing(machine, 6 + 3 * CAPACITY);
	data->barn[1] = data->barn[2] = NOWHERE;
	check_missing(machine, 6 + CAPACITY);
	/* A ring beside the head. */
	data->sheaves[LISTED_TOO].link[0] = AT(sheaves[LISTED]);
	check_missing(machine, 6 + 3 * CAPACITY);
	/* What is no full sheaf ends its list. */
	data->sheaves[LISTED].size = 0;
	check_missing(machine, 6 + CAPACITY);
	/* Nodes have numbers below nr_node_ids, and what lies behind is not theirs. */
	data->nr_node_ids = 1;
	CHECK_U64(read_sheaves(machine), 6 + 2 * CAPACITY);
	CHECK(machine->sheaves.is_whole);
	machine_destroy(machine);
}

/* A node of 6.18 has its barn itself. */
static void test_old(void)
{
	struct machine *machine = machine_create_of(true);
	struct raw_data *data = &machine->data;
	CHECK_U64(read_sheaves(machine), 6 + 3 * CAPACITY);
	CHECK(machine->sheaves.is_whole);
	data->cache.old_nodes[0] = NOWHERE;
	check_missing(machine, 6 + CAPACITY);
	data->old_node[0][2] = NOWHERE;
	check_missing(machine, 6 + CAPACITY);
	data->old_node[0][2] = 0;
	CHECK_U64(read_sheaves(machine), 6 + CAPACITY);
	CHECK(machine->sheaves.is_whole);
	put_data(data);
	/* Both have one barn, which has a list that is a ring beside its head. */
	data->old_node[1][2] = AT(barn);
	data->sheaves[LISTED_TOO].link[0] = AT(sheaves[LISTED]);
	check_missing(machine, 6 + 4 * CAPACITY);
	machine_destroy(machine);
}

/* No more than is allowed, and not beyond Ctrl-C. */
static void test_bounds(void)
{
	struct machine *machine = machine_create();
	struct object cache;
	CHECK_OK(object_at(&machine->kernel.target, "struct kmem_cache", AT(cache), &cache));
	CHECK_OK(slab_sheaves_read(&cache, 5, &machine->sheaves));
	CHECK(machine->sheaves.count <= 5 && !machine->sheaves.is_whole);
	slab_sheaves_deinit(&machine->sheaves);
	interrupt_flag = 1;
	struct error *error = slab_sheaves_read(&cache, SLAB_SHEAVES_MOST, &machine->sheaves);
	interrupt_flag = 0;
	CHECK(error && error->kind == ERROR_INTERRUPTED);
	error_free(error);
	machine_destroy(machine);
}

static void test_mutated(void)
{
	struct machine *machine = machine_create();
	struct changed_bytes change = { .bytes = &machine->data, .size = sizeof(machine->data) };
	while (changed_bytes_next(&change))
		read_sheaves(machine);
	machine_destroy(machine);
}

int main(void)
{
	RUN(test_whole);
	RUN(test_broken);
	RUN(test_old);
	RUN(test_bounds);
	RUN(test_mutated);
	return test_finish();
}
