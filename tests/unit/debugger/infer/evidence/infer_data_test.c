// SPDX-License-Identifier: GPL-3.0-or-later
/* What a symbol's own bytes and its name say, in a made-up machine. */
#include "base/array.h"
#include "debugger/infer/evidence/own_data_fit.h"
#include "debugger/infer/evidence/pointers.h"
#include "tests/unit/infer_asked.h"
#include "tests/unit/infer_machine.h"
#include <stddef.h>

#define AT(member) (DATA + offsetof(struct contents, member))
#define SHOW	   (TEXT + 0x100) /* int show(struct item *) */
#define STOP	   (TEXT + 0x200) /* void stop(void) */
#define COMMON	   (TEXT + 0x300) /* int common(struct item *), twice */
#define CLONE	   (TEXT + 0x400) /* show.isra.0 */
#define HEAP	   0xffff888000000000u

struct raw_list {
	uint64_t next, prev;
};

struct raw_item {
	struct raw_list list;
	uint64_t operations, item, either, text;
	uint32_t color, count;
};

struct raw_operations {
	uint64_t show, stop;
};

struct raw_table {
	uint64_t all, numbers, bytes, next, pprev;
};

struct contents {
	struct raw_list head, node, empty, removed, lonely;
	struct raw_operations operations;
	struct raw_item item, items[2];
	uint64_t pointer;
	struct raw_table table;
	char text[16];
	uint64_t straddling[3];
	uint64_t end;
};

static struct contents contents;
static struct raw_item heap[16];
static struct machine machine;

/* Returns the type `struct operations *`. */
static int add_types(struct libbpf_btf *btf)
{
	int int_ = btf__add_int(btf, "int", 4, 1), character = btf__add_int(btf, "char", 1, 0);
	int text = btf__add_ptr(btf, character);
	int list = add_list_head(btf);
	int color = btf__add_enum(btf, "color", 4);
	btf__add_enum_value(btf, "RED", 0);
	int to_item = btf__add_ptr(btf, color + 7);
	int show = btf__add_func_proto(btf, int_);
	btf__add_func_param(btf, "item", to_item);
	int stop = btf__add_func_proto(btf, 0);
	int to_show = btf__add_ptr(btf, show), to_stop = btf__add_ptr(btf, stop);
	int operations = btf__add_struct(btf, "operations", sizeof(struct raw_operations));
	add_member(btf, "show", to_show, offsetof(struct raw_operations, show));
	add_member(btf, "stop", to_stop, offsetof(struct raw_operations, stop));
	int item = btf__add_struct(btf, "item", sizeof(struct raw_item));
	CHECK_U64(item, color + 7);
	int to_operations = item + 1, either = item + 2;
	add_member(btf, "list", list, offsetof(struct raw_item, list));
	add_member(btf, "operations", to_operations, offsetof(struct raw_item, operations));
	add_member(btf, "item", to_item, offsetof(struct raw_item, item));
	add_member(btf, "either", either, offsetof(struct raw_item, either));
	add_member(btf, "text", text, offsetof(struct raw_item, text));
	add_member(btf, "color", color, offsetof(struct raw_item, color));
	add_member(btf, "count", int_, offsetof(struct raw_item, count));
	btf__add_ptr(btf, operations);
	CHECK_U64(btf__add_union(btf, "either", 8), either);
	add_member(btf, "item", to_item, 0);
	add_member(btf, "operations", to_operations, 0);
	btf__add_func(btf, "show", BTF_FUNC_STATIC, show);
	btf__add_func(btf, "stop", BTF_FUNC_STATIC, stop);
	btf__add_func(btf, "show.isra.0", BTF_FUNC_STATIC, show);
	btf__add_func(btf, "common", BTF_FUNC_STATIC, show);
	return to_operations;
}

