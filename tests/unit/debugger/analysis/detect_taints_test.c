// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * How the kernel is tainted and by whom: modules on the stack first, those that are gone, what does
 * not matter to who asked for the end, and a dump without the letters.
 */
#include "base/array.h"
#include "debugger/analysis/analysis.h"
#include "tests/unit/kernel_data.h"
#include "tests/unit/test.h"

#define DATA	0xffffffff82000000u
#define TABLES	0xffffffff83000000u
#define MODULES 6u
#define LETTERS 14u
#define FRAMES	4u

#define PROPRIETARY ((uint64_t)1 << 0)
#define WARNED	    ((uint64_t)1 << 9)
#define OUT_OF_TREE ((uint64_t)1 << 12)
#define UNSIGNED    ((uint64_t)1 << 13)

struct raw_flag {
	char set, clear;
	uint8_t is_of_module;
};

struct raw_data {
	struct raw_flag flags[LETTERS];
	uint64_t mask;
	uint64_t modules[MODULES]; /* what each taints the kernel with */
};

struct machine {
	struct kernel_data kernel;
	struct raw_data data;
	struct module modules[MODULES];
	struct frame frames[FRAMES];
	struct analysis analysis;
};

#define AT(member) (DATA + offsetof(struct raw_data, member))

static void add_types(struct machine *machine)
{
	struct libbpf_btf *btf = machine->kernel.source;
	int ulong = btf__add_int(btf, "long unsigned int", 8, 0);
	int letter = btf__add_int(btf, "char", 1, 1);
	btf__add_struct(btf, "taint_flag", sizeof(struct raw_flag));
	add_member(btf, "c_true", letter, offsetof(struct raw_flag, set));
	add_member(btf, "c_false", letter, offsetof(struct raw_flag, clear));
	btf__add_struct(btf, "module", sizeof(uint64_t));
	add_member(btf, "taints", ulong, 0);
	kernel_data_take_types(&machine->kernel);
}

