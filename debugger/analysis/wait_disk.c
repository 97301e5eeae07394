// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Who waits for what was asked of a disk: where that is, and the worker that answers for a loop
 * device (kernel block/bio.c, drivers/block/loop.c).
 */
#include "debugger/analysis/waits_private.h"

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
