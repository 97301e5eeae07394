// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Tasks out of slabs, in a made-up machine of 64 pages: two slabs of two pages with eight slots
 * each, and what once was a slab. Every free slot looks like a living task.
 */
#include "base/array.h"
#include "base/interrupt.h"
#include "debugger/kernel/slab_tasks.h"
#include "tests/unit/kallsyms_image.h"
#include "tests/unit/libbpf.h"
#include "tests/unit/test.h"

#define PAGE	    4096u
#define PAGES	    64u
#define DIRECT	    0xffff888000000000u
#define VMEMMAP	    0xffffea0000000000u
#define DATA	    0xffffffff82000000u
#define TABLES	    0xffffffff83000000u
#define SLOTS	    8u
#define SLOT_SIZE   1000u
#define FREE_OFFSET 640u
#define RANDOM	    0x0123456789abcdefu
/* First pages of the slabs. The third was freed: its struct page still names the cache. */
#define SLAB_A 4u
#define SLAB_B 40u
#define STALE  10u
#define PIDS   20u /* a page of struct pid */

/* The kernel's structs: the members that are asked for, in layouts of our own. */
struct raw_task {
	uint64_t thread_pid;
	uint64_t thread_node[2], pid_links[2];
	uint64_t stack, signal;
	int32_t pid, tgid, usage, exit_state;
};

struct raw_page {
	uint64_t flags;
	uint64_t slab_cache;
	uint64_t freelist;
	uint32_t counters; /* inuse:16, objects:15, frozen:1 */
	uint32_t type;
	uint64_t unused[4];
};

struct raw_cache {
	uint64_t cpu_slab, random;
	uint32_t size, offset, order_objects, red_left_pad;
};

struct raw_data {
	uint64_t cachep, vmemmap_base, page_offset_base;
	struct raw_cache cache;
	uint64_t cpu_slab[2][2]; /* freelist, slab */
};

struct form {
	bool is_hardened, has_page_type, has_sheaves;
	uint32_t left_pad;
};

struct machine {
	struct memory memory;
	struct target target;
	struct vmcore_facts facts;
	struct cpu cpus[2];
	struct form form;
	uint8_t ram[PAGES * PAGE];
	struct raw_page pages[PAGES];
	struct raw_data data;
	struct image tables;
	struct libbpf_btf *source;
	struct btf *btf;
	uint64_t excluded;  /* a page of any of them; 0: none */
	uint64_t found[64]; /* addresses of tasks */
	size_t count, most;
};

static struct error *machine_read(struct memory *memory, uint64_t address, void *buffer,
				  size_t size)
{
	struct machine *machine = (struct machine *)memory;
	const struct {
		uint64_t start;
		void *bytes;
		size_t size;
	} parts[] = {
		{ DIRECT, machine->ram, sizeof(machine->ram) },
		{ VMEMMAP, machine->pages, sizeof(machine->pages) },
		{ DATA, &machine->data, sizeof(machine->data) },
	};
	for (size_t i = 0; i < ARRAY_COUNT(parts); i++) {
		uint64_t offset = address - parts[i].start;
		if (offset >= parts[i].size)
			continue;
		uint64_t bad = parts[i].start + parts[i].size;
		enum error_kind kind = ERROR_FAULT;
		if (machine->excluded && address + size > machine->excluded &&
		    address < machine->excluded + PAGE) {
			bad = address > machine->excluded ? address : machine->excluded;
			kind = ERROR_EXCLUDED;
		} else if (size <= parts[i].size - offset) {
			memcpy(buffer, (uint8_t *)parts[i].bytes + offset, size);
			return NULL;
		}
		return error_create_at(kind, bad, "nothing at 0x%" PRIx64, bad);
	}
	return error_create_at(ERROR_FAULT, address, "nothing at 0x%" PRIx64, address);
}

/* --- types --------------------------------------------------------------------------- */

struct field {
	const char *name;
	int type;
	size_t offset;
	int bits; /* 0: not a bit-field */
};

