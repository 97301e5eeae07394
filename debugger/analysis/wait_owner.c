// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Who has a lock, by the lock's own word (kernel/locking/mutex.c, rwsem.c, percpu-rwsem.c,
 * rtmutex_common.h). A word that names no task of the dump names nobody.
 */
#include "debugger/analysis/waits_private.h"

#include <inttypes.h>

/* Of a mutex's owner: bits that are no part of the pointer; the last: handed to, not yet taken. */
#define MUTEX_FLAGS  7u
#define MUTEX_PICKUP 4u
/* Of a rw_semaphore's count and owner. */
#define RWSEM_WRITER_LOCKED 1u
#define RWSEM_READERS_SHIFT 8
#define RWSEM_READERS_MASK  ((1ull << 55) - 1)
#define RWSEM_OWNER_FLAGS   7u
#define RWSEM_OWNER_READER  1u

static bool own(struct sleeper *sleeper, uint64_t address, enum confidence sure, const char *how)
{
	if (!address || !wait_task_at(sleeper->world, address))
		return false;
	sleeper->wait->owner = address;
	sleeper->wait->owner_sure = sure;
	sleeper->wait->owner_how = how;
	return true;
}

/*
 * By the lock's own word, which is certain of any other task than the one that waits: that one may
 * only have the memory of one that has ended.
 */
static bool own_by_word(struct sleeper *sleeper, uint64_t address, const char *how,
			const char *how_itself)
{
	bool is_itself = address == sleeper->task->address;
	if (!is_itself && address && wait_task_at(sleeper->world, address) &&
	    wait_is_younger(sleeper, address)) {
		sleeper->wait->owner_how = wait_not_its_own;
		return true;
	}
	return own(sleeper, address, is_itself ? CONFIDENCE_INFERRED : CONFIDENCE_CERTAIN,
		   is_itself ? how_itself : how);
}

static struct error *nobody(struct sleeper *sleeper, const char *why)
{
	sleeper->wait->owner_how = why;
	return NULL;
}

/* The word has an address at which no task of the dump is. */
static struct error *no_task(struct sleeper *sleeper, uint64_t address, const char *why)
{
	const char *ended;
	TRY(wait_name_ended(sleeper, address, &ended));
	return nobody(sleeper, ended ?: why);
}

struct error *wait_mutex_owner(struct sleeper *sleeper)
{
	uint64_t word;
	if (!wait_read(sleeper->world, "struct mutex", sleeper->wait->object, "owner.counter",
		       &word))
		return nobody(sleeper, "its owner cannot be read");
	uint64_t owner = word & ~(uint64_t)MUTEX_FLAGS;
	bool is_handed_on = word & MUTEX_PICKUP;
	if (is_handed_on && owner == sleeper->task->address) {
		sleeper->wait->is_granted = true;
		return nobody(sleeper, "it has been handed to this task");
	}
	if (own_by_word(sleeper, owner, is_handed_on ? "handed to it" : "owner word",
			"owner word, or an ended task's"))
		return NULL;
	return owner ? no_task(sleeper, owner, "its owner word names no task")
		     : nobody(sleeper, "it is free: a waiter is being woken");
}

/*
 * Who calls a chain of notifiers reads while they run (kernel/notifier.c): one that wants to leave
 * the chain it is called from waits for itself.
 */
static bool is_in_own_chain(struct sleeper *sleeper)
{
	const char *type = "struct blocking_notifier_head";
	const struct stack_trace *trace = sleeper->trace;
	uint64_t offset, head;
	if (!wait_offset(sleeper->world, type, "rwsem", &offset))
		return false;
	for (size_t i = sleeper->frame; i < trace->count; i++)
		if ((wait_frame_is(&trace->frames[i], "blocking_notifier_call_chain") ||
		     wait_frame_is(&trace->frames[i], "blocking_notifier_call_chain_robust")) &&
		    wait_argument(sleeper, i, i + 1, "struct blocking_notifier_head *", &head) &&
		    head + offset == sleeper->wait->object)
			return true;
	return false;
}

