// SPDX-License-Identifier: GPL-3.0-or-later
/* Symbols, as /proc/kallsyms has them. */
#include "debugger/tables/table.h"

#include "base/array.h"

enum {
	COLUMN_ADDRESS_ITSELF,
	COLUMN_SIZE,
	COLUMN_KIND,
	COLUMN_MODULE,
	COLUMN_PER_CPU,
	COLUMN_NAME
};

static const struct table_column columns[] = {
	[COLUMN_ADDRESS_ITSELF] = { "address", COLUMN_ADDRESS, 16, "where it lies", NULL },
	[COLUMN_SIZE] = { "size", COLUMN_BYTES, 6, "or the bytes to the next symbol", NULL },
	[COLUMN_KIND] = { "kind", COLUMN_TEXT, -4, "nm's letter: T code, D data, B zeros, ...",
			  NULL },
	[COLUMN_MODULE] = { "module", COLUMN_TEXT, -16, "whose it is; none: the kernel's", NULL },
	[COLUMN_PER_CPU] = { "per_cpu", COLUMN_INTEGER, 0, "1: each CPU has one, at an offset",
			     NULL },
	[COLUMN_NAME] = { "name", COLUMN_TEXT, -32, "the symbol's", NULL },
};

static struct error *emit(struct table_scan *scan, const struct symbol *symbol)
{
	const char kind[] = { symbol->kind, 0 };
	table_set(scan, COLUMN_ADDRESS_ITSELF, symbol->address);
	if (symbol->size)
		table_set(scan, COLUMN_SIZE, symbol->size);
	table_set_text(scan, COLUMN_KIND, kind);
	if (symbol->module)
		table_set_text(scan, COLUMN_MODULE, symbol->module);
	table_set(scan, COLUMN_PER_CPU, symbol->per_cpu);
	if (table_wants(scan, COLUMN_NAME))
		table_set_text(scan, COLUMN_NAME, symbol->name);
	return table_emit(scan);
}

static struct error *visit(struct table_scan *scan)
{
	const struct symtab *symtab = scan->target->symbols;
	const struct module *modules;
	char name[SYMBOL_NAME_SIZE];
	struct symbol symbol;
	/* For their symbols. */
	target_modules(scan->target, &modules);
	uint32_t count = symtab_count(symtab);
	for (uint32_t i = 0; i < count; i++) {
		symtab_get_into(symtab, i, name, &symbol);
		/* One whose name was lost to damage. */
		if (*symbol.name)
			TRY(emit(scan, &symbol));
	}
	return NULL;
}

static const char *const examples[] = {
	"symbols --where \"name GLOB 'tcp_*' and kind = 'T'\" -n 10",
	"sql SELECT module, count(*) AS symbols, sum(size) AS bytes FROM symbols GROUP BY module "
	"ORDER BY bytes DESC LIMIT 5",
	NULL
};

const struct table table_symbols = {
	.name = "symbols",
	.summary = "symbols of the kernel and of modules",
	.description =
		"A row is a symbol, in the order of /proc/kallsyms; sym finds one by name or "
		"by address.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit = visit,
	.item = COLUMN_ADDRESS_ITSELF,
};
