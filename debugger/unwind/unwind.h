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
	FRAME_ORC,
	FRAME_EXCEPTION, /* interrupted by an exception: all registers are known, from pt_regs */
	FRAME_CALL_SCAN, /* a return address whose call leads to the function above: verified */
	FRAME_BPF,	 /* called by JITed BPF code, which keeps rbp: as good as a rule */
	FRAME_POINTER,	 /* rbp chain: not proved */
	FRAME_SCAN,	 /* a text address on the stack: a guess */
	FRAME_USER	 /* user mode: the end */
};
/* "registers", "orc", "exception", "call", "bpf", "fp", "scan", "user" as JSON's "kind" has it. */
const char *frame_kind_name(enum frame_kind kind);

enum stack_kind { STACK_UNKNOWN, STACK_TASK, STACK_IRQ, STACK_EXCEPTION, STACK_ENTRY };

struct frame {
	enum frame_kind kind;
	enum stack_kind stack;
	uint64_t pc, sp;
	bool pc_is_exact;	    /* not a return address: look up pc, not pc - 1 */
	struct registers registers; /* as far as they are known in this frame */
	bool leaves_stack;	    /* the frame before is on another one, this one on the task's */
	bool has_symbol;
	uint64_t offset; /* pc - symbol.address */
	struct symbol symbol;
	char stack_name[16]; /* "", "IRQ", "NMI", "#DF", ... when it differs from the frame before
			      */
};

struct stack_trace {
	struct frame *frames;
	size_t count, capacity;
	struct error *end; /* why it ended before user mode or the end of the stack; NULL: whole */
	bool is_stale;	   /* a running CPU without registers: what thread.sp left behind */
};

/* The stack of a task: of its CPU's registers when it is running, else from where it sleeps. */
struct error *unwind_task(struct target *target, const struct task *task,
			  struct stack_trace *ret) MUST_CHECK;
/* From given registers (of exact pc). */
struct error *unwind_registers(struct target *target, const struct registers *registers,
			       const struct task *task, struct stack_trace *ret) MUST_CHECK;
void stack_trace_deinit(struct stack_trace *trace);

#endif
