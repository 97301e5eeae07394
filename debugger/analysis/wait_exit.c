// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Tasks that end, and wait for others. The first process of a PID namespace ends after all others
 * in it (kernel/pid_namespace.c, zap_pid_ns_processes()). They were killed: one that is still there
 * cannot end, or has ended and its parent, who came from outside, does not wait for it. The threads
 * of a process whose core is dumped end after the one that dumps it (kernel/exit.c,
 * coredump_task_exit()).
 */
#include "debugger/analysis/waits_private.h"

#include "base/array.h"

#define NAMESPACE "struct pid_namespace"

/* --- PID namespaces -------------------------------------------------------------------------- */

struct members {
	uint64_t space, level; /* the namespace, and how deep it lies */
	uint64_t numbers;      /* offsets in struct pid, of one number's namespace */
	uint64_t number_size;
	uint64_t leader; /* of the process that waits */
	uint64_t tasks[WAIT_OTHERS_MAX];
	size_t count;	/* of tasks: threads are some of their own */
	size_t leaders; /* of processes */
	size_t own;	/* threads of the one that waits */
	uint64_t alive; /* a task of theirs that has not ended, if need be a thread; 0: none */
	bool is_unread;
};

static bool find_layout(struct wait_world *world, struct members *ret)
{
	struct object number;
	struct error *error = object_at(world->target, "struct upid", 0, &number);
	bool is_known = !error && type_size(number.type, &ret->number_size);
	error_free(error);
	return is_known && wait_offset(world, "struct pid", "numbers[0].ns", &ret->numbers);
}

/* A process of a namespace below is in all those above as well. */
static bool is_member(struct wait_world *world, struct members *members, const struct task *task)
{
	uint64_t pid, level, space;
	if (!wait_read(world, "struct task_struct", task->address, "thread_pid", &pid)) {
		members->is_unread = true;
		return false;
	}
	/* One that was unhashed has none. */
	if (!pid)
		return false;
	if (!wait_read(world, "struct pid", pid, "level", &level)) {
		members->is_unread = true;
		return false;
	}
	if (level < members->level)
		return false;
	uint64_t at = pid + members->numbers + members->level * members->number_size;
	struct error *error = memory_read_word(world->target->memory, at, &space);
	members->is_unread |= error != NULL;
	bool is_there = !error && space == members->space;
	error_free(error);
	return is_there;
}

static void add_member(struct wait_world *world, struct members *members, const struct task *task)
{
	uint64_t leader;
	if (!is_member(world, members, task))
		return;
	if (!wait_read(world, "struct task_struct", task->address, "group_leader", &leader))
		leader = task->address;
	if (leader == members->leader) {
		members->own++;
		return;
	}
	members->count++;
	bool is_first = leader == task->address;
	if (task->state_letter != 'Z' && (is_first || !members->alive))
		members->alive = task->address;
	if (!is_first)
		return;
	if (members->leaders < WAIT_OTHERS_MAX)
		members->tasks[members->leaders] = leader;
	members->leaders++;
}

/*
 * Of one process: the task that still lives, which may be a thread behind a first one that has
 * ended. Who has ended holds nobody up: its parent does, that does not wait for it.
 */
static uint64_t who_delays(struct wait_world *world, const struct members *members,
			   const char **ret_how)
{
	uint64_t member = members->tasks[0], parent;
	*ret_how = !members->alive || members->alive == member
			   ? "the last process of that namespace"
			   : "a thread of the last process of that namespace";
	if (members->alive)
		return members->alive;
	if (members->is_unread ||
	    !wait_read(world, "struct task_struct", member, "parent", &parent) ||
	    !wait_task_at(world, parent))
		return member;
	*ret_how = "it has not waited for the last process of that namespace, which has ended";
	return parent;
}