/* Pointers to what is no struct; a char has no sign here (-funsigned-char), as unsigned char. */
static void add_table(struct libbpf_btf *btf, int to_operations)
{
	int character = btf__add_int(btf, "unsigned char", 1, 0);
	int all = btf__add_ptr(btf, to_operations), numbers = btf__add_ptr(btf, 1);
	int bytes = btf__add_ptr(btf, character), next = btf__add_ptr(btf, bytes + 3);
	int pprev = btf__add_ptr(btf, next);
	CHECK_U64(btf__add_struct(btf, "table", sizeof(struct raw_table)), bytes + 3);
	add_member(btf, "all", all, offsetof(struct raw_table, all));
	add_member(btf, "numbers", numbers, offsetof(struct raw_table, numbers));
	add_member(btf, "bytes", bytes, offsetof(struct raw_table, bytes));
	add_member(btf, "next", next, offsetof(struct raw_table, next));
	add_member(btf, "pprev", pprev, offsetof(struct raw_table, pprev));
	btf__add_enum(btf, "boot_modes", 4);
	btf__add_enum_value(btf, "COLD", 0);
	btf__add_enum(btf, "reason", 4);
	for (int i = 0; i < 100; i++) {
		char name[16];
		snprintf(name, sizeof(name), "REASON_%d", i);
		btf__add_enum_value(btf, name, i);
	}
}

/* What names end in; each is a struct of its own. */
static void add_named_types(struct libbpf_btf *btf)
{
	static const char *const names[] = { "file_operations",	 "mutex",	"spinlock",
					     "kmem_cache",	 "work_struct", "wait_queue_head",
					     "device_attribute", "file" };
	for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
		int type = btf__add_struct(btf, names[i], 8);
		add_member(btf, "first", 1, 0);
		btf__add_ptr(btf, type);
	}
}

static void add_symbols(void)
{
	static const struct test_symbol symbols[] = {
		{ TEXT, 'T', "_text" },		 { TEXT, 'T', "_stext" },
		{ SHOW, 't', "show" },		 { STOP, 't', "stop" },
		{ COMMON, 't', "common" },	 { CLONE, 't', "show.isra.0" },
		{ TEXT + 0x500, 't', "common" }, { TEXT + 0x600, 'T', "_etext" },
		{ AT(head), 'd', "head" },	 { AT(node), 'd', "node" },
		{ AT(empty), 'd', "empty" },	 { AT(removed), 'd', "removed" },
		{ AT(lonely), 'd', "lonely" },	 { AT(operations), 'd', "operations" },
		{ AT(item), 'd', "item" },	 { AT(items), 'd', "items" },
		{ AT(pointer), 'd', "pointer" }, { AT(table), 'd', "table" },
		{ AT(text), 'd', "text" },	 { AT(straddling) + 4, 'd', "straddling" },
		{ AT(end), 'D', "_edata" },	 { AT(end) + 8, 'D', "_end" },
	};
	machine_set_symbols(&machine, symbols, ARRAY_COUNT(symbols));
}

static void fill(void)
{
	contents = (struct contents){
		.head = { AT(node), AT(node) },
		.node = { AT(head), AT(head) },
		.removed = { 0xdead000000000100, 0xdead000000000122 },
		.lonely = { AT(head), AT(head) },
		.operations = { SHOW, STOP },
		.item = { .list = { AT(item), AT(item) },
			  .operations = AT(operations),
			  .item = AT(items[1]),
			  .either = AT(item),
			  .text = AT(text),
			  .color = 1,
			  .count = 7 },
		.pointer = AT(operations),
		.text = "some text",
		.straddling = { 0, 0xffffffff, SHOW },
	};
	for (int i = 0; i < 2; i++)
		contents.items[i].list =
			(struct raw_list){ AT(items) + (uint64_t)i * sizeof(struct raw_item),
					   AT(items) + (uint64_t)i * sizeof(struct raw_item) };
	memset(heap, 0, sizeof(heap));
}

static const struct clue *data_clue(struct asked *asked, const char *name, uint64_t offset)
{
	ask_source(asked, own_data_collect, name);
	return find_clue(asked, CLUE_SHAPE, offset);
}

/* --- clues ----------------------------------------------------------------------------------- */

