// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What tasks wait for, from the list of tasks through their stacks to mutexes: whole, with rings of
 * waiters and of tasks, stacks that lie nowhere or are one another's, and with every byte changed.
 */
#include "tests/unit/changed_bytes.h"
#include "tests/unit/libbpf.h"
#include "tests/unit/table_rows.h"
#include "tests/unit/unwind_machine.h"

#define NOWHERE	    0xffff8880dead0000u
#define TASKS	    4u /* the first is the head of their list, and waits for nothing */
#define MUTEXES	    2u
#define TASK_STACK  2048u /* bytes, of each of them */
#define SLEEPING    1024u /* where the frames of one begin */
#define SWITCHED    56u	  /* struct inactive_task_frame */
#define AWAKE	    0u
#define UNINTERRUPT 2u

extern const struct table table_waits;

/* By the number of the function; each calls the next. */
static const char *const names[FUNCTIONS] = { NULL,	  "lab_take",	"__mutex_lock",
					      "schedule", "__schedule", "__switch_to_asm" };

struct raw_task {
	uint64_t tasks[2], thread_node[2], signal, stack, sp, real_parent, mm;
	int32_t pid, tgid;
	uint32_t state, exit_state, cpu, on_rq;
	char comm[16];
};

struct raw_mutex {
	uint64_t owner, list[2];
};

/* The kernel's record on the stack of who waits: struct mutex_waiter. */
struct raw_waiter {
	uint64_t list[2], task;
};

struct raw_data {
	struct raw_task tasks[TASKS];
	uint64_t signals[TASKS][2];
	struct raw_mutex mutexes[MUTEXES];
};

struct world {
	struct machine machine;
	struct raw_data *data;
	uint64_t start; /* of it */
	struct libbpf_btf *source;
	struct btf *btf;
	struct table_rows rows;
};

#define AT(world, member) ((world)->start + offsetof(struct raw_data, member))

static uint64_t stack_of(unsigned int task)
{
	return STACK + task * TASK_STACK;
}

static struct raw_waiter *waiter_at(struct world *world, uint64_t address)
{
	return (struct raw_waiter *)(world->machine.stack + (address - STACK));
}

/* In __mutex_lock's frame, below those of the two functions of the scheduler. */
static uint64_t waiter_of(unsigned int task)
{
	return stack_of(task) + SLEEPING + SWITCHED + 2 * FRAME;
}

/* A task that the scheduler left in lab_take() -> __mutex_lock() -> schedule(). */
static void put_stack(struct world *world, unsigned int task, unsigned int mutex)
{
	uint64_t sp = stack_of(task) + SLEEPING, head = AT(world, mutexes[mutex].list);
	uint64_t waiter = waiter_of(task);
	push(&world->machine, sp + SWITCHED - 8, function(4) + RETURN);
	sp = push_frame(&world->machine, sp + SWITCHED, function(3) + RETURN, 0);
	sp = push_frame(&world->machine, sp, function(2) + RETURN, 0);
	sp = push_frame(&world->machine, sp, function(1) + RETURN, 0);
	push_frame(&world->machine, sp, function(OUTER) + RETURN, 0);
	*waiter_at(world, waiter) = (struct raw_waiter){ { head, head }, AT(world, tasks[task]) };
	world->data->mutexes[mutex].list[0] = world->data->mutexes[mutex].list[1] = waiter;
}

