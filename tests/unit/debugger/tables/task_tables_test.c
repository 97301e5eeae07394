// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Tables that go from tasks to what they have: pipes, mounts, signals, and the tasks themselves.
 * Whole, with everybody leading to the same, in rings, leading nowhere, with counts that are too
 * large, and with every byte changed.
 */
#include "base/array.h"
#include "debugger/target/attached.h"
#include "tests/unit/changed_bytes.h"
#include "tests/unit/kernel_data.h"
#include "tests/unit/raw_task.h"
#include "tests/unit/table_rows.h"

#define DATA	0xffffffff82000000u
#define TABLES	0xffffffff83000000u
#define NOWHERE 0xffff8880dead0000u
#define TASKS	3u
#define FILES	2u
#define BUFFERS 4u
#define MOUNTS	3u

extern const struct table table_pipes, table_mounts, table_signals, table_tasks;

struct raw_task {
	uint64_t tasks[2], thread_node[2], signal, files, nsproxy, sighand, mm;
	uint64_t pending, blocked, pages[4];
	struct raw_rest rest;
	int32_t pid, tgid;
	char comm[16];
};

struct raw_signal {
	uint64_t thread_head[2], shared;
};

struct raw_table {
	uint64_t count, files, open, close;
};

struct raw_pipe {
	uint32_t head, tail, slots, most, readers, writers;
	uint64_t buffers;
};

struct raw_mount {
	uint64_t node[3]; /* parent, right, left */
	uint64_t parent, place, source, root, superblock;
	uint32_t flags, id;
};

struct raw_dentry {
	uint64_t parent, hashed, name, length;
};

struct raw_data {
	struct raw_task tasks[TASKS]; /* the first is the head of their list */
	struct raw_signal signals[TASKS];
	uint64_t actions[64][2];
	uint64_t files[TASKS]; /* leads to: */
	struct raw_table table;
	uint64_t descriptors[64], open, close;
	uint64_t file[FILES][3];  /* f_op, f_mode, f_inode */
	uint64_t inode[FILES][2]; /* i_pipe, i_ino */
	struct raw_pipe pipe;
	uint64_t buffers[BUFFERS][2]; /* the length first */
	uint64_t proxies[TASKS], namespaces[TASKS][2];
	struct raw_mount mounts[MOUNTS];
	struct raw_dentry dentries[MOUNTS];
	uint64_t superblock[3], kind; /* s_type, s_subtype, s_flags; name */
	uint64_t mm[5];		      /* total_vm, and pages of each kind */
	char names[4][8];
};

struct machine {
	struct kernel_data kernel;
	struct raw_data data;
	struct vmcore_facts facts;
	struct table_rows rows;
};

#define AT(member) (DATA + offsetof(struct raw_data, member))

static void put_tasks(struct raw_data *data)
{
	for (unsigned int i = 0; i < TASKS; i++) {
		struct raw_task *task = &data->tasks[i];
		*task = (struct raw_task){ .tasks = { AT(tasks[(i + 1) % TASKS].tasks),
						      AT(tasks[(i + TASKS - 1) % TASKS].tasks) },
					   .thread_node = { AT(signals[i]), AT(signals[i]) },
					   .signal = AT(signals[i]),
					   .files = AT(files[i]),
					   .nsproxy = AT(proxies[i]),
					   .sighand = AT(actions),
					   .mm = AT(mm),
					   .pid = (int)i,
					   .tgid = (int)i,
					   .blocked = i,
					   .rest = sleeping_rest(AT(tasks[0])) };
		snprintf(task->comm, sizeof(task->comm), "task%u", i);
		data->signals[i] =
			(struct raw_signal){ { AT(tasks[i].thread_node), AT(tasks[i].thread_node) },
					     0x100 };
		data->files[i] = AT(table);
	}
	data->actions[1][0] = 1;
	data->actions[14][0] = DATA;
	data->mm[0] = 3;
}

