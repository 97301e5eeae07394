// SPDX-License-Identifier: GPL-3.0-or-later
/* Kernel virtual memory over made page tables. */
#include "tests/unit/test.h"

#include "debugger/target/paging_x86_64.h"
#include "vmcore/virtual.h"

/* --- virtual memory --------------------------------------------------------------------- */

/* Identity with 4 KiB pages below 1 MiB, one 2 MiB page above 2 MiB, nothing between. */
struct fake {
	struct translator translator;
	unsigned int calls;
};

static struct error *fake_translate(const struct translator *translator, uint64_t address,
				    struct translation *ret)
{
	((struct fake *)translator)->calls++;
	if (address < 0x100000)
		*ret = (struct translation){ address & ~0xfffull, (address & ~0xfffull) ^ 0x1000,
					     0x1000 };
	else if (address >= 0x200000 && address < 0x400000)
		*ret = (struct translation){ 0x200000, 0, 0x200000 };
	else
		return error_create_at(ERROR_FAULT, address, "nothing");
	return NULL;
}

static void test_virtual(void)
{
	static uint8_t bytes[0x10000];
	struct memory_array array;
	struct fake fake = { .translator = { fake_translate } };
	struct memory *memory = NULL;
	uint8_t data[0x3000];
	uint64_t physical = 0, value;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i >> 12);
	memory_array_init(&array, 0, bytes, sizeof(bytes));
	CHECK_OK(virtual_memory_create(&array.memory, &fake.translator, &memory));
	CHECK_OK(memory_read(memory, 0x800, data, sizeof(data)));
	CHECK_U64(data[0], 1);
	CHECK_U64(data[0x800], 0);
	CHECK_U64(data[0x1800], 3);
	CHECK_U64(data[0x2800], 2);
	CHECK_OK(virtual_memory_translate(memory, 0x201234, &physical));
	CHECK_U64(physical, 0x1234);
	unsigned int calls = fake.calls;
	CHECK_OK(memory_read(memory, 0x200000, data, sizeof(data)));
	CHECK_OK(memory_read_u64(memory, 0x2800, &value));
	CHECK_U64(fake.calls, calls);
	struct error *error = memory_read_u64(memory, 0xffffc, &value);
	CHECK(error && error->kind == ERROR_FAULT && error->address == 0xffffc);
	error_free(error);
	/* The physical memory ends at 0x10000: said in virtual addresses. */
	error = memory_read_u64(memory, 0x20fffc, &value);
	CHECK(error && error->address == 0x210000);
	error_free(error);
	virtual_memory_destroy(memory);
}

/* --- x86-64 page tables ------------------------------------------------------------------- */

#define TABLES 0x10000u
#define ROOT   "OSRELEASE=x\nSYMBOL(swapper_pg_dir)=ffffffff80002000\nNUMBER(phys_base)=-4096\n"

struct tables {
	uint8_t bytes[TABLES];
	struct memory_array array;
};

static void set_entry(struct tables *tables, uint64_t table, unsigned int index, uint64_t value)
{
	memcpy(tables->bytes + table + index * 8, &value, 8);
}

static struct error *create_paging(struct tables *tables, const char *text, struct translator **ret)
{
	struct vmcoreinfo *info = NULL;
	struct error *error = vmcoreinfo_parse(text, strlen(text), &info);
	if (error)
		return error;
	memory_array_init(&tables->array, 0, tables->bytes, sizeof(tables->bytes));
	error = paging_x86_64_create(&tables->array.memory, info, ret);
	vmcoreinfo_free(info);
	return error;
}

static void check_translation(const struct translator *paging, uint64_t address, uint64_t physical,
			      uint64_t size)
{
	struct translation run = { 0 };
	CHECK_OK(paging->translate(paging, address, &run));
	CHECK_U64(run.physical + (address - run.address), physical);
	CHECK_U64(run.size, size);
}

