// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/kernel/task.h"

#include "base/array.h"
#include "base/interrupt.h"
#include "base/seen.h"
#include "debugger/kernel/pid_table.h"
#include "debugger/kernel/slab_tasks.h"
#include "debugger/target/attached.h"
#include "debugger/target/list.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* PID_MAX_LIMIT: what is above is an address. */
#define PID_LIMIT (4u << 20)

/* Of so many it is remembered what was read: 2.5 MiB. */
#define TASKS_KEPT_MAX 16384u

/* Each has a pid, but for the idle ones, and lies somewhere. */
#define TASKS_MORE (64u << 10)
#define TASKS_MAX  (PID_LIMIT + TASKS_MORE)

#define LIVE_ATTEMPTS 8

/* --- state (kernel include/linux/sched.h, fs/proc/array.c) --------------------------- */

#define STATE_UNINTERRUPTIBLE 0x2u
#define STATE_REPORT	      0x7fu
#define STATE_IDLE	      0x402u  /* UNINTERRUPTIBLE | NOLOAD */
#define STATE_RTLOCK_WAIT     0x1000u /* 5.16 on */
#define STATE_FROZEN	      0x8000u /* 6.1 on */

static char state_letter(uint64_t state)
{
	static const char letters[] = "RSDTtXZP";
	if ((state & STATE_IDLE) == STATE_IDLE)
		return 'I';
	if (state & (STATE_RTLOCK_WAIT | STATE_FROZEN))
		state |= STATE_UNINTERRUPTIBLE;
	uint64_t reported = state & STATE_REPORT;
	return letters[reported ? 64 - __builtin_clzll(reported) : 0];
}

/* --- reading one ------------------------------------------------------------------------ */

static void note(struct task *task, struct error *error)
{
	if (task->problem)
		error_free(error);
	else
		task->problem = error;
}

/* The member by the first of its names that exists; 0 and a problem when it cannot be read. */
static uint64_t member(struct task *task, const struct object *object, const char *name,
		       const char *older)
{
	uint64_t value = 0;
	if (older && !object_has(object, name))
		name = older;
	note(task, object_u64(object, name, &value));
	return value;
}

static struct error *read_parent(const struct object *object, int32_t *ret)
{
	struct object parent;
	uint64_t tgid;
	TRY(object_follow(object, "real_parent", &parent));
	TRY(error_prefix(object_u64(&parent, "tgid", &tgid), "real_parent"));
	*ret = (int32_t)tgid;
	return NULL;
}

static void find_cpu(struct target *target, struct task *task)
{
	const struct cpu *cpus;
	size_t count = target_cpus(target, &cpus);
	for (size_t i = 0; i < count; i++) {
		if (cpus[i].current_task == task->address) {
			task->on_cpu = true;
			task->cpu = cpus[i].number;
		}
		if (cpus[i].idle_task == task->address) {
			task->is_idle = true;
			task->cpu = cpus[i].number;
		}
	}
}

struct error *task_read(struct target *target, uint64_t address, struct task *ret)
{
	struct task task = { .address = address, .ppid = -1 };
	struct object object;
	uint64_t pid;
	TRY(target_need_memory(target));
	TRY(object_at(target, "struct task_struct", address, &object));
	TRY(error_prefix(object_u64(&object, "pid", &pid), "task 0x%" PRIx64, address));
	task.pid = (int32_t)pid;
	task.tgid = (int32_t)member(&task, &object, "tgid", NULL);
	note(&task, read_parent(&object, &task.ppid));
	/* In the task itself up to 5.15, then in thread_info (bcf9033e5449). */
	task.cpu = (uint32_t)member(&task, &object, "cpu", "thread_info.cpu");
	/* `state` up to 5.13. */
	uint64_t state = (uint32_t)member(&task, &object, "__state", "state");
	task.state = state | (uint32_t)member(&task, &object, "exit_state", NULL);
	task.state_letter = state_letter(task.state);
	task.has_mm = member(&task, &object, "mm", NULL) != 0;
	task.stack = member(&task, &object, "stack", NULL);
	note(&task, object_string(&object, "comm", task.comm, sizeof(task.comm)));
	find_cpu(target, &task);
	*ret = task;
	return NULL;
}

