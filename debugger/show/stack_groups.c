// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/show/stack_groups.h"

#include "base/array.h"
#include "base/hash.h"
#include "base/interrupt.h"
#include "base/strbuf.h"
#include "debugger/kernel/panic_cpu.h"
#include "debugger/show/frames.h"
#include "debugger/show/traces.h"
#include "debugger/unwind/unwind.h"
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* How many tasks of a group text names; JSON has them all. */
#define TASKS_SHOWN 8

struct member {
	uint64_t address;
	int32_t pid;
	uint32_t next; /* of the group, in the order of ps; HASH_NONE: the last */
	char state;
	char comm[64];
};

struct group {
	struct stack_trace trace; /* of its first task */
	/* The arguments of its frames that are the same in all tasks; NULL: none are. */
	struct frame_arguments *shared;
	uint32_t count, first, last;
	uint32_t hash;
	bool has_panicked;
};

struct collection {
	struct session *session;
	const struct stack_selection *selection;
	uint64_t panicking; /* task, 0: unknown */
	struct group *groups;
	size_t group_count, group_capacity;
	struct member *members;
	size_t member_count, member_capacity;
	struct hash_index index; /* groups by hash */
	uint64_t seen;
};

/* --- which stacks ---------------------------------------------------------------------- */

/* The scheduler's own functions and the locks': what a task waits in lies below them. */
static bool is_waiting_function(struct target *target, uint64_t pc)
{
	static const char *const ranges[][2] = { { "__sched_text_start", "__sched_text_end" },
						 { "__lock_text_start", "__lock_text_end" } };
	for (size_t i = 0; i < ARRAY_COUNT(ranges); i++) {
		uint64_t start, end;
		if (symtab_address(target->symbols, ranges[i][0], &start) &&
		    symtab_address(target->symbols, ranges[i][1], &end) && pc >= start && pc < end)
			return true;
	}
	return false;
}

/* What /proc/PID/wchan names; NULL: it does not wait. */
static const struct frame *waits_in(struct target *target, const struct stack_trace *trace)
{
	for (size_t i = 0; i < trace->count; i++) {
		const struct frame *frame = &trace->frames[i];
		if (frame->kind == FRAME_USER || !frame->has_symbol)
			return NULL;
		if (!is_waiting_function(target, frame->pc))
			return i ? frame : NULL;
	}
	return NULL;
}

static bool has_frame(const struct stack_trace *trace, const char *function, const char *module)
{
	for (size_t i = 0; i < trace->count; i++) {
		const struct frame *frame = &trace->frames[i];
		if (!frame->has_symbol)
			continue;
		if (function && !fnmatch(function, frame->symbol.name, 0))
			return true;
		if (module && frame->symbol.module && !fnmatch(module, frame->symbol.module, 0))
			return true;
	}
	return false;
}

static bool is_wanted(const struct collection *collection, const struct stack_trace *trace)
{
	const struct stack_selection *selection = collection->selection;
	if (selection->function && !has_frame(trace, selection->function, NULL))
		return false;
	if (selection->module && !has_frame(trace, NULL, selection->module))
		return false;
	if (!selection->waits)
		return true;
	const struct frame *frame = waits_in(collection->session->target, trace);
	return frame && !fnmatch(selection->waits, frame->symbol.name, 0);
}

/* --- arguments -------------------------------------------------------------------------- */

/*
 * Those of one more task of a group; what a task does not have as the others do becomes unknown.
 * `arguments`: of a trace that is equal to the group's, freed or kept.
 */
static void share_arguments(struct group *group, struct frame_arguments *arguments)
{
	if (!group->count) {
		group->shared = arguments;
		return;
	}
	if (!arguments || !group->shared) {
		free(arguments);
		free(group->shared);
		group->shared = NULL;
		return;
	}
	for (size_t i = 0; i < group->trace.count; i++) {
		struct frame_arguments *shared = &group->shared[i];
		for (size_t k = 0; k < shared->count; k++) {
			const struct argument *other = &arguments[i].items[k];
			shared->items[k].is_known &= k < arguments[i].count && other->is_known &&
						     other->value == shared->items[k].value;
		}
	}
	free(arguments);
}

static void group_deinit(struct group *group)
{
	stack_trace_deinit(&group->trace);
	free(group->shared);
}

/* --- groups ----------------------------------------------------------------------------- */

static uint32_t hash_trace(const struct stack_trace *trace)
{
	uint32_t hash = (uint32_t)trace->count;
	for (size_t i = 0; i < trace->count; i++) {
		/* Stacks that differ only in the user-mode address are equal. */
		uint64_t pc = trace->frames[i].kind == FRAME_USER ? 0 : trace->frames[i].pc;
		hash = hash * 31 + hash_bytes(&pc, sizeof(pc));
	}
	return hash;
}

