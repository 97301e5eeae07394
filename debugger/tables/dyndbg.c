// SPDX-License-Identifier: GPL-3.0-or-later
/* pr_debug() and its like, as /sys/kernel/debug/dynamic_debug/control has them. */
#include "debugger/tables/walks.h"

#include "base/array.h"
#include "debugger/kernel/path.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
	COLUMN_SITE,
	COLUMN_MODULE,
	COLUMN_FLAGS,
	COLUMN_LINE,
	COLUMN_FILE,
	COLUMN_FUNCTION,
	COLUMN_FORMAT
};

static const struct table_column columns[] = {
	[COLUMN_SITE] = { "site", COLUMN_ADDRESS, 0, "its struct _ddebug", "struct _ddebug" },
	[COLUMN_MODULE] = { "module", COLUMN_TEXT, -16, "or a part of the kernel", NULL },
	[COLUMN_FLAGS] = { "flags", COLUMN_TEXT, -5,
			   "p: it is printed; with m: module, f: function, s: file, l: line, "
			   "t: thread",
			   NULL },
	[COLUMN_LINE] = { "line", COLUMN_INTEGER, 5, "in the file", NULL },
	[COLUMN_FILE] = { "file", COLUMN_TEXT, -28, "as it was compiled", NULL },
	[COLUMN_FUNCTION] = { "function", COLUMN_TEXT, -24, "that it is written in", NULL },
	[COLUMN_FORMAT] = { "format", COLUMN_TEXT, -32, "what it prints", NULL },
};

#define NAME_SIZE 128
#define SITES_MAX ((uint64_t)1 << 20)

/* _DPRINTK_FLAGS_* of kernel include/linux/dynamic_debug.h, in the order of `control`. */
static const struct {
	uint64_t bit;
	char letter;
} flags[] = { { 0x01, 'p' }, { 0x02, 'm' }, { 0x04, 'f' },
	      { 0x20, 's' }, { 0x08, 'l' }, { 0x10, 't' } };

static struct error *set_flags(struct table_scan *scan, const struct object *site)
{
	char text[ARRAY_COUNT(flags) + 1];
	uint64_t value;
	size_t used = 0;
	TRY(object_u64(site, "flags", &value));
	for (size_t i = 0; i < ARRAY_COUNT(flags); i++)
		if (value & flags[i].bit)
			text[used++] = flags[i].letter;
	text[used] = 0;
	table_set_text(scan, COLUMN_FLAGS, text);
	return NULL;
}

static struct error *visit_site(struct table_scan *scan, const struct object *table,
				const struct object *site)
{
	table_set(scan, COLUMN_SITE, site->address);
	TRY(table_set_pointed(scan, COLUMN_MODULE, table, "mod_name"));
	TRY(table_set_error(scan, COLUMN_FLAGS, set_flags(scan, site)));
	TRY(table_set_member(scan, COLUMN_LINE, site, "lineno"));
	TRY(table_set_pointed(scan, COLUMN_FILE, site, "filename"));
	TRY(table_set_pointed(scan, COLUMN_FUNCTION, site, "function"));
	TRY(table_set_pointed(scan, COLUMN_FORMAT, site, "format"));
	return table_emit(scan);
}

/*
 * A message says of which module it is: what says otherwise is none of the table. `*known` is where
 * the name lies that was read last, for most messages of a module share it.
 */
static struct error *check_module(const struct object *table, const struct object *site,
				  uint64_t *known)
{
	char wanted[NAME_SIZE], found[NAME_SIZE];
	uint64_t name;
	if (!object_has(site, "modname"))
		return NULL;
	TRY(object_u64(site, "modname", &name));
	if (name == *known)
		return NULL;
	TRY(path_pointed_string(table, "mod_name", wanted, sizeof(wanted)));
	TRY(path_pointed_string(site, "modname", found, sizeof(found)));
	*known = name;
	return strcmp(wanted, found)
		       ? error_create(ERROR_FORMAT,
				      "the debug message 0x%" PRIx64 " is of another module",
				      site->address)
		       : NULL;
}

static struct error *visit_table(struct table_scan *scan, const struct object *table, void *context)
{
	struct object site;
	uint64_t count, size, known = 0;
	(void)context;
	TRY(object_follow(table, "ddebugs", &site));
	TRY(object_u64(table, "num_ddebugs", &count));
	if (!type_size(site.type, &size) || !size || count > SITES_MAX)
		return table_broken(scan, error_create(ERROR_FORMAT,
						       "a table of debug messages has no usable "
						       "length"));
	for (; count; count--, site.address += size) {
		bool again = false;
		/* A message is in one table: tables may lead to one array. */
		struct error *error = seen_add(&scan->seen, site.address, &again);
		if (again)
			error = error_create(ERROR_FORMAT,
					     "the debug message 0x%" PRIx64 " is in two tables",
					     site.address);
		if (!error)
			error = check_module(table, &site, &known);
		if (error)
			return table_broken(scan, error);
		TRY(visit_site(scan, table, &site));
	}
	return NULL;
}

static struct error *visit(struct table_scan *scan)
{
	const struct table_walk walk = { CONTAINER_LIST, "struct ddebug_table", "link", visit_table,
					 NULL };
	return table_walk_variable(scan, "ddebug_tables", "struct list_head", &walk);
}

static const char *const examples[] = { "dyndbg --where \"flags like '%p%'\"",
					"dyndbg -n 5 -o file,line,function,format", NULL };

const struct table table_dyndbg = {
	.name = "dyndbg",
	.summary = "debug messages, and which are printed",
	.description = "A row is a pr_debug(), dev_dbg() or the like of the kernel or a module, as "
		       "dynamic_debug/control of debugfs has them.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit = visit,
	.item = COLUMN_SITE,
	.is_object = true,
};
