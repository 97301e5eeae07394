// SPDX-License-Identifier: GPL-3.0-or-later
/* Interrupts of devices (kernel include/linux/irqdesc.h). */
#include "debugger/tables/table.h"

#include "base/array.h"
#include "base/strbuf.h"
#include "debugger/kernel/cpu_list.h"
#include "debugger/kernel/interrupts.h"
#include "debugger/kernel/path.h"
#include <stdlib.h>
#include <string.h>

enum {
	COLUMN_IRQ,
	COLUMN_DESC,
	COLUMN_COUNT,
	COLUMN_CHIP,
	COLUMN_HWIRQ,
	COLUMN_DISABLED,
	COLUMN_AFFINITY,
	COLUMN_EFFECTIVE,
	COLUMN_ACTION,
	COLUMN_HANDLER,
	COLUMN_NAME,
};

static const struct table_column columns[] = {
	[COLUMN_IRQ] = { "irq", COLUMN_INTEGER, 4, "its number", NULL },
	[COLUMN_DESC] = { "desc", COLUMN_ADDRESS, 16, "its struct irq_desc", "struct irq_desc" },
	[COLUMN_COUNT] = { "count", COLUMN_WIDE, 10, "how often it came, on all possible CPUs",
			   NULL },
	[COLUMN_CHIP] = { "chip", COLUMN_TEXT, -20, "what it comes through", NULL },
	[COLUMN_HWIRQ] = { "hwirq", COLUMN_WIDE, 0, "its number there", NULL },
	[COLUMN_DISABLED] = { "depth", COLUMN_INTEGER, 0,
			      "how often it was disabled and not yet enabled again", NULL },
	[COLUMN_AFFINITY] = { "affinity", COLUMN_TEXT, 0, "the CPUs that it may come to", NULL },
	[COLUMN_EFFECTIVE] = { "effective", COLUMN_TEXT, 0, "and those that it does", NULL },
	[COLUMN_ACTION] = { "action", COLUMN_ADDRESS, 16, "the first who handles it",
			    "struct irqaction" },
	[COLUMN_HANDLER] = { "handler", COLUMN_TEXT, -24,
			     "the first's function, of its thread where that does the work", NULL },
	[COLUMN_NAME] = { "name", COLUMN_TEXT, -16, "who handles it, commas between", NULL },
};

#define NAME_SIZE   128
#define LIST_SIZE   1024
#define ACTIONS_MAX 1024  /* who share a line; nothing real comes near */
#define ALL_MAX	    65536 /* of all lines */

struct pass {
	struct table_scan *scan;
	unsigned int actions; /* that were looked at */
};

/* Their sum, which wraps as each of them does. */
static struct error *set_count(struct table_scan *scan, const struct object *desc)
{
	struct target *target = scan->target;
	const struct cpu *cpus;
	uint64_t per_cpu, sum = 0;
	uint32_t count;
	if (!table_wants(scan, COLUMN_COUNT))
		return NULL;
	/* A count, or since 6.10 (99cf63c56b9d) a struct irqstat that begins with it. */
	TRY(object_pointer(desc, "kstat_irqs", &per_cpu));
	TRY(target_need_cpus(target));
	size_t cpu_count = target_cpus(target, &cpus);
	for (size_t i = 0; i < cpu_count; i++) {
		TRY(memory_read_u32(target->memory, per_cpu + cpus[i].per_cpu_offset, &count));
		sum += count;
	}
	table_set(scan, COLUMN_COUNT, sum);
	return NULL;
}

static struct error *set_chip(struct table_scan *scan, const struct object *desc)
{
	struct object chip;
	char name[NAME_SIZE];
	TRY(object_follow(desc, "irq_data.chip", &chip));
	if (!chip.address)
		return NULL;
	TRY(path_pointed_string(&chip, "name", name, sizeof(name)));
	table_set_text(scan, COLUMN_CHIP, name);
	return NULL;
}

static struct error *set_cpus(struct table_scan *scan, unsigned int column,
			      const struct object *desc, const char *path)
{
	char text[LIST_SIZE];
	if (!table_wants(scan, column))
		return NULL;
	struct error *error = cpu_list_text(desc, path, text, sizeof(text));
	if (error)
		return table_set_error(scan, column, error);
	table_set_text(scan, column, text);
	return NULL;
}

