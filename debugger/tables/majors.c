// SPDX-License-Identifier: GPL-3.0-or-later
/* Numbers of devices and who has them, as /proc/devices and /proc/misc say, and crash's dev. */
#include "debugger/tables/walks.h"

#include "base/array.h"
#include <inttypes.h>

enum {
	COLUMN_ENTRY,
	COLUMN_TYPE,
	COLUMN_MAJOR,
	COLUMN_MINOR,
	COLUMN_MINORS,
	COLUMN_CDEV,
	COLUMN_OPERATIONS,
	COLUMN_NAME,
};

static const struct table_column columns[] = {
	[COLUMN_ENTRY] = { "entry", COLUMN_ADDRESS, 0,
			   "its struct char_device_struct, blk_major_name or miscdevice", NULL },
	[COLUMN_TYPE] = { "type", COLUMN_TEXT, -5, "char, block; misc: one of the major number 10",
			  NULL },
	[COLUMN_MAJOR] = { "major", COLUMN_INTEGER, 5, "of the device number", NULL },
	[COLUMN_MINOR] = { "minor", COLUMN_INTEGER, 5, "the first one that it has", NULL },
	[COLUMN_MINORS] = { "minors", COLUMN_INTEGER, 6, "how many", NULL },
	[COLUMN_CDEV] = { "cdev", COLUMN_ADDRESS, 16, "the struct cdev of the first",
			  "struct cdev" },
	[COLUMN_OPERATIONS] = { "operations", COLUMN_TEXT, -24, "what is done with it", NULL },
	[COLUMN_NAME] = { "name", COLUMN_TEXT, -16, "of the driver, or of a misc device", NULL },
};

/* kernel include/linux/kdev_t.h, include/uapi/linux/major.h, include/linux/fs.h */
#define MINOR_BITS   20
#define MISC_MAJOR   10
#define HASH_BUCKETS 255
/* A chain of the map is gone for each row: so many are looked at in all. */
#define PROBES_MAX (UINT64_C(1) << 20)

/* A bucket of the map from numbers to devices: what was looked for, and what has it. */
struct search {
	uint64_t *left;		/* of probes that are looked at in this pass */
	uint64_t device, range; /* the smallest that has it wins, as in the kernel */
	uint64_t cdev;
};

static struct error *visit_probe(struct table_scan *scan, const struct object *probe, void *context)
{
	struct search *search = context;
	uint64_t device, range, data;
	(void)scan;
	if (!*search->left)
		return error_create(ERROR_FORMAT, "cdev_map has more than can be looked at");
	--*search->left;
	TRY(object_u64(probe, "dev", &device));
	TRY(object_u64(probe, "range", &range));
	TRY(object_u64(probe, "data", &data));
	if (search->device - device < range && range < search->range) {
		search->range = range;
		search->cdev = data;
	}
	return NULL;
}

/* What one bucket of an array of pointers leads to, whose members are linked by "next"; 0: none. */
static struct error *read_bucket(struct table_scan *scan, uint64_t buckets, uint64_t number,
				 uint64_t *ret)
{
	struct memory *memory = scan->target->memory;
	return memory_read_word(memory, buckets + number % HASH_BUCKETS * memory->word_size, ret);
}

static struct error *find_cdev(struct table_scan *scan, uint64_t major, uint64_t minor,
			       uint64_t *left, uint64_t *ret)
{
	struct object map, buckets;
	uint64_t address;
	struct search search = { .left = left,
				 .device = major << MINOR_BITS | minor,
				 .range = UINT64_MAX };
	const struct table_walk walk = { CONTAINER_CHAIN, "struct probe", "next", visit_probe,
					 &search };
	if (!table_symbol(scan, "cdev_map", &address))
		return error_create(ERROR_NOT_FOUND, "the kernel has no symbol cdev_map");
	TRY(memory_read_word(scan->target->memory, address, &address));
	TRY(object_at(scan->target, "struct kobj_map", address, &map));
	TRY(object_member(&map, "probes", &buckets));
	TRY(read_bucket(scan, buckets.address, major, &address));
	if (address)
		TRY(table_walk_forgetful(scan, address, &walk));
	*ret = search.cdev;
	return NULL;
}