static void check_untranslated(const struct translator *paging, uint64_t address,
			       enum error_kind kind, const char *part)
{
	struct translation run;
	struct error *error = paging->translate(paging, address, &run);
	CHECK(error);
	if (error) {
		CHECK_U64(error->kind, kind);
		CHECK_U64(error->address, address);
		CHECK(strstr(error->message, part));
	}
	error_free(error);
}

/* Root at 0x1000, and tables below it for 0xffffffff80000000 and up. */
static void make_tables(struct tables *tables, uint64_t extra)
{
	memset(tables, 0, sizeof(*tables));
	set_entry(tables, 0x1000, 511, 0x2000 | 0x67 | extra);
	set_entry(tables, 0x2000, 510, 0x3000 | 0x63 | extra);
	set_entry(tables, 0x2000, 511, 0x40000000 | 0x1e3 | 0x1000 | extra); /* 1 GiB with PAT */
	set_entry(tables, 0x3000, 8, 0x200000 | 0x1e3 | 1ull << 63 | extra); /* 2 MiB, NX */
	set_entry(tables, 0x3000, 9, 0x4000 | 0x63 | extra);
	set_entry(tables, 0x3000, 10, 0xdead000 | 0x63 | extra);
	set_entry(tables, 0x4000, 5, 0x123000 | 0x1e3 | extra); /* bit 7 of a 4 KiB page is PAT */
	set_entry(tables, 0x4000, 6, 0x124000 | 0x1e2 | extra); /* not present */
}

static void check_tables(struct translator *paging)
{
	check_translation(paging, 0xffffffff81012345, 0x212345, 0x200000);
	check_translation(paging, 0xffffffff81205678, 0x123678, 0x1000);
	check_translation(paging, 0xffffffffc0000010, 0x40000010, 0x40000000);
	check_untranslated(paging, 0xffffffff81206000, ERROR_FAULT, "not mapped");
	check_untranslated(paging, 0xffffffff81400000, ERROR_FAULT, "level 1 page table");
	check_untranslated(paging, 0xffff800000000000, ERROR_FAULT, "not mapped");
	check_untranslated(paging, 0, ERROR_FAULT, "not mapped");
}

static void test_paging(void)
{
	static struct tables tables;
	struct translator *paging = NULL;
	make_tables(&tables, 0);
	CHECK_OK(create_paging(&tables,
			       "OSRELEASE=x\nSYMBOL(swapper_pg_dir)=ffffffff80002000\n"
			       "NUMBER(phys_base)=-4096\n",
			       &paging));
	check_tables(paging);
	check_untranslated(paging, 0x0000800000000000, ERROR_FAULT, "not canonical");
	check_untranslated(paging, 0xff11000000000000, ERROR_FAULT, "not canonical");
	free(paging);

	/* Memory encryption: bit 47 in every entry. */
	make_tables(&tables, 1ull << 47);
	CHECK_OK(create_paging(&tables,
			       "OSRELEASE=x\nSYMBOL(init_top_pgt)=ffffffff80001000\n"
			       "NUMBER(phys_base)=0\nNUMBER(sme_mask)=140737488355328\n",
			       &paging));
	check_tables(paging);
	free(paging);

	/* Five levels: one more table on top. */
	make_tables(&tables, 0);
	set_entry(&tables, 0x5000, 511, 0x1000 | 0x67);
	CHECK_OK(create_paging(&tables,
			       "OSRELEASE=x\nSYMBOL(swapper_pg_dir)=ffffffff80005000\n"
			       "NUMBER(phys_base)=0\nNUMBER(pgtable_l5_enabled)=1\n",
			       &paging));
	check_translation(paging, 0xffffffff81205678, 0x123678, 0x1000);
	check_untranslated(paging, 0xff11000000000000, ERROR_FAULT, "not mapped");
	check_untranslated(paging, 0x0100000000000000, ERROR_FAULT, "not canonical");
	free(paging);
}