static int add_struct(struct libbpf_btf *btf, const char *name, size_t size,
		      const struct field *fields)
{
	int id = btf__add_struct(btf, name, (uint32_t)size);
	for (; fields->name; fields++)
		btf__add_field(btf, fields->name, fields->type, (uint32_t)fields->offset,
			       (uint32_t)fields->bits);
	return id;
}

#define FIELD(record, member, type)                                                                \
	{                                                                                          \
#member, type, offsetof(struct record, member) * 8, 0                              \
	}

static void add_task(struct libbpf_btf *btf, int int_, int ulong)
{
	int node = add_struct(
		btf, "list_head", 16,
		(struct field[]){ { "next", ulong, 0, 0 }, { "prev", ulong, 64, 0 }, { 0 } });
	int head = add_struct(btf, "hlist_head", 8,
			      (struct field[]){ { "first", ulong, 0, 0 }, { 0 } });
	int refs =
		add_struct(btf, "atomic", 4, (struct field[]){ { "counter", int_, 0, 0 }, { 0 } });
	int usage =
		add_struct(btf, "refcount", 4, (struct field[]){ { "refs", refs, 0, 0 }, { 0 } });
	int heads = btf__add_array(btf, int_, head, 1), links = btf__add_array(btf, int_, node, 1);
	int pid = add_struct(btf, "pid", 16, (struct field[]){ { "tasks", heads, 64, 0 }, { 0 } });
	int to_pid = btf__add_ptr(btf, pid);
	add_struct(btf, "task_struct", sizeof(struct raw_task),
		   (struct field[]){ FIELD(raw_task, thread_pid, to_pid),
				     FIELD(raw_task, thread_node, node),
				     FIELD(raw_task, pid_links, links),
				     FIELD(raw_task, stack, ulong),
				     FIELD(raw_task, signal, ulong),
				     FIELD(raw_task, pid, int_),
				     FIELD(raw_task, tgid, int_),
				     FIELD(raw_task, usage, usage),
				     FIELD(raw_task, exit_state, int_),
				     { 0 } });
}

static void add_slab(struct libbpf_btf *btf, const struct form *form, int uint, int ulong)
{
	size_t counters = offsetof(struct raw_page, counters) * 8;
	const struct field fields[] = {
		{ "__page_flags", ulong, 0, 0 },
		FIELD(raw_page, slab_cache, ulong),
		FIELD(raw_page, freelist, ulong),
		{ "inuse", uint, counters, 16 },
		{ "objects", uint, counters + 16, 15 },
		{ "__page_type", uint, offsetof(struct raw_page, type) * 8, 0 },
		{ 0 },
	};
	add_struct(btf, "page", sizeof(struct raw_page), (struct field[]){ { 0 } });
	add_struct(btf, "slab", sizeof(struct raw_page), fields);
	btf__add_enum(btf, form->has_page_type ? "pagetype" : "pageflags", 4);
	btf__add_enum_value(btf, form->has_page_type ? "PGTY_slab" : "PG_slab",
			    form->has_page_type ? 245 : 9);
}

static void add_cache(struct libbpf_btf *btf, const struct form *form, int uint, int ulong)
{
	int order = add_struct(btf, "kmem_cache_order_objects", 4,
			       (struct field[]){ { "x", uint, 0, 0 }, { 0 } });
	int cpu = add_struct(
		btf, "kmem_cache_cpu", 16,
		(struct field[]){ { "freelist", ulong, 0, 0 }, { "slab", ulong, 64, 0 }, { 0 } });
	struct field fields[9] = {
		FIELD(raw_cache, cpu_slab, btf__add_ptr(btf, cpu)),
		FIELD(raw_cache, size, uint),
		FIELD(raw_cache, offset, uint),
		{ "oo", order, offsetof(struct raw_cache, order_objects) * 8, 0 },
		FIELD(raw_cache, red_left_pad, uint),
	};
	size_t count = 5;
	if (form->is_hardened)
		fields[count++] = (struct field)FIELD(raw_cache, random, ulong);
	if (form->has_sheaves)
		fields[count++] = (struct field){ "cpu_sheaves", ulong, 0, 0 };
	add_struct(btf, "kmem_cache", sizeof(struct raw_cache), fields);
}

