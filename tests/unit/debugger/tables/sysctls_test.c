// SPDX-License-Identifier: GPL-3.0-or-later
/* Settings of /proc/sys: whole, folders that lie in themselves many times over, every byte
 * changed. */
#include "base/array.h"
#include "tests/unit/changed_bytes.h"
#include "tests/unit/kernel_data.h"
#include "tests/unit/table_rows.h"

#define DATA	 0xffffffff82000000u
#define TABLES	 0xffffffff83000000u
#define NOWHERE	 0xffff8880dead0000u
#define FUNCTION (DATA + 60000)
#define FILES	 3u
#define FOLDER	 0040555u

extern const struct table table_sysctls;

struct raw_header {
	uint64_t table, node, parent;
};

struct raw_folder {
	struct raw_header header;
	uint64_t root;
};

struct raw_node {
	uint64_t parent, right, left, header;
};

struct raw_entry {
	uint64_t name, data, handler;
	int32_t size;
	uint16_t mode, unused;
};

struct raw_data {
	struct raw_folder root, vm;
	struct raw_node own, nodes[FILES];
	struct raw_header files;
	struct raw_entry folder, entries[FILES];
	char names[FILES + 1][8];
	int32_t values[FILES], unused;
};

struct machine {
	struct kernel_data kernel;
	struct raw_data data;
	struct table_rows rows;
};

#define AT(member) (DATA + offsetof(struct raw_data, member))

/* The root has the folder vm, and that three files, in a tree whose top is the second. */
static void put_data(struct raw_data *data)
{
	*data = (struct raw_data){ .root = { .root = AT(own) },
				   .vm = { { AT(folder), AT(own), AT(root) }, AT(nodes[1]) },
				   .own = { .header = AT(vm) },
				   .files = { AT(entries), AT(nodes), AT(vm) },
				   .folder = { .name = AT(names[FILES]), .mode = FOLDER } };
	strcpy(data->names[FILES], "vm");
	for (unsigned int i = 0; i < FILES; i++) {
		snprintf(data->names[i], sizeof(data->names[i]), "file%u", i);
		data->values[i] = (int32_t)i - 1;
		data->entries[i] = (struct raw_entry){ AT(names[0]) + i * sizeof(data->names[0]),
						       AT(values) + i * sizeof(data->values[0]),
						       FUNCTION,
						       4,
						       0100644,
						       0 };
		data->nodes[i] = (struct raw_node){ .parent = i == 1 ? 0 : AT(nodes[1]),
						    .header = AT(files) };
	}
	data->nodes[1].left = AT(nodes[0]);
	data->nodes[1].right = AT(nodes[2]);
}

static void add_types(struct machine *machine)
{
	struct libbpf_btf *btf = machine->kernel.source;
	int int_ = btf__add_int(btf, "int", 4, BTF_INT_SIGNED);
	int ushort = btf__add_int(btf, "short unsigned int", 2, 0);
	int ulong = btf__add_int(btf, "long unsigned int", 8, 0);
	btf__add_struct(btf, "ctl_table", sizeof(struct raw_entry));
	add_member(btf, "procname", ulong, 0);
	add_member(btf, "data", ulong, 8);
	add_member(btf, "proc_handler", ulong, 16);
	add_member(btf, "maxlen", int_, 24);
	add_member(btf, "mode", ushort, 28);
	int header = btf__add_struct(btf, "ctl_table_header", sizeof(struct raw_header));
	add_member(btf, "ctl_table", ulong, 0);
	add_member(btf, "node", ulong, 8);
	add_member(btf, "parent", ulong, 16);
	int to_header = btf__add_ptr(btf, header);
	int to_node = btf__add_ptr(btf, (int)btf__type_cnt(btf) + 1);
	int rb = btf__add_struct(btf, "rb_node", 24);
	add_member(btf, "__rb_parent_color", ulong, 0);
	add_member(btf, "rb_right", to_node, 8);
	add_member(btf, "rb_left", to_node, 16);
	int rb_root = btf__add_struct(btf, "rb_root", 8);
	add_member(btf, "rb_node", to_node, 0);
	btf__add_struct(btf, "ctl_node", sizeof(struct raw_node));
	add_member(btf, "node", rb, 0);
	add_member(btf, "header", to_header, 24);
	int folder = btf__add_struct(btf, "ctl_dir", sizeof(struct raw_folder));
	add_member(btf, "header", header, 0);
	add_member(btf, "root", rb_root, 24);
	int set = btf__add_struct(btf, "ctl_table_set", sizeof(struct raw_folder));
	add_member(btf, "dir", folder, 0);
	btf__add_struct(btf, "ctl_table_root", sizeof(struct raw_folder));
	add_member(btf, "default_set", set, 0);
	kernel_data_take_types(&machine->kernel);
}

