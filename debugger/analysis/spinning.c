// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/analysis/spinning.h"

#include "base/array.h"
#include "base/digits.h"
#include "debugger/analysis/object_name.h"
#include "debugger/analysis/object_note.h"
#include "debugger/analysis/stack_words.h"
#include "debugger/kernel/printk.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PLACE (SYMBOL_NAME_SIZE + 96)

/* All of them call what they wait for "lock". */
static bool is_spinning(const struct frame *frame)
{
	static const char *const names[] = {
		"native_queued_spin_lock_slowpath", "queued_spin_lock_slowpath",
		"__pv_queued_spin_lock_slowpath",   "queued_read_lock_slowpath",
		"queued_write_lock_slowpath",
	};
	for (size_t i = 0; i < ARRAY_COUNT(names); i++)
		if (frame_is(frame, names[i]))
			return true;
	return false;
}

static bool is_of_readers(const struct frame *frame)
{
	return frame_is(frame, "queued_read_lock_slowpath") ||
	       frame_is(frame, "queued_write_lock_slowpath");
}

static struct error *name_lock(struct target *target, const struct frame *frame,
			       struct spinning *ret)
{
	const char *type = is_of_readers(frame) ? "struct qrwlock" : "struct qspinlock";
	struct object_note note;
	struct strbuf name = { 0 };
	char place[PLACE];
	if (target_describe(target, ret->lock, place, sizeof(place))) {
		snprintf(ret->name, sizeof(ret->name), "%s", place);
		return NULL;
	}
	TRY(object_note_find(target, ret->lock, &note));
	struct error *error = object_name_put(target, ret->lock, type, &name);
	if (!error && name.failed)
		error = error_no_memory();
	bool is_noted = *note.text, is_named = name.size;
	snprintf(ret->name, sizeof(ret->name), "0x%" PRIx64 "%s%s%s%.*s%s", ret->lock,
		 is_noted ? " (in " : "", note.text, is_noted && is_named ? "; " : "",
		 is_noted ? (int)name.size : 0, name.data ?: "", is_noted ? ")" : "");
	strbuf_deinit(&name);
	return error;
}

/*
 * A word that no queued spinlock has (kernel include/asm-generic/qspinlock_types.h): a byte that is
 * 1 while it is locked, or 3, one that is 1 while somebody is next, and the last CPU in the queue.
 */
static bool is_garbage(struct target *target, uint32_t word)
{
	const struct cpu *cpus;
	size_t count = target_cpus(target, &cpus);
	uint32_t last = 0;
	for (size_t i = 0; i < count; i++)
		last = cpus[i].number > last ? cpus[i].number : last;
	uint32_t locked = word & 0xff, pending = word >> 8 & 0xff, tail = word >> 18;
	return locked == 2 || locked > 3 || pending > 1 || (count && tail > last + 1);
}

static void add_garbage(struct target *target, const struct frame *frame, struct spinning *ret)
{
	uint32_t word;
	if (is_of_readers(frame))
		return;
	struct error *error = memory_read_u32(target->memory, ret->lock, &word);
	size_t used = strlen(ret->name);
	if (!error && is_garbage(target, word))
		snprintf(ret->name + used, sizeof(ret->name) - used,
			 ", whose word 0x%" PRIx32 " is no lock's", word);
	error_free(error);
}

struct error *spinning_find(const struct analysis *analysis, size_t first, struct spinning *ret)
{
	const struct stack_trace *trace = &analysis->trace;
	*ret = (struct spinning){ .is_found = false };
	size_t at = first;
	while (at < trace->count && !(at > first && trace->frames[at].kind == FRAME_EXCEPTION) &&
	       !is_spinning(&trace->frames[at]))
		at++;
	if (at == trace->count || !is_spinning(&trace->frames[at]) || trace->frames[at].is_unproved)
		return NULL;
	ret->is_found = true;
	ret->frame = at;
	/* Who called it was given the same. */
	for (size_t i = at; i < trace->count && i <= at + 2 && !ret->lock; i++)
		if (!analysis_argument(analysis, i, "lock", &ret->lock))
			ret->lock = 0;
	if (!ret->lock)
		return NULL;
	TRY(name_lock(analysis->target, &trace->frames[at], ret));
	add_garbage(analysis->target, &trace->frames[at], ret);
	return NULL;
}

struct error *spinning_find_any(const struct analysis *analysis, struct spinning *ret)
{
	*ret = (struct spinning){ .is_found = false };
	for (size_t i = 0; i < analysis->trace.count && !ret->is_found; i++)
		if (is_spinning(&analysis->trace.frames[i]))
			TRY(spinning_find(analysis, i, ret));
	return NULL;
}

/* "BUG: scheduling while atomic: lab-tune/160/0x00000002": a name may have slashes in it. */
static bool parse_sleeper(const char *line, uint64_t *ret_pid)
{
	static const char start[] = "BUG: scheduling while atomic: ";
	const char *last, *before;
	if (strncmp(line, start, sizeof(start) - 1) != 0 || !(last = strrchr(line, '/')))
		return false;
	for (before = last - 1; before > line && *before != '/'; before--)
		;
	return *before == '/' && digits_scan(before + 1, 10, ret_pid) == last;
}

static struct error *look_at_record(void *context, const struct printk_record *record)
{
	char line[160];
	uint64_t pid;
	if (!printk_is_of_kernel(record))
		return NULL;
	printk_first_line(record, line, sizeof(line));
	if (parse_sleeper(line, &pid))
		*(uint64_t *)context = pid;
	return NULL;
}