/* 1 and 2 wait for one another; 3 sleeps, and its record is linked to nothing. */
static void put_data(struct world *world)
{
	struct raw_data *data = world->data;
	memset(world->machine.stack, 0, STACK_SIZE);
	memset(data, 0, sizeof(*data));
	for (unsigned int i = 0; i < TASKS; i++) {
		struct raw_task *task = &data->tasks[i];
		*task = (struct raw_task){
			.tasks = { AT(world, tasks[(i + 1) % TASKS].tasks),
				   AT(world, tasks[(i + TASKS - 1) % TASKS].tasks) },
			.thread_node = { AT(world, signals[i]), AT(world, signals[i]) },
			.signal = AT(world, signals[i]),
			.stack = stack_of(i),
			.sp = stack_of(i) + SLEEPING,
			.pid = (int)i,
			.tgid = (int)i,
			.real_parent = AT(world, tasks[0]),
			.state = i ? UNINTERRUPT : AWAKE,
			.on_rq = !i,
		};
		snprintf(task->comm, sizeof(task->comm), "task%u", i);
		data->signals[i][0] = data->signals[i][1] = AT(world, tasks[i].thread_node);
	}
	put_stack(world, 3, 0);
	*waiter_at(world, waiter_of(3)) = (struct raw_waiter){ { 0, 0 }, 0 };
	put_stack(world, 1, 0);
	put_stack(world, 2, 1);
	data->mutexes[0].owner = AT(world, tasks[2]);
	data->mutexes[1].owner = AT(world, tasks[1]) | 1;
}

static void add_types(struct world *world)
{
	static const char *const saved[] = { "r15", "r14", "r13", "r12", "bx", "bp", "ret_addr" };
	struct libbpf_btf *btf = world->source = btf__new_empty();
	int s32 = btf__add_int(btf, "int", 4, BTF_INT_SIGNED);
	int u32 = btf__add_int(btf, "unsigned int", 4, 0);
	int u64 = btf__add_int(btf, "long unsigned int", 8, 0);
	int letter = btf__add_int(btf, "char", 1, BTF_INT_CHAR);
	int comm = btf__add_array(btf, s32, letter, 16), list = add_list_head(btf);
	btf__add_struct(btf, "irq_stack", TASK_STACK);
	btf__add_struct(btf, "inactive_task_frame", SWITCHED);
	for (size_t i = 0; i < ARRAY_COUNT(saved); i++)
		add_member(btf, saved[i], u64, 8 * i);
	int counter = btf__add_struct(btf, "atomic_long_t", 8);
	add_member(btf, "counter", u64, 0);
	btf__add_struct(btf, "mutex", sizeof(struct raw_mutex));
	add_member(btf, "owner", counter, 0);
	add_member(btf, "wait_list", list, offsetof(struct raw_mutex, list));
	btf__add_struct(btf, "mutex_waiter", sizeof(struct raw_waiter));
	add_member(btf, "list", list, 0);
	add_member(btf, "task", u64, offsetof(struct raw_waiter, task));
	int thread = btf__add_struct(btf, "thread_struct", 8);
	add_member(btf, "sp", u64, 0);
	int signal = btf__add_struct(btf, "signal_struct", 16);
	add_member(btf, "thread_head", list, 0);
	int to_signal = btf__add_ptr(btf, signal);
	int to_task = btf__add_ptr(btf, (int)btf__type_cnt(btf) + 1);
	btf__add_struct(btf, "task_struct", sizeof(struct raw_task));
	add_member(btf, "tasks", list, 0);
	add_member(btf, "thread_node", list, offsetof(struct raw_task, thread_node));
	add_member(btf, "signal", to_signal, offsetof(struct raw_task, signal));
	add_member(btf, "stack", u64, offsetof(struct raw_task, stack));
	add_member(btf, "thread", thread, offsetof(struct raw_task, sp));
	add_member(btf, "pid", s32, offsetof(struct raw_task, pid));
	add_member(btf, "tgid", s32, offsetof(struct raw_task, tgid));
	add_member(btf, "real_parent", to_task, offsetof(struct raw_task, real_parent));
	add_member(btf, "mm", u64, offsetof(struct raw_task, mm));
	add_member(btf, "__state", u32, offsetof(struct raw_task, state));
	add_member(btf, "exit_state", u32, offsetof(struct raw_task, exit_state));
	add_member(btf, "cpu", u32, offsetof(struct raw_task, cpu));
	add_member(btf, "on_rq", u32, offsetof(struct raw_task, on_rq));
	add_member(btf, "comm", comm, offsetof(struct raw_task, comm));
	uint32_t size = 0;
	const void *raw = btf__raw_data(btf, &size);
	CHECK_OK(btf_open(raw, size, NULL, "vmlinux", &world->btf));
	world->machine.target.btf = world->btf;
}

