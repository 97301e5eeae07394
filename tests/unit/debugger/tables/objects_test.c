// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Objects of a slab cache in a machine of eight small pages: slabs on each list that there is,
 * lists and chains in circles or leading nowhere, and every byte changed.
 */
#include "base/array.h"
#include "tests/unit/changed_bytes.h"
#include "tests/unit/kernel_data.h"
#include "tests/unit/table_rows.h"

#define DATA	0xffffffff82000000u
#define TABLES	0xffffffff83000000u
#define NOWHERE 0xffff8880dead0000u
#define PAGE	256u
#define PAGES	8u
#define SLOT	64u
#define SLOTS	4u
#define MARK	(1u << 9)

extern const struct table table_objects;

/* A page each. The last was a slab. */
enum { FULL, OF_CPU, KEPT, KEPT_TOO, PARTIAL, PARTIAL_TOO, GIVEN_BACK, STALE };

struct raw_page {
	uint64_t flags, link[2], cache, freelist;
	uint32_t counters; /* inuse:16, objects:15, frozen:1 */
	uint32_t unused[5];
};

struct raw_data {
	uint64_t vmemmap_base, page_offset_base;
	struct {
		uint64_t cpu_slab, name, node;
		uint32_t size, object_size, offset, order_objects, refcount, unused;
	} cache;
	uint64_t cpu[3]; /* freelist, slab, partial */
	uint64_t node[2];
	char name[16];
	struct raw_page pages[PAGES];
	uint8_t ram[PAGES * PAGE];
};

struct machine {
	struct kernel_data kernel;
	struct raw_data data;
	struct vmcore_facts facts;
	struct cpu cpu;
	struct table_rows rows;
};

#define AT(member) (DATA + offsetof(struct raw_data, member))
#define FUNCTION   (DATA + 60000)

static uint64_t slot_at(unsigned int page, unsigned int slot)
{
	return AT(ram) + page * PAGE + slot * SLOT;
}

/* The slots from `first` on are free, in a chain. */
static void put_slab(struct raw_data *data, unsigned int page, unsigned int first,
		     unsigned int in_use)
{
	data->pages[page].flags = MARK;
	data->pages[page].cache = AT(cache);
	data->pages[page].freelist = first < SLOTS ? slot_at(page, first) : 0;
	data->pages[page].counters = in_use | SLOTS << 16;
	for (unsigned int i = first; i < SLOTS; i++) {
		uint64_t next = i + 1 < SLOTS ? slot_at(page, i + 1) : 0;
		memcpy(data->ram + page * PAGE + i * SLOT, &next, sizeof(next));
	}
}

static void put_data(struct raw_data *data)
{
	*data = (struct raw_data){ .vmemmap_base = AT(pages), .page_offset_base = AT(ram) };
	data->cache.cpu_slab = AT(cpu);
	data->cache.name = AT(name);
	data->cache.node = AT(node);
	data->cache.size = data->cache.object_size = SLOT;
	data->cache.order_objects = SLOTS;
	data->cache.refcount = 1;
	strcpy(data->name, "thing");
	put_slab(data, FULL, SLOTS, SLOTS);
	/* Of the CPU's own chain the slab knows nothing. */
	put_slab(data, OF_CPU, 2, SLOTS);
	data->pages[OF_CPU].freelist = 0;
	data->cpu[0] = slot_at(OF_CPU, 2);
	data->cpu[1] = AT(pages[OF_CPU]);
	put_slab(data, KEPT, 3, 3);
	put_slab(data, KEPT_TOO, 3, 3);
	data->cpu[2] = AT(pages[KEPT]);
	data->pages[KEPT].link[0] = AT(pages[KEPT_TOO]);
	put_slab(data, PARTIAL, 1, 1);
	put_slab(data, PARTIAL_TOO, 3, 3);
	data->node[0] = AT(pages[PARTIAL].link);
	data->node[1] = AT(pages[PARTIAL_TOO].link);
	data->pages[PARTIAL].link[0] = AT(pages[PARTIAL_TOO].link);
	data->pages[PARTIAL].link[1] = data->pages[PARTIAL_TOO].link[0] = AT(node);
	data->pages[PARTIAL_TOO].link[1] = AT(pages[PARTIAL].link);
	put_slab(data, GIVEN_BACK, 0, 0);
	data->pages[GIVEN_BACK].link[1] = FUNCTION;
	put_slab(data, STALE, 0, 0);
	data->pages[STALE].flags = 0;
}

