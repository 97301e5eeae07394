// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Messages of dynamic debug and the branches that lead to them, and the lines of source that are
 * made of these and of the table of BUGs: tables in a circle, pointers to nowhere, counts that no
 * kernel has, and nothing at all.
 */
#include "base/array.h"
#include "base/interrupt.h"
#include "debugger/kernel/dynamic_debug.h"
#include "debugger/kernel/source_lines.h"
#include "tests/unit/kernel_data.h"
#include "tests/unit/test.h"

#define DATA	 0xffffffff82000000u
#define TEXT	 0xffffffff81000000u
#define TABLES	 0xffffffff83000000u
#define FUNCTION 0x100u /* bytes of each */
#define MESSAGES 3u
#define BUGS	 2u
#define NOWHERE	 0xdead000000000000u

/* The kernel's structs: the members that are asked for, in layouts of our own. */
struct raw_key {
	uint32_t enabled, pad;
	uint64_t entries;
};

struct raw_message {
	uint64_t function, file;
	uint32_t line, pad;
	struct raw_key key;
};

struct raw_branch {
	int32_t code, target;
	int64_t key;
};

struct raw_table {
	uint64_t next, prev, messages;
	uint32_t count, pad;
};

struct raw_bug {
	int32_t address, file;
	uint16_t line, flags;
};

struct raw_data {
	uint64_t head[2];
	struct raw_table tables[2];
	struct raw_message messages[MESSAGES];
	/* Of the second message there are two, of the last one is the end. */
	struct raw_branch branches[MESSAGES + 2];
	struct raw_bug bugs[BUGS];
	char names[6][32];
};

struct machine {
	struct kernel_data kernel;
	struct raw_data data;
	struct debug_site found[16];
	size_t count;
};

#define AT(member) (DATA + offsetof(struct raw_data, member))

enum { NAME_ONE, NAME_TWO, NAME_INLINED, FILE_ONE, FILE_TWO, FILE_HEADER };

static void put_message(struct machine *machine, unsigned int number, unsigned int function,
			unsigned int file, uint32_t line, unsigned int branch)
{
	machine->data.messages[number] = (struct raw_message){
		.function = AT(names[function]),
		.file = AT(names[file]),
		.line = line,
		.key.entries = AT(branches[branch]) | 1,
	};
}

/* At an address in the code, to a message. */
static void put_branch(struct machine *machine, unsigned int number, uint64_t address,
		       unsigned int message)
{
	uint64_t at = AT(branches[number]);
	machine->data.branches[number] = (struct raw_branch){
		.code = (int32_t)(address - at),
		.key = (int64_t)(AT(messages[message].key) -
				 (at + offsetof(struct raw_branch, key))) |
		       1,
	};
}

static void put_bug(struct machine *machine, unsigned int number, uint64_t address,
		    unsigned int file, uint16_t line)
{
	uint64_t at = AT(bugs[number]);
	machine->data.bugs[number] = (struct raw_bug){
		.address = (int32_t)(address - at),
		.file = (int32_t)(AT(names[file]) - (at + offsetof(struct raw_bug, file))),
		.line = line,
	};
}

/*
 * Functions one, middle, other and two: of the first and the third something is written in file
 * one, of the last in file two; a message of a header was inlined into the third.
 */
static void put_data(struct machine *machine)
{
	static const char *const names[] = { "one",	    "two",	 "inlined",
					     "./lib/one.c", "lib/two.c", "include/lab.h" };
	struct raw_data *data = &machine->data;
	for (unsigned int i = 0; i < ARRAY_COUNT(names); i++)
		snprintf(data->names[i], sizeof(data->names[i]), "%s", names[i]);
	put_message(machine, 0, NAME_ONE, FILE_ONE, 10, 0);
	put_message(machine, 1, NAME_INLINED, FILE_HEADER, 20, 1);
	put_message(machine, 2, NAME_TWO, FILE_TWO, 30, 3);
	put_branch(machine, 0, TEXT + 8, 0);
	put_branch(machine, 1, TEXT + 2 * FUNCTION + 16, 1);
	put_branch(machine, 2, TEXT + 2 * FUNCTION + 32, 1);
	put_branch(machine, 3, TEXT + 3 * FUNCTION + 8, 2);
	put_bug(machine, 0, TEXT + 2 * FUNCTION + 64, FILE_ONE, 40);
	put_bug(machine, 1, TEXT + 3 * FUNCTION + 64, FILE_TWO, 50);
	data->tables[0] = (struct raw_table){ AT(tables[1]), AT(head), AT(messages[0]), 2, 0 };
	data->tables[1] = (struct raw_table){ AT(head), AT(tables[0]), AT(messages[2]), 1, 0 };
	data->head[0] = AT(tables[0]);
	data->head[1] = AT(tables[1]);
}

