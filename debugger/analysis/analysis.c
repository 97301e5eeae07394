// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/analysis/analysis.h"

#include "base/array.h"
#include "debugger/analysis/detect_deadlock.h"
#include "debugger/analysis/object_name.h"
#include "debugger/analysis/signature.h"
#include "debugger/analysis/stack_words.h"
#include "debugger/kernel/panic_cpu.h"
#include "debugger/kernel/printk.h"
#include "debugger/unwind/scan.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Of locks and entries of lists, by whose they are: those of what is said first. */
#define NAMES_MAX 12

static struct error *detect_hangs(struct analysis *analysis) MUST_CHECK;
static struct error *detect_asked(struct analysis *analysis) MUST_CHECK;

/* In the order in which what they find is said: what is nearest to a cause comes first. */
static const struct detector detectors[] = {
	{ "overflow", detect_overflow },   /* of the stack */
	{ "checks", detect_checks },	   /* of the kernel's own, that panic */
	{ "fault", detect_fault },	   /* an exception, BUG, WARN */
	{ "panic", detect_panic },	   /* panic() for a reason of its own */
	{ "words", detect_words },	   /* more about some of these */
	{ "cpus", detect_cpus },	   /* that others wait for */
	{ "storms", detect_storms },	   /* CPUs that interrupts keep from tasks */
	{ "throttled", detect_throttled }, /* tasks whose cgroup has used up its share */
	{ "disks", detect_disks },	   /* that do not answer */
	{ "netdevs", detect_netdevs },	   /* that send nothing */
	{ "memory", detect_memory },	   /* ran out, or there is too much of one thing */
	{ "log", detect_log },		   /* what the kernel said before */
	{ "hang", detect_hangs },	   /* who waits for whom */
	{ "asked", detect_asked },	   /* what hung before somebody asked for the dump */
	{ "taints", detect_taints },	   /* whose code there is besides the kernel's own */
};

struct finding *analysis_add_at(struct analysis *analysis, size_t at, const char *kind,
				enum confidence sure)
{
	if (!array_reserve(&analysis->findings, &analysis->capacity, analysis->count + 1))
		return NULL;
	struct finding *finding = &analysis->findings[at];
	memmove(finding + 1, finding, (analysis->count - at) * sizeof(*finding));
	analysis->count++;
	*finding = (struct finding){ .kind = kind,
				     .sure = sure,
				     .task = analysis->has_task ? analysis->task.address : 0 };
	return finding;
}

struct finding *analysis_add(struct analysis *analysis, const char *kind, enum confidence sure)
{
	return analysis_add_at(analysis, analysis->count, kind, sure);
}

/* Behind what the kernel made a CPU do when it died, if that is there. */
static size_t first_of_its_own(const struct stack_trace *trace)
{
	static const char *const stops[] = { "stop_this_cpu", "smp_stop_nmi_callback",
					     "crash_nmi_callback" };
	for (size_t i = 0; i < ARRAY_COUNT(stops); i++) {
		size_t at = trace_find(trace, 0, stops[i]);
		while (at < trace->count && trace->frames[at].kind != FRAME_EXCEPTION)
			at++;
		if (at < trace->count)
			return at;
	}
	return 0;
}

void analysis_blame_first(struct analysis *analysis)
{
	analysis->blamed = trace_blame(&analysis->trace, first_of_its_own(&analysis->trace));
}

void analysis_blame_task(struct analysis *analysis)
{
	size_t first = analysis->task.on_cpu ? trace_interrupted(&analysis->trace) : 0;
	analysis->blamed = trace_blame(&analysis->trace, first);
}

bool analysis_argument(const struct analysis *analysis, size_t frame, const char *name,
		       uint64_t *ret)
{
	if (!analysis->arguments || frame >= analysis->trace.count)
		return false;
	const struct frame_arguments *arguments = &analysis->arguments[frame];
	for (size_t i = 0; i < arguments->count; i++) {
		if (!arguments->items[i].is_known || strcmp(arguments->items[i].name, name))
			continue;
		*ret = arguments->items[i].value;
		return true;
	}
	return false;
}

void analysis_put_task(const struct task *task, char *buffer, size_t size)
{
	if (task->is_partial)
		snprintf(buffer, size, "the task at 0x%" PRIx64 ", which is not in the dump,",
			 task->address);
	else
		snprintf(buffer, size, "pid %d \"%s\"", task->pid, task->comm);
}