static void add_types(struct machine *machine)
{
	struct libbpf_btf *btf = machine->source = btf__new_empty();
	int int_ = btf__add_int(btf, "int", 4, 1), uint = btf__add_int(btf, "unsigned int", 4, 0);
	int ulong = btf__add_int(btf, "long unsigned int", 8, 0);
	add_task(btf, int_, ulong);
	add_slab(btf, &machine->form, uint, ulong);
	add_cache(btf, &machine->form, uint, ulong);
	uint32_t size = 0;
	const void *raw = btf__raw_data(btf, &size);
	CHECK_OK(btf_open(raw, size, NULL, "vmlinux", &machine->btf));
	machine->target.btf = machine->btf;
}

/* --- contents ------------------------------------------------------------------------ */

#define AT(member) (DATA + offsetof(struct raw_data, member))

static uint64_t slot_address(const struct machine *machine, unsigned int slab, unsigned int slot)
{
	return DIRECT + slab * PAGE + machine->form.left_pad + slot * SLOT_SIZE;
}

static void *at_address(struct machine *machine, uint64_t address)
{
	return machine->ram + (address - DIRECT);
}

static struct raw_task *slot_task(struct machine *machine, unsigned int slab, unsigned int slot)
{
	return at_address(machine, slot_address(machine, slab, slot));
}

/* A task whose pid and thread list point back. */
static void put_task(struct machine *machine, unsigned int slab, unsigned int slot)
{
	uint64_t address = slot_address(machine, slab, slot);
	int pid = (int)(slab * SLOTS + slot) % 128;
	uint64_t pid_address = DIRECT + PIDS * PAGE + (uint64_t)pid * 16;
	uint64_t node = address + offsetof(struct raw_task, thread_node);
	struct raw_task *task = slot_task(machine, slab, slot);
	*task = (struct raw_task){
		.thread_pid = pid_address,
		.thread_node = { node, node },
		.stack = 0xffffc90000000000,
		.signal = DIRECT + 8,
		.pid = pid,
		.tgid = pid,
		.usage = 1,
	};
	*(uint64_t *)at_address(machine, pid_address + 8) =
		address + offsetof(struct raw_task, pid_links);
}

static void put_link(struct machine *machine, uint64_t object, uint64_t next)
{
	uint64_t link = object + FREE_OFFSET;
	if (machine->form.is_hardened)
		next ^= RANDOM ^ __builtin_bswap64(link);
	memcpy(at_address(machine, link), &next, 8);
}

/* A chain of free slots, given in order and ended by SLOTS. */
static uint64_t put_chain(struct machine *machine, unsigned int slab, const unsigned int *slots)
{
	if (*slots == SLOTS)
		return 0;
	uint64_t object = slot_address(machine, slab, *slots);
	put_link(machine, object, put_chain(machine, slab, slots + 1));
	return object;
}

static void put_slab(struct machine *machine, unsigned int slab, uint64_t freelist,
		     unsigned int in_use)
{
	machine->pages[slab] = (struct raw_page){
		.flags = machine->form.has_page_type ? 0 : 1 << 9,
		.type = machine->form.has_page_type ? 245u << 24 : 0,
		.slab_cache = AT(cache),
		.freelist = freelist,
		.counters = in_use | SLOTS << 16,
	};
	for (unsigned int slot = 0; slot < SLOTS; slot++)
		put_task(machine, slab, slot);
}