static void add_page(struct libbpf_btf *btf, const char *name, int ulong, int uint_, int list,
		     int callback)
{
	btf__add_struct(btf, name, sizeof(struct raw_page));
	add_member(btf, "flags", ulong, 0);
	add_member(btf, "compound_head", ulong, offsetof(struct raw_page, link));
	add_member(btf, "next", ulong, offsetof(struct raw_page, link));
	add_member(btf, "slab_list", list, offsetof(struct raw_page, link));
	add_member(btf, "callback_head", callback, offsetof(struct raw_page, link));
	add_member(btf, "slab_cache", ulong, offsetof(struct raw_page, cache));
	add_member(btf, "freelist", ulong, offsetof(struct raw_page, freelist));
	uint32_t bit = offsetof(struct raw_page, counters) * 8;
	btf__add_field(btf, "inuse", uint_, bit, 16);
	btf__add_field(btf, "objects", uint_, bit + 16, 15);
}

static void add_types(struct machine *machine)
{
	struct libbpf_btf *btf = machine->kernel.source;
	int uint_ = btf__add_int(btf, "unsigned int", 4, 0);
	int ulong = btf__add_int(btf, "long unsigned int", 8, 0);
	int list = add_list_head(btf);
	int callback = btf__add_struct(btf, "callback_head", 16);
	add_member(btf, "next", ulong, 0);
	add_member(btf, "func", ulong, 8);
	add_page(btf, "page", ulong, uint_, list, callback);
	add_page(btf, "slab", ulong, uint_, list, callback);
	btf__add_enum(btf, "pageflags", 4);
	btf__add_enum_value(btf, "PG_slab", 9);
	int own = btf__add_struct(btf, "kmem_cache_cpu", 24);
	add_member(btf, "freelist", ulong, 0);
	add_member(btf, "slab", ulong, 8);
	add_member(btf, "partial", ulong, 16);
	btf__add_struct(btf, "kmem_cache_node", 16);
	add_member(btf, "partial", list, 0);
	int order = btf__add_struct(btf, "kmem_cache_order_objects", 4);
	add_member(btf, "x", uint_, 0);
	int to_own = btf__add_ptr(btf, own);
	int nodes = btf__add_array(btf, uint_, ulong, 1);
#define CACHE(member) (offsetof(struct raw_data, cache.member) - offsetof(struct raw_data, cache))
	btf__add_struct(btf, "kmem_cache", sizeof(machine->data.cache));
	add_member(btf, "cpu_slab", to_own, CACHE(cpu_slab));
	add_member(btf, "name", ulong, CACHE(name));
	add_member(btf, "node", nodes, CACHE(node));
	add_member(btf, "size", uint_, CACHE(size));
	add_member(btf, "object_size", uint_, CACHE(object_size));
	add_member(btf, "offset", uint_, CACHE(offset));
	add_member(btf, "oo", order, CACHE(order_objects));
	add_member(btf, "refcount", uint_, CACHE(refcount));
	kernel_data_take_types(&machine->kernel);
}

static struct machine *machine_create(void)
{
	static const struct test_symbol symbols[] = {
		{ AT(vmemmap_base), 'D', "vmemmap_base" },
		{ AT(page_offset_base), 'D', "page_offset_base" },
		{ FUNCTION, 'T', "rcu_free_slab" },
		{ DATA + 65536, 'D', "_end" },
	};
	struct machine *machine = calloc(1, sizeof(*machine));
	if (!machine)
		abort();
	put_data(&machine->data);
	machine->kernel.start = DATA;
	machine->kernel.bytes = &machine->data;
	machine->kernel.size = sizeof(machine->data);
	kernel_data_init(&machine->kernel, TABLES, symbols, ARRAY_COUNT(symbols));
	machine->facts.page_size = PAGE;
	machine->facts.max_physical = sizeof(machine->data.ram);
	machine->kernel.target.facts = &machine->facts;
	machine->kernel.target.cpus = &machine->cpu;
	machine->kernel.target.cpu_count = 1;
	machine->kernel.target.cpus_loaded = true;
	add_types(machine);
	return machine;
}

static void machine_destroy(struct machine *machine)
{
	kernel_data_deinit(&machine->kernel);
	free(machine);
}

static const char *rows_of(struct machine *machine, bool *ret_problem)
{
	return table_rows_read(&machine->rows, &machine->kernel.target, &table_objects,
			       ret_problem);
}

static bool says(const struct machine *machine, const char *rows)
{
	return strstr(machine->rows.text, rows);
}

