// SPDX-License-Identifier: GPL-3.0-or-later
/* Tables that never end: whatever is done with their rows ends, and says that these are not all. */
#include "debugger/tables/table.h"

#include "base/array.h"
#include "debugger/tables/rows.h"
#include "debugger/tables/sql.h"
#include "tests/unit/test.h"

enum { NUMBER, NAME };

#define LEAST	 (1u << 20) /* rows are allowed to any pass, however small the memory */
#define MEBIBYTE ((size_t)1 << 20)

static const struct table_column columns[] = {
	[NUMBER] = { "number", COLUMN_ADDRESS, 16, "a number", "struct thing" },
	[NAME] = { "name", COLUMN_TEXT, -8, "a text", NULL },
};

/* What the rows of a table are like: the tail, and the length of the ring that it leads to. */
struct shape {
	uint64_t tail, ring;
	const char *text; /* NULL: the row's number */
	uint64_t end;	  /* rows; 0: none */
};

/* Tables are constant, so what a pass visits lies with its target. */
struct world {
	struct target target;
	struct vmcore_facts facts;
	struct shape shape;
};

static struct error *emit_all(struct table_scan *scan, const struct shape *shape)
{
	for (uint64_t i = 0; !shape->end || i < shape->end; i++) {
		char text[32];
		uint64_t number = i < shape->tail ? i
						  : shape->tail + (i - shape->tail) % shape->ring;
		snprintf(text, sizeof(text), "%" PRIu64, number);
		table_set(scan, NUMBER, number);
		table_set_text(scan, NAME, shape->text ? shape->text : text);
		TRY(table_emit(scan));
	}
	return NULL;
}

static struct error *visit(struct table_scan *scan)
{
	return emit_all(scan, &container_of(scan->target, struct world, target)->shape);
}

/* Of task 1 there is no end, of others there are three rows. */
static struct error *visit_task(struct table_scan *scan, const struct task *task)
{
	const struct shape shape = { .ring = UINT64_MAX, .end = task->pid == 1 ? 0 : 3 };
	return emit_all(scan, &shape);
}

#define TABLE                                                                                      \
	.name = "things", .columns = columns, .column_count = ARRAY_COUNT(columns), .item = NUMBER

static const struct table endless = { TABLE, .visit = visit };
static const struct table of_objects = { TABLE, .visit = visit, .is_object = true };
static const struct table of_tasks = { TABLE, .visit_task = visit_task };

static void world_init(struct world *world, uint64_t memory, struct shape shape)
{
	*world = (struct world){ .facts = { .memory_size = memory, .file_size = memory },
				 .shape = shape };
	world->target.facts = &world->facts;
	budget_init(&world->target.kept, memory);
}

static struct error *count(void *context, const struct table_cell *cells)
{
	uint64_t *rows = context;
	(void)cells;
	++*rows;
	return NULL;
}

/* How many rows come; *ret: what is said of that. */
static uint64_t rows_of(struct world *world, const struct table *table, struct error **ret)
{
	uint64_t rows = 0;
	struct table_scan scan = { .target = &world->target,
				   .table = table,
				   .wanted = UINT64_MAX,
				   .row = count,
				   .context = &rows };
	CHECK_OK(table_scan_run(&scan));
	*ret = table_scan_problem(&scan);
	CHECK(!*ret == !scan.is_cut && !error_is_fatal(*ret));
	table_scan_deinit(&scan);
	return rows;
}

static void check_cut(struct world *world, const struct table *table, uint64_t least, uint64_t most,
		      const char *words)
{
	struct error *problem;
	uint64_t rows = rows_of(world, table, &problem);
	CHECK(rows >= least);
	CHECK(rows <= most);
	CHECK(problem && strstr(problem->message, words));
	CHECK(problem && strstr(problem->message, "these are not all rows"));
	error_free(problem);
}

static void test_rows(void)
{
	struct world world;
	world_init(&world, 1, (struct shape){ .ring = UINT64_MAX });
	check_cut(&world, &endless, LEAST, LEAST, "more than 1048576, for which the memory");
	world_init(&world, 3 * 8 * (uint64_t)LEAST, (struct shape){ .ring = 1 });
	check_cut(&world, &endless, 3 * LEAST, 3 * LEAST, "more than 3145728, for which");
	/* What a header promises and the file cannot hold gives nobody more rows. */
	world.facts.memory_size = (uint64_t)1 << 60;
	world.facts.file_size = 4096;
	check_cut(&world, &endless, LEAST, LEAST, "more than 1048576, for which");
}

static void test_sound(void)
{
	struct world world;
	struct error *problem;
	world_init(&world, 1, (struct shape){ .ring = UINT64_MAX, .end = LEAST });
	CHECK_U64(rows_of(&world, &endless, &problem), LEAST);
	CHECK(!problem);
	CHECK_U64(rows_of(&world, &of_objects, &problem), LEAST);
	CHECK(!problem);
	/* An object that comes a few times is told a few times. */
	world.shape = (struct shape){ .ring = 1, .end = 63 };
	CHECK_U64(rows_of(&world, &of_objects, &problem), 63);
	CHECK(!problem);
}