static void test_paging_keys(void)
{
	static struct tables tables;
	struct translator *paging = NULL;
	CHECK_FAILS(create_paging(&tables, "OSRELEASE=x\nNUMBER(phys_base)=0\n", &paging),
		    "SYMBOL(swapper_pg_dir)");
	CHECK_FAILS(create_paging(&tables, "OSRELEASE=x\nSYMBOL(swapper_pg_dir)=ffffffff80001000\n",
				  &paging),
		    "NUMBER(phys_base)");
	CHECK_FAILS(create_paging(&tables,
				  "OSRELEASE=x\nSYMBOL(swapper_pg_dir)=1000\nNUMBER(phys_base)=0\n",
				  &paging),
		    "outside");
	/* A table that points to itself ends after its levels. */
	memset(tables.bytes, 0, sizeof(tables.bytes));
	set_entry(&tables, 0x1000, 0, 0x1000 | 1);
	CHECK_OK(create_paging(&tables,
			       "OSRELEASE=x\nSYMBOL(swapper_pg_dir)=ffffffff80001000\n"
			       "NUMBER(phys_base)=0\n",
			       &paging));
	check_translation(paging, 0x123, 0x1123, 0x1000);
	free(paging);
}

/* --- a process's tables, step by step ------------------------------------------------------ */

#define SWAP_ENTRY(type, offset)                                                                   \
	((uint64_t)(type) << 59 | (~(uint64_t)(offset) << 14 >> 5 & ~511ull))

static void check_walk(const struct translator *paging, uint64_t address, enum page_state state,
		       uint64_t size, uint64_t physical)
{
	struct page_walk walk;
	CHECK_OK(paging_x86_64_walk(paging, 0x1000, address, &walk));
	CHECK_U64(walk.state, state);
	CHECK_U64(walk.size, size);
	CHECK_U64(walk.start, address & ~(size - 1));
	CHECK_U64(walk.physical, physical);
}

/* The root of a process at 0x1000; the kernel's own is elsewhere. */
static void test_walk(void)
{
	static struct tables tables;
	struct translator *paging = NULL;
	struct page_walk walk;
	memset(&tables, 0, sizeof(tables));
	set_entry(&tables, 0x1000, 0, 0x2000 | 0x67 | 1ull << 63); /* PTI: NX for the kernel */
	set_entry(&tables, 0x2000, 0, 0x3000 | 0x67);
	set_entry(&tables, 0x2000, 1, 0x80000000 | 0xe7); /* 1 GiB */
	set_entry(&tables, 0x3000, 0, 0x4000 | 0x67);
	set_entry(&tables, 0x3000, 1, 0x600000 | 0x10e7);	/* 2 MiB with PAT */
	set_entry(&tables, 0x3000, 2, SWAP_ENTRY(30, 0x12300)); /* a huge page that moves */
	set_entry(&tables, 0x3000, 3, 0xdead000 | 0x67);
	set_entry(&tables, 0x4000, 1, 0x123000 | 0x867);
	set_entry(&tables, 0x4000, 2, SWAP_ENTRY(2, 0x12345) | 2); /* soft dirty */
	set_entry(&tables, 0x4000, 3, (~0x123000ull & 0xffffffffff000) | 0x160);
	CHECK_OK(create_paging(&tables,
			       "OSRELEASE=x\nSYMBOL(swapper_pg_dir)=ffffffff80008000\n"
			       "NUMBER(phys_base)=0\n",
			       &paging));
	check_walk(paging, 0x0, PAGE_ABSENT, 0x1000, 0);
	check_walk(paging, 0x1234, PAGE_PRESENT, 0x1000, 0x123234);
	check_walk(paging, 0x2fff, PAGE_SWAPPED, 0x1000, 0);
	check_walk(paging, 0x3010, PAGE_PROTECTED, 0x1000, 0x123010);
	check_walk(paging, 0x234567, PAGE_PRESENT, 0x200000, 0x634567);
	check_walk(paging, 0x40000000 + 0x1234567, PAGE_PRESENT, 0x40000000, 0x81234567);
	check_walk(paging, 0x80000000, PAGE_ABSENT, 0x40000000, 0);
	check_walk(paging, 0x7fffffffffff, PAGE_ABSENT, 0x8000000000, 0);
	CHECK_OK(paging_x86_64_walk(paging, 0x1000, 0x2000, &walk));
	CHECK_U64(walk.swap_type, 2);
	CHECK_U64(walk.swap_offset, 0x12345);
	CHECK_U64(walk.count, 4);
	CHECK_U64(walk.steps[0].physical, 0x1000);
	CHECK_U64(walk.steps[3].physical, 0x4010);
	CHECK_STRING(walk.steps[0].name, "PGD");
	CHECK_STRING(walk.steps[3].name, "PTE");
	CHECK_OK(paging_x86_64_walk(paging, 0x1000, 0x400000, &walk));
	CHECK_U64(walk.state, PAGE_SWAPPED);
	CHECK_U64(walk.swap_type, 30);
	CHECK_U64(walk.swap_offset, 0x12300);
	/* The kernel's own: nothing is there. */
	CHECK_OK(paging_x86_64_walk(paging, PAGE_ROOT_KERNEL, 0x1000, &walk));
	CHECK_U64(walk.count, 1);
	CHECK_FAILS(paging_x86_64_walk(paging, 0x1000, 0x600000, &walk),
		    "user address 0x600000: level 1 page table");
	CHECK_U64(walk.count, 3);
	/* What is said of it is true of all between the halves, which nobody has to try page by
	 * page. */
	CHECK_FAILS(paging_x86_64_walk(paging, 0x1000, 0x900000000000, &walk), "not canonical");
	CHECK_U64(walk.start, 0x800000000000);
	CHECK_U64(walk.start + walk.size, 0xffff800000000000);
	CHECK_FAILS(paging_x86_64_walk(paging, 0xffffffffff000, 0, &walk), "level 4 page table");
	/* Tables that lead to themselves. */
	for (unsigned int i = 0; i < 512; i++)
		set_entry(&tables, 0x1000, i, 0x1067);
	check_walk(paging, 0x123456789abc, PAGE_PRESENT, 0x1000, 0x1abc);
	free(paging);
}