/* Everybody has both ends of a pipe in which two buffers are full. */
static void put_pipes(struct raw_data *data)
{
	data->table = (struct raw_table){ 64, AT(descriptors), AT(open), AT(close) };
	data->open = 1u << 3 | 1u << 5;
	data->descriptors[3] = AT(file[0]);
	data->descriptors[5] = AT(file[1]);
	for (unsigned int i = 0; i < FILES; i++) {
		data->file[i][0] = DATA + 60000;
		data->file[i][1] = i + 1;
		data->file[i][2] = AT(inode[i]);
		data->inode[i][0] = AT(pipe);
		data->inode[i][1] = 77;
	}
	data->pipe = (struct raw_pipe){ 1, UINT32_MAX, BUFFERS, BUFFERS, 1, 1, AT(buffers) };
	for (unsigned int i = 0; i < BUFFERS; i++)
		data->buffers[i][0] = 10 + i;
}

/* A namespace of its own for each task; the second's has a tree of three. */
static void put_mounts(struct raw_data *data)
{
	for (unsigned int i = 0; i < TASKS; i++) {
		data->proxies[i] = AT(namespaces[i]);
		data->namespaces[i][1] = 4000 + i;
	}
	data->namespaces[1][0] = AT(mounts[0]);
	for (unsigned int i = 0; i < MOUNTS; i++) {
		data->mounts[i] =
			(struct raw_mount){ .node = { i ? AT(mounts[0]) : 0 },
					    .parent = AT(mounts[0]),
					    .place = i ? AT(dentries[i - 1]) : AT(dentries[0]),
					    .source = AT(names[0]),
					    .root = AT(dentries[0]),
					    .superblock = AT(superblock),
					    .id = 20 + i };
		data->dentries[i] = (struct raw_dentry){ i ? AT(dentries[i - 1]) : AT(dentries[0]),
							 1, AT(names[1]), 3 };
	}
	data->mounts[0].node[2] = AT(mounts[1]);
	data->mounts[0].node[1] = AT(mounts[2]);
	data->superblock[0] = AT(kind);
	data->kind = AT(names[2]);
	strcpy(data->names[0], "disk");
	strcpy(data->names[1], "mnt");
	strcpy(data->names[2], "ext4");
}

static void put_data(struct raw_data *data)
{
	memset(data, 0, sizeof(*data));
	put_tasks(data);
	put_pipes(data);
	put_mounts(data);
}

struct kinds {
	int int_, uint, ulong, list, character;
};

/* A struct with one member, and a pointer to it. */
static int add_pointer_to(struct libbpf_btf *btf, const char *name, const char *member, int type,
			  size_t size)
{
	int id = btf__add_struct(btf, name, (uint32_t)size);
	add_member(btf, member, type, 0);
	return btf__add_ptr(btf, id);
}

static int add_files(struct libbpf_btf *btf, const struct kinds *kinds)
{
	static const char *const words[] = { "head",	  "tail",    "ring_size",
					     "max_usage", "readers", "writers" };
	int table = btf__add_struct(btf, "fdtable", sizeof(struct raw_table));
	add_member(btf, "max_fds", kinds->ulong, 0);
	add_member(btf, "fd", kinds->ulong, 8);
	add_member(btf, "open_fds", kinds->ulong, 16);
	add_member(btf, "close_on_exec", kinds->ulong, 24);
	int to_table = btf__add_ptr(btf, table);
	int inode = btf__add_struct(btf, "inode", 16);
	add_member(btf, "i_pipe", kinds->ulong, 0);
	add_member(btf, "i_ino", kinds->ulong, 8);
	int to_inode = btf__add_ptr(btf, inode);
	btf__add_struct(btf, "file", 24);
	add_member(btf, "f_op", kinds->ulong, 0);
	add_member(btf, "f_mode", kinds->uint, 8);
	add_member(btf, "f_inode", to_inode, 16);
	int to_buffer = add_pointer_to(btf, "pipe_buffer", "len", kinds->uint, 16);
	btf__add_struct(btf, "pipe_inode_info", sizeof(struct raw_pipe));
	for (size_t i = 0; i < ARRAY_COUNT(words); i++)
		add_member(btf, words[i], kinds->uint, 4 * i);
	add_member(btf, "bufs", to_buffer, offsetof(struct raw_pipe, buffers));
	return add_pointer_to(btf, "files_struct", "fdt", to_table, 8);
}

