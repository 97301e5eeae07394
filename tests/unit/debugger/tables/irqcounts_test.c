// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Interrupts by CPU: whole, a tree whose node is its own lower one, a struct irq_desc in all slots,
 * counts and CPUs that lie nowhere, and with every byte changed.
 */
#include "base/array.h"
#include "tests/unit/changed_bytes.h"
#include "tests/unit/disk_types.h"
#include "tests/unit/kernel_data.h"
#include "tests/unit/table_rows.h"

#define DATA	0xffffffff82000000u
#define TABLES	0xffffffff83000000u
#define NOWHERE 0xffff8880dead0000u
#define NUMBERS 2u
#define CPUS	2u
/* Members of irq_cpustat_t, and variables of their own. */
#define OWN	2u
#define COUNTED 1u

extern const struct table table_irqcounts;

/* The kernel's structs: the members that are asked for, in layouts of our own. */
struct raw_desc {
	uint64_t counts, action;
	uint32_t number, pad;
};

struct raw_data {
	uint64_t tree[2];
	uint64_t node[2 + 64]; /* struct xa_node: shift 0 and no parent, then its slots */
	struct raw_desc descs[NUMBERS];
	uint64_t action[3]; /* handler, name, next */
	char name[8];
	struct raw_cpu {
		uint32_t counts[NUMBERS], own[OWN], counted[COUNTED], pad;
	} cpus[CPUS];
	/* Of 7.3: what `own` counts. */
	struct raw_info {
		uint64_t skip, symbol, text;
	} infos[OWN];
	char words[OWN][32];
};

struct machine {
	struct kernel_data kernel;
	struct raw_data data;
	struct cpu cpus[CPUS];
	struct table_rows rows;
};

#define AT(member) (DATA + offsetof(struct raw_data, member))

static void put_data(struct machine *machine)
{
	struct raw_data *data = &machine->data;
	memset(data, 0, sizeof(*data));
	data->tree[1] = AT(node) | 2;
	for (unsigned int i = 0; i < NUMBERS; i++) {
		data->node[2 + i] = AT(descs[i]);
		data->descs[i] = (struct raw_desc){ .counts = AT(cpus[0].counts[i]), .number = i };
	}
	data->descs[0].action = AT(action);
	data->action[0] = DATA;
	data->action[1] = AT(name);
	strcpy(data->name, "disk");
	for (unsigned int i = 0; i < OWN; i++)
		data->infos[i] = (struct raw_info){ 0, AT(words[i][0]), AT(words[i][4]) };
	memcpy(data->words[0], "NMI\0  Non-maskable\n", sizeof("NMI\0  Non-maskable\n"));
	memcpy(data->words[1], "RES\0 \n", sizeof("RES\0 \n"));
	for (unsigned int i = 0; i < CPUS; i++) {
		data->cpus[i] =
			(struct raw_cpu){ { 10 + i, 20 + i }, { 30 + i, 40 + i }, { 50 + i }, 0 };
		machine->cpus[i] =
			(struct cpu){ .number = i, .per_cpu_offset = i * sizeof(struct raw_cpu) };
	}
}

static void add_types(struct machine *machine, bool is_new)
{
	struct libbpf_btf *btf = machine->kernel.source;
	int uint = btf__add_int(btf, "unsigned int", 4, 0);
	int ulong = btf__add_int(btf, "long unsigned int", 8, 0);
	int letter = btf__add_int(btf, "unsigned char", 1, 0);
	add_xarray(btf, ulong, letter);
	int action = btf__add_struct(btf, "irqaction", 24);
	add_member(btf, "handler", ulong, 0);
	add_member(btf, "name", ulong, 8);
	add_member(btf, "next", ulong, 16);
	int to_action = btf__add_ptr(btf, action);
	int data = btf__add_struct(btf, "irq_data", 4);
	add_member(btf, "irq", uint, 0);
	btf__add_struct(btf, "irq_desc", sizeof(struct raw_desc));
	add_member(btf, "kstat_irqs", ulong, offsetof(struct raw_desc, counts));
	add_member(btf, "action", to_action, offsetof(struct raw_desc, action));
	add_member(btf, "irq_data", data, offsetof(struct raw_desc, number));
	int stat = btf__add_struct(btf, NULL, 8);
	if (is_new) {
		add_member(btf, "counts", stat + 1, 0);
	} else {
		add_member(btf, "__nmi_count", uint, 0);
		add_member(btf, "irq_resched_count", uint, 4);
	}
	btf__add_array(btf, uint, uint, OWN);
	btf__add_typedef(btf, "irq_cpustat_t", stat);
	btf__add_struct(btf, "irq_stat_info", sizeof(struct raw_info));
	add_member(btf, "symbol", ulong, offsetof(struct raw_info, symbol));
	add_member(btf, "text", ulong, offsetof(struct raw_info, text));
	kernel_data_take_types(&machine->kernel);
}

static struct machine *machine_create_as(bool is_new)
{
	static const struct test_symbol symbols[] = {
		{ AT(tree), 'd', "irq_desc_tree" },
		{ AT(cpus[0].own), 'D', "irq_stat" },
		{ AT(cpus[0].counted), 'D', "mce_exception_count" },
		{ AT(infos), 'd', "irq_stat_info" },
		{ DATA + 65536, 'D', "_end" },
	};
	struct machine *machine = calloc(1, sizeof(*machine));
	if (!machine)
		abort();
	machine->kernel.start = DATA;
	machine->kernel.bytes = &machine->data;
	machine->kernel.size = sizeof(machine->data);
	kernel_data_init(&machine->kernel, TABLES, symbols, ARRAY_COUNT(symbols));
	add_types(machine, is_new);
	machine->kernel.target.cpus = machine->cpus;
	machine->kernel.target.cpu_count = CPUS;
	machine->kernel.target.cpus_loaded = true;
	put_data(machine);
	return machine;
}

