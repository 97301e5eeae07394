/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Stack frames: from registers or from a sleeping task, to user mode or the end of the stack.
 * KERNEL-FORMATS section 5.
 */
#ifndef DEBUGGER_UNWIND_UNWIND_H
#define DEBUGGER_UNWIND_UNWIND_H

#include "debugger/kernel/task.h"
#include "debugger/target/target.h"

/* How the frame was found. */
enum frame_kind {
	FRAME_REGISTERS, /* the start: registers of a note, or where a task sleeps */
	FRAME_SEARCH,	 /* the start, found by a search of the stack */
	FRAME_ORC,
	FRAME_EXCEPTION, /* interrupted by an exception: all registers are known, from pt_regs */
	FRAME_CALL_SCAN, /* a return address whose call leads to the function above: verified */
	FRAME_BPF,	 /* called by JITed BPF code, which keeps rbp: as good as a rule */
	FRAME_POINTER,	 /* rbp chain: not proved */
	FRAME_SCAN,	 /* a text address on the stack: a guess */
	FRAME_USER	 /* user mode: the end */
};
/* "registers", "search", "orc", "exception", "call", "bpf", "fp", "scan", "user" as JSON's "kind"
 * has it. */
const char *frame_kind_name(enum frame_kind kind);

enum stack_kind { STACK_UNKNOWN, STACK_TASK, STACK_IRQ, STACK_EXCEPTION, STACK_ENTRY };

struct frame {
	enum frame_kind kind;
	enum stack_kind stack;
	uint64_t pc, sp;
	bool pc_is_exact; /* not a return address: look up pc, not pc - 1 */
	bool is_unproved; /* it rests on where a search began: the call may have returned */
	struct registers registers; /* as far as they are known in this frame */
	bool leaves_stack;	    /* the frame before is on another one, this one on the task's */
	bool has_symbol;
	uint64_t offset; /* pc - symbol.address */
	struct symbol symbol;
	char stack_name[16]; /* "", "IRQ", "NMI", "#DF", ... when it differs from the frame before
			      */
};

/* Where a stack was followed from. */
enum trace_start {
	START_REGISTERS, /* of the CPU, or given */
	START_SWITCH,	 /* where the scheduler left the task */
	START_SEARCH	 /* neither is known: found by looking at the stack */
};
/* "registers", "switch", "search" as JSON's "start" has it. */
const char *trace_start_name(enum trace_start start);

struct stack_trace {
	struct frame *frames;
	size_t count, capacity;
	struct error *end; /* why it ended before user mode or the end of the stack; NULL: whole */
	enum trace_start start;
	const char *registers_from; /* of the CPU's registers: see struct cpu; NULL: others */
	/* For stacks that were searched for: */
	bool cpu_is_silent; /* why there are no registers: see struct cpu */
	size_t unproved;    /* so many frames, the first ones, may be of calls that have returned */
	const char *proof;  /* what makes the others sure: a function that never returns */
	bool may_be_user;   /* it may have run in user mode: then nothing here is of now */
	bool is_moving;	    /* of a running machine: the task runs or ran meanwhile; no frames */
	struct stamp {	    /* of a running machine: equal later means that it slept all the time */
		uint64_t switches, sp;
		bool runs;
	} stamp;
};

/*
 * The stack of a task: of its CPU's registers when it is running, else from where it sleeps.
 * Without registers it is searched for, and the trace says so.
 */
struct error *unwind_task(struct target *target, const struct task *task,
			  struct stack_trace *ret) MUST_CHECK;
/* From given registers (of exact pc). */
struct error *unwind_registers(struct target *target, const struct registers *registers,
			       const struct task *task, struct stack_trace *ret) MUST_CHECK;
/* False: the task of a running machine has run since, what was read of its stack may be anything.
 */
bool unwind_holds(struct target *target, const struct task *task, const struct stack_trace *trace);
void stack_trace_deinit(struct stack_trace *trace);

#endif
