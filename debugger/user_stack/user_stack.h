/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The stack of a task in user mode: from the registers with which it entered the kernel, by the
 * call frame information of what it has mapped, else by frame pointers.
 */
#ifndef DEBUGGER_USER_STACK_USER_STACK_H
#define DEBUGGER_USER_STACK_USER_STACK_H

#include "debugger/kernel/task.h"
#include "debugger/kernel/user_space.h"

/* How a frame was found. */
enum user_frame_kind {
	USER_FRAME_REGISTERS, /* where it entered the kernel, or was when the machine died */
	USER_FRAME_CFI,	      /* by a rule of the frame above: as good as that program's compiler */
	USER_FRAME_SIGNAL,    /* the same; a signal came upon it, and all registers are known */
	USER_FRAME_POINTER    /* followed rbp to behind a call: not proved */
};
/* "registers", "cfi", "signal", "fp" as JSON's "kind" has it. */
const char *user_frame_kind_name(enum user_frame_kind kind);

struct user_frame {
	enum user_frame_kind kind;
	uint64_t pc, sp;
	bool pc_is_exact; /* not a return address */
	char *symbol;	  /* NULL: not known; bytes of the dump */
	uint64_t offset;  /* from the symbol's start */
	char *path;	  /* of the mapped file; NULL: none */
	uint64_t place;	  /* in the file */
};

struct user_stack {
	struct user_frame *frames;
	size_t count, capacity;
	struct error *end; /* why it ended before the outermost frame; NULL: whole */
};

/*
 * Of a task. Errors: it has no memory of its own, or its registers of user mode are not known.
 * Caller deinits *ret.
 */
struct error *user_stack_read(struct target *target, const struct task *task,
			      struct user_stack *ret) MUST_CHECK;
void user_stack_deinit(struct user_stack *stack);

#endif