void task_deinit(struct task *task)
{
	error_free(task->problem);
	task->problem = NULL;
}

/* --- all of them -------------------------------------------------------------------------- */

struct walk {
	struct target *target;
	struct error *(*visit)(void *context, uint64_t address);
	void *context;
	uint64_t tasks, thread_node, thread_head; /* offsets in task_struct and signal_struct */
	struct error *problem;
	struct seen reached; /* tasks, and signal_structs whose threads were */
	uint64_t *seen;	     /* tasks that were visited, in order */
	size_t seen_count, seen_capacity;
	uint64_t *sorted; /* those of them that are not asked for again */
	size_t sorted_count, sorted_capacity;
	uint64_t most; /* tasks that there can be; 0: not yet known */
	bool is_full;  /* there are more */
};

/* As many as memory has room for, of which the dump may have less than the machine. */
static uint64_t tasks_max(struct target *target)
{
	struct object task;
	uint64_t size = 0, memory = target_memory_size(target);
	struct error *error = object_at(target, "struct task_struct", 0, &task);
	if (!error && !type_size(task.type, &size))
		size = 0;
	error_free(error);
	uint64_t most = size && memory ? memory / size + TASKS_MORE : TASKS_MAX;
	return most < TASKS_MAX ? most : TASKS_MAX;
}

static void walk_problem(struct walk *walk, struct error *error)
{
	if (walk->problem)
		error_free(error);
	else
		walk->problem = error;
}

/* A task is reached by one way: what leads to it once more, leads in a circle. */
static struct error *visit_task(struct walk *walk, uint64_t address)
{
	bool again = false;
	if (!walk->most)
		walk->most = tasks_max(walk->target);
	if (walk->seen_count >= walk->most) {
		walk->is_full = true;
		return error_create(ERROR_FORMAT, "there are more than %" PRIu64 " tasks",
				    walk->most);
	}
	struct error *error = seen_add(&walk->reached, address, &again);
	if (error) {
		walk->is_full = !error_is_fatal(error);
		return error;
	}
	if (again) {
		walk_problem(walk, error_create(ERROR_FORMAT, "task 0x%" PRIx64 " is reached twice",
						address));
		return NULL;
	}
	if (!array_reserve(&walk->seen, &walk->seen_capacity, walk->seen_count + 1))
		return error_no_memory();
	walk->seen[walk->seen_count++] = address;
	return walk->visit(walk->context, address);
}

static struct error *visit_idle(struct walk *walk)
{
	const struct cpu *cpus;
	size_t count = target_cpus(walk->target, &cpus);
	for (size_t i = 0; i < count; i++)
		if (cpus[i].idle_task)
			TRY(visit_task(walk, cpus[i].idle_task));
	return NULL;
}

/*
 * The threads after the leader; a broken list is the walk's problem, not an error. So is one that
 * was walked for another leader, for processes do not share it.
 */
static struct error *visit_threads(struct walk *walk, uint64_t leader)
{
	struct object task, signal;
	struct list_walk list;
	uint64_t node;
	struct error *error = object_at(walk->target, "struct task_struct", leader, &task);
	if (!error)
		error = object_follow(&task, "signal", &signal);
	if (error || !signal.address) {
		walk_problem(walk, error);
		return NULL;
	}
	bool again = false;
	error = seen_add(&walk->reached, signal.address, &again);
	if (!error && again)
		error = error_create(ERROR_FORMAT,
				     "task 0x%" PRIx64 " has the signal_struct 0x%" PRIx64
				     " of another process",
				     leader, signal.address);
	if (error && error_is_fatal(error))
		return error;
	if (error) {
		walk_problem(walk, error);
		return NULL;
	}
	list_walk_init(&list, walk->target, signal.address + walk->thread_head);
	for (;;) {
		error = list_walk_next(&list, &node);
		if (error && error->kind == ERROR_INTERRUPTED)
			return error;
		if (error || !node) {
			walk_problem(walk,
				     error_prefix(error, "threads of task 0x%" PRIx64, leader));
			return NULL;
		}
		uint64_t thread = node - walk->thread_node;
		size_t count = walk->seen_count;
		if (thread == leader)
			continue;
		TRY(visit_task(walk, thread));
		/* What is behind it was reached with it. */
		if (walk->seen_count == count)
			return NULL;
	}
}

