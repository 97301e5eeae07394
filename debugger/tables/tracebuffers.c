// SPDX-License-Identifier: GPL-3.0-or-later
/* What ftrace's ring buffers hold, as per_cpu/cpuN/stats of tracefs have it. */
#include "debugger/tables/walks.h"

#include "base/array.h"
#include "debugger/kernel/path.h"

enum {
	COLUMN_BUFFER,
	COLUMN_INSTANCE,
	COLUMN_CPU,
	COLUMN_SIZE,
	COLUMN_ENTRIES,
	COLUMN_CONTENT,
	COLUMN_OVERRUN,
	COLUMN_DROPPED,
	COLUMN_READ,
	COLUMN_OFF,
	COLUMN_TRACER
};

static const struct table_column columns[] = {
	[COLUMN_BUFFER] = { "buffer", COLUMN_ADDRESS, 16, "its struct ring_buffer_per_cpu",
			    "struct ring_buffer_per_cpu" },
	[COLUMN_INSTANCE] = { "instance", COLUMN_TEXT, -12,
			      "whose it is; NULL: the one that always is there", NULL },
	[COLUMN_CPU] = { "cpu", COLUMN_INTEGER, 3, "of which it has the records", NULL },
	[COLUMN_SIZE] = { "size", COLUMN_BYTES, 6, "of its pages", NULL },
	[COLUMN_ENTRIES] = { "entries", COLUMN_WIDE, 8, "records in it", NULL },
	[COLUMN_CONTENT] = { "bytes", COLUMN_BYTES, 6, "that these take", NULL },
	[COLUMN_OVERRUN] = { "overrun", COLUMN_WIDE, 8, "records that newer ones took the place of",
			     NULL },
	[COLUMN_DROPPED] = { "dropped", COLUMN_WIDE, 8, "records that found no place", NULL },
	[COLUMN_READ] = { "read", COLUMN_WIDE, 0, "records that a reader has taken", NULL },
	[COLUMN_OFF] = { "off", COLUMN_INTEGER, 3, "above 0: nothing was recorded any more", NULL },
	[COLUMN_TRACER] = { "tracer", COLUMN_TEXT, -14, "current_tracer", NULL },
};

struct pass {
	const struct object *array;
	struct object buffer;
	char instance[64];
};

static struct error *set_entries(struct table_scan *scan, const struct object *buffer)
{
	uint64_t entries, overrun, read;
	TRY(object_u64(buffer, "entries.a.counter", &entries));
	TRY(object_u64(buffer, "overrun.a.counter", &overrun));
	TRY(object_u64(buffer, "read", &read));
	table_set(scan, COLUMN_ENTRIES, entries - overrun - read);
	return NULL;
}

static struct error *set_size(struct table_scan *scan, const struct object *buffer)
{
	uint64_t pages;
	TRY(object_u64(buffer, "nr_pages", &pages));
	table_set_pages(scan, COLUMN_SIZE, pages);
	return NULL;
}

static struct error *set_off(struct table_scan *scan, const struct pass *pass,
			     const struct object *buffer)
{
	uint64_t all, own;
	TRY(object_u64(&pass->buffer, "record_disabled.counter", &all));
	TRY(object_u64(buffer, "record_disabled.counter", &own));
	table_set(scan, COLUMN_OFF, (all || own) ? 1 : 0);
	return NULL;
}

static struct error *set_tracer(struct table_scan *scan, const struct object *array)
{
	struct object tracer;
	TRY(object_follow(array, "current_trace", &tracer));
	return tracer.address ? table_set_pointed(scan, COLUMN_TRACER, &tracer, "name") : NULL;
}

static struct error *visit_cpu(struct table_scan *scan, const struct pass *pass, uint64_t buffers,
			       const struct cpu *cpu)
{
	struct memory *memory = scan->target->memory;
	struct object buffer;
	uint64_t address;
	TRY(memory_read_word(memory, buffers + cpu->number * memory->word_size, &address));
	if (!address)
		return NULL;
	TRY(object_at(scan->target, "struct ring_buffer_per_cpu", address, &buffer));
	table_set(scan, COLUMN_BUFFER, address);
	table_set(scan, COLUMN_CPU, cpu->number);
	if (*pass->instance)
		table_set_text(scan, COLUMN_INSTANCE, pass->instance);
	TRY(table_set_error(scan, COLUMN_SIZE, set_size(scan, &buffer)));
	TRY(table_set_error(scan, COLUMN_ENTRIES, set_entries(scan, &buffer)));
	TRY(table_set_member(scan, COLUMN_CONTENT, &buffer, "entries_bytes.a.counter"));
	TRY(table_set_member(scan, COLUMN_OVERRUN, &buffer, "overrun.a.counter"));
	TRY(table_set_member(scan, COLUMN_DROPPED, &buffer, "dropped_events.a.counter"));
	TRY(table_set_member(scan, COLUMN_READ, &buffer, "read"));
	TRY(table_set_error(scan, COLUMN_OFF, set_off(scan, pass, &buffer)));
	TRY(table_set_error(scan, COLUMN_TRACER, set_tracer(scan, pass->array)));
	return table_emit(scan);
}

static struct error *visit_instance(struct table_scan *scan, const struct object *array,
				    void *context)
{
	struct pass pass = { .array = array };
	const struct cpu *cpus;
	uint64_t buffers;
	(void)context;
	TRY(path_pointed_string(array, "name", pass.instance, sizeof(pass.instance)));
	TRY(object_follow(array, "array_buffer.buffer", &pass.buffer));
	if (!pass.buffer.address)
		return NULL;
	TRY(object_u64(&pass.buffer, "buffers", &buffers));
	size_t count = target_cpus(scan->target, &cpus);
	for (size_t i = 0; i < count; i++)
		TRY(table_broken(scan, visit_cpu(scan, &pass, buffers, &cpus[i])));
	return NULL;
}

static struct error *visit(struct table_scan *scan)
{
	const struct table_walk walk = { CONTAINER_LIST, "struct trace_array", "list",
					 visit_instance, NULL };
	TRY(target_need_cpus(scan->target));
	return table_walk_variable(scan, "ftrace_trace_arrays", "struct list_head", &walk);
}

static const char *const examples[] = { "tracebuffers", "tracebuffers --where 'entries > 0'",
					NULL };

const struct table table_tracebuffers = {
	.name = "tracebuffers",
	.summary = "buffers of ftrace",
	.description =
		"A row is the ring buffer of a CPU, of each instance of tracing. `trace` has "
		"the records.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit = visit,
	.item = COLUMN_BUFFER,
	.is_object = true,
};
