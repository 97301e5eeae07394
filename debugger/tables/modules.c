// SPDX-License-Identifier: GPL-3.0-or-later
/* Loaded modules, as /proc/modules and /sys/module have them. */
#include "debugger/kernel/module.h"

#include "base/array.h"
#include "base/interrupt.h"
#include "debugger/tables/walks.h"

enum {
	COLUMN_MODULE,
	COLUMN_BASE,
	COLUMN_SIZE,
	COLUMN_INIT_SIZE,
	COLUMN_STATE,
	COLUMN_REFERENCES,
	COLUMN_TAINT,
	COLUMN_VERSION,
	COLUMN_SOURCE_VERSION,
	COLUMN_NAME,
	COLUMN_USERS,
};

static const struct table_column columns[] = {
	[COLUMN_MODULE] = { "module", COLUMN_ADDRESS, 16, "its struct module", "struct module" },
	[COLUMN_BASE] = { "base", COLUMN_ADDRESS, 16, "where its code begins", NULL },
	[COLUMN_SIZE] = { "size", COLUMN_BYTES, 6, "of its memory, as /proc/modules has it", NULL },
	[COLUMN_INIT_SIZE] = { "init_size", COLUMN_BYTES, 0,
			       "of memory for its start that is still there", NULL },
	[COLUMN_STATE] = { "state", COLUMN_TEXT, -9, "Live, Loading, Unloading", NULL },
	[COLUMN_REFERENCES] = { "refcnt", COLUMN_INTEGER, 6, "how often it is used", NULL },
	[COLUMN_TAINT] = { "taint", COLUMN_TEXT, -5, "letters of what it taints the kernel with",
			   NULL },
	[COLUMN_VERSION] = { "version", COLUMN_TEXT, 0, "as its author says", NULL },
	[COLUMN_SOURCE_VERSION] = { "srcversion", COLUMN_TEXT, 0, "a sum of its source", NULL },
	[COLUMN_NAME] = { "name", COLUMN_TEXT, -20, "the module's", NULL },
	[COLUMN_USERS] = { "used_by", COLUMN_TEXT, -12, "modules that use it, commas between",
			   NULL },
};

#define USERS_SIZE 4096

static const char *const state_names[] = { "Live", "Loading", "Unloading" };

static struct error *set_facts(struct table_scan *scan, const struct module *module)
{
	struct module_facts facts;
	/* What cannot be read stays empty in it. */
	struct error *error = module_facts_read(scan->target, module, &facts);
	if (facts.has_references)
		table_set(scan, COLUMN_REFERENCES, (uint64_t)facts.references);
	table_set(scan, COLUMN_INIT_SIZE, facts.init_size);
	table_set_text(scan, COLUMN_TAINT, facts.letters);
	if (*facts.version)
		table_set_text(scan, COLUMN_VERSION, facts.version);
	if (*facts.source_version)
		table_set_text(scan, COLUMN_SOURCE_VERSION, facts.source_version);
	return error;
}

static struct error *set_users(struct table_scan *scan, const struct module *module)
{
	char users[USERS_SIZE];
	if (!table_wants(scan, COLUMN_USERS))
		return NULL;
	TRY(module_users(scan->target, module, users, sizeof(users)));
	table_set_text(scan, COLUMN_USERS, users);
	return NULL;
}

static struct error *emit(struct table_scan *scan, const struct module *module)
{
	table_set(scan, COLUMN_MODULE, module->address);
	table_set(scan, COLUMN_BASE, module->base);
	table_set(scan, COLUMN_SIZE, module->size);
	table_set_name(scan, COLUMN_STATE, state_names, ARRAY_COUNT(state_names), module->state);
	table_set_text(scan, COLUMN_NAME, module->name);
	TRY(table_broken(scan, error_prefix(set_facts(scan, module), "module %s", module->name)));
	TRY(table_set_error(scan, COLUMN_USERS, set_users(scan, module)));
	return table_emit(scan);
}

static struct error *visit(struct table_scan *scan)
{
	const struct module *modules;
	size_t count = target_modules(scan->target, &modules);
	for (size_t i = 0; i < count; i++)
		TRY(emit(scan, &modules[i]));
	return table_broken(scan, target_part_problem(scan->target, PART_MODULES));
}

static const char *const examples[] = { "modules", "modules --where \"taint <> ''\"",
					"modules -o name,refcnt,used_by --sort -refcnt -n 5",
					NULL };

const struct table table_modules = {
	.name = "modules",
	.summary = "loaded modules",
	.description = "A row is a struct module, as /proc/modules has them; mod shows one with "
		       "its parameters and sections.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit = visit,
	.item = COLUMN_MODULE,
	.is_object = true,
};