static void test_whole(void)
{
	struct machine *machine = machine_create();
	bool has_problem;
	CHECK_STRING(rows_of(machine, &has_problem),
		     "0|allocated|none|-|-|thing;1|allocated|none|-|-|thing;"
		     "2|allocated|none|-|-|thing;3|allocated|none|-|-|thing;"
		     "0|allocated|cpu|0|-|thing;1|allocated|cpu|0|-|thing;"
		     "2|free|cpu|0|-|thing;3|free|cpu|0|-|thing;"
		     "0|allocated|cpu_partial|0|-|thing;1|allocated|cpu_partial|0|-|thing;"
		     "2|allocated|cpu_partial|0|-|thing;3|free|cpu_partial|0|-|thing;"
		     "0|allocated|cpu_partial|0|-|thing;1|allocated|cpu_partial|0|-|thing;"
		     "2|allocated|cpu_partial|0|-|thing;3|free|cpu_partial|0|-|thing;"
		     "0|allocated|partial|-|0|thing;1|free|partial|-|0|thing;"
		     "2|free|partial|-|0|thing;3|free|partial|-|0|thing;"
		     "0|allocated|partial|-|0|thing;1|allocated|partial|-|0|thing;"
		     "2|allocated|partial|-|0|thing;3|free|partial|-|0|thing;"
		     "0|free|rcu|-|-|thing;1|free|rcu|-|-|thing;"
		     "2|free|rcu|-|-|thing;3|free|rcu|-|-|thing;");
	CHECK(!has_problem);
	machine_destroy(machine);
}

/* Rows of a name alone, and those of none. */
static void test_named(void)
{
	struct machine *machine = machine_create();
	struct table_rows rows = { .table = &table_objects };
	struct table_scan scan = { .target = &machine->kernel.target,
				   .table = &table_objects,
				   .wanted = UINT64_MAX,
				   .row = table_rows_add,
				   .context = &rows };
	CHECK_OK(table_scan_named(&scan, "thin"));
	CHECK_U64(rows.count, 0);
	CHECK_OK(table_scan_named(&scan, "thing"));
	CHECK_U64(rows.count, 28);
	scan.count = rows.count = 0;
	scan.limit = 5;
	CHECK_OK(table_scan_named(&scan, "thing"));
	CHECK_U64(rows.count, 5);
	table_scan_deinit(&scan);
	machine_destroy(machine);
}

static void test_broken(void)
{
	struct machine *machine = machine_create();
	struct raw_data *data = &machine->data;
	bool has_problem;
	/* The CPU's slabs in a circle; the node's in one beside its head. */
	data->pages[KEPT_TOO].link[0] = AT(pages[KEPT]);
	rows_of(machine, &has_problem);
	CHECK(has_problem && machine->rows.count == 28 && says(machine, "3|free|cpu_partial|0|"));
	put_data(data);
	data->pages[PARTIAL_TOO].link[0] = AT(pages[PARTIAL].link);
	rows_of(machine, &has_problem);
	CHECK(has_problem && machine->rows.count == 28 && says(machine, "3|free|partial|-|0|"));
	/* To nowhere. */
	put_data(data);
	data->pages[KEPT].link[0] = data->pages[PARTIAL].link[0] = NOWHERE;
	rows_of(machine, &has_problem);
	CHECK(has_problem && machine->rows.count == 28 && says(machine, "3|free|partial|-|0|"));
	put_data(data);
	data->cache.node = data->cpu[1] = NOWHERE;
	rows_of(machine, &has_problem);
	CHECK(has_problem && machine->rows.count == 28 && says(machine, "3|free|none|-|-|"));
	/* Free slots in a circle: what is not on the list may be free all the same. */
	put_data(data);
	uint64_t first = slot_at(PARTIAL, 1);
	memcpy(data->ram + PARTIAL * PAGE + 2 * SLOT, &first, sizeof(first));
	rows_of(machine, &has_problem);
	CHECK(says(machine, "0|unsure|partial|-|0|thing;1|free|partial|-|0|thing;"
			    "2|free|partial|-|0|thing;3|unsure|partial|-|0|thing;"));
	put_data(data);
	data->cache.cpu_slab = NOWHERE;
	rows_of(machine, &has_problem);
	CHECK(has_problem && !machine->rows.count);
	machine_destroy(machine);
}

static void test_mutated(void)
{
	struct machine *machine = machine_create();
	struct changed_bytes change = { .bytes = &machine->data, .size = sizeof(machine->data) };
	bool has_problem;
	while (changed_bytes_next(&change)) {
		rows_of(machine, &has_problem);
		CHECK(machine->rows.count <= TABLE_ROWS_MAX);
	}
	machine_destroy(machine);
}

int main(void)
{
	RUN(test_whole);
	RUN(test_named);
	RUN(test_broken);
	RUN(test_mutated);
	return test_finish();
}
