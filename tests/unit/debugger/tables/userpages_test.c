// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Pages of processes: whole, page tables that are one another's lower ones below a mapping of all
 * addresses, mappings in a ring and of wild addresses, and with every byte changed.
 */
#include "base/array.h"
#include "debugger/target/paging_x86_64.h"
#include "tests/unit/changed_bytes.h"
#include "tests/unit/infer_machine.h"
#include "tests/unit/raw_task.h"
#include "tests/unit/table_rows.h"
#include "vmcore/virtual.h"

#define PAGE	4096u
#define NOWHERE 0xffff8880dead0000u
#define TASKS	3u /* the first is the head of their list, and has no memory */
#define VMAS	4u

extern const struct table table_userpages;

/* Page tables by number of page in physical memory; behind them pages of the process. */
enum { KERNEL_TOP, KERNEL_UPPER, TOP, UPPER, MIDDLE, LOW, OWN, FILE_ONE, ZERO, PAGES };

struct raw_vma {
	uint64_t start, end, mm, next, flags, offset, ops, file;
};

struct raw_task {
	uint64_t tasks[2], thread_node[2], signal, leader, mm;
	struct raw_rest rest;
	int32_t pid, tgid;
	char comm[16];
};

struct raw_page {
	uint64_t flags, mapping, index;
};

/* What lies behind the pages. */
struct raw_data {
	struct raw_task tasks[TASKS];
	uint64_t signals[TASKS][2];
	uint64_t mm[6]; /* pgd, mmap, start_brk, brk, start_stack, and a pad */
	struct raw_vma vmas[VMAS];
	uint64_t file, mapping[3], inode; /* f_mapping; host, a_ops, i_pages; i_size */
	struct raw_page pages[PAGES];
	uint64_t vmemmap;
	uint32_t swap_files, pad;
};

/* All of it lies at 0 in physical memory, and at DATA for the kernel. */
static struct contents {
	uint64_t words[PAGES][PAGE / 8];
	struct raw_data data;
} contents;

static struct machine machine;
static struct memory_array physical;
static struct table_rows rows;

#define AT(member)	   (DATA + offsetof(struct contents, data.member))
#define SWAP(type, offset) ((uint64_t)(type) << 59 | (~(uint64_t)(offset) << 14 >> 5 & ~511ull))

static void set_entry(unsigned int table, unsigned int index, uint64_t value)
{
	contents.words[table][index] = value;
}

static void fill_tables(void)
{
	set_entry(KERNEL_TOP, 511, KERNEL_UPPER * PAGE | 0x67);
	/* 0xffffffff80000000: one table is its own lower one. */
	set_entry(KERNEL_UPPER, 510, KERNEL_UPPER * PAGE | 0x67);
	set_entry(KERNEL_UPPER, 16, 0 | 0x1e3);
	set_entry(TOP, 0, UPPER * PAGE | 0x67);
	set_entry(UPPER, 0, MIDDLE * PAGE | 0x67);
	set_entry(MIDDLE, 0, LOW * PAGE | 0x67);
	set_entry(LOW, 0x10, OWN * PAGE | 0x67);
	set_entry(LOW, 0x11, SWAP(1, 0x77));
	set_entry(LOW, 0x12, ZERO * PAGE | 0x25);
}

static void fill_tasks(struct raw_data *data)
{
	for (unsigned int i = 0; i < TASKS; i++) {
		struct raw_task *task = &data->tasks[i];
		*task = (struct raw_task){ .tasks = { AT(tasks[(i + 1) % TASKS].tasks),
						      AT(tasks[(i + TASKS - 1) % TASKS].tasks) },
					   .thread_node = { AT(signals[i]), AT(signals[i]) },
					   .signal = AT(signals[i]),
					   .leader = AT(tasks[i]),
					   .mm = i == 1 ? AT(mm) : 0,
					   .pid = (int)i,
					   .tgid = (int)i,
					   .rest = sleeping_rest(AT(tasks[0])) };
		snprintf(task->comm, sizeof(task->comm), "task%u", i);
		data->signals[i][0] = data->signals[i][1] = AT(tasks[i].thread_node);
	}
}

