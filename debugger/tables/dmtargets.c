// SPDX-License-Identifier: GPL-3.0-or-later
/* Devices that the device mapper makes, and the targets of their live tables. */
#include "debugger/kernel/device_mapper.h"
#include "debugger/kernel/disks.h"

#include "base/array.h"
#include "base/interrupt.h"
#include "debugger/tables/walks.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
	COLUMN_DEVICE,
	COLUMN_TABLE,
	COLUMN_TARGET,
	COLUMN_DISK,
	COLUMN_SUSPENDED,
	COLUMN_FLAGS,
	COLUMN_OPEN,
	COLUMN_EVENT,
	COLUMN_START,
	COLUMN_LENGTH,
	COLUMN_TYPE,
	COLUMN_DEVICES,
	COLUMN_NAME,
	COLUMN_UUID
};

static const struct table_column columns[] = {
	[COLUMN_DEVICE] = { "md", COLUMN_ADDRESS, 16, "the device: its struct mapped_device",
			    "struct mapped_device" },
	[COLUMN_TABLE] = { "dm_table", COLUMN_ADDRESS, 0, "the live one: its struct dm_table",
			   "struct dm_table" },
	[COLUMN_TARGET] = { "target", COLUMN_ADDRESS, 0, "its struct dm_target",
			    "struct dm_target" },
	[COLUMN_DISK] = { "disk", COLUMN_TEXT, -6, "dm-0, ...", NULL },
	[COLUMN_SUSPENDED] = { "suspended", COLUMN_INTEGER, 9, "1: what is asked of it waits",
			       NULL },
	[COLUMN_FLAGS] = { "flags", COLUMN_INTEGER, 0, "DMF_* of kernel drivers/md/dm-core.h",
			   NULL },
	[COLUMN_OPEN] = { "open", COLUMN_INTEGER, 4, "how often it is open", NULL },
	[COLUMN_EVENT] = { "event_nr", COLUMN_INTEGER, 0, "events until now", NULL },
	[COLUMN_START] = { "start", COLUMN_WIDE, 10, "the first sector of the target", NULL },
	[COLUMN_LENGTH] = { "length", COLUMN_WIDE, 10, "its sectors, of 512 bytes", NULL },
	[COLUMN_TYPE] = { "type", COLUMN_TEXT, -10, "linear, striped, crypt, ...", NULL },
	[COLUMN_DEVICES] = { "devices", COLUMN_TEXT, -24,
			     "below it, each with the sector where it begins there, as dmsetup "
			     "has them; without where only the table says which it uses",
			     NULL },
	[COLUMN_NAME] = { "name", COLUMN_TEXT, -20, "the device's", NULL },
	[COLUMN_UUID] = { "uuid", COLUMN_TEXT, -20, "the device's", NULL },
};

#define TARGETS_MAX ((uint64_t)1 << 20)
#define NAMED_MAX   64u /* devices below one that are shown */

struct pass {
	struct table_scan *scan;
	const struct disk *disk;
	const struct btf *types; /* of the device mapper's module */
	struct object device, table;
	uint64_t count, left; /* targets of this table, and rows until it is too much */
};

/* Devices below, as text. */
struct below {
	struct table_scan *scan;
	const struct btf *types;
	unsigned int count;
	char text[NAMED_MAX * 40];
	size_t used;
};

/* --- what is below --------------------------------------------------------------------------- */

static void add_text(struct below *below, const char *text)
{
	size_t room = sizeof(below->text) - below->used;
	int length =
		snprintf(below->text + below->used, room, "%s%s", below->used ? ", " : "", text);
	below->used += length < 0 ? 0 : (size_t)length < room ? (size_t)length : room - 1;
}

/* A struct dm_dev; `start` NULL: where it begins is not known. */
static struct error *add_device(struct below *below, const struct object *device,
				const uint64_t *start)
{
	char name[32], text[64];
	if (below->count == NAMED_MAX)
		add_text(below, "...");
	if (below->count++ >= NAMED_MAX)
		return NULL;
	TRY(object_string(device, "name", name, sizeof(name)));
	snprintf(text, sizeof(text), start ? "%s %" PRIu64 : "%s", name, start ? *start : 0);
	add_text(below, text);
	return NULL;
}

