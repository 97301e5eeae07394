// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Who waits for what was asked of a disk: where that is, and the worker that answers for a loop
 * device (kernel block/bio.c, drivers/block/loop.c).
 */
#include "debugger/analysis/waits_private.h"

#include "base/array.h"
#include "debugger/kernel/device_mapper.h"
#include "debugger/kernel/loop_device.h"

/* Whether the device did not answer, or its driver lost the request, nothing says. */
static const char unanswered[] = "its driver has the request and has not ended it";

/* --- loop devices ---------------------------------------------------------------------------- */

/* It reads and writes the file behind the device: one request after the other. */
static struct error *find_loop_worker(struct sleeper *sleeper, uint64_t device)
{
	static const struct runner_texts texts = {
		unanswered, "the worker that reads and writes the file behind its loop device",
		"one of several workers that read and write the file behind its loop device"
	};
	struct target *target = sleeper->world->target;
	struct wait *wait = sleeper->wait;
	struct object block, loop;
	uint64_t disk, queue = 0;
	struct error *error = object_at(target, "struct block_device", device, &block);
	error = error ?: object_u64(&block, "bd_disk", &disk);
	error = error ?: loop_device_find(target, disk, &loop);
	if (!error && loop.address)
		error = loop_device_queue(&loop, &queue);
	if (error || !queue)
		return error_only_fatal(error);
	TRY(wait_runner_of_queue(sleeper, queue, &texts));
	/* It may be at another request. */
	if (wait->owner_sure == CONFIDENCE_CERTAIN)
		wait->owner_sure = CONFIDENCE_INFERRED;
	return NULL;
}

/* --- all disks ------------------------------------------------------------------------------- */

struct error *wait_say_disk(struct sleeper *sleeper, uint64_t device,
			    const struct bio_sought *sought)
{
	struct wait_world *world = sleeper->world;
	struct wait *wait = sleeper->wait;
	enum bio_place place;
	bool is_suspended = false;
	wait->owner_how = "no task is noted in it";
	if (!device)
		return NULL;
	error_free(device_mapper_is_suspended(world->target, device, &is_suspended));
	if (is_suspended) {
		wait->owner_how = "its device is suspended (device mapper)";
		return NULL;
	}
	TRY(bio_place_on_disk(world->target, device, sought, &world->bios_left, &place));
	if (place != BIO_REQUESTED)
		return NULL;
	wait->owner_how = unanswered;
	return find_loop_worker(sleeper, device);
}

/* submit_bio_wait(): the bio leads back to the completion, and to the device that is to answer. */
struct error *wait_find_bio(struct sleeper *sleeper, bool *ret)
{
	static const char *const words[] = {
		[BIO_UNKNOWN] = "whether its device was asked is not known",
		[BIO_REQUESTED] = unanswered,
		[BIO_UNREQUESTED] = "its device's driver has no request of it",
		[BIO_THROTTLED] = "it was not sent: a cgroup's limit (io.max) keeps it back",
		[BIO_SUSPENDED] = "it was not sent: its device is suspended (device mapper)",
		[BIO_MAPPED] = "the device mapper has not ended what it made of it",
		[BIO_TAKEN] = "its device's driver has taken it and not ended it",
	};
	struct wait_world *world = sleeper->world;
	struct wait *wait = sleeper->wait;
	enum bio_place place;
	uint64_t bio, completion, device;
	*ret = false;
	if (!wait_argument(sleeper, sleeper->frame, sleeper->frame + 4, "struct bio *", &bio) ||
	    !wait_read(world, "struct bio", bio, "bi_private", &completion) ||
	    completion != wait->object)
		return NULL;
	*ret = true;
	wait->kind = "bio";
	wait->type = "struct bio";
	wait->object = bio;
	if (wait_read(world, "struct bio", bio, "bi_bdev", &device) && device) {
		wait->within = device;
		wait->within_type = "struct block_device";
	}
	TRY(bio_place_find(world->target, bio, &world->bios_left, &place));
	wait->owner_how = words[place];
	return place == BIO_REQUESTED && wait->within ? find_loop_worker(sleeper, wait->within)
						      : NULL;
}

/* --- the queue of a disk ---------------------------------------------------------------------- */

#define QUEUE "struct request_queue"

/* Who comes to a queue that is frozen waits for it to thaw, and who freezes it for its requests. */
static bool find_frozen(struct sleeper *sleeper, uint64_t *ret_queue, const char **ret_how)
{
	static const struct {
		const char *function, *how;
	} ways[] = {
		{ "__bio_queue_enter", "its queue is frozen, by whom is not noted" },
		{ "bio_queue_enter", "its queue is frozen, by whom is not noted" },
		{ "blk_queue_enter", "its queue is frozen, by whom is not noted" },
		{ "blk_mq_freeze_queue_wait", "what was asked of it has not ended" },
	};
	for (size_t i = 0; i < ARRAY_COUNT(ways); i++) {
		if (!wait_frame_is(&sleeper->trace->frames[sleeper->frame], ways[i].function))
			continue;
		*ret_how = ways[i].how;
		return wait_argument(sleeper, sleeper->frame, sleeper->frame + 2, QUEUE " *",
				     ret_queue);
	}
	return false;
}

/* A limit of requests that the disk has at a time (block/blk-rq-qos.c): some have to end first. */
static bool find_limited(struct sleeper *sleeper, uint64_t *ret_queue, const char **ret_how)
{
	uint64_t bio, device;
	*ret_how = "it has as many requests as it may, which have not ended";
	return wait_frame_is(&sleeper->trace->frames[sleeper->frame], "rq_qos_wait") &&
	       wait_argument(sleeper, sleeper->frame, sleeper->frame + 6, "struct bio *", &bio) &&
	       wait_read(sleeper->world, "struct bio", bio, "bi_bdev", &device) &&
	       wait_read(sleeper->world, "struct block_device", device, "bd_queue", ret_queue);
}

void wait_find_disk_queue(struct sleeper *sleeper)
{
	const char *how;
	struct wait *wait = sleeper->wait;
	uint64_t queue, disk, back, depth;
	bool is_frozen = find_frozen(sleeper, &queue, &how);
	/* The disk has the queue, or what is taken for one is none. */
	if ((!is_frozen && !find_limited(sleeper, &queue, &how)) ||
	    !wait_read(sleeper->world, QUEUE, queue, "disk", &disk) || !disk ||
	    !wait_read(sleeper->world, "struct gendisk", disk, "queue", &back) || back != queue)
		return;
	wait->kind = "disk queue";
	wait->type = QUEUE;
	wait->object = queue;
	wait->how = "argument";
	wait->sure = CONFIDENCE_CERTAIN;
	wait->within = disk;
	wait->within_type = "struct gendisk";
	wait->owner_how = how;
	if (is_frozen && wait_read(sleeper->world, QUEUE, queue, "mq_freeze_depth", &depth) &&
	    !depth)
		wait->owner_how = "its queue is not frozen any more: a waiter is being woken";
}
