// SPDX-License-Identifier: GPL-3.0-or-later
/* Who has which physical addresses and ports, as /proc/iomem and ioports have them. */
#include "debugger/tables/walks.h"

#include "base/address_map.h"
#include "base/array.h"
#include "base/interrupt.h"
#include <inttypes.h>

enum {
	COLUMN_RESOURCE,
	COLUMN_SPACE,
	COLUMN_DEPTH,
	COLUMN_START,
	COLUMN_END,
	COLUMN_SIZE,
	COLUMN_FLAGS,
	COLUMN_NAME
};

static const struct table_column columns[] = {
	[COLUMN_RESOURCE] = { "resource", COLUMN_ADDRESS, 16, "its struct resource",
			      "struct resource" },
	[COLUMN_SPACE] = { "space", COLUMN_TEXT, -5, "mem: physical addresses; io: ports", NULL },
	[COLUMN_DEPTH] = { "depth", COLUMN_INTEGER, 5, "0, or 1 within another, ...", NULL },
	[COLUMN_START] = { "start", COLUMN_ADDRESS, 16, "the first", NULL },
	[COLUMN_END] = { "end", COLUMN_ADDRESS, 16, "the last", NULL },
	[COLUMN_SIZE] = { "size", COLUMN_BYTES, 7, "from the first to the last", NULL },
	[COLUMN_FLAGS] = { "flags", COLUMN_WIDE, 0, "IORESOURCE_*", NULL },
	[COLUMN_NAME] = { "name", COLUMN_TEXT, -24, "who has it", NULL },
};

#define DEPTH_MAX     64
#define RESOURCES_MAX (1u << 20)

struct pass {
	struct table_scan *scan;
	const char *space;
	struct address_map seen; /* uint64_t */
};

static struct error *set_size(struct table_scan *scan, const struct object *resource)
{
	uint64_t start, end;
	TRY(object_u64(resource, "start", &start));
	TRY(object_u64(resource, "end", &end));
	table_set(scan, COLUMN_START, start);
	table_set(scan, COLUMN_END, end);
	if (end >= start && end - start < INT64_MAX)
		table_set(scan, COLUMN_SIZE, end - start + 1);
	return NULL;
}

static struct error *emit(const struct pass *pass, const struct object *resource,
			  unsigned int depth)
{
	struct table_scan *scan = pass->scan;
	table_set(scan, COLUMN_RESOURCE, resource->address);
	table_set_text(scan, COLUMN_SPACE, pass->space);
	table_set(scan, COLUMN_DEPTH, depth);
	TRY(table_set_error(scan, COLUMN_SIZE, set_size(scan, resource)));
	TRY(table_set_member(scan, COLUMN_FLAGS, resource, "flags"));
	TRY(table_set_pointed(scan, COLUMN_NAME, resource, "name"));
	return table_emit(scan);
}

/* What lies in it. None comes twice, wherever links lead. */
static struct error *visit_children(struct pass *pass, const struct object *parent,
				    unsigned int depth)
{
	struct object child;
	TRY(object_follow(parent, "child", &child));
	while (child.address) {
		uint64_t back;
		TRY(interrupt_check());
		TRY(object_u64(&child, "parent", &back));
		if (back != parent->address || depth > DEPTH_MAX ||
		    pass->seen.count >= RESOURCES_MAX ||
		    address_map_find(&pass->seen, sizeof(uint64_t), child.address))
			return error_create(ERROR_FORMAT, "resources are no tree at 0x%" PRIx64,
					    child.address);
		if (!address_map_add(&pass->seen, sizeof(uint64_t), child.address))
			return error_no_memory();
		TRY(emit(pass, &child, depth));
		TRY(table_broken(pass->scan, visit_children(pass, &child, depth + 1)));
		TRY(object_follow(&child, "sibling", &child));
	}
	return NULL;
}

static struct error *visit_space(struct table_scan *scan, const char *root, const char *space)
{
	struct pass pass = { .scan = scan, .space = space };
	struct object resource;
	TRY(object_variable(scan->target, root, "struct resource", &resource));
	struct error *error = visit_children(&pass, &resource, 0);
	if (!error && !pass.seen.count)
		error = error_create(ERROR_FORMAT, "%s has no children, as it has once booted",
				     root);
	address_map_deinit(&pass.seen);
	return error;
}

static struct error *visit(struct table_scan *scan)
{
	TRY(table_broken(scan, visit_space(scan, "iomem_resource", "mem")));
	return table_broken(scan, visit_space(scan, "ioport_resource", "io"));
}

static const char *const examples[] = { "resources --where \"space = 'mem' and depth = 0\"",
					"resources --where \"name = 'System RAM'\"", NULL };

const struct table table_resources = {
	.name = "resources",
	.summary = "who has which physical addresses and ports",
	.description =
		"A row is a struct resource, as /proc/iomem and /proc/ioports have them; what "
		"lies in another one follows it.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit = visit,
	.item = COLUMN_RESOURCE,
	.is_object = true,
};
