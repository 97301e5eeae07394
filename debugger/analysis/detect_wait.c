// SPDX-License-Identifier: GPL-3.0-or-later
/* Of one task that was asked about: what it waits for, who has that, and what he waits for in turn.
 */
#include "base/array.h"
#include "debugger/analysis/analysis.h"
#include "debugger/analysis/stack_words.h"
#include "debugger/analysis/wait_stack.h"
#include "debugger/analysis/wait_text.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LINKS_MAX 16

static const struct wait *find_wait(const struct waits *waits, uint64_t task)
{
	for (size_t i = 0; i < waits->count; i++)
		if (waits->items[i].task.address == task)
			return &waits->items[i];
	return NULL;
}

static struct error *summarize(struct finding *finding, struct strbuf *text)
{
	strbuf_bytes(text, "", 1);
	struct error *error = text->failed ? error_no_memory()
					   : finding_summarize(finding, "%s", text->data);
	strbuf_deinit(text);
	return error;
}

/* False: it has no owner, or one that cannot be read. */
static bool read_owner(const struct analysis *analysis, const struct wait *wait, struct task *ret)
{
	if (!wait->owner)
		return false;
	struct error *error = task_read(analysis->target, wait->owner, ret);
	error_free(error);
	return !error;
}

/* Where it sleeps: of the first one, the summary has said the rest. */
static struct error *add_place(struct finding *finding, const struct wait *wait,
			       const char *command)
{
	if (!*wait->function)
		return finding_add(finding, command, "its stack");
	return finding_add(finding, command, "it sleeps in %s%s%s", wait->function,
			   *wait->caller ? ", called by " : "", wait->caller);
}

/* A link of the chain as evidence, with the stack that shows it and the lock. */
static struct error *add_link(const struct analysis *analysis, struct finding *finding,
			      const struct wait *wait, bool is_first)
{
	struct strbuf text = { 0 };
	struct task owner;
	char command[32];
	bool has_owner = read_owner(analysis, wait, &owner);
	snprintf(command, sizeof(command), "bt %" PRId32, wait->task.pid);
	struct error *error =
		wait_add_link(analysis->target, wait, has_owner ? &owner : NULL, finding);
	if (!error && is_first)
		error = add_place(finding, wait, command);
	if (!error && !is_first) {
		wait_put_link(analysis->target, wait, has_owner ? &owner : NULL, &text);
		error = text.failed ? error_no_memory()
				    : finding_add(finding, command, "%.*s", (int)text.size,
						  text.data ?: "");
	}
	if (has_owner)
		task_deinit(&owner);
	strbuf_deinit(&text);
	return error ? error : wait_add_lock(wait, finding);
}

/* What the one at the head does, who waits for nothing that is known. */
static struct error *add_head(const struct analysis *analysis, struct finding *finding,
			      const struct wait *last)
{
	struct strbuf text = { 0 };
	struct task owner;
	const char *function;
	char command[32];
	if (!read_owner(analysis, last, &owner))
		return NULL;
	struct error *error = wait_function_of(analysis->target, &owner, &function);
	if (!error) {
		wait_put_task(&owner, &text);
		strbuf_char(&text, ' ');
		wait_put_state(analysis->target, &owner, function, &text);
		snprintf(command, sizeof(command), "bt %" PRId32, owner.pid);
		error = text.failed ? error_no_memory()
				    : finding_add(finding, command, "%.*s", (int)text.size,
						  text.data ?: "");
	}
	strbuf_deinit(&text);
	task_deinit(&owner);
	return error;
}

/* NULL: no owner is known, or nothing of what that waits for. */
static const struct wait *next_wait(const struct waits *waits, const struct wait *wait)
{
	return wait->owner_wait == WAIT_NONE ? NULL : &waits->items[wait->owner_wait];
}

static bool is_shown(const struct wait *const *shown, size_t count, const struct wait *wait)
{
	for (size_t i = 0; i < count; i++)
		if (shown[i] == wait)
			return true;
	return false;
}

