// SPDX-License-Identifier: GPL-3.0-or-later
/* A made-up process: its tables, its mappings, a file in the page cache; and damage to all of it.
 */
#include "debugger/kernel/user_space.h"

#include "base/array.h"
#include "debugger/kernel/memory_spans.h"
#include "debugger/target/paging_x86_64.h"
#include "tests/unit/infer_machine.h"
#include "vmcore/virtual.h"

#define PAGE 4096u
/* Page tables by number of page in physical memory; behind them pages of the process and files. */
enum {
	KERNEL_TOP,
	KERNEL_UPPER,
	TOP,
	UPPER,
	MIDDLE,
	LOW,
	OWN,
	FILE_ONE,
	FILE_TWO,
	ZERO,
	MOVING,
	PAGES
};

struct raw_vma {
	uint64_t start, end, mm, next, flags, offset, ops, file;
};
struct raw_node {
	uint8_t shift, node_offset;
	uint64_t parent, slots[64];
};
struct raw_page {
	uint64_t flags, mapping, index;
};
struct contents {
	uint64_t words[PAGES][PAGE / 8];
	uint64_t mm[2]; /* pgd, mmap */
	struct raw_vma vmas[3];
	uint64_t file;		    /* f_mapping */
	uint64_t mapping[3], inode; /* host, a_ops, i_pages; i_size */
	struct raw_node node;
	struct raw_page pages[512];
	uint64_t vmemmap, huge_zero; /* variables */
	uint32_t swap_files;
};

static struct contents contents;
static struct machine machine;
static struct memory_array physical;

/* All of it lies at 0 in physical memory, and at DATA for the kernel. */
#define AT(member)	   (DATA + offsetof(struct contents, member))
#define SWAP(type, offset) ((uint64_t)(type) << 59 | (~(uint64_t)(offset) << 14 >> 5 & ~511ull))
#define ANONYMOUS	   0x10000u
#define MAPPED		   0x20000u
#define SPECIAL		   0x80000u

static void add_types(void)
{
	struct libbpf_btf *btf = machine.source;
	int u8 = btf__add_int(btf, "unsigned char", 1, 0);
	int u32 = btf__add_int(btf, "unsigned int", 4, 0);
	int u64 = btf__add_int(btf, "long unsigned int", 8, 0);
	int slots = btf__add_array(btf, u32, u64, 64);
	btf__add_enum(btf, "pageflags", 4);
	btf__add_enum_value(btf, "PG_locked", 0);
	btf__add_struct(btf, "page", sizeof(struct raw_page));
	add_member(btf, "flags", u64, 0);
	add_member(btf, "mapping", u64, 8);
	add_member(btf, "index", u64, 16);
	btf__add_struct(btf, "xa_node", sizeof(struct raw_node));
	add_member(btf, "shift", u8, 0);
	add_member(btf, "offset", u8, 1);
	add_member(btf, "parent", u64, 8);
	add_member(btf, "slots", slots, 16);
	int xarray = btf__add_struct(btf, "xarray", 8);
	add_member(btf, "xa_head", u64, 0);
	int inode = btf__add_struct(btf, "inode", 8);
	add_member(btf, "i_size", u64, 0);
	int inode_pointer = btf__add_ptr(btf, inode);
	int mapping = btf__add_struct(btf, "address_space", 24);
	add_member(btf, "host", inode_pointer, 0);
	add_member(btf, "a_ops", u64, 8);
	add_member(btf, "i_pages", xarray, 16);
	int mapping_pointer = btf__add_ptr(btf, mapping);
	int file = btf__add_struct(btf, "file", 8);
	add_member(btf, "f_mapping", mapping_pointer, 0);
	int file_pointer = btf__add_ptr(btf, file);
	/* To what comes right behind. */
	int vma_pointer = btf__add_ptr(btf, (int)btf__type_cnt(btf) + 1);
	btf__add_struct(btf, "vm_area_struct", sizeof(struct raw_vma));
	add_member(btf, "vm_start", u64, offsetof(struct raw_vma, start));
	add_member(btf, "vm_end", u64, offsetof(struct raw_vma, end));
	add_member(btf, "vm_mm", u64, offsetof(struct raw_vma, mm));
	add_member(btf, "vm_next", vma_pointer, offsetof(struct raw_vma, next));
	add_member(btf, "vm_flags", u64, offsetof(struct raw_vma, flags));
	add_member(btf, "vm_pgoff", u64, offsetof(struct raw_vma, offset));
	add_member(btf, "vm_ops", u64, offsetof(struct raw_vma, ops));
	add_member(btf, "vm_file", file_pointer, offsetof(struct raw_vma, file));
	btf__add_struct(btf, "mm_struct", 16);
	add_member(btf, "pgd", u64, 0);
	add_member(btf, "mmap", vma_pointer, 8);
}

