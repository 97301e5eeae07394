// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Tables that find their own way: the kernel's configuration packed in memory, words of its command
 * line, queues of CPUs, readers of RCU, notifiers. Whole, in circles, leading nowhere, and with
 * every byte changed.
 */
#include "base/array.h"
#include "tests/unit/changed_bytes.h"
#include "tests/unit/kernel_data.h"
#include "tests/unit/table_rows.h"
#include "tests/unit/test.h"
#include <zlib.h>

#define DATA	0xffffffff82000000u
#define TABLES	0xffffffff83000000u
#define NOWHERE 0xffff8880dead0000u
#define TASKS	4u
#define NODES	2u

extern const struct table table_config, table_bootparams, table_runnable, table_rcureaders;

struct raw_task {
	uint64_t fair[2], real[2], reads[2];
	int32_t pid, prio, nesting, queued;
	char comm[16];
};

struct raw_rq {
	uint64_t current, clock, fair[2], bitmap[2], queues[100][2], root, deadline_count, stop;
};

struct raw_node {
	uint64_t blocked[2], first, first_expedited;
	int32_t low, high;
};

struct raw_data {
	uint64_t line; /* saved_command_line */
	char words[64];
	struct raw_rq rq;
	struct raw_task tasks[TASKS];
	struct raw_node nodes[NODES];
	uint8_t packed[512];
};

struct machine {
	struct kernel_data kernel;
	struct raw_data data;
	struct cpu cpu;
	struct table_rows rows;
};

#define AT(member) (DATA + offsetof(struct raw_data, member))

static const char configuration[] = "#\n# A comment\n#\nCONFIG_HZ=250\nCONFIG_NAME=\"a b\"\n"
				    "# CONFIG_OFF is not set\nCONFIG_X=y\nrubbish\n";

