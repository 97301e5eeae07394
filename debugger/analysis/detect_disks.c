// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Requests that disks' drivers have had for too long: the disk does not answer, or the driver has
 * lost them.
 */
#include "debugger/analysis/analysis.h"
#include "debugger/analysis/cpu_view.h"
#include "debugger/analysis/wait_place.h"
#include "debugger/kernel/disks.h"
#include "debugger/kernel/loop_device.h"
#include <inttypes.h>
#include <stdio.h>

#define NS_PER_S      1e9
#define UNANSWERED_NS 5000000000u /* no healthy disk takes so long */
#define TAGS_MAX      (1u << 22)  /* that are looked at, of all disks */
#define DISKS_SHOWN   8

struct unanswered {
	struct analysis *analysis;
	uint64_t now;
	/* Of one disk: */
	uint64_t count, oldest_age;
	struct disk_request oldest;
	bool is_partial;	   /* something could not be read */
	uint64_t tags_left, shown; /* of all */
};

static struct error *look_at_request(void *context, const struct disk_request *request)
{
	struct unanswered *unanswered = context;
	uint64_t age = request->start && request->start < unanswered->now
			       ? unanswered->now - request->start
			       : 0;
	unanswered->count++;
	if (age > unanswered->oldest_age) {
		unanswered->oldest_age = age;
		unanswered->oldest = *request;
	}
	return NULL;
}

/* It is as slow as what its file lies on. */
static struct error *say_file(struct finding *finding, struct target *target,
			      const struct disk *disk)
{
	struct object loop;
	struct strbuf name = { 0 };
	uint64_t inode = 0;
	struct error *error = loop_device_find(target, disk->address, &loop);
	if (!error && loop.address)
		error = loop_device_inode(&loop, &inode);
	if (error || !inode)
		return error_only_fatal(error);
	if (wait_put_inode(target, inode, &name) && !name.failed)
		error = finding_add(finding, NULL, "%s is a loop device: its file is %s",
				    disk->name, name.data);
	strbuf_deinit(&name);
	return error;
}

static struct error *say_disk(struct unanswered *unanswered, const struct disk *disk)
{
	char command[80], driver[DISK_DRIVER_SIZE];
	struct finding *finding =
		analysis_add(unanswered->analysis, "disk-unanswered", CONFIDENCE_CERTAIN);
	if (!finding)
		return error_no_memory();
	finding->task = 0;
	disk_driver(unanswered->analysis->target, disk->address, driver);
	TRY(finding_summarize(finding,
			      "disk %s%s%s%s: its driver has not ended %s%" PRIu64
			      " request%s, the oldest for %.1f s",
			      disk->name, *driver ? " [" : "", driver, *driver ? "]" : "",
			      unanswered->is_partial ? "at least " : "", unanswered->count,
			      unanswered->count == 1 ? "" : "s",
			      (double)unanswered->oldest_age / NS_PER_S));
	snprintf(command, sizeof(command), "print *(struct request *)0x%" PRIx64,
		 unanswered->oldest.address);
	TRY(finding_add(finding, command,
			"the oldest begins at sector %" PRIu64 " and wants %" PRIu64 " bytes",
			unanswered->oldest.sector, unanswered->oldest.bytes));
	snprintf(command, sizeof(command), "print *(struct gendisk *)0x%" PRIx64, disk->address);
	TRY(finding_add(finding, command, "the disk %s", disk->name));
	return say_file(finding, unanswered->analysis->target, disk);
}

/* Nothing is said of what cannot be read, but that there may be more. */
static struct error *broken(void *context, struct error *problem)
{
	struct unanswered *unanswered = context;
	unanswered->is_partial = true;
	return error_only_fatal(problem);
}

static struct error *look_at_disk(void *context, const struct disk *disk)
{
	struct unanswered *unanswered = context;
	unanswered->count = unanswered->oldest_age = 0;
	unanswered->is_partial = false;
	TRY(error_only_fatal(disk_requests_for_each(unanswered->analysis->target, disk,
						    look_at_request, broken, unanswered,
						    &unanswered->tags_left)));
	if (unanswered->oldest_age < UNANSWERED_NS || unanswered->shown == DISKS_SHOWN)
		return NULL;
	unanswered->shown++;
	return say_disk(unanswered, disk);
}

struct error *detect_disks(struct analysis *analysis)
{
	struct unanswered unanswered = { .analysis = analysis, .tags_left = TAGS_MAX };
	if (analysis->is_asked || target_is_live(analysis->target))
		return NULL;
	TRY(time_of_death(analysis->target, &unanswered.now));
	return disks_for_each(analysis->target, look_at_disk, broken, &unanswered);
}