/* Registered by the old way it is known at once; else it was added for itself, or not yet. */
static struct error *set_cdev(struct table_scan *scan, const struct object *entry, uint64_t *left)
{
	struct object cdev;
	uint64_t major, minor, address;
	if (!table_wants(scan, COLUMN_CDEV) && !table_wants(scan, COLUMN_OPERATIONS))
		return NULL;
	TRY(object_u64(entry, "major", &major));
	TRY(object_u64(entry, "baseminor", &minor));
	TRY(object_u64(entry, "cdev", &address));
	if (!address)
		TRY(find_cdev(scan, major, minor, left, &address));
	if (!address)
		return NULL;
	table_set(scan, COLUMN_CDEV, address);
	TRY(object_at(scan->target, "struct cdev", address, &cdev));
	return table_set_function(scan, COLUMN_OPERATIONS, &cdev, "ops");
}

static struct error *visit_char(struct table_scan *scan, const struct object *entry, void *context)
{
	table_set(scan, COLUMN_ENTRY, entry->address);
	table_set_text(scan, COLUMN_TYPE, "char");
	TRY(table_set_member(scan, COLUMN_MAJOR, entry, "major"));
	TRY(table_set_member(scan, COLUMN_MINOR, entry, "baseminor"));
	TRY(table_set_member(scan, COLUMN_MINORS, entry, "minorct"));
	TRY(table_set_error(scan, COLUMN_CDEV, set_cdev(scan, entry, context)));
	TRY(table_set_chars(scan, COLUMN_NAME, entry, "name"));
	return table_emit(scan);
}

static struct error *visit_block(struct table_scan *scan, const struct object *entry, void *context)
{
	(void)context;
	table_set(scan, COLUMN_ENTRY, entry->address);
	table_set_text(scan, COLUMN_TYPE, "block");
	TRY(table_set_member(scan, COLUMN_MAJOR, entry, "major"));
	TRY(table_set_chars(scan, COLUMN_NAME, entry, "name"));
	return table_emit(scan);
}

static struct error *visit_misc(struct table_scan *scan, const struct object *entry, void *context)
{
	(void)context;
	table_set(scan, COLUMN_ENTRY, entry->address);
	table_set_text(scan, COLUMN_TYPE, "misc");
	table_set(scan, COLUMN_MAJOR, MISC_MAJOR);
	table_set(scan, COLUMN_MINORS, 1);
	TRY(table_set_member(scan, COLUMN_MINOR, entry, "minor"));
	TRY(table_set_function(scan, COLUMN_OPERATIONS, entry, "fops"));
	TRY(table_set_pointed(scan, COLUMN_NAME, entry, "name"));
	return table_emit(scan);
}

static struct error *visit_bucket(struct table_scan *scan, uint64_t buckets, uint64_t number,
				  const struct table_walk *walk)
{
	uint64_t first;
	TRY(read_bucket(scan, buckets, number, &first));
	return first ? table_walk(scan, first, walk) : NULL;
}

static struct error *visit_buckets(struct table_scan *scan, const char *name,
				   const struct table_walk *walk)
{
	uint64_t address;
	if (!table_symbol(scan, name, &address))
		return error_create(ERROR_NOT_FOUND, "the kernel has no symbol %s", name);
	for (uint64_t i = 0; i < HASH_BUCKETS; i++)
		TRY(table_broken(scan, visit_bucket(scan, address, i, walk)));
	return NULL;
}

static struct error *visit(struct table_scan *scan)
{
	uint64_t left = PROBES_MAX;
	const struct table_walk chars = { CONTAINER_CHAIN, "struct char_device_struct", "next",
					  visit_char, &left };
	const struct table_walk blocks = { CONTAINER_CHAIN, "struct blk_major_name", "next",
					   visit_block, NULL };
	const struct table_walk misc = { CONTAINER_LIST, "struct miscdevice", "list", visit_misc,
					 NULL };
	TRY(table_broken(scan, visit_buckets(scan, "chrdevs", &chars)));
	TRY(table_broken(scan, visit_buckets(scan, "major_names", &blocks)));
	return table_broken(scan,
			    table_walk_variable(scan, "misc_list", "struct list_head", &misc));
}

static const char *const examples[] = { "majors", "majors --where \"type = 'misc'\" --sort minor",
					NULL };

const struct table table_majors = {
	.name = "majors",
	.alias = "dev",
	.summary = "numbers of devices, and who has them",
	.description = "A row is a range of device numbers of a character device's driver, a major "
		       "number of a block device's, as /proc/devices has them, or a device of "
		       "/proc/misc. `disks` has the block devices themselves, `devices` those of "
		       "buses.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit = visit,
	.item = COLUMN_CDEV,
};
