// SPDX-License-Identifier: GPL-3.0-or-later
/* The table of what globals are in other kernels: as it is shipped, and by hand. */
#include "debugger/infer/hints/hints.h"

#include "base/array.h"
#include "tests/unit/chance.h"
#include "tests/unit/hints_table.h"

static const struct hint_row rows[] = {
	{ "a_changed", "int", 0xff, 0 },
	{ "a_changed", "long", 0x80000000, 0 },
	{ "a_list", "struct list_head", 0xffffffff, 0 },
	{ "a_row", "char []", 0x3ff, 5 },
	{ "a_row", "char []", 0x400, 7 },
};

#define FAMILY_ROW 2

static void test_shipped(void)
{
	struct hints *hints;
	struct hint found[HINTS_A_NAME];
	CHECK_OK(hints_create(&hints));
	CHECK_U64(hints_find(hints, &(struct symbol){ .name = "slab_caches" }, HINTS_ALL, found),
		  1);
	CHECK_STRING(found[0].type, "struct list_head");
	CHECK_U64(hints_find(hints, &(struct symbol){ .name = "slab_caches" }, 0, found), 0);
	CHECK_U64(hints_find(hints, &(struct symbol){ .name = "no such name" }, HINTS_ALL, found),
		  0);
	CHECK_U64(hints_find(hints, &(struct symbol){ .name = "__param_foo" }, HINTS_ALL, found),
		  1);
	CHECK(found[0].is_family);
	CHECK_STRING(found[0].type, "struct kernel_param");
	CHECK(hints_find(hints, &(struct symbol){ .name = "fuse_inode_cachep", .module = "fuse" },
			 HINTS_ALL, found) == 1);
	CHECK_U64(hints_find(hints,
			     &(struct symbol){ .name = "fuse_inode_cachep", .module = "no module" },
			     HINTS_ALL, found),
		  0);
	/* The first module's first row and the last one's last. */
	CHECK_U64(hints_find(hints,
			     &(struct symbol){ .name = "auto_polarity", .module = "3c574_cs" },
			     HINTS_ALL, found),
		  1);
	CHECK_U64(hints_find(hints,
			     &(struct symbol){ .name = "srcSizeTiers.", .module = "zstd_compress" },
			     HINTS_ALL, found),
		  1);
	CHECK(hints_kernel(hints, "6.1") &&
	      hints_kernel(hints, "6.1") != hints_kernel(hints, "6.12"));
	CHECK_U64(hints_kernel(hints, "2.4"), 0);
	/* One release is less than its series, which has flavours. */
	CHECK((hints_kernel(hints, "6.1.0-56-rt-amd64") & hints_kernel(hints, "6.1")) ==
	      hints_kernel(hints, "6.1.0-56-rt-amd64"));
	CHECK(hints_kernel(hints, "6.1.0-56-rt-amd64") != hints_kernel(hints, "6.1"));
	hints_destroy(hints);
}

/* What a name is per CPU is nothing that an ordinary variable of the name may be. */
static void test_shipped_per_cpu(void)
{
	struct symbol name = { .name = "cleanup_list" };
	struct hints *hints;
	struct hint found[HINTS_A_NAME];
	CHECK_OK(hints_create(&hints));
	CHECK_U64(hints_find(hints, &name, HINTS_ALL, found), 1);
	CHECK_STRING(found[0].type, "struct llist_head");
	name.per_cpu = true;
	CHECK_U64(hints_find(hints, &name, HINTS_ALL, found), 1);
	CHECK_STRING(found[0].type, "struct hlist_head");
	/* Families are of ordinary variables. */
	name = (struct symbol){ .name = "__param_foo", .per_cpu = true };
	CHECK_U64(hints_find(hints, &name, HINTS_ALL, found), 0);
	hints_destroy(hints);
}

static void test_no_table(void)
{
	uint8_t bytes[64] = "BTFHINT2";
	struct hints *hints = NULL;
	struct error *error = hints_open(bytes, 10, &hints);
	CHECK(error);
	error_free(error);
	memset(bytes + 8, 0xff, 16);
	error = hints_open(bytes, sizeof(bytes), &hints);
	CHECK(error);
	error_free(error);
	memset(bytes + 8, 0, 16);
	bytes[8] = 8;
	bytes[12] = 64;
	error = hints_open(bytes, sizeof(bytes), &hints);
	CHECK(error && error->kind == ERROR_FORMAT);
	error_free(error);
	CHECK(!hints);
}

static struct error *open_filled(struct hints_table *table, const struct hints_column *columns,
				 struct hints **ret)
{
	memset(table, 0, sizeof(*table));
	table_pack(table, columns);
	*ret = NULL;
	return hints_open(table->bytes, table->size, ret);
}

