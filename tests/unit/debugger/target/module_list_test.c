// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The list of modules and their symbols in a made-up machine, whole and with random damage: nothing
 * crashes or hangs, and what is damaged of one module costs no other.
 */
#include "base/array.h"
#include "debugger/kernel/module.h"
#include "debugger/kernel/parameter.h"
#include "debugger/target/module_index.h"
#include "debugger/target/target.h"
#include "tests/unit/kallsyms_image.h"
#include "tests/unit/libbpf.h"
#include "tests/unit/test.h"
#include <elf.h>
#include <inttypes.h>
#include <stddef.h>

#define DATA	  0xffffffff82000000u
#define TABLES	  0xffffffff83000000u
#define CORE	  0xffffffffc0000000u
#define CORE_SIZE 0x1000u
#define MODULES	  6u
#define SYMBOLS	  5u
#define ROUNDS	  10000u /* of each kind */

/* The kernel's structs: the members that are asked for, in a layout of our own. */
struct raw_module {
	uint32_t state, unused;
	uint64_t next, prev;
	char name[56];
	uint64_t core_base, core_size; /* struct module_layout */
	uint64_t kallsyms, kp, version, taints;
	uint64_t source_list[2];
	uint32_t num_kp, refcnt;
};

struct raw_parameter {
	uint64_t name, ops, arg;
	uint32_t perm, unused;
};

/* One module with all that is its own. */
struct raw_room {
	struct raw_module module;
	struct {
		uint64_t symtab, strtab, typetab;
		uint32_t num_symtab, unused;
	} kallsyms;
	Elf64_Sym symtab[SYMBOLS];
	char strtab[64], typetab[8], version[8];
	struct raw_parameter parameters[2];
};

struct raw_data {
	uint64_t modules[2];
	struct raw_room rooms[MODULES];
};

struct machine {
	struct memory_array memory;
	struct vmcore_facts facts;
	struct target target;
	struct raw_data data;
	struct libbpf_btf *source;
	struct btf *btf;
	struct image tables;
};

#define AT(member) (DATA + offsetof(struct raw_data, member))
#define NODE(i)	   (AT(rooms[0].module.next) + (i) * sizeof(struct raw_room))

/* --- types --------------------------------------------------------------------------------- */

static void field(struct libbpf_btf *btf, const char *name, int type, size_t offset)
{
	btf__add_field(btf, name, type, (uint32_t)offset * 8, 0);
}

static void add_table_types(struct libbpf_btf *btf, int uint, int ulong, int text)
{
	btf__add_struct(btf, "kernel_param", sizeof(struct raw_parameter));
	field(btf, "name", text, offsetof(struct raw_parameter, name));
	field(btf, "ops", ulong, offsetof(struct raw_parameter, ops));
	field(btf, "arg", ulong, offsetof(struct raw_parameter, arg));
	field(btf, "perm", uint, offsetof(struct raw_parameter, perm));
}

static int add_kallsyms_type(struct libbpf_btf *btf, int uint, int ulong)
{
	int kallsyms = btf__add_struct(btf, "mod_kallsyms", 32);
	field(btf, "symtab", ulong, 0);
	field(btf, "strtab", ulong, 8);
	field(btf, "typetab", ulong, 16);
	field(btf, "num_symtab", uint, 24);
	return btf__add_ptr(btf, kallsyms);
}