static void put_sleeper(const struct analysis *sleeper, const char *module, char *buffer,
			size_t size)
{
	char place[PLACE], who[128];
	const struct stack_trace *trace = &sleeper->trace;
	for (size_t i = 0; i < trace->count; i++) {
		const struct frame *frame = &trace->frames[i];
		if (frame->is_unproved || frame->kind == FRAME_SCAN || !frame->has_symbol)
			return;
		if (!frame->symbol.module || strcmp(frame->symbol.module, module) != 0)
			continue;
		analysis_place(sleeper, i, place, sizeof(place));
		analysis_put_task(&sleeper->task, who, sizeof(who));
		snprintf(buffer, size,
			 "; %s, which scheduled while atomic, is in %s: it may have the lock", who,
			 place);
		return;
	}
}

static struct error *find_sleeper(const struct analysis *analysis, const char *module, char *buffer,
				  size_t size)
{
	uint64_t pid = 0, lost;
	struct task task;
	struct analysis sleeper = { .target = analysis->target };
	*buffer = 0;
	TRY(error_only_fatal(printk_for_each(analysis->target, look_at_record, &pid, &lost)));
	if (!pid)
		return NULL;
	struct error *error = task_find(analysis->target, pid, &task);
	if (error)
		return error_only_fatal(error);
	if (!task.on_cpu && task.address != analysis->task.address)
		error = analysis_look_at_task(&sleeper, task.address);
	task_deinit(&task);
	if (!error && sleeper.has_task)
		put_sleeper(&sleeper, module, buffer, size);
	analysis_deinit(&sleeper);
	return error;
}

static struct error *add_other(struct analysis *other, uint32_t cpu, struct finding *finding)
{
	struct spinning spinning = { .is_found = false };
	char place[PLACE] = "", who[128], command[32];
	TRY(analysis_look_at_cpu(other, cpu));
	TRY(spinning_find_any(other, &spinning));
	if (!spinning.is_found || !other->has_task)
		return NULL;
	other->blamed = trace_blame(&other->trace, spinning.frame);
	if (other->blamed < other->trace.count)
		analysis_place(other, other->blamed, place, sizeof(place));
	analysis_put_task(&other->task, who, sizeof(who));
	snprintf(command, sizeof(command), "bt -c %" PRIu32, cpu);
	return finding_add(finding, command, "CPU %" PRIu32 " spins, too: %s for the lock %s%s%s",
			   cpu, who, *spinning.name ? spinning.name : "that is not known",
			   *place ? ", in " : "", place);
}

/*
 * Who spins in an interrupt waits for ever, if whom it interrupted has the lock. It may well be so
 * where both are of one module.
 */
static void put_holder(const struct analysis *analysis, size_t first, const char *who, char *buffer,
		       size_t size)
{
	const struct stack_trace *trace = &analysis->trace;
	size_t interrupted = first;
	char place[PLACE];
	while (interrupted < trace->count && trace->frames[interrupted].kind != FRAME_EXCEPTION)
		interrupted++;
	const char *module = trace->frames[analysis->blamed].symbol.module;
	for (size_t i = interrupted; i < trace->count; i++) {
		const struct frame *held = &trace->frames[i];
		if ((i > interrupted && held->kind == FRAME_EXCEPTION) ||
		    held->kind == FRAME_USER || held->is_unproved || !held->has_symbol)
			return;
		if (!held->symbol.module || strcmp(held->symbol.module, module) != 0)
			continue;
		analysis_place(analysis, i, place, sizeof(place));
		snprintf(buffer, size, "; it interrupted %s in %s, who may have it", who, place);
		return;
	}
}

struct error *spinning_describe(const struct analysis *analysis, size_t at,
				const struct spinning *spinning, char *buffer, size_t size)
{
	const struct stack_trace *trace = &analysis->trace;
	struct circumstance circumstance = { .is_borrowed = false };
	char place[PLACE], who[128], caller[PLACE + 16], holder[2 * PLACE + 64] = "";
	bool is_of_other = trace_circumstance(trace, at, &circumstance) &&
			   (circumstance.is_borrowed || circumstance.is_deferred);
	const char *what = is_of_other ? circumstance.what : who;
	analysis_put_task(&analysis->task, who, sizeof(who));
	analysis_place(analysis, analysis->blamed, place, sizeof(place));
	TRY(analysis_put_module(analysis, at, caller, sizeof(caller)));
	const char *module = trace->frames[analysis->blamed].symbol.module;
	if (spinning->is_found && module && is_of_other && circumstance.is_borrowed)
		put_holder(analysis, circumstance.frame, who, holder, sizeof(holder));
	if (spinning->is_found && module && !*holder)
		TRY(find_sleeper(analysis, module, holder, sizeof(holder)));
	if (spinning->is_found)
		snprintf(buffer, size, "%s spins for the lock %s, in %s%s%s", what,
			 *spinning->name ? spinning->name : "that is not known", place, caller,
			 holder);
	else
		snprintf(buffer, size, "%s was in %s%s", what, place, caller);
	return NULL;
}

struct error *spinning_add_others(const struct analysis *analysis, uint32_t cpu,
				  struct finding *finding)
{
	const struct cpu *cpus;
	size_t count = target_cpus(analysis->target, &cpus);
	for (size_t i = 0; i < count; i++) {
		struct analysis other = { .target = analysis->target };
		if (cpus[i].number == cpu || !cpus[i].current_task)
			continue;
		struct error *error = add_other(&other, cpus[i].number, finding);
		analysis_deinit(&other);
		TRY(error);
	}
	return NULL;
}
