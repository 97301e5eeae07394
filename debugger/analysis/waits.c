// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/analysis/waits.h"

#include "base/array.h"
#include "base/interrupt.h"
#include "debugger/analysis/waits_private.h"
#include "debugger/kernel/clock.h"
#include "debugger/unwind/stacks.h"
#include <string.h>

#define BIOS_MAX                                                                                   \
	((uint64_t)1 << 22) /* bios and tags that are looked at for all waiters together           \
			     */
/* Tasks that are looked at for all who wait for others to end: seconds. */
#define MEMBERS_MAX (1u << 23)

/* --- reading ---------------------------------------------------------------------------- */

bool wait_offset(const struct wait_world *world, const char *type, const char *path, uint64_t *ret)
{
	struct error *error = object_offset(world->target, type, path, ret);
	error_free(error);
	return !error;
}

bool wait_read(const struct wait_world *world, const char *type, uint64_t address, const char *path,
	       uint64_t *ret)
{
	struct object object;
	struct error *error = object_at(world->target, type, address, &object);
	if (!error)
		error = object_u64(&object, path, ret);
	error_free(error);
	return !error;
}

bool wait_is_function(const struct wait_world *world, uint64_t address, const char *name)
{
	struct symbol symbol;
	uint64_t offset;
	if (!address || !target_symbol_at(world->target, address, &symbol, &offset) || offset ||
	    !symbol_is_text(&symbol))
		return false;
	return !name || !strcmp(symbol.name, name);
}

static int compare_tasks(const void *a, const void *b)
{
	const struct task *one = a, *other = b;
	return one->address < other->address ? -1 : one->address > other->address;
}

const struct task *wait_task_at(const struct wait_world *world, uint64_t address)
{
	const struct task key = { .address = address };
	return array_search(&key, world->tasks, world->task_count, sizeof(*world->tasks),
			    compare_tasks);
}

bool wait_is_on_stack(const struct wait_world *world, const struct task *task, uint64_t address)
{
	return task->stack && address >= task->stack && address - task->stack < world->stack_size;
}

/* --- the world ----------------------------------------------------------------------------------
 */

/* The highest of the run queues' clocks: they are brought up to date when something happens there.
 */
static uint64_t latest_clock(struct target *target)
{
	const struct cpu *cpus;
	size_t count = target_cpus(target, &cpus);
	uint64_t latest = 0;
	for (size_t i = 0; i < count; i++) {
		struct object queue;
		uint64_t clock = 0;
		struct error *error =
			object_per_cpu(target, "runqueues", "struct rq", &cpus[i], &queue);
		if (!error)
			error = object_u64(&queue, "clock", &clock);
		error_free(error);
		if (!error && clock > latest)
			latest = clock;
	}
	return latest;
}

static void find_age(const struct wait_world *world, struct wait *wait)
{
	uint64_t arrival;
	if (!wait_read(world, "struct task_struct", wait->task.address, "sched_info.last_arrival",
		       &arrival) ||
	    !arrival || arrival > world->now)
		return;
	wait->has_age = true;
	wait->age = world->now - arrival;
}

static struct error *keep_task(void *context, const struct task *task)
{
	struct wait_world *world = context;
	struct stacks stacks;
	TRY(interrupt_check());
	TRY(budget_reserve(&world->target->kept, &world->tasks, &world->task_capacity,
			   world->task_count + 1));
	if (!world->stack_size && task->stack) {
		stacks_init(&stacks, world->target, task, NULL);
		if (stacks.count)
			world->stack_size = stacks.bounds[0].end - stacks.bounds[0].start;
	}
	struct task *kept = &world->tasks[world->task_count++];
	*kept = *task;
	kept->problem = NULL;
	return NULL;
}

static void world_deinit(struct wait_world *world)
{
	wait_rings_deinit(&world->rings);
	budget_release(&world->target->kept, world->tasks, world->task_capacity);
	free(world->workers);
	free(world->ends);
	free(world->kernfs_users);
	free(world->files);
	free(world->super_blocks);
	free(world->by_pid);
}

/* --- one task after the other -------------------------------------------------------------------
 */

static struct error *find_of_trace(struct wait_world *world, struct stack_trace *trace,
				   struct wait *wait)
{
	struct sleeper sleeper = {
		.world = world, .task = &wait->task, .trace = trace, .wait = wait
	};
	struct error *error = wait_find(&sleeper);
	free(sleeper.stack);
	free(sleeper.arguments);
	return error;
}

