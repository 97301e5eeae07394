// SPDX-License-Identifier: GPL-3.0-or-later
/* Whose an object is, by what modules have, and where what was written over it begins. */
#include "tests/unit/kernel_data.h"
#include "tests/unit/test.h"

#include "base/array.h"
#include "debugger/analysis/byte_run.h"
#include "debugger/analysis/object_owner.h"
#include <string.h>

#define WORDS  32u
#define DATA   0xffffffffc0200000u
#define TABLES 0xffffffff83000000u

struct fixture {
	uint64_t data[2][WORDS]; /* of two modules, and between them nothing */
	uint64_t object[WORDS];
	uint64_t kernel[WORDS];
};

static struct {
	struct fixture data;
	struct kernel_data kernel;
	struct module modules[2];
	struct object_owner owner;
} machine;

#define AT(member) (DATA + offsetof(struct fixture, member))

static void build(void)
{
	static const char *const names[] = { "first", "second" };
	static const struct test_symbol symbols[] = { { AT(kernel), 'd', "shrinker_list" },
						      { AT(kernel[WORDS]), 'D', "_end" } };
	memset(&machine, 0, sizeof(machine));
	machine.kernel.start = DATA;
	machine.kernel.bytes = &machine.data;
	machine.kernel.size = sizeof(machine.data);
	kernel_data_init(&machine.kernel, TABLES, symbols, ARRAY_COUNT(symbols));
	kernel_data_take_types(&machine.kernel);
	for (unsigned int i = 0; i < 2; i++) {
		struct module *module = &machine.modules[i];
		snprintf(module->name, sizeof(module->name), "%s", names[i]);
		module->regions[0].start = AT(data) + i * sizeof(machine.data.data[0]);
		module->regions[0].size = sizeof(machine.data.data[0]);
		module->region_count = 1;
		CHECK_OK(symtab_add(machine.kernel.target.symbols, module->name, "slots", 'b',
				    module->regions[0].start, module->regions[0].size));
	}
	machine.kernel.target.modules = machine.modules;
	machine.kernel.target.module_count = 2;
	machine.kernel.target.modules_loaded = true;
}

static void finish(void)
{
	machine.kernel.target.modules = NULL;
	machine.kernel.target.module_count = 0;
	kernel_data_deinit(&machine.kernel);
}

static const char *owner(void)
{
	static char words[512];
	CHECK_OK(object_owner_find(&machine.kernel.target, AT(object), sizeof(machine.data.object),
				   &machine.owner));
	object_owner_spell(&machine.owner, "it", words, sizeof(words));
	return words;
}

static void test_variable(void)
{
	build();
	CHECK_STRING(owner(), "");
	machine.data.data[1][3] = AT(object[2]);
	CHECK_STRING(owner(), "slots+0x18 [second] points at it");
	CHECK_STRING(machine.owner.module, "second");
	CHECK_U64(machine.owner.place, AT(data[1][3]));
	/* The first byte behind it is another object's. */
	machine.data.data[1][3] = AT(object[WORDS]);
	CHECK_STRING(owner(), "");
	finish();
}

static void test_contents(void)
{
	build();
	machine.data.object[5] = AT(data[0][2]);
	CHECK_STRING(owner(), "it points to slots+0x10 [first]");
	/* Who has it is more than what it has. */
	machine.data.data[1][0] = AT(object[0]);
	CHECK_STRING(owner(), "slots [second] points at it");
	finish();
}

static void test_several(void)
{
	build();
	machine.data.data[0][1] = machine.data.data[1][1] = AT(object[0]);
	CHECK_STRING(owner(), "");
	CHECK(!machine.owner.place);
	machine.data.data[1][1] = 0;
	machine.data.data[0][7] = AT(object[1]);
	CHECK_STRING(owner(), "slots+0x8 [first] points at it");
	finish();
}

static void link_up(uint64_t *first, uint64_t first_at, uint64_t *second, uint64_t second_at)
{
	first[0] = second_at;
	second[1] = first_at;
}

