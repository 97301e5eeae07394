// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Huge pages that nobody uses when memory ran out: when they are said to have most of it, of which
 * size, and what is made of counts that no machine has.
 */
#include "base/array.h"
#include "debugger/analysis/memory_holders.h"
#include "tests/unit/kernel_data.h"
#include "tests/unit/test.h"

#define DATA   0xffffffff82000000u
#define TABLES 0xffffffff83000000u
#define POOLS  2u
#define TOTAL  10240u /* pages: 40 MiB */

struct raw_pool {
	uint64_t count, unused;
	uint32_t order, padding;
};

struct raw_data {
	struct raw_pool pools[POOLS];
	int32_t pool_count;
};

struct machine {
	struct kernel_data kernel;
	struct raw_data data;
	struct memory_view view;
	struct finding finding;
	struct memory_holder holder;
	unsigned int kind;
};

#define AT(member) (DATA + offsetof(struct raw_data, member))

static void add_types(struct machine *machine)
{
	struct libbpf_btf *btf = machine->kernel.source;
	int ulong = btf__add_int(btf, "long unsigned int", 8, 0);
	int uint = btf__add_int(btf, "unsigned int", 4, 0);
	btf__add_int(btf, "int", 4, 1);
	btf__add_struct(btf, "hstate", sizeof(struct raw_pool));
	add_member(btf, "nr_huge_pages", ulong, offsetof(struct raw_pool, count));
	add_member(btf, "free_huge_pages", ulong, offsetof(struct raw_pool, unused));
	add_member(btf, "order", uint, offsetof(struct raw_pool, order));
	kernel_data_take_types(&machine->kernel);
}

/* 8 huge pages of 2 MiB, of which nobody uses 6, and a file of tmpfs with 10 MiB. */
static struct machine *machine_create(void)
{
	static const struct test_symbol symbols[] = {
		{ AT(pools), 'D', "hstates" },
		{ AT(pool_count), 'D', "hugetlb_max_hstate" },
		{ DATA + 8192, 'D', "_end" },
	};
	struct machine *machine = calloc(1, sizeof(*machine));
	if (!machine)
		abort();
	machine->kernel.start = DATA;
	machine->kernel.bytes = &machine->data;
	machine->kernel.size = sizeof(machine->data);
	kernel_data_init(&machine->kernel, TABLES, symbols, ARRAY_COUNT(symbols));
	add_types(machine);
	machine->data.pool_count = 1;
	machine->data.pools[0] = (struct raw_pool){ .count = 8, .unused = 6, .order = 9 };
	machine->view.account.page_size = 4096;
	machine->view.account.total = TOTAL;
	machine->view.account.pages[MEMORY_HUGE] = (uint64_t)8 << 9;
	machine->view.account.pages[MEMORY_SHARED] = 5000;
	machine->holder =
		(struct memory_holder){ .words = "the file has most of it", .pages = 2560 };
	machine->kind = MEMORY_SHARED;
	return machine;
}

static void machine_destroy(struct machine *machine)
{
	finding_deinit(&machine->finding);
	kernel_data_deinit(&machine->kernel);
	free(machine);
}

static void ask(struct machine *machine)
{
	CHECK_OK(memory_holder_prefer_unused(&machine->kernel.target, &machine->view,
					     &machine->finding, &machine->kind, &machine->holder));
}

static void check_kept(struct machine *machine)
{
	ask(machine);
	CHECK_U64(machine->kind, MEMORY_SHARED);
	CHECK_STRING(machine->holder.words, "the file has most of it");
	CHECK_U64(machine->holder.pages, 2560);
}

static void test_unused(void)
{
	struct machine *machine = machine_create();
	ask(machine);
	CHECK_U64(machine->kind, MEMORY_HUGE);
	CHECK_STRING(machine->holder.words, "nobody uses 6 of the 8 of 2.0 MiB");
	CHECK_U64(machine->holder.pages, 6 << 9);
	CHECK_STRING(machine->holder.culprit, "");
	CHECK_U64(machine->finding.count, 1);
	CHECK_STRING(machine->finding.evidence[0].text, "of 8 huge pages of 2.0 MiB nobody uses 6");
	CHECK_STRING(machine->finding.evidence[0].command, "print hstates[0].free_huge_pages");
	machine_destroy(machine);

	/* What is in no account has nobody who has it. */
	machine = machine_create();
	machine->kind = MEMORY_KINDS;
	machine->holder = (struct memory_holder){ .words = "" };
	ask(machine);
	CHECK_U64(machine->kind, MEMORY_HUGE);
	machine_destroy(machine);
}

/* Who has as much would do as well. */
static void test_holder_with_more(void)
{
	struct machine *machine = machine_create();
	machine->data.pools[0].unused = 5;
	check_kept(machine);
	machine_destroy(machine);

	machine = machine_create();
	machine->holder.pages = 2559;
	machine->data.pools[0].unused = 5;
	ask(machine);
	CHECK_U64(machine->kind, MEMORY_HUGE);
	machine_destroy(machine);
}