static void add_types(struct machine *machine)
{
	struct libbpf_btf *btf = machine->kernel.source;
	int int_ = btf__add_int(btf, "int", 4, 1), ushort = btf__add_int(btf, "ushort", 2, 0);
	int uint = btf__add_int(btf, "unsigned int", 4, 0);
	int long_ = btf__add_int(btf, "long int", 8, 1);
	int ulong = btf__add_int(btf, "long unsigned int", 8, 0);
	int list = add_list_head(btf);
	int key = btf__add_struct(btf, "static_key", sizeof(struct raw_key));
	add_member(btf, "enabled", uint, 0);
	add_member(btf, "entries", ulong, offsetof(struct raw_key, entries));
	int true_ = btf__add_struct(btf, "static_key_true", sizeof(struct raw_key));
	add_member(btf, "key", key, 0);
	int either = btf__add_union(btf, NULL, sizeof(struct raw_key));
	add_member(btf, "dd_key_true", true_, 0);
	btf__add_struct(btf, "_ddebug", sizeof(struct raw_message));
	add_member(btf, "function", ulong, 0);
	add_member(btf, "filename", ulong, offsetof(struct raw_message, file));
	add_member(btf, "lineno", uint, offsetof(struct raw_message, line));
	add_member(btf, "key", either, offsetof(struct raw_message, key));
	btf__add_struct(btf, "jump_entry", sizeof(struct raw_branch));
	add_member(btf, "code", int_, 0);
	add_member(btf, "key", long_, offsetof(struct raw_branch, key));
	btf__add_struct(btf, "ddebug_table", sizeof(struct raw_table));
	add_member(btf, "link", list, 0);
	add_member(btf, "ddebugs", ulong, offsetof(struct raw_table, messages));
	add_member(btf, "num_ddebugs", uint, offsetof(struct raw_table, count));
	btf__add_struct(btf, "bug_entry", sizeof(struct raw_bug));
	add_member(btf, "bug_addr_disp", int_, 0);
	add_member(btf, "file_disp", int_, offsetof(struct raw_bug, file));
	add_member(btf, "line", ushort, offsetof(struct raw_bug, line));
	add_member(btf, "flags", ushort, offsetof(struct raw_bug, flags));
	kernel_data_take_types(&machine->kernel);
}

