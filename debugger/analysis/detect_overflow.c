// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A task that ran out of stack: the processor could not even save what it did, so it changed to the
 * stack of double faults, or the kernel saw the guard page in a page fault.
 */
#include "debugger/analysis/analysis.h"
#include "debugger/analysis/bad_address.h"
#include "debugger/analysis/stack_words.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define TURN_MAX    32 /* functions of one turn of a recursion */
#define TURNS_LEAST 4

/* Functions that call one another over and over: the trace repeats itself every `length` frames. */
struct recursion {
	size_t first, length, turns;
	uint64_t bytes; /* of stack, a turn */
};

static bool is_same(const struct stack_trace *trace, size_t a, size_t b)
{
	const struct frame *left = &trace->frames[a], *right = &trace->frames[b];
	return left->has_symbol && right->has_symbol &&
	       left->symbol.address == right->symbol.address;
}

static size_t count_turns(const struct stack_trace *trace, size_t first, size_t length)
{
	size_t i = first;
	while (i + length < trace->count && is_same(trace, i, i + length))
		i++;
	return (i - first) / length + 1;
}

/* The one that fills most of the stack, beginning within one turn of the innermost frame. */
static bool find_recursion(const struct stack_trace *trace, size_t from, struct recursion *ret)
{
	size_t best = 0;
	for (size_t first = from; first < trace->count && first < from + TURN_MAX; first++)
		for (size_t length = 1; length <= TURN_MAX; length++) {
			size_t turns = count_turns(trace, first, length);
			if (turns < TURNS_LEAST || turns * length <= best)
				continue;
			best = turns * length;
			*ret = (struct recursion){ first, length, turns, 0 };
		}
	if (!best)
		return false;
	const struct frame *last = &trace->frames[ret->first + (ret->turns - 1) * ret->length];
	ret->bytes = (last->sp - trace->frames[ret->first].sp) / (ret->turns - 1);
	return true;
}

static void spell_turn(const struct stack_trace *trace, const struct recursion *recursion,
		       char *buffer, size_t size)
{
	size_t used = 0;
	*buffer = 0;
	for (size_t i = recursion->length; i-- && used < size;) {
		const struct frame *frame = &trace->frames[recursion->first + i];
		int length = snprintf(buffer + used, size - used, "%s%s()", used ? ", " : "",
				      frame->symbol.name);
		used += length > 0 ? (size_t)length : 0;
	}
}

/* The frame of the task's own stack that the exception came upon; trace.count: none. */
static size_t find_victim(const struct analysis *analysis)
{
	const struct stack_trace *trace = &analysis->trace;
	for (size_t i = 1; i < trace->count; i++) {
		const struct frame *frame = &trace->frames[i];
		struct bad_address bad;
		if (frame->kind != FRAME_EXCEPTION || frame->is_unproved)
			continue;
		bad_address_find(analysis->target, &analysis->task, frame->sp - 8, &bad);
		uint64_t left = frame->sp - analysis->task.stack;
		bool is_low = bad.kind == BAD_GUARD || left < 8;
		bool is_double = frame_is(&trace->frames[i - 1], "asm_exc_double_fault");
		for (size_t k = 0; k < i && is_low && !is_double; k++)
			is_double = frame_is(&trace->frames[k], "handle_stack_overflow");
		/* What a double fault interrupts may have moved the stack pointer into the page. */
		if (is_double && (is_low || left < 512))
			return i;
	}
	return trace->count;
}

struct error *detect_overflow(struct analysis *analysis)
{
	const struct stack_trace *trace = &analysis->trace;
	struct recursion recursion = { 0 };
	char command[64], turn[512], place[512];
	size_t victim = analysis->has_task && analysis->task.stack ? find_victim(analysis)
								   : trace->count;
	if (victim == trace->count)
		return NULL;
	struct finding *finding = analysis_add(analysis, "stack-overflow", CONFIDENCE_CERTAIN);
	if (!finding)
		return error_no_memory();
	bool recurses = find_recursion(trace, victim, &recursion);
	analysis->blamed = recurses ? recursion.first : victim;
	if (recurses) {
		const char *module = trace->frames[recursion.first].symbol.module;
		spell_turn(trace, &recursion, turn, sizeof(turn));
		TRY(finding_summarize(finding,
				      "the kernel stack is full: %s%s%s%s recursed %zu times, "
				      "%" PRIu64 " bytes a turn",
				      turn, module ? " [" : "", module ?: "", module ? "]" : "",
				      recursion.turns, recursion.bytes));
	} else {
		analysis_place(analysis, victim, place, sizeof(place));
		TRY(finding_summarize(finding, "the kernel stack is full, in %s", place));
	}
	snprintf(command, sizeof(command), "rd 0x%" PRIx64 " 8", analysis->task.stack);
	TRY(finding_add(finding, command,
			"the stack begins at 0x%" PRIx64 ", and the stack pointer was 0x%" PRIx64,
			analysis->task.stack, trace->frames[victim].sp));
	if (!recurses)
		return NULL;
	size_t outer = trace_blame(trace, recursion.first + recursion.turns * recursion.length);
	if (outer >= trace->count)
		return NULL;
	analysis_place(analysis, outer, place, sizeof(place));
	snprintf(command, sizeof(command), "frame %zu", outer);
	return finding_add(finding, command, "it was called by %s", place);
}
