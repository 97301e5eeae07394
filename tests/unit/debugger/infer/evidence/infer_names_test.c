// SPDX-License-Identifier: GPL-3.0-or-later
/* What a symbol's name says where a struct has several names, and of pointers without a type. */
#include "base/array.h"
#include "debugger/infer/solve/solve.h"
#include "tests/unit/infer_asked.h"
#include "tests/unit/infer_machine.h"

static uint64_t contents[2];
static struct machine machine;

/* One struct without a tag under two names. */
static void add_typedefs(struct libbpf_btf *btf)
{
	int unnamed = btf__add_struct(btf, NULL, 16);
	add_member(btf, "first", 1, 0);
	btf__add_typedef(btf, "uuid_t", unnamed);
	btf__add_typedef(btf, "guid_t", unnamed);
}

static void add_chains(struct libbpf_btf *btf)
{
	int heads = btf__add_struct(btf, "hlist_head", 8);
	add_member(btf, "first", btf__add_ptr(btf, 0), 0);
	btf__add_ptr(btf, heads);
}

static void add_operations(struct libbpf_btf *btf)
{
	int operations = btf__add_struct(btf, "file_operations", 8);
	add_member(btf, "first", 1, 0);
	btf__add_ptr(btf, operations);
}

/* Of the typedefs of what has no tag, the one that the name has; else the first. */
static void test_shown(void)
{
	static const char *const names[][2] = {
		{ "some_guid", "guid_t" }, { "guid_of_some.3", "guid_t" },
		{ "some_uuid", "uuid_t" }, { "some", "uuid_t" },
		{ "guidance", "uuid_t" },
	};
	struct asked *asked = asked_create(&machine.target);
	ask(asked, "pointer", 8);
	uint64_t cursor = 0;
	uint32_t type = layout_resolve(asked->layout, btf_find(asked->layout->btf, BTF_TYPEDEF,
							       "guid_t", &cursor));
	for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
		struct symbol symbol = { .name = names[i][0] };
		struct btf_type record;
		asked->question.symbol = &symbol;
		CHECK(btf_get(asked->layout->btf, names_shown(&asked->question, type), &record));
		CHECK_STRING(record.name, names[i][1]);
	}
	CHECK_U64(names_shown(&asked->question, struct_named(asked, "hlist_head")),
		  struct_named(asked, "hlist_head"));
	asked_destroy(asked);
}

/* What a pointer that code uses without a type points at, by its name. */
static uint32_t pointee_of(struct asked *asked, const char *name)
{
	struct symbol symbol = { .name = name };
	struct clues clues = { .items = NULL };
	struct solver solver;
	struct clue clue = { .kind = CLUE_VALUE,
			     .source = SOURCE_CODE,
			     .size = 8,
			     .type = { asked->layout->btf, asked->layout->records[0].pointer } };
	ask(asked, "pointer", 8);
	asked->question.symbol = &symbol;
	struct solver_input input = { .subject = &asked->subject,
				      .clues = &clues,
				      .place = PLACE_DATA,
				      .refine = own_data_refine,
				      .context = &asked->question };
	CHECK_OK(solver_init(&solver, asked->layout));
	CHECK(clues_add(&clues, &clue));
	CHECK_OK(solve(&solver, &input));
	CHECK_OK(solver_refine(&solver));
	uint32_t target = solver.count ? layout_target(asked->layout, solver.items[0].type) : 0;
	solver_deinit(&solver);
	clues_deinit(&clues);
	return target;
}

/* A hash of files holds heads of chains. */
static void test_hashes(void)
{
	struct asked *asked = asked_create(&machine.target);
	uint32_t heads = struct_named(asked, "hlist_head");
	CHECK_U64(pointee_of(asked, "file_operations_hash"), heads);
	CHECK_U64(pointee_of(asked, "file_operations_hashtable"), heads);
	CHECK_U64(pointee_of(asked, "file_operations_laddrhash.3"), heads);
	CHECK(pointee_of(asked, "hash_file_operations") != heads);
	asked_destroy(asked);
}

int main(void)
{
	static const struct test_symbol symbols[] = {
		{ TEXT, 'T', "_text" },		 { TEXT, 'T', "_stext" },
		{ TEXT + 0x600, 'T', "_etext" }, { DATA, 'd', "pointer" },
		{ DATA + 8, 'D', "_edata" },	 { DATA + 16, 'D', "_end" },
	};
	machine_init(&machine);
	machine_add_part(&machine, DATA, contents, sizeof(contents));
	btf__add_int(machine.source, "int", 4, 1);
	add_operations(machine.source);
	add_typedefs(machine.source);
	add_chains(machine.source);
	machine_set_types(&machine);
	machine_set_symbols(&machine, symbols, ARRAY_COUNT(symbols));
	RUN(test_shown);
	RUN(test_hashes);
	machine_deinit(&machine);
	return test_finish();
}