static void add_dentry(struct libbpf_btf *btf, const struct kinds *kinds)
{
	int name = btf__add_struct(btf, "qstr", 16);
	add_member(btf, "name", kinds->ulong, 0);
	add_member(btf, "len", kinds->uint, 8);
	int hash = btf__add_struct(btf, "hlist_bl_node", 8);
	add_member(btf, "pprev", kinds->ulong, 0);
	int to_dentry = btf__add_ptr(btf, (int)btf__type_cnt(btf) + 1);
	btf__add_struct(btf, "dentry", sizeof(struct raw_dentry));
	add_member(btf, "d_parent", to_dentry, 0);
	add_member(btf, "d_hash", hash, offsetof(struct raw_dentry, hashed));
	add_member(btf, "d_name", name, offsetof(struct raw_dentry, name));
}

static int add_mounts(struct libbpf_btf *btf, const struct kinds *kinds)
{
	int node = btf__add_struct(btf, "rb_node", 24);
	add_member(btf, "__rb_parent_color", kinds->ulong, 0);
	add_member(btf, "rb_right", kinds->ulong, 8);
	add_member(btf, "rb_left", kinds->ulong, 16);
	int root = btf__add_struct(btf, "rb_root", 8);
	add_member(btf, "rb_node", kinds->ulong, 0);
	int common = btf__add_struct(btf, "ns_common", 8);
	add_member(btf, "inum", kinds->uint, 0);
	btf__add_struct(btf, "mnt_namespace", 16);
	add_member(btf, "mounts", root, 0);
	add_member(btf, "ns", common, 8);
	int to_kind = add_pointer_to(btf, "file_system_type", "name", kinds->ulong, 8);
	int super = btf__add_struct(btf, "super_block", 24);
	add_member(btf, "s_type", to_kind, 0);
	add_member(btf, "s_subtype", kinds->ulong, 8);
	add_member(btf, "s_flags", kinds->ulong, 16);
	int to_super = btf__add_ptr(btf, super);
	add_dentry(btf, kinds);
	int to_dentry = btf__add_ptr(btf, (int)btf__type_cnt(btf) - 1);
	int inner = btf__add_struct(btf, "vfsmount", 24);
	add_member(btf, "mnt_root", kinds->ulong, 0);
	add_member(btf, "mnt_sb", to_super, 8);
	add_member(btf, "mnt_flags", kinds->uint, 16);
	int to_mount = btf__add_ptr(btf, (int)btf__type_cnt(btf) + 1);
	btf__add_struct(btf, "mount", sizeof(struct raw_mount));
	add_member(btf, "mnt_node", node, 0);
	add_member(btf, "mnt_parent", to_mount, offsetof(struct raw_mount, parent));
	add_member(btf, "mnt_mountpoint", to_dentry, offsetof(struct raw_mount, place));
	add_member(btf, "mnt_devname", kinds->ulong, offsetof(struct raw_mount, source));
	add_member(btf, "mnt", inner, offsetof(struct raw_mount, root));
	add_member(btf, "mnt_id", kinds->uint, offsetof(struct raw_mount, id));
	return add_pointer_to(btf, "nsproxy", "mnt_ns", kinds->ulong, 8);
}

/* Pages as 6.1 has them: each thread counts some that it has yet to add. */
static int add_memory(struct libbpf_btf *btf, const struct kinds *kinds, int *ret_mm)
{
	int numbers = btf__add_array(btf, kinds->int_, kinds->ulong, 4);
	int stat = btf__add_struct(btf, "mm_rss_stat", 32);
	add_member(btf, "count", numbers, 0);
	btf__add_enum(btf, "rss", 4);
	btf__add_enum_value(btf, "MM_FILEPAGES", 0);
	btf__add_enum_value(btf, "MM_ANONPAGES", 1);
	int counter = btf__add_struct(btf, "atomic_long_t", 8);
	add_member(btf, "counter", kinds->ulong, 0);
	int counters = btf__add_array(btf, kinds->int_, counter, 4);
	int of_mm = btf__add_struct(btf, "mm_rss_stat_of_mm", 32);
	add_member(btf, "count", counters, 0);
	int mm = btf__add_struct(btf, "mm_struct", 40);
	add_member(btf, "total_vm", kinds->ulong, 0);
	add_member(btf, "rss_stat", of_mm, 8);
	*ret_mm = btf__add_ptr(btf, mm);
	return stat;
}

