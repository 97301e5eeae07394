// SPDX-License-Identifier: GPL-3.0-or-later
/* The records of ftrace's ring buffers, as the files `trace` of tracefs have them. */
#include "debugger/kernel/trace_text.h"

#include "base/array.h"
#include "base/bytes.h"
#include "debugger/kernel/path.h"
#include "debugger/tables/walks.h"
#include <stdio.h>
#include <string.h>

enum {
	COLUMN_RECORD,
	COLUMN_INSTANCE,
	COLUMN_CPU,
	COLUMN_TIME,
	COLUMN_PID,
	COLUMN_COMM,
	COLUMN_FLAGS,
	COLUMN_TYPE,
	COLUMN_EVENT,
	COLUMN_INFO
};

static const struct table_column columns[] = {
	[COLUMN_RECORD] = { "record", COLUMN_ADDRESS, 0, "its struct trace_entry",
			    "struct trace_entry" },
	[COLUMN_INSTANCE] = { "instance", COLUMN_TEXT, 0,
			      "whose buffer; NULL: the one that always is there", NULL },
	[COLUMN_CPU] = { "cpu", COLUMN_INTEGER, 3, "where it happened", NULL },
	[COLUMN_TIME] = { "time", COLUMN_DURATION, 14,
			  "when, by the clock of the trace; nanoseconds in JSON", NULL },
	[COLUMN_PID] = { "pid", COLUMN_INTEGER, 7, "who ran there", NULL },
	[COLUMN_COMM] = { "comm", COLUMN_TEXT, -15, "its name, where the trace kept it", NULL },
	[COLUMN_FLAGS] = { "flags", COLUMN_TEXT, -5,
			   "interrupts off, need-resched, in which interrupt, preemption off, "
			   "migration off",
			   NULL },
	[COLUMN_TYPE] = { "type", COLUMN_INTEGER, 0, "the number of its event", NULL },
	[COLUMN_EVENT] = { "event", COLUMN_TEXT, -18, "its event", NULL },
	[COLUMN_INFO] = { "info", COLUMN_TEXT, -40,
			  "what the kernel prints of it; system calls of 7.x by their format",
			  NULL },
};

enum {
	IRQS_OFF,
	NO_IRQS,
	NEED_RESCHED,
	HARDIRQ,
	SOFTIRQ,
	PREEMPT_RESCHED,
	RESCHED_LAZY,
	NMI,
	BH_OFF,
	FLAGS
};
#define BIT(flag) (1u << (flag))

/* Numbers of processes have these bits in the table of names, which is as large. */
#define PIDS_MAX 32768u
#define NO_NAME	 UINT32_MAX

struct pass {
	struct table_scan *scan;
	struct trace_events *events;
	struct trace_printer *printer;
	struct strbuf text;
	uint64_t flags[FLAGS]; /* TRACE_FLAG_*; 0: there is no such */
	bool has_names;	       /* of processes, that were saved: */
	uint64_t name_count, map, slots, texts, name_size;
	char instance[64];
};

/* --- names of processes ---------------------------------------------------------------------- */

static struct error *find_names(struct pass *pass)
{
	struct target *target = pass->scan->target;
	struct object variable, names, slots, map, texts, task;
	uint64_t address, size;
	TRY(object_variable(target, "savedcmd", "unsigned long", &variable));
	TRY(object_u64(&variable, NULL, &address));
	if (!address)
		return NULL;
	TRY(object_at(target, "struct saved_cmdlines_buffer", address, &names));
	TRY(object_u64(&names, "cmdline_num", &pass->name_count));
	TRY(object_member(&names, "map_pid_to_cmdline", &map));
	TRY(object_follow(&names, "map_cmdline_to_pid", &slots));
	TRY(object_member(&names, "saved_cmdlines", &texts));
	pass->map = map.address;
	pass->slots = slots.address;
	pass->texts = texts.address;
	/* A pointer until 99ddf2254feb (6.8). */
	if (type_is_pointer(texts.type))
		TRY(object_u64(&texts, NULL, &pass->texts));
	TRY(object_at(target, "struct task_struct", 0, &task));
	TRY(object_member(&task, "comm", &task));
	if (!type_size(task.type, &size) || !size || size > 64)
		return error_create(ERROR_FORMAT, "a comm has no usable size");
	pass->name_size = size;
	pass->has_names = true;
	return NULL;
}

