// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Nobody owns a completion: who completes it is known by what it lies in (kernel/fork.c, kthread.c,
 * workqueue.c, rcu/update.c).
 */
#include "debugger/analysis/rcu_owing.h"
#include "debugger/analysis/waits_private.h"

#include "base/array.h"

/* --- those that the end of a task completes --------------------------------------------- */

static int compare_ends(const void *a, const void *b)
{
	const struct wait_end *one = a, *other = b;
	return one->completion < other->completion ? -1 : one->completion > other->completion;
}

static struct error *load_ends(struct wait_world *world)
{
	for (size_t i = 0; i < world->task_count; i++) {
		const struct task *task = &world->tasks[i];
		uint64_t completion, flags;
		if (!wait_read(world, "struct task_struct", task->address, "vfork_done",
			       &completion) ||
		    !completion ||
		    !wait_read(world, "struct task_struct", task->address, "flags", &flags))
			continue;
		if (!array_reserve(&world->ends, &world->end_capacity, world->end_count + 1))
			return error_no_memory();
		world->ends[world->end_count++] =
			(struct wait_end){ completion, task->address, (flags & PF_KTHREAD) != 0 };
	}
	array_sort(world->ends, world->end_count, sizeof(*world->ends), compare_ends);
	world->ends_loaded = true;
	return NULL;
}

static const struct wait_end *find_end(const struct wait_world *world, uint64_t completion)
{
	const struct wait_end key = { .completion = completion };
	return array_search(&key, world->ends, world->end_count, sizeof(*world->ends),
			    compare_ends);
}

/* Every kernel thread's vfork_done leads to its struct kthread: no vfork(), but kthread_stop(). */
static struct error *end_of_task(struct sleeper *sleeper, bool *ret)
{
	struct wait_world *world = sleeper->world;
	struct wait *wait = sleeper->wait;
	uint64_t exited, parked;
	*ret = false;
	if (!world->ends_loaded)
		TRY(load_ends(world));
	const struct wait_end *end = find_end(world, wait->object);
	wait->owner_how = end && end->is_kthread ? "the kernel thread that is to end"
						 : "its vfork child, until that ends or execs";
	if (!end && wait_offset(world, "struct kthread", "exited", &exited) &&
	    wait_offset(world, "struct kthread", "parked", &parked)) {
		end = find_end(world, wait->object - parked + exited);
		end = end && end->is_kthread ? end : NULL;
		wait->owner_how = "the kernel thread that is to park";
	}
	if (!end)
		return NULL;
	wait->owner = end->task;
	wait->owner_sure = CONFIDENCE_CERTAIN;
	*ret = true;
	return NULL;
}

/* --- grace periods ---------------------------------------------------------------------- */

/* What runs on the only CPU that the grace period waits for: an idle one owes it nothing. */
static void find_reader(struct sleeper *sleeper)
{
	struct target *target = sleeper->world->target;
	struct wait *wait = sleeper->wait;
	struct rcu_owing owing;
	struct error *error = rcu_owing_find(target, &owing);
	error_free(error);
	if (!error && !owing.count && owing.task && wait_task_at(sleeper->world, owing.task)) {
		wait->owner = owing.task;
		wait->owner_sure = owing.task_count == 1 ? CONFIDENCE_CERTAIN : CONFIDENCE_INFERRED;
		wait->owner_how = owing.task_count == 1
					  ? "it alone holds the grace period up: it reads"
					  : "one of several tasks that read";
	}
	if (error || !owing.count)
		return;
	const struct cpu *cpu = target_cpu(target, owing.first);
	if (owing.count > 1) {
		wait->owner_how = "several CPUs owe it a quiescent state";
	} else if (cpu && cpu->current_task && cpu->current_task != cpu->idle_task &&
		   wait_task_at(sleeper->world, cpu->current_task)) {
		wait->owner = cpu->current_task;
		wait->owner_sure = CONFIDENCE_CERTAIN;
		wait->owner_how = "its CPU alone owes the grace period a quiescent state";
	}
}

static bool is_grace_period(struct sleeper *sleeper)
{
	struct wait *wait = sleeper->wait;
	const char *type = "struct rcu_synchronize";
	uint64_t completion, function;
	if (!wait_offset(sleeper->world, type, "completion", &completion))
		return false;
	uint64_t start = wait->object - completion;
	if (!wait_read(sleeper->world, type, start, "head.func", &function) ||
	    !wait_is_function(sleeper->world, function, "wakeme_after_rcu"))
		return false;
	bool is_srcu = wait_argument(sleeper, sleeper->frame, sleeper->frame + 4,
				     "struct srcu_struct *", &function);
	wait->kind = is_srcu ? "SRCU grace period" : "RCU grace period";
	wait->type = is_srcu ? "struct srcu_struct" : type;
	wait->object = is_srcu ? function : start;
	wait->owner_how = "readers, whom the kernel does not name";
	if (!is_srcu)
		find_reader(sleeper);
	return true;
}

struct error *wait_completer(struct sleeper *sleeper)
{
	struct wait *wait = sleeper->wait;
	bool found;
	uint64_t done;
	wait->is_granted = wait_read(sleeper->world, wait->type, wait->object, "done", &done) &&
			   done != 0;
	TRY(wait_flush_of_work(sleeper, &found));
	if (!found)
		TRY(wait_flush_of_queue(sleeper, &found));
	if (found || is_grace_period(sleeper))
		return NULL;
	TRY(wait_find_bio(sleeper, &found));
	if (!found)
		TRY(wait_find_program(sleeper, &found));
	if (found)
		return NULL;
	TRY(end_of_task(sleeper, &found));
	if (!found)
		wait->owner_how = "a completion does not say who completes it";
	return NULL;
}
