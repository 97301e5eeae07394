// SPDX-License-Identifier: GPL-3.0-or-later
/* Objects in reach of typed pointers, and what lies at an address, in a made-up machine. */
#include "base/array.h"
#include "debugger/target/attached.h"
#include "debugger/target/object.h"
#include "debugger/whattype/reach.h"
#include "debugger/whattype/shapes.h"
#include "debugger/whattype/whattype.h"
#include "tests/unit/infer_machine.h"
#include <stddef.h>

#define AT(member)    (DATA + offsetof(struct contents, member))
#define HEAP	      0xffff888000000000u
#define HEAP_AT(what) (HEAP + offsetof(struct heap, what))
#define CURRENT	      64 /* offset of the per-CPU variable */

struct raw_task {
	uint64_t next, files, either, list[2];
	int64_t pid;
};
struct raw_files {
	uint64_t task, count;
};

struct contents {
	uint64_t page_offset_base, vmalloc_base, vmemmap_base;
	uint64_t per_cpu[2];
	uint64_t end;
};

struct heap {
	struct raw_task tasks[3];
	struct raw_files files, hidden;
};

static struct contents contents;
static struct heap heap;
static struct machine machine;
static struct cpu cpus[2];

static void add_types(struct libbpf_btf *btf)
{
	int ulong = btf__add_int(btf, "long", 8, 0), list = add_list_head(btf);
	int to_task = btf__add_ptr(btf, list + 3), to_files = btf__add_ptr(btf, list + 4);
	int either = list + 5;
	CHECK_U64(btf__add_struct(btf, "task", sizeof(struct raw_task)), list + 3);
	add_member(btf, "next", to_task, offsetof(struct raw_task, next));
	add_member(btf, "files", to_files, offsetof(struct raw_task, files));
	add_member(btf, "either", either, offsetof(struct raw_task, either));
	add_member(btf, "list", list, offsetof(struct raw_task, list));
	add_member(btf, "pid", ulong, offsetof(struct raw_task, pid));
	CHECK_U64(btf__add_struct(btf, "files", sizeof(struct raw_files)), list + 4);
	add_member(btf, "task", to_task, 0);
	add_member(btf, "count", ulong, 8);
	CHECK_U64(btf__add_union(btf, "either", 8), either);
	add_member(btf, "files", to_files, 0);
	add_member(btf, "number", ulong, 0);
	int current = btf__add_var(btf, "current_task", BTF_VAR_GLOBAL_ALLOCATED, to_task);
	btf__add_datasec(btf, ".data..percpu", 256);
	btf__add_datasec_var_info(btf, current, CURRENT, 8);
}

static void add_symbols(void)
{
	static const struct test_symbol symbols[] = {
		{ 0, 'A', "__per_cpu_start" },
		{ CURRENT, 'A', "current_task" },
		{ 256, 'A', "__per_cpu_end" },
		{ TEXT, 'T', "_text" },
		{ TEXT, 'T', "_stext" },
		{ TEXT, 'T', "function" },
		{ TEXT + 0x100, 'T', "_etext" },
		{ AT(page_offset_base), 'D', "page_offset_base" },
		{ AT(vmalloc_base), 'D', "vmalloc_base" },
		{ AT(vmemmap_base), 'D', "vmemmap_base" },
		{ AT(per_cpu), 'd', "copies" },
		{ AT(end), 'D', "_end" },
	};
	machine_set_symbols(&machine, symbols, ARRAY_COUNT(symbols));
}

/* Task 0 and 1 are in a circle; the files are those of both. */
static void fill(void)
{
	contents = (struct contents){ .page_offset_base = HEAP,
				      .vmalloc_base = 0xffffc90000000000,
				      .vmemmap_base = 0xffffea0000000000,
				      .per_cpu = { HEAP_AT(tasks[0]), HEAP_AT(tasks[0]) } };
	memset(&heap, 0, sizeof(heap));
	heap.tasks[0] = (struct raw_task){ .next = HEAP_AT(tasks[1]), .files = HEAP_AT(files) };
	heap.tasks[1] = (struct raw_task){ .next = HEAP_AT(tasks[0]), .files = HEAP_AT(files) };
	heap.tasks[0].list[0] = heap.tasks[0].list[1] = HEAP_AT(tasks[0].list);
	heap.tasks[0].either = HEAP_AT(hidden);
}

/* --- memory that is mapped where there is some ----------------------------------------------- */

