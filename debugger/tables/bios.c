// SPDX-License-Identifier: GPL-3.0-or-later
/* The struct bio of requests that are in flight: what was asked for, and who is told of its end. */
#include "debugger/kernel/disks.h"

#include "base/address_map.h"
#include "base/array.h"
#include "debugger/tables/walks.h"
#include <inttypes.h>

enum {
	COLUMN_BIO,
	COLUMN_REQUEST,
	COLUMN_DISK,
	COLUMN_OPERATION,
	COLUMN_SECTOR,
	COLUMN_SIZE,
	COLUMN_SEGMENTS,
	COLUMN_STATUS,
	COLUMN_PRIVATE,
	COLUMN_END
};

static const struct table_column columns[] = {
	[COLUMN_BIO] = { "bio", COLUMN_ADDRESS, 16, "its struct bio", "struct bio" },
	[COLUMN_REQUEST] = { "request", COLUMN_ADDRESS, 16, "that it is part of",
			     "struct request" },
	[COLUMN_DISK] = { "disk", COLUMN_TEXT, -8, "where that is in flight", NULL },
	[COLUMN_OPERATION] = { "op", COLUMN_TEXT, -8, "READ, WRITE, FLUSH, ...", NULL },
	[COLUMN_SECTOR] = { "sector", COLUMN_WIDE, 12, "where it goes on, of 512 bytes", NULL },
	[COLUMN_SIZE] = { "size", COLUMN_BYTES, 6, "what is left of it", NULL },
	[COLUMN_SEGMENTS] = { "segments", COLUMN_INTEGER, 0, "pieces of memory, bi_vcnt", NULL },
	[COLUMN_STATUS] = { "status", COLUMN_INTEGER, 0, "0: no error until now", NULL },
	[COLUMN_PRIVATE] = { "private", COLUMN_ADDRESS, 0, "what its owner knows it by", NULL },
	[COLUMN_END] = { "end_io", COLUMN_TEXT, -28, "who is told of its end", NULL },
};

#define BIOS_MAX ((size_t)1 << 22) /* of all requests: their addresses are remembered */
#define TAGS_MAX ((uint64_t)1 << 22)

struct pass {
	struct table_scan *scan;
	const struct disk *disk;
	uint64_t request, tags_left;
	struct address_map seen; /* bios */
};

static struct error *emit(const struct pass *pass, const struct object *bio)
{
	struct table_scan *scan = pass->scan;
	uint64_t flags;
	table_set(scan, COLUMN_BIO, bio->address);
	table_set(scan, COLUMN_REQUEST, pass->request);
	table_set_text(scan, COLUMN_DISK, pass->disk->name);
	struct error *error = object_u64(bio, "bi_opf", &flags);
	if (error)
		TRY(table_set_error(scan, COLUMN_OPERATION, error));
	else
		table_set_operation(scan, COLUMN_OPERATION, flags);
	TRY(table_set_member(scan, COLUMN_SECTOR, bio, "bi_iter.bi_sector"));
	TRY(table_set_member(scan, COLUMN_SIZE, bio, "bi_iter.bi_size"));
	TRY(table_set_member(scan, COLUMN_SEGMENTS, bio, "bi_vcnt"));
	TRY(table_set_member(scan, COLUMN_STATUS, bio, "bi_status"));
	TRY(table_set_member(scan, COLUMN_PRIVATE, bio, "bi_private"));
	TRY(table_set_function(scan, COLUMN_END, bio, "bi_end_io"));
	return table_emit(scan);
}

/* A bio is of one request: where it comes again, something leads in a circle or to another's. */
static struct error *note(struct pass *pass, uint64_t bio)
{
	size_t count = pass->seen.count;
	if (count >= BIOS_MAX)
		return error_create(ERROR_FORMAT, "more than %zu bios are in flight", BIOS_MAX);
	if (!address_map_add(&pass->seen, sizeof(bio), bio))
		return error_no_memory();
	if (pass->seen.count == count)
		return error_create(ERROR_FORMAT,
				    "request 0x%" PRIx64 " leads to bio 0x%" PRIx64 " once more",
				    pass->request, bio);
	return NULL;
}

/* One behind the other; one that was handed on to a disk below has others of its own there. */
static struct error *visit_chain(struct pass *pass, struct object bio)
{
	while (bio.address) {
		TRY(note(pass, bio.address));
		TRY(emit(pass, &bio));
		TRY(object_follow(&bio, "bi_next", &bio));
	}
	return NULL;
}

static struct error *visit_request(void *context, const struct disk_request *found)
{
	struct pass *pass = context;
	struct object request, bio;
	pass->request = found->address;
	TRY(object_at(pass->scan->target, "struct request", found->address, &request));
	struct error *error = object_follow(&request, "bio", &bio);
	return table_broken(pass->scan, error ?: visit_chain(pass, bio));
}

static struct error *broken(void *context, struct error *problem)
{
	struct pass *pass = context;
	return table_broken(pass->scan, problem);
}

static struct error *broken_on_disk(void *context, struct error *problem)
{
	struct pass *pass = context;
	return broken(context, error_prefix(problem, "%s", pass->disk->name));
}

static struct error *visit_disk(void *context, const struct disk *disk)
{
	struct pass *pass = context;
	pass->disk = disk;
	struct error *error = disk_requests_for_each(pass->scan->target, disk, visit_request,
						     broken_on_disk, pass, &pass->tags_left);
	return table_broken(pass->scan, error_prefix(error, "%s", disk->name));
}

static struct error *visit(struct table_scan *scan)
{
	struct pass pass = { .scan = scan, .tags_left = TAGS_MAX };
	struct error *error = disks_for_each(scan->target, visit_disk, broken, &pass);
	address_map_deinit(&pass.seen);
	return error;
}

static const char *const examples[] = { "bios", "bios -o disk,op,sector,size,end_io", NULL };

const struct table table_bios = {
	.name = "bios",
	.summary = "bios of requests that are in flight",
	.description =
		"A row is a struct bio of a request that a driver has and has not yet ended: "
		"requests has those.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit = visit,
	.item = COLUMN_BIO,
	.is_object = true,
};