static bool is_equal(const struct stack_trace *a, const struct stack_trace *b)
{
	if (a->count != b->count || !a->end != !b->end || a->start != b->start ||
	    a->unproved != b->unproved)
		return false;
	for (size_t i = 0; i < a->count; i++) {
		const struct frame *one = &a->frames[i], *other = &b->frames[i];
		if (one->kind != other->kind || (one->kind != FRAME_USER && one->pc != other->pc))
			return false;
	}
	return !a->end || error_is_equal(a->end, b->end);
}

/* Bytes of a group's own, beside its place among the groups. */
static uint64_t trace_size(const struct stack_trace *trace)
{
	return trace->capacity * sizeof(*trace->frames) +
	       trace->count * sizeof(struct frame_arguments);
}

/* Makes room for one more group. */
static struct error *keep_group(struct collection *collection, const struct stack_trace *trace,
				uint32_t hash)
{
	struct budget *budget = &collection->session->target->kept;
	TRY(budget_reserve(budget, &collection->groups, &collection->group_capacity,
			   collection->group_count + 1));
	TRY(budget_take(budget, trace_size(trace)));
	if (hash_index_add(&collection->index, hash, (uint32_t)collection->group_count))
		return NULL;
	budget_give_back(budget, trace_size(trace));
	return error_no_memory();
}

/* The group of a trace, which it takes; a new one if there is none. */
static struct error *find_group(struct collection *collection, struct stack_trace *trace,
				uint32_t *ret)
{
	uint32_t hash = hash_trace(trace);
	size_t position = hash_index_first(&collection->index, hash);
	for (uint32_t n; (n = hash_index_next(&collection->index, hash, &position)) != HASH_NONE;)
		if (is_equal(&collection->groups[n].trace, trace)) {
			stack_trace_deinit(trace);
			*ret = n;
			return NULL;
		}
	struct error *error = keep_group(collection, trace, hash);
	if (error) {
		stack_trace_deinit(trace);
		return error;
	}
	*ret = (uint32_t)collection->group_count++;
	collection->groups[*ret] = (struct group){
		.trace = *trace, .first = HASH_NONE, .last = HASH_NONE, .hash = hash
	};
	return NULL;
}

static struct error *add_task(struct collection *collection, const struct task *task,
			      struct stack_trace *trace, struct frame_arguments *arguments)
{
	uint32_t number = 0;
	struct error *error = budget_reserve(&collection->session->target->kept,
					     &collection->members, &collection->member_capacity,
					     collection->member_count + 1);
	if (error)
		stack_trace_deinit(trace);
	else
		error = find_group(collection, trace, &number);
	if (error) {
		free(arguments);
		return error;
	}
	struct group *group = &collection->groups[number];
	share_arguments(group, arguments);
	uint32_t added = (uint32_t)collection->member_count++;
	struct member *member = &collection->members[added];
	*member = (struct member){ .address = task->address,
				   .pid = task->pid,
				   .state = task->state_letter,
				   .next = HASH_NONE };
	memcpy(member->comm, task->comm, sizeof(member->comm));
	if (group->count++)
		collection->members[group->last].next = added;
	else
		group->first = added;
	group->last = added;
	group->has_panicked |= task->address == collection->panicking;
	return NULL;
}

static struct error *visit(void *context, const struct task *task)
{
	struct collection *collection = context;
	const struct stack_selection *selection = collection->selection;
	struct stack_trace trace;
	TRY(interrupt_check());
	progress_report(collection->session->progress, "stacks", collection->seen++, 0);
	if (selection->wants && !selection->wants(selection->context, task))
		return NULL;
	TRY(unwind_task(collection->session->target, task, &trace));
	if (!is_wanted(collection, &trace)) {
		stack_trace_deinit(&trace);
		return NULL;
	}
	struct frame_arguments *arguments;
	struct error *error = trace_find_arguments(collection->session, task, &trace, &arguments);
	if (error) {
		stack_trace_deinit(&trace);
		return error;
	}
	return add_task(collection, task, &trace, arguments);
}

/* Most frequent first, the panicking task's last; else in the order of their first tasks. */
static int compare_groups(const void *a, const void *b)
{
	const struct group *one = a, *other = b;
	if (one->has_panicked != other->has_panicked)
		return one->has_panicked ? 1 : -1;
	if (one->count != other->count)
		return one->count > other->count ? -1 : 1;
	return one->first < other->first ? -1 : one->first > other->first;
}

/* --- writing --------------------------------------------------------------------------- */

static void write_member(struct out *out, const struct member *member, bool shown)
{
	char state[2] = { member->state, 0 }, pid[16];
	out_item_named(out, member->address, "struct task_struct");
	out_object_begin(out, NULL);
	snprintf(pid, sizeof(pid), "%d", member->pid);
	out_i64_as(out, "pid", member->pid, shown ? pid : "");
	out_text(out, shown ? " " : "");
	out_string_as(out, "comm", member->comm, shown ? member->comm : "");
	out_string_as(out, "state", state, "");
	out_address_as(out, "address", member->address, "");
	out_object_end(out);
}