static size_t pack(uint8_t *to, size_t size)
{
	z_stream stream = { .next_in = (uint8_t *)configuration,
			    .avail_in = sizeof(configuration) - 1,
			    .next_out = to,
			    .avail_out = (uInt)size };
	if (deflateInit2(&stream, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK ||
	    deflate(&stream, Z_FINISH) != Z_STREAM_END)
		abort();
	size_t used = size - stream.avail_out;
	deflateEnd(&stream);
	return used;
}

static void link_list(uint64_t *head, uint64_t head_at, uint64_t *first, uint64_t first_at,
		      uint64_t *second, uint64_t second_at)
{
	head[0] = first_at;
	first[0] = second ? second_at : head_at;
	first[1] = head_at;
	head[1] = second ? second_at : first_at;
	if (second) {
		second[0] = head_at;
		second[1] = first_at;
	}
}

/* 0 and 1 are fair, and 1 runs; 2 is real-time; 2 and 3 read, and 3 is waited for. */
static size_t put_data(struct machine *machine)
{
	struct raw_data *data = &machine->data;
	memset(data, 0, sizeof(*data));
	data->line = AT(words);
	strcpy(data->words, " quiet root=/dev/vda  dyndbg=\"file a +p\" x= ");
	for (unsigned int i = 0; i < TASKS; i++) {
		data->tasks[i].pid = 100 + (int)i;
		data->tasks[i].prio = 120;
		data->tasks[i].nesting = (int)i - 1;
		snprintf(data->tasks[i].comm, sizeof(data->tasks[i].comm), "task%u", i);
	}
	link_list(data->rq.fair, AT(rq.fair), data->tasks[0].fair, AT(tasks[0].fair),
		  data->tasks[1].fair, AT(tasks[1].fair));
	link_list(data->rq.queues[70], AT(rq.queues[70]), data->tasks[2].real, AT(tasks[2].real),
		  NULL, 0);
	data->rq.bitmap[1] = 1u << (70 - 64);
	data->rq.current = AT(tasks[1]);
	link_list(data->nodes[0].blocked, AT(nodes[0].blocked), data->tasks[2].reads,
		  AT(tasks[2].reads), data->tasks[3].reads, AT(tasks[3].reads));
	data->nodes[0].first = AT(tasks[3].reads);
	data->nodes[0].high = 15;
	return pack(data->packed, sizeof(data->packed));
}

static void add_types(struct machine *machine)
{
	struct libbpf_btf *btf = machine->kernel.source;
	int int_ = btf__add_int(btf, "int", 4, 1);
	int ulong = btf__add_int(btf, "long unsigned int", 8, 0);
	int character = btf__add_int(btf, "char", 1, BTF_INT_CHAR);
	int name = btf__add_array(btf, int_, character, 16);
	int list = add_list_head(btf);
	int lists = btf__add_array(btf, int_, list, 100);
	int words = btf__add_array(btf, int_, ulong, 2);
	int fair = btf__add_struct(btf, "sched_entity", 16);
	add_member(btf, "group_node", list, 0);
	int real = btf__add_struct(btf, "sched_rt_entity", 16);
	add_member(btf, "run_list", list, 0);
	int task = btf__add_struct(btf, "task_struct", sizeof(struct raw_task));
	add_member(btf, "se", fair, offsetof(struct raw_task, fair));
	add_member(btf, "rt", real, offsetof(struct raw_task, real));
	add_member(btf, "rcu_node_entry", list, offsetof(struct raw_task, reads));
	add_member(btf, "pid", int_, offsetof(struct raw_task, pid));
	add_member(btf, "prio", int_, offsetof(struct raw_task, prio));
	add_member(btf, "rcu_read_lock_nesting", int_, offsetof(struct raw_task, nesting));
	add_member(btf, "on_rq", int_, offsetof(struct raw_task, queued));
	add_member(btf, "comm", name, offsetof(struct raw_task, comm));
	int to_task = btf__add_ptr(btf, task);
	int active = btf__add_struct(btf, "rt_prio_array", 16 + 1600);
	add_member(btf, "bitmap", words, 0);
	add_member(btf, "queue", lists, 16);
	int rt = btf__add_struct(btf, "rt_rq", 16 + 1600);
	add_member(btf, "active", active, 0);
	int root = btf__add_struct(btf, "rb_root_cached", 8);
	add_member(btf, "rb_root", ulong, 0);
	int dl = btf__add_struct(btf, "dl_rq", 16);
	add_member(btf, "root", root, 0);
	add_member(btf, "dl_nr_running", ulong, 8);
	btf__add_struct(btf, "rq", sizeof(struct raw_rq));
	add_member(btf, "curr", to_task, offsetof(struct raw_rq, current));
	add_member(btf, "stop", to_task, offsetof(struct raw_rq, stop));
	add_member(btf, "clock", ulong, offsetof(struct raw_rq, clock));
	add_member(btf, "cfs_tasks", list, offsetof(struct raw_rq, fair));
	add_member(btf, "rt", rt, offsetof(struct raw_rq, bitmap));
	add_member(btf, "dl", dl, offsetof(struct raw_rq, root));
	int node = btf__add_struct(btf, "rcu_node", sizeof(struct raw_node));
	add_member(btf, "blkd_tasks", list, offsetof(struct raw_node, blocked));
	add_member(btf, "gp_tasks", ulong, offsetof(struct raw_node, first));
	add_member(btf, "exp_tasks", ulong, offsetof(struct raw_node, first_expedited));
	add_member(btf, "grplo", int_, offsetof(struct raw_node, low));
	add_member(btf, "grphi", int_, offsetof(struct raw_node, high));
	int nodes = btf__add_array(btf, int_, node, NODES);
	btf__add_struct(btf, "rcu_state", sizeof(((struct raw_data *)0)->nodes));
	add_member(btf, "node", nodes, 0);
	kernel_data_take_types(&machine->kernel);
}

static struct machine *machine_create(void)
{
	struct machine *machine = calloc(1, sizeof(*machine));
	if (!machine)
		abort();
	const struct test_symbol symbols[] = {
		{ AT(line), 'D', "saved_command_line" },
		{ AT(rq), 'D', "runqueues" },
		{ AT(nodes), 'D', "rcu_state" },
		{ AT(packed), 'R', "kernel_config_data" },
		{ AT(packed) + put_data(machine), 'R', "kernel_config_data_end" },
		{ DATA + 65536, 'D', "_end" },
	};
	machine->kernel.start = DATA;
	machine->kernel.bytes = &machine->data;
	machine->kernel.size = sizeof(machine->data);
	kernel_data_init(&machine->kernel, TABLES, symbols, ARRAY_COUNT(symbols));
	machine->kernel.target.cpus = &machine->cpu;
	machine->kernel.target.cpu_count = 1;
	machine->kernel.target.cpus_loaded = true;
	add_types(machine);
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

static const struct {
	const struct table *table;
	const char *rows;
} tables[] = {
	{ &table_config, "4|250|CONFIG_HZ;5|a b|CONFIG_NAME;6|n|CONFIG_OFF;7|y|CONFIG_X;" },
	{ &table_bootparams, "0|quiet|-|quiet;1|root|/dev/vda|root=/dev/vda;"
			     "2|dyndbg|file a +p|dyndbg=\"file a +p\";3|x||x=;" },
	{ &table_runnable, "0|102|0|rt|120|-|-|-|task2;0|100|0|fair|120|-|-|-|task0;"
			   "0|101|1|fair|120|-|-|-|task1;" },
	{ &table_rcureaders, "102|task2|0|15|0|0|1;103|task3|0|15|1|0|2;" },
};

static void test_whole(void)
{
	struct machine *machine = machine_create();
	bool has_problem;
	for (size_t i = 0; i < ARRAY_COUNT(tables); i++) {
		CHECK_STRING(rows_of(machine, tables[i].table, &has_problem), tables[i].rows);
		CHECK(!has_problem);
	}
	machine_destroy(machine);
}

static void test_broken(void)
{
	struct machine *machine = machine_create();
	struct raw_data *data = &machine->data;
	bool has_problem;
	/* A circle beside the head, and a way to nowhere. */
	data->tasks[1].fair[0] = AT(tasks[0].fair);
	data->tasks[2].real[0] = NOWHERE;
	rows_of(machine, &table_runnable, &has_problem);
	CHECK(has_problem);
	CHECK(machine->rows.count >= 3 && machine->rows.count < 10);
	data->tasks[3].reads[0] = AT(tasks[2].reads);
	rows_of(machine, &table_rcureaders, &has_problem);
	CHECK(has_problem);
	CHECK_U64(machine->rows.count, 2);
	data->line = NOWHERE;
	CHECK_STRING(rows_of(machine, &table_bootparams, &has_problem), "");
	CHECK(has_problem);
	data->packed[12] ^= 0xff;
	rows_of(machine, &table_config, &has_problem);
	CHECK(has_problem);
	CHECK_U64(machine->rows.count, 0);
	machine_destroy(machine);
}

/* Nobody runs, or the idle task does. */
static void test_idle(void)
{
	struct machine *machine = machine_create();
	struct raw_rq *rq = &machine->data.rq;
	bool has_problem;
	rq->fair[0] = rq->fair[1] = AT(rq.fair);
	rq->bitmap[1] = 0;
	machine->cpu.idle_task = rq->current;
	CHECK_STRING(rows_of(machine, &table_runnable, &has_problem),
		     "0|101|1|idle|120|-|-|-|task1;");
	rq->current = 0;
	CHECK_STRING(rows_of(machine, &table_runnable, &has_problem), "");
	CHECK(!has_problem);
	machine_destroy(machine);
}

/* The task that stops the CPU is in no list: it is asked itself. */
static void test_stop(void)
{
	struct machine *machine = machine_create();
	struct raw_data *data = &machine->data;
	bool has_problem;
	data->rq.fair[0] = data->rq.fair[1] = AT(rq.fair);
	data->rq.bitmap[1] = 0;
	data->rq.stop = AT(tasks[3]);
	data->rq.current = 0;
	CHECK_STRING(rows_of(machine, &table_runnable, &has_problem), "");
	data->tasks[3].queued = 1;
	CHECK_STRING(rows_of(machine, &table_runnable, &has_problem),
		     "0|103|0|stop|120|-|-|-|task3;");
	data->rq.current = AT(tasks[3]);
	CHECK_STRING(rows_of(machine, &table_runnable, &has_problem),
		     "0|103|1|stop|120|-|-|-|task3;");
	CHECK(!has_problem);
	/* It goes to sleep, and there is no symbol for its class. */
	data->tasks[3].queued = 0;
	CHECK_STRING(rows_of(machine, &table_runnable, &has_problem), "0|103|1|-|120|-|-|-|task3;");
	machine_destroy(machine);
}

static void test_mutated(void)
{
	struct machine *machine = machine_create();
	struct changed_bytes change = { .bytes = &machine->data, .size = sizeof(machine->data) };
	bool has_problem;
	while (changed_bytes_next(&change))
		for (size_t table = 0; table < ARRAY_COUNT(tables); table++) {
			rows_of(machine, tables[table].table, &has_problem);
			CHECK(machine->rows.count <= TABLE_ROWS_MAX);
		}
	machine_destroy(machine);
}

int main(void)
{
	RUN(test_whole);
	RUN(test_broken);
	RUN(test_idle);
	RUN(test_stop);
	RUN(test_mutated);
	return test_finish();
}
