// SPDX-License-Identifier: GPL-3.0-or-later
/* Soft interrupts, as /proc/softirqs has them. */
#include "debugger/tables/walks.h"

#include "base/array.h"
#include <inttypes.h>
#include <stdio.h>

enum { COLUMN_CPU, COLUMN_NUMBER, COLUMN_NAME, COLUMN_COUNT, COLUMN_PENDING, COLUMN_ACTION };

static const struct table_column columns[] = {
	[COLUMN_CPU] = { "cpu", COLUMN_INTEGER, 4, "on which", NULL },
	[COLUMN_NUMBER] = { "nr", COLUMN_INTEGER, 3, "its number: lower ones come first", NULL },
	[COLUMN_NAME] = { "name", COLUMN_TEXT, -9, "HI, TIMER, NET_TX, ...", NULL },
	[COLUMN_COUNT] = { "count", COLUMN_WIDE, 10, "how often it ran", NULL },
	[COLUMN_PENDING] = { "pending", COLUMN_INTEGER, 7, "1: it is to run", NULL },
	[COLUMN_ACTION] = { "action", COLUMN_TEXT, -24, "its function", NULL },
};

/* There are 10. */
#define NUMBERS_MAX 32
#define NAME_SIZE   32

struct softirq {
	char name[NAME_SIZE];
	uint64_t action;
};

struct pass {
	struct softirq softirqs[NUMBERS_MAX];
	unsigned int count;
};

static struct error *read_name(struct table_scan *scan, unsigned int number, char *name)
{
	struct memory *memory = scan->target->memory;
	uint64_t table, address;
	size_t length;
	snprintf(name, NAME_SIZE, "%u", number);
	if (!table_symbol(scan, "softirq_to_name", &table))
		return NULL;
	TRY(memory_read_word(memory, table + number * memory->word_size, &address));
	return memory_read_string(memory, address, name, NAME_SIZE, &length);
}

static struct error *read_action(struct table_scan *scan, unsigned int number, uint64_t *ret)
{
	struct object action;
	uint64_t table, size;
	if (!table_symbol(scan, "softirq_vec", &table))
		return NULL;
	TRY(object_at(scan->target, "struct softirq_action", table, &action));
	if (!type_size(action.type, &size))
		return NULL;
	action.address += number * size;
	return object_u64(&action, "action", ret);
}

/* It moved: into pcpu_hot in 6.2, to a variable of its own in 6.15. */
static bool is_pending(struct table_scan *scan, const struct cpu *cpu, uint64_t *ret)
{
	static const struct {
		const char *variable, *type_name, *member;
	} places[] = { { "irq_stat", "irq_cpustat_t", "__softirq_pending" },
		       { "pcpu_hot", "struct pcpu_hot", "softirq_pending" },
		       { "__softirq_pending", "u16", NULL } };
	for (size_t i = 0; i < ARRAY_COUNT(places); i++) {
		struct object place;
		struct error *error = object_per_cpu(scan->target, places[i].variable,
						     places[i].type_name, cpu, &place);
		if (!error)
			error = object_u64(&place, places[i].member, ret);
		if (!error)
			return true;
		error_free(error);
	}
	return false;
}

static struct error *visit_cpu(struct table_scan *scan, const struct cpu *cpu,
			       const struct object *stat, void *context)
{
	const struct pass *pass = context;
	uint64_t pending = 0;
	bool has_pending = is_pending(scan, cpu, &pending);
	for (unsigned int i = 0; i < pass->count; i++) {
		char path[32], text[SYMBOL_NAME_SIZE + 80];
		uint64_t action = pass->softirqs[i].action;
		snprintf(path, sizeof(path), "softirqs[%u]", i);
		table_set(scan, COLUMN_CPU, cpu->number);
		table_set(scan, COLUMN_NUMBER, i);
		table_set_text(scan, COLUMN_NAME, pass->softirqs[i].name);
		TRY(table_set_member(scan, COLUMN_COUNT, stat, path));
		if (has_pending)
			table_set(scan, COLUMN_PENDING, pending >> i & 1);
		if (action && target_describe(scan->target, action, text, sizeof(text)))
			table_set_text(scan, COLUMN_ACTION, text);
		TRY(table_emit(scan));
	}
	return NULL;
}

static struct error *visit(struct table_scan *scan)
{
	struct pass pass = { .count = 0 };
	struct object stat, counts;
	uint64_t size, one;
	TRY(object_at(scan->target, "struct kernel_stat", 0, &stat));
	TRY(object_member(&stat, "softirqs", &counts));
	TRY(object_member(&stat, "softirqs[0]", &stat));
	if (!type_size(counts.type, &size) || !type_size(stat.type, &one) || !one ||
	    size / one > NUMBERS_MAX)
		return error_create(ERROR_FORMAT, "kernel_stat.softirqs has no usable length");
	for (pass.count = 0; pass.count < size / one; pass.count++) {
		struct softirq *softirq = &pass.softirqs[pass.count];
		TRY(table_broken(scan, read_name(scan, pass.count, softirq->name)));
		TRY(table_broken(scan, read_action(scan, pass.count, &softirq->action)));
	}
	return table_each_cpu(scan, "kstat", "struct kernel_stat", visit_cpu, &pass);
}

static const char *const examples[] = {
	"softirqs --where 'pending = 1'",
	"sql SELECT name, sum(count) AS count FROM softirqs GROUP BY name ORDER BY count DESC", NULL
};

const struct table table_softirqs = {
	.name = "softirqs",
	.summary = "soft interrupts of each CPU",
	.description = "A row is a kind of soft interrupt on a CPU, as /proc/softirqs has them.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit = visit,
	.item = COLUMN_CPU,
};
