// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Interrupts by number, each with who handles it: whole, a struct irq_desc in two places, handlers
 * in a ring, pointers that lead nowhere, and with every byte changed.
 */
#include "base/array.h"
#include "tests/unit/disk_types.h"
#include "tests/unit/kernel_data.h"
#include "tests/unit/table_rows.h"

#define DATA	0xffffffff82000000u
#define TABLES	0xffffffff83000000u
#define CODE	(DATA + 65536)
#define NOWHERE 0xffff8880dead0000u
#define NUMBERS 4u
#define ACTIONS 3u

extern const struct table table_irqs;

/* The kernel's structs: the members that are asked for, in layouts of our own. */
struct raw_desc {
	uint64_t counts, action, chip, hardware, affinity, effective;
	uint32_t number, depth;
};

struct raw_action {
	uint64_t handler, thread, name, next;
};

struct raw_data {
	uint64_t tree[2];
	uint64_t node[2 + 64]; /* struct xa_node: shift 0 and no parent, then its slots */
	struct raw_desc descs[NUMBERS];
	struct raw_action actions[ACTIONS];
	uint64_t chip[1], masks[2];
	uint32_t count;
	char names[ACTIONS + 1][16];
};

struct machine {
	struct kernel_data kernel;
	struct raw_data data;
	struct cpu cpu;
	struct table_rows rows;
};

#define AT(member) (DATA + offsetof(struct raw_data, member))

/* 0: nobody; 1: two share it; 2: a thread; 3: one that is no function. */
static void put_data(struct machine *machine)
{
	static const char *const names[] = { "ata", "usb", "disk", "IO-APIC" };
	struct raw_data *data = &machine->data;
	memset(data, 0, sizeof(*data));
	data->tree[1] = AT(node) | 2;
	data->chip[0] = AT(names[3]);
	data->masks[0] = 1;
	data->count = 41;
	for (unsigned int i = 0; i < ARRAY_COUNT(names); i++)
		strcpy(data->names[i], names[i]);
	for (unsigned int i = 0; i < NUMBERS; i++) {
		data->node[2 + i] = AT(descs[i]);
		data->descs[i] = (struct raw_desc){ .counts = AT(count),
						    .chip = AT(chip),
						    .hardware = 100 + i,
						    .affinity = AT(masks[0]),
						    .effective = AT(masks[1]),
						    .number = i };
	}
	data->descs[1].action = AT(actions[0]);
	data->descs[2].action = AT(actions[2]);
	data->descs[3].depth = 1;
	data->actions[0] = (struct raw_action){ CODE, 0, AT(names[0]), AT(actions[1]) };
	data->actions[1] = (struct raw_action){ CODE, 0, AT(names[1]), 0 };
	data->actions[2] = (struct raw_action){ CODE + 128, CODE + 64, AT(names[2]), 0 };
}

static void add_types(struct machine *machine)
{
	struct libbpf_btf *btf = machine->kernel.source;
	int uint = btf__add_int(btf, "unsigned int", 4, 0);
	int ulong = btf__add_int(btf, "long unsigned int", 8, 0);
	int letter = btf__add_int(btf, "unsigned char", 1, 0);
	add_xarray(btf, ulong, letter);
	int mask = btf__add_struct(btf, "cpumask", 8);
	add_member(btf, "bits", ulong, 0);
	int to_mask = btf__add_ptr(btf, mask);
	int chip = btf__add_struct(btf, "irq_chip", 8);
	add_member(btf, "name", ulong, 0);
	int to_chip = btf__add_ptr(btf, chip);
	int action = btf__add_struct(btf, "irqaction", sizeof(struct raw_action));
	add_member(btf, "handler", ulong, offsetof(struct raw_action, handler));
	add_member(btf, "thread_fn", ulong, offsetof(struct raw_action, thread));
	add_member(btf, "name", ulong, offsetof(struct raw_action, name));
	/* The pointer to itself comes next. */
	add_member(btf, "next", action + 1, offsetof(struct raw_action, next));
	int to_action = btf__add_ptr(btf, action);
	const size_t size = sizeof(struct raw_desc);
	int data = btf__add_struct(btf, "irq_data", size);
	add_member(btf, "irq", uint, offsetof(struct raw_desc, number));
	add_member(btf, "hwirq", ulong, offsetof(struct raw_desc, hardware));
	add_member(btf, "chip", to_chip, offsetof(struct raw_desc, chip));
	int common = btf__add_struct(btf, "irq_common_data", size);
	add_member(btf, "affinity", to_mask, offsetof(struct raw_desc, affinity));
	add_member(btf, "effective_affinity", to_mask, offsetof(struct raw_desc, effective));
	btf__add_struct(btf, "irq_desc", size);
	add_member(btf, "irq_data", data, 0);
	add_member(btf, "irq_common_data", common, 0);
	add_member(btf, "kstat_irqs", ulong, offsetof(struct raw_desc, counts));
	add_member(btf, "action", to_action, offsetof(struct raw_desc, action));
	add_member(btf, "depth", uint, offsetof(struct raw_desc, depth));
	kernel_data_take_types(&machine->kernel);
}