static void add_types(struct machine *machine)
{
	struct libbpf_btf *btf = machine->kernel.source;
	struct kinds kinds = {
		.int_ = btf__add_int(btf, "int", 4, BTF_INT_SIGNED),
		.uint = btf__add_int(btf, "unsigned int", 4, 0),
		.ulong = btf__add_int(btf, "long unsigned int", 8, 0),
		.character = btf__add_int(btf, "char", 1, BTF_INT_CHAR),
		.list = add_list_head(btf),
	};
	int comm = btf__add_array(btf, kinds.int_, kinds.character, 16);
	int words = btf__add_array(btf, kinds.int_, kinds.ulong, 1);
	int set = btf__add_struct(btf, "sigset_t", 8), to_mm = 0;
	add_member(btf, "sig", words, 0);
	int pending = btf__add_struct(btf, "sigpending", 8);
	add_member(btf, "signal", set, 0);
	int signal = btf__add_struct(btf, "signal_struct", sizeof(struct raw_signal));
	add_member(btf, "thread_head", kinds.list, 0);
	add_member(btf, "shared_pending", pending, offsetof(struct raw_signal, shared));
	int to_signal = btf__add_ptr(btf, signal);
	int action = btf__add_struct(btf, "sigaction", 16);
	add_member(btf, "sa_handler", kinds.ulong, 0);
	int outer = btf__add_struct(btf, "k_sigaction", 16);
	add_member(btf, "sa", action, 0);
	int actions = btf__add_array(btf, kinds.int_, outer, 64);
	int to_sighand = add_pointer_to(btf, "sighand_struct", "action", actions, 1024);
	int to_files = add_files(btf, &kinds), to_proxy = add_mounts(btf, &kinds);
	int stat = add_memory(btf, &kinds, &to_mm);
	int to_task = btf__add_ptr(btf, (int)btf__type_cnt(btf) + 1);
	btf__add_struct(btf, "task_struct", sizeof(struct raw_task));
	add_rest(btf, to_task, kinds.ulong, kinds.uint, offsetof(struct raw_task, rest));
	add_member(btf, "tasks", kinds.list, 0);
	add_member(btf, "thread_node", kinds.list, offsetof(struct raw_task, thread_node));
	add_member(btf, "signal", to_signal, offsetof(struct raw_task, signal));
	add_member(btf, "files", to_files, offsetof(struct raw_task, files));
	add_member(btf, "nsproxy", to_proxy, offsetof(struct raw_task, nsproxy));
	add_member(btf, "sighand", to_sighand, offsetof(struct raw_task, sighand));
	add_member(btf, "mm", to_mm, offsetof(struct raw_task, mm));
	add_member(btf, "pending", pending, offsetof(struct raw_task, pending));
	add_member(btf, "blocked", set, offsetof(struct raw_task, blocked));
	add_member(btf, "rss_stat", stat, offsetof(struct raw_task, pages));
	add_member(btf, "pid", kinds.int_, offsetof(struct raw_task, pid));
	add_member(btf, "tgid", kinds.int_, offsetof(struct raw_task, tgid));
	add_member(btf, "comm", comm, offsetof(struct raw_task, comm));
	kernel_data_take_types(&machine->kernel);
}