static struct world *world_create(void)
{
	struct world *world = calloc(1, sizeof(*world));
	if (!world)
		abort();
	world->start = machine_init_named(&world->machine, names, sizeof(struct raw_data));
	world->data = (struct raw_data *)(world->machine.tables + (world->start - TABLES));
	add_types(world);
	put_data(world);
	return world;
}

static void world_destroy(struct world *world)
{
	machine_deinit(&world->machine);
	btf_close(world->btf);
	btf__free(world->source);
	free(world);
}

/* The tasks are looked for anew. */
static const char *rows_of(struct world *world, bool *ret_problem)
{
	target_detach_all(&world->machine.target);
	return table_rows_read(&world->rows, &world->machine.target, &table_waits, ret_problem);
}

#define MUTEX(task, found, owner)                                                                  \
#task "|task" #task "|D|mutex|-|struct mutex|-|" found "|" owner                           \
	      "|0|-|lab_take|__mutex_lock;"
#define HAS_OWNER(task)	 MUTEX(task, "certain|list", "owner word")
#define HAS_ITSELF(task) MUTEX(task, "certain|list", "owner word, or an ended task's")
#define NO_OBJECT(task)	 MUTEX(task, "-|-", "-")
#define STACKLESS(task)	 #task "|task" #task "|D|sleep|-|-|-|-|-|-|0|-|-|-;"

static int column_of(const char *name)
{
	int column = table_column_named(&table_waits, name, strlen(name));
	CHECK(column >= 0);
	return column < 0 ? 0 : column;
}

/* The object and the owner of the first two rows. */
struct pairs {
	uint64_t object[2], owner[2];
	size_t count;
};

static struct error *keep_pair(void *context, const struct table_cell *cells)
{
	struct pairs *pairs = context;
	if (pairs->count < ARRAY_COUNT(pairs->object)) {
		pairs->object[pairs->count] = cells[column_of("object")].number;
		pairs->owner[pairs->count] = cells[column_of("owner")].number;
	}
	pairs->count++;
	return NULL;
}

static void test_whole(void)
{
	struct world *world = world_create();
	struct pairs pairs = { .count = 0 };
	bool has_problem;
	CHECK_STRING(rows_of(world, &has_problem), HAS_OWNER(1) HAS_OWNER(2) NO_OBJECT(3));
	CHECK(!has_problem);
	target_detach_all(&world->machine.target);
	struct table_scan scan = { .target = &world->machine.target,
				   .table = &table_waits,
				   .wanted = UINT64_MAX,
				   .row = keep_pair,
				   .context = &pairs };
	CHECK_OK(table_scan_run(&scan));
	table_scan_deinit(&scan);
	CHECK_U64(pairs.count, 3);
	for (unsigned int i = 0; i < 2; i++) {
		CHECK_U64(pairs.object[i], AT(world, mutexes[i]));
		CHECK_U64(pairs.owner[i], AT(world, tasks[2 - i]));
	}
	world_destroy(world);
}