/* Of readers, the word keeps the last one that came, who may have gone. */
static struct error *reader_owner(struct sleeper *sleeper, uint64_t readers, uint64_t word)
{
	uint64_t last = word & ~(uint64_t)RWSEM_OWNER_FLAGS;
	if (is_in_own_chain(sleeper)) {
		own(sleeper, sleeper->task->address, CONFIDENCE_CERTAIN,
		    "it reads while it calls the chain of notifiers");
		return NULL;
	}
	/* It may have it still, or another one came before. */
	if ((word & RWSEM_OWNER_READER) && last == sleeper->task->address)
		return nobody(sleeper, "readers have it, of whom this task was the last one that "
				       "came; it may have gone");
	if ((word & RWSEM_OWNER_READER) &&
	    own(sleeper, last, readers == 1 ? CONFIDENCE_INFERRED : CONFIDENCE_GUESS,
		readers == 1 ? "one reader has it, the last one that came was this"
			     : "several readers have it, the last one that came was this"))
		return NULL;
	return nobody(sleeper, "readers have it, whom the kernel does not name");
}

struct error *wait_rwsem_owner(struct sleeper *sleeper)
{
	const char *type = "struct rw_semaphore";
	uint64_t object = sleeper->wait->object, count, word;
	if (!wait_read(sleeper->world, type, object, "count.counter", &count) ||
	    !wait_read(sleeper->world, type, object, "owner.counter", &word))
		return nobody(sleeper, "its owner cannot be read");
	uint64_t readers = count >> RWSEM_READERS_SHIFT & RWSEM_READERS_MASK;
	if (count & RWSEM_WRITER_LOCKED) {
		uint64_t writer = word & ~(uint64_t)RWSEM_OWNER_FLAGS;
		if (own_by_word(sleeper, writer, "owner word, as writer",
				"owner word, as writer, or an ended task's"))
			return NULL;
		return no_task(sleeper, writer, "a writer has it, whom its word does not name");
	}
	if (readers)
		return reader_owner(sleeper, readers, word);
	return nobody(sleeper, "it is free: a waiter is being woken");
}

struct error *wait_semaphore_owner(struct sleeper *sleeper)
{
	uint64_t last;
	if (wait_read(sleeper->world, "struct semaphore", sleeper->wait->object, "last_holder",
		      &last) &&
	    own(sleeper, last, CONFIDENCE_GUESS, "the last one that took it"))
		return NULL;
	return nobody(sleeper, "the kernel does not note who has a semaphore");
}

/* --- per-CPU semaphores ----------------------------------------------------------------- */

/* Who froze a filesystem may be gone; the counters are of 6.6 and later (880b9577855e). */
static const char *why_frozen(struct wait_world *world, uint64_t block)
{
	const char *type = "struct super_block";
	uint64_t frozen, user, device, count;
	if (!wait_read(world, type, block, "s_writers.frozen", &frozen))
		return "its filesystem's state cannot be read";
	if (!frozen)
		return "its filesystem is not frozen any more";
	bool is_told = wait_read(world, type, block, "s_writers.freeze_ucount", &user);
	if (wait_read(world, type, block, "s_bdev", &device) && device &&
	    (wait_read(world, "struct block_device", device, "bd_fsfreeze_count.counter", &count) ||
	     wait_read(world, "struct block_device", device, "bd_fsfreeze_count", &count)) &&
	    (uint32_t)count)
		return "its filesystem is frozen, by who froze its block device";
	if (!is_told)
		return "its filesystem is frozen";
	return user ? "its filesystem is frozen, by user space"
		    : "its filesystem is frozen, by the kernel";
}

struct error *wait_percpu_owner(struct sleeper *sleeper)
{
	struct wait *wait = sleeper->wait;
	struct wait_world *world = sleeper->world;
	uint64_t writer = 0;
	bool is_writer = wait->mode && wait->mode[0] == 'w';
	/* It is the writer itself that drains the readers. */
	if (wait_read(world, wait->type, wait->object, "writer.task", &writer) &&
	    writer != sleeper->task->address &&
	    own(sleeper, writer, CONFIDENCE_CERTAIN, "the writer that waits for readers"))
		return NULL;
	TRY(wait_find_super_block(sleeper));
	if (wait->within)
		return nobody(sleeper, why_frozen(world, wait->within));
	/* Whoever freezes a filesystem takes it so, too, and goes. */
	return nobody(sleeper,
		      is_writer ? "readers have it, or it was taken to write: by whom is not noted"
				: "it was taken to write: by whom is not noted");
}