static void say_members(struct sleeper *sleeper, const struct members *members)
{
	struct wait *wait = sleeper->wait;
	uint64_t allocated;
	bool counts =
		wait_read(sleeper->world, NAMESPACE, members->space, "pid_allocated", &allocated);
	if (members->leaders == 1) {
		wait->owner = who_delays(sleeper->world, members, &wait->owner_how);
		bool is_whole = counts && !members->is_unread &&
				(uint32_t)allocated == members->count + members->own;
		wait->owner_sure = is_whole ? CONFIDENCE_CERTAIN : CONFIDENCE_INFERRED;
	} else if (members->leaders) {
		wait->owner_how = "several processes are still in that namespace";
		wait->other_count = members->leaders < WAIT_OTHERS_MAX ? (uint32_t)members->leaders
								       : WAIT_OTHERS_MAX;
		wait->has_more_others = members->leaders > WAIT_OTHERS_MAX;
		for (size_t i = 0; i < wait->other_count; i++)
			wait->others[i] = members->tasks[i];
	} else {
		wait->owner_how = "no other process is seen in that namespace";
	}
}

static struct error *find_pid_namespace(struct sleeper *sleeper)
{
	struct wait_world *world = sleeper->world;
	struct wait *wait = sleeper->wait;
	struct members members = { 0 };
	if (!wait_frame_is(&sleeper->trace->frames[sleeper->frame], "zap_pid_ns_processes") ||
	    !wait_argument(sleeper, sleeper->frame, sleeper->frame + 1, NAMESPACE " *",
			   &members.space))
		return NULL;
	wait->kind = "PID namespace";
	wait->type = NAMESPACE;
	wait->object = members.space;
	wait->how = "argument";
	wait->sure = CONFIDENCE_CERTAIN;
	wait->owner_how = "which processes are in that namespace could not be found out";
	if (!wait_read(world, NAMESPACE, members.space, "level", &members.level) ||
	    !wait_read(world, "struct task_struct", sleeper->task->address, "group_leader",
		       &members.leader) ||
	    !find_layout(world, &members))
		return NULL;
	if (world->members_left < world->task_count) {
		wait->owner_how = "there are too many processes to look through";
		return NULL;
	}
	world->members_left -= world->task_count;
	for (size_t i = 0; i < world->task_count; i++)
		add_member(world, &members, &world->tasks[i]);
	say_members(sleeper, &members);
	return NULL;
}

/* --- core dumps ------------------------------------------------------------------------------ */

/* Where the process notes that its core is dumped: since 0258b5fd7c71 (5.16) its signals do. */
static bool read_core_state(struct sleeper *sleeper, uint64_t *ret)
{
	struct wait_world *world = sleeper->world;
	uint64_t signals, mm, offset, task = sleeper->task->address;
	if (wait_offset(world, "struct signal_struct", "core_state", &offset))
		return wait_read(world, "struct task_struct", task, "signal", &signals) &&
		       wait_read(world, "struct signal_struct", signals, "core_state", ret);
	return wait_read(world, "struct task_struct", task, "mm", &mm) && mm &&
	       wait_read(world, "struct mm_struct", mm, "core_state", ret);
}

/* The function that waits is a part of who calls it: its name may not be there. */
static void find_core_dump(struct sleeper *sleeper)
{
	static const char *const names[] = { "coredump_task_exit", "do_exit", "exit_mm" };
	const struct frame *frame = &sleeper->trace->frames[sleeper->frame];
	struct wait *wait = sleeper->wait;
	uint64_t state, dumper;
	bool ends = false;
	for (size_t i = 0; i < ARRAY_COUNT(names); i++)
		ends |= wait_frame_is(frame, names[i]);
	if (!ends || !read_core_state(sleeper, &state) || !state ||
	    !wait_read(sleeper->world, "struct core_state", state, "dumper.task", &dumper) ||
	    dumper == sleeper->task->address || !wait_task_at(sleeper->world, dumper))
		return;
	wait->kind = "core dump";
	wait->type = "struct core_state";
	wait->object = state;
	wait->how = "task's own note";
	wait->sure = CONFIDENCE_CERTAIN;
	wait->owner = dumper;
	wait->owner_sure = CONFIDENCE_CERTAIN;
	wait->owner_how = "the thread that dumps the core of its process";
}

struct error *wait_find_exit(struct sleeper *sleeper)
{
	TRY(find_pid_namespace(sleeper));
	if (!sleeper->wait->kind)
		find_core_dump(sleeper);
	return NULL;
}