/* A list that is not whole proves nothing. */
static void test_rings(void)
{
	struct world *world = world_create();
	struct raw_data *data = world->data;
	struct raw_waiter *one = waiter_at(world, waiter_of(1)),
			  *two = waiter_at(world, waiter_of(2));
	bool has_problem;
	/* One lock has both waiters; then its head leads to them no more. */
	uint64_t head = AT(world, mutexes[0].list);
	*one = (struct raw_waiter){ { waiter_of(2), head }, AT(world, tasks[1]) };
	*two = (struct raw_waiter){ { head, waiter_of(1) }, AT(world, tasks[2]) };
	data->mutexes[0].list[0] = waiter_of(1);
	data->mutexes[0].list[1] = waiter_of(2);
	CHECK_STRING(rows_of(world, &has_problem), HAS_OWNER(1) HAS_ITSELF(2) NO_OBJECT(3));
	one->list[1] = waiter_of(2);
	two->list[0] = waiter_of(1);
	CHECK_STRING(rows_of(world, &has_problem), NO_OBJECT(1) NO_OBJECT(2) NO_OBJECT(3));
	/* Two heads, of which either may be the lock's. */
	put_data(world);
	*one = (struct raw_waiter){ { AT(world, mutexes[1].list), head }, AT(world, tasks[1]) };
	data->mutexes[0].list[0] = waiter_of(1);
	data->mutexes[0].list[1] = AT(world, mutexes[1].list);
	data->mutexes[1].list[0] = head;
	data->mutexes[1].list[1] = waiter_of(1);
	CHECK_STRING(rows_of(world, &has_problem), NO_OBJECT(1) NO_OBJECT(2) NO_OBJECT(3));
	/* Tasks in a ring without the first: another way to them is looked for, and there is none;
	 * all of them with one list of threads. */
	put_data(world);
	data->tasks[3].tasks[0] = AT(world, tasks[1].tasks);
	CHECK_STRING(rows_of(world, &has_problem), HAS_OWNER(1) HAS_OWNER(2) NO_OBJECT(3));
	CHECK(has_problem);
	put_data(world);
	for (unsigned int i = 0; i < TASKS; i++)
		data->tasks[i].signal = AT(world, signals[1]);
	rows_of(world, &has_problem);
	CHECK(world->rows.count >= 3 && world->rows.count <= 2 * TASKS);
	world_destroy(world);
}

static void test_wild(void)
{
	struct world *world = world_create();
	struct raw_data *data = world->data;
	bool has_problem;
	/* Who is in nobody's list, whose lock names nobody, and whose stack is nowhere. */
	waiter_at(world, waiter_of(1))->list[0] = NOWHERE;
	data->mutexes[1].owner = NOWHERE;
	data->tasks[3].sp = NOWHERE;
	CHECK_STRING(rows_of(world, &has_problem),
		     NO_OBJECT(1) MUTEX(2, "certain|list", "its owner word names no task")
			     STACKLESS(3));
	/* The frames of another one, whose record does not name this task. */
	put_data(world);
	data->tasks[3].sp = data->tasks[1].sp;
	rows_of(world, &has_problem);
	CHECK_U64(world->rows.count, 3);
	CHECK(!strstr(world->rows.text, "3|task3|D|mutex|-|struct mutex|-|certain"));
	put_data(world);
	data->tasks[1].stack = data->tasks[2].stack = NOWHERE;
	data->tasks[3].stack = 0;
	rows_of(world, &has_problem);
	CHECK_U64(world->rows.count, 3);
	CHECK(has_problem);
	CHECK(!strstr(world->rows.text, "owner word"));
	put_data(world);
	data->tasks[0].tasks[0] = data->tasks[0].tasks[1] = NOWHERE;
	CHECK_STRING(rows_of(world, &has_problem), "");
	CHECK(has_problem);
	world_destroy(world);
}

static void mutate(struct world *world, uint8_t *bytes, size_t size)
{
	struct changed_bytes change = { .bytes = bytes, .size = size };
	bool has_problem;
	while (changed_bytes_next(&change)) {
		rows_of(world, &has_problem);
		CHECK(world->rows.count <= 2 * TASKS);
	}
}

static void test_mutated(void)
{
	struct world *world = world_create();
	mutate(world, (uint8_t *)world->data, sizeof(*world->data));
	/* From where one was left to its outermost frame. */
	mutate(world, world->machine.stack + (stack_of(1) + SLEEPING - STACK),
	       SWITCHED + 4 * FRAME);
	world_destroy(world);
}

int main(void)
{
	RUN(test_whole);
	RUN(test_rings);
	RUN(test_wild);
	RUN(test_mutated);
	return test_finish();
}