/* The first two have pages, the third is of a file with a page in memory and one that is not. */
static void fill(void)
{
	struct raw_data *data = &contents.data;
	memset(&contents, 0, sizeof(contents));
	fill_tables();
	fill_tasks(data);
	data->mm[0] = DATA + TOP * PAGE;
	data->mm[1] = AT(vmas);
	data->mm[2] = data->mm[3] = 0x40000;
	data->mm[4] = 0x50000;
	data->vmas[0] = (struct raw_vma){ 0x10000, 0x12000, AT(mm), AT(vmas[1]), 0, 0, 0, 0 };
	data->vmas[1] = (struct raw_vma){ 0x12000, 0x18000, AT(mm), AT(vmas[2]), 0, 0, 0, 0 };
	data->vmas[2] =
		(struct raw_vma){ 0x20000, 0x28000, AT(mm), AT(vmas[3]), 0, 0, 0, AT(file) };
	data->vmas[3] = (struct raw_vma){ 0x40000, 0x42000, AT(mm), 0, 0, 0, 0, 0 };
	data->file = AT(mapping);
	data->mapping[0] = AT(inode);
	data->mapping[2] = AT(pages[FILE_ONE]);
	data->inode = 4 * PAGE;
	data->pages[FILE_ONE] = (struct raw_page){ 0, AT(mapping), 0 };
	data->vmemmap = AT(pages);
	data->swap_files = 2;
}

static void add_process(struct libbpf_btf *btf, int u64, int to_file, int list)
{
	int s32 = btf__add_int(btf, "int", 4, BTF_INT_SIGNED);
	int u32 = btf__add_int(btf, "unsigned int", 4, 0);
	int letter = btf__add_int(btf, "char", 1, BTF_INT_CHAR);
	int comm = btf__add_array(btf, s32, letter, 16);
	int vma_pointer = btf__add_ptr(btf, (int)btf__type_cnt(btf) + 1);
	btf__add_struct(btf, "vm_area_struct", sizeof(struct raw_vma));
	add_member(btf, "vm_start", u64, offsetof(struct raw_vma, start));
	add_member(btf, "vm_end", u64, offsetof(struct raw_vma, end));
	add_member(btf, "vm_mm", u64, offsetof(struct raw_vma, mm));
	add_member(btf, "vm_next", vma_pointer, offsetof(struct raw_vma, next));
	add_member(btf, "vm_flags", u64, offsetof(struct raw_vma, flags));
	add_member(btf, "vm_pgoff", u64, offsetof(struct raw_vma, offset));
	add_member(btf, "vm_ops", u64, offsetof(struct raw_vma, ops));
	add_member(btf, "vm_file", to_file, offsetof(struct raw_vma, file));
	int mm = btf__add_struct(btf, "mm_struct", 48);
	add_member(btf, "pgd", u64, 0);
	add_member(btf, "mmap", vma_pointer, 8);
	add_member(btf, "start_brk", u64, 16);
	add_member(btf, "brk", u64, 24);
	add_member(btf, "start_stack", u64, 32);
	int to_mm = btf__add_ptr(btf, mm);
	int signal = btf__add_struct(btf, "signal_struct", 16);
	add_member(btf, "thread_head", list, 0);
	int to_signal = btf__add_ptr(btf, signal);
	int to_task = btf__add_ptr(btf, (int)btf__type_cnt(btf) + 1);
	btf__add_struct(btf, "task_struct", sizeof(struct raw_task));
	add_rest(btf, to_task, u64, u32, offsetof(struct raw_task, rest));
	add_member(btf, "tasks", list, 0);
	add_member(btf, "thread_node", list, offsetof(struct raw_task, thread_node));
	add_member(btf, "signal", to_signal, offsetof(struct raw_task, signal));
	add_member(btf, "group_leader", to_task, offsetof(struct raw_task, leader));
	add_member(btf, "mm", to_mm, offsetof(struct raw_task, mm));
	add_member(btf, "pid", s32, offsetof(struct raw_task, pid));
	add_member(btf, "tgid", s32, offsetof(struct raw_task, tgid));
	add_member(btf, "comm", comm, offsetof(struct raw_task, comm));
}

static void add_types(void)
{
	struct libbpf_btf *btf = machine.source;
	int u8 = btf__add_int(btf, "unsigned char", 1, 0);
	int u64 = btf__add_int(btf, "long unsigned int", 8, 0);
	int slots = btf__add_array(btf, u64, u64, 64);
	btf__add_struct(btf, "page", sizeof(struct raw_page));
	add_member(btf, "flags", u64, 0);
	add_member(btf, "mapping", u64, 8);
	add_member(btf, "index", u64, 16);
	btf__add_struct(btf, "xa_node", 16 + 64 * 8);
	add_member(btf, "shift", u8, 0);
	add_member(btf, "offset", u8, 1);
	add_member(btf, "parent", u64, 8);
	add_member(btf, "slots", slots, 16);
	int xarray = btf__add_struct(btf, "xarray", 8);
	add_member(btf, "xa_head", u64, 0);
	int inode = btf__add_struct(btf, "inode", 8);
	add_member(btf, "i_size", u64, 0);
	int to_inode = btf__add_ptr(btf, inode);
	int mapping = btf__add_struct(btf, "address_space", 24);
	add_member(btf, "host", to_inode, 0);
	add_member(btf, "a_ops", u64, 8);
	add_member(btf, "i_pages", xarray, 16);
	int to_mapping = btf__add_ptr(btf, mapping);
	int file = btf__add_struct(btf, "file", 8);
	add_member(btf, "f_mapping", to_mapping, 0);
	int to_file = btf__add_ptr(btf, file);
	add_process(btf, u64, to_file, add_list_head(btf));
	machine_set_types(&machine);
}

