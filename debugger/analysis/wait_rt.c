// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Who an rt_mutex blocks. Where all of the kernel can be preempted (PREEMPT_RT), mutexes,
 * rw_semaphores and even spinlocks are made of one: the functions around the wait say what the
 * rt_mutex is part of, and the types where in it (kernel/locking/rtmutex.c, rwbase_rt.c,
 * spinlock_rt.c).
 */
#include "debugger/analysis/waits_private.h"

#include "base/array.h"
#include <stdio.h>
#include <string.h>

#define RT_MUTEX_FLAGS 1u
/* From where it sleeps up to who locks a futex. */
#define PI_FRAMES 5
/* Of struct rwbase_rt.readers: it is written to, and no reader is in it. */
#define RWBASE_WRITER ((uint32_t)1 << 30)
/* Of task_struct.__state: a lock that does not sleep elsewhere. */
#define STATE_RTLOCK_WAIT 0x1000u

/* What is made of an rt_mutex, and where in it that lies. */
struct rt_class {
	const char *kind, *type, *rt_mutex;
};

static const struct rt_class mutex = { "mutex", "struct mutex", "rtmutex" };
static const struct rt_class spinlock = { "spinlock", "struct spinlock", "lock" };
static const struct rt_class rwsem = { "rwsem", "struct rw_semaphore", "rwbase.rtmutex" };
static const struct rt_class rwlock = { "rwlock", "rwlock_t", "rwbase.rtmutex" };

/* The first function of these tells; one that ends in "*" stands for all that begin so. */
static const struct rt_row {
	const char *function;
	const struct rt_class *class; /* NULL: any that readers and writers share */
	const char *mode;
} rows[] = {
	{ "__rwbase_read_lock", NULL, "read" }, { "rwbase_read_lock", NULL, "read" },
	{ "rwbase_write_lock", NULL, "write" }, { "down_read*", &rwsem, "read" },
	{ "down_write*", &rwsem, "write" },	{ "rt_read_lock", &rwlock, "read" },
	{ "rt_write_lock", &rwlock, "write" },	{ "rt_spin_lock*", &spinlock, NULL },
	{ "mutex_lock*", &mutex, NULL },	{ "_mutex_lock*", &mutex, NULL },
	{ "__mutex_lock*", &mutex, NULL },	{ "ww_mutex_lock*", &mutex, NULL },
};