static void add_module_type(struct libbpf_btf *btf, int int_, int uint, int ulong)
{
	int character = btf__add_int(btf, "char", 1, 1), text = btf__add_ptr(btf, character);
	int name = btf__add_array(btf, int_, character, 56);
	int head = btf__add_struct(btf, "list_head", 16);
	field(btf, "next", ulong, 0);
	field(btf, "prev", ulong, 8);
	int counter = btf__add_struct(btf, "atomic", 4);
	field(btf, "counter", int_, 0);
	int layout = btf__add_struct(btf, "module_layout", 16);
	field(btf, "base", ulong, 0);
	field(btf, "size", uint, 8);
	int kallsyms = add_kallsyms_type(btf, uint, ulong);
	add_table_types(btf, uint, ulong, text);
	int module = btf__add_struct(btf, "module", sizeof(struct raw_module));
	field(btf, "state", uint, offsetof(struct raw_module, state));
	field(btf, "list", head, offsetof(struct raw_module, next));
	field(btf, "name", name, offsetof(struct raw_module, name));
	field(btf, "core_layout", layout, offsetof(struct raw_module, core_base));
	field(btf, "kallsyms", kallsyms, offsetof(struct raw_module, kallsyms));
	field(btf, "kp", ulong, offsetof(struct raw_module, kp));
	field(btf, "num_kp", uint, offsetof(struct raw_module, num_kp));
	field(btf, "version", text, offsetof(struct raw_module, version));
	field(btf, "taints", ulong, offsetof(struct raw_module, taints));
	field(btf, "source_list", head, offsetof(struct raw_module, source_list));
	field(btf, "refcnt", counter, offsetof(struct raw_module, refcnt));
	btf__add_struct(btf, "module_use", 24);
	field(btf, "source_list", head, 0);
	field(btf, "source", btf__add_ptr(btf, module), 16);
}

static void add_types(struct machine *machine)
{
	struct libbpf_btf *btf = machine->source = btf__new_empty();
	int int_ = btf__add_int(btf, "int", 4, 1), uint = btf__add_int(btf, "unsigned int", 4, 0);
	int ulong = btf__add_int(btf, "long unsigned int", 8, 0);
	add_module_type(btf, int_, uint, ulong);
	uint32_t size = 0;
	const void *raw = btf__raw_data(btf, &size);
	CHECK_OK(btf_open(raw, size, NULL, "vmlinux", &machine->btf));
}

/* --- contents ------------------------------------------------------------------------------ */

/* "m2_one", ... at 0x100, 0x200, ... of the module's core. */
static void put_symbols(struct raw_room *room, unsigned int number)
{
	static const char *const names[SYMBOLS] = { "", "one", "two", "three", "four" };
	size_t used = 1;
	for (unsigned int i = 1; i < SYMBOLS; i++) {
		room->symtab[i] = (Elf64_Sym){ .st_name = (uint32_t)used,
					       .st_shndx = 5,
					       .st_value = CORE + number * CORE_SIZE + i * 0x100,
					       .st_size = 0x40 };
		used += (size_t)snprintf(room->strtab + used, sizeof(room->strtab) - used, "m%u_%s",
					 number, names[i]) +
			1;
		room->typetab[i] = 't';
	}
}

static void put_module(struct machine *machine, unsigned int number)
{
	struct raw_room *room = &machine->data.rooms[number];
	uint64_t base = AT(rooms[0]) + number * sizeof(struct raw_room);
	room->module = (struct raw_module){
		.core_size = CORE_SIZE,
		.next = number + 1 < MODULES ? NODE(number + 1) : AT(modules),
		.prev = number ? NODE(number - 1) : AT(modules),
		.core_base = CORE + number * CORE_SIZE,
		.kallsyms = base + offsetof(struct raw_room, kallsyms),
		.kp = base + offsetof(struct raw_room, parameters),
		.num_kp = ARRAY_COUNT(room->parameters),
		.version = base + offsetof(struct raw_room, version),
		.refcnt = 1,
	};
	snprintf(room->module.name, sizeof(room->module.name), "m%u", number);
	uint64_t list = base + offsetof(struct raw_room, module.source_list);
	room->module.source_list[0] = room->module.source_list[1] = list;
	room->kallsyms.symtab = base + offsetof(struct raw_room, symtab);
	room->kallsyms.strtab = base + offsetof(struct raw_room, strtab);
	room->kallsyms.typetab = base + offsetof(struct raw_room, typetab);
	room->kallsyms.num_symtab = SYMBOLS;
	put_symbols(room, number);
	strcpy(room->version, "1.0");
	for (size_t i = 0; i < ARRAY_COUNT(room->parameters); i++)
		room->parameters[i].name = base + offsetof(struct raw_room, version);
}

static void put_data(struct machine *machine)
{
	memset(&machine->data, 0, sizeof(machine->data));
	machine->data.modules[0] = NODE(0);
	machine->data.modules[1] = NODE(MODULES - 1);
	for (unsigned int i = 0; i < MODULES; i++)
		put_module(machine, i);
}

/* --- a machine ----------------------------------------------------------------------------- */