/* The tasks are looked for anew, and tables are read as they are now. */
static struct error *with_memory(struct error *(*run)(void *context), void *context)
{
	static const char text[] = "OSRELEASE=x\nSYMBOL(swapper_pg_dir)=ffffffff82000000\n"
				   "NUMBER(phys_base)=-33554432\n";
	struct vmcoreinfo *info = NULL;
	struct translator *paging = NULL;
	CHECK_OK(vmcoreinfo_parse(text, strlen(text), &info));
	memory_array_init(&physical, 0, &contents, sizeof(contents));
	CHECK_OK(paging_x86_64_create(&physical.memory, info, &paging));
	vmcoreinfo_free(info);
	machine.target.physical = &physical.memory;
	machine.target.translator = paging;
	CHECK_OK(virtual_memory_create(&physical.memory, paging, &machine.target.memory));
	struct error *error = run(context);
	target_detach_all(&machine.target);
	virtual_memory_destroy(machine.target.memory);
	machine.target.memory = NULL;
	free(paging);
	return error;
}

static struct error *read_rows(void *context)
{
	bool *has_problem = context;
	table_rows_read(&rows, &machine.target, &table_userpages, has_problem);
	return NULL;
}

static const char *rows_of(bool *ret_problem)
{
	CHECK_OK(with_memory(read_rows, ret_problem));
	return rows.text;
}

#define OWN_ROWS                                                                                   \
	"1|task1|4096|present|-|-|;1|task1|4096|swapped|1|119|;1|task1|4096|zero|-|-|;"            \
	"1|task1|20480|untouched|-|-|;"
#define FILE_ROWS                                                                                  \
	"1|task1|4096|cached|-|-|-;1|task1|12288|in file|-|-|-;1|task1|16384|beyond file|-|-|-;"
#define HEAP_ROW "1|task1|8192|untouched|-|-|[heap];"

static void test_whole(void)
{
	bool has_problem;
	fill();
	CHECK_STRING(rows_of(&has_problem), OWN_ROWS FILE_ROWS HEAP_ROW);
	CHECK(!has_problem);
}

/* --- without an end -------------------------------------------------------------------------- */

#define BUDGET ((1u << 20) + 4 * (sizeof(contents) / PAGE))

struct count {
	size_t rows[TASKS]; /* by task */
	struct error *problem;
};

static struct error *count_row(void *context, const struct table_cell *cells)
{
	struct count *count = context;
	CHECK(cells[0].state == CELL_SET && cells[0].number < TASKS);
	if (cells[0].number < TASKS)
		count->rows[cells[0].number]++;
	return NULL;
}

static struct error *count_rows(void *context)
{
	struct count *count = context;
	struct table_scan scan = { .target = &machine.target,
				   .table = &table_userpages,
				   .wanted = UINT64_MAX,
				   .row = count_row,
				   .context = count };
	struct error *error = table_scan_run(&scan);
	count->problem = table_scan_problem(&scan);
	table_scan_deinit(&scan);
	return error;
}

/* Each table is its own lower one: whatever the address, there is a page. */
static void fill_ring(void)
{
	fill();
	for (unsigned int i = 0; i < 512; i++)
		set_entry(TOP, i, TOP * PAGE | 0x67);
	contents.data.vmas[0].end = 0x7ffffffff000;
	contents.data.vmas[0].next = 0;
}

static void test_budget(void)
{
	struct count count = { 0 };
	/* Enough for both tasks' rows: here it is not the table's bound that ends them. */
	machine.facts.memory_size = machine.facts.file_size = 64 << 20;
	fill_ring();
	CHECK_OK(with_memory(count_rows, &count));
	CHECK_U64(count.rows[1], BUDGET);
	CHECK_FAILS(count.problem, "task 1: more pages than are looked at of a process: ");
	/* It is a task's own: another one's memory is shown all the same. */
	count = (struct count){ 0 };
	contents.data.tasks[2].mm = AT(mm);
	CHECK_OK(with_memory(count_rows, &count));
	CHECK_U64(count.rows[2], BUDGET);
	error_free(count.problem);
	/* A row that would never be whole, and the mappings behind it. */
	count = (struct count){ 0 };
	fill();
	contents.data.vmas[2].start = 0x80000000;
	contents.data.vmas[2].end = 0x7ffffffff000;
	contents.data.inode = INT64_MAX;
	contents.data.vmas[3].start = contents.data.vmas[2].end;
	contents.data.vmas[3].end = contents.data.vmas[3].start + PAGE;
	CHECK_OK(with_memory(count_rows, &count));
	CHECK_U64(count.rows[1], 6);
	CHECK_FAILS(count.problem, "task 1: more pages than are looked at of a process: ");
	machine.facts.memory_size = machine.facts.file_size = 0;
}