/* Functions between the scheduler and those. */
static bool is_slow_path(const struct frame *frame)
{
	static const char *const prefixes[] = { "rt_mutex_slowlock", "__rt_mutex_slowlock",
						"rtlock_slowlock", "__rt_mutex_lock",
						"rt_mutex_wait_proxy_lock" };
	for (size_t i = 0; i < ARRAY_COUNT(prefixes) && frame->has_symbol; i++)
		if (!strncmp(frame->symbol.name, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

static const struct rt_row *row_of(const struct frame *frame)
{
	for (size_t i = 0; i < ARRAY_COUNT(rows) && frame->has_symbol; i++) {
		size_t length = strcspn(rows[i].function, "*");
		if (rows[i].function[length]
			    ? !strncmp(frame->symbol.name, rows[i].function, length)
			    : wait_frame_is(frame, rows[i].function))
			return &rows[i];
	}
	return NULL;
}

bool wait_is_rt_lock(const struct frame *frame)
{
	return is_slow_path(frame) || row_of(frame);
}

static const struct rt_row *find_row(const struct sleeper *sleeper)
{
	const struct stack_trace *trace = sleeper->trace;
	size_t i = sleeper->frame;
	while (i < trace->count && is_slow_path(&trace->frames[i]))
		i++;
	return i < trace->count ? row_of(&trace->frames[i]) : NULL;
}

/* The code of readers and writers is in the kernel twice, under one name: the state tells which. */
static const struct rt_class *class_of(const struct sleeper *sleeper, const struct rt_row *row)
{
	uint64_t state;
	if (row->class)
		return row->class;
	bool is_lock = wait_read(sleeper->world, "struct task_struct", sleeper->task->address,
				 "__state", &state) &&
		       (state & STATE_RTLOCK_WAIT);
	return is_lock ? &rwlock : &rwsem;
}

static bool own(struct sleeper *sleeper, uint64_t word, const char *how)
{
	uint64_t owner = word & ~(uint64_t)RT_MUTEX_FLAGS;
	if (!owner || !wait_task_at(sleeper->world, owner))
		return false;
	if (wait_is_younger(sleeper, owner)) {
		sleeper->wait->owner_how = wait_not_its_own;
		return true;
	}
	sleeper->wait->owner = owner;
	sleeper->wait->owner_sure = CONFIDENCE_CERTAIN;
	sleeper->wait->owner_how = how;
	return true;
}

static struct error *find_owner(struct sleeper *sleeper, const char *type, uint64_t lock)
{
	struct wait *wait = sleeper->wait;
	const char *ended = NULL;
	uint64_t word;
	if (!wait_read(sleeper->world, type, lock, "owner", &word)) {
		wait->owner_how = "its owner cannot be read";
		return NULL;
	}
	if (own(sleeper, word, "owner word"))
		return NULL;
	uint64_t owner = word & ~(uint64_t)RT_MUTEX_FLAGS;
	if (owner)
		TRY(wait_name_ended(sleeper, owner, &ended));
	wait->owner_how = ended	  ? ended
			  : owner ? "its owner word names no task"
				  : "it is free: a waiter is being woken";
	return NULL;
}

/* Whether who has the rt_mutex of readers and writers writes, or waits for readers to go. */
static void tell_writer(struct sleeper *sleeper)
{
	struct wait *wait = sleeper->wait;
	uint64_t readers;
	if (wait->owner &&
	    wait_read(sleeper->world, wait->type, wait->object, "rwbase.readers.counter", &readers))
		wait->owner_how = (uint32_t)readers == RWBASE_WRITER
					  ? "owner word, as writer"
					  : "the writer that waits for readers";
}

/* The lock that the rt_mutex is part of, where this kernel makes it of one. */
static void find_whole(struct sleeper *sleeper, uint64_t lock)
{
	struct wait *wait = sleeper->wait;
	const struct rt_row *row = find_row(sleeper);
	const struct rt_class *class = row ? class_of(sleeper, row) : NULL;
	uint64_t offset;
	if (!class || !wait_offset(sleeper->world, class->type, class->rt_mutex, &offset))
		return;
	wait->kind = class->kind;
	wait->type = class->type;
	wait->mode = row->mode;
	wait->object = lock - offset;
	if (row->mode)
		tell_writer(sleeper);
}

/* A futex whose waiters lend their priority: the rt_mutex stands for the user's word. */
static bool find_pi_futex(struct sleeper *sleeper)
{
	struct wait *wait = sleeper->wait;
	const struct stack_trace *trace = sleeper->trace;
	uint64_t address;
	size_t i = sleeper->frame;
	while (i < trace->count && i < sleeper->frame + PI_FRAMES &&
	       !wait_frame_is(&trace->frames[i], "futex_lock_pi"))
		i++;
	if (i == trace->count || i == sleeper->frame + PI_FRAMES ||
	    !wait_argument(sleeper, i, i + 4, "u32 *", &address))
		return false;
	wait->kind = "futex";
	wait->type = NULL;
	wait->object = address;
	wait->how = "argument";
	return true;
}

struct error *wait_find_rt_mutex(struct sleeper *sleeper)
{
	struct wait_world *world = sleeper->world;
	struct wait *wait = sleeper->wait;
	const char *record = "struct rt_mutex_waiter";
	uint64_t waiter, task, lock, unused;
	if (!wait_read(world, "struct task_struct", sleeper->task->address, "pi_blocked_on",
		       &waiter) ||
	    !waiter || !wait_read(world, record, waiter, "task", &task) ||
	    task != sleeper->task->address || !wait_read(world, record, waiter, "lock", &lock))
		return NULL;
	/* A part of its own since 5.16 (830e6acc8a1c). */
	const char *const types[] = { "struct rt_mutex_base", "struct rt_mutex" };
	size_t type = !wait_offset(world, types[0], "owner", &unused);
	wait->kind = "rt_mutex";
	wait->type = types[type];
	wait->object = lock;
	wait->how = "task's own note";
	wait->sure = CONFIDENCE_CERTAIN;
	TRY(find_owner(sleeper, types[type], lock));
	if (!find_pi_futex(sleeper))
		find_whole(sleeper, lock);
	return NULL;
}

/* Whatever of the functions around the wait the compiler left. */
static bool find_argument(struct sleeper *sleeper, const struct rt_class *class, uint64_t base,
			  uint64_t *ret)
{
	char pointer[64];
	size_t frame = sleeper->frame;
	snprintf(pointer, sizeof(pointer), "%s *", class->type);
	if (wait_argument(sleeper, frame, frame + 1, pointer, ret))
		return true;
	if (!wait_argument(sleeper, frame, frame + 1, "struct rwbase_rt *", ret))
		return false;
	*ret -= base;
	return true;
}

bool wait_find_rt_writer(struct sleeper *sleeper)
{
	struct wait_world *world = sleeper->world;
	struct wait *wait = sleeper->wait;
	const struct rt_row *row = row_of(&sleeper->trace->frames[sleeper->frame]);
	uint64_t lock, base, owner;
	if (!row || !row->mode || strcmp(row->mode, "write") != 0)
		return false;
	const struct rt_class *class = class_of(sleeper, row);
	if (!wait_offset(world, class->type, "rwbase", &base))
		return false;
	wait->kind = class->kind;
	wait->type = class->type;
	wait->mode = row->mode;
	wait->owner_how = "readers have it, whom the kernel does not name";
	if (!find_argument(sleeper, class, base, &lock))
		return true;
	bool is_owned = wait_read(world, class->type, lock, "rwbase.rtmutex.owner", &owner) &&
			(owner & ~(uint64_t)RT_MUTEX_FLAGS) == sleeper->task->address;
	wait->object = lock;
	wait->how = is_owned ? "argument and owner word" : "argument";
	wait->sure = is_owned ? CONFIDENCE_CERTAIN : CONFIDENCE_INFERRED;
	return true;
}