static struct error *set_comm(const struct pass *pass, int32_t pid)
{
	struct memory *memory = pass->scan->target->memory;
	char name[64];
	uint32_t slot, owner;
	size_t length;
	if (!pid)
		table_set_text(pass->scan, COLUMN_COMM, "<idle>");
	if (pid <= 0 || !pass->has_names || !table_wants(pass->scan, COLUMN_COMM))
		return NULL;
	TRY(memory_read_u32(memory, pass->map + 4 * ((uint32_t)pid & (PIDS_MAX - 1)), &slot));
	if (slot == NO_NAME || slot >= pass->name_count)
		return NULL;
	TRY(memory_read_u32(memory, pass->slots + 4 * (uint64_t)slot, &owner));
	if (owner != (uint32_t)pid)
		return NULL;
	TRY(memory_read_string(memory, pass->texts + slot * pass->name_size, name, pass->name_size,
			       &length));
	table_set_text(pass->scan, COLUMN_COMM, name);
	return NULL;
}

/* --- records --------------------------------------------------------------------------------- */

static void find_flags(struct pass *pass)
{
	static const char *const names[] = {
		[IRQS_OFF] = "TRACE_FLAG_IRQS_OFF",
		[NO_IRQS] = "TRACE_FLAG_IRQS_NOSUPPORT",
		[NEED_RESCHED] = "TRACE_FLAG_NEED_RESCHED",
		[HARDIRQ] = "TRACE_FLAG_HARDIRQ",
		[SOFTIRQ] = "TRACE_FLAG_SOFTIRQ",
		[PREEMPT_RESCHED] = "TRACE_FLAG_PREEMPT_RESCHED",
		[RESCHED_LAZY] = "TRACE_FLAG_NEED_RESCHED_LAZY",
		[NMI] = "TRACE_FLAG_NMI",
		[BH_OFF] = "TRACE_FLAG_BH_OFF",
	};
	for (size_t i = 0; i < FLAGS; i++)
		(void)table_enumerator(pass->scan, "enum trace_flag_type", names[i],
				       &pass->flags[i]);
}

static char depth_letter(unsigned int depth)
{
	return ".123456789abcdef"[depth & 0xf];
}

/* kernel kernel/trace/trace_output.c: trace_print_lat_fmt() */
static void set_flags(const struct pass *pass, uint64_t value, unsigned int depths)
{
	unsigned int set = 0;
	for (unsigned int i = 0; i < FLAGS; i++)
		if (value & pass->flags[i])
			set |= BIT(i);
	bool is_off = set & BIT(IRQS_OFF), is_bh = set & BIT(BH_OFF);
	/* Where scheduling may be left for later, that is a third bit. */
	unsigned int resched = (set >> NEED_RESCHED & 1) | (set >> PREEMPT_RESCHED & 1) << 1 |
			       (set >> RESCHED_LAZY & 1) << 2;
	bool is_hard = set & BIT(HARDIRQ), is_soft = set & BIT(SOFTIRQ);
	const char text[] = { is_off && is_bh	   ? 'D'
			      : is_off		   ? 'd'
			      : is_bh		   ? 'b'
			      : set & BIT(NO_IRQS) ? 'X'
						   : '.',
			      ".npNlbLB"[resched],
			      set & BIT(NMI)	   ? (is_hard ? 'Z' : 'z')
			      : is_hard && is_soft ? 'H'
			      : is_hard		   ? 'h'
			      : is_soft		   ? 's'
						   : '.',
			      depth_letter(depths),
			      depth_letter(depths >> 4),
			      0 };
	table_set_text(pass->scan, COLUMN_FLAGS, text);
}