/* What memory the machine is said to have makes no budget too large, or none. */
static void test_lying_header(void)
{
	bool has_problem;
	machine.facts.max_physical = UINT64_MAX;
	fill();
	CHECK_STRING(rows_of(&has_problem), OWN_ROWS FILE_ROWS HEAP_ROW);
	fill_ring();
	rows_of(&has_problem);
	CHECK(has_problem && rows.count > TABLE_ROWS_MAX);
	machine.facts.max_physical = 0;
	fill();
	CHECK_STRING(rows_of(&has_problem), OWN_ROWS FILE_ROWS HEAP_ROW);
	machine.facts.max_physical = sizeof(contents);
}

/* --- damage ---------------------------------------------------------------------------------- */

static void test_rings(void)
{
	struct raw_data *data = &contents.data;
	bool has_problem;
	fill();
	data->vmas[3].next = AT(vmas[0]);
	CHECK_STRING(rows_of(&has_problem), OWN_ROWS FILE_ROWS HEAP_ROW);
	CHECK(has_problem);
	fill();
	data->vmas[1].next = AT(vmas[1]);
	CHECK_STRING(rows_of(&has_problem), OWN_ROWS);
	CHECK(has_problem);
	/* The list of tasks. */
	fill();
	data->tasks[2].tasks[0] = AT(tasks[1].tasks);
	CHECK_STRING(rows_of(&has_problem), OWN_ROWS FILE_ROWS HEAP_ROW);
	CHECK(has_problem);
}

/* What cannot be read costs a state, a path, or the mappings behind it. */
static void test_wild(void)
{
	struct raw_data *data = &contents.data;
	bool has_problem;
	fill();
	data->vmas[2].file = NOWHERE;
	rows_of(&has_problem);
	CHECK_U64(rows.count, 4 + 8 + 1);
	CHECK(!strncmp(rows.text, OWN_ROWS "1|task1|4096|-|-|-|-;", sizeof(OWN_ROWS) + 20));
	fill();
	data->vmas[1].next = NOWHERE;
	CHECK_STRING(rows_of(&has_problem), OWN_ROWS);
	CHECK(has_problem);
	fill();
	data->vmas[1].mm = NOWHERE;
	CHECK_STRING(rows_of(&has_problem),
		     "1|task1|4096|present|-|-|;1|task1|4096|swapped|1|119|;");
	CHECK(has_problem);
	fill();
	set_entry(MIDDLE, 0, 0xdead000 | 0x67);
	CHECK_STRING(rows_of(&has_problem), "1|task1|8192|-|-|-|;1|task1|24576|-|-|-|;"
					    "1|task1|32768|-|-|-|-;1|task1|8192|-|-|-|[heap];");
	fill();
	data->mm[0] = NOWHERE;
	CHECK_STRING(rows_of(&has_problem), "");
	CHECK(has_problem);
	data->tasks[1].mm = NOWHERE;
	CHECK_STRING(rows_of(&has_problem), "");
	CHECK(has_problem);
}

/* What lies behind the pages, and the entries of tables. */
static void test_mutated(void)
{
	static const struct contents none;
	struct changed_bytes change = { .bytes = &contents, .size = sizeof(contents) };
	bool has_problem;
	fill();
	struct contents whole = contents;
	while (changed_bytes_next(&change)) {
		size_t word = change.at / 8 * 8;
		if (word < offsetof(struct contents, data) &&
		    !memcmp((uint8_t *)&whole + word, (const uint8_t *)&none + word, 8))
			continue;
		rows_of(&has_problem);
		CHECK(rows.count <= TABLE_ROWS_MAX + 2);
	}
}

int main(void)
{
	static const struct test_symbol symbols[] = {
		{ DATA + ZERO * PAGE, 'B', "empty_zero_page" },
		{ AT(tasks), 'D', "init_task" },
		{ AT(vmemmap), 'D', "vmemmap_base" },
		{ AT(swap_files), 'B', "nr_swapfiles" },
		{ AT(pad), 'A', "_end" },
	};
	machine_init(&machine);
	machine.facts.max_physical = sizeof(contents);
	add_types();
	machine_set_symbols(&machine, symbols, ARRAY_COUNT(symbols));
	RUN(test_whole);
	RUN(test_budget);
	RUN(test_lying_header);
	RUN(test_rings);
	RUN(test_wild);
	RUN(test_mutated);
	machine_deinit(&machine);
	return test_finish();
}
