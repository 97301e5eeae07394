/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What bt, stacks and frame write for one stack frame. */
#ifndef CMDS_FRAMES_H
#define CMDS_FRAMES_H

#include "debugger/arguments/arguments.h"
#include "debugger/session.h"
#include "debugger/unwind/unwind.h"

/*
 * An object: the registers that an exception saved above it, the frame, its source line below.
 * `arguments`: of its function, NULL: not asked for.
 */
void frame_write(struct session *session, const struct frame *frame, size_t number,
		 const struct frame_arguments *arguments);
/* The same of a stack that several tasks have: without what differs between them. */
void frame_write_short(struct session *session, const struct frame *frame, size_t number);

#endif