static void set_entry(unsigned int table, unsigned int index, uint64_t value)
{
	contents.words[table][index] = value;
}

/* The kernel has 2 MiB at DATA. */
static void fill_kernel(void)
{
	set_entry(KERNEL_TOP, 511, KERNEL_UPPER * PAGE | 0x67);
	/* 0xffffffff80000000: one table is its own lower one. */
	set_entry(KERNEL_UPPER, 510, KERNEL_UPPER * PAGE | 0x67);
	set_entry(KERNEL_UPPER, 16, 0 | 0x1e3);
	contents.vmemmap = AT(pages);
	contents.huge_zero = UINT64_MAX;
	contents.swap_files = 2;
}

static void fill_tables(void)
{
	set_entry(TOP, 0, UPPER * PAGE | 0x67);
	set_entry(UPPER, 0, MIDDLE * PAGE | 0x67);
	set_entry(UPPER, 1, 0x40000000 | 0xe7); /* 1 GiB that the dump does not have */
	set_entry(MIDDLE, 0, LOW * PAGE | 0x67);
	set_entry(LOW, 0x10, OWN * PAGE | 0x67);
	set_entry(LOW, 0x11, SWAP(1, 0x77));
	set_entry(LOW, 0x12, ZERO * PAGE | 0x25);
	set_entry(LOW, 0x13, SWAP(29, MOVING | 1ull << 41));
	set_entry(LOW, 0x14, SWAP(31, 1));
	set_entry(LOW, 0x15, (~((uint64_t)OWN * PAGE) & 0xffffffffff000) | 0x160);
	contents.pages[MOVING].flags = 1;
	for (unsigned int page = OWN; page < PAGES; page++)
		memset(contents.words[page], (int)page, PAGE);
}

static void fill(void)
{
	contents = (struct contents){ .mm = { DATA + TOP * PAGE, AT(vmas) } };
	fill_kernel();
	fill_tables();
	contents.vmas[0] = (struct raw_vma){ ANONYMOUS, 0x18000, AT(mm), AT(vmas[1]), 0, 0, 0, 0 };
	contents.vmas[1] =
		(struct raw_vma){ MAPPED, 0x30000, AT(mm), AT(vmas[2]), 0, 2, 0, AT(file) };
	contents.vmas[2] = (struct raw_vma){ SPECIAL, 0x82000, AT(mm), 0, 0, 0, 1, 0 };
	contents.file = AT(mapping);
	contents.mapping[0] = AT(inode);
	contents.mapping[2] = AT(node) | 2;
	contents.inode = 8 * PAGE - 1;
	/* Pages 2 and 3 of the file, the latter of a folio of two from page 2 on; 5: was thrown
	 * out. */
	contents.node.slots[2] = AT(pages[FILE_ONE]);
	contents.node.slots[3] = 2 << 2 | 2;
	contents.node.slots[5] = 0x123 << 1 | 1;
	contents.pages[FILE_ONE] = (struct raw_page){ 0, AT(mapping), 2 };
}

static struct user_space *open_space(struct translator **paging)
{
	static const char text[] = "OSRELEASE=x\nSYMBOL(swapper_pg_dir)=ffffffff82000000\n"
				   "NUMBER(phys_base)=-33554432\n";
	struct vmcoreinfo *info = NULL;
	struct user_space *space = NULL;
	CHECK_OK(vmcoreinfo_parse(text, strlen(text), &info));
	memory_array_init(&physical, 0, &contents, sizeof(contents));
	CHECK_OK(paging_x86_64_create(&physical.memory, info, paging));
	vmcoreinfo_free(info);
	machine.target.physical = &physical.memory;
	machine.target.translator = *paging;
	CHECK_OK(virtual_memory_create(&physical.memory, *paging, &machine.target.memory));
	machine.facts.max_physical = sizeof(contents);
	error_free(user_space_open(&machine.target, AT(mm), &space));
	return space;
}

