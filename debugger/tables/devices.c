// SPDX-License-Identifier: GPL-3.0-or-later
/* Devices of all buses, as /sys/bus has them. */
#include "debugger/kernel/device_sets.h"

#include "base/array.h"
#include "debugger/tables/walks.h"

enum {
	COLUMN_DEVICE,
	COLUMN_BUS,
	COLUMN_DRIVER,
	COLUMN_MODULE,
	COLUMN_PARENT,
	COLUMN_NUMA,
	COLUMN_NAME
};

static const struct table_column columns[] = {
	[COLUMN_DEVICE] = { "device", COLUMN_ADDRESS, 16, "its struct device", "struct device" },
	[COLUMN_BUS] = { "bus", COLUMN_TEXT, -14, "pci, platform, acpi, virtio, ...", NULL },
	[COLUMN_DRIVER] = { "driver", COLUMN_TEXT, -16, "who drives it", NULL },
	[COLUMN_MODULE] = { "module", COLUMN_TEXT, 0, "whose that is; none: the kernel's", NULL },
	[COLUMN_PARENT] = { "parent", COLUMN_ADDRESS, 0, "the device that it hangs on",
			    "struct device" },
	[COLUMN_NUMA] = { "numa_node", COLUMN_INTEGER, 0, "next to which it is; -1: any", NULL },
	[COLUMN_NAME] = { "name", COLUMN_TEXT, -20, "the device's", NULL },
};

static struct error *set_driver(struct table_scan *scan, const struct object *device)
{
	struct object driver, owner;
	TRY(object_follow(device, "driver", &driver));
	if (!driver.address)
		return NULL;
	TRY(table_set_pointed(scan, COLUMN_DRIVER, &driver, "name"));
	TRY(object_follow(&driver, "owner", &owner));
	return owner.address ? table_set_chars(scan, COLUMN_MODULE, &owner, "name") : NULL;
}

static struct error *set_bus(struct table_scan *scan, const struct object *set)
{
	struct object bus;
	TRY(object_follow(set, "bus", &bus));
	return bus.address ? table_set_pointed(scan, COLUMN_BUS, &bus, "name") : NULL;
}

static struct error *visit_device(void *context, const struct object *set,
				  const struct object *device)
{
	struct table_scan *scan = context;
	table_set(scan, COLUMN_DEVICE, device->address);
	TRY(table_set_error(scan, COLUMN_BUS, set_bus(scan, set)));
	TRY(table_set_error(scan, COLUMN_DRIVER, set_driver(scan, device)));
	TRY(table_set_member(scan, COLUMN_PARENT, device, "parent"));
	TRY(table_set_member(scan, COLUMN_NUMA, device, "numa_node"));
	TRY(table_set_pointed(scan, COLUMN_NAME, device, "kobj.name"));
	return table_emit(scan);
}

static struct error *broken(void *context, struct error *problem)
{
	return table_broken(context, problem);
}

static struct error *visit(struct table_scan *scan)
{
	const struct device_visitor visitor = { visit_device, broken, scan };
	return bus_devices_for_each(scan->target, &visitor);
}

static const char *const examples[] = { "devices --where \"bus = 'pci'\"",
					"devices --where 'driver IS NOT NULL' -o bus,name,driver",
					NULL };

const struct table table_devices = {
	.name = "devices",
	.summary = "devices of all buses",
	.description = "A row is a struct device of a bus, as /sys/bus has them.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit = visit,
	.item = COLUMN_DEVICE,
	.is_object = true,
};