static void test_lists(void)
{
	struct asked *asked = asked_create(&machine.target);
	const struct clue *clue = data_clue(asked, "head", 0);
	CHECK_STRING(clue_type(clue), "struct list_head");
	CHECK(clue && clue->source == SOURCE_DATA && clue->size == 16);
	CHECK(data_clue(asked, "item", 0) != NULL); /* points at itself */
	CHECK(!data_clue(asked, "empty", 0));
	CHECK(!data_clue(asked, "removed", 0));
	CHECK(!data_clue(asked, "lonely", 0)); /* its neighbours do not know it */
	asked_destroy(asked);
}

/* The prototype of a proved function is data's; of a clone and of twins it is only a name's. */
static void test_functions(void)
{
	struct asked *asked = asked_create(&machine.target);
	const struct clue *clue = data_clue(asked, "operations", 0);
	CHECK_STRING(clue_type(clue), "int (struct item *item)");
	CHECK(clue && clue->source == SOURCE_DATA && clue->where == SHOW);
	CHECK_STRING(clue_type(data_clue(asked, "operations", 8)), "void (void)");
	contents.operations.show = COMMON;
	clue = data_clue(asked, "operations", 0);
	CHECK_STRING(clue_type(clue), "int (struct item *item)");
	CHECK(clue && clue->source == SOURCE_NAME);
	contents.operations.show = CLONE;
	CHECK(!data_clue(asked, "operations", 0));
	contents.operations.show = SHOW + 1; /* not its beginning */
	CHECK(!data_clue(asked, "operations", 0));
	/* Words are looked at where they are aligned. */
	CHECK(data_clue(asked, "straddling", 12) != NULL);
	CHECK_U64(asked->clues.count, 1);
	fill();
	asked_destroy(asked);
}

static void test_texts(void)
{
	struct asked *asked = asked_create(&machine.target);
	contents.pointer = AT(text);
	ask_source(asked, own_data_collect, "pointer");
	CHECK(has_clue(asked, "points at text", "char *"));
	contents.pointer = SHOW + 1;
	ask_source(asked, own_data_collect, "pointer");
	CHECK(!has_clue(asked, "points at text", "char *"));
	fill();
	asked_destroy(asked);
}

/* Of the kernel's constants, literals without a symbol follow. */
static void test_short_texts(void)
{
	struct asked *asked = asked_create(&machine.target);
	struct knowledge *knowledge = asked->knowledge;
	memcpy(contents.text, "irq\0\x01\x02\x03", 8);
	for (int round = 0; round < 3; round++) {
		ask(asked, "text", 16);
		asked->question.has_literals =
			knowledge_is_constant(knowledge, asked->subject.address);
		CHECK_OK(own_data_collect(&asked->question, &asked->clues));
		CHECK(has_clue(asked, "is text", "char") == (round == 1));
		knowledge->constants_start = AT(text);
		knowledge->constants_end = AT(end);
		/* Two letters may be a number. */
		if (round == 1)
			contents.text[2] = 0;
	}
	/* What the kernel writes while it boots is like data. */
	knowledge->boot_start = AT(text);
	knowledge->boot_end = AT(straddling);
	CHECK(!knowledge_is_constant(knowledge, AT(text)));
	CHECK(knowledge_is_constant(knowledge, AT(straddling)));
	CHECK(!knowledge_is_constant(knowledge, AT(end)));
	fill();
	asked_destroy(asked);
}

/* At what a typed global begins with, nobody tells them apart: both, and for ranking only. */
static void test_pointees(void)
{
	struct asked *asked = asked_create(&machine.target);
	struct typed typed = { AT(item), asked->layout, struct_named(asked, "item"), 0 };
	contents.pointer = AT(item);
	ask_source(asked, own_data_collect, "pointer");
	CHECK(!has_clue(asked, "points at a global of known type", "struct item *"));
	CHECK_OK(knowledge_set_type(asked->knowledge, &typed));
	ask_source(asked, own_data_collect, "pointer");
	CHECK(has_clue(asked, "points at a global of known type", "struct item *"));
	CHECK(has_clue(asked, "points at a global of known type", "struct list_head *"));
	CHECK_U64(asked->clues.count, 2);
	CHECK(asked->clues.items[0].source == SOURCE_NAME);
	fill();
	asked_destroy(asked);
}