static void close_space(struct user_space *space, struct translator *paging)
{
	user_space_close(space);
	virtual_memory_destroy(machine.target.memory);
	machine.target.memory = NULL;
	free(paging);
}

static void check_page(struct user_space *space, uint64_t address, enum user_page_kind kind,
		       uint64_t start, uint64_t size)
{
	struct user_page page;
	CHECK_OK(user_space_page(space, address, &page));
	CHECK_STRING(user_page_kind_name(page.kind), user_page_kind_name(kind));
	CHECK_U64(page.start, start);
	CHECK_U64(page.size, size);
}

static void test_kinds(void)
{
	static const struct {
		uint64_t address;
		enum user_page_kind kind;
		uint64_t start, size;
	} wanted[] = {
		{ 0x8000, USER_PAGE_UNMAPPED, 0x8000, PAGE },
		{ 0x10123, USER_PAGE_PRESENT, 0x10000, PAGE },
		{ 0x11fff, USER_PAGE_SWAPPED, 0x11000, PAGE },
		{ 0x12000, USER_PAGE_ZERO, 0x12000, PAGE },
		{ 0x13000, USER_PAGE_MIGRATING, 0x13000, PAGE },
		{ 0x14000, USER_PAGE_SPECIAL, 0x14000, PAGE },
		{ 0x15000, USER_PAGE_PRESENT, 0x15000, PAGE },
		{ 0x16000, USER_PAGE_FRESH, 0x16000, PAGE },
		{ 0x20000, USER_PAGE_CACHED, 0x20000, PAGE },
		{ 0x21000, USER_PAGE_CACHED, 0x21000, PAGE },
		{ 0x22000, USER_PAGE_IN_FILE, 0x22000, PAGE },
		{ 0x23000, USER_PAGE_IN_FILE, 0x23000, PAGE },
		{ 0x26000, USER_PAGE_BEYOND, 0x26000, PAGE },
		{ 0x80000, USER_PAGE_NOTHING, 0x80000, PAGE },
		{ 0x40123456, USER_PAGE_PRESENT, 0x40000000, 0x40000000 },
		{ 0x600000, USER_PAGE_UNMAPPED, 0x600000, 0x200000 },
		{ 0x7fffffffffff, USER_PAGE_UNMAPPED, 0x7f8000000000, 0x8000000000 },
	};
	struct translator *paging = NULL;
	fill();
	struct user_space *space = open_space(&paging);
	for (size_t i = 0; space && i < ARRAY_COUNT(wanted); i++)
		check_page(space, wanted[i].address, wanted[i].kind, wanted[i].start,
			   wanted[i].size);
	struct user_page page;
	CHECK_OK(user_space_page(space, 0x11000, &page));
	CHECK_U64(page.swap_type, 1);
	CHECK_U64(page.swap_offset, 0x77);
	CHECK_FAILS(user_space_page(space, DATA, &page), "an address of the kernel's");
	CHECK_U64(page.start + page.size, 0);
	CHECK_FAILS(user_space_page(space, 0x800000000000, &page), "not canonical");
	CHECK_U64(page.start + page.size, 0xffff800000000000);
	close_space(space, paging);
}

static void check_byte(struct user_space *space, uint64_t address, unsigned int wanted)
{
	uint8_t byte = 0xee;
	CHECK_OK(memory_read_u8(user_space_memory(space), address, &byte));
	CHECK_U64(byte, wanted);
}

static void check_missing(struct user_space *space, uint64_t address, enum error_kind kind,
			  const char *part)
{
	uint8_t bytes[2 * PAGE];
	/* It begins a page before. */
	struct error *error = memory_read(user_space_memory(space), address, bytes, 8);
	CHECK(error);
	if (!error)
		return;
	CHECK_U64(error->kind, kind);
	CHECK_U64(error->address, address);
	CHECK(strstr(error->message, part));
	if (!strstr(error->message, part))
		puts(error->message);
	error_free(error);
}

