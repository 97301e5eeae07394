/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What bt, stacks and frame write for one stack frame. */
#ifndef DEBUGGER_SHOW_FRAMES_H
#define DEBUGGER_SHOW_FRAMES_H

#include "debugger/arguments/arguments.h"
#include "debugger/session.h"
#include "debugger/unwind/unwind.h"

/*
 * An object: the registers that an exception saved above it, the frame, its source line below.
 * `arguments`: of its function, NULL: not asked for.
 */
void frame_write(struct session *session, const struct frame *frame, size_t number,
		 const struct frame_arguments *arguments);
/*
 * The same of a stack that several tasks have: without what differs between them. `arguments`: as
 * far as they are equal, the others unknown.
 */
void frame_write_short(struct session *session, const struct frame *frame, size_t number,
		       const struct frame_arguments *arguments);
/*
 * A frame as cells of a row that is open, the same ones for each frame: a table has no place for
 * frames within a task. NULL: empty ones, of a stack that has no frames.
 */
void frame_write_cells(struct session *session, const struct frame *frame, size_t number,
		       const struct frame_arguments *arguments);

#endif