static struct error *add_place(struct below *below, const struct object *place, const char *path)
{
	struct object device;
	uint64_t start;
	TRY(object_follow(place, "dev", &device));
	TRY(object_u64(place, path, &start));
	if (!device.address)
		return error_create(ERROR_FORMAT, "a target has a place on no device");
	return add_device(below, &device, &start);
}

static struct error *add_stripes(struct below *below, const struct object *context)
{
	struct object stripes, stripe;
	uint64_t count, size;
	TRY(object_u64(context, "stripes", &count));
	TRY(table_object(below->scan, below->types, "struct stripe", 0, &stripe));
	TRY(object_member(context, "stripe", &stripes));
	if (!type_size(stripe.type, &size))
		return error_create(ERROR_FORMAT, "struct stripe has no size");
	for (uint64_t i = 0; i < count && below->count <= NAMED_MAX; i++) {
		stripe.address = stripes.address + i * size;
		TRY(add_place(below, &stripe, "physical_start"));
	}
	return NULL;
}

static struct error *add_listed(struct table_scan *scan, const struct object *entry, void *context)
{
	struct object device;
	(void)scan;
	TRY(object_follow(entry, "dm_dev", &device));
	return device.address ? add_device(context, &device, NULL) : NULL;
}

static struct error *add_of_table(const struct pass *pass, struct below *below)
{
	struct object head;
	const struct table_walk walk = { CONTAINER_LIST, "struct dm_dev_internal", "list",
					 add_listed, below };
	TRY(object_member(&pass->table, "devices", &head));
	return table_walk(pass->scan, head.address, &walk);
}

/* Who is at one place of one device; a target's own struct is known by its type's name. */
static const struct {
	const char *type, *struct_name;
} of_one_device[] = { { "linear", "struct linear_c" }, { "crypt", "struct crypt_config" } };

static struct error *set_devices(const struct pass *pass, const struct object *target,
				 const struct object *type, const char *name)
{
	struct below below = { .scan = pass->scan };
	struct object context;
	char function[SYMBOL_NAME_SIZE];
	const char *struct_name = !strcmp(name, "striped") ? "struct stripe_c" : NULL;
	uint64_t map, address;
	TRY(object_u64(type, "map", &map));
	TRY(object_u64(target, "private", &address));
	table_function(pass->scan, map, function, &below.types);
	for (size_t i = 0; i < ARRAY_COUNT(of_one_device); i++)
		if (!strcmp(of_one_device[i].type, name))
			struct_name = of_one_device[i].struct_name;
	if (struct_name && address) {
		TRY(table_object(pass->scan, below.types, struct_name, address, &context));
		TRY(object_has(&context, "stripes") ? add_stripes(&below, &context)
						    : add_place(&below, &context, "start"));
	} else if (pass->count == 1) {
		/* They can only be this target's. */
		below.types = pass->types;
		TRY(add_of_table(pass, &below));
	}
	if (below.used)
		table_set_text(pass->scan, COLUMN_DEVICES, below.text);
	return NULL;
}

/* --- rows ------------------------------------------------------------------------------------ */

/* Its name and UUID are kept by who gave them to it. */
static struct error *set_names(const struct pass *pass)
{
	struct object cell;
	uint64_t address, device;
	TRY(object_u64(&pass->device, "interface_ptr", &address));
	if (!address)
		return NULL;
	TRY(table_object(pass->scan, pass->types, "struct hash_cell", address, &cell));
	TRY(object_u64(&cell, "md", &device));
	if (device != pass->device.address)
		return error_create(ERROR_FORMAT, "hash_cell 0x%" PRIx64 " is another device's",
				    address);
	TRY(table_set_pointed(pass->scan, COLUMN_NAME, &cell, "name"));
	return table_set_pointed(pass->scan, COLUMN_UUID, &cell, "uuid");
}

static struct error *set_device(const struct pass *pass)
{
	struct table_scan *scan = pass->scan;
	uint64_t number;
	table_set(scan, COLUMN_DEVICE, pass->device.address);
	table_set_text(scan, COLUMN_DISK, pass->disk->name);
	struct error *error = object_u64(&pass->device, "flags", &number);
	if (!error) {
		table_set(scan, COLUMN_FLAGS, number);
		table_set(scan, COLUMN_SUSPENDED, (number & DEVICE_MAPPER_SUSPENDED) != 0);
	}
	TRY(table_set_error(scan, COLUMN_SUSPENDED, error));
	TRY(table_set_member(scan, COLUMN_OPEN, &pass->device, "open_count.counter"));
	TRY(table_set_member(scan, COLUMN_EVENT, &pass->device, "event_nr.counter"));
	return table_set_error(scan, COLUMN_NAME, set_names(pass));
}