void analysis_place(const struct analysis *analysis, size_t frame, char *buffer, size_t size)
{
	const struct frame *at = &analysis->trace.frames[frame];
	if (!at->has_symbol)
		snprintf(buffer, size, "0x%llx", (unsigned long long)at->pc);
	else
		snprintf(buffer, size, "%s+0x%llx%s%s%s", at->symbol.name,
			 (unsigned long long)at->offset, at->symbol.module ? " [" : "",
			 at->symbol.module ?: "", at->symbol.module ? "]" : "");
}

/* What the compiler makes calls of, where it is not the function itself that is called. */
static bool is_trampoline(const char *name)
{
	static const char *const starts[] = { "__SCT__", "__x86_indirect_", "__x86_return_",
					      "__pi_" };
	for (size_t i = 0; i < ARRAY_COUNT(starts); i++)
		if (!strncmp(name, starts[i], strlen(starts[i])))
			return true;
	return false;
}

/* Parts of one function ("f", "f.cold") jump to each other. */
static bool is_same_function(const struct symbol *one, const struct symbol *other)
{
	size_t length = strcspn(one->name, ".");
	return one->address == other->address ||
	       (length == strcspn(other->name, ".") && !strncmp(one->name, other->name, length));
}

void analysis_put_caller(const struct analysis *analysis, size_t frame, char *buffer, size_t size)
{
	const struct frame *caller = &analysis->trace.frames[frame];
	const struct frame *callee = frame ? caller - 1 : NULL;
	char name[SYMBOL_NAME_SIZE];
	struct symbol symbol;
	uint64_t called, offset;
	analysis_place(analysis, frame, buffer, size);
	if (!callee || caller->kind == FRAME_EXCEPTION || caller->is_unproved ||
	    !callee->has_symbol || !scan_call_target(analysis->target, caller->pc, &called) ||
	    !target_symbol_at_into(analysis->target, called, name, &symbol, &offset) ||
	    is_same_function(&symbol, &callee->symbol) || is_trampoline(symbol.name))
		return;
	size_t used = strlen(buffer);
	snprintf(buffer + used, size - used, ", by way of %s%s%s%s", symbol.name,
		 symbol.module ? " [" : "", symbol.module ?: "", symbol.module ? "]" : "");
}

static void forget_task(struct analysis *analysis)
{
	free(analysis->arguments);
	analysis->arguments = NULL;
	stack_trace_deinit(&analysis->trace);
	analysis->trace = (struct stack_trace){ 0 };
	if (analysis->has_task)
		task_deinit(&analysis->task);
	analysis->has_task = false;
}

/* Its stack and what is proved of the arguments; what cannot be had is left out. */
static struct error *read_stack(struct analysis *analysis)
{
	struct error *error = unwind_task(analysis->target, &analysis->task, &analysis->trace);
	if (!error)
		error = arguments_of(analysis->target, &analysis->task, &analysis->trace,
				     &analysis->arguments);
	analysis->blamed = analysis->trace.count;
	return error_only_fatal(error);
}

struct error *analysis_look_at_cpu(struct analysis *analysis, uint32_t cpu)
{
	forget_task(analysis);
	struct error *error = task_on_cpu(analysis->target, cpu, &analysis->task);
	analysis->has_task = !error;
	analysis->is_other = true;
	if (error)
		return error_only_fatal(error);
	analysis->task.cpu = cpu;
	analysis->task.on_cpu = true;
	return read_stack(analysis);
}

struct error *analysis_look_at_task(struct analysis *analysis, uint64_t address)
{
	forget_task(analysis);
	struct error *error = task_read(analysis->target, address, &analysis->task);
	analysis->has_task = !error;
	analysis->is_other = true;
	return error ? error_only_fatal(error) : read_stack(analysis);
}

static struct error *prepare(struct target *target, const struct task *task, struct analysis *ret,
			     struct error **ret_no_task)
{
	uint32_t cpu;
	ret->panicked = panic_cpu_find(target, &cpu);
	if (!printk_panic_message(target, ret->panic, sizeof(ret->panic)))
		*ret->panic = 0;
	struct error *error = task ? task_read(target, task->address, &ret->task)
				   : task_panicking(target, &ret->task);
	ret->has_task = !error;
	if (error && error_is_fatal(error))
		return error;
	*ret_no_task = error;
	if (error)
		return NULL;
	/* Who asked for a CPU knows where it ran: the task may not, yet. */
	if (task && task->on_cpu) {
		ret->task.on_cpu = true;
		ret->task.cpu = task->cpu;
	}
	return read_stack(ret);
}

/* Takes the findings, whole or not at all. `is_cause`: they come before what is there. */
static struct error *add_all(struct analysis *analysis, const struct finding *items, size_t count,
			     bool is_cause)
{
	if (!array_reserve(&analysis->findings, &analysis->capacity, analysis->count + count))
		return error_no_memory();
	size_t at = is_cause ? 0 : analysis->count;
	memmove(&analysis->findings[at + count], &analysis->findings[at],
		(analysis->count - at) * sizeof(*items));
	memcpy(&analysis->findings[at], items, count * sizeof(*items));
	analysis->count += count;
	return NULL;
}

