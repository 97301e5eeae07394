/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Why it died. A detector is a file and a line in the array of analysis.c: it looks at what was
 * prepared here and says what it found, or nothing. Two that find different things are both shown,
 * in the order of the array. None knows a kernel's version or a function's address.
 */
#ifndef DEBUGGER_ANALYSIS_ANALYSIS_H
#define DEBUGGER_ANALYSIS_ANALYSIS_H

#include "debugger/analysis/finding.h"
#include "debugger/analysis/waits.h"
#include "debugger/arguments/arguments.h"
#include "debugger/kernel/summary.h"

#define SIGNATURE_SIZE 512
#define UNREAD_MAX     8

struct analysis {
	struct target *target;
	char panic[256]; /* the message, "" none */
	bool is_asked;	 /* of one task, and not of the machine */
	bool panicked;	 /* a CPU says that it panicked */
	bool has_task;
	struct task task;		   /* that panicked, or that was asked about */
	bool is_other;			   /* it did not panic itself: analysis_look_at_cpu() */
	struct stack_trace trace;	   /* of it */
	struct frame_arguments *arguments; /* of the frames, NULL: not known */

	bool has_warning; /* the log has one: detect_log() */

	struct finding *findings;
	size_t count, capacity;
	/* Sentences on what was not to be read: a detector's silence may come from that. */
	struct error *unread[UNREAD_MAX];
	size_t unread_count;
	size_t blamed; /* frame of the trace that a reader should look at; trace.count: none */
	/* The finding that the signature is of: whoever asks for a dump does so of what hangs. */
	size_t signed_of;
	size_t hang; /* the finding of who holds most up; 0: none, or it is the cause */
	char signature[SIGNATURE_SIZE];
};

/*
 * Of a task, NULL: the one that panicked. Errors are fatal ones only; what cannot be read is not
 * found. Deinit in any case.
 */
struct error *analysis_run(struct target *target, const struct task *task,
			   struct analysis *ret) MUST_CHECK;
void analysis_deinit(struct analysis *analysis);

/* Fills in `unread`. Takes `no_task`: why there is no task to look at, NULL: there is one. */
struct error *analysis_find_unread(struct analysis *analysis, struct error *no_task) MUST_CHECK;
/* The words for no finding: who could not look has not found that there is nothing. */
const char *analysis_nothing_found(const struct analysis *analysis);

/*
 * Keeps why something that an analysis would have looked at could not be. Takes `error`; fatal ones
 * are given back. `what` goes before its words, NULL: nothing.
 */
struct error *analysis_note_unread(struct analysis *analysis, struct error *error,
				   const char *what) MUST_CHECK;

/* For detectors. */

/* A new finding, empty; NULL without memory. */
struct finding *analysis_add(struct analysis *analysis, const char *kind, enum confidence sure);
/* The same in a place, 0 that of the cause: those from there on move. */
struct finding *analysis_add_at(struct analysis *analysis, size_t at, const char *kind,
				enum confidence sure);
/* To blame is the first frame of the stack that is not called from everywhere. */
void analysis_blame_first(struct analysis *analysis);
/* The same of a task that others wait for: interrupts on top of it are none of its doing. */
void analysis_blame_task(struct analysis *analysis);
/*
 * What ran on a CPU takes the place of the task, its stack and its arguments: it is to blame, and
 * not the one that found out. Without a task where that cannot be read.
 */
struct error *analysis_look_at_cpu(struct analysis *analysis, uint32_t cpu) MUST_CHECK;
/* The same of a task that need not run. */
struct error *analysis_look_at_task(struct analysis *analysis, uint64_t address) MUST_CHECK;
/* The argument of a frame by its name, where it is proved. */
bool analysis_argument(const struct analysis *analysis, size_t frame, const char *name,
		       uint64_t *ret);
/* "function+0x12 [module]" of a frame. */
void analysis_place(const struct analysis *analysis, size_t frame, char *buffer, size_t size);

/*
 * The same of one that called what is on the stack above it. Where its call leads elsewhere, that
 * function jumped on: "lab_write+0xbc [faults], by way of lab_close [faults]".
 */
void analysis_put_caller(const struct analysis *analysis, size_t frame, char *buffer, size_t size);

/*
 * The first function of a module that is not of the kernel's tree, from frame `first` outwards to
 * where an exception came upon it, if the one to blame is the kernel's own. *ret: number of its
 * frame, of all if there is none. Errors are fatal ones.
 */
struct error *analysis_find_module(const struct analysis *analysis, size_t first,
				   size_t *ret) MUST_CHECK;
/* ", called from brick_done+0x75 [brick]": that one; "": there is none. */
struct error *analysis_put_module(const struct analysis *analysis, size_t first, char *buffer,
				  size_t size) MUST_CHECK;

/* `pid 42 "name"`; without its task_struct, where that is: nothing else is known of it. */
void analysis_put_task(const struct task *task, char *buffer, size_t size);

struct detector {
	const char *name;
	struct error *(*run)(struct analysis *analysis);
};
struct error *detect_fault(struct analysis *analysis) MUST_CHECK;     /* exceptions, BUG, WARN */
struct error *detect_overflow(struct analysis *analysis) MUST_CHECK;  /* of the stack */
struct error *detect_checks(struct analysis *analysis) MUST_CHECK;    /* the kernel's own */
struct error *detect_panic(struct analysis *analysis) MUST_CHECK;     /* panic() itself */
struct error *detect_memory(struct analysis *analysis) MUST_CHECK;    /* that ran out, or leaks */
struct error *detect_cpus(struct analysis *analysis) MUST_CHECK;      /* that others wait for */
struct error *detect_storms(struct analysis *analysis) MUST_CHECK;    /* of interrupts */
struct error *detect_throttled(struct analysis *analysis) MUST_CHECK; /* by a cgroup's quota */
struct error *detect_disks(struct analysis *analysis) MUST_CHECK;     /* that do not answer */
struct error *detect_netdevs(struct analysis *analysis) MUST_CHECK;   /* that send nothing */
struct error *detect_words(struct analysis *analysis) MUST_CHECK;     /* more of some causes */
struct error *detect_log(struct analysis *analysis) MUST_CHECK;	      /* what was said before */
struct error *detect_taints(struct analysis *analysis) MUST_CHECK;    /* whose modules there are */
/* Of one task, what it waits for. */
struct error *detect_wait(struct analysis *analysis, const struct waits *waits) MUST_CHECK;

#endif