/* A bit for each of as many kernels as a table can have, and the flags beside them. */
static void test_many_kernels(void)
{
	struct hints_column columns[HINTS_CHUNKS] = { { .size = 0 } };
	struct hint found[HINTS_A_NAME];
	struct hints_table table;
	struct hints *hints;
	table_fill(columns, 32, rows, ARRAY_COUNT(rows), FAMILY_ROW);
	CHECK_OK(open_filled(&table, columns, &hints));
	CHECK_U64(hints_kernel(hints, "1.0"), 1);
	CHECK_U64(hints_kernel(hints, "9.0"), 1u << 8);
	CHECK_U64(hints_kernel(hints, "32.0"), 1u << 31);
	CHECK_U64(hints_kernel(hints, "32.0-a"), 1u << 31);
	CHECK_U64(hints_kernel(hints, "33.0"), 0);
	const struct symbol changed = { .name = "a_changed" }, row = { .name = "a_row" };
	CHECK_U64(hints_find(hints, &changed, HINTS_ALL, found), 2);
	CHECK_STRING(found[0].type, "int");
	CHECK_U64(found[0].kernels, 0xff);
	CHECK_STRING(found[1].type, "long");
	CHECK_U64(found[1].kernels, 0x80000000);
	CHECK_U64(hints_find(hints, &changed, 0x80000100, found), 1);
	CHECK_STRING(found[0].type, "long");
	CHECK_U64(hints_find(hints, &changed, 0x7fffff00, found), 0);
	CHECK_U64(hints_find(hints, &row, HINTS_ALL, found), 2);
	CHECK_U64(found[0].count, 5);
	CHECK_U64(found[1].count, 7);
	CHECK_U64(hints_find(hints, &(struct symbol){ .name = "family_x" }, 1, found), 1);
	CHECK(found[0].is_family);
	hints_destroy(hints);
}

/* Of the kernels that have a name, the one before a release and the one after it, or its own. */
static void test_near(void)
{
	static const struct {
		uint32_t kernels;
		const char *release;
		uint32_t near;
	} cases[] = {
		{ HINTS_ALL, "5.0.3-x", 1u << 4 },
		{ HINTS_ALL, "5.1", 1u << 4 | 1u << 5 },
		{ HINTS_ALL, "0.1", 1 },
		{ HINTS_ALL, "40.0", 1u << 31 },
		{ ~(1u << 4), "5.0.3-x", 1u << 3 | 1u << 5 },
		{ 1u << 2, "5.0", 1u << 2 },
		{ 0, "5.0", 0 },
		{ HINTS_ALL, "", HINTS_ALL },
		{ HINTS_ALL, "next", HINTS_ALL },
		{ 6, "99999999999999999999.1", 6 },
		{ 6, "-1.-1", 6 },
	};
	struct hints_column columns[HINTS_CHUNKS] = { { .size = 0 } };
	struct hints_table table;
	struct hints *hints;
	table_fill(columns, 32, rows, ARRAY_COUNT(rows), FAMILY_ROW);
	CHECK_OK(open_filled(&table, columns, &hints));
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
		CHECK_U64(hints_near(hints, cases[i].kernels, cases[i].release), cases[i].near);
	hints_destroy(hints);
}

/* In their order, whatever bits they have; a text that is too small has what fits. */
static void test_series(void)
{
	struct hints_column columns[HINTS_CHUNKS] = { { .size = 0 } };
	struct hints_table table;
	struct hints *hints;
	char all[256], some[16];
	table_fill(columns, 32, rows, ARRAY_COUNT(rows), FAMILY_ROW);
	CHECK_OK(open_filled(&table, columns, &hints));
	hints_series(hints, 0, all, sizeof(all));
	CHECK_STRING(all, "");
	hints_series(hints, 1u << 31 | 1u << 8 | 1, all, sizeof(all));
	CHECK_STRING(all, "1.0, 9.0, 32.0");
	hints_series(hints, HINTS_ALL, some, sizeof(some));
	CHECK_STRING(some, "1.0, 2.0, 3.0, ");
	hints_destroy(hints);
}

/* Whose rows are left out has no word in which one comes first. */
static void test_order(void)
{
	static const struct hint_row shared[] = {
		{ "a_name", "int", 0x7, 0 },
		{ "a_name", "long", 0x18, 0 },
	};
	struct hints_column columns[HINTS_CHUNKS] = { { .size = 0 } };
	struct hint found[HINTS_A_NAME];
	struct hints_table table;
	struct hints *hints;
	table_fill(columns, 5, shared, ARRAY_COUNT(shared), 0);
	CHECK_OK(open_filled(&table, columns, &hints));
	for (uint32_t own = 0; own <= 3; own += 3) {
		CHECK_U64(hints_find(hints, &(struct symbol){ .name = "a_name" }, ~own, found), 2);
		CHECK_STRING(found[0].type, own ? "long" : "int");
	}
	hints_destroy(hints);
}

