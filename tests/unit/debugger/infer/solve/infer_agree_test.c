// SPDX-License-Identifier: GPL-3.0-or-later
/* The shipped table and inference together: they agree, one is alone, or they differ. */
#include "base/array.h"
#include "debugger/infer/solve/agree.h"
#include "tests/unit/hints_table.h"
#include "tests/unit/infer_asked.h"
#include "tests/unit/infer_machine.h"

static const struct hint_row rows[] = {
	{ "a_count", "int", 1, 0 },
	{ "a_count", "unsigned int", 2, 0 },
	{ "a_head", "int []", 2, 4 },
	{ "a_head", "struct list_head", 1, 0 },
	{ "a_list", "struct list_head", 3, 0 },
	{ "a_lock", "struct mutex", 2, 0 },
	{ "a_lock", "spinlock_t", 1, 0 },
	{ "a_matrix", "char [][3]", 2, 8 },
	{ "a_matrix", "char [][2]", 1, 8 },
	{ "a_mutex", "struct mutex", 3, 0 },
	{ "a_number", "int", 3, 0 },
	{ "a_queue", "struct list_head []", 3, 2 },
	{ "a_row", "int []", 3, 4 },
	{ "a_series", "int []", 2, 3 },
	{ "a_series", "int []", 1, 4 },
	{ "a_stranger", "struct gone", 3, 0 },
	{ "a_table", "char [][4]", 3, 0 },
	{ "a_texts", "char *[]", 3, 4 },
	{ "an_old_one", "struct mutex", 1, 0 },
};
#define FAMILY_ROW 9 /* struct mutex */

struct bench {
	struct asked *asked;
	struct solver solver;
	struct solver_input input;
	struct answer answer;
	struct listed_row listed[HINTS_A_NAME];
	size_t listed_count;
};

static struct hints_table table;
static struct machine machine;

static void add_types(struct libbpf_btf *btf)
{
	int int_ = btf__add_int(btf, "int", 4, 1), ulong = btf__add_int(btf, "long", 8, 0);
	btf__add_ptr(btf, btf__add_int(btf, "char", 1, 1));
	int list = add_list_head(btf);
	int spinlock = btf__add_struct(btf, "spinlock", 4);
	add_member(btf, "slock", int_, 0);
	btf__add_typedef(btf, "spinlock_t", spinlock);
	btf__add_struct(btf, "mutex", 32);
	add_member(btf, "owner", ulong, 0);
	add_member(btf, "wait_lock", spinlock, 8);
	add_member(btf, "wait_list", list, 16);
	btf__add_int(btf, "unsigned int", 4, 0);
}

static void add_symbols(void)
{
	static const struct test_symbol symbols[] = {
		{ TEXT, 'T', "_stext" },
		{ TEXT + 16, 'T', "_etext" },
		{ DATA, 'd', "a_list" },
		{ DATA + 0x40, 'd', "a_lock" },
		{ DATA + 0x80, 'd', "a_mutex" },
		{ DATA + 0xc0, 'd', "a_number" },
		{ DATA + 0x100, 'd', "a_row" },
		{ DATA + 0x140, 'd', "a_stranger" },
		{ DATA + 0x180, 'd', "a_table" },
		{ DATA + 0x1c0, 'd', "an_old_one" },
		{ DATA + 0x200, 'd', "family_of_one" },
		{ DATA + 0x240, 'd', "a_count" },
		{ DATA + 0x280, 'd', "a_head" },
		{ DATA + 0x2c0, 'd', "a_matrix" },
		{ DATA + 0x300, 'd', "a_queue" },
		{ DATA + 0x340, 'd', "a_series" },
		{ DATA + 0x380, 'd', "a_texts" },
		{ DATA + 0x3c0, 'D', "_end" },
	};
	machine_set_symbols(&machine, symbols, ARRAY_COUNT(symbols));
}

/* A question with `room` bytes, of which nothing can be read. */
static void begin(struct bench *bench, const char *name, uint64_t room)
{
	*bench = (struct bench){ .asked = asked_create(&machine.target) };
	struct asked *asked = bench->asked;
	CHECK_OK(hints_open(table.bytes, table.size, &asked->knowledge->hints));
	asked->knowledge->hint_kernels = HINTS_ALL;
	ask(asked, name, room);
	bench->input = (struct solver_input){ .subject = &asked->subject,
					      .clues = &asked->clues,
					      .place = PLACE_DATA };
	CHECK_OK(solver_init(&bench->solver, asked->layout));
}