static struct error *visit_process(struct walk *walk, uint64_t node)
{
	uint64_t leader = node - walk->tasks;
	size_t count = walk->seen_count;
	TRY(visit_task(walk, leader));
	return walk->seen_count > count ? visit_threads(walk, leader) : NULL;
}

/* What the walk along `next` did not reach: from the head along `prev` to `last`. */
static struct error *visit_behind_break(struct walk *walk, uint64_t head, uint64_t last)
{
	struct list_walk list;
	list_walk_init_backward(&list, walk->target, head);
	for (;;) {
		uint64_t node;
		struct error *error = list_walk_next(&list, &node);
		if (error && error->kind == ERROR_INTERRUPTED)
			return error;
		error_free(error);
		if (error || !node || node == last)
			return NULL;
		TRY(visit_process(walk, node));
	}
}

static struct error *visit_processes(struct walk *walk)
{
	uint64_t init_task;
	struct list_walk list;
	TRY(object_offset(walk->target, "struct task_struct", "tasks", &walk->tasks));
	TRY(object_offset(walk->target, "struct task_struct", "thread_node", &walk->thread_node));
	TRY(object_offset(walk->target, "struct signal_struct", "thread_head", &walk->thread_head));
	if (!symtab_address(walk->target->symbols, "init_task", &init_task))
		return error_create(ERROR_NOT_FOUND, "the kernel has no symbol init_task");
	uint64_t head = init_task + walk->tasks;
	list_walk_init(&list, walk->target, head);
	for (;;) {
		uint64_t node;
		struct error *error = list_walk_next(&list, &node);
		if (error && error->kind == ERROR_INTERRUPTED)
			return error;
		if (error) {
			walk_problem(walk, error_prefix(error, "task list"));
			return visit_behind_break(walk, head, list.node);
		}
		if (!node)
			return NULL;
		TRY(visit_process(walk, node));
	}
}