/* --- the judge ------------------------------------------------------------------------------- */

static int judge(struct asked *asked, const char **ret_why)
{
	ask(asked, "item", 0);
	*ret_why = NULL;
	return own_data_judge(&asked->question, struct_named(asked, "item"), 0, ret_why);
}

static void test_judge(void)
{
	static const struct {
		size_t offset;
		uint64_t value;
		const char *why; /* NULL: nothing is said against it */
	} words[] = {
		{ offsetof(struct raw_item, list), AT(head), "a list head is not linked back" },
		{ offsetof(struct raw_item, item), AT(pointer),
		  "a pointer points at an object of another type" },
		{ offsetof(struct raw_item, item), 0x1234, "a pointer holds no address" },
		{ offsetof(struct raw_item, item), 9, NULL },
		{ offsetof(struct raw_item, item), 0, NULL },
		/* At bytes that somebody called char. */
		{ offsetof(struct raw_item, text), AT(head), NULL },
		{ offsetof(struct raw_item, color), AT(head),
		  "an integer covers half of a pointer into the image" },
		/* Any arm of a union may be the one in use. */
		{ offsetof(struct raw_item, either), 0x1234567, NULL },
	};
	struct asked *asked = asked_create(&machine.target);
	struct typed typed = { AT(pointer), asked->layout, struct_named(asked, "operations"), 0 };
	const char *why;
	CHECK_OK(knowledge_set_type(asked->knowledge, &typed));
	int whole = judge(asked, &why);
	CHECK(whole > 0 && !why);
	for (size_t i = 0; i < ARRAY_COUNT(words); i++) {
		memcpy((uint8_t *)&contents.item + words[i].offset, &words[i].value, 8);
		int points = judge(asked, &why);
		CHECK(words[i].why ? points < whole : points >= whole - 3);
		if (words[i].why)
			CHECK_STRING(why, words[i].why);
		else
			CHECK(!why);
		fill();
	}
	asked_destroy(asked);
}

static void test_judge_functions(void)
{
	struct asked *asked = asked_create(&machine.target);
	const char *why = NULL;
	uint32_t type = struct_named(asked, "operations");
	ask(asked, "operations", 0);
	CHECK(own_data_judge(&asked->question, type, 0, &why) > 0 && !why);
	contents.operations = (struct raw_operations){ STOP, SHOW };
	ask(asked, "operations", 0);
	CHECK(own_data_judge(&asked->question, type, 0, &why) < -3);
	CHECK_STRING(why, "a function pointer points at a function of another type");
	/* Of a clone nobody knows. */
	why = NULL;
	contents.operations = (struct raw_operations){ CLONE, CLONE };
	ask(asked, "operations", 0);
	CHECK(own_data_judge(&asked->question, type, 0, &why) >= 0 && !why);
	fill();
	asked_destroy(asked);
}

/* Zeros and what list_del() leaves are lists that were or will be. */
static void test_judge_lists(void)
{
	struct asked *asked = asked_create(&machine.target);
	static const struct {
		const char *name;
		int sign;
	} wanted[] = { { "head", 1 }, { "empty", 0 }, { "removed", 0 }, { "lonely", -1 } };
	for (size_t i = 0; i < ARRAY_COUNT(wanted); i++) {
		const char *why = NULL;
		ask(asked, wanted[i].name, 0);
		int points =
			own_data_judge(&asked->question, struct_named(asked, "list_head"), 0, &why);
		CHECK((points > 0) - (points < 0) == wanted[i].sign);
		CHECK(!why == (points >= 0));
	}
	asked_destroy(asked);
}