static void clue(struct bench *bench, enum clue_kind kind, const char *name, uint32_t size)
{
	struct asked *asked = bench->asked;
	uint32_t type = !name		       ? 0
			: !strcmp(name, "int") ? layout_find(asked->layout, BTF_INT, name)
					       : struct_named(asked, name);
	struct clue clue = { .kind = kind,
			     .source = kind == CLUE_WHOLE ? SOURCE_TABLE : SOURCE_CODE,
			     .size = size,
			     .type = { type ? asked->layout->btf : NULL, type },
			     .how = "the test says so" };
	CHECK(clues_add(&asked->clues, &clue));
}

/* Solves, asks the table, and ends the question. Returns the type as C spells it. */
static const char *end(struct bench *bench)
{
	static char spelled[128];
	struct answer *answer = &bench->answer;
	*spelled = 0;
	CHECK_OK(solve(&bench->solver, &bench->input));
	*answer = answer_of(&bench->solver);
	CHECK_OK(agree_with_hints(&bench->asked->question, &bench->solver, answer));
	bench->listed_count =
		agree_rows(&bench->asked->question, &bench->solver, answer, bench->listed);
	if (answer->confidence != CONFIDENCE_UNKNOWN && answer->spelled.btf)
		type_spell(answer->spelled, NULL, spelled, sizeof(spelled));
	else if (answer->confidence != CONFIDENCE_UNKNOWN)
		type_spell((struct type){ bench->asked->layout->btf, answer->type }, NULL, spelled,
			   sizeof(spelled));
	solver_deinit(&bench->solver);
	asked_destroy(bench->asked);
	return spelled;
}

#define CHECK_END(bench, type, tier)                                                               \
	do {                                                                                       \
		CHECK_STRING(end(bench), type);                                                    \
		CHECK_STRING(confidence_name((enum confidence)(bench)->answer.confidence), tier);  \
	} while (0)

static void test_agreement(void)
{
	struct bench bench;
	begin(&bench, "a_mutex", 32);
	clue(&bench, CLUE_OBJECT, "mutex", 32);
	CHECK_END(&bench, "struct mutex", "certain");
	CHECK(bench.answer.sources & 1u << SOURCE_HINTS &&
	      bench.answer.sources & 1u << SOURCE_CODE);
	/* Of two rows, the one that code names. */
	begin(&bench, "a_lock", 32);
	clue(&bench, CLUE_OBJECT, "mutex", 32);
	CHECK_END(&bench, "struct mutex", "certain");
	/* Both rows are alike to what code names. */
	begin(&bench, "a_count", 4);
	clue(&bench, CLUE_OBJECT, "int", 4);
	CHECK_END(&bench, "int", "inferred");
}

/* What is accessed, or nothing at all, is no second source: other types are as large. */
static void test_alone(void)
{
	struct bench bench;
	begin(&bench, "a_mutex", 32);
	CHECK_END(&bench, "struct mutex", "inferred");
	begin(&bench, "a_number", 4);
	for (int i = 0; i < 4; i++)
		clue(&bench, CLUE_ACCESS, NULL, 4);
	CHECK_END(&bench, "int", "inferred");
	/* More is left than alignment explains: has it grown? */
	begin(&bench, "a_mutex", 32 + 128);
	CHECK_END(&bench, "struct mutex", "guess");
	/* Kernels differ. */
	begin(&bench, "a_lock", 32);
	CHECK(strlen(end(&bench)) > 0);
	CHECK_U64(bench.answer.confidence, CONFIDENCE_GUESS);
}

/* What is indexed by two pointers at once may be structs of two: bytes do not settle it. */
static void test_rows_of_pointers(void)
{
	struct bench bench;
	begin(&bench, "a_texts", 32);
	clue(&bench, CLUE_STRIDE, NULL, 8);
	end(&bench);
	CHECK(bench.answer.is_open || bench.answer.confidence == CONFIDENCE_CERTAIN);
	begin(&bench, "a_texts", 32);
	clue(&bench, CLUE_STRIDE, NULL, 16);
	end(&bench);
	CHECK(!bench.answer.is_open && bench.answer.confidence < CONFIDENCE_CERTAIN);
}

/* A row counts only where its type is there and fits, and by the kernels that are asked. */
static void test_rows_that_do_not_count(void)
{
	struct bench bench;
	begin(&bench, "a_stranger", 32);
	CHECK_END(&bench, "", "unknown");
	begin(&bench, "a_mutex", 24);
	CHECK_END(&bench, "", "unknown");
	begin(&bench, "a_mutex", 40);
	bench.asked->subject.room_is_exact = true;
	CHECK_END(&bench, "", "unknown");
	/* Too large for the room: the other row of the name is left. */
	begin(&bench, "a_lock", 4);
	CHECK_END(&bench, "spinlock_t", "inferred");
	begin(&bench, "an_old_one", 32);
	bench.asked->knowledge->hint_kernels = ~hints_kernel(bench.asked->knowledge->hints, "1.0");
	CHECK_END(&bench, "", "unknown");
	begin(&bench, "family_of_one", 32);
	CHECK_END(&bench, "struct mutex", "inferred");
}