static struct error *set_target(const struct pass *pass, const struct object *target)
{
	struct table_scan *scan = pass->scan;
	struct object type, letters;
	size_t length;
	char name[64];
	table_set(scan, COLUMN_TARGET, target->address);
	TRY(table_set_member(scan, COLUMN_START, target, "begin"));
	TRY(table_set_member(scan, COLUMN_LENGTH, target, "len"));
	TRY(object_follow(target, "type", &type));
	TRY(object_follow(&type, "name", &letters));
	TRY(memory_read_string(scan->target->memory, letters.address, name, sizeof(name), &length));
	table_set_text(scan, COLUMN_TYPE, name);
	return table_set_error(scan, COLUMN_DEVICES, set_devices(pass, target, &type, name));
}

static struct error *visit_target(const struct pass *pass, const struct object *target)
{
	TRY(set_device(pass));
	table_set(pass->scan, COLUMN_TABLE, pass->table.address);
	TRY(table_set_error(pass->scan, COLUMN_TYPE, set_target(pass, target)));
	return table_emit(pass->scan);
}

static struct error *visit_targets(struct pass *pass)
{
	struct object target;
	uint64_t first, size;
	TRY(object_u64(&pass->table, "num_targets", &pass->count));
	TRY(object_u64(&pass->table, "targets", &first));
	TRY(table_object(pass->scan, pass->types, "struct dm_target", first, &target));
	if (!type_size(target.type, &size))
		return error_create(ERROR_FORMAT, "struct dm_target has no size");
	if (pass->count > pass->left)
		return error_create(ERROR_FORMAT, "%" PRIu64 " targets are more than there can be",
				    pass->count);
	pass->left -= pass->count;
	for (uint64_t i = 0; i < pass->count; i++) {
		uint64_t table;
		TRY(interrupt_check());
		target.address = first + i * size;
		TRY(object_u64(&target, "table", &table));
		if (table != pass->table.address)
			return error_create(ERROR_FORMAT,
					    "dm_target 0x%" PRIx64 " is of another table",
					    target.address);
		TRY(visit_target(pass, &target));
	}
	return NULL;
}

static struct error *visit_device(struct pass *pass)
{
	struct table_scan *scan = pass->scan;
	uint64_t table;
	TRY(object_u64(&pass->device, "map", &table));
	if (table) {
		uint64_t its;
		TRY(table_object(scan, pass->types, "struct dm_table", table, &pass->table));
		TRY(object_u64(&pass->table, "md", &its));
		if (its != pass->device.address)
			return error_create(ERROR_FORMAT,
					    "dm_table 0x%" PRIx64 " is another device's", table);
		return visit_targets(pass);
	}
	TRY(set_device(pass));
	return table_emit(scan);
}

static struct error *look_at_disk(struct pass *pass)
{
	TRY(device_mapper_find(pass->scan->target, pass->disk->address, &pass->device));
	pass->types = pass->device.type.btf;
	return pass->device.address ? visit_device(pass) : NULL;
}

static struct error *broken(void *context, struct error *problem)
{
	struct pass *pass = context;
	return table_broken(pass->scan, problem);
}

static struct error *visit_disk(void *context, const struct disk *disk)
{
	struct pass *pass = context;
	pass->disk = disk;
	return table_broken(pass->scan, error_prefix(look_at_disk(pass), "%s", disk->name));
}

static struct error *visit(struct table_scan *scan)
{
	struct pass pass = { .scan = scan, .left = TARGETS_MAX };
	return disks_for_each(scan->target, visit_disk, broken, &pass);
}

static const char *const examples[] = {
	"dmtargets", "dmtargets -o disk,start,length,type,devices,uuid",
	"sql SELECT name, disk, open, count(target) AS targets FROM dmtargets GROUP BY md", NULL
};

const struct table table_dmtargets = {
	.name = "dmtargets",
	.summary = "targets of the device mapper's devices",
	.description =
		"A row is a target of the live table of a device that the device mapper made, as "
		"`dmsetup table` has them, or a device that has no such table.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit = visit,
	.item = COLUMN_DEVICE,
};
