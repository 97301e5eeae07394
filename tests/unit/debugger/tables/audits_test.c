// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Rules of the audit subsystem and its state: whole, in rings, in two lists at once, leading
 * nowhere, and with every byte changed.
 */
#include "base/array.h"
#include "tests/unit/kernel_data.h"
#include "tests/unit/table_rows.h"
#include <sys/stat.h>

#define DATA	0xffffffff82000000u
#define TABLES	0xffffffff83000000u
#define NOWHERE 0xffff8880dead0000u
#define LISTS	8u
#define RULES	3u
#define FIELDS	3u

extern const struct table table_audit, table_auditrules;

/* The kernel's structs: the members that are asked for, in layouts of our own. */
struct raw_field {
	uint32_t type, comparison;
	uint64_t value; /* or where the label of a security module is */
};

struct raw_rule {
	uint64_t next, prev, fields, key, watch, tree, executable, priority;
	uint32_t list, action, field_count, flags;
	uint32_t mask[64];
};

struct raw_data {
	uint64_t lists[LISTS][2];
	uint32_t enabled, lost;
	uint64_t daemon, connection, pid; /* the variable; its pid; that one's number */
	struct raw_rule rules[RULES];
	struct raw_field fields[RULES][FIELDS];
	uint64_t watch;
	char path[16], key[8], tree[16];
};

struct machine {
	struct kernel_data kernel;
	struct raw_data data;
	struct table_rows rows;
};

#define AT(member) (DATA + offsetof(struct raw_data, member))

static void put_rule(struct raw_data *data, unsigned int number, unsigned int list,
		     unsigned int action, unsigned int field_count)
{
	data->rules[number] =
		(struct raw_rule){ .list = list,
				   .action = action,
				   .field_count = field_count,
				   .priority = list == 4 ? INT64_MAX - number : UINT64_MAX,
				   .fields = AT(fields[number]) };
}

/* Two rules of calls in one list, one of messages in another. */
static void put_data(struct machine *machine)
{
	struct raw_data *data = &machine->data;
	memset(data, 0, sizeof(*data));
	for (unsigned int i = 0; i < LISTS; i++)
		data->lists[i][0] = data->lists[i][1] = AT(lists[i]);
	put_rule(data, 0, 4, 2, 3);
	put_rule(data, 1, 4, 0, 1);
	put_rule(data, 2, 5, 0, 1);
	data->lists[4][0] = data->rules[1].prev = AT(rules[0]);
	data->lists[4][1] = data->rules[0].next = AT(rules[1]);
	data->rules[0].prev = data->rules[1].next = AT(lists[4]);
	data->lists[5][0] = data->lists[5][1] = AT(rules[2]);
	data->rules[2].prev = data->rules[2].next = AT(lists[5]);
	data->fields[0][0] = (struct raw_field){ 105, 0, 12 };
	data->fields[0][1] = (struct raw_field){ 106, 0, 10 };
	data->fields[0][2] = (struct raw_field){ 210, 0, 3 };
	data->fields[1][0] = (struct raw_field){ 103, 1, UINT32_MAX };
	data->fields[2][0] = (struct raw_field){ 999, 0, 7 };
	data->rules[0].key = AT(key);
	data->rules[0].watch = AT(watch);
	data->watch = AT(path);
	data->rules[1].mask[0] = 5;
	data->rules[1].mask[63] = 0x80000000;
	memset(data->rules[2].mask, 0xff, sizeof(data->rules[2].mask));
	strcpy(data->path, "/etc/shadow");
	strcpy(data->key, "why");
	strcpy(data->tree, "/etc");
	data->enabled = 1;
	data->lost = 9;
	data->daemon = AT(connection);
	data->connection = AT(pid);
	data->pid = 321;
}

static int add_place(struct libbpf_btf *btf, const char *name, const char *member, int type)
{
	int place = btf__add_struct(btf, name, 16);
	add_member(btf, member, type, 0);
	return btf__add_ptr(btf, place);
}

