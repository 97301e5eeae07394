/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where a struct bio is that was submitted and has not ended: with whom, or who holds it back
 * (kernel block/blk-core.c, blk-throttle.c, drivers/md/dm.c).
 */
#ifndef DEBUGGER_KERNEL_BIO_PLACE_H
#define DEBUGGER_KERNEL_BIO_PLACE_H

#include "debugger/target/object.h"

enum bio_place {
	BIO_UNKNOWN,	 /* not all could be read, or there is too much to look through */
	BIO_REQUESTED,	 /* in a request that its disk's driver has */
	BIO_UNREQUESTED, /* in none of them */
	BIO_THROTTLED,	 /* a cgroup's limit (io.max) keeps it back */
	BIO_SUSPENDED,	 /* the device mapper keeps it until its device is resumed */
	BIO_MAPPED,	 /* the device mapper handed it on to devices below */
	BIO_TAKEN,	 /* a driver that takes bios instead of requests has it */
};

/* What somebody waits for that one bio of its disk would end: one of these, the others are 0. */
struct bio_sought {
	uint64_t bio;	  /* address of the struct bio itself */
	uint64_t private; /* of what its end is told of (bi_private), as a struct buffer_head */
	uint64_t page;	  /* of a struct page that it reads into or writes */
};

/*
 * `*left`: as many tags and bios may still be looked at, of all that are asked for. Errors are
 * fatal ones.
 */
struct error *bio_place_find(struct target *target, uint64_t bio, uint64_t *left,
			     enum bio_place *ret) MUST_CHECK;
/*
 * Whether the driver of a disk has a request for it: BIO_REQUESTED, else BIO_UNKNOWN, since it may
 * have been sent otherwise, or not yet. `device`: address of a struct block_device.
 */
struct error *bio_place_on_disk(struct target *target, uint64_t device,
				const struct bio_sought *sought, uint64_t *left,
				enum bio_place *ret) MUST_CHECK;

#endif