static void put_data(struct machine *machine)
{
	machine->data = (struct raw_data){
		.cachep = AT(cache),
		.vmemmap_base = VMEMMAP,
		.page_offset_base = DIRECT,
		.cache = { .cpu_slab = AT(cpu_slab),
			   .random = RANDOM,
			   .size = SLOT_SIZE,
			   .offset = FREE_OFFSET,
			   .order_objects = 1 << 16 | SLOTS,
			   .red_left_pad = machine->form.left_pad },
	};
	/* A: three free. B: all taken, save for those a CPU has for itself. */
	put_slab(machine, SLAB_A, 0, SLOTS - 3);
	put_slab(machine, SLAB_B, 0, SLOTS);
	put_slab(machine, STALE, 0, SLOTS);
	machine->pages[SLAB_A].freelist =
		put_chain(machine, SLAB_A, (unsigned int[]){ 6, 0, 3, SLOTS });
	machine->data.cpu_slab[1][0] = put_chain(machine, SLAB_B, (unsigned int[]){ 7, 1, SLOTS });
	machine->data.cpu_slab[1][1] = VMEMMAP + SLAB_B * sizeof(struct raw_page);
	machine->pages[STALE].flags = 0;
	machine->pages[STALE].type = UINT32_MAX;
}

static void add_symbols(struct machine *machine)
{
	static const struct test_symbol symbols[] = {
		{ DATA - PAGE, 'T', "_stext" },
		{ AT(cachep), 'd', "task_struct_cachep" },
		{ AT(vmemmap_base), 'D', "vmemmap_base" },
		{ AT(page_offset_base), 'D', "page_offset_base" },
		{ DATA + PAGE, 'D', "_end" },
	};
	image_symbols(&machine->tables, TABLES, symbols, ARRAY_COUNT(symbols),
		      &machine->target.symbols);
}

static struct machine *machine_create(struct form form)
{
	struct machine *machine = calloc(1, sizeof(*machine));
	if (!machine)
		abort();
	machine->form = form;
	machine->most = ARRAY_COUNT(machine->found);
	machine->memory = (struct memory){ .read = machine_read, .name = "kernel", .word_size = 8 };
	machine->facts = (struct vmcore_facts){ .page_size = PAGE, .max_physical = PAGES * PAGE };
	machine->target = (struct target){ .memory = &machine->memory,
					   .facts = &machine->facts,
					   .cpus = machine->cpus,
					   .cpu_count = 2,
					   .cpus_loaded = true,
					   .modules_loaded = true };
	for (unsigned int i = 0; i < 2; i++)
		machine->cpus[i] = (struct cpu){ .number = i, .per_cpu_offset = i * 16 };
	add_symbols(machine);
	add_types(machine);
	put_data(machine);
	return machine;
}

static void machine_destroy(struct machine *machine)
{
	symtab_destroy(machine->target.symbols);
	btf_close(machine->btf);
	btf__free(machine->source);
	image_destroy(&machine->tables);
	free(machine);
}

/* --- asking -------------------------------------------------------------------------- */

static struct error *take(void *context, uint64_t task)
{
	struct machine *machine = context;
	if (machine->count == machine->most)
		return error_create(ERROR_OTHER, "enough");
	machine->found[machine->count++] = task;
	return NULL;
}

static struct error *search(struct machine *machine, struct error **ret_problem)
{
	machine->count = 0;
	return slab_tasks_for_each(&machine->target, take, machine, ret_problem);
}

/* The slots of the two slabs that hold tasks, a bit each. */
static void check_found(struct machine *machine, unsigned int a, unsigned int b)
{
	struct error *problem;
	CHECK_OK(search(machine, &problem));
	CHECK_OK(problem);
	unsigned int found[2] = { 0 };
	for (size_t i = 0; i < machine->count; i++)
		for (unsigned int slot = 0; slot < SLOTS; slot++) {
			if (machine->found[i] == slot_address(machine, SLAB_A, slot))
				found[0] |= 1u << slot;
			if (machine->found[i] == slot_address(machine, SLAB_B, slot))
				found[1] |= 1u << slot;
		}
	CHECK_U64(found[0], a);
	CHECK_U64(found[1], b);
	CHECK_U64(machine->count, __builtin_popcount(a) + __builtin_popcount(b));
}

#define FREE_A (1u << 6 | 1u << 0 | 1u << 3)
#define FREE_B (1u << 7 | 1u << 1)
#define ALL_A  (0xffu & ~FREE_A)
#define ALL_B  (0xffu & ~FREE_B)