/* Modules m0 to m5, of which none taints the kernel; a crash of the kind in nobody's code. */
static struct machine *machine_create(const char *kind)
{
	static const struct test_symbol symbols[] = {
		{ AT(flags), 'R', "taint_flags" },
		{ AT(mask), 'd', "tainted_mask" },
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
	for (unsigned int i = 0; i < LETTERS; i++)
		machine->data.flags[i] = (struct raw_flag){ "PFSRMBUDAWCIOE"[i], ' ', 1 };
	for (unsigned int i = 0; i < MODULES; i++) {
		snprintf(machine->modules[i].name, sizeof(machine->modules[i].name), "m%u", i);
		machine->modules[i].address = AT(modules[i]);
	}
	machine->kernel.target.modules = machine->modules;
	machine->kernel.target.module_count = MODULES;
	for (unsigned int i = 0; i < FRAMES; i++)
		machine->frames[i] = (struct frame){ .kind = FRAME_ORC,
						     .has_symbol = true,
						     .symbol = { .name = "function" } };
	machine->analysis = (struct analysis){
		.target = &machine->kernel.target,
		.trace = { .frames = machine->frames, .count = FRAMES },
	};
	CHECK(analysis_add(&machine->analysis, kind, CONFIDENCE_CERTAIN));
	return machine;
}

static void machine_destroy(struct machine *machine)
{
	machine->analysis.trace = (struct stack_trace){ 0 };
	analysis_deinit(&machine->analysis);
	machine->kernel.target.modules = NULL;
	kernel_data_deinit(&machine->kernel);
	free(machine);
}

/* What is said, each on a line of its own. */
static const char *said(struct machine *machine)
{
	static char text[1024];
	const struct finding *finding = &machine->analysis.findings[0];
	size_t before = finding->count, used = 0;
	*text = 0;
	CHECK_OK(detect_taints(&machine->analysis));
	for (size_t i = before; i < finding->count; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s (%s)\n",
					 finding->evidence[i].text, finding->evidence[i].command);
	return text;
}

static void put_on_stack(struct machine *machine, unsigned int frame, unsigned int module)
{
	machine->frames[frame].symbol.module = machine->modules[module].name;
}

static void test_clean(void)
{
	struct machine *machine = machine_create("bug");
	put_on_stack(machine, 0, 1);
	CHECK_STRING(said(machine), "");
	machine_destroy(machine);
}

static void test_modules(void)
{
	struct machine *machine = machine_create("bug");
	machine->data.mask = OUT_OF_TREE | UNSIGNED;
	machine->data.modules[0] = OUT_OF_TREE;
	machine->data.modules[3] = OUT_OF_TREE | UNSIGNED;
	CHECK_STRING(said(machine),
		     "the kernel is tainted (OE), by the modules m0 (O), m3 (OE) (mod)\n");
	put_on_stack(machine, 2, 3);
	CHECK_STRING(said(machine), "the kernel is tainted (OE), by the modules m3 (OE, on the "
				    "stack), m0 (O) (mod)\n");
	/* A word that only looks like a return address. */
	machine->frames[2].is_unproved = true;
	CHECK_STRING(said(machine),
		     "the kernel is tainted (OE), by the modules m0 (O), m3 (OE) (mod)\n");
	machine->data.modules[0] = 0;
	CHECK_STRING(said(machine), "the kernel is tainted (OE), by the module m3 (OE) (mod)\n");
	machine_destroy(machine);
}

/* One of the kernel's own tree is worth a word where it is on the stack. */
static void test_other_taint(void)
{
	struct machine *machine = machine_create("bug");
	machine->data.mask = machine->data.modules[4] = PROPRIETARY;
	CHECK_STRING(said(machine), "the kernel is tainted (P) (print -x tainted_mask)\n");
	put_on_stack(machine, 1, 4);
	CHECK_STRING(said(machine),
		     "the kernel is tainted (P), by the module m4 (P, on the stack) (mod)\n");
	machine_destroy(machine);
}

static void test_many(void)
{
	struct machine *machine = machine_create("bug");
	machine->data.mask = OUT_OF_TREE;
	for (unsigned int i = 0; i < MODULES; i++)
		machine->data.modules[i] = OUT_OF_TREE;
	put_on_stack(machine, 0, 5);
	CHECK_STRING(said(machine), "the kernel is tainted (O), by the modules m5 (O, on the "
				    "stack), m0 (O), m1 (O), m2 (O) and 2 more (mod)\n");
	machine_destroy(machine);
}

static void test_gone(void)
{
	struct machine *machine = machine_create("bug");
	machine->data.mask = OUT_OF_TREE | UNSIGNED;
	machine->data.modules[0] = OUT_OF_TREE;
	CHECK_STRING(said(machine), "the kernel is tainted (OE), by the module m0 (O) (mod)\n"
				    "a module that tainted it (E) is no longer loaded (mod)\n");
	machine->data.modules[0] = 0;
	CHECK_STRING(said(machine), "the kernel is tainted (OE) (print -x tainted_mask)\n"
				    "a module that tainted it (OE) is no longer loaded (mod)\n");
	machine_destroy(machine);
}

static void test_warned(void)
{
	struct machine *machine = machine_create("bug");
	machine->data.mask = WARNED;
	CHECK_STRING(said(machine), "the kernel is tainted (W) (print -x tainted_mask)\n"
				    "the kernel had warned before (W) (log)\n");
	/* That has been told, with more. */
	machine->analysis.has_warning = true;
	CHECK_STRING(said(machine), "the kernel is tainted (W) (print -x tainted_mask)\n");
	machine_destroy(machine);

	machine = machine_create("warning");
	machine->data.mask = WARNED;
	CHECK_STRING(said(machine), "the kernel is tainted (W) (print -x tainted_mask)\n");
	machine_destroy(machine);
}

static void test_sysrq(void)
{
	struct machine *machine = machine_create("sysrq");
	machine->data.mask = OUT_OF_TREE | WARNED;
	machine->data.modules[2] = OUT_OF_TREE;
	CHECK_STRING(said(machine), "");
	put_on_stack(machine, 3, 2);
	CHECK_STRING(said(machine),
		     "the kernel is tainted (WO), by the module m2 (O, on the stack) (mod)\n"
		     "the kernel had warned before (W) (log)\n");
	machine_destroy(machine);
}

static void test_nobody_asked(void)
{
	struct machine *machine = machine_create("bug");
	machine->data.mask = OUT_OF_TREE;
	machine->analysis.is_asked = true;
	CHECK_STRING(said(machine), "");
	machine_destroy(machine);

	/* Without a cause there is nothing to add it to. */
	struct analysis nothing = { .target = NULL };
	CHECK_OK(detect_taints(&nothing));
	CHECK_U64(nothing.count, 0);
}

static void test_holes(void)
{
	struct machine *machine = machine_create("bug");
	machine->data.mask = OUT_OF_TREE;
	machine->data.modules[1] = OUT_OF_TREE;
	/* One that cannot be read hides no other. */
	machine->modules[0].address = 0xffff8880dead0000u;
	CHECK_STRING(said(machine), "the kernel is tainted (O), by the module m1 (O) (mod)\n");
	/* Bits without a letter: what lies behind the table ends before theirs would. */
	machine->data.mask = UINT64_MAX;
	CHECK_STRING(said(machine), "");
	/* Without the mask nothing is known. */
	machine->data.mask = OUT_OF_TREE;
	machine->kernel.size = offsetof(struct raw_data, mask);
	CHECK_STRING(said(machine), "");
	machine_destroy(machine);
}

int main(void)
{
	RUN(test_clean);
	RUN(test_modules);
	RUN(test_other_taint);
	RUN(test_many);
	RUN(test_gone);
	RUN(test_warned);
	RUN(test_sysrq);
	RUN(test_nobody_asked);
	RUN(test_holes);
	return test_finish();
}