/* Five levels, and memory encryption's bit in every entry. */
static void test_walk_five_levels(void)
{
	static struct tables tables;
	struct translator *paging = NULL;
	struct page_walk walk;
	uint64_t mask = 1ull << 47;
	memset(&tables, 0, sizeof(tables));
	set_entry(&tables, 0x1000, 1, 0x2000 | 0x67 | mask);
	set_entry(&tables, 0x2000, 0, 0x3000 | 0x67 | mask);
	set_entry(&tables, 0x3000, 0, 0x4000 | 0x67 | mask);
	set_entry(&tables, 0x4000, 0, 0x5000 | 0x67 | mask);
	set_entry(&tables, 0x5000, 1, 0x123000 | 0x67 | mask);
	CHECK_OK(create_paging(&tables,
			       ROOT "NUMBER(pgtable_l5_enabled)=1\n"
				    "NUMBER(sme_mask)=140737488355328\n",
			       &paging));
	check_walk(paging, 0x1000000001010, PAGE_PRESENT, 0x1000, 0x123010);
	CHECK_OK(paging_x86_64_walk(paging, 0x1000, 0x1000000001010, &walk));
	CHECK_U64(walk.count, 5);
	CHECK_STRING(walk.steps[0].name, "PGD");
	CHECK_STRING(walk.steps[1].name, "P4D");
	CHECK_STRING(walk.steps[4].name, "PTE");
	free(paging);
}

/* --- lost page tables ------------------------------------------------------------------- */

#define STEXT "SYMBOL(_stext)=ffffffff81000000\n"