static struct error *translate(const struct translator *translator, uint64_t address,
			       struct translation *ret)
{
	uint8_t byte;
	(void)translator;
	TRY(memory_read_u8(&machine.memory, address, &byte));
	address -= address % MACHINE_PAGE;
	*ret = (struct translation){ address, address, MACHINE_PAGE };
	return NULL;
}

static const struct translator translator = { translate };

/* Nothing is remembered: memory is another now. */
static void forget(void)
{
	struct target *target = &machine.target;
	target_detach_all(target);
	virtual_memory_destroy(target->memory);
	CHECK_OK(virtual_memory_create(&machine.memory, &translator, &target->memory));
}

/* --- reach ----------------------------------------------------------------------------------- */

/* The object of a type at an address; NULL: nothing leads there. */
static const struct reach_object *reached(uint64_t address, const char *type, uint32_t *ret)
{
	struct reach *reach;
	uint32_t numbers[16];
	char spelled[64];
	CHECK_OK(reach_get(&machine.target, &reach));
	size_t count = reach_find(reach, address, address, numbers, ARRAY_COUNT(numbers));
	for (size_t i = 0; i < count; i++) {
		type_spell(reach_type(reach, numbers[i]), NULL, spelled, sizeof(spelled));
		*ret = numbers[i];
		if (reach_object(reach, numbers[i])->address == address && !strcmp(spelled, type))
			return reach_object(reach, numbers[i]);
	}
	return NULL;
}

static void check_spelled(uint32_t number, const char *expected)
{
	char spelled[128];
	struct reach *reach;
	CHECK_OK(reach_get(&machine.target, &reach));
	reach_spell(reach, number, spelled, sizeof(spelled));
	CHECK_STRING(spelled, expected);
}

static void test_reach(void)
{
	uint32_t number = 0;
	const struct reach_object *object = reached(HEAP_AT(tasks[1]), "struct task", &number);
	CHECK(object && object->root == REACH_POINTER && object->references == 1);
	check_spelled(number, "current_task:0->next");
	object = reached(HEAP_AT(files), "struct files", &number);
	CHECK(object && object->references == 2);
	check_spelled(number, "current_task:0->files");
	object = reached(AT(per_cpu[1]), "struct task *", &number);
	CHECK(object && object->root == REACH_PER_CPU);
	check_spelled(number, "current_task:1");
	/* A list that points at itself says nothing new; nobody knows the arm of a union. */
	CHECK(!reached(HEAP_AT(tasks[0].list), "struct list_head", &number));
	CHECK(!reached(HEAP_AT(hidden), "struct files", &number));
	CHECK(!reached(HEAP_AT(tasks[2]), "struct task", &number));
	forget();
}

static void test_pointers_that_are_none(void)
{
	uint32_t number;
	heap.tasks[1].files = HEAP_AT(files) + 4; /* misaligned */
	heap.tasks[0].files = 0x1234568;	  /* no address of the kernel */
	forget();
	CHECK(!reached(HEAP_AT(files) + 4, "struct files", &number));
	CHECK(!reached(0x1234568, "struct files", &number));
	fill();
	forget();
}

/* --- whattype -------------------------------------------------------------------------------- */

static void check_type(uint64_t address, enum memory_region region, const char *type,
		       enum confidence confidence)
{
	struct whattype what;
	char spelled[64] = "";
	CHECK_OK(whattype_ask(&machine.target, address, true, &what));
	CHECK_STRING(memory_region_name(what.region), memory_region_name(region));
	if (what.finding_count)
		type_spell(what.findings[0].type, NULL, spelled, sizeof(spelled));
	CHECK_STRING(spelled, type);
	CHECK(!what.finding_count || what.findings[0].confidence == confidence);
	whattype_deinit(&what);
}

static void test_regions(void)
{
	check_type(TEXT + 4, REGION_TEXT, "", CONFIDENCE_UNKNOWN);
	check_type(0x400000, REGION_UNKNOWN, "", CONFIDENCE_UNKNOWN);
	check_type(0, REGION_UNKNOWN, "", CONFIDENCE_UNKNOWN);
	check_type(UINT64_MAX, REGION_UNKNOWN, "", CONFIDENCE_UNKNOWN);
	check_type(HEAP_AT(hidden), REGION_DIRECT_MAP, "", CONFIDENCE_UNKNOWN);
	check_type(HEAP + 64 * MACHINE_PAGE, REGION_UNKNOWN, "", CONFIDENCE_UNKNOWN);
	check_type(0xffffc90000001000, REGION_VMALLOC, "", CONFIDENCE_UNKNOWN);
	forget();
}