static struct error *say_wait(struct analysis *analysis, const struct waits *waits,
			      const struct wait *wait)
{
	struct strbuf text = { 0 };
	/* That it sleeps where it does is no question. */
	struct finding *finding =
		analysis_add(analysis, "waiting", wait->object ? wait->sure : CONFIDENCE_CERTAIN);
	if (!finding)
		return error_no_memory();
	struct task owner;
	bool has_owner = read_owner(analysis, wait, &owner);
	finding->blamed = has_owner ? wait->owner : 0;
	wait_put_link(analysis->target, wait, has_owner ? &owner : NULL, &text);
	if (has_owner)
		task_deinit(&owner);
	TRY(summarize(finding, &text));
	const struct wait *shown[LINKS_MAX], *last = wait;
	size_t count = 0;
	while (wait && count < LINKS_MAX && !is_shown(shown, count, wait)) {
		TRY(add_link(analysis, finding, wait, !count));
		shown[count++] = last = wait;
		wait = next_wait(waits, wait);
	}
	if (wait && count < LINKS_MAX)
		TRY(finding_add(finding, NULL, "that is a deadlock"));
	if (!wait)
		TRY(add_head(analysis, finding, last));
	return finding_add(finding, "locks --graph", "all that wait");
}

static bool is_interrupt(const struct frame *entry)
{
	static const char *const stubs[] = { "asm_common_interrupt", "asm_exc_nmi",
					     "end_repeat_nmi" };
	for (size_t i = 0; i < ARRAY_COUNT(stubs); i++)
		if (frame_is(entry, stubs[i]))
			return true;
	return entry->has_symbol && !strncmp(entry->symbol.name, "asm_sysvec_", 11);
}

/*
 * What the CPU did when the panic's, or any, interrupt came upon it; trace.count: it was not
 * interrupted, as far as is known.
 */
static size_t find_interrupted(const struct analysis *analysis)
{
	const struct stack_trace *trace = &analysis->trace;
	for (size_t i = 1; i < trace->count && !trace->frames[i].is_unproved; i++)
		if (trace->frames[i].kind == FRAME_EXCEPTION || trace->frames[i].kind == FRAME_USER)
			return is_interrupt(&trace->frames[i - 1]) ? i : trace->count;
	return trace->count;
}

static struct error *say_running(struct analysis *analysis, size_t interrupted)
{
	char place[512], command[32];
	bool is_user = analysis->trace.frames[interrupted].kind == FRAME_USER;
	struct finding *finding = analysis_add(analysis, "running", CONFIDENCE_CERTAIN);
	if (!finding)
		return error_no_memory();
	const struct task *task = &analysis->task;
	analysis_place(analysis, interrupted, place, sizeof(place));
	TRY(finding_summarize(finding, "CPU %" PRIu32 " ran %" PRId32 " \"%s\" %s%s", task->cpu,
			      task->pid, task->comm, is_user ? "in user mode" : "in ",
			      is_user ? "" : place));
	snprintf(command, sizeof(command), "bt -c %" PRIu32, task->cpu);
	TRY(finding_add(finding, command, "%s", "that is where it was when it was interrupted"));
	analysis->blamed = is_user ? analysis->trace.count : interrupted;
	return NULL;
}

static struct error *say_state(struct analysis *analysis)
{
	const char *function;
	struct strbuf text = { 0 };
	TRY(wait_function_of(analysis->target, &analysis->task, &function));
	struct finding *finding = analysis_add(analysis, "task", CONFIDENCE_CERTAIN);
	if (!finding)
		return error_no_memory();
	wait_put_task(&analysis->task, &text);
	strbuf_char(&text, ' ');
	wait_put_state(analysis->target, &analysis->task, function, &text);
	TRY(summarize(finding, &text));
	char command[32];
	snprintf(command, sizeof(command), "bt %" PRId32, analysis->task.pid);
	return finding_add(finding, command, "its stack says no more");
}

struct error *detect_wait(struct analysis *analysis, const struct waits *waits)
{
	const struct wait *wait = find_wait(waits, analysis->task.address);
	size_t interrupted = analysis->task.on_cpu ? find_interrupted(analysis)
						   : analysis->trace.count;
	if (interrupted < analysis->trace.count)
		return say_running(analysis, interrupted);
	TRY(wait ? say_wait(analysis, waits, wait) : say_state(analysis));
	analysis->blamed = trace_blame(&analysis->trace, 0);
	return NULL;
}