static void test_conflict(void)
{
	struct bench bench;
	/* Code alone would be believed, and so would the table: a guess, and the table is more
	 * often right. */
	begin(&bench, "a_list", 16);
	clue(&bench, CLUE_OBJECT, "spinlock", 4);
	clue(&bench, CLUE_STRIDE, NULL, 4);
	CHECK_END(&bench, "struct list_head", "guess");
	/* A table of the kernel itself is a fact no more where the shipped one differs. */
	begin(&bench, "a_list", 16);
	clue(&bench, CLUE_WHOLE, "list_head", 16);
	CHECK_END(&bench, "struct list_head", "certain");
	begin(&bench, "a_mutex", 32);
	clue(&bench, CLUE_WHOLE, "list_head", 16);
	CHECK_END(&bench, "struct list_head", "inferred");
}

static void test_arrays(void)
{
	struct bench bench;
	begin(&bench, "a_row", 16);
	CHECK_END(&bench, "int", "inferred");
	CHECK(bench.answer.count == 4 && bench.answer.count_is_proved);
	/* Four were there elsewhere; here is room for two. */
	begin(&bench, "a_row", 8);
	CHECK_END(&bench, "int", "inferred");
	CHECK(bench.answer.count == 2 && !bench.answer.count_is_proved);
	begin(&bench, "a_row", 2);
	CHECK_END(&bench, "", "unknown");
	/* All are used, but the end of the last one could not be read. */
	for (uint32_t size = 14; size <= 16; size += 2) {
		begin(&bench, "a_row", 16);
		memset(bench.asked->bytes, 1, size);
		bench.asked->question.size = size;
		CHECK_END(&bench, "int", "inferred");
		CHECK(bench.answer.count == 4 && bench.answer.count_is_proved == (size == 16));
	}
	/* Five are used here. */
	for (uint32_t used = 3; used <= 5; used++) {
		begin(&bench, "a_row", 24);
		clue(&bench, CLUE_OBJECT, "int", 4);
		clue(&bench, CLUE_STRIDE, NULL, 4);
		clue(&bench, CLUE_VALUE, "int", 4);
		bench.asked->clues.items[2].offset = 4 * (used - 1);
		CHECK_END(&bench, "int", used == 5 ? "guess" : "certain");
	}
	/* Rows of four: as many as are whole. */
	begin(&bench, "a_table", 18);
	CHECK_END(&bench, "char [4]", "guess");
	CHECK(bench.answer.count == 16 && bench.answer.row == 4);
}

/* A type that has changed is what the next kernels have, where bytes and clues say no more. */
static void test_nearest(void)
{
	static const struct {
		const char *release, *type, *tier;
	} cases[] = {
		{ "", "int", "guess" },
		{ "none", "int", "guess" },
		{ "0.9", "int", "inferred" },
		{ "1.0.7-x", "int", "inferred" },
		{ "1.5", "int", "guess" },
		{ "2.0", "unsigned int", "inferred" },
		{ "2.0-rc1", "unsigned int", "inferred" },
		{ "7.3.4", "unsigned int", "inferred" },
	};
	struct bench bench;
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		strcpy(machine.target.release, cases[i].release);
		begin(&bench, "a_count", 4);
		CHECK_END(&bench, cases[i].type, cases[i].tier);
	}
	/* Clues bear out a row of a kernel further off: that much is believed, and no more. */
	for (int is_far = 0; is_far < 2; is_far++) {
		strcpy(machine.target.release, is_far ? "2.5" : "1.5");
		begin(&bench, "a_head", 16);
		clue(&bench, CLUE_OBJECT, "list_head", 16);
		CHECK_END(&bench, "struct list_head", is_far ? "inferred" : "certain");
	}
	/* Lengths, too. */
	for (int is_far = 0; is_far < 2; is_far++) {
		strcpy(machine.target.release, is_far ? "2.5" : "1.5");
		begin(&bench, "a_series", 16);
		CHECK_END(&bench, "int", "inferred");
		CHECK_U64(bench.answer.count, is_far ? 3 : 4);
		CHECK(!bench.answer.count_is_proved);
	}
	*machine.target.release = 0;
}