/* Constants are packed: what is behind one may be another without a symbol. */
static void test_behind_the_end(void)
{
	struct asked *asked = asked_create(&machine.target);
	const char *why = NULL;
	ask(asked, "items", 0);
	uint32_t type = struct_named(asked, "item");
	CHECK(own_data_judge(&asked->question, type, 0, &why) < 0);
	CHECK_STRING(why, "bytes behind its end are in use");
	CHECK(own_data_judge(&asked->question, type, 2, &why) > 0);
	asked->question.is_constant = true;
	why = NULL;
	CHECK(own_data_judge(&asked->question, type, 0, &why) > 0 && !why);
	asked_destroy(asked);
}

/* --- pointers -------------------------------------------------------------------------------- */

/* The types that pointers from `item` give a symbol. */
static bool is_pointed_at(const char *name, const char *type)
{
	struct asked *asked = asked_create(&machine.target);
	struct pointer_walk *walk;
	size_t found;
	CHECK_OK(pointer_walk_create(asked->knowledge, &walk));
	CHECK_OK(pointer_walk_add(walk, asked->layout, AT(item), struct_named(asked, "item"), 0));
	CHECK_OK(pointer_walk_run(walk, &found));
	/* Each object is followed once. */
	CHECK(found <= 4);
	pointer_walk_destroy(walk);
	ask_source(asked, tables_collect, name);
	bool is_found = has_clue(asked, "a typed pointer points at it", type);
	asked_destroy(asked);
	return is_found;
}

static void test_pointers(void)
{
	CHECK(is_pointed_at("operations", "struct operations"));
	CHECK(is_pointed_at("items", "struct item"));
	/* Not through what is within an object that nobody knows as a whole. */
	contents.items[1].operations = AT(pointer);
	CHECK(!is_pointed_at("pointer", "struct operations"));
	fill();
	/* Nobody knows the arm of a union; a misaligned pointer is none. */
	contents.item.item = 0;
	contents.item.either = AT(items);
	CHECK(!is_pointed_at("items", "struct item"));
	contents.item.item = AT(items) + 1;
	CHECK(!is_pointed_at("items", "struct item"));
	fill();
}

/* Of what a table's pointers say of a symbol. */
static bool table_says(const char *name, const char *how, const char *type)
{
	struct asked *asked = asked_create(&machine.target);
	struct pointer_walk *walk;
	size_t found;
	CHECK_OK(pointer_walk_create(asked->knowledge, &walk));
	CHECK_OK(pointer_walk_add(walk, asked->layout, AT(table), struct_named(asked, "table"), 0));
	CHECK_OK(pointer_walk_run(walk, &found));
	pointer_walk_destroy(walk);
	ask_source(asked, tables_collect, name);
	bool is_found = has_clue(asked, how, type);
	asked_destroy(asked);
	return is_found;
}

static void test_pointers_to_scalars(void)
{
	static const char pointed[] = "a typed pointer points at it";
	static const char table[] = "a pointer to its elements points at it";
	contents.table = (struct raw_table){ .all = AT(pointer), .numbers = AT(head) };
	CHECK(table_says("pointer", pointed, "struct operations *"));
	CHECK(table_says("pointer", table, ""));
	/* Numbers are elements if more than one is in use. */
	CHECK(table_says("head", pointed, "int"));
	CHECK(table_says("head", table, ""));
	contents.table.numbers = AT(empty);
	CHECK(table_says("empty", pointed, "int"));
	CHECK(!table_says("empty", table, ""));
	/* As bytes, anything is looked at. */
	contents.table = (struct raw_table){ .bytes = AT(head) };
	CHECK(!table_says("head", pointed, "unsigned char"));
	/* The way back to what points at this is no table. */
	contents.table = (struct raw_table){ .pprev = AT(pointer) };
	CHECK(table_says("pointer", pointed, "struct table *"));
	CHECK(!table_says("pointer", table, ""));
	/* On the heap, nobody knows how many there are. */
	contents.table = (struct raw_table){ .all = HEAP };
	heap[0].list.next = AT(pointer);
	CHECK(!table_says("pointer", pointed, "struct operations"));
	fill();
}

