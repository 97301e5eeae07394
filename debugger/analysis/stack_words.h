/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the names of functions on a stack mean to somebody who looks for a culprit. */
#ifndef DEBUGGER_ANALYSIS_STACK_WORDS_H
#define DEBUGGER_ANALYSIS_STACK_WORDS_H

#include "debugger/unwind/unwind.h"

/* The frame's function is called so, but for what a compiler adds (.isra.0, .cold). */
bool frame_is(const struct frame *frame, const char *name);
/* The first frame from `first` on whose function is called so; trace->count: none. */
size_t trace_find(const struct stack_trace *trace, size_t first, const char *name);
/*
 * One that says nothing about a cause, whoever calls it: copying, lists, locks, panicking, entries.
 * Their names are data: generic.words.
 */
bool frame_is_generic(const struct frame *frame);
/* The entry of an interrupt or an NMI, which may come at any time. */
bool frame_is_interrupt(const struct frame *frame);
/*
 * The first frame from `first` on that is not so; trace->count: none, or none before the frame that
 * an interrupt came upon, which has no part in what ran then.
 */
size_t trace_blame(const struct stack_trace *trace, size_t first);
/* The name without what a compiler adds to it. */
void frame_stem(const struct frame *frame, char *buffer, size_t size);

/*
 * What the task of a CPU did before the exception that ends in the dump, and interrupts that came
 * before that: they have no part in the task. 0: none came.
 */
size_t trace_interrupted(const struct stack_trace *trace);

/* In what a function runs, by the frames that called it: "a timer", "a work item"; NULL: a task. */
struct circumstance {
	bool is_borrowed; /* it runs on the stack of whatever task was interrupted */
	bool is_deferred; /* it runs in the thread of a CPU that is there for softirqs */
	const char *what; /* a literal */
	size_t frame;	  /* that calls it; the one before it is the timer's, the item's function */
};
bool trace_circumstance(const struct stack_trace *trace, size_t first, struct circumstance *ret);

#endif
