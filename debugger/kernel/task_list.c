// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/kernel/task_list.h"

#include "base/array.h"
#include "base/interrupt.h"
#include "base/seen.h"
#include "debugger/kernel/pid_table.h"
#include "debugger/kernel/slab_tasks.h"
#include "debugger/target/attached.h"
#include "debugger/target/list.h"
#include "debugger/target/object.h"
#include <inttypes.h>
#include <stdlib.h>

/* Each has a pid, but for the idle ones, and lies somewhere. */
#define TASKS_MORE (64u << 10)
#define TASKS_MAX  (PID_LIMIT + TASKS_MORE)

#define LIVE_ATTEMPTS 8

struct walk {
	struct target *target;
	task_list_visitor *visit;
	void *context;
	uint64_t tasks, thread_node, thread_head; /* offsets in task_struct and signal_struct */
	struct error *problem;
	struct seen reached; /* tasks, and signal_structs whose threads were */
	uint64_t *seen;	     /* tasks that were visited, in order */
	size_t seen_count, seen_capacity;
	size_t idle_count; /* the first of them are idle tasks */
	uint64_t *sorted;  /* those of them that are not asked for again */
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
	walk->idle_count = walk->seen_count;
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

/*
 * A list that ends too early looks like a whole one, so it is held against nr_threads: it counts
 * tasks once they are on their lists, and no longer before they leave them (copy_process(),
 * __unhash_process() in the kernel's kernel/fork.c, kernel/exit.c).
 */
static void compare_count(struct walk *walk)
{
	struct object counter;
	uint64_t counted = 0, found = walk->seen_count - walk->idle_count;
	if (walk->problem || target_is_live(walk->target))
		return;
	struct error *error = object_variable(walk->target, "nr_threads", "int", &counter);
	if (!error)
		error = object_u64(&counter, NULL, &counted);
	if (!error && found < counted)
		walk_problem(walk, error_create(ERROR_FORMAT,
						"the lists have %" PRIu64 " of %" PRIu64
						" tasks that the kernel counted",
						found, counted));
	error_free(error);
}

static struct error *walk_lists(struct walk *walk)
{
	TRY(visit_idle(walk));
	TRY(visit_processes(walk));
	compare_count(walk);
	return NULL;
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

static struct error *walk_all(struct walk *walk)
{
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

struct error *task_list_for_each(struct target *target, task_list_visitor *visit, void *context,
				 struct error **ret_problem)
{
	struct walk walk = { .target = target, .visit = visit, .context = context };
	*ret_problem = NULL;
	TRY(target_need_memory(target));
	TRY(target_need_btf(target));
	if (target_is_live(target))
		TRY(settle(target));
	const struct kept *kept = kept_tasks(target);
	struct error *error = kept ? visit_kept(&walk, kept) : walk_all(&walk);
	*ret_problem = walk.problem;
	return error;
}

void task_list_forget(struct target *target)
{
	target_detach(target, &kept_key);
}