/* Of tasks that were blocked for too long the one who holds them up is the cause. */
static struct error *detect_hangs(struct analysis *analysis)
{
	struct waits waits = { 0 };
	struct hang hang = { .count = 0 };
	if (analysis->is_asked && (analysis->count || !analysis->has_task))
		return NULL;
	struct error *error = waits_find(analysis->target, &waits);
	if (!error && analysis->is_asked)
		error = detect_wait(analysis, &waits);
	else if (!error)
		error = detect_hang(analysis->target, &waits, &hang);
	waits_deinit(&waits);
	bool is_cause = hang.is_cause && analysis->count &&
			!strcmp(analysis->findings[0].kind, "hung-task");
	uint64_t head = hang.count ? hang.findings[0].blamed ?: hang.findings[0].task : 0;
	size_t first = analysis->count;
	if (!error && hang.count)
		error = add_all(analysis, hang.findings, hang.count, is_cause);
	if (!error && hang.is_cause && !is_cause)
		analysis->hang = first;
	for (size_t i = 0; i < hang.count && error; i++)
		finding_deinit(&hang.findings[i]);
	free(hang.findings);
	if (error || !is_cause || !head)
		return error;
	TRY(analysis_look_at_task(analysis, head));
	analysis_blame_task(analysis);
	return NULL;
}

/* The first of such a kind behind the first of all; 0: none. */
static size_t find_kind(const struct analysis *analysis, const char *const *kinds, size_t count)
{
	for (size_t i = 1; i < analysis->count; i++)
		for (size_t k = 0; k < count; k++)
			if (!strcmp(analysis->findings[i].kind, kinds[k]))
				return i;
	return 0;
}

/*
 * A CPU that hangs, before tasks: they may wait for what runs there; then devices, which nobody may
 * wait for yet. 0: nothing hangs.
 */
static size_t find_hang(const struct analysis *analysis)
{
	static const char *const kinds[] = { "interrupts-off", "stuck-call", "starvation",
					     "interrupt-storm", "softirq-storm" };
	static const char *const stopped[] = { "disk-unanswered", "transmit-stopped",
					       "network-device" };
	size_t found = find_kind(analysis, kinds, ARRAY_COUNT(kinds));
	if (found)
		return found;
	return analysis->hang ?: find_kind(analysis, stopped, ARRAY_COUNT(stopped));
}

/*
 * A dump that somebody asked for, by SysRq or an NMI: most often of a machine that hung. What hangs
 * goes behind who asked, and signs the crash.
 */
static struct error *detect_asked(struct analysis *analysis)
{
	size_t hang = analysis->count ? find_hang(analysis) : 0;
	if (!hang || analysis->is_asked ||
	    (strcmp(analysis->findings[0].kind, "sysrq") != 0 &&
	     strcmp(analysis->findings[0].kind, "nmi") != 0))
		return NULL;
	struct finding *asked = &analysis->findings[0];
	const struct finding *found = &analysis->findings[hang];
	bool is_sure = found->sure == CONFIDENCE_CERTAIN;
	analysis->signed_of = hang;
	/* It is certain who asked. */
	return finding_summarize(asked, "%s; before that%s%s%s, %s", asked->summary,
				 is_sure ? "" : " (", is_sure ? "" : confidence_name(found->sure),
				 is_sure ? "" : ")", found->summary);
}

struct error *analysis_run(struct target *target, const struct task *task, struct analysis *ret)
{
	struct error *no_task = NULL;
	*ret = (struct analysis){ .target = target, .is_asked = task };
	TRY(object_names_allow(target, NAMES_MAX));
	TRY(prepare(target, task, ret, &no_task));
	TRY(analysis_find_unread(ret, no_task));
	for (size_t i = 0; i < ARRAY_COUNT(detectors); i++)
		TRY(analysis_note_unread(ret, detectors[i].run(ret), detectors[i].name));
	/* Of the crash, not of a task. */
	return task ? NULL : signature_make(ret, ret->signature);
}

void analysis_deinit(struct analysis *analysis)
{
	for (size_t i = 0; i < analysis->count; i++)
		finding_deinit(&analysis->findings[i]);
	free(analysis->findings);
	for (size_t i = 0; i < analysis->unread_count; i++)
		error_free(analysis->unread[i]);
	forget_task(analysis);
	*analysis = (struct analysis){ 0 };
}
