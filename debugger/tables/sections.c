// SPDX-License-Identifier: GPL-3.0-or-later
/* Sections of modules, as /sys/module/NAME/sections has them. */
#include "debugger/kernel/module.h"

#include "base/array.h"
#include "debugger/tables/table.h"

enum { COLUMN_SECTION, COLUMN_MODULE, COLUMN_NAME };

static const struct table_column columns[] = {
	[COLUMN_SECTION] = { "section", COLUMN_ADDRESS, 16, "where it begins", NULL },
	[COLUMN_MODULE] = { "module", COLUMN_TEXT, -20, "whose it is", NULL },
	[COLUMN_NAME] = { "name", COLUMN_TEXT, -24, "the section's", NULL },
};

struct pass {
	struct table_scan *scan;
	const struct module *module;
};

static struct error *visit_section(void *context, const struct module_section *section)
{
	const struct pass *pass = context;
	table_set(pass->scan, COLUMN_SECTION, section->address);
	table_set_text(pass->scan, COLUMN_MODULE, pass->module->name);
	table_set_text(pass->scan, COLUMN_NAME, section->name);
	return table_emit(pass->scan);
}

static struct error *visit(struct table_scan *scan)
{
	const struct module *modules;
	size_t count = target_modules(scan->target, &modules);
	for (size_t i = 0; i < count; i++) {
		struct pass pass = { scan, &modules[i] };
		struct error *error =
			module_for_each_section(scan->target, &modules[i], visit_section, &pass);
		TRY(table_broken(scan, error_prefix(error, "module %s", modules[i].name)));
	}
	return table_broken(scan, target_part_problem(scan->target, PART_MODULES));
}

static const char *const examples[] = { "sections -n 10", "sections --where \"name = '.text'\"",
					NULL };

const struct table table_sections = {
	.name = "sections",
	.summary = "sections of modules",
	.description = "A row is a section of a loaded module, as /sys/module/NAME/sections has "
		       "them.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit = visit,
	.item = COLUMN_SECTION,
};
