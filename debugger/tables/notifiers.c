// SPDX-License-Identifier: GPL-3.0-or-later
/* Who is told what: the chains of notifiers. */
#include "debugger/tables/walks.h"

#include "base/array.h"
#include "base/bytes.h"
#include "debugger/infer/symbol_type.h"
#include <string.h>

#define HEAD_MAX 512 /* bytes of a head, whatever debugging adds to its lock */

enum { COLUMN_NOTIFIER, COLUMN_CHAIN, COLUMN_KIND, COLUMN_PRIORITY, COLUMN_PLACE, COLUMN_FUNCTION };

static const struct table_column columns[] = {
	[COLUMN_NOTIFIER] = { "notifier", COLUMN_ADDRESS, 16, "its struct notifier_block",
			      "struct notifier_block" },
	[COLUMN_CHAIN] = { "chain", COLUMN_TEXT, -28, "the variable that it hangs in", NULL },
	[COLUMN_KIND] = { "kind", COLUMN_TEXT, -8, "of the chain: atomic, blocking, raw, srcu",
			  NULL },
	[COLUMN_PRIORITY] = { "priority", COLUMN_INTEGER, 11, "the greatest is told first", NULL },
	[COLUMN_PLACE] = { "place", COLUMN_INTEGER, 0, "from 0 on", NULL },
	[COLUMN_FUNCTION] = { "function", COLUMN_TEXT, -32, "that is told", NULL },
};

/* kernel include/linux/notifier.h */
static const struct {
	const char *type_name, *kind;
} heads[] = { { "atomic_notifier_head", "atomic" },
	      { "blocking_notifier_head", "blocking" },
	      { "raw_notifier_head", "raw" },
	      { "srcu_notifier_head", "srcu" } };

struct chain {
	const char *name, *kind;
	uint32_t place;
};

static struct error *visit_block(struct table_scan *scan, const struct object *block, void *context)
{
	struct chain *chain = context;
	uint64_t priority;
	table_set(scan, COLUMN_NOTIFIER, block->address);
	table_set_text(scan, COLUMN_CHAIN, chain->name);
	table_set_text(scan, COLUMN_KIND, chain->kind);
	table_set(scan, COLUMN_PLACE, chain->place++);
	struct error *error = object_u64(block, "priority", &priority);
	if (error)
		TRY(table_set_error(scan, COLUMN_PRIORITY, error));
	else
		table_set(scan, COLUMN_PRIORITY, (uint64_t)(int64_t)(int32_t)priority);
	TRY(table_set_function(scan, COLUMN_FUNCTION, block, "notifier_call"));
	return table_emit(scan);
}

static struct error *visit_chain(struct table_scan *scan, const struct object *head,
				 struct chain *chain)
{
	const struct table_walk walk = { CONTAINER_CHAIN, "struct notifier_block", "next",
					 visit_block, chain };
	uint64_t first;
	TRY(object_u64(head, "head", &first));
	return table_walk(scan, first, &walk);
}

/* Of all variables, those may be chains whose name has one of these words in it. */
static bool may_be_chain(const struct symtab *symtab, const struct symbol *symbol)
{
	return symbol->kind && strchr("bBdDtT", symbol->kind) &&
	       !symtab_is_function(symtab, symbol) && strncmp(symbol->name, "__", 2) != 0 &&
	       (strstr(symbol->name, "chain") || strstr(symbol->name, "notif"));
}

/*
 * Whether it may be a head with something behind it: one of its words is a pointer, and the first
 * is no function, as that of a struct notifier_block is. To find out what it is costs far more.
 */
static bool may_lead_on(struct table_scan *scan, const struct symbol *symbol)
{
	struct memory *memory = scan->target->memory;
	uint8_t bytes[HEAD_MAX];
	size_t size = symbol->size < sizeof(bytes) ? symbol->size : sizeof(bytes);
	bool is_first = true;
	if (memory_read_some(memory, symbol->address, bytes, size, NULL) < size)
		return true; /* which is then told */
	for (size_t at = 0; at + 8 <= size; at += 8, is_first = false) {
		uint64_t word = load_u64(bytes + at, memory->big_endian);
		if (is_kernel_pointer(word))
			return !is_first || !symtab_is_text(scan->target->symbols, word);
	}
	return false;
}

static struct error *visit_symbol(struct table_scan *scan, const struct symbol *symbol)
{
	struct type type;
	enum type_origin origin;
	struct btf_type record;
	TRY(error_only_fatal(symbol_type(scan->target, symbol, &type, &origin)));
	if (!type.btf || origin_confidence(origin) < CONFIDENCE_INFERRED ||
	    !btf_get(type.btf, type.id, &record))
		return NULL;
	for (size_t i = 0; i < ARRAY_COUNT(heads); i++) {
		struct chain chain = { symbol->name, heads[i].kind, 0 };
		struct object head = { .target = scan->target,
				       .type = type,
				       .address = symbol->address };
		if (!strcmp(record.name, heads[i].type_name))
			return table_broken(scan, error_prefix(visit_chain(scan, &head, &chain),
							       "%s", symbol->name));
	}
	return NULL;
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
		if (may_be_chain(symtab, &symbol) && may_lead_on(scan, &symbol))
			TRY(visit_symbol(scan, &symbol));
	}
	return NULL;
}

static const char *const examples[] = { "notifiers --where \"chain = 'panic_notifier_list'\"",
					"notifiers -o chain,priority,function", NULL };

const struct table table_notifiers = {
	.name = "notifiers",
	.summary = "who is told of panics, reboots, devices, ...",
	.description =
		"A row is a struct notifier_block in a chain that is a variable of the kernel "
		"or a module, with \"chain\" or \"notif\" in its name; those that are part "
		"of an object are not looked for.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit = visit,
	.item = COLUMN_NOTIFIER,
	.is_object = true,
};