static void test_forms(void)
{
	for (unsigned int i = 0; i < 8; i++) {
		struct machine *machine = machine_create((struct form){
			.is_hardened = i & 1, .has_page_type = i & 2, .left_pad = i & 4 ? 64 : 0 });
		check_found(machine, ALL_A, ALL_B);
		machine_destroy(machine);
	}
}

/* A slab's second page says that it begins one, too: slabs of all pages would overlap. */
static void test_overlapping(void)
{
	struct machine *machine = machine_create((struct form){ .has_page_type = true });
	machine->pages[SLAB_A + 1] = machine->pages[SLAB_A];
	machine->pages[SLAB_A + 1].freelist = 0;
	/* Behind the end of the slab. */
	put_task(machine, SLAB_A + 1, SLOTS - 1);
	check_found(machine, ALL_A, ALL_B);
	machine_destroy(machine);
}

/* A slab of two pages cannot have so many objects. */
static void test_too_many_objects(void)
{
	struct machine *machine = machine_create((struct form){ .has_page_type = true });
	struct error *problem;
	machine->data.cache.order_objects = 1 << 16 | (SLOTS + 1);
	CHECK_OK(search(machine, &problem));
	CHECK_FAILS(problem, "not sane");
	CHECK_U64(machine->count, 0);
	machine_destroy(machine);
}

/* Allocated, but no longer a task that lists lead to. */
static void test_not_tasks(void)
{
	struct machine *machine = machine_create((struct form){ .is_hardened = true });
	slot_task(machine, SLAB_A, 1)->pid = 0;
	slot_task(machine, SLAB_A, 2)->thread_pid = 0;
	slot_task(machine, SLAB_A, 4)->usage = 0;
	slot_task(machine, SLAB_A, 5)->exit_state = 0x10;
	slot_task(machine, SLAB_B, 0)->thread_node[1] = 0xdead000000000122;
	slot_task(machine, SLAB_B, 2)->signal = 0;
	slot_task(machine, SLAB_B, 3)->stack = 1;
	/* A copy in the middle of fork() still has all of its parent's. */
	*slot_task(machine, SLAB_B, 4) = *slot_task(machine, SLAB_B, 5);
	/* A zombie without a stack is one. */
	slot_task(machine, SLAB_B, 6)->exit_state = 0x20;
	slot_task(machine, SLAB_B, 6)->stack = 0;
	check_found(machine, 1u << 7, 1u << 5 | 1u << 6);
	machine_destroy(machine);
}

/* Where it is not sure that a slot is taken, somebody has to point at the task in it. */
static void check_unsure(struct machine *machine, unsigned int wanted)
{
	for (unsigned int slot = 0; slot < SLOTS; slot++) {
		struct raw_task *task = slot_task(machine, SLAB_A, slot);
		if (FREE_A >> slot & 1)
			task->usage = 0;
		if (slot == 2 || slot == 4)
			task->thread_node[1] = DIRECT + (PAGES - 1) * PAGE;
		if (slot == 4)
			task->thread_pid = DIRECT + (PAGES - 1) * PAGE;
	}
	machine->excluded = DIRECT + (PAGES - 1) * PAGE;
	check_found(machine, wanted, ALL_B);
}

static void test_broken_chains(void)
{
	for (unsigned int way = 0; way < 5; way++) {
		struct machine *machine = machine_create((struct form){ .is_hardened = true });
		uint64_t last = slot_address(machine, SLAB_A, 3);
		if (way == 0)
			check_unsure(machine, ALL_A);
		else if (way == 1) /* outside of the slab */
			put_link(machine, last, DIRECT);
		else if (way == 2) /* between slots */
			put_link(machine, last, last + 8);
		else if (way == 3) /* a loop */
			put_link(machine, last, slot_address(machine, SLAB_A, 6));
		else /* too short */
			machine->pages[SLAB_A].counters--;
		if (way)
			check_unsure(machine, ALL_A & ~(1u << 4));
		machine_destroy(machine);
	}
}