static void add_tables(struct machine *machine)
{
	static const struct test_symbol symbols[] = {
		{ DATA - 4096, 'T', "_stext" },
		{ AT(modules), 'd', "modules" },
		{ DATA + 65536, 'D', "_end" },
	};
	struct image_options options = { .order = ORDER_COMPACT,
					 .encoding = KALLSYMS_PLACE_RELATIVE,
					 .word_size = 8,
					 .base = TABLES,
					 .symbols = symbols,
					 .count = ARRAY_COUNT(symbols) };
	image_create(&machine->tables, &options);
}

static struct machine *machine_create(void)
{
	struct machine *machine = calloc(1, sizeof(*machine));
	if (!machine)
		abort();
	add_types(machine);
	add_tables(machine);
	machine->facts = (struct vmcore_facts){ .page_size = 4096 };
	return machine;
}

static void machine_destroy(struct machine *machine)
{
	btf_close(machine->btf);
	btf__free(machine->source);
	image_destroy(&machine->tables);
	free(machine);
}

static void target_begin(struct machine *machine)
{
	memory_array_init(&machine->memory, DATA, &machine->data, sizeof(machine->data));
	machine->memory.memory.word_size = 8;
	machine->target = (struct target){ .memory = &machine->memory.memory,
					   .facts = &machine->facts,
					   .btf = machine->btf };
	CHECK_OK(symtab_create(&machine->target.symbols));
	CHECK_OK(kallsyms_load(machine->target.symbols, &machine->tables.memory.memory,
			       &machine->tables.tables));
}

static void target_end(struct machine *machine)
{
	struct target *target = &machine->target;
	for (size_t i = 0; i < target->module_count; i++)
		error_free(target->modules[i].problem);
	free(target->modules);
	module_index_destroy(target->module_index);
	free(target->generated);
	symtab_destroy(target->symbols);
	while (target->problems) {
		struct target_problem *problem = target->problems;
		target->problems = problem->next;
		error_free(problem->error);
		free(problem);
	}
}

/* --- questions ----------------------------------------------------------------------------- */

/* Module, name and address of one symbol of module `number` are as they were put. */
static bool is_whole(struct machine *machine, unsigned int number)
{
	char name[16], module[8];
	struct symbol symbol;
	uint64_t cursor = 0, offset, address = CORE + number * CORE_SIZE + 0x300;
	snprintf(module, sizeof(module), "m%u", number);
	snprintf(name, sizeof(name), "m%u_three", number);
	return target_module(&machine->target, module) &&
	       target_find_symbol(&machine->target, module, name, &cursor, &symbol) &&
	       symbol.address == address &&
	       target_symbol_at(&machine->target, address + 5, &symbol, &offset) && offset == 5 &&
	       !strcmp(symbol.name, name);
}

static struct error *count_parameter(void *context, const struct parameter *parameter)
{
	(void)parameter;
	++*(unsigned int *)context;
	return NULL;
}

static struct error *count_section(void *context, const struct module_section *section)
{
	(void)section;
	++*(unsigned int *)context;
	return NULL;
}

/* All that is asked of a module; the answers may be errors. */
static void ask_all(struct machine *machine)
{
	const struct module *modules;
	size_t count = target_modules(&machine->target, &modules);
	unsigned int seen = 0;
	const struct parameter_visitor visitor = { count_parameter, &seen };
	for (size_t i = 0; i < count; i++) {
		struct module_facts facts;
		char users[256], text[SYMBOL_NAME_SIZE + 80];
		error_free(module_facts_read(&machine->target, &modules[i], &facts));
		error_free(module_users(&machine->target, &modules[i], users, sizeof(users)));
		error_free(parameter_for_each(&machine->target, &modules[i], &visitor));
		error_free(module_for_each_section(&machine->target, &modules[i], count_section,
						   &seen));
		(void)target_describe(&machine->target, modules[i].base + 0x123, text,
				      sizeof(text));
		(void)target_module_btf(&machine->target, &modules[i]);
	}
}