static void test_used(void)
{
	struct machine *machine = machine_create();
	machine->data.pools[0].unused = 0;
	check_kept(machine);
	/* They are too much to say nothing of them. */
	CHECK_U64(machine->finding.count, 1);
	machine_destroy(machine);
}

/* A tenth of memory is worth a word. */
static void test_little(void)
{
	struct machine *machine = machine_create();
	machine->view.account.pages[MEMORY_HUGE] = TOTAL / 10 - 1;
	check_kept(machine);
	CHECK_U64(machine->finding.count, 0);
	machine_destroy(machine);

	/* Of many few are unused. */
	machine = machine_create();
	machine->holder = (struct memory_holder){ .words = "many have little", .pages = 10 };
	machine->data.pools[0].unused = 1;
	ask(machine);
	CHECK_U64(machine->kind, MEMORY_SHARED);
	CHECK_STRING(machine->holder.words, "many have little");
	machine->data.pools[0].unused = 2;
	ask(machine);
	CHECK_U64(machine->kind, MEMORY_HUGE);
	machine_destroy(machine);

	/* It has been said already. */
	machine = machine_create();
	machine->kind = MEMORY_HUGE;
	ask(machine);
	CHECK_U64(machine->finding.count, 0);
	machine_destroy(machine);
}

static void test_sizes(void)
{
	struct machine *machine = machine_create();
	machine->data.pool_count = 2;
	machine->data.pools[0] = (struct raw_pool){ .count = 4, .unused = 0, .order = 9 };
	machine->data.pools[1] = (struct raw_pool){ .count = 1, .unused = 1, .order = 12 };
	ask(machine);
	CHECK_U64(machine->kind, MEMORY_HUGE);
	CHECK_STRING(machine->holder.words, "nobody uses 1 of the 1 of 16.0 MiB");
	CHECK_U64(machine->finding.count, 2);
	CHECK_STRING(machine->finding.evidence[1].command, "print hstates[1].free_huge_pages");
	machine_destroy(machine);

	machine = machine_create();
	machine->data.pool_count = 2;
	machine->data.pools[1] = (struct raw_pool){ .count = 10, .unused = 1, .order = 9 };
	ask(machine);
	CHECK_STRING(machine->holder.words, "nobody uses 6 of the 8 of 2.0 MiB");
	machine_destroy(machine);
}

static void test_wild(void)
{
	struct machine *machine = machine_create();
	machine->data.pools[0].unused = 9; /* than there are */
	check_kept(machine);
	machine->data.pools[0] = (struct raw_pool){ UINT64_MAX, (uint64_t)1 << 60, 9, 0 };
	check_kept(machine);
	size_t before = machine->finding.count;
	machine->data.pools[0] = (struct raw_pool){ 8, 6, 63, 0 };
	check_kept(machine);
	machine->data.pools[0] = (struct raw_pool){ 0, 6, 9, 0 };
	check_kept(machine);
	CHECK_U64(machine->finding.count, before);
	/* Memory ends behind the second. */
	machine->data.pool_count = -1;
	check_kept(machine);
	machine->data.pool_count = 0;
	check_kept(machine);
	machine_destroy(machine);
}

/* Of processes some of which are missing one has most for sure if it has more than half. */
static void test_processes(void)
{
	struct machine *machine = machine_create();
	struct memory_tasks tasks = { .items = { { .pid = 42, .comm = "greedy", .pages = 1000 } },
				      .count = 1 };
	machine->view.account.pages[MEMORY_ANONYMOUS] = 2000;
	CHECK_OK(memory_holder_find(&machine->kernel.target, &machine->view, MEMORY_ANONYMOUS,
				    &tasks, &machine->finding, &machine->holder));
	CHECK_STRING(machine->holder.words, "pid 42 \"greedy\" has most of it, 3.9 MiB");
	tasks.is_partial = true;
	CHECK_OK(memory_holder_find(&machine->kernel.target, &machine->view, MEMORY_ANONYMOUS,
				    &tasks, &machine->finding, &machine->holder));
	CHECK_STRING(machine->holder.words, "");
	CHECK_U64(machine->holder.pages, 1000);
	tasks.items[0].pages = 1001;
	CHECK_OK(memory_holder_find(&machine->kernel.target, &machine->view, MEMORY_ANONYMOUS,
				    &tasks, &machine->finding, &machine->holder));
	CHECK_STRING(machine->holder.words, "pid 42 \"greedy\" has most of it, 3.9 MiB");
	tasks.count = 0;
	CHECK_OK(memory_holder_find(&machine->kernel.target, &machine->view, MEMORY_ANONYMOUS,
				    &tasks, &machine->finding, &machine->holder));
	CHECK_STRING(machine->holder.words, "");
	machine_destroy(machine);
}

int main(void)
{
	RUN(test_unused);
	RUN(test_holder_with_more);
	RUN(test_used);
	RUN(test_little);
	RUN(test_sizes);
	RUN(test_wild);
	RUN(test_processes);
	return test_finish();
}