static void add_rule_types(struct libbpf_btf *btf, int uint, int ulong)
{
	static const char *const operators[] = { "Audit_equal", "Audit_not_equal" };
	int letter = btf__add_int(btf, "char", 1, BTF_INT_CHAR);
	int path = btf__add_array(btf, uint, letter, 0), mask = btf__add_array(btf, uint, uint, 64);
	btf__add_enum(btf, NULL, 4);
	for (size_t i = 0; i < ARRAY_COUNT(operators); i++)
		btf__add_enum_value(btf, operators[i], (int64_t)i);
	int field = btf__add_struct(btf, "audit_field", sizeof(struct raw_field));
	add_member(btf, "type", uint, 0);
	add_member(btf, "op", uint, 4);
	add_member(btf, "val", uint, 8);
	add_member(btf, "lsm_str", ulong, 8);
	int to_field = btf__add_ptr(btf, field);
	int watch = add_place(btf, "audit_watch", "path", ulong);
	int executable = add_place(btf, "audit_fsnotify_mark", "path", ulong);
	int tree = add_place(btf, "audit_tree", "pathname", path), list = add_list_head(btf);
	btf__add_struct(btf, "audit_krule", sizeof(struct raw_rule));
	add_member(btf, "list", list, 0);
	add_member(btf, "fields", to_field, offsetof(struct raw_rule, fields));
	add_member(btf, "filterkey", ulong, offsetof(struct raw_rule, key));
	add_member(btf, "watch", watch, offsetof(struct raw_rule, watch));
	add_member(btf, "tree", tree, offsetof(struct raw_rule, tree));
	add_member(btf, "exe", executable, offsetof(struct raw_rule, executable));
	add_member(btf, "prio", ulong, offsetof(struct raw_rule, priority));
	add_member(btf, "pflags", uint, offsetof(struct raw_rule, flags));
	add_member(btf, "listnr", uint, offsetof(struct raw_rule, list));
	add_member(btf, "action", uint, offsetof(struct raw_rule, action));
	add_member(btf, "field_count", uint, offsetof(struct raw_rule, field_count));
	add_member(btf, "mask", mask, offsetof(struct raw_rule, mask));
}

static void add_types(struct machine *machine)
{
	struct libbpf_btf *btf = machine->kernel.source;
	int uint = btf__add_int(btf, "unsigned int", 4, 0);
	int ulong = btf__add_int(btf, "long unsigned int", 8, 0);
	int atomic = btf__add_struct(btf, "atomic_t", 4);
	add_member(btf, "counter", uint, 0);
	btf__add_typedef(btf, "atomic_t", atomic);
	int number = btf__add_struct(btf, "upid", 8);
	add_member(btf, "nr", uint, 0);
	int numbers = btf__add_array(btf, uint, number, 1);
	int pid = btf__add_struct(btf, "pid", 8);
	add_member(btf, "numbers", numbers, 0);
	add_place(btf, "auditd_connection", "pid", btf__add_ptr(btf, pid));
	add_rule_types(btf, uint, ulong);
	kernel_data_take_types(&machine->kernel);
}