/* Eight rows of three do not fit, eight of two do: these are two types. */
static void test_rows_of_another_length(void)
{
	struct bench bench;
	begin(&bench, "a_matrix", 16);
	CHECK_END(&bench, "char [2]", "inferred");
	CHECK(bench.answer.count == 16 && bench.answer.row == 2);
	begin(&bench, "a_matrix", 24);
	CHECK_END(&bench, "char [3]", "inferred");
	CHECK(bench.answer.count == 24 && bench.answer.row == 3);
}

/* More is in use than the two heads that other kernels have: it has grown if these are heads. */
static void test_what_follows(void)
{
	for (int is_more = 0; is_more < 2; is_more++) {
		struct bench bench;
		uint64_t words[8];
		begin(&bench, "a_queue", sizeof(words));
		uint64_t address = bench.asked->subject.address;
		for (size_t i = 0; i < ARRAY_COUNT(words); i++)
			words[i] = is_more || i < 4 ? address + i / 2 * 16 : 0x646f6f6720746f6e;
		bench.asked->question.bytes = (const uint8_t *)words;
		bench.asked->question.size = sizeof(words);
		end(&bench);
		CHECK_U64(bench.answer.count, is_more ? 4 : 2);
		CHECK(is_more || !bench.answer.count_is_proved);
	}
}

/* Each row of the name, and what became of it. */
static void test_what_became_of_rows(void)
{
	static const struct {
		const char *name;
		uint64_t room;
		const char *release, *type, *kernels, *said, *other;
	} cases[] = {
		{ "a_number", 4, "", "int", "1.0, 2.0", "taken", NULL },
		{ "a_stranger", 32, "", "struct gone", "1.0, 2.0",
		  "no such type here, or no room for it", NULL },
		{ "a_lock", 32, "", "struct mutex", "2.0", "not what was found here", "taken" },
		{ "a_matrix", 24, "", "char [8][3]", "2.0", "taken",
		  "another row ends where the room ends" },
		{ "a_lock", 4, "", "struct mutex", "2.0", "no such type here, or no room for it",
		  "taken" },
		{ "a_series", 16, "2.5", "int [3]", "2.0", "taken", "taken, but for the length" },
		{ "a_count", 4, "2.0", "unsigned int", "2.0", "taken",
		  "kernels nearer to this one have another row" },
	};
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct bench bench;
		strcpy(machine.target.release, cases[i].release);
		begin(&bench, cases[i].name, cases[i].room);
		end(&bench);
		CHECK_U64(bench.listed_count, cases[i].other ? 2 : 1);
		CHECK_STRING(bench.listed[0].type, cases[i].type);
		CHECK_STRING(bench.listed[0].kernels, cases[i].kernels);
		CHECK_STRING(bench.listed[0].said, cases[i].said);
		if (cases[i].other)
			CHECK_STRING(bench.listed[1].said, cases[i].other);
	}
	*machine.target.release = 0;
	struct bench bench;
	begin(&bench, "a_mutex", 32);
	clue(&bench, CLUE_OBJECT, "mutex", 32);
	end(&bench);
	CHECK_STRING(bench.listed[0].said, "borne out");
}

static void test_damaged_table(void)
{
	static const struct symbol symbol = { .name = "a_lock" };
	uint64_t state = 1;
	for (int round = 0; round < 2000; round++) {
		struct hints_table damaged = table;
		struct hint found[HINTS_A_NAME];
		struct hints *hints = NULL;
		/* zlib's own checksum is behind each stream: most of the damage is found there. */
		damaged.bytes[next_random(&state) % table.size] ^= 1u << next_random(&state) % 8;
		size_t cut = next_random(&state) % 8 ? 0 : next_random(&state) % table.size;
		struct error *error = hints_open(damaged.bytes, table.size - cut, &hints);
		if (!error)
			CHECK(hints_find(hints, &symbol, HINTS_ALL, found) <= HINTS_A_NAME);
		else
			CHECK(!hints);
		error_free(error);
		hints_destroy(hints);
	}
}

int main(void)
{
	machine_init(&machine);
	add_types(machine.source);
	machine_set_types(&machine);
	add_symbols();
	table_make(&table, rows, ARRAY_COUNT(rows), FAMILY_ROW);
	RUN(test_agreement);
	RUN(test_alone);
	RUN(test_rows_of_pointers);
	RUN(test_rows_that_do_not_count);
	RUN(test_conflict);
	RUN(test_arrays);
	RUN(test_nearest);
	RUN(test_rows_of_another_length);
	RUN(test_what_follows);
	RUN(test_what_became_of_rows);
	RUN(test_damaged_table);
	machine_deinit(&machine);
	return test_finish();
}
