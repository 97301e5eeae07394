// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Who waits for a child to end (kernel/exit.c, do_wait()): a shell, and a worker of the kernel that
 * has started a program for somebody else, as to load a module (kernel/umh.c).
 */
#include "debugger/analysis/waits_private.h"

/* --- children ----------------------------------------------------------------------------------
 */

struct children {
	uint64_t first;
	size_t count;
	bool is_unread;
};

/* `pid`: of the only one that is waited for; 0: of any. */
static void count_children(struct wait_world *world, uint64_t parent, uint64_t pid,
			   struct children *ret)
{
	const char *type = "struct task_struct";
	for (size_t i = 0; i < world->task_count; i++) {
		uint64_t address = world->tasks[i].address, value;
		ret->is_unread |= !world->members_left;
		if (!world->members_left)
			return;
		world->members_left--;
		if (!wait_read(world, type, address, "parent", &value)) {
			ret->is_unread = true;
			continue;
		}
		if (value != parent)
			continue;
		if (!wait_read(world, type, address, "thread_pid", &value)) {
			ret->is_unread = true;
			continue;
		}
		if (pid && value != pid)
			continue;
		ret->first = ret->first ?: address;
		ret->count++;
	}
}

/*
 * A process may wait for a child that waits for it by turns, which is no deadlock: of those of the
 * kernel alone it is said who holds them up.
 */
static void say_child(struct sleeper *sleeper, uint64_t options)
{
	struct wait_world *world = sleeper->world;
	struct wait *wait = sleeper->wait;
	uint64_t flags, pid;
	struct children children = { 0 };
	if (!wait_read(world, "struct task_struct", sleeper->task->address, "flags", &flags) ||
	    !(flags & PF_KTHREAD) || !wait_read(world, "struct wait_opts", options, "wo_pid", &pid))
		return;
	count_children(world, sleeper->task->address, pid, &children);
	if (children.count != 1)
		return;
	wait->owner = children.first;
	wait->owner_sure = children.is_unread ? CONFIDENCE_INFERRED : CONFIDENCE_CERTAIN;
	wait->owner_how = "the program that it has started";
}

bool wait_find_child(struct sleeper *sleeper, uint64_t entry)
{
	const struct wait_world *world = sleeper->world;
	struct wait *wait = sleeper->wait;
	uint64_t offset, signals;
	if (!wait_offset(world, "struct wait_opts", "child_wait", &offset) ||
	    !wait_read(world, "struct task_struct", sleeper->task->address, "signal", &signals))
		return false;
	wait->kind = "child";
	wait->type = "struct signal_struct";
	wait->object = signals;
	wait->how = "list";
	wait->sure = CONFIDENCE_CERTAIN;
	wait->owner_how = "its child, until that ends";
	say_child(sleeper, entry - offset);
	return true;
}

/* --- programs that the kernel starts -----------------------------------------------------------
 */

struct error *wait_find_program(struct sleeper *sleeper, bool *ret)
{
	const char *type = "struct subprocess_info";
	struct wait_world *world = sleeper->world;
	struct wait *wait = sleeper->wait;
	uint64_t info, completion, work, owner;
	*ret = false;
	if (!wait_argument(sleeper, sleeper->frame, sleeper->frame + 4, "struct subprocess_info *",
			   &info) ||
	    !wait_read(world, type, info, "complete", &completion) || completion != wait->object ||
	    !wait_offset(world, type, "work", &work))
		return NULL;
	*ret = true;
	wait->kind = "program";
	wait->type = wait->within_type = type;
	wait->object = wait->within = info;
	wait->owner_how = "no worker is known to run it";
	TRY(wait_worker_of_work(sleeper, info + work, &owner));
	if (!owner)
		return NULL;
	wait->owner = owner;
	wait->owner_sure = CONFIDENCE_CERTAIN;
	wait->owner_how = "the worker that started it";
	return NULL;
}

void wait_put_program(struct target *target, uint64_t address, struct strbuf *ret)
{
	const struct wait_world world = { .target = target };
	char path[256];
	uint64_t place;
	size_t length;
	if (!wait_read(&world, "struct subprocess_info", address, "path", &place))
		return;
	struct error *error =
		memory_read_string(target->memory, place, path, sizeof(path), &length);
	if (!error)
		strbuf_put(ret, path);
	error_free(error);
}
