// SPDX-License-Identifier: GPL-3.0-or-later
/* Trace events, as /sys/kernel/tracing/events has them. */
#include "debugger/kernel/trace_text.h"

#include "base/array.h"
#include "base/strbuf.h"
#include "debugger/tables/walks.h"
#include <stdlib.h>

enum {
	COLUMN_CALL,
	COLUMN_ID,
	COLUMN_SYSTEM,
	COLUMN_ENABLED,
	COLUMN_FIELDS,
	COLUMN_READABLE,
	COLUMN_FORMAT,
	COLUMN_NAME
};

static const struct table_column columns[] = {
	[COLUMN_CALL] = { "call", COLUMN_ADDRESS, 16, "its struct trace_event_call",
			  "struct trace_event_call" },
	[COLUMN_ID] = { "id", COLUMN_INTEGER, 5, "the type that its records have", NULL },
	[COLUMN_SYSTEM] = { "system", COLUMN_TEXT, -16, "whose it is", NULL },
	[COLUMN_ENABLED] = { "enabled", COLUMN_INTEGER, 7, "in how many instances it is on", NULL },
	[COLUMN_FIELDS] = { "fields", COLUMN_TEXT, 0, "of its records", NULL },
	[COLUMN_READABLE] = { "readable", COLUMN_INTEGER, 0,
			      "1: trace has its text; 0: its fields by name", NULL },
	[COLUMN_FORMAT] = { "format", COLUMN_TEXT, 0, "what the kernel prints of them", NULL },
	[COLUMN_NAME] = { "name", COLUMN_TEXT, -28, "its name", NULL },
};

#define FILE_ENABLED 1u /* EVENT_FILE_FL_ENABLED since 3.10 */

/* By address, to count. */
struct counted {
	uint64_t call;
	uint32_t enabled;
};

struct pass {
	struct table_scan *scan;
	struct trace_events *events;
	struct counted *counted;
	struct trace_printer *printer;
};

static int by_call(const void *left, const void *right)
{
	const struct counted *a = left, *b = right;
	return (a->call > b->call) - (a->call < b->call);
}

static struct error *visit_file(struct table_scan *scan, const struct object *file, void *context)
{
	struct pass *pass = context;
	struct counted key;
	uint64_t flags;
	(void)scan;
	TRY(object_u64(file, "event_call", &key.call));
	TRY(object_u64(file, "flags", &flags));
	struct counted *found = array_search(&key, pass->counted, trace_events_count(pass->events),
					     sizeof(key), by_call);
	if (found && flags & FILE_ENABLED)
		found->enabled++;
	return NULL;
}

static struct error *visit_instance(struct table_scan *scan, const struct object *array,
				    void *context)
{
	const struct table_walk walk = { CONTAINER_LIST, "struct trace_event_file", "list",
					 visit_file, context };
	struct object head;
	TRY(object_member(array, "events", &head));
	return table_broken(scan, table_walk(scan, head.address, &walk));
}

static struct error *count(struct pass *pass)
{
	const struct table_walk walk = { CONTAINER_LIST, "struct trace_array", "list",
					 visit_instance, pass };
	size_t size = trace_events_count(pass->events);
	pass->counted = calloc(size ? size : 1, sizeof(*pass->counted));
	if (!pass->counted)
		return error_no_memory();
	for (size_t i = 0; i < size; i++)
		pass->counted[i].call = trace_events_at(pass->events, i)->address;
	array_sort(pass->counted, size, sizeof(*pass->counted), by_call);
	return table_walk_variable(pass->scan, "ftrace_trace_arrays", "struct list_head", &walk);
}

static void set_fields(struct table_scan *scan, const struct trace_event_call *call)
{
	struct strbuf text = { 0 };
	for (size_t i = 0; i < call->field_count; i++)
		strbuf_format(&text, "%s%s %s", i ? "; " : "", call->fields[i].type,
			      call->fields[i].name);
	strbuf_bytes(&text, "", 1);
	if (!text.failed)
		table_set_text(scan, COLUMN_FIELDS, text.data);
	strbuf_deinit(&text);
}

static struct error *visit_call(struct pass *pass, struct trace_event_call *call)
{
	struct table_scan *scan = pass->scan;
	const struct counted key = { .call = call->address };
	const struct counted *found = array_search(
		&key, pass->counted, trace_events_count(pass->events), sizeof(key), by_call);
	table_set(scan, COLUMN_CALL, call->address);
	table_set(scan, COLUMN_ID, call->type);
	table_set_text(scan, COLUMN_SYSTEM, call->system);
	table_set(scan, COLUMN_ENABLED, found ? found->enabled : 0);
	table_set_text(scan, COLUMN_NAME, call->name);
	if (table_wants(scan, COLUMN_FIELDS) || table_wants(scan, COLUMN_FORMAT) ||
	    table_wants(scan, COLUMN_READABLE)) {
		TRY(trace_event_load(scan->target, call));
		set_fields(scan, call);
		if (call->format)
			table_set_text(scan, COLUMN_FORMAT, call->format);
		table_set(scan, COLUMN_READABLE, trace_text_is_whole(pass->printer, call));
	}
	return table_emit(scan);
}

static struct error *broken(void *context, struct error *problem)
{
	struct pass *pass = context;
	return table_broken(pass->scan, problem);
}

static struct error *visit_all(struct pass *pass)
{
	const struct trace_events_visitor visitor = { broken, pass };
	TRY(trace_events_load(pass->scan->target, &visitor, &pass->events));
	TRY(table_broken(pass->scan, count(pass)));
	pass->printer = trace_printer_create(pass->scan->target);
	if (!pass->printer)
		return error_no_memory();
	for (size_t i = 0; i < trace_events_count(pass->events); i++)
		TRY(visit_call(pass, trace_events_at(pass->events, i)));
	return NULL;
}

static struct error *visit(struct table_scan *scan)
{
	struct pass pass = { .scan = scan };
	struct error *error = visit_all(&pass);
	trace_events_destroy(pass.events);
	free(pass.counted);
	trace_printer_destroy(pass.printer);
	return error;
}

static const char *const examples[] = { "events --where 'enabled > 0'",
					"events --where \"system = 'sched'\" -o id,name,format",
					NULL };

const struct table table_events = {
	.name = "events",
	.summary = "trace events",
	.description = "A row is a kind of event that ftrace can record, with those of modules and "
		       "probes. `trace` has the records.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit = visit,
	.item = COLUMN_CALL,
	.is_object = true,
};