static void test_whole(void)
{
	struct machine *machine = machine_create();
	const struct module *modules;
	unsigned int seen = 0;
	const struct parameter_visitor visitor = { count_parameter, &seen };
	put_data(machine);
	target_begin(machine);
	CHECK_U64(target_modules(&machine->target, &modules), MODULES);
	for (unsigned int i = 0; i < MODULES; i++)
		CHECK(is_whole(machine, i));
	struct module_facts facts;
	CHECK_OK(module_facts_read(&machine->target, &modules[1], &facts));
	CHECK_STRING(facts.version, "1.0");
	CHECK_U64(facts.references, 0);
	machine->data.rooms[1].module.refcnt = 0x80000000;
	CHECK_OK(module_facts_read(&machine->target, &modules[1], &facts));
	CHECK(facts.references == (int64_t)INT32_MIN - 1);
	CHECK_OK(parameter_for_each(&machine->target, &modules[1], &visitor));
	CHECK_U64(seen, 2);
	ask_all(machine);
	target_end(machine);
	machine_destroy(machine);
}

/* A link that leads nowhere: what lies behind it is found from the other end, in order. */
static void test_broken_link(void)
{
	struct machine *machine = machine_create();
	for (unsigned int broken = 0; broken < MODULES; broken++) {
		put_data(machine);
		machine->data.rooms[broken].module.next = 0xdead000000000100;
		target_begin(machine);
		const struct module *modules;
		CHECK_U64(target_modules(&machine->target, &modules), MODULES);
		for (unsigned int i = 0; i < machine->target.module_count; i++)
			CHECK_U64(modules[i].base, CORE + i * CORE_SIZE);
		CHECK(machine->target.problems);
		target_end(machine);
	}
	machine_destroy(machine);
}

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Some bytes, words that are addresses of this machine, huge numbers. */
static void damage(uint8_t *bytes, size_t size, uint64_t *random)
{
	static const uint64_t words[] = { 0,	1,    UINT32_MAX, UINT64_MAX, 0xdead000000000100,
					  DATA, CORE, CORE + 1,	  0x7fffffff };
	unsigned int count = 1 + (unsigned int)(next_random(random) % 8);
	while (count--) {
		uint64_t value = next_random(random);
		size_t at = (size_t)(next_random(random) % (size / 8)) * 8;
		if (value & 1) {
			bytes[at + (value >> 8) % 8] = (uint8_t)(value >> 16);
			continue;
		}
		uint64_t word = value & 2 ? DATA + (value >> 8) % sizeof(struct raw_data)
					  : words[(value >> 8) % ARRAY_COUNT(words)];
		memcpy(bytes + at, &word, 8);
	}
}

/* Anywhere: whatever is said, it is said. */
static void test_anywhere(void)
{
	struct machine *machine = machine_create();
	uint64_t random = 20;
	size_t most = 0;
	for (unsigned int round = 0; round < ROUNDS; round++) {
		put_data(machine);
		damage((uint8_t *)&machine->data, sizeof(machine->data), &random);
		target_begin(machine);
		ask_all(machine);
		if (machine->target.module_count > most)
			most = machine->target.module_count;
		target_end(machine);
	}
	/* A list whose nodes all link back cannot be longer than the bytes there are. */
	CHECK(most >= MODULES && most <= sizeof(machine->data) / 16);
	machine_destroy(machine);
}

/* In one module, but for the list and its memory: the others are whole. */
static void test_one_module(void)
{
	struct machine *machine = machine_create();
	uint64_t random = 6;
	size_t own = offsetof(struct raw_module, kallsyms);
	unsigned int whole = 0;
	for (unsigned int round = 0; round < ROUNDS; round++) {
		unsigned int victim = round % MODULES;
		put_data(machine);
		uint8_t *room = (uint8_t *)&machine->data.rooms[victim];
		damage(room + own, sizeof(struct raw_room) - own, &random);
		target_begin(machine);
		ask_all(machine);
		for (unsigned int i = 0; i < MODULES; i++) {
			bool is_right = is_whole(machine, i);
			whole += is_right;
			if (i != victim && !is_right)
				CHECK(!"another module lost its symbols");
		}
		target_end(machine);
	}
	CHECK(whole < ROUNDS * MODULES); /* the damage does damage */
	machine_destroy(machine);
}

int main(void)
{
	RUN(test_whole);
	RUN(test_broken_link);
	RUN(test_anywhere);
	RUN(test_one_module);
	return test_finish();
}