/* Others than those in an uninterruptible sleep count only when what they wait for is known. */
static bool is_worth_keeping(struct wait *wait)
{
	bool is_stuck = wait->task.state_letter == 'D';
	if (is_stuck && !wait->kind)
		wait->kind = "sleep";
	return is_stuck || (wait->kind && wait->object);
}

static struct error *find_one(struct wait_world *world, const struct task *task)
{
	struct waits *waits = world->waits;
	struct stack_trace trace;
	struct wait wait = { .task = *task,
			     .function = "",
			     .caller = "",
			     .owner_wait = WAIT_NONE,
			     .chain = WAIT_NONE };
	TRY(unwind_task(world->target, task, &trace));
	struct error *error = find_of_trace(world, &trace, &wait);
	bool holds = !error && unwind_holds(world->target, task, &trace);
	if (holds && !trace.count && trace.end && !waits->problem) {
		waits->problem = error_prefix(trace.end, "the stack of task %d", task->pid);
		trace.end = NULL;
	}
	stack_trace_deinit(&trace);
	if (error || !holds || !is_worth_keeping(&wait))
		return error;
	find_age(world, &wait);
	TRY(budget_reserve(waits->budget, &waits->items, &waits->capacity, waits->count + 1));
	waits->items[waits->count++] = wait;
	return NULL;
}

/*
 * Not those that run, that were woken, and kernel threads that wait for nothing but work. A process
 * sleeps as these do while it ends (zap_pid_ns_processes(), coredump_task_exit()).
 */
static bool may_wait(const struct wait_world *world, const struct task *task)
{
	uint64_t flags;
	if (task->on_cpu || task->is_idle || task->is_partial || !task->state_letter)
		return false;
	if (task->state_letter == 'I')
		return wait_read(world, "struct task_struct", task->address, "flags", &flags) &&
		       !(flags & PF_KTHREAD);
	return strchr("SDtT", task->state_letter);
}

static struct error *find_all(struct wait_world *world, const uint64_t *order)
{
	for (int stuck = 1; stuck >= 0; stuck--)
		for (size_t i = 0; i < world->task_count; i++) {
			const struct task *task = wait_task_at(world, order[i]);
			if ((task->state_letter == 'D') != stuck || !may_wait(world, task))
				continue;
			TRY(interrupt_check());
			TRY(find_one(world, task));
		}
	return NULL;
}

static const struct task *task_of(void *context, uint64_t address)
{
	return wait_task_at(context, address);
}

/* Where not all are kept, those are looked at that are; hands other errors on. */
static struct error *note_bound(struct waits *waits, struct error *error)
{
	if (!error || error->kind != ERROR_BOUND)
		return error;
	error_free(waits->problem);
	waits->problem = error_after_bound(error);
	return NULL;
}

static struct error *find_and_link(struct wait_world *world)
{
	size_t count = world->task_count;
	uint64_t *order = malloc((count + 1) * sizeof(*order));
	if (!order)
		return error_no_memory();
	for (size_t i = 0; i < count; i++)
		order[i] = world->tasks[i].address;
	array_sort(world->tasks, count, sizeof(*world->tasks), compare_tasks);
	struct error *error = note_bound(world->waits, find_all(world, order));
	wait_distrust_owners(world->waits);
	free(order);
	return error ? error : waits_link(world->waits, task_of, world);
}

struct error *waits_find(struct target *target, struct waits *ret)
{
	struct wait_world world = {
		.target = target, .waits = ret, .bios_left = BIOS_MAX, .members_left = MEMBERS_MAX
	};
	*ret = (struct waits){ .budget = &target->kept };
	TRY(target_need_memory(target));
	TRY(target_need_btf(target));
	TRY(target_need_symbols(target));
	struct error *error =
		note_bound(ret, task_for_each(target, keep_task, &world, &ret->problem));
	world.now = error ? 0 : latest_clock(target);
	/* Without it, ages are not compared. */
	if (!error)
		error_free(clock_now(target, &world.died));
	if (!error)
		error = find_and_link(&world);
	world_deinit(&world);
	if (error)
		waits_deinit(ret);
	return error;
}

void waits_deinit(struct waits *waits)
{
	budget_release(waits->budget, waits->items, waits->capacity);
	free(waits->chains);
	for (size_t i = 0; i < waits->ended_count; i++)
		free(waits->ended[i].text);
	error_free(waits->problem);
	*waits = (struct waits){ 0 };
}