/* What is next to each other on a list of the kernel's is of two owners. */
static void test_list_of_kernel(void)
{
	uint64_t *node = &machine.data.data[1][3], *other = &machine.data.object[2];
	uint64_t *head = &machine.data.kernel[4];
	build();
	link_up(node, AT(data[1][3]), other, AT(object[2]));
	link_up(other, AT(object[2]), node, AT(data[1][3]));
	CHECK_STRING(owner(), "slots+0x18 [second] points at it");
	link_up(other, AT(object[2]), head, AT(kernel[4]));
	link_up(head, AT(kernel[4]), node, AT(data[1][3]));
	CHECK_STRING(owner(), "");
	/* The other way round. */
	link_up(head, AT(kernel[4]), other, AT(object[2]));
	link_up(other, AT(object[2]), node, AT(data[1][3]));
	link_up(node, AT(data[1][3]), head, AT(kernel[4]));
	CHECK_STRING(owner(), "");
	/* One that ends, with its head before the module's node, and then without one. */
	other[0] = 0;
	link_up(node, AT(data[1][3]), other, AT(object[2]));
	head[0] = AT(data[1][3]);
	node[1] = AT(kernel[4]);
	CHECK_STRING(owner(), "");
	node[1] = 0;
	CHECK_STRING(owner(), "slots+0x18 [second] points at it");
	finish();
}

static void test_runs(void)
{
	struct byte_run run;
	build();
	memset((uint8_t *)machine.data.object + 3, 0x42, 40);
	byte_run_find(machine.kernel.target.memory, AT(object[2]), &run);
	CHECK_U64(run.start, AT(object[0]) + 3);
	CHECK_U64(run.size, 40);
	CHECK_U64(run.byte, 0x42);
	/* A word of which a part is something else, zeros, ones, and what is not there. */
	byte_run_find(machine.kernel.target.memory, AT(object[5]), &run);
	CHECK_U64(run.size, 0);
	byte_run_find(machine.kernel.target.memory, AT(object[8]), &run);
	CHECK_U64(run.size, 0);
	machine.data.object[8] = UINT64_MAX;
	byte_run_find(machine.kernel.target.memory, AT(object[8]), &run);
	CHECK_U64(run.size, 0);
	byte_run_find(machine.kernel.target.memory, 0x1000, &run);
	CHECK_U64(run.size, 0);
	/* It ends where memory does. */
	memset(machine.data.object, 0x42, sizeof(machine.data.object));
	byte_run_find(machine.kernel.target.memory, AT(object[WORDS - 1]), &run);
	CHECK_U64(run.start + run.size, AT(object[WORDS]));
	finish();
}

static void test_texts(void)
{
	static const char label[] = "LABEL/LABEL/LABEL/LABEL/LABEL/LABEL/";
	struct byte_run run;
	char words[256];
	build();
	memcpy((uint8_t *)machine.data.object + 5, label, 36);
	byte_run_find(machine.kernel.target.memory, AT(object[2]), &run);
	CHECK_U64(run.start, AT(object[0]) + 5);
	CHECK_U64(run.size, 36);
	CHECK_STRING(run.text, "LABEL/LABEL/LABEL/LABEL/LABEL/LA");
	byte_run_spell(&run, words, sizeof(words));
	CHECK_STRING(words, "\"LABEL/LABEL/LABEL/LABEL/LABEL/LA...\" is the text of 36 bytes from "
			    "0xffffffffc0200205 on");
	/* A word of which a part is none, and eight letters that are alone. */
	byte_run_find(machine.kernel.target.memory, AT(object[5]), &run);
	CHECK_U64(run.size, 0);
	memcpy(&machine.data.object[10], "LABEL/LA", 8);
	byte_run_find(machine.kernel.target.memory, AT(object[10]), &run);
	CHECK_U64(run.size, 0);
	finish();
}

int main(void)
{
	RUN(test_variable);
	RUN(test_contents);
	RUN(test_several);
	RUN(test_list_of_kernel);
	RUN(test_runs);
	RUN(test_texts);
	return test_finish();
}