static struct machine *machine_create(void)
{
	static const struct test_symbol symbols[] = {
		{ AT(tasks), 'D', "init_task" },
		{ DATA + 60000, 'D', "pipefifo_fops" },
		{ DATA + 65536, 'D', "_end" },
	};
	struct machine *machine = calloc(1, sizeof(*machine));
	if (!machine)
		abort();
	put_data(&machine->data);
	machine->kernel.start = DATA;
	machine->kernel.bytes = &machine->data;
	machine->kernel.size = sizeof(machine->data);
	machine->facts = (struct vmcore_facts){ .page_size = 4096 };
	kernel_data_init(&machine->kernel, TABLES, symbols, ARRAY_COUNT(symbols));
	machine->kernel.target.facts = &machine->facts;
	machine->kernel.target.cpus_loaded = true;
	add_types(machine);
	return machine;
}

static void machine_destroy(struct machine *machine)
{
	target_detach_all(&machine->kernel.target);
	kernel_data_deinit(&machine->kernel);
	free(machine);
}

/* The tasks are looked for anew. */
static const char *rows_of(struct machine *machine, const struct table *table, bool *ret_problem)
{
	target_detach_all(&machine->kernel.target);
	return table_rows_read(&machine->rows, &machine->kernel.target, table, ret_problem);
}

#define MOUNT_ROWS                                                                                 \
	"21|20|4001|ext4|disk|rw|/;20|20|4001|ext4|disk|rw|/;22|20|4001|ext4|disk|rw|/mnt;"

static void test_whole(void)
{
	struct machine *machine = machine_create();
	bool has_problem;
	CHECK_STRING(rows_of(machine, &table_pipes, &has_problem), "77|2|4|23|1|1|1,2|1,2;");
	CHECK(!has_problem);
	CHECK_STRING(rows_of(machine, &table_mounts, &has_problem), MOUNT_ROWS);
	CHECK(!has_problem);
	CHECK_STRING(rows_of(machine, &table_signals, &has_problem),
		     "1|task1||KILL|HUP|INT|TERM;2|task2||KILL|INT|INT|TERM;");
	CHECK(!has_problem);
	rows_of(machine, &table_tasks, &has_problem);
	CHECK_U64(machine->rows.count, TASKS - 1);
	CHECK(!has_problem);
	machine_destroy(machine);
}

/* Namespaces whose trees are one, nodes that lie below themselves. */
static void test_mounts(void)
{
	struct machine *machine = machine_create();
	struct raw_data *data = &machine->data;
	bool has_problem;
	data->namespaces[2][0] = AT(mounts[0]);
	CHECK_STRING(rows_of(machine, &table_mounts, &has_problem), MOUNT_ROWS);
	CHECK(has_problem);
	put_data(data);
	data->mounts[1].node[2] = data->mounts[2].node[1] = AT(mounts[0]);
	CHECK_STRING(rows_of(machine, &table_mounts, &has_problem), MOUNT_ROWS);
	CHECK(has_problem);
	/* On both sides of the root, and each the other's parent. */
	put_data(data);
	data->mounts[0].node[1] = AT(mounts[1]);
	data->mounts[0].parent = AT(mounts[1]);
	data->mounts[1].place = AT(dentries[0]);
	rows_of(machine, &table_mounts, &has_problem);
	CHECK(has_problem && machine->rows.count == 2);
	CHECK(!strstr(machine->rows.text, "|/;"));
	put_data(data);
	data->dentries[1].parent = AT(dentries[1]);
	data->mounts[0].node[2] = data->superblock[0] = NOWHERE;
	CHECK_STRING(rows_of(machine, &table_mounts, &has_problem),
		     "20|20|4001|-|disk|rw|/;22|20|4001|-|disk|rw|/;");
	CHECK(has_problem);
	data->namespaces[1][0] = data->proxies[2] = NOWHERE;
	CHECK_STRING(rows_of(machine, &table_mounts, &has_problem), "");
	CHECK(has_problem);
	machine_destroy(machine);
}