static struct machine *machine_create(void)
{
	static const struct test_symbol symbols[] = {
		{ AT(root), 'D', "sysctl_table_root" },
		{ FUNCTION, 'T', "proc_dointvec" },
		{ DATA + 65536, 'D', "_end" },
	};
	struct machine *machine = calloc(1, sizeof(*machine));
	if (!machine)
		abort();
	put_data(&machine->data);
	machine->kernel.start = DATA;
	machine->kernel.bytes = &machine->data;
	machine->kernel.size = sizeof(machine->data);
	kernel_data_init(&machine->kernel, TABLES, symbols, ARRAY_COUNT(symbols));
	add_types(machine);
	return machine;
}

static void machine_destroy(struct machine *machine)
{
	kernel_data_deinit(&machine->kernel);
	free(machine);
}

static const char *rows_of(struct machine *machine, bool *ret_problem)
{
	return table_rows_read(&machine->rows, &machine->kernel.target, &table_sysctls,
			       ret_problem);
}

static void test_whole(void)
{
	struct machine *machine = machine_create();
	bool has_problem;
	rows_of(machine, &has_problem);
	CHECK(!has_problem);
	CHECK_U64(machine->rows.count, FILES);
	CHECK(strstr(machine->rows.text, "vm/file0|") && strstr(machine->rows.text, "vm/file2|"));
	CHECK(strstr(machine->rows.text, "|-1") && strstr(machine->rows.text, "proc_dointvec"));
	machine_destroy(machine);
}

/* Each node of vm is vm again: three to the power of the depth, if each were entered. */
static void test_rings(void)
{
	struct machine *machine = machine_create();
	struct raw_data *data = &machine->data;
	bool has_problem;
	for (unsigned int i = 0; i < FILES; i++) {
		data->nodes[i].header = AT(vm);
		data->entries[i].mode = FOLDER;
	}
	data->vm.header.table = AT(folder);
	data->vm.header.node = AT(own);
	rows_of(machine, &has_problem);
	CHECK(has_problem && !machine->rows.count);
	/* It says that it is in itself, and that one of its nodes is its own. */
	data->vm.header.parent = AT(vm);
	data->vm.header.node = AT(nodes[0]);
	data->root.root = AT(nodes[1]);
	rows_of(machine, &has_problem);
	CHECK(has_problem && !machine->rows.count);
	put_data(data);
	data->nodes[1].left = data->vm.header.table = NOWHERE;
	rows_of(machine, &has_problem);
	CHECK(has_problem && !machine->rows.count);
	machine_destroy(machine);
}

static void test_mutated(void)
{
	struct machine *machine = machine_create();
	struct changed_bytes change = { .bytes = &machine->data, .size = sizeof(machine->data) };
	bool has_problem;
	while (changed_bytes_next(&change)) {
		rows_of(machine, &has_problem);
		CHECK(machine->rows.count <= FILES);
	}
	machine_destroy(machine);
}

int main(void)
{
	RUN(test_whole);
	RUN(test_rings);
	RUN(test_mutated);
	return test_finish();
}