/* Rings, soon found wherever they begin; where a row is no object of its own nobody knows. */
static void test_rings(void)
{
	static const struct shape shapes[] = {
		{ .tail = 0, .ring = 1 },   { .tail = 0, .ring = 2 },
		{ .tail = 1, .ring = 3 },   { .tail = 5, .ring = 1 },
		{ .tail = 100, .ring = 7 }, { .tail = 5000, .ring = 1000 },
	};
	struct world world;
	for (size_t i = 0; i < ARRAY_COUNT(shapes); i++) {
		uint64_t size = shapes[i].tail + shapes[i].ring;
		world_init(&world, (uint64_t)1 << 40, shapes[i]);
		check_cut(&world, &of_objects, 64, 200 * size + 200, "so links go round");
	}
	struct error *problem;
	world_init(&world, 1, (struct shape){ .ring = 1, .end = 1000 });
	CHECK_U64(rows_of(&world, &endless, &problem), 1000);
	CHECK(!problem);
}

static void test_text(void)
{
	struct world world;
	char *text = malloc(MEBIBYTE + 1);
	memset(text, 'a', MEBIBYTE);
	text[MEBIBYTE] = 0;
	world_init(&world, 1, (struct shape){ .ring = UINT64_MAX, .text = text });
	check_cut(&world, &endless, 1000, 1024, "have more than 1024 MiB of text");
	free(text);
}

/* One task's rows leave room for those of the next. */
static void test_tasks(void)
{
	struct world world;
	uint64_t rows = 0;
	const struct task first = { .pid = 1 }, second = { .pid = 2 };
	world_init(&world, 16 * 8 * (uint64_t)LEAST, (struct shape){ .ring = 1 });
	struct table_scan scan = { .target = &world.target,
				   .table = &of_tasks,
				   .wanted = UINT64_MAX,
				   .row = count,
				   .context = &rows };
	CHECK_OK(table_scan_task(&scan, &first));
	CHECK_U64(rows, 4 * LEAST);
	CHECK(scan.is_cut);
	CHECK_OK(table_scan_task(&scan, &second));
	CHECK_U64(rows, 4 * LEAST + 3);
	CHECK_FAILS(table_scan_problem(&scan), "task 1: these are not all rows");
	table_scan_deinit(&scan);
}

/* Rows that are kept: as many as the budget has room for, and they are whole. */
static void test_kept(void)
{
	struct world world;
	world_init(&world, 1, (struct shape){ .ring = UINT64_MAX });
	world.facts.memory_size = world.facts.file_size = (uint64_t)1 << 40;
	struct budget *budget = &world.target.kept;
	struct rows *rows = rows_create(&endless, UINT64_MAX, budget);
	struct table_scan scan = { .target = &world.target,
				   .table = &endless,
				   .wanted = UINT64_MAX,
				   .row = rows_add,
				   .context = rows };
	CHECK_OK(table_scan_run(&scan));
	CHECK_FAILS(table_scan_problem(&scan), "this is not all: it takes more than 40 MiB");
	CHECK(budget->used <= budget->limit / 8 * 5);
	size_t kept = rows_count(rows);
	CHECK(kept > 500000 && kept < 2000000);
	CHECK_U64(rows_cell(rows, kept - 1, NUMBER).number, kept - 1);
	const uint32_t *found;
	size_t found_count;
	CHECK_OK(rows_find_text(rows, NAME, "77777", &found, &found_count));
	CHECK(found_count == 1 && *found == 77777);
	rows_destroy(rows);
	CHECK_U64(budget->used, 0);
	table_scan_deinit(&scan);
}

static struct error *head(void *context, const struct sql_column *head, size_t head_count)
{
	(void)context, (void)head, (void)head_count;
	return NULL;
}

static struct error *take_number(void *context, const struct sql_value *values, size_t value_count)
{
	int64_t *number = context;
	CHECK(value_count == 1 && values[0].kind == SQL_INTEGER);
	*number = values[0].integer;
	return NULL;
}

static int64_t ask(struct world *world, const char *text, struct error **ret)
{
	const struct table *const tables[] = { &endless };
	int64_t number = -1;
	const struct sql_question question = { .target = &world->target,
					       .tables = tables,
					       .table_count = 1,
					       .text = text,
					       .head = head,
					       .row = take_number,
					       .context = &number };
	CHECK_OK(sql_ask(&question, ret));
	CHECK_U64(world->target.kept.used, 0);
	return number;
}

/* What a statement says of a table that was cut is said with a reason. */
static void test_sql(void)
{
	struct world world;
	struct error *problem = NULL;
	world_init(&world, 1, (struct shape){ .ring = UINT64_MAX });
	CHECK_U64(ask(&world, "SELECT count(*) FROM things", &problem), LEAST);
	CHECK_FAILS(problem, "things: these are not all rows");
	problem = NULL;
	/* More rows than may be kept. */
	world.facts.memory_size = world.facts.file_size = (uint64_t)1 << 40;
	CHECK_U64(ask(&world, "SELECT number FROM things WHERE name = '4711'", &problem), 4711);
	CHECK(problem && strstr(problem->message, "this is not all"));
	error_free(problem);
	problem = NULL;
	CHECK(ask(&world, "SELECT number FROM things ORDER BY number DESC, name LIMIT 1",
		  &problem) > 0);
	CHECK(problem && strstr(problem->message, "this is not all"));
	error_free(problem);
}

int main(void)
{
	RUN(test_rows);
	RUN(test_sound);
	RUN(test_rings);
	RUN(test_text);
	RUN(test_tasks);
	RUN(test_kept);
	RUN(test_sql);
	return test_finish();
}