static struct machine *machine_create(void)
{
	static const struct test_symbol symbols[] = {
		{ AT(lists), 'd', "audit_rules_list" }, { AT(enabled), 'D', "audit_enabled" },
		{ AT(lost), 'd', "audit_lost" },	{ AT(daemon), 'd', "auditd_conn" },
		{ AT(connection), 'd', "others" },	{ DATA + 65536, 'D', "_end" },
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

static const char *rows_of(struct machine *machine, const struct table *table, bool *ret_problem)
{
	return table_rows_read(&machine->rows, &machine->kernel.target, table, ret_problem);
}

#define WATCH	 "exit|always|none|path=/etc/shadow perm=wa key=why|why|-1;"
#define CALLS	 "exit|never|0,2,2047|exit!=-1|-|-2;"
#define MESSAGES "exclude|never|all|999=7|-|-;"

static void test_whole(void)
{
	struct machine *machine = machine_create();
	bool has_problem;
	CHECK_STRING(rows_of(machine, &table_auditrules, &has_problem), WATCH CALLS MESSAGES);
	CHECK(!has_problem);
	CHECK_STRING(rows_of(machine, &table_audit, &has_problem), "1|enabled;321|pid;9|lost;");
	CHECK(!has_problem);
	/* As it was told, and as the kernel keeps it; a type of file. */
	machine->data.fields[1][0] = (struct raw_field){ 24, 1, 0 };
	CHECK(strstr(rows_of(machine, &table_auditrules, &has_problem), "|auid_set!=0|"));
	machine->data.rules[1].flags = 1;
	CHECK(strstr(rows_of(machine, &table_auditrules, &has_problem), "|auid!=-1|"));
	machine->data.fields[1][0] = (struct raw_field){ 108, 0, S_IFLNK };
	CHECK(strstr(rows_of(machine, &table_auditrules, &has_problem), "|filetype=link|"));
	/* A path of its own bytes, a label, and nobody who listens. */
	machine->data.fields[0][0].type = 107;
	machine->data.rules[0].tree = AT(tree);
	machine->data.fields[0][1] = (struct raw_field){ 13, 1, AT(path) };
	machine->data.daemon = 0;
	CHECK(strstr(rows_of(machine, &table_auditrules, &has_problem),
		     "dir=/etc subj_user!=/etc/shadow key=why"));
	CHECK(strstr(rows_of(machine, &table_audit, &has_problem), "0|pid;"));
	machine_destroy(machine);
}

static void test_rings(void)
{
	struct machine *machine = machine_create();
	struct raw_data *data = &machine->data;
	bool has_problem;
	data->rules[1].next = AT(rules[0]);
	CHECK_STRING(rows_of(machine, &table_auditrules, &has_problem), WATCH CALLS MESSAGES);
	CHECK(has_problem);
	/* A list that leads nowhere is no empty one; what is behind the seventh need be none. */
	put_data(machine);
	data->lists[7][0] = NOWHERE;
	CHECK_STRING(rows_of(machine, &table_auditrules, &has_problem), WATCH CALLS MESSAGES);
	CHECK(!has_problem);
	data->lists[1][0] = NOWHERE;
	CHECK_STRING(rows_of(machine, &table_auditrules, &has_problem), WATCH CALLS MESSAGES);
	CHECK(has_problem);
	/* One in another's list. */
	put_data(machine);
	data->rules[1].list = 5;
	data->lists[0][0] = AT(rules[0]);
	CHECK_STRING(rows_of(machine, &table_auditrules, &has_problem), WATCH MESSAGES);
	CHECK(has_problem);
	machine_destroy(machine);
}

static void test_wild(void)
{
	struct machine *machine = machine_create();
	struct raw_data *data = &machine->data;
	bool has_problem;
	data->rules[0].key = data->watch = NOWHERE;
	data->rules[1].fields = NOWHERE;
	data->rules[2].field_count = UINT32_MAX;
	data->rules[2].action = 77;
	data->connection = NOWHERE;
	CHECK_STRING(rows_of(machine, &table_auditrules, &has_problem),
		     "exit|always|none|-|-|-1;exit|never|0,2,2047|-|-|-2;exclude|77|all|-|-|-;");
	CHECK_STRING(rows_of(machine, &table_audit, &has_problem), "1|enabled;-|pid;9|lost;");
	data->rules[0].watch = 0;
	data->rules[0].key = AT(key);
	data->fields[0][1].comparison = 99;
	CHECK(strstr(rows_of(machine, &table_auditrules, &has_problem), "exit|always|none|-|why"));
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
			rows_of(machine, &table_auditrules, &has_problem);
			CHECK(machine->rows.count <= RULES);
			rows_of(machine, &table_audit, &has_problem);
			CHECK_U64(machine->rows.count, 3);
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
