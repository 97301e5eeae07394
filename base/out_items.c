// SPDX-License-Identifier: GPL-3.0-or-later
/* The sink of an address pipe: keeps what out_item() names, and nothing else. */
#include "base/out_sink.h"

#include "base/array.h"
#include <stdlib.h>

struct out_items {
	struct out out;
	struct out_item *items;
	size_t count, capacity;
	bool is_said; /* something, with or without items */
};

static struct out_items *items_of(const struct out *out)
{
	return container_of(out, struct out_items, out);
}

static void items_item(struct out *out, const struct out_item *item)
{
	struct out_items *items = items_of(out);
	if (out_reserve(out, &items->items, &items->capacity, items->count + 1))
		items->items[items->count++] = *item;
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
	(void)field;
	items_of(out)->is_said = true;
}

static void items_line(struct out *out, const char *text, size_t size)
{
	(void)text, (void)size;
	items_of(out)->is_said = true;
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
	budget_release(out->budget, items->items, items->capacity);
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

struct out *out_items_create(struct budget *budget)
{
	struct out_items *items = calloc(1, sizeof(*items));
	if (!items)
		return NULL;
	items->out.ops = &items_ops;
	items->out.budget = budget;
	return &items->out;
}

size_t out_items(const struct out *out, const struct out_item **ret)
{
	const struct out_items *items = items_of(out);
	*ret = items->items;
	return items->count;
}

bool out_items_lack(const struct out *out)
{
	const struct out_items *items = items_of(out);
	return items->is_said && !items->count;
}
