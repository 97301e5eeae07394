// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Checks of the kernel's own that end in a panic: of stacks (the mark behind a function's
 * variables, the one at the end of a task's stack), of who may give up its CPU, of memory (KASAN,
 * KFENCE) and of arithmetic (UBSAN). What found the mistake stands on the stack above the code that
 * made it.
 */
#include "debugger/analysis/analysis.h"
#include "debugger/analysis/check_report.h"
#include "debugger/analysis/stack_words.h"
#include "debugger/kernel/printk.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT	  512
#define LINE	  256
#define STACK_END 0x57ac6e9du /* kernel include/uapi/linux/magic.h: STACK_END_MAGIC */

/* "lab_device_label+0x5e [faults]" of the frame to blame; "": none is. */
static void blame(struct analysis *analysis, size_t first, char place[TEXT])
{
	analysis->blamed = trace_blame(&analysis->trace, first);
	*place = 0;
	if (analysis->blamed < analysis->trace.count)
		analysis_place(analysis, analysis->blamed, place, TEXT);
}

static struct error *add_frame(struct finding *finding, const struct analysis *analysis,
			       size_t frame)
{
	char command[32];
	snprintf(command, sizeof(command), "frame %zu", frame);
	return finding_add(finding, command, "%s() stands on the stack",
			   analysis->trace.frames[frame].symbol.name);
}

static struct error *say_smashed(struct analysis *analysis, size_t frame)
{
	char place[TEXT], name[SYMBOL_NAME_SIZE] = "";
	struct finding *finding = analysis_add(analysis, "stack-smashed", CONFIDENCE_CERTAIN);
	if (!finding)
		return error_no_memory();
	blame(analysis, frame, place);
	if (*place)
		frame_stem(&analysis->trace.frames[analysis->blamed], name, sizeof(name));
	/* What it would have returned to was written over, too, and is another each time. */
	if (*name && !(finding->culprit = strdup(name)))
		return error_no_memory();
	TRY(finding_summarize(
		finding,
		"%s%s wrote past a variable on its stack, over the mark that guards its "
		"return address",
		*name ? name : "a function", *name ? "()" : ""));
	return add_frame(finding, analysis, frame);
}

static struct error *say_stack_end(struct analysis *analysis, size_t frame)
{
	char place[TEXT], who[TEXT], command[48];
	uint32_t mark;
	const struct task *task = &analysis->task;
	struct finding *finding = analysis_add(analysis, "stack-end", CONFIDENCE_CERTAIN);
	if (!finding)
		return error_no_memory();
	blame(analysis, frame, place);
	analysis_put_task(task, who, sizeof(who));
	TRY(finding_summarize(
		finding,
		"the end of the kernel stack of %s was written over: found when it gave "
		"up its CPU%s%s",
		who, *place ? ", in " : "", place));
	struct error *error =
		task->stack ? memory_read_u32(analysis->target->memory, task->stack, &mark) : NULL;
	snprintf(command, sizeof(command), "rd -32 0x%" PRIx64 " 1", task->stack);
	if (!error && task->stack)
		return finding_add(finding, command,
				   "the mark there is 0x%" PRIx32 " instead of 0x%x", mark,
				   STACK_END);
	error_free(error);
	return add_frame(finding, analysis, frame);
}

static struct error *say_asleep(struct analysis *analysis, size_t frame)
{
	char place[TEXT], who[TEXT];
	struct finding *finding = analysis_add(analysis, "sleep-in-atomic", CONFIDENCE_CERTAIN);
	if (!finding)
		return error_no_memory();
	blame(analysis, frame, place);
	analysis_put_task(&analysis->task, who, sizeof(who));
	TRY(finding_summarize(finding,
			      "%s gave up its CPU where it must not, with a spinlock in hand or "
			      "preemption off%s%s",
			      who, *place ? ": in " : "", place));
	return add_frame(finding, analysis, frame);
}

/* --- reports ---------------------------------------------------------------------------------- */

static struct error *look_at_record(void *context, const struct printk_record *record)
{
	char line[LINE];
	const char *text = record->text, *end = record->text + record->size;
	if (!printk_is_of_kernel(record))
		return NULL;
	while (text < end) {
		const char *next = memchr(text, '\n', (size_t)(end - text));
		next = next ?: end;
		snprintf(line, sizeof(line), "%.*s", (int)(next - text), text);
		check_report_line(context, line);
		text = next + 1;
	}
	return NULL;
}

static struct error *say_report(struct analysis *analysis, const struct checker *checker,
				size_t panic)
{
	char place[TEXT];
	uint64_t lost;
	struct check_report report = { .words = checker->line };
	struct finding *finding = analysis_add(analysis, "kernel-report", CONFIDENCE_CERTAIN);
	if (!finding)
		return error_no_memory();
	TRY(error_only_fatal(printk_for_each(analysis->target, look_at_record, &report, &lost)));
	blame(analysis, panic, place);
	if (*report.line)
		TRY(finding_summarize(finding, "%s found: %s", checker->name, report.line));
	else
		TRY(finding_summarize(finding, "%s found a mistake%s%s", checker->name,
				      *place ? " in " : "", place));
	if (*report.object)
		TRY(finding_add(finding, "log", "the object: %s", report.object));
	if (*report.allocated)
		TRY(finding_add(finding, "log", "it was allocated for %s", report.allocated));
	if (*report.freed)
		TRY(finding_add(finding, "log", "it was freed by %s", report.freed));
	return finding_add(finding, "log", "the kernel's last words: %s", analysis->panic);
}

struct error *detect_checks(struct analysis *analysis)
{
	const struct stack_trace *trace = &analysis->trace;
	size_t panic = trace_find(trace, 0, "panic");
	if (analysis->count || !analysis->panicked || !analysis->has_task || panic == trace->count)
		return NULL;
	size_t frame = trace_find(trace, panic, "__stack_chk_fail");
	if (frame < trace->count)
		return say_smashed(analysis, frame);
	frame = trace_find(trace, panic, "__schedule_bug");
	if (frame < trace->count)
		return say_asleep(analysis, frame);
	frame = trace_find(trace, panic, "__schedule");
	if (frame < trace->count && strstr(analysis->panic, "corrupted stack end"))
		return say_stack_end(analysis, frame);
	const struct checker *checker = checker_of_panic(analysis->panic);
	if (checker)
		return say_report(analysis, checker, panic);
	return NULL;
}
