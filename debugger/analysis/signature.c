// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/analysis/signature.h"

#include "base/array.h"
#include "debugger/analysis/stack_words.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIGNATURE_VERSION 1
#define FRAMES_MAX	  4

struct text {
	char *buffer; /* of SIGNATURE_SIZE */
	size_t used, functions;
};

/* False: there is no room for more. */
static bool put_function(struct text *text, const char *stem)
{
	if (text->functions == FRAMES_MAX || text->used + strlen(stem) + 2 > SIGNATURE_SIZE)
		return false;
	text->used += (size_t)snprintf(text->buffer + text->used, SIGNATURE_SIZE - text->used,
				       "%s%s", text->functions++ ? "/" : " ", stem);
	return true;
}

static bool is_left_out(const struct frame *frame)
{
	return frame->is_unproved || frame->kind == FRAME_SCAN || frame_is_generic(frame);
}

/* Nobody else is to blame: the function itself, and what calls such ones. */
static void put_circumstance(const struct analysis *analysis, struct text *text)
{
	const struct stack_trace *trace = &analysis->trace;
	struct circumstance circumstance;
	char stem[SYMBOL_NAME_SIZE];
	if (analysis->blamed >= trace->count || trace->frames[analysis->blamed].is_unproved ||
	    !trace->frames[analysis->blamed].has_symbol)
		return;
	frame_stem(&trace->frames[analysis->blamed], stem, sizeof(stem));
	put_function(text, stem);
	if (!trace_circumstance(trace, analysis->blamed, &circumstance) ||
	    circumstance.frame == analysis->blamed)
		return;
	frame_stem(&trace->frames[circumstance.frame], stem, sizeof(stem));
	put_function(text, stem);
}

static void put_stack(const struct analysis *analysis, struct text *text)
{
	char stem[SYMBOL_NAME_SIZE], last[SYMBOL_NAME_SIZE] = "";
	bool sleeps = !analysis->task.on_cpu &&
		      (analysis->task.state_letter == 'D' || analysis->task.state_letter == 'S');
	for (size_t i = analysis->blamed; i < analysis->trace.count; i++) {
		const struct frame *frame = &analysis->trace.frames[i];
		/* What was interrupted has nothing to do with what interrupted it; a task that
		 * sleeps does so itself, in a page fault perhaps. */
		if (i > analysis->blamed && frame->kind == FRAME_EXCEPTION && !sleeps)
			break;
		if (is_left_out(frame))
			continue;
		frame_stem(frame, stem, sizeof(stem));
		/* A recursion is one function, however deep it went. */
		if (strcmp(stem, last) != 0 && !put_function(text, stem))
			break;
		strcpy(last, stem);
	}
	if (!text->functions)
		put_circumstance(analysis, text);
}

/* The first function of a module, up to which the kernel's own are on everybody's way; else the
 * first to blame. */
static size_t find_own(const struct stack_trace *trace)
{
	size_t first = trace->count;
	for (size_t i = 0; i < trace->count; i++) {
		const struct frame *frame = &trace->frames[i];
		if (is_left_out(frame))
			continue;
		if (frame->has_symbol && frame->symbol.module)
			return i;
		first = first < trace->count ? first : i;
	}
	return first;
}

/* What a task that sleeps is in; "": nothing is known. */
static struct error *find_sleeper(struct target *target, uint64_t address,
				  char stem[SYMBOL_NAME_SIZE])
{
	struct task task;
	struct stack_trace trace;
	*stem = 0;
	TRY(task_read(target, address, &task));
	struct error *error = unwind_task(target, &task, &trace);
	task_deinit(&task);
	if (error)
		return error;
	size_t i = find_own(&trace);
	if (i < trace.count)
		frame_stem(&trace.frames[i], stem, SYMBOL_NAME_SIZE);
	stack_trace_deinit(&trace);
	return NULL;
}

static int compare_stems(const void *a, const void *b)
{
	return strcmp(a, b);
}

static struct error *put_circle(const struct analysis *analysis, const struct finding *finding,
				struct text *text)
{
	char stems[FINDING_CIRCLE_MAX][SYMBOL_NAME_SIZE];
	for (size_t i = 0; i < finding->circle_count; i++)
		TRY(error_only_fatal(find_sleeper(analysis->target, finding->circle[i], stems[i])));
	array_sort(stems, finding->circle_count, sizeof(*stems), compare_stems);
	for (size_t i = 0; i < finding->circle_count; i++)
		if (*stems[i] && (!i || strcmp(stems[i], stems[i - 1]) != 0))
			put_function(text, stems[i]);
	return NULL;
}

/* As if it was of that task that the kernel died. */
static struct error *put_other(const struct analysis *analysis, const struct finding *finding,
			       struct text *text)
{
	struct analysis other = { .target = analysis->target };
	uint64_t task = finding->blamed ?: finding->task;
	struct error *error = task ? analysis_look_at_task(&other, task) : NULL;
	if (!error && other.has_task) {
		analysis_blame_task(&other);
		put_stack(&other, text);
	}
	analysis_deinit(&other);
	return error;
}

struct error *signature_make(const struct analysis *analysis, char ret[SIGNATURE_SIZE])
{
	struct text text = { .buffer = ret };
	*ret = 0;
	if (!analysis->count)
		return NULL;
	const struct finding *finding = &analysis->findings[analysis->signed_of];
	text.used =
		(size_t)snprintf(ret, SIGNATURE_SIZE, "%d %s", SIGNATURE_VERSION, finding->kind);
	if (finding->circle_count)
		return put_circle(analysis, finding, &text);
	if (finding->culprit)
		put_function(&text, finding->culprit);
	else if (analysis->signed_of || !strcmp(finding->kind, "blocked"))
		return put_other(analysis, finding, &text);
	else
		put_stack(analysis, &text);
	return NULL;
}