enum damage {
	NO_KERNELS,
	TOO_MANY_KERNELS,
	KERNEL_THAT_IS_NOT_THERE,
	EMPTY_SET,
	SETS_CUT_OFF,
	SET_OF_33_BITS,
	SET_THAT_IS_NOT_THERE,
	ROW_KERNELS_CUT_OFF,
	MORE_TO_FOLLOW,
	NUMBER_OF_SET_TOO_LARGE,
	NO_LENGTH,
	NOT_IN_ORDER,
};

static const char *const complaints[] = {
	[NO_KERNELS] = "0 kernels",
	[TOO_MANY_KERNELS] = "33 kernels",
	[KERNEL_THAT_IS_NOT_THERE] = "no set of kernels: number 1",
	[EMPTY_SET] = "no set of kernels: number 5",
	[SETS_CUT_OFF] = "no set of kernels: number 5",
	[SET_OF_33_BITS] = "no set of kernels: number 5",
	[SET_THAT_IS_NOT_THERE] = "row 0 is damaged",
	[ROW_KERNELS_CUT_OFF] = "row 2 is damaged",
	[MORE_TO_FOLLOW] = "row 2 is damaged",
	[NUMBER_OF_SET_TOO_LARGE] = "row 2 is damaged",
	[NO_LENGTH] = "row 2 is damaged",
	[NOT_IN_ORDER] = "row 1 is damaged",
};

static void damage(struct hints_column *columns, enum damage which)
{
	struct hints_column *sets = &columns[HINTS_SETS];
	struct hints_column *numbers = &columns[HINTS_ROW_KERNELS];
	switch (which) {
	case NO_KERNELS:
		columns[HINTS_KERNEL_LIST].size = 0;
		break;
	case TOO_MANY_KERNELS:
		column_add(&columns[HINTS_KERNEL_LIST], "33.0", 5);
		break;
	case KERNEL_THAT_IS_NOT_THERE: /* the last one's line is taken away */
		columns[HINTS_KERNEL_LIST].size -= sizeof("32.0\t32.0-a\t1");
		break;
	case EMPTY_SET:
		column_add_byte(sets, 0);
		break;
	case SETS_CUT_OFF:
		column_add_byte(sets, 0x80);
		break;
	case SET_OF_33_BITS:
		column_add(sets, "\x81\x80\x80\x80\x10", 5);
		break;
	case SET_THAT_IS_NOT_THERE:
		numbers->bytes[0] = ARRAY_COUNT(rows) << 2 | 2;
		break;
	case ROW_KERNELS_CUT_OFF:
		numbers->size--;
		break;
	case MORE_TO_FOLLOW:
		numbers->bytes[numbers->size - 1] |= 2;
		break;
	case NUMBER_OF_SET_TOO_LARGE:
		numbers->size--;
		column_add(numbers, "\xff\xff\xff\xff\x7f", 5);
		break;
	case NOT_IN_ORDER:
		columns[HINTS_REST].bytes[0] = '~';
		break;
	default:
		columns[HINTS_LENGTHS].size--;
		break;
	}
}

/* Each of these is found when it is read, and nothing is read beyond a chunk. */
static void test_damaged(void)
{
	for (int which = 0; which < (int)ARRAY_COUNT(complaints); which++) {
		struct hints_column columns[HINTS_CHUNKS] = { { .size = 0 } };
		struct hints_table table;
		struct hints *hints;
		table_fill(columns, 32, rows, ARRAY_COUNT(rows), FAMILY_ROW);
		damage(columns, (enum damage)which);
		CHECK_FAILS(open_filled(&table, columns, &hints), complaints[which]);
		CHECK(!hints);
	}
}

/* Whatever byte of a chunk is another one: an error or a table that can be asked. */
static void test_any_byte(void)
{
	uint64_t state = 1;
	size_t opened = 0;
	for (int round = 0; round < 3000; round++) {
		struct hints_column columns[HINTS_CHUNKS] = { { .size = 0 } };
		struct hint found[HINTS_A_NAME];
		struct hints_table table;
		struct hints *hints;
		table_fill(columns, 32, rows, ARRAY_COUNT(rows), FAMILY_ROW);
		struct hints_column *one = &columns[next_random(&state) % HINTS_CHUNKS];
		if (!one->size)
			continue;
		one->bytes[next_random(&state) % one->size] = (uint8_t)next_random(&state);
		if (!(next_random(&state) % 4))
			one->size = next_random(&state) % one->size;
		struct error *error = open_filled(&table, columns, &hints);
		for (size_t i = 0; !error && i < ARRAY_COUNT(rows); i++)
			CHECK(hints_find(hints, &(struct symbol){ .name = rows[i].name }, HINTS_ALL,
					 found) <= HINTS_A_NAME);
		opened += !error;
		error_free(error);
		hints_destroy(hints);
	}
	CHECK(opened > 0);
}

int main(void)
{
	RUN(test_shipped);
	RUN(test_shipped_per_cpu);
	RUN(test_no_table);
	RUN(test_many_kernels);
	RUN(test_near);
	RUN(test_series);
	RUN(test_order);
	RUN(test_damaged);
	RUN(test_any_byte);
	return test_finish();
}