static struct machine *machine_create(void)
{
	static const struct test_symbol symbols[] = {
		{ AT(tree), 'd', "irq_desc_tree" },
		{ CODE, 't', "ata_interrupt" },
		{ CODE + 64, 't', "disk_thread" },
		{ CODE + 128, 't', "irq_default_primary_handler" },
		{ CODE + 192, 'D', "_end" },
	};
	struct machine *machine = calloc(1, sizeof(*machine));
	if (!machine)
		abort();
	machine->kernel.start = DATA;
	machine->kernel.bytes = &machine->data;
	machine->kernel.size = sizeof(machine->data);
	kernel_data_init(&machine->kernel, TABLES, symbols, ARRAY_COUNT(symbols));
	add_types(machine);
	machine->kernel.target.cpus = &machine->cpu;
	machine->kernel.target.cpu_count = 1;
	machine->kernel.target.cpus_loaded = true;
	put_data(machine);
	return machine;
}

static void machine_destroy(struct machine *machine)
{
	kernel_data_deinit(&machine->kernel);
	free(machine);
}

static const char *rows_of(struct machine *machine, bool *ret_problem)
{
	return table_rows_read(&machine->rows, &machine->kernel.target, &table_irqs, ret_problem);
}

#define NOBODY "0|41|IO-APIC|100|0|0||-|-;"
#define SHARED "1|41|IO-APIC|101|0|0||ata_interrupt|ata, usb;"
#define THREAD "2|41|IO-APIC|102|0|0||disk_thread|disk;"
#define MASKED "3|41|IO-APIC|103|1|0||-|-;"

static void test_whole(void)
{
	struct machine *machine = machine_create();
	bool has_problem;
	CHECK_STRING(rows_of(machine, &has_problem), NOBODY SHARED THREAD MASKED);
	CHECK(!has_problem);
	machine_destroy(machine);
}

static void test_rings(void)
{
	struct machine *machine = machine_create();
	struct raw_data *data = &machine->data;
	bool has_problem;
	/* One in all places is shown in its own. */
	for (unsigned int i = 4; i < 64; i++)
		data->node[2 + i] = AT(descs[0]);
	data->node[2 + 3] = AT(descs[1]);
	CHECK_STRING(rows_of(machine, &has_problem), NOBODY SHARED THREAD);
	CHECK(has_problem);
	/* Who shares a line, for ever, costs that line its names. */
	put_data(machine);
	data->actions[1].next = AT(actions[0]);
	CHECK_STRING(rows_of(machine, &has_problem),
		     NOBODY "1|41|IO-APIC|101|0|0||ata_interrupt|-;" THREAD MASKED);
	machine_destroy(machine);
}

static void test_wild(void)
{
	struct machine *machine = machine_create();
	struct raw_data *data = &machine->data;
	bool has_problem;
	data->node[2] = NOWHERE;
	data->descs[1].counts = data->descs[1].chip = NOWHERE;
	data->descs[1].affinity = NOWHERE;
	data->actions[1].name = NOWHERE;
	data->descs[2].action = NOWHERE;
	data->descs[3].number = UINT32_MAX;
	CHECK_STRING(rows_of(machine, &has_problem), "1|-|-|101|0|-||ata_interrupt|-;"
						     "2|41|IO-APIC|102|0|0||-|-;");
	CHECK(has_problem);
	data->tree[1] = NOWHERE | 2;
	CHECK_STRING(rows_of(machine, &has_problem), "");
	CHECK(has_problem);
	machine_destroy(machine);
}

static void test_mutations(void)
{
	struct machine *machine = machine_create();
	struct raw_data whole = machine->data;
	uint8_t *bytes = (uint8_t *)&machine->data;
	bool has_problem;
	for (size_t i = 0; i < sizeof(machine->data); i++)
		for (unsigned int bit = 0; bit < 8; bit += 3) {
			machine->data = whole;
			bytes[i] ^= (uint8_t)(1u << bit);
			rows_of(machine, &has_problem);
			CHECK(machine->rows.count <= NUMBERS);
		}
	machine_destroy(machine);
}

int main(void)
{
	RUN(test_whole);
	RUN(test_rings);
	RUN(test_wild);
	RUN(test_mutations);
	return test_finish();
}
