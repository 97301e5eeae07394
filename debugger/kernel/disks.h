/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Disks, and the requests that were given to their drivers and have not come back (kernel
 * include/linux/blk-mq.h, blkdev.h).
 */
#ifndef DEBUGGER_KERNEL_DISKS_H
#define DEBUGGER_KERNEL_DISKS_H

#include "debugger/target/object.h"

struct disk {
	uint64_t address; /* of its struct gendisk */
	uint64_t queue;	  /* of its struct request_queue */
	char name[32];	  /* "vda", raw bytes of the dump */
};

struct disk_request {
	uint64_t address;	/* of its struct request */
	uint64_t start;		/* ns since the machine was started; 0: not known */
	uint64_t sector, bytes; /* where it begins, and how much of it is left */
};

/*
 * What cannot be read is handed to `disk_broken`, which frees it and returns NULL to go on behind
 * it (table_broken() does), or returns it; NULL instead of one: it ends the walk.
 */
typedef struct error *disk_broken(void *context, struct error *problem);
typedef struct error *disk_visitor(void *context, const struct disk *disk);
/*
 * By the inodes of their devices; up to 5.10, where only who has a disk open has such an inode,
 * then those that are in block's class alone.
 */
struct error *disks_for_each(struct target *target, disk_visitor *visit, disk_broken *broken,
			     void *context) MUST_CHECK;
typedef struct error *disk_queue_visitor(void *context, const struct object *hardware);
/*
 * The struct blk_mq_hw_ctx of the struct request_queue at `queue`, each once. Disks whose drivers
 * take bios have none.
 */
struct error *disk_queues_for_each(struct target *target, uint64_t queue, disk_queue_visitor *visit,
				   disk_broken *broken, void *context) MUST_CHECK;
typedef struct error *disk_request_visitor(void *context, const struct disk_request *request);
/*
 * Disks whose drivers take bios and no requests have none. `*left`: as many tags may still be
 * looked at; more are an error.
 */
struct error *disk_requests_for_each(struct target *target, const struct disk *disk,
				     disk_request_visitor *visit, disk_broken *broken,
				     void *context, uint64_t *left) MUST_CHECK;
#define DISK_DRIVER_SIZE 64
/* The module whose functions a struct gendisk has; "": the kernel's own, or not known. */
void disk_driver(struct target *target, uint64_t disk, char *ret);
/* The struct block_device whose pages an inode has; 0: it is none of a block device. */
struct error *block_device_of_inode(struct target *target, uint64_t inode,
				    uint64_t *ret) MUST_CHECK;

#endif
