// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Who waits for the journal of a filesystem: one thread of the kernel commits its transactions
 * (fs/jbd2/journal.c, transaction.c).
 */
#include "debugger/analysis/waits_private.h"

#include "base/array.h"

#define JOURNAL "struct journal_s"

static const struct queue {
	const char *function, *member, *kind;
} queues[] = {
	{ "jbd2_log_wait_commit", "j_wait_done_commit", "journal commit" },
	{ "wait_transaction_locked", "j_wait_transaction_locked", "journal transaction" },
	{ "start_this_handle", "j_wait_transaction_locked", "journal transaction" },
	{ "add_transaction_credits", "j_wait_transaction_locked", "journal transaction" },
};

static struct error *read_journal(struct sleeper *sleeper, const struct queue *queue, uint64_t head)
{
	struct wait_world *world = sleeper->world;
	struct wait *wait = sleeper->wait;
	struct object journal = { .target = world->target }, member;
	uint64_t thread, device;
	const struct symbol *function = &sleeper->trace->frames[sleeper->frame].symbol;
	TRY(target_find_type(world->target, target_symbol_btf(world->target, function), JOURNAL,
			     &journal.type));
	TRY(object_member(&journal, queue->member, &member));
	journal.address = head - member.address;
	TRY(object_u64(&journal, "j_task", &thread));
	TRY(object_u64(&journal, "j_dev", &device));
	/* Else what the queue lies in is no journal. */
	if (!thread || !wait_task_at(world, thread))
		return NULL;
	wait->kind = queue->kind;
	wait->type = JOURNAL;
	wait->object = journal.address;
	wait->how = "list";
	wait->sure = CONFIDENCE_CERTAIN;
	wait->owner = thread;
	wait->owner_sure = CONFIDENCE_CERTAIN;
	wait->owner_how = "the thread that commits its transactions";
	wait->within = device;
	wait->within_type = device ? "struct block_device" : NULL;
	return NULL;
}

struct error *wait_find_journal(struct sleeper *sleeper, uint64_t head)
{
	const struct frame *frame = &sleeper->trace->frames[sleeper->frame];
	for (size_t i = 0; i < ARRAY_COUNT(queues) && !sleeper->wait->kind; i++)
		if (wait_frame_is(frame, queues[i].function))
			TRY(error_only_fatal(read_journal(sleeper, &queues[i], head)));
	return NULL;
}