static int compare_addresses(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

static struct error *visit_unseen(void *context, uint64_t address)
{
	struct walk *walk = context;
	if (array_search(&address, walk->sorted, walk->sorted_count, sizeof(*walk->sorted),
			 compare_addresses))
		return NULL;
	return visit_task(walk, address);
}

static struct error *sort_seen(struct walk *walk)
{
	if (!array_reserve(&walk->sorted, &walk->sorted_capacity, walk->seen_count))
		return error_no_memory();
	walk->sorted_count = walk->seen_count;
	for (size_t i = 0; i < walk->seen_count; i++)
		walk->sorted[i] = walk->seen[i];
	array_sort(walk->sorted, walk->sorted_count, sizeof(*walk->sorted), compare_addresses);
	return NULL;
}

/* Tasks that a damaged list no longer leads to may still be found by their pids. */
static struct error *visit_by_pids(struct walk *walk)
{
	struct error *problem;
	TRY(sort_seen(walk));
	struct error *error = pid_table_for_each(walk->target, visit_unseen, walk, &problem);
	if (problem)
		walk->problem =
			error_prefix(walk->problem, "no search by pids (%s)", problem->message);
	error_free(problem);
	return error;
}

/* And what nothing leads to is still where it was allocated. */
static struct error *visit_by_slabs(struct walk *walk)
{
	struct error *problem;
	TRY(sort_seen(walk));
	struct error *error = slab_tasks_for_each(walk->target, visit_unseen, walk, &problem);
	size_t found = walk->seen_count - walk->sorted_count;
	if (problem)
		walk->problem =
			error_prefix(walk->problem, "no search in slabs (%s)", problem->message);
	else if (found)
		walk->problem = error_prefix(walk->problem, "%zu task%s found in slabs alone",
					     found, found == 1 ? "" : "s");
	error_free(problem);
	return error;
}

/* The tasks that a walk has found. */
struct kept {
	uint64_t *addresses;
	size_t count;
	struct error *problem; /* of that walk; NULL: none */
	/* The first of them as they were read, for their pages are not in any cache when they are
	 * asked for again; address 0: something was missing. NULL: none, yet or of a running
	 * machine.
	 */
	struct task *tasks;
	size_t task_count;
};

static const char kept_key;

static struct kept *kept_tasks(const struct target *target)
{
	return target_attached(target, &kept_key);
}

static void kept_destroy(void *data)
{
	struct kept *kept = data;
	free(kept->addresses);
	free(kept->tasks);
	error_free(kept->problem);
	free(kept);
}

/* A walk that came to its end is not gone again: with holes in the lists it is a long one. */
static void keep(struct walk *walk)
{
	if (kept_tasks(walk->target) || !walk->seen)
		return;
	struct kept *kept = malloc(sizeof(*kept));
	if (!kept)
		return;
	*kept = (struct kept){ .addresses = walk->seen,
			       .count = walk->seen_count,
			       .problem = error_copy(walk->problem) };
	walk->seen = NULL;
	/* Without memory they are looked for once more. */
	error_free(target_attach(walk->target, &kept_key, kept, kept_destroy));
}

static struct error *visit_kept(struct walk *walk, const struct kept *kept)
{
	walk->problem = error_copy(kept->problem);
	for (size_t i = 0; i < kept->count; i++) {
		TRY(interrupt_check());
		TRY(walk->visit(walk->context, kept->addresses[i]));
	}
	return NULL;
}

static struct error *visit_nothing(void *context, uint64_t address)
{
	(void)context;
	(void)address;
	return NULL;
}

static struct error *walk_lists(struct walk *walk)
{
	struct error *error = visit_idle(walk);
	return error ? error : visit_processes(walk);
}

/* A running machine's lists may move from under a walk: the first whole one is kept. */
static struct error *settle(struct target *target)
{
	struct error *error = NULL;
	for (unsigned int attempt = 0; !error && !kept_tasks(target) && attempt < LIVE_ATTEMPTS;
	     attempt++) {
		struct walk walk = { .target = target, .visit = visit_nothing };
		error = walk_lists(&walk);
		if (!error && !walk.problem)
			keep(&walk);
		error_free(walk.problem);
		seen_deinit(&walk.reached);
		free(walk.seen);
	}
	return error;
}

/* Too many end the walk, not what was asked: takes the error. */
static struct error *unless_full(struct walk *walk, struct error *error)
{
	if (!walk->is_full)
		return error;
	/* It hides more tasks than whatever was wrong before. */
	error_free(walk->problem);
	walk->problem = error;
	return NULL;
}

static struct error *walk_tasks(struct walk *walk)
{
	TRY(target_need_memory(walk->target));
	TRY(target_need_btf(walk->target));
	if (target_is_live(walk->target))
		TRY(settle(walk->target));
	const struct kept *kept = kept_tasks(walk->target);
	if (kept)
		return visit_kept(walk, kept);
	struct error *error = unless_full(walk, walk_lists(walk));
	if (!error && walk->problem && !walk->is_full)
		error = unless_full(walk, visit_by_pids(walk));
	if (!error && walk->problem && !walk->is_full)
		error = unless_full(walk, visit_by_slabs(walk));
	if (!error)
		keep(walk);
	seen_deinit(&walk->reached);
	free(walk->seen);
	free(walk->sorted);
	return error;
}

struct visitor {
	struct target *target;
	task_visitor *visit;
	void *context;
	struct error *problem;
	const struct kept *kept; /* with tasks; NULL: they are read, and remembered here */
	struct task *tasks;
	size_t number, task_count, task_capacity;
};

/*
 * Whether a task of a running machine has left its lists since they were walked, so that what was
 * read of it may be anything. Who is on them is linked back to (list_del_rcu() poisons `prev`).
 */
static bool has_exited(struct target *target, uint64_t address)
{
	struct object task, link;
	uint64_t next, prev, back = 0, forth = 0;
	if (!target_is_live(target))
		return false;
	struct error *error = object_at(target, "struct task_struct", address, &task);
	if (!error)
		error = object_member(&task, "thread_node", &link);
	if (!error)
		error = object_u64(&link, "next", &next);
	if (!error)
		error = object_u64(&link, "prev", &prev);
	if (!error)
		error = memory_read_word(target->memory, next + target->memory->word_size, &back);
	if (!error)
		error = memory_read_word(target->memory, prev, &forth);
	bool linked = !error && back == link.address && forth == link.address;
	error_free(error);
	return !linked;
}

/* One that is not whole is read again, and says again what is missing. */
static void remember(struct visitor *visitor, const struct task *task)
{
	if (target_is_live(visitor->target) || visitor->task_count == TASKS_KEPT_MAX ||
	    !array_reserve(&visitor->tasks, &visitor->task_capacity, visitor->task_count + 1))
		return;
	visitor->tasks[visitor->task_count++] = task && !task->problem ? *task : (struct task){ 0 };
}

static struct error *read_and_visit(void *context, uint64_t address)
{
	struct visitor *visitor = context;
	const struct kept *kept = visitor->kept;
	struct task task;
	size_t number = visitor->number++;
	if (kept && number < kept->task_count && kept->tasks[number].address == address)
		return visitor->visit(visitor->context, &kept->tasks[number]);
	struct error *error = task_read(visitor->target, address, &task);
	if (!kept)
		remember(visitor, error ? NULL : &task);
	if (error) {
		if (visitor->problem || has_exited(visitor->target, address))
			error_free(error);
		else
			visitor->problem = error;
		return NULL;
	}
	if (!has_exited(visitor->target, address))
		error = visitor->visit(visitor->context, &task);
	task_deinit(&task);
	return error;
}

/* Takes what a walk to the end has read of them. */
static void keep_read(struct visitor *visitor, const struct error *error)
{
	struct kept *kept = kept_tasks(visitor->target);
	if (error || !kept || kept->tasks || visitor->kept) {
		free(visitor->tasks);
		return;
	}
	kept->tasks = visitor->tasks;
	kept->task_count = visitor->task_count;
}

struct error *task_for_each(struct target *target, task_visitor *visit, void *context,
			    struct error **ret_problem)
{
	const struct kept *kept = kept_tasks(target);
	struct visitor visitor = { .target = target,
				   .visit = visit,
				   .context = context,
				   .kept = kept && kept->tasks ? kept : NULL };
	struct walk walk = { .target = target, .visit = read_and_visit, .context = &visitor };
	struct error *error = walk_tasks(&walk);
	keep_read(&visitor, error);
	if (visitor.problem)
		walk_problem(&walk, visitor.problem);
	*ret_problem = walk.problem;
	return error;
}

/* --- one of them ---------------------------------------------------------------------------- */

struct search {
	struct target *target;
	uint64_t pid;
	uint64_t found;
};

/* Only the pid is read: most tasks are not the one. An error that says nothing ends the walk. */
static struct error *match_pid(void *context, uint64_t address)
{
	struct search *search = context;
	struct object task;
	uint64_t pid;
	TRY(object_at(search->target, "struct task_struct", address, &task));
	struct error *error = object_u64(&task, "pid", &pid);
	error_free(error);
	if (error || pid != search->pid)
		return NULL;
	search->found = address;
	return error_create(ERROR_OTHER, "found"); /* ends the walk */
}

/* A kernel stack begins with a page. */
#define STACK_ALIGNMENT 4096

/* Any readable memory can be read as a task; most of it cannot be one. */
static struct error *find_at(struct target *target, uint64_t address, struct task *ret)
{
	struct task task;
	TRY(task_read(target, address, &task));
	/* Pid 0 is that of idle tasks alone, which init_idle() names. */
	bool is_task = task.pid ? task.pid > 0 && task.pid < PID_LIMIT
				: !strncmp(task.comm, "swapper", strlen("swapper"));
	is_task = is_task && task.stack % STACK_ALIGNMENT == 0;
	if (is_task || task.is_partial) {
		*ret = task;
		return NULL;
	}
	task_deinit(&task);
	return error_create(ERROR_NOT_FOUND,
			    "no task is at 0x%" PRIx64 ": its pid would be %" PRId32
			    ", its stack 0x%" PRIx64,
			    address, task.pid, task.stack);
}

struct error *task_find(struct target *target, uint64_t pid_or_address, struct task *ret)
{
	if (pid_or_address >= PID_LIMIT)
		return find_at(target, pid_or_address, ret);
	struct search search = { .target = target, .pid = pid_or_address };
	struct walk walk = { .target = target, .visit = match_pid, .context = &search };
	struct error *error = walk_tasks(&walk);
	if (search.found) {
		error_free(error);
		error = NULL;
	} else if (!error)
		error = error_create(ERROR_NOT_FOUND, "no task has pid %" PRIu64 "%s%s",
				     pid_or_address, walk.problem ? ": " : "",
				     walk.problem ? walk.problem->message : "");
	error_free(walk.problem);
	return error ? error : task_read(target, search.found, ret);
}

/* What is known of a task without its pid; takes `why`. */
static struct error *read_partial(struct target *target, const struct cpu *cpu, struct error *why,
				  struct task *ret)
{
	struct task task = { .address = cpu->current_task,
			     .cpu = cpu->number,
			     .on_cpu = true,
			     .is_partial = true,
			     .ppid = -1,
			     .is_idle = cpu->current_task == cpu->idle_task,
			     .state_letter = '?' };
	struct object object;
	struct error *error = object_at(target, "struct task_struct", cpu->current_task, &object);
	if (error || !cpu->has_registers) {
		error_free(error);
		return why;
	}
	task.problem = why;
	error = object_u64(&object, "stack", &task.stack);
	error_free(error);
	*ret = task;
	return NULL;
}

struct error *task_on_cpu(struct target *target, uint32_t number, struct task *ret)
{
	const struct cpu *cpu = target_cpu(target, number);
	if (!cpu)
		return error_create(ERROR_NOT_FOUND, "there is no CPU %" PRIu32, number);
	if (!cpu->current_task)
		return error_create(ERROR_NOT_FOUND, "the task of CPU %" PRIu32 " is not known",
				    number);
	struct error *error = task_read(target, cpu->current_task, ret);
	if (!error || error->kind == ERROR_NO_MEMORY)
		return error;
	/* The CPU's registers still lead to its stack. */
	return read_partial(target, cpu, error, ret);
}

void task_forget(struct target *target)
{
	target_detach(target, &kept_key);
}

struct error *task_panicking(struct target *target, struct task *ret)
{
	uint32_t number = 0;
	if (target_is_live(target)) {
		struct error *error = task_find(target, (uint64_t)getpid(), ret);
		if (!error || error_is_fatal(error))
			return error;
		error_free(error);
	}
	if (!target_panic_cpu(target, &number)) {
		const struct cpu *cpus;
		if (target_cpus(target, &cpus))
			number = cpus[0].number;
	}
	return task_on_cpu(target, number, ret);
}