/* The image is contiguous: where a table is not in the dump, one knows what it said. */
static void test_lost_tables(void)
{
	static struct tables tables;
	struct translator *paging = NULL;
	make_tables(&tables, 0);
	set_entry(&tables, 0x3000, 7, 0xdead000 | 0x63);
	set_entry(&tables, 0x3000, 39, 0xdead000 | 0x63);
	set_entry(&tables, 0x3000, 40, 0xdead000 | 0x63);
	CHECK_OK(create_paging(&tables, ROOT STEXT, &paging));
	check_translation(paging, 0xffffffff81400000, 0x13ff000, 0x200000);
	check_translation(paging, 0xffffffff81412345, 0x1411345, 0x200000);
	/* 64 MiB from _stext on, no more and no less. */
	check_untranslated(paging, 0xffffffff80ffffff, ERROR_FAULT, "level 1 page table");
	check_translation(paging, 0xffffffff84ffffff, 0x4ffefff, 0x200000);
	check_untranslated(paging, 0xffffffff85000000, ERROR_FAULT, "level 1 page table");
	/* Where there are tables they are right, even when they say that nothing is there. */
	check_translation(paging, 0xffffffff81205678, 0x123678, 0x1000);
	check_translation(paging, 0xffffffff81012345, 0x212345, 0x200000);
	check_untranslated(paging, 0xffffffff81206000, ERROR_FAULT, "not mapped");
	check_untranslated(paging, 0xffffffff81600000, ERROR_FAULT, "not mapped");
	check_untranslated(paging, 0xffff888000000000, ERROR_FAULT, "not mapped");
	free(paging);

	/* Without _stext nothing is known of the image. */
	CHECK_OK(create_paging(&tables, ROOT, &paging));
	check_untranslated(paging, 0xffffffff81400000, ERROR_FAULT, "level 1 page table");
	free(paging);

	/* The table on top is lost. */
	CHECK_OK(create_paging(&tables,
			       "OSRELEASE=x\nSYMBOL(swapper_pg_dir)=ffffffff8dead000\n"
			       "NUMBER(phys_base)=16777216\n" STEXT,
			       &paging));
	check_translation(paging, 0xffffffff81206789, 0x2206789, 0x200000);
	check_untranslated(paging, 0xffff888000000000, ERROR_FAULT, "level 4 page table");
	check_untranslated(paging, 0x0000800000000000, ERROR_FAULT, "not canonical");
	free(paging);
}

struct failing {
	struct memory memory;
	enum error_kind kind;
};

static struct error *failing_read(struct memory *memory, uint64_t address, void *buffer,
				  size_t size)
{
	(void)buffer;
	(void)size;
	return error_create_at(((struct failing *)memory)->kind, address, "no table");
}

/* Only a table that is not in the dump is made up for. */
static void test_lost_for_what_reason(void)
{
	static const struct {
		enum error_kind kind;
		bool is_missing;
	} reasons[] = { { ERROR_FAULT, true },	      { ERROR_EXCLUDED, true },
			{ ERROR_TRUNCATED, true },    { ERROR_DAMAGED, true },
			{ ERROR_INTERRUPTED, false }, { ERROR_SYSTEM, false },
			{ ERROR_NO_MEMORY, false } };
	static const char text[] = ROOT STEXT;
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		struct failing failing = {
			{ .read = failing_read, .name = "physical", .word_size = 8 },
			reasons[i].kind
		};
		struct vmcoreinfo *info = NULL;
		struct translator *paging = NULL;
		struct translation run = { 0 };
		CHECK_OK(vmcoreinfo_parse(text, strlen(text), &info));
		CHECK_OK(paging_x86_64_create(&failing.memory, info, &paging));
		struct error *error = paging->translate(paging, 0xffffffff81000000, &run);
		CHECK(!error == reasons[i].is_missing);
		if (error)
			CHECK_U64(error->kind, reasons[i].kind);
		error_free(error);
		/* Elsewhere the reason is what is said. */
		error = paging->translate(paging, 0xffffffffc0000000, &run);
		CHECK(error && error->kind == reasons[i].kind);
		error_free(error);
		free(paging);
		vmcoreinfo_free(info);
	}
}

int main(void)
{
	RUN(test_virtual);
	RUN(test_paging);
	RUN(test_paging_keys);
	RUN(test_walk);
	RUN(test_walk_five_levels);
	RUN(test_lost_tables);
	RUN(test_lost_for_what_reason);
	return test_finish();
}
