/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What bt, stacks and frame write for one stack frame. */
#ifndef CMDS_FRAMES_H
#define CMDS_FRAMES_H

#include "debugger/session.h"
#include "debugger/unwind/unwind.h"

/* An object: the registers that an exception saved above it, the frame, its source line below. */
void frame_write(struct session *session, const struct frame *frame, size_t number);

#endif
