// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Who takes a file of sysfs or of another kernfs away waits until nobody is in its code any more
 * (fs/kernfs/dir.c, kernfs_drain()): the node counts those, their stacks say who they are.
 */
#include "debugger/analysis/waits_private.h"

#include "base/array.h"
#include "base/interrupt.h"
#include "debugger/unwind/unwind.h"
#include <limits.h>

#define NODE "struct kernfs_node"
/* Of kernfs_node.active: to which those who use it are added, once it goes (KN_DEACTIVATED_BIAS).
 */
#define DEACTIVATED (INT_MIN + 1)

static struct error *add_user(struct wait_world *world, uint64_t node, uint64_t task)
{
	if (!array_reserve(&world->kernfs_users, &world->kernfs_user_capacity,
			   world->kernfs_user_count + 1))
		return error_no_memory();
	world->kernfs_users[world->kernfs_user_count++] = (struct wait_kernfs_user){ node, task };
	return NULL;
}

/* The functions that call a file's own while the node counts them, and what leads to the node. */
static bool is_user(const struct frame *frame)
{
	static const char *const names[] = { "kernfs_fop_write_iter", "kernfs_fop_read_iter",
					     "kernfs_file_read_iter", "kernfs_seq_show",
					     "kernfs_fop_poll",	      "kernfs_fop_mmap",
					     "kernfs_fop_open" };
	for (size_t i = 0; i < ARRAY_COUNT(names); i++)
		if (wait_frame_is(frame, names[i]))
			return true;
	return false;
}

/* 0: not known. */
static uint64_t node_of(struct sleeper *user, size_t frame)
{
	struct wait_world *world = user->world;
	uint64_t iocb, file = 0, seq = 0, open, node;
	if (wait_argument(user, frame, frame + 1, "struct kiocb *", &iocb))
		wait_read(world, "struct kiocb", iocb, "ki_filp", &file);
	else
		wait_argument(user, frame, frame + 2, "struct file *", &file);
	if (file)
		wait_read(world, "struct file", file, "private_data", &seq);
	else
		wait_argument(user, frame, frame + 1, "struct seq_file *", &seq);
	return seq && wait_read(world, "struct seq_file", seq, "private", &open) &&
			       wait_read(world, "struct kernfs_open_file", open, "kn", &node)
		       ? node
		       : 0;
}

static struct error *look_at(struct wait_world *world, const struct task *task)
{
	struct stack_trace trace;
	struct error *error = unwind_task(world->target, task, &trace);
	if (error)
		return error_only_fatal(error);
	struct sleeper user = { .world = world, .task = task, .trace = &trace };
	for (size_t i = 0; i < trace.count && !error; i++)
		if (trace.frames[i].has_symbol && is_user(&trace.frames[i])) {
			error = add_user(world, node_of(&user, i), task->address);
			break;
		}
	free(user.arguments);
	stack_trace_deinit(&trace);
	return error;
}

static int compare_users(const void *a, const void *b)
{
	const struct wait_kernfs_user *one = a, *other = b;
	if (one->node != other->node)
		return one->node < other->node ? -1 : 1;
	return one->task < other->task ? -1 : one->task > other->task;
}

static struct error *load_users(struct wait_world *world)
{
	if (world->kernfs_loaded)
		return NULL;
	world->kernfs_loaded = true;
	for (size_t i = 0; i < world->task_count; i++) {
		TRY(interrupt_check());
		TRY(look_at(world, &world->tasks[i]));
	}
	array_sort(world->kernfs_users, world->kernfs_user_count, sizeof(*world->kernfs_users),
		   compare_users);
	return NULL;
}

/* `active`: how many the node counts; of several it is not known who comes out last. */
static void say_users(struct sleeper *sleeper, uint64_t node, uint64_t active)
{
	const struct wait_world *world = sleeper->world;
	struct wait *wait = sleeper->wait;
	size_t known = 0;
	const struct wait_kernfs_user *users = world->kernfs_users;
	size_t at = array_bound(world->kernfs_user_count, i, users[i].node < node);
	for (; at < world->kernfs_user_count && users[at].node == node; at++) {
		if (known < WAIT_OTHERS_MAX)
			wait->others[known] = users[at].task;
		/* More are not told of. */
		if (++known > WAIT_OTHERS_MAX)
			break;
	}
	if (!active) {
		wait->owner_how = "nobody is in its code any more: a waiter is being woken";
	} else if (known == 1 && active == 1) {
		wait->owner = wait->others[0];
		wait->owner_sure = CONFIDENCE_CERTAIN;
		wait->owner_how = "it is in the code of that file";
	} else if (known) {
		wait->owner_how = "several tasks are in the code of that file";
		wait->other_count = known < WAIT_OTHERS_MAX ? known : WAIT_OTHERS_MAX;
		wait->has_more_others = active > wait->other_count;
	} else {
		/* Those of files that are not known come first. */
		bool has_unknown = world->kernfs_user_count && !users->node;
		wait->owner_how = has_unknown ? "some task is in the code of that file, which one "
						"is not known"
					      : "no task is seen in the code of that file";
	}
}

struct error *wait_find_kernfs(struct sleeper *sleeper)
{
	struct wait_world *world = sleeper->world;
	struct wait *wait = sleeper->wait;
	uint64_t node, active;
	if (!wait_frame_is(&sleeper->trace->frames[sleeper->frame], "kernfs_drain") ||
	    !wait_argument(sleeper, sleeper->frame, sleeper->frame + 1, NODE " *", &node))
		return NULL;
	wait->kind = "kernfs file";
	wait->type = NODE;
	wait->object = wait->within = node;
	wait->within_type = NODE;
	wait->how = "argument";
	wait->sure = CONFIDENCE_CERTAIN;
	wait->owner_how = "who is in the code of that file could not be found out";
	if (!wait_read(world, NODE, node, "active.counter", &active))
		return NULL;
	TRY(load_users(world));
	say_users(sleeper, node, (uint32_t)active - (uint32_t)DEACTIVATED);
	return NULL;
}
