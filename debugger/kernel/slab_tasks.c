// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/kernel/slab_tasks.h"

#include "debugger/kernel/slab_objects.h"
#include "debugger/target/object.h"

/* PID_MAX_LIMIT */
#define PID_LIMIT  (4u << 20)
#define EXIT_DEAD  0x10u
#define COUNT_LOW  1u
#define COUNT_HIGH 0x40000000u /* beyond, a refcount_t is saturated */

struct task_search {
	struct target *target;
	struct error *(*visit)(void *context, uint64_t task);
	void *context;
};

/* What a member says of the task. A page of a large task may be missing: that says nothing. */
enum verdict { REFUTED, UNDECIDED, CONFIRMED };

static enum verdict check_range(const struct object *task, const char *path, uint64_t low,
				uint64_t high)
{
	uint64_t value;
	struct error *error = object_u64(task, path, &value);
	error_free(error);
	return error || (value >= low && value <= high) ? UNDECIDED : REFUTED;
}

/* A zombie's stack may be gone already (put_task_stack()). */
static enum verdict check_stack(const struct object *task, uint64_t kernel)
{
	if (check_range(task, "stack", 0, 0) != REFUTED)
		return UNDECIDED;
	return check_range(task, "stack", kernel, UINT64_MAX);
}

/* Whether the word at `address` is `expected`. */
static enum verdict check_link(struct target *target, uint64_t address, uint64_t expected)
{
	uint64_t value;
	struct error *error = memory_read_word(target->memory, address, &value);
	/* A poisoned link (LIST_POISON2) is where nothing is. */
	enum verdict missing = error && error->kind == ERROR_FAULT ? REFUTED : UNDECIDED;
	error_free(error);
	if (error)
		return missing;
	return value == expected ? CONFIRMED : REFUTED;
}

/* Its struct pid points back, until release_task(). */
static enum verdict check_pid(const struct object *task)
{
	struct object pid, first, link;
	struct error *error = object_member(task, "pid_links[0]", &link);
	if (!error)
		error = object_follow(task, "thread_pid", &pid);
	if (!error && pid.address)
		error = object_member(&pid, "tasks[0].first", &first);
	error_free(error);
	if (error)
		return UNDECIDED;
	return pid.address ? check_link(task->target, first.address, link.address) : REFUTED;
}

/* The thread before it, or the process, has to point back to it, too. */
static enum verdict check_threads(const struct object *task)
{
	struct object node;
	uint64_t previous;
	struct error *error = object_member(task, "thread_node", &node);
	if (!error)
		error = object_u64(&node, "prev", &previous);
	error_free(error);
	return error ? UNDECIDED : check_link(task->target, previous, node.address);
}

/* EXIT_DEAD is set by whoever is about to release the task. */
static enum verdict check_exit(const struct object *task)
{
	uint64_t state;
	struct error *error = object_u64(task, "exit_state", &state);
	error_free(error);
	return !error && state & EXIT_DEAD ? REFUTED : UNDECIDED;
}

static bool is_task(const struct object *task, bool is_allocated)
{
	uint64_t kernel = (uint64_t)1 << (task->target->memory->word_size * 8 - 1), pid;
	struct error *error = object_u64(task, "pid", &pid);
	error_free(error);
	if (error || !pid || pid > PID_LIMIT)
		return false;
	const enum verdict verdicts[] = {
		check_range(task, "tgid", 1, PID_LIMIT),
		check_range(task, "usage.refs.counter", COUNT_LOW, COUNT_HIGH),
		check_range(task, "signal", kernel, UINT64_MAX),
		check_stack(task, kernel),
		check_exit(task),
		check_pid(task),
		check_threads(task),
	};
	bool is_confirmed = is_allocated;
	for (size_t i = 0; i < sizeof(verdicts) / sizeof(verdicts[0]); i++) {
		if (verdicts[i] == REFUTED)
			return false;
		is_confirmed |= verdicts[i] == CONFIRMED;
	}
	return is_confirmed;
}

static struct error *visit_object(void *context, uint64_t address, bool is_allocated)
{
	struct task_search *search = context;
	struct object task;
	TRY(object_at(search->target, "struct task_struct", address, &task));
	return is_task(&task, is_allocated) ? search->visit(search->context, address) : NULL;
}

static struct error *open_cache(struct target *target, struct slab_walk **ret)
{
	uint64_t variable, cache;
	if (!symtab_address(target->symbols, "task_struct_cachep", &variable))
		return error_create(ERROR_NOT_FOUND, "the kernel has no symbol task_struct_cachep");
	TRY(error_prefix(memory_read_word(target->memory, variable, &cache), "task_struct_cachep"));
	return slab_walk_create(target, cache, ret);
}

struct error *slab_tasks_for_each(struct target *target,
				  struct error *(*visit)(void *context, uint64_t task),
				  void *context, struct error **ret_problem)
{
	struct task_search search = { .target = target, .visit = visit, .context = context };
	struct slab_walk *walk = NULL;
	*ret_problem = open_cache(target, &walk);
	if (*ret_problem)
		return NULL;
	struct error *error = slab_walk_objects(walk, visit_object, &search);
	slab_walk_destroy(walk);
	return error;
}