/* --- how well types explain them ------------------------------------------------------------ */

static int cost(struct asked *asked, const char *name, uint64_t room, uint32_t type, uint32_t count)
{
	ask(asked, name, room);
	asked->question.has_literals =
		knowledge_is_constant(asked->knowledge, asked->subject.address);
	struct fit *fit = fit_create(&asked->question);
	CHECK(fit);
	int bits = fit ? fit_cost(fit, type, count, 1 << 24) : 0;
	fit_destroy(fit);
	return bits;
}

static void test_costs(void)
{
	struct asked *asked = asked_create(&machine.target);
	uint32_t character = layout_find(asked->layout, BTF_INT, "char");
	uint32_t byte = layout_find(asked->layout, BTF_INT, "unsigned char");
	uint32_t reason = layout_find(asked->layout, BTF_ENUM, "reason");
	CHECK(cost(asked, "text", 16, character, 16) < cost(asked, "text", 16, byte, 16));
	memcpy(contents.text, "\x01\xff\x03\x04", 4);
	CHECK(cost(asked, "text", 4, character, 4) > cost(asked, "text", 4, byte, 4));
	/* The 81st of a hundred is as good as the first, the thousandth is none. */
	contents.pointer = 80;
	int good = cost(asked, "pointer", 8, reason, 2);
	contents.pointer = 1000;
	CHECK(cost(asked, "pointer", 8, reason, 2) > good + 8 * FIT_BIT);
	/* Behind constants lie literals. */
	fill();
	int close = cost(asked, "text", 16, character, 0);
	asked->knowledge->constants_start = AT(text);
	asked->knowledge->constants_end = AT(end);
	CHECK(cost(asked, "text", 16, character, 0) < close);
	asked_destroy(asked);
}

/* Along objects of the heap, in a circle, to a global. */
static void test_pointers_on_the_heap(void)
{
	contents.item.item = HEAP;
	for (unsigned int i = 0; i < ARRAY_COUNT(heap); i++)
		heap[i].item = HEAP + (i + 1) % ARRAY_COUNT(heap) * sizeof(heap[0]);
	heap[9].operations = AT(pointer);
	CHECK(is_pointed_at("pointer", "struct operations"));
	heap[5].item = HEAP + sizeof(heap); /* nothing is there */
	CHECK(!is_pointed_at("pointer", "struct operations"));
	fill();
}

/* --- names ----------------------------------------------------------------------------------- */

/* The type that the name alone makes a candidate of; "": none. */
static const char *named(struct asked *asked, const char *name)
{
	asked->symbol.name = name;
	CHECK_OK(names_prepare(&asked->question));
	asked->clues.count = 0;
	CHECK_OK(names_collect(&asked->question, &asked->clues));
	const struct clue *clue = find_clue(asked, CLUE_SHAPE, 0);
	CHECK(!clue || clue->source == SOURCE_NAME);
	return clue_type(clue);
}

/* A name that ends with a struct's is no clue, and only breaks ties. */
static void test_endings(void)
{
	struct asked *asked = asked_create(&machine.target);
	ask(asked, "item", 0);
	CHECK_STRING(named(asked, "the_item"), "");
	CHECK_U64(names_judge(&asked->question, struct_named(asked, "item"), 0), 2);
	CHECK_U64(names_judge(&asked->question, struct_named(asked, "file"), 0), 0);
	CHECK_STRING(named(asked, "the_item.12"), "");
	CHECK_U64(names_judge(&asked->question, struct_named(asked, "item"), 0), 2);
	CHECK_STRING(named(asked, "item_of"), "");
	CHECK_U64(names_judge(&asked->question, struct_named(asked, "item"), 0), 0);
	CHECK_STRING(named(asked, ""), "");
	asked_destroy(asked);
}