static struct machine *machine_create(void)
{
	static const struct test_symbol symbols[] = {
		{ TEXT - 16, 'T', "_stext" },
		{ TEXT, 'T', "one" },
		{ TEXT + FUNCTION, 't', "middle" },
		{ TEXT + 2 * FUNCTION, 't', "other.constprop.0" },
		{ TEXT + 3 * FUNCTION, 'T', "two" },
		{ TEXT + 4 * FUNCTION, 'T', "_etext" },
		{ AT(head), 'd', "ddebug_tables" },
		{ AT(bugs), 'D', "__start___bug_table" },
		{ AT(bugs[BUGS]), 'D', "__stop___bug_table" },
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
	put_data(machine);
	return machine;
}

static void machine_destroy(struct machine *machine)
{
	kernel_data_deinit(&machine->kernel);
	free(machine);
}

static struct error *take(void *context, const struct debug_site *site)
{
	struct machine *machine = context;
	if (machine->count == ARRAY_COUNT(machine->found))
		return error_create(ERROR_OTHER, "enough");
	machine->found[machine->count++] = *site;
	return NULL;
}

static void test_messages(void)
{
	struct machine *machine = machine_create();
	CHECK_OK(debug_site_each(&machine->kernel.target, take, machine));
	CHECK_U64(machine->count, MESSAGES + 1);
	CHECK_U64(machine->found[0].address, TEXT + 8);
	CHECK_U64(machine->found[0].line, 10);
	CHECK_STRING(machine->found[0].function, "one");
	CHECK_STRING(machine->found[0].file, "./lib/one.c");
	CHECK_U64(machine->found[0].descriptor, AT(messages[0]));
	/* A copy of it is a branch more. */
	CHECK_U64(machine->found[1].address, TEXT + 2 * FUNCTION + 16);
	CHECK_U64(machine->found[2].address, TEXT + 2 * FUNCTION + 32);
	CHECK_U64(machine->found[2].descriptor, AT(messages[1]));
	CHECK_STRING(machine->found[3].function, "two");
	machine->count = ARRAY_COUNT(machine->found);
	CHECK_FAILS(debug_site_each(&machine->kernel.target, take, machine), "enough");
	interrupt_flag = 1;
	CHECK_FAILS(debug_site_each(&machine->kernel.target, take, machine), "interrupted");
	interrupt_clear();
	machine_destroy(machine);
}

/* Each ends, and what can be read comes. */
static void test_broken_messages(void)
{
	struct machine *machine = machine_create();
	struct raw_data *data = &machine->data;
	/* A circle that does not go through the head: the node before does not lead back. */
	data->tables[1].next = AT(tables[0]);
	CHECK_OK(debug_site_each(&machine->kernel.target, take, machine));
	CHECK(machine->count >= 3 && machine->count <= MESSAGES + 1);
	put_data(machine);
	/* More than there can be: they end with what is there. */
	machine->count = 0;
	data->tables[0].count = UINT32_MAX;
	data->tables[0].messages = NOWHERE;
	CHECK_OK(debug_site_each(&machine->kernel.target, take, machine));
	CHECK_U64(machine->count, 0);
	put_data(machine);
	/* Wild pointers cost their message; linked entries are another module's. */
	data->messages[0].function = NOWHERE;
	data->messages[1].key.entries = NOWHERE | 1;
	data->messages[2].key.entries |= 2;
	CHECK_OK(debug_site_each(&machine->kernel.target, take, machine));
	CHECK_U64(machine->count, 0);
	put_data(machine);
	/* A list without tables, and one that leads to nowhere. */
	data->head[0] = data->head[1] = AT(head);
	CHECK_OK(debug_site_each(&machine->kernel.target, take, machine));
	data->head[0] = NOWHERE;
	CHECK_OK(debug_site_each(&machine->kernel.target, take, machine));
	CHECK_U64(machine->count, 0);
	machine_destroy(machine);
}

/* All entries of one key, without an end: no more are looked at than one message can have. */
static void test_endless_branches(void)
{
	struct machine *machine = machine_create();
	for (unsigned int i = 0; i < MESSAGES + 2; i++)
		put_branch(machine, i, TEXT + i, 0);
	CHECK_OK(debug_site_each(&machine->kernel.target, take, machine));
	/* Of the others none is left. */
	CHECK_U64(machine->count, MESSAGES + 2);
	machine_destroy(machine);
}

static void check_file(const struct machine *machine, const struct source_lines *lines,
		       uint64_t address, enum file_proof proof, const char *file)
{
	struct symbol symbol;
	uint64_t offset;
	const char *found;
	CHECK(symtab_by_address(machine->kernel.target.symbols, address, &symbol, &offset));
	CHECK_U64(source_lines_file(lines, &symbol, &found), proof);
	CHECK(!found == !file);
	if (found && file)
		CHECK_STRING(found, file);
}

static void test_lines(void)
{
	struct machine *machine = machine_create();
	struct source_lines *lines;
	const struct line_fact *facts;
	CHECK_OK(source_lines_create(&machine->kernel.target, &lines));
	CHECK_U64(source_lines_count(lines), MESSAGES + 1 + BUGS);
	facts = source_lines_all(lines);
	for (size_t i = 1; i < source_lines_count(lines); i++)
		CHECK(facts[i - 1].address <= facts[i].address);
	CHECK_U64(source_lines_of(lines, TEXT + 2 * FUNCTION, &facts), 3);
	CHECK_STRING(facts[0].within, "inlined");
	CHECK(!facts[0].is_function);
	CHECK_U64(facts[2].line, 40);
	CHECK_U64(facts[2].kind, LINE_BUG);
	/* What is written in the function, what stands in its code, what is between two of a file.
	 */
	check_file(machine, lines, TEXT, FILE_WRITTEN, "lib/one.c");
	check_file(machine, lines, TEXT + FUNCTION, FILE_FILLED, "lib/one.c");
	check_file(machine, lines, TEXT + 2 * FUNCTION, FILE_CODE, "lib/one.c");
	check_file(machine, lines, TEXT + 3 * FUNCTION, FILE_WRITTEN, "lib/two.c");
	CHECK_U64(source_lines_of(lines, TEXT + FUNCTION, &facts), 0);
	CHECK(!facts);
	source_lines_destroy(lines);
	machine_destroy(machine);
}

/* Facts that lie in no function are none, and a kernel without tables has no lines. */
static void test_no_lines(void)
{
	struct machine *machine = machine_create();
	struct source_lines *lines;
	const char *file;
	struct symbol symbol = { .address = TEXT };
	for (unsigned int i = 0; i < MESSAGES + 1; i++)
		put_branch(machine, i, 0xffffffff90000000u + i, i > 1 ? i - 1 : i);
	for (unsigned int i = 0; i < BUGS; i++)
		put_bug(machine, i, DATA + i, FILE_ONE, 1);
	CHECK_OK(source_lines_create(&machine->kernel.target, &lines));
	CHECK_U64(source_lines_count(lines), 0);
	CHECK_U64(source_lines_file(lines, &symbol, &file), FILE_UNKNOWN);
	source_lines_destroy(lines);
	memset(&machine->data, 0, sizeof(machine->data));
	CHECK_OK(source_lines_create(&machine->kernel.target, &lines));
	CHECK_U64(source_lines_count(lines), 0);
	source_lines_destroy(lines);
	machine_destroy(machine);
}

/* Two files in the code of one function: neither is its own. */
static void test_files_disagree(void)
{
	struct machine *machine = machine_create();
	struct source_lines *lines;
	put_bug(machine, 1, TEXT + 2 * FUNCTION + 96, FILE_TWO, 50);
	CHECK_OK(source_lines_create(&machine->kernel.target, &lines));
	check_file(machine, lines, TEXT + 2 * FUNCTION, FILE_UNKNOWN, NULL);
	check_file(machine, lines, TEXT + FUNCTION, FILE_UNKNOWN, NULL);
	source_lines_destroy(lines);
	machine_destroy(machine);
}

int main(void)
{
	RUN(test_messages);
	RUN(test_broken_messages);
	RUN(test_endless_branches);
	RUN(test_lines);
	RUN(test_no_lines);
	RUN(test_files_disagree);
	return test_finish();
}
