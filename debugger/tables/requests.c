// SPDX-License-Identifier: GPL-3.0-or-later
/* Requests of disks that are in flight. */
#include "debugger/kernel/disks.h"

#include "base/array.h"
#include "base/interrupt.h"
#include "debugger/kernel/clock.h"
#include "debugger/tables/walks.h"
#include <inttypes.h>

enum {
	COLUMN_REQUEST,
	COLUMN_QUEUE,
	COLUMN_HARDWARE,
	COLUMN_TAG,
	COLUMN_OPERATION,
	COLUMN_STATE,
	COLUMN_SECTOR,
	COLUMN_SIZE,
	COLUMN_START,
	COLUMN_AGE,
	COLUMN_DISK,
};

static const struct table_column columns[] = {
	[COLUMN_REQUEST] = { "request", COLUMN_ADDRESS, 16, "its struct request",
			     "struct request" },
	[COLUMN_QUEUE] = { "queue", COLUMN_ADDRESS, 0, "its struct request_queue",
			   "struct request_queue" },
	[COLUMN_HARDWARE] = { "hctx", COLUMN_ADDRESS, 0, "the struct blk_mq_hw_ctx that has it",
			      "struct blk_mq_hw_ctx" },
	[COLUMN_TAG] = { "tag", COLUMN_INTEGER, 4, "its number with the driver", NULL },
	[COLUMN_OPERATION] = { "op", COLUMN_TEXT, -12, "REQ_OP_*: READ, WRITE, FLUSH, ...", NULL },
	[COLUMN_STATE] = { "state", COLUMN_TEXT, -9, "MQ_RQ_*: IN_FLIGHT, COMPLETE", NULL },
	[COLUMN_SECTOR] = { "sector", COLUMN_WIDE, 10, "the first one", NULL },
	[COLUMN_SIZE] = { "size", COLUMN_BYTES, 6, "that it is about", NULL },
	[COLUMN_START] = { "start", COLUMN_DURATION, 0,
			   "when it was made; none: nobody looked at the clock", NULL },
	[COLUMN_AGE] = { "age", COLUMN_DURATION, 10, "since then, but for a tick", NULL },
	[COLUMN_DISK] = { "disk", COLUMN_TEXT, -10, "the disk's name", NULL },
};

#define QUEUES_MAX 65536
#define TAGS_MAX   65536
#define ALL_MAX	   ((uint64_t)1 << 22) /* tags of all disks */
#define IDLE	   0		       /* MQ_RQ_IDLE */

struct pass {
	struct table_scan *scan;
	const struct disk *disk;
	uint64_t now;  /* nanoseconds since the start; 0: not known */
	uint64_t last; /* tags of this disk that were gone through: queues may share them */
	uint64_t left; /* so many tags are looked at */
};

/* --- cells ----------------------------------------------------------------------------------- */

static struct error *set_times(const struct pass *pass, const struct object *request)
{
	uint64_t start;
	TRY(object_u64(request, "start_time_ns", &start));
	if (!start)
		return NULL;
	table_set(pass->scan, COLUMN_START, start);
	if (pass->now)
		table_set(pass->scan, COLUMN_AGE, pass->now > start ? pass->now - start : 0);
	return NULL;
}

static struct error *emit(const struct pass *pass, const struct object *request, uint64_t state)
{
	struct table_scan *scan = pass->scan;
	uint64_t flags;
	table_set(scan, COLUMN_REQUEST, request->address);
	table_set(scan, COLUMN_QUEUE, pass->disk->queue);
	table_set_text(scan, COLUMN_DISK, pass->disk->name);
	TRY(table_set_member(scan, COLUMN_HARDWARE, request, "mq_hctx"));
	TRY(table_set_member(scan, COLUMN_TAG, request, "tag"));
	table_set_enumerator(scan, COLUMN_STATE, "enum mq_rq_state", "MQ_RQ_", state);
	TRY(table_set_member(scan, COLUMN_SECTOR, request, "__sector"));
	TRY(table_set_member(scan, COLUMN_SIZE, request, "__data_len"));
	struct error *error = object_u64(request, "cmd_flags", &flags);
	if (error)
		TRY(table_set_error(scan, COLUMN_OPERATION, error));
	else
		table_set_operation(scan, COLUMN_OPERATION, flags);
	TRY(table_set_error(scan, COLUMN_AGE, set_times(pass, request)));
	return table_emit(scan);
}

