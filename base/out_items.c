// SPDX-License-Identifier: GPL-3.0-or-later
/* The sink of an address pipe: keeps what out_item() names, and nothing else. */
#include "base/out_sink.h"

#include "base/array.h"
#include <stdlib.h>
#include <string.h>

/* Type names that are kept; what comes in yet another type has none. */
#define NAMES_MAX 256

struct out_items {
	struct out out;
	struct out_item *items;
	size_t count, capacity;
	char *names[NAMES_MAX];
	size_t name_count;
};

static struct out_items *items_of(const struct out *out)
{
	return container_of(out, struct out_items, out);
}

/* The kept copy of a name. The latest first, for most items are of one type. */
static const char *keep_name(struct out_items *items, const char *name)
{
	for (size_t i = items->name_count; i-- > 0;)
		if (!strcmp(items->names[i], name))
			return items->names[i];
	if (items->name_count == NAMES_MAX)
		return NULL;
	char *copy = strdup(name);
	if (copy)
		items->names[items->name_count++] = copy;
	return copy;
}

static void items_item(struct out *out, uint64_t address, const char *type_name)
{
	struct out_items *items = items_of(out);
	if (!array_reserve(&items->items, &items->capacity, items->count + 1)) {
		out->failed = true;
		return;
	}
	const char *name = type_name && *type_name ? keep_name(items, type_name) : NULL;
	items->items[items->count++] = (struct out_item){ address, name };
}

static void items_begin(struct out *out, const char *key, bool is_array)
{
	(void)out, (void)key, (void)is_array;
}

static void items_end(struct out *out, bool is_array)
{
	(void)out, (void)is_array;
}

static void items_field(struct out *out, const struct out_field *field)
{
	(void)out, (void)field;
}

static void items_line(struct out *out, const char *text, size_t size)
{
	(void)out, (void)text, (void)size;
}

static void items_missing(struct out *out, const char *key, const struct error *error)
{
	(void)out, (void)key, (void)error;
}

static void items_table_begin(struct out *out, const char *key, const struct column *columns,
			      size_t count)
{
	(void)out, (void)key, (void)columns, (void)count;
}

static void items_nothing(struct out *out)
{
	(void)out;
}

static void items_finish(struct out *out, size_t depth)
{
	(void)out, (void)depth;
}

static void items_destroy(struct out *out)
{
	struct out_items *items = items_of(out);
	for (size_t i = 0; i < items->name_count; i++)
		free(items->names[i]);
	free(items->items);
}

static const struct out_ops items_ops = {
	.begin = items_begin,
	.end = items_end,
	.field = items_field,
	.line = items_line,
	.missing = items_missing,
	.table_begin = items_table_begin,
	.row_begin = items_nothing,
	.row_end = items_nothing,
	.table_end = items_nothing,
	.finish = items_finish,
	.item = items_item,
	.destroy = items_destroy,
};

struct out *out_items_create(void)
{
	struct out_items *items = calloc(1, sizeof(*items));
	if (!items)
		return NULL;
	items->out.ops = &items_ops;
	return &items->out;
}

size_t out_items(const struct out *out, const struct out_item **ret)
{
	const struct out_items *items = items_of(out);
	*ret = items->items;
	return items->count;
}