static void test_bytes(void)
{
	struct translator *paging = NULL;
	uint8_t bytes[2 * PAGE];
	fill();
	struct user_space *space = open_space(&paging);
	check_byte(space, 0x10fff, OWN);
	check_byte(space, 0x12000, 0);
	check_byte(space, 0x13000, MOVING);
	check_byte(space, 0x15000, OWN);
	check_byte(space, 0x16000, 0);
	check_byte(space, 0x20000, FILE_ONE);
	check_byte(space, 0x21000, FILE_TWO);
	CHECK_OK(memory_read(user_space_memory(space), 0x20800, bytes, PAGE));
	CHECK_U64(bytes[PAGE / 2 - 1], FILE_ONE);
	CHECK_U64(bytes[PAGE / 2], FILE_TWO);
	check_missing(space, 0x11008, ERROR_ELSEWHERE, "swapped out: page 119 of swap file 1");
	check_missing(space, 0x14000, ERROR_FAULT, "special, type 31");
	check_missing(space, 0x22000, ERROR_ELSEWHERE, "in the mapped file alone");
	check_missing(space, 0x27000, ERROR_FAULT, "behind the end");
	check_missing(space, 0x40000000, ERROR_FAULT, "user address 0x40000000");
	check_missing(space, 0x800000000000, ERROR_FAULT, "not canonical");
	/* The first bad byte is said. */
	struct error *error = memory_read(user_space_memory(space), 0x21800, bytes, PAGE);
	CHECK(error && error->address == 0x22000);
	error_free(error);
	close_space(space, paging);
}

/* What does not say that it is a page of the file is not shown as one. */
static void test_lies(void)
{
	struct translator *paging = NULL;
	struct user_page page;
	fill();
	contents.pages[FILE_ONE].mapping = AT(inode);
	struct user_space *space = open_space(&paging);
	CHECK_FAILS(user_space_page(space, 0x20000, &page), "is not page 2 of address_space");
	close_space(space, paging);
	fill();
	contents.pages[FILE_ONE].index = 3;
	space = open_space(&paging);
	CHECK_FAILS(user_space_page(space, 0x20000, &page), "is not page 2 of address_space");
	close_space(space, paging);
	fill();
	contents.node.slots[2] = AT(pages[FILE_ONE]) + 8;
	space = open_space(&paging);
	error_free(user_space_page(space, 0x20000, &page));
	close_space(space, paging);
	/* A struct file that is not there costs what only the file has, not the mapping. */
	fill();
	contents.vmas[1].file = 0xdead000;
	space = open_space(&paging);
	const struct user_mapping *mappings;
	const struct error *problem;
	size_t count;
	CHECK_OK(user_space_mappings(space, &mappings, &count, &problem));
	CHECK(!problem);
	CHECK_U64(count, 3);
	CHECK_FAILS(user_space_page(space, 0x20000, &page), "f_mapping");
	CHECK_U64(page.vma, AT(vmas[1]));
	check_page(space, 0x16000, USER_PAGE_FRESH, 0x16000, PAGE);
	close_space(space, paging);
	/* An xarray whose node leads to itself. */
	fill();
	contents.node.shift = 6;
	contents.node.slots[0] = AT(node) | 2;
	space = open_space(&paging);
	CHECK_FAILS(user_space_page(space, 0x20000, &page), "does not link back");
	close_space(space, paging);
	/* Mappings in a ring: what is not known to be unmapped is not said to be. */
	fill();
	contents.vmas[2].next = AT(vmas);
	space = open_space(&paging);
	check_page(space, 0x16000, USER_PAGE_FRESH, 0x16000, PAGE);
	CHECK_FAILS(user_space_page(space, 0x8000, &page), "goes back");
	close_space(space, paging);
	/* Tables in a ring end after their levels. */
	fill();
	for (unsigned int i = 0; i < 512; i++)
		set_entry(TOP, i, TOP * PAGE | 0x67);
	space = open_space(&paging);
	check_page(space, 0x123456789abc, USER_PAGE_PRESENT, 0x123456789000, PAGE);
	close_space(space, paging);
}

/* What is in memory of each mapping, and only that. */
static void check_spans(struct user_space *space, uint64_t first, uint64_t last,
			const struct memory_span *wanted, size_t count)
{
	struct memory_spans *spans = NULL;
	struct memory_span span;
	CHECK_OK(memory_spans_create(&machine.target, SPACE_USER, space, first, last, &spans));
	for (size_t i = 0; i <= count; i++) {
		CHECK_OK(memory_spans_next(spans, UINT64_MAX, &span));
		CHECK_U64(span.size, i < count ? wanted[i].size : 0);
		if (!span.size || i == count)
			break;
		CHECK_U64(span.address, wanted[i].address);
		CHECK_U64(span.physical, wanted[i].physical);
	}
	memory_spans_destroy(spans);
}