/* --- tags: each has a request, whether it is used or not ------------------------------------- */

static struct error *broken_disk(void *context, struct error *problem)
{
	const struct pass *pass = context;
	return table_broken(pass->scan, error_prefix(problem, "%s", pass->disk->name));
}

static struct error *visit_tag(const struct pass *pass, uint64_t address)
{
	struct object request;
	uint64_t queue, state;
	TRY(object_at(pass->scan->target, "struct request", address, &request));
	TRY(object_u64(&request, "q", &queue));
	TRY(object_u64(&request, "state", &state));
	/* Several disks may share them. */
	return queue == pass->disk->queue && state != IDLE ? emit(pass, &request, state) : NULL;
}

static struct error *visit_tags(struct pass *pass, uint64_t address)
{
	struct memory *memory = pass->scan->target->memory;
	struct object tags;
	uint64_t count, table, request;
	if (!address || address == pass->last)
		return NULL;
	pass->last = address;
	TRY(object_at(pass->scan->target, "struct blk_mq_tags", address, &tags));
	TRY(object_u64(&tags, "nr_tags", &count));
	TRY(object_u64(&tags, "static_rqs", &table));
	if (count > TAGS_MAX)
		return error_create(ERROR_FORMAT, "%" PRIu64 " tags are more than there can be",
				    count);
	if (count > pass->left)
		return error_create(ERROR_FORMAT, "more tags than are looked at");
	pass->left -= count;
	for (uint64_t i = 0; table && i < count; i++) {
		TRY(interrupt_check());
		TRY(memory_read_word(memory, table + i * memory->word_size, &request));
		if (request)
			TRY(broken_disk(pass, visit_tag(pass, request)));
	}
	return NULL;
}

/* The driver's own. */
static struct error *visit_set(struct pass *pass, const struct object *queue)
{
	struct memory *memory = pass->scan->target->memory;
	struct object set;
	uint64_t count, table, tags;
	TRY(object_follow(queue, "tag_set", &set));
	/* A queue without tags: what is made of other disks. */
	if (!set.address)
		return NULL;
	TRY(object_u64(&set, "nr_hw_queues", &count));
	TRY(object_u64(&set, "tags", &table));
	if (count > QUEUES_MAX)
		return error_create(ERROR_FORMAT, "%" PRIu64 " queues are more than there can be",
				    count);
	for (uint64_t i = 0; table && i < count; i++) {
		TRY(interrupt_check());
		TRY(memory_read_word(memory, table + i * memory->word_size, &tags));
		TRY(broken_disk(pass, visit_tags(pass, tags)));
	}
	return NULL;
}

/* Where there is a scheduler, requests have tags of its own. */
static struct error *visit_hardware(void *context, const struct object *hardware)
{
	struct pass *pass = context;
	uint64_t tags;
	struct error *error = object_u64(hardware, "sched_tags", &tags);
	return broken_disk(pass, error ?: visit_tags(pass, tags));
}

/* --- disks ----------------------------------------------------------------------------------- */

static struct error *visit_queue(struct pass *pass)
{
	struct object queue;
	TRY(object_at(pass->scan->target, "struct request_queue", pass->disk->queue, &queue));
	TRY(visit_set(pass, &queue));
	return disk_queues_for_each(pass->scan->target, queue.address, visit_hardware, broken_disk,
				    pass);
}

static struct error *visit_disk(void *context, const struct disk *disk)
{
	struct pass *pass = context;
	pass->disk = disk;
	pass->last = 0;
	return broken_disk(pass, visit_queue(pass));
}

static struct error *broken(void *context, struct error *problem)
{
	const struct pass *pass = context;
	return table_broken(pass->scan, problem);
}

static struct error *visit(struct table_scan *scan)
{
	struct pass pass = { .scan = scan, .left = ALL_MAX };
	TRY(error_only_fatal(clock_now(scan->target, &pass.now)));
	return disks_for_each(scan->target, visit_disk, broken, &pass);
}

static const char *const examples[] = { "requests", "requests --sort -age -n 5", NULL };

const struct table table_requests = {
	.name = "requests",
	.summary = "requests of disks that are in flight",
	.description = "A row is a struct request that a driver or a scheduler has and has not yet "
		       "ended.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit = visit,
	.item = COLUMN_REQUEST,
	.is_object = true,
};