/* Free objects in sheaves are on no chain. */
static void test_sheaves(void)
{
	struct machine *machine = machine_create((struct form){ .has_sheaves = true });
	slot_task(machine, SLAB_B, 4)->thread_pid = 0;
	slot_task(machine, SLAB_B, 5)->usage = 0;
	check_found(machine, ALL_A, ALL_B & ~(1u << 4 | 1u << 5));
	put_task(machine, SLAB_B, 4);
	put_task(machine, SLAB_B, 5);
	check_unsure(machine, ALL_A & ~(1u << 4));
	machine_destroy(machine);
}

static void test_excluded(void)
{
	struct machine *machine = machine_create((struct form){ .is_hardened = true });
	/* Slots 0 to 3 of A, and part of 4; the chain 6, 0, 3 breaks at 0. */
	machine->excluded = DIRECT + SLAB_A * PAGE;
	check_found(machine, 1u << 5 | 1u << 7, ALL_B);
	/* Of the pids alone: nothing refutes, the chains are whole. */
	machine->excluded = DIRECT + PIDS * PAGE;
	check_found(machine, ALL_A, ALL_B);
	/* Vmemmap: one page here. */
	machine->excluded = VMEMMAP;
	check_found(machine, 0, 0);
	machine->excluded = 0;
	/* More memory is promised than vmemmap has. */
	machine->facts.max_physical = (uint64_t)1 << 40;
	check_found(machine, ALL_A, ALL_B);
	machine_destroy(machine);
}

static void test_problems(void)
{
	struct machine *machine = machine_create((struct form){ .is_hardened = true });
	struct error *problem = NULL;
	machine->most = 3;
	CHECK_FAILS(search(machine, &problem), "enough");
	CHECK_OK(problem);
	CHECK_U64(machine->count, 3);
	interrupt_flag = 1;
	struct error *error = search(machine, &problem);
	CHECK(error && error->kind == ERROR_INTERRUPTED);
	error_free(error);
	CHECK_OK(problem);
	interrupt_clear();
	machine->data.cache.size = 0;
	CHECK_OK(search(machine, &problem));
	CHECK_FAILS(problem, "not sane");
	machine->data.cachep = 0;
	CHECK_OK(search(machine, &problem));
	CHECK_FAILS(problem, "kmem_cache 0x0");
	struct symtab *symbols = machine->target.symbols;
	CHECK_OK(symtab_create(&machine->target.symbols));
	CHECK_OK(search(machine, &problem));
	CHECK_FAILS(problem, "task_struct_cachep");
	symtab_destroy(machine->target.symbols);
	machine->target.symbols = symbols;
	machine_destroy(machine);
}

/* Whatever the bytes are: it ends, and a task is a slot in memory. */
static void test_mutated(void)
{
	struct machine *machine = machine_create((struct form){ .is_hardened = true });
	const struct {
		uint8_t *bytes;
		size_t size;
	} parts[] = {
		{ (uint8_t *)&machine->data, sizeof(machine->data) },
		{ (uint8_t *)&machine->pages[SLAB_A], sizeof(struct raw_page) },
		{ (uint8_t *)slot_task(machine, SLAB_A, 6), SLOT_SIZE },
	};
	for (size_t part = 0; part < ARRAY_COUNT(parts); part++)
		for (size_t i = 0; i < parts[part].size; i++)
			for (unsigned int mask = 0x81; mask; mask = mask == 0x81 ? 0xff : 0) {
				struct error *problem;
				parts[part].bytes[i] ^= mask;
				CHECK_OK(search(machine, &problem));
				error_free(problem);
				CHECK(machine->count <= 2 * SLOTS);
				parts[part].bytes[i] ^= mask;
			}
	check_found(machine, ALL_A, ALL_B);
	machine_destroy(machine);
}

int main(void)
{
	RUN(test_forms);
	RUN(test_overlapping);
	RUN(test_too_many_objects);
	RUN(test_not_tasks);
	RUN(test_broken_chains);
	RUN(test_sheaves);
	RUN(test_excluded);
	RUN(test_problems);
	RUN(test_mutated);
	return test_finish();
}
