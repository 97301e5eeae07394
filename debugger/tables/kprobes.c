// SPDX-License-Identifier: GPL-3.0-or-later
/* Probes in the kernel's code. */
#include "debugger/tables/walks.h"

#include "base/array.h"

enum { COLUMN_PROBE, COLUMN_PLACE, COLUMN_FLAGS, COLUMN_MISSED, COLUMN_HANDLER, COLUMN_FUNCTION };

static const struct table_column columns[] = {
	[COLUMN_PROBE] = { "kprobe", COLUMN_ADDRESS, 16, "its struct kprobe", "struct kprobe" },
	[COLUMN_PLACE] = { "addr", COLUMN_ADDRESS, 16, "the instruction", NULL },
	[COLUMN_FLAGS] = { "flags", COLUMN_TEXT, -18, "gone, disabled, optimized, ftrace", NULL },
	[COLUMN_MISSED] = { "nmissed", COLUMN_WIDE, 7, "how often it could not be served", NULL },
	[COLUMN_HANDLER] = { "handler", COLUMN_TEXT, -28, "what is called before the instruction",
			     NULL },
	[COLUMN_FUNCTION] = { "function", COLUMN_TEXT, -28, "where the instruction is", NULL },
};

/* KPROBE_FLAG_* of kernel include/linux/kprobes.h */
static const struct table_word flag_words[] = {
	{ 1, "gone" },
	{ 2, "disabled" },
	{ 4, "optimized" },
	{ 8, "ftrace" },
};
/* KPROBE_TABLE_SIZE of kernel/kprobes.c */
#define LISTS 64

static struct error *visit_probe(struct table_scan *scan, const struct object *probe, void *context)
{
	uint64_t flags;
	(void)context;
	table_set(scan, COLUMN_PROBE, probe->address);
	TRY(table_set_member(scan, COLUMN_PLACE, probe, "addr"));
	struct error *error = object_u64(probe, "flags", &flags);
	if (error)
		TRY(table_set_error(scan, COLUMN_FLAGS, error));
	else
		table_set_words(scan, COLUMN_FLAGS, flag_words, ARRAY_COUNT(flag_words), flags);
	TRY(table_set_member(scan, COLUMN_MISSED, probe, "nmissed"));
	TRY(table_set_function(scan, COLUMN_HANDLER, probe, "pre_handler"));
	TRY(table_set_function(scan, COLUMN_FUNCTION, probe, "addr"));
	return table_emit(scan);
}

static struct error *visit(struct table_scan *scan)
{
	const struct table_walk walk = { CONTAINER_HLIST, "struct kprobe", "hlist", visit_probe,
					 NULL };
	uint64_t table;
	if (!table_symbol(scan, "kprobe_table", &table))
		return error_create(ERROR_NOT_FOUND, "this kernel has no kprobe_table");
	for (uint64_t i = 0; i < LISTS; i++)
		TRY(table_walk(scan, table + i * scan->target->memory->word_size, &walk));
	return NULL;
}

static const char *const examples[] = { "kprobes", "kprobes --where 'nmissed > 0'", NULL };

const struct table table_kprobes = {
	.name = "kprobes",
	.summary = "probes in the kernel's code",
	.description =
		"A row is a struct kprobe, as /sys/kernel/debug/kprobes/list has them. Where "
		"several are at one place, the row is the one that calls them.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit = visit,
	.item = COLUMN_PROBE,
	.is_object = true,
};
