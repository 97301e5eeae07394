// SPDX-License-Identifier: GPL-3.0-or-later
/* Consoles, as /proc/consoles has them. */
#include "debugger/tables/walks.h"

#include "base/array.h"
#include <inttypes.h>
#include <stdio.h>

enum { COLUMN_CONSOLE, COLUMN_FLAGS, COLUMN_SEQ, COLUMN_DROPPED, COLUMN_WRITE, COLUMN_NAME };

static const struct table_column columns[] = {
	[COLUMN_CONSOLE] = { "console", COLUMN_ADDRESS, 16, "its struct console",
			     "struct console" },
	[COLUMN_FLAGS] = { "flags", COLUMN_TEXT, -26, "CON_*: enabled, consdev, boot, ...", NULL },
	[COLUMN_SEQ] = { "seq", COLUMN_WIDE, 8, "the next record of the log that it shows", NULL },
	[COLUMN_DROPPED] = { "dropped", COLUMN_WIDE, 7, "records that it was too slow for", NULL },
	[COLUMN_WRITE] = { "write", COLUMN_TEXT, -24, "who writes", NULL },
	[COLUMN_NAME] = { "name", COLUMN_TEXT, -8, "the device's, as in console=", NULL },
};

/* kernel include/linux/console.h */
static const struct table_word flag_words[] = {
	{ 0x01, "printbuffer" }, { 0x02, "consdev" },	{ 0x04, "enabled" },
	{ 0x08, "boot" },	 { 0x10, "anytime" },	{ 0x20, "brl" },
	{ 0x40, "extended" },	 { 0x80, "suspended" }, { 0x100, "nbcon" },
};
#define FLAG_NBCON 0x100u
#define NAME_SIZE  64

static struct error *set_name(struct table_scan *scan, const struct object *console)
{
	char name[NAME_SIZE], text[NAME_SIZE + 24];
	uint64_t index;
	TRY(object_string(console, "name", name, sizeof(name)));
	TRY(object_u64(console, "index", &index));
	snprintf(text, sizeof(text), "%s%" PRId64, name, (int64_t)index);
	table_set_text(scan, COLUMN_NAME, text);
	return NULL;
}

static struct error *set_flags(struct table_scan *scan, const struct object *console)
{
	uint64_t flags;
	TRY(object_u64(console, "flags", &flags));
	table_set_words(scan, COLUMN_FLAGS, flag_words, ARRAY_COUNT(flag_words), flags);
	return NULL;
}

/* What an atomic console (6.5 and later) has shown it counts elsewhere, and others write it. */
static struct error *set_progress(struct table_scan *scan, const struct object *console)
{
	uint64_t flags;
	TRY(object_u64(console, "flags", &flags));
	bool is_atomic = flags & FLAG_NBCON && object_has(console, "nbcon_seq.counter");
	TRY(table_set_member(scan, COLUMN_SEQ, console, is_atomic ? "nbcon_seq.counter" : "seq"));
	return table_set_function(scan, COLUMN_WRITE, console,
				  is_atomic ? "write_thread" : "write");
}

static struct error *visit_console(struct table_scan *scan, const struct object *console,
				   void *context)
{
	(void)context;
	table_set(scan, COLUMN_CONSOLE, console->address);
	TRY(table_set_error(scan, COLUMN_FLAGS, set_flags(scan, console)));
	TRY(table_set_error(scan, COLUMN_SEQ, set_progress(scan, console)));
	TRY(table_set_member(scan, COLUMN_DROPPED, console, "dropped"));
	TRY(table_set_error(scan, COLUMN_NAME, set_name(scan, console)));
	return table_emit(scan);
}

static struct error *visit(struct table_scan *scan)
{
	const struct table_walk chain = { CONTAINER_CHAIN, "struct console", "next", visit_console,
					  NULL };
	const struct table_walk list = { CONTAINER_HLIST, "struct console", "node", visit_console,
					 NULL };
	uint64_t address;
	/* A chain until a6afcb5fa8f6 (6.2). */
	return table_symbol(scan, "console_list", &address)
		       ? table_walk(scan, address, &list)
		       : table_walk_variable(scan, "console_drivers", "unsigned long", &chain);
}

static const char *const examples[] = { "consoles", "consoles -o name,seq,dropped", NULL };

const struct table table_consoles = {
	.name = "consoles",
	.summary = "consoles of the log",
	.description = "A row is a struct console that is registered, as /proc/consoles has them. "
		       "What the log has from `seq` on, it has not shown.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit = visit,
	.item = COLUMN_CONSOLE,
	.is_object = true,
};
