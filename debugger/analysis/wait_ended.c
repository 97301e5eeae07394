// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * An owner that is no task any more: a lock's word still has the address of its task_struct, which
 * went back to the slab allocator, or lives on for those who hold a reference.
 */
#include "base/array.h"
#include "debugger/analysis/object_note.h"
#include "debugger/analysis/waits_private.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Waiters that know of an end, whose locks are looked for. */
#define DISTRUSTED_MAX 64
/* Of the scheduler's clock and the monotonic one: a tick of each; in ns. */
#define CLOCKS_DIFFER 20000000u
#define SLEWED_PART   1000u /* NTP's 500 ppm, twice */

#define EXITED 0x30u /* task_struct.exit_state: EXIT_DEAD, EXIT_ZOMBIE (include/linux/sched.h) */

/* `*ret`: an object of the cache of tasks begins there, that is free or has exited. */
static struct error *has_ended(struct target *target, uint64_t address, bool *ret)
{
	static const char cache[] = "slab cache task_struct";
	struct object_note note;
	struct object object;
	uint64_t state;
	*ret = false;
	TRY(object_note_find(target, address, &note));
	const char *name = strstr(note.text, cache);
	if (!note.is_slab || note.object != address || !name || name[sizeof(cache) - 1])
		return NULL;
	if (note.state == SLAB_FREE) {
		*ret = true;
		return NULL;
	}
	struct error *error = object_at(target, "struct task_struct", address, &object);
	if (!error)
		error = object_u64(&object, "exit_state", &state);
	if (!error)
		*ret = note.state == SLAB_ALLOCATED && state & EXITED;
	return error_only_fatal(error);
}

const char wait_not_its_own[] =
	"its owner has ended: who is there now began after others had gone to sleep for it";

/*
 * Whoever has what another task sleeps for began before that sleep: a task that began later has the
 * memory of the owner, who has ended. When each was is known by another clock: their times are
 * compared, and their ages. Times are wrong where the clocks are apart, ages where the one that
 * CPUs keep stood still at the end; so both have to say it, and by more than NTP may have slewed
 * one.
 */
bool wait_is_younger(const struct sleeper *sleeper, uint64_t owner)
{
	const struct wait_world *world = sleeper->world;
	const char *type = "struct task_struct";
	uint64_t arrival, start;
	if (!world->now || !world->died ||
	    !wait_read(world, type, sleeper->task->address, "sched_info.last_arrival", &arrival) ||
	    !arrival || arrival >= world->now ||
	    !wait_read(world, type, owner, "start_time", &start) || !start || start >= world->died)
		return false;
	uint64_t sleep = world->now - arrival, age = world->died - start;
	uint64_t margin = CLOCKS_DIFFER + sleep / SLEWED_PART;
	return start > arrival + margin && age + margin < sleep;
}

void wait_distrust_owners(struct waits *waits)
{
	uint64_t locks[DISTRUSTED_MAX];
	size_t count = 0;
	for (size_t i = 0; i < waits->count && count < DISTRUSTED_MAX; i++)
		if (waits->items[i].owner_how == wait_not_its_own)
			locks[count++] = waits->items[i].object;
	for (size_t i = 0; i < waits->count && count; i++) {
		struct wait *wait = &waits->items[i];
		for (size_t k = 0; k < count && wait->owner; k++)
			if (locks[k] == wait->object) {
				wait->owner = 0;
				wait->owner_sure = CONFIDENCE_UNKNOWN;
				wait->owner_how = wait_not_its_own;
			}
	}
}

static struct error *say_ended(struct target *target, uint64_t address, char **ret)
{
	struct task task;
	bool ended;
	*ret = NULL;
	TRY(has_ended(target, address, &ended));
	if (!ended)
		return NULL;
	struct error *error = task_read(target, address, &task);
	if (error)
		return error_only_fatal(error);
	/*
	 * An object that never was a task, or whose bytes were cleared, names nobody; one that
	 * names somebody may have been other tasks before.
	 */
	bool is_named = !task.is_partial && task.pid > 0 && *task.comm;
	int length = is_named ? asprintf(ret,
					 "its owner has ended; the last task there was %d \"%s\"",
					 task.pid, task.comm)
			      : 0;
	task_deinit(&task);
	if (length >= 0)
		return NULL;
	*ret = NULL;
	return error_no_memory();
}

/* Thousands may wait for the same one. */
static struct error *name_ended(struct wait_world *world, uint64_t address, const char **ret)
{
	struct waits *waits = world->waits;
	*ret = NULL;
	for (size_t i = 0; i < waits->ended_count; i++)
		if (waits->ended[i].task == address) {
			*ret = waits->ended[i].text;
			return NULL;
		}
	if (waits->ended_count == WAIT_ENDED_MAX)
		return NULL;
	struct wait_ended *ended = &waits->ended[waits->ended_count];
	TRY(say_ended(world->target, address, &ended->text));
	ended->task = address;
	waits->ended_count++;
	*ret = ended->text;
	return NULL;
}

struct error *wait_name_ended(const struct sleeper *sleeper, uint64_t address, const char **ret)
{
	TRY(name_ended(sleeper->world, address, ret));
	if (*ret && wait_is_younger(sleeper, address))
		*ret = wait_not_its_own;
	return NULL;
}