static void test_types(void)
{
	check_type(HEAP_AT(files), REGION_DIRECT_MAP, "struct files", CONFIDENCE_INFERRED);
	check_type(HEAP_AT(files) + 12, REGION_DIRECT_MAP, "struct files", CONFIDENCE_INFERRED);
	check_type(HEAP_AT(tasks[1].pid), REGION_DIRECT_MAP, "struct task", CONFIDENCE_INFERRED);
	/* Pointers that disagree make each other a guess. */
	heap.tasks[1].next = HEAP_AT(files);
	forget();
	struct whattype what;
	CHECK_OK(whattype_ask(&machine.target, HEAP_AT(files), true, &what));
	CHECK_U64(what.finding_count, 2);
	for (size_t i = 0; i < what.finding_count; i++)
		CHECK_U64(what.findings[i].confidence, CONFIDENCE_GUESS);
	whattype_deinit(&what);
	fill();
	forget();
}

/* --- damage ---------------------------------------------------------------------------------- */

static void ask_all(struct machine *damaged)
{
	static const uint64_t addresses[] = {
		HEAP_AT(tasks[1]), HEAP_AT(files) + 3, AT(per_cpu), TEXT, DATA, HEAP - 1, UINT64_MAX
	};
	struct whattype what;
	forget();
	for (size_t i = 0; i < ARRAY_COUNT(addresses); i++) {
		CHECK_OK(whattype_ask(&damaged->target, addresses[i], i % 2, &what));
		CHECK(what.finding_count <= FINDINGS_MAX);
		whattype_deinit(&what);
	}
}

static void test_damage(void)
{
	machine_damage(&machine, 300, ask_all);
	forget();
	test_reach();
}

/* Arrays of what takes no room: 256^6 elements at one offset, and a pointer behind them. */
static void test_elements_without_room(void)
{
	struct machine other;
	struct shapes shapes = { .count = 0 };
	uint32_t number;
	machine_init(&other);
	struct libbpf_btf *btf = other.source;
	int ulong = btf__add_int(btf, "long", 8, 0), pointer = btf__add_ptr(btf, ulong + 2);
	CHECK_U64(btf__add_struct(btf, "holder", 16), ulong + 2);
	add_member(btf, "room", ulong + 3, 0);
	add_member(btf, "next", pointer, 8);
	CHECK_U64(btf__add_array(btf, ulong, pointer, 0), ulong + 3);
	for (int i = 1; i <= 6; i++)
		CHECK_U64(btf__add_array(btf, ulong, ulong + 2 + i, 256), ulong + 3 + i);
	CHECK_U64(btf__add_struct(btf, "outer", 16), ulong + 10);
	add_member(btf, "room", ulong + 9, 0);
	add_member(btf, "next", pointer, 8);
	machine_set_types(&other);
	CHECK_OK(shapes_find(&shapes, (struct type){ other.btf, (uint32_t)ulong + 10 }, &number));
	CHECK_OK(shapes_lay_out(&shapes, number));
	CHECK_U64(shapes.all[number].count, 1);
	CHECK_U64(shapes.slots[shapes.all[number].first].offset, 8);
	shapes_deinit(&shapes);
	machine_deinit(&other);
}

int main(void)
{
	machine_init(&machine);
	machine_add_part(&machine, TEXT, machine_code, sizeof(machine_code));
	machine_add_part(&machine, DATA, &contents, sizeof(contents));
	machine_add_part(&machine, HEAP, &heap, sizeof(heap));
	machine.target.cpus = cpus;
	machine.target.cpu_count = ARRAY_COUNT(cpus);
	machine.target.no_hints = true;
	machine.target.memory = NULL;
	for (unsigned int i = 0; i < ARRAY_COUNT(cpus); i++)
		cpus[i] = (struct cpu){ .number = i, .per_cpu_offset = AT(per_cpu[i]) - CURRENT };
	fill();
	add_types(machine.source);
	machine_set_types(&machine);
	add_symbols();
	forget();
	RUN(test_reach);
	RUN(test_pointers_that_are_none);
	RUN(test_regions);
	RUN(test_types);
	RUN(test_damage);
	RUN(test_elements_without_room);
	forget();
	virtual_memory_destroy(machine.target.memory);
	machine_deinit(&machine);
	return test_finish();
}