static void write_members(struct collection *collection, const struct group *group)
{
	struct out *out = collection->session->out;
	uint32_t number = 0;
	out_array_begin(out, "tasks");
	for (uint32_t i = group->first; i != HASH_NONE; i = collection->members[i].next, number++) {
		out_text(out, !number ? "" : number < TASKS_SHOWN ? ", " : "");
		write_member(out, &collection->members[i], number < TASKS_SHOWN);
	}
	out_array_end(out);
	if (group->count > TASKS_SHOWN)
		out_text(out, ", and %u more", group->count - TASKS_SHOWN);
	out_text(out, "\n");
}

static void write_group(struct collection *collection, const struct group *group)
{
	struct out *out = collection->session->out;
	const struct frame *waits = waits_in(collection->session->target, &group->trace);
	char count[32];
	out_object_begin(out, NULL);
	out_style(out, OUT_HEADING);
	snprintf(count, sizeof(count), "%u", group->count);
	out_u64_as(out, "count", group->count, count);
	out_text(out, group->count == 1 ? " task" : " tasks");
	out_style(out, OUT_PLAIN);
	if (waits) {
		out_text(out, " in ");
		out_string(out, "waits_in", waits->symbol.name);
	}
	out_text(out, ": ");
	out_bool_as(out, "panicking", group->has_panicked, "");
	write_members(collection, group);
	trace_write_start(out, &group->trace);
	out_array_begin(out, "frames");
	for (size_t i = 0; i < group->trace.count; i++)
		frame_write_short(collection->session, &group->trace.frames[i], i,
				  group->shared ? &group->shared[i] : NULL);
	out_array_end(out);
	if (group->trace.end) {
		out_string_as(out, "end", group->trace.end->message, "");
		out_text(out, "    (the end: %s)\n", group->trace.end->message);
	}
	out_object_end(out);
}

/* pids and names with blanks between, each a cell. */
static void write_member_cells(struct collection *collection, const struct group *group)
{
	struct out *out = collection->session->out;
	for (int names = 0; names < 2; names++) {
		struct strbuf text = { 0 };
		for (uint32_t i = group->first; i != HASH_NONE; i = collection->members[i].next) {
			const struct member *member = &collection->members[i];
			strbuf_put(&text, i == group->first ? "" : " ");
			if (names)
				strbuf_put(&text, member->comm);
			else
				strbuf_format(&text, "%" PRId32, member->pid);
		}
		strbuf_bytes(&text, "", 1);
		out_string(out, names ? "comms" : "pids", text.failed ? "" : text.data);
		strbuf_deinit(&text);
	}
}

/* In a table, a row a frame. */
static void write_group_rows(struct collection *collection, const struct group *group,
			     size_t number)
{
	struct out *out = collection->session->out;
	const struct stack_trace *trace = &group->trace;
	const struct frame *waits = waits_in(collection->session->target, trace);
	for (size_t i = 0; !i || i < trace->count; i++) {
		out_object_begin(out, NULL);
		out_u64(out, "group", number);
		out_u64(out, "count", group->count);
		out_string(out, "waits_in", waits ? waits->symbol.name : "");
		out_bool(out, "panicking", group->has_panicked);
		write_member_cells(collection, group);
		frame_write_cells(collection->session, trace->count ? &trace->frames[i] : NULL, i,
				  group->shared ? &group->shared[i] : NULL);
		out_string(out, "end", trace->end ? trace->end->message : "");
		out_object_end(out);
	}
}

static void write_groups(struct collection *collection)
{
	array_sort(collection->groups, collection->group_count, sizeof(*collection->groups),
		   compare_groups);
	out_array_begin(collection->session->out, NULL);
	for (size_t i = 0; i < collection->group_count; i++) {
		if (out_is_rows(collection->session->out)) {
			write_group_rows(collection, &collection->groups[i], i);
			continue;
		}
		out_text(collection->session->out, i ? "\n" : "");
		write_group(collection, &collection->groups[i]);
	}
	out_array_end(collection->session->out);
}

static void collection_deinit(struct collection *collection)
{
	struct budget *budget = &collection->session->target->kept;
	for (size_t i = 0; i < collection->group_count; i++) {
		budget_give_back(budget, trace_size(&collection->groups[i].trace));
		group_deinit(&collection->groups[i]);
	}
	budget_release(budget, collection->groups, collection->group_capacity);
	budget_release(budget, collection->members, collection->member_capacity);
	hash_index_deinit(&collection->index);
}

static uint64_t find_panicking(struct target *target)
{
	struct task task;
	uint32_t cpu;
	if (!panic_cpu_find(target, &cpu))
		return 0;
	struct error *error = task_panicking(target, &task);
	uint64_t address = error ? 0 : task.address;
	if (!error)
		task_deinit(&task);
	error_free(error);
	return address;
}

struct error *stack_groups_write(struct session *session, const struct stack_selection *selection)
{
	struct collection collection = { .session = session, .selection = selection };
	struct error *problem = NULL;
	collection.panicking = find_panicking(session->target);
	struct error *error = task_for_each(session->target, visit, &collection, &problem);
	write_groups(&collection);
	collection_deinit(&collection);
	if (!error)
		return problem;
	error_free(problem);
	return error;
}