/* Counts that are too large, and that many tasks lead to. */
static void test_pipes(void)
{
	struct machine *machine = machine_create();
	struct raw_data *data = &machine->data;
	bool has_problem;
	data->pipe.slots = 2u << 20;
	CHECK_STRING(rows_of(machine, &table_pipes, &has_problem), "77|-|4|-|1|1|1,2|1,2;");
	data->pipe.slots = 1;
	CHECK_STRING(rows_of(machine, &table_pipes, &has_problem), "77|-|4|-|1|1|1,2|1,2;");
	data->pipe.slots = 1u << 20;
	data->pipe.head = (1u << 20) - 1;
	CHECK_STRING(rows_of(machine, &table_pipes, &has_problem), "77|1048576|4|-|1|1|1,2|1,2;");
	data->pipe.buffers = NOWHERE;
	rows_of(machine, &table_pipes, &has_problem);
	CHECK_U64(machine->rows.count, 1);
	data->table.count = UINT64_MAX;
	CHECK_STRING(rows_of(machine, &table_pipes, &has_problem), "");
	CHECK(has_problem);
	data->table.count = 1u << 24;
	data->open = 1;
	rows_of(machine, &table_pipes, &has_problem);
	CHECK(has_problem);
	put_data(data);
	data->inode[0][0] = NOWHERE;
	data->descriptors[5] = NOWHERE;
	rows_of(machine, &table_pipes, &has_problem);
	CHECK(has_problem);
	machine_destroy(machine);
}

static void test_tasks(void)
{
	static const struct table *const tables[] = { &table_signals, &table_tasks };
	struct machine *machine = machine_create();
	struct raw_data *data = &machine->data;
	bool has_problem;
	/* Counters whose sum is more than there are numbers. */
	for (unsigned int i = 0; i < TASKS; i++)
		data->tasks[i].pages[0] = INT64_MAX;
	data->mm[0] = data->mm[1] = INT64_MAX;
	rows_of(machine, &table_tasks, &has_problem);
	CHECK_U64(machine->rows.count, TASKS - 1);
	data->tasks[1].mm = data->tasks[1].sighand = data->tasks[2].signal = NOWHERE;
	rows_of(machine, &table_tasks, &has_problem);
	CHECK_U64(machine->rows.count, TASKS - 1);
	CHECK_STRING(rows_of(machine, &table_signals, &has_problem),
		     "1|task1||KILL|HUP|-|-;2|task2||-|INT|INT|TERM;");
	for (size_t i = 0; i < ARRAY_COUNT(tables); i++) {
		/* All have one list of threads; one that leads back to itself; one to nowhere. */
		put_data(data);
		for (unsigned int k = 1; k < TASKS; k++)
			data->tasks[k].signal = AT(signals[1]);
		rows_of(machine, tables[i], &has_problem);
		CHECK(machine->rows.count >= TASKS - 1 && machine->rows.count <= 2 * TASKS);
		data->tasks[2].tasks[0] = AT(tasks[2].tasks);
		rows_of(machine, tables[i], &has_problem);
		CHECK(has_problem && machine->rows.count <= 2 * TASKS);
		data->tasks[0].tasks[0] = data->tasks[0].tasks[1] = NOWHERE;
		rows_of(machine, tables[i], &has_problem);
		CHECK(has_problem && machine->rows.count == 0);
	}
	machine_destroy(machine);
}

static void test_mutated(void)
{
	static const struct table *const tables[] = { &table_pipes, &table_mounts, &table_signals,
						      &table_tasks };
	struct machine *machine = machine_create();
	struct changed_bytes change = { .bytes = &machine->data, .size = sizeof(machine->data) };
	bool has_problem;
	while (changed_bytes_next(&change)) {
		/* Actions and descriptors are all alike. */
		if ((change.at >= offsetof(struct raw_data, actions[2]) &&
		     change.at < offsetof(struct raw_data, actions[62])) ||
		    (change.at >= offsetof(struct raw_data, descriptors[6]) &&
		     change.at < offsetof(struct raw_data, descriptors[63])))
			continue;
		for (size_t table = 0; table < ARRAY_COUNT(tables); table++) {
			rows_of(machine, tables[table], &has_problem);
			CHECK(machine->rows.count <= TABLE_ROWS_MAX);
		}
	}
	machine_destroy(machine);
}

int main(void)
{
	RUN(test_whole);
	RUN(test_mounts);
	RUN(test_pipes);
	RUN(test_tasks);
	RUN(test_mutated);
	return test_finish();
}