static struct error *set_event(struct pass *pass, const struct trace_record *record, uint32_t type)
{
	struct table_scan *scan = pass->scan;
	struct trace_event_call *call = trace_events_find(pass->events, type);
	if (!call)
		return NULL;
	table_set_text(scan, COLUMN_EVENT, call->name);
	if (!table_wants(scan, COLUMN_INFO))
		return NULL;
	TRY(trace_event_load(scan->target, call));
	trace_text(pass->printer, call, record, &pass->text);
	if (pass->text.failed)
		return error_no_memory();
	table_set_text(scan, COLUMN_INFO, pass->text.data);
	return NULL;
}

static struct error *visit_record(void *context, const struct trace_record *record)
{
	struct pass *pass = context;
	struct table_scan *scan = pass->scan;
	bool big = scan->target->memory->big_endian;
	table_set(scan, COLUMN_RECORD, record->address);
	table_set(scan, COLUMN_CPU, record->cpu);
	table_set(scan, COLUMN_TIME, record->time);
	if (*pass->instance)
		table_set_text(scan, COLUMN_INSTANCE, pass->instance);
	/* struct trace_entry has been this since 2011 (kernel include/linux/trace_events.h). */
	if (record->size >= 8) {
		uint32_t type = load_u16(record->data, big);
		int32_t pid = (int32_t)load_u32(record->data + 4, big);
		table_set(scan, COLUMN_TYPE, type);
		table_set(scan, COLUMN_PID, (uint64_t)(int64_t)pid);
		set_flags(pass, record->data[2], record->data[3]);
		TRY(table_set_error(scan, COLUMN_COMM, set_comm(pass, pid)));
		TRY(table_set_error(scan, COLUMN_INFO, set_event(pass, record, type)));
	}
	return table_emit(scan);
}

static struct error *broken(void *context, struct error *problem)
{
	struct pass *pass = context;
	return table_broken(pass->scan, problem);
}

static struct error *visit_instance(struct table_scan *scan, const struct object *array,
				    void *context)
{
	struct pass *pass = context;
	const struct trace_visitor visitor = { visit_record, broken, pass };
	uint64_t name, buffer;
	*pass->instance = 0;
	TRY(object_u64(array, "name", &name));
	if (name)
		TRY(path_pointed_string(array, "name", pass->instance, sizeof(pass->instance)));
	TRY(object_u64(array, "array_buffer.buffer", &buffer));
	if (!buffer)
		return NULL;
	struct error *error = trace_buffer_for_each(scan->target, buffer, &visitor);
	return table_broken(scan, error_prefix(error, "trace of %s",
					       *pass->instance ? pass->instance : "all"));
}

static struct error *visit_instances(struct pass *pass)
{
	const struct trace_events_visitor visitor = { broken, pass };
	const struct table_walk walk = { CONTAINER_LIST, "struct trace_array", "list",
					 visit_instance, pass };
	TRY(trace_events_load(pass->scan->target, &visitor, &pass->events));
	TRY(table_broken(pass->scan, find_names(pass)));
	find_flags(pass);
	pass->printer = trace_printer_create(pass->scan->target);
	if (!pass->printer)
		return error_no_memory();
	return table_walk_variable(pass->scan, "ftrace_trace_arrays", "struct list_head", &walk);
}

static struct error *visit(struct table_scan *scan)
{
	struct pass pass = { .scan = scan };
	struct error *error = visit_instances(&pass);
	trace_events_destroy(pass.events);
	trace_printer_destroy(pass.printer);
	strbuf_deinit(&pass.text);
	return error;
}

static const char *const examples[] = { "trace -n 20",
					"trace --where \"event = 'sched_switch'\" -n 5",
					"trace --sort -time -n 3", NULL };

const struct table table_trace = {
	.name = "trace",
	.summary = "what ftrace recorded",
	.description =
		"A row is a record of ftrace's ring buffers, by time, as /sys/kernel/tracing/trace "
		"has them; those of each instance behind the others. How a record is read, "
		"and what the kernel would print of it, is in the dump, too. What the buffers "
		"hold is in tracebuffers, which events there are in events.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit = visit,
	.item = COLUMN_RECORD,
	.is_object = true,
};