static void test_spans(void)
{
	static const struct memory_span all[] = {
		{ 0x10000, OWN * PAGE, PAGE },	    { 0x12000, ZERO * PAGE, PAGE },
		{ 0x13000, MOVING * PAGE, PAGE },   { 0x15000, OWN * PAGE, PAGE },
		{ 0x20000, FILE_ONE * PAGE, PAGE }, { 0x21000, FILE_TWO * PAGE, PAGE },
	};
	static const struct memory_span part[] = {
		{ 0x13010, MOVING * PAGE + 0x10, PAGE - 0x10 },
		{ 0x15000, OWN * PAGE, PAGE },
		{ 0x20000, FILE_ONE * PAGE, 0x21 },
	};
	struct translator *paging = NULL;
	struct memory_spans *spans = NULL;
	struct memory_span span = { 0 };
	struct error *error = NULL;
	fill();
	struct user_space *space = open_space(&paging);
	check_spans(space, 0, UINT64_MAX, all, ARRAY_COUNT(all));
	check_spans(space, 0x13010, 0x20020, part, ARRAY_COUNT(part));
	check_spans(space, 0x22000, UINT64_MAX, NULL, 0);
	check_spans(space, 0, 0xffff, NULL, 0);
	close_space(space, paging);
	/* A mapping of all addresses, and tables in a ring: each page is there, without an end. */
	fill();
	contents.vmas[0].end = 0x7ffffffff000;
	contents.vmas[0].next = 0;
	for (unsigned int i = 0; i < 512; i++)
		set_entry(TOP, i, TOP * PAGE | 0x67);
	space = open_space(&paging);
	CHECK_OK(memory_spans_create(&machine.target, SPACE_USER, space, 0, UINT64_MAX, &spans));
	do
		error = memory_spans_next(spans, UINT64_MAX, &span);
	while (!error && span.size);
	CHECK_FAILS(error, "more pages than the machine");
	memory_spans_destroy(spans);
	close_space(space, paging);
}

static void walk_spans(struct user_space *space)
{
	struct memory_spans *spans = NULL;
	struct memory_span span;
	struct error *error =
		memory_spans_create(&machine.target, SPACE_USER, space, 0, UINT64_MAX, &spans);
	for (unsigned int i = 0; !error && i < 1000; i++) {
		error = memory_spans_next(spans, UINT64_MAX, &span);
		if (!error && !span.size)
			break;
	}
	error_free(error);
	memory_spans_destroy(spans);
}

static void test_damage(void)
{
	static uint64_t state = 1;
	static const uint64_t addresses[] = { 0x10000, 0x11000, 0x13000, 0x16000,
					      0x20000, 0x22000, 0x80000, 0x40000000 };
	for (unsigned int i = 0; i < 2000; i++) {
		struct translator *paging = NULL;
		uint8_t byte;
		fill();
		uint64_t *words = (uint64_t *)&contents;
		for (unsigned int times = next_random(&state) % 3 + 1; times; times--) {
			/* Tables, or what lies behind the pages. */
			size_t low = next_random(&state) % 2 ? 0
							     : offsetof(struct contents, mm) / 8;
			size_t high = low ? sizeof(contents) / 8 : (size_t)OWN * PAGE / 8;
			words[low + next_random(&state) % (high - low)] =
				machine_bad_word(&machine, &state);
		}
		struct user_space *space = open_space(&paging);
		for (size_t j = 0; space && j < ARRAY_COUNT(addresses); j++)
			error_free(memory_read_u8(user_space_memory(space), addresses[j], &byte));
		if (space)
			walk_spans(space);
		close_space(space, paging);
	}
}

int main(void)
{
	static const struct test_symbol symbols[] = {
		{ DATA + ZERO * PAGE, 'B', "empty_zero_page" },
		{ AT(vmemmap), 'D', "vmemmap_base" },
		{ AT(huge_zero), 'D', "huge_zero_pfn" },
		{ AT(swap_files), 'B', "nr_swapfiles" },
		{ AT(swap_files) + 4, 'A', "_end" },
	};
	machine_init(&machine);
	add_types();
	machine_set_types(&machine);
	machine_set_symbols(&machine, symbols, ARRAY_COUNT(symbols));
	machine_add_part(&machine, DATA, &contents, sizeof(contents));
	RUN(test_kinds);
	RUN(test_bytes);
	RUN(test_lies);
	RUN(test_spans);
	RUN(test_damage);
	machine_deinit(&machine);
	return test_finish();
}