static struct error *add_names(struct pass *pass, struct object action, struct strbuf *names)
{
	for (unsigned int i = 0; action.address; i++) {
		char name[NAME_SIZE];
		if (i == ACTIONS_MAX || pass->actions++ >= ALL_MAX)
			return error_create(ERROR_FORMAT, "more than %d actions",
					    i == ACTIONS_MAX ? ACTIONS_MAX : ALL_MAX);
		TRY(path_pointed_string(&action, "name", name, sizeof(name)));
		if (names->size)
			strbuf_put(names, ", ");
		strbuf_put(names, name);
		TRY(object_follow(&action, "next", &action));
	}
	strbuf_bytes(names, "", 1);
	return names->failed ? error_no_memory() : NULL;
}

/* Handlers of kernel/irq/manage.c that do nothing but wake the thread. */
static bool is_waker(struct target *target, uint64_t handler)
{
	static const char *const wakers[] = { "irq_default_primary_handler",
					      "irq_nested_primary_handler",
					      "irq_forced_secondary_handler" };
	struct symbol symbol;
	uint64_t offset;
	if (!target_symbol_at(target, handler, &symbol, &offset) || offset || symbol.module)
		return false;
	for (size_t i = 0; i < ARRAY_COUNT(wakers); i++)
		if (!strcmp(symbol.name, wakers[i]))
			return true;
	return false;
}

static struct error *set_actions(struct pass *pass, const struct object *desc)
{
	struct table_scan *scan = pass->scan;
	struct object action;
	struct strbuf names = { 0 };
	char text[SYMBOL_NAME_SIZE + 80];
	uint64_t handler, thread;
	TRY(object_follow(desc, "action", &action));
	table_set(scan, COLUMN_ACTION, action.address);
	if (!action.address)
		return NULL;
	TRY(object_u64(&action, "handler", &handler));
	/* Where a thread handles it, what runs at once may only wake that one. */
	TRY(object_u64(&action, "thread_fn", &thread));
	if (thread && is_waker(scan->target, handler))
		handler = thread;
	if (target_describe(scan->target, handler, text, sizeof(text)))
		table_set_text(scan, COLUMN_HANDLER, text);
	struct error *error = add_names(pass, action, &names);
	if (!error)
		table_set_text(scan, COLUMN_NAME, names.data);
	strbuf_deinit(&names);
	return error;
}

static struct error *visit_desc(void *context, const struct walk_item *item)
{
	struct pass *pass = context;
	struct table_scan *scan = pass->scan;
	struct object desc;
	TRY(object_at(scan->target, "struct irq_desc", item->address, &desc));
	table_set(scan, COLUMN_IRQ, item->index);
	table_set(scan, COLUMN_DESC, desc.address);
	TRY(table_set_error(scan, COLUMN_COUNT, set_count(scan, &desc)));
	TRY(table_set_error(scan, COLUMN_CHIP, set_chip(scan, &desc)));
	TRY(table_set_member(scan, COLUMN_HWIRQ, &desc, "irq_data.hwirq"));
	TRY(table_set_member(scan, COLUMN_DISABLED, &desc, "depth"));
	TRY(set_cpus(scan, COLUMN_AFFINITY, &desc, "irq_common_data.affinity"));
	TRY(set_cpus(scan, COLUMN_EFFECTIVE, &desc, "irq_common_data.effective_affinity"));
	TRY(table_set_error(scan, COLUMN_NAME, set_actions(pass, &desc)));
	return table_emit(scan);
}

static struct error *broken(void *context, struct error *problem)
{
	const struct pass *pass = context;
	return table_broken(pass->scan, problem);
}

static struct error *visit(struct table_scan *scan)
{
	struct pass pass = { .scan = scan };
	const struct walk walk = {
		.target = scan->target, .visit = visit_desc, .broken = broken, .context = &pass
	};
	return interrupts_walk(&walk);
}

static const char *const examples[] = { "irqs", "irqs --sort -count -n 5 -o irq,count,name",
					"irqs -o irq,affinity,effective,name",
					"irqs | print irq_data.hwirq", NULL };

const struct table table_irqs = {
	.name = "irqs",
	.alias = "irq",
	.summary = "interrupts of devices",
	.description = "A row is a struct irq_desc, as /proc/interrupts has them, and those that "
		       "nobody handles. Counts of CPUs that were stopped are in the sum.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit = visit,
	.item = COLUMN_DESC,
	.is_object = true,
};