/* What is called as a struct is one, or where there is no room for that, points at one. */
static void test_namesakes(void)
{
	struct asked *asked = asked_create(&machine.target);
	ask(asked, "item", 4096);
	CHECK_STRING(named(asked, "kmem_cache.7"), "struct kmem_cache");
	CHECK_U64(names_judge(&asked->question, struct_named(asked, "kmem_cache"), 0), NAMES_MOST);
	uint32_t size = layout_size(asked->layout, struct_named(asked, "device_attribute"));
	asked->subject.room = size;
	CHECK_STRING(named(asked, "device_attribute"), "struct device_attribute");
	asked->subject.room = size - 1;
	CHECK_STRING(named(asked, "device_attribute"), "struct device_attribute *");
	CHECK_STRING(named(asked, "device_attributes"), "");
	CHECK_STRING(named(asked, "my_device_attribute"), "");
	asked_destroy(asked);
}

/* An enum is called as its variable, or for what the variable is one of: one value, no array. */
static void test_enum_namesakes(void)
{
	struct asked *asked = asked_create(&machine.target);
	ask(asked, "item", 4);
	uint32_t reason = layout_find(asked->layout, BTF_ENUM, "reason");
	CHECK_STRING(named(asked, "reason.7"), "enum reason");
	CHECK_U64(names_judge(&asked->question, reason, 0), NAMES_MOST);
	CHECK_U64(names_judge(&asked->question, reason, 4), 0);
	CHECK_STRING(named(asked, "the_reason"), "");
	CHECK_STRING(named(asked, "boot_mode"), "enum boot_modes");
	CHECK_STRING(named(asked, "boot_modes"), "enum boot_modes");
	asked_destroy(asked);
}

/* --- damage ---------------------------------------------------------------------------------- */

static void ask_all(struct machine *damaged)
{
	static const char *const names[] = { "head", "item", "operations", "text", "straddling" };
	struct asked *asked = asked_create(&damaged->target);
	struct pointer_walk *walk;
	const char *why;
	size_t found;
	uint32_t type = struct_named(asked, "item");
	CHECK_OK(pointer_walk_create(asked->knowledge, &walk));
	CHECK_OK(pointer_walk_add(walk, asked->layout, AT(item), type, 0));
	CHECK_OK(pointer_walk_add(walk, asked->layout, HEAP, type, UINT32_MAX));
	CHECK_OK(pointer_walk_add(walk, asked->layout, HEAP, 0, 3)); /* void has no size */
	CHECK_OK(pointer_walk_run(walk, &found));
	pointer_walk_destroy(walk);
	for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
		ask_source(asked, own_data_collect, names[i]);
		for (size_t k = 0; k < asked->clues.count; k++)
			CHECK(asked->clues.items[k].offset < asked->subject.room);
		(void)own_data_judge(&asked->question, type, 0, &why);
		(void)own_data_judge(&asked->question, type, UINT32_MAX, &why);
	}
	asked_destroy(asked);
}

static void test_damage(void)
{
	machine_damage(&machine, 1000, ask_all);
	test_judge();
}

int main(void)
{
	machine_init(&machine);
	memset(machine_code, 'A',
	       sizeof(machine_code)); /* that looks like text, as much of it does */
	machine_add_part(&machine, TEXT, machine_code, sizeof(machine_code));
	machine_add_part(&machine, DATA, &contents, sizeof(contents));
	machine_add_part(&machine, HEAP, heap, sizeof(heap));
	fill();
	int to_operations = add_types(machine.source);
	add_named_types(machine.source);
	add_table(machine.source, to_operations);
	machine_set_types(&machine);
	add_symbols();
	RUN(test_lists);
	RUN(test_functions);
	RUN(test_texts);
	RUN(test_short_texts);
	RUN(test_pointees);
	RUN(test_judge);
	RUN(test_judge_functions);
	RUN(test_judge_lists);
	RUN(test_behind_the_end);
	RUN(test_pointers);
	RUN(test_pointers_to_scalars);
	RUN(test_costs);
	RUN(test_pointers_on_the_heap);
	RUN(test_endings);
	RUN(test_namesakes);
	RUN(test_enum_namesakes);
	RUN(test_damage);
	machine_deinit(&machine);
	return test_finish();
}