static struct machine *machine_create(void)
{
	return machine_create_as(false);
}

static void machine_destroy(struct machine *machine)
{
	kernel_data_deinit(&machine->kernel);
	free(machine);
}

static const char *rows_of(struct machine *machine, bool *ret_problem)
{
	return table_rows_read(&machine->rows, &machine->kernel.target, &table_irqcounts,
			       ret_problem);
}

#define DEVICES_0 "0|0|0|10|disk;0|1|1|20|-;"
#define DEVICES_1 "1|0|0|11|disk;1|1|1|21|-;"
#define OWN_0	  "0|NMI|-|30|non-maskable interrupts;0|RES|-|40|rescheduling;"
#define OWN_1	  "1|NMI|-|31|non-maskable interrupts;1|RES|-|41|rescheduling;"
#define COUNTED_0 "0|MCE|-|50|machine checks;"
#define COUNTED_1 "1|MCE|-|51|machine checks;"

static void test_whole(void)
{
	struct machine *machine = machine_create();
	bool has_problem;
	CHECK_STRING(rows_of(machine, &has_problem),
		     DEVICES_0 OWN_0 COUNTED_0 DEVICES_1 OWN_1 COUNTED_1);
	CHECK(!has_problem);
	machine_destroy(machine);
}

static void test_rings(void)
{
	struct machine *machine = machine_create();
	struct raw_data *data = &machine->data;
	bool has_problem;
	/* One in all places is counted in its own. */
	for (unsigned int i = 2; i < 64; i++)
		data->node[2 + i] = AT(descs[0]);
	CHECK_STRING(rows_of(machine, &has_problem),
		     DEVICES_0 OWN_0 COUNTED_0 DEVICES_1 OWN_1 COUNTED_1);
	CHECK(has_problem);
	/* A node below itself: each level says a lower one, and links back. */
	put_data(machine);
	data->node[0] = 6;
	data->node[1] = AT(node);
	for (unsigned int i = 0; i < 64; i++)
		data->node[2 + i] = AT(node) | 2;
	CHECK_STRING(rows_of(machine, &has_problem), OWN_0 COUNTED_0 OWN_1 COUNTED_1);
	CHECK(has_problem);
	machine_destroy(machine);
}

static void test_wild(void)
{
	struct machine *machine = machine_create();
	struct raw_data *data = &machine->data;
	bool has_problem;
	data->descs[0].counts = NOWHERE;
	data->descs[1].action = NOWHERE;
	CHECK_STRING(rows_of(machine, &has_problem),
		     "0|0|0|-|disk;" OWN_0 COUNTED_0 "1|0|0|-|disk;" OWN_1 COUNTED_1);
	CHECK(has_problem);
	data->action[1] = NOWHERE;
	CHECK_STRING(rows_of(machine, &has_problem), OWN_0 COUNTED_0 OWN_1 COUNTED_1);
	CHECK(has_problem);
	/* A CPU whose variables are not in the dump has no numbers. */
	put_data(machine);
	machine->cpus[1].per_cpu_offset = NOWHERE;
	CHECK_STRING(rows_of(machine, &has_problem),
		     DEVICES_0 OWN_0 COUNTED_0 "1|0|0|-|disk;1|1|1|-|-;"
					       "1|NMI|-|-|non-maskable interrupts;"
					       "1|RES|-|-|rescheduling;1|MCE|-|-|machine checks;");
	put_data(machine);
	data->tree[1] = NOWHERE | 2;
	CHECK_STRING(rows_of(machine, &has_problem), OWN_0 COUNTED_0 OWN_1 COUNTED_1);
	CHECK(has_problem);
	machine_destroy(machine);
}

#define NEW(cpu, nmi, res) #cpu "|NMI|-|" #nmi "|Non-maskable;" #cpu "|RES|-|" #res "|;"

/* 7.3 has numbers, and says in a table what each is. */
static void test_numbers(void)
{
	struct machine *machine = machine_create_as(true);
	struct raw_data *data = &machine->data;
	bool has_problem;
	CHECK_STRING(rows_of(machine, &has_problem),
		     DEVICES_0 NEW(0, 30, 40) COUNTED_0 DEVICES_1 NEW(1, 31, 41) COUNTED_1);
	CHECK(!has_problem);
	data->infos[0].symbol = data->infos[1].text = NOWHERE;
	CHECK_STRING(rows_of(machine, &has_problem),
		     DEVICES_0 "0|-|-|30|Non-maskable;0|RES|-|40|-;" COUNTED_0 DEVICES_1
			       "1|-|-|31|Non-maskable;1|RES|-|41|-;" COUNTED_1);
	machine_destroy(machine);
}

static void mutate(bool is_new)
{
	struct machine *machine = machine_create_as(is_new);
	struct changed_bytes change = { .bytes = &machine->data, .size = sizeof(machine->data) };
	bool has_problem;
	while (changed_bytes_next(&change)) {
		rows_of(machine, &has_problem);
		CHECK(machine->rows.count <= CPUS * (NUMBERS + OWN + COUNTED));
	}
	machine_destroy(machine);
}

static void test_mutated(void)
{
	mutate(false);
	mutate(true);
}

int main(void)
{
	RUN(test_whole);
	RUN(test_rings);
	RUN(test_wild);
	RUN(test_numbers);
	RUN(test_mutated);
	return test_finish();
}
