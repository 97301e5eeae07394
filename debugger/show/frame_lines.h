/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What `bt -l` says of the source around a frame's place. */
#ifndef DEBUGGER_SHOW_FRAME_LINES_H
#define DEBUGGER_SHOW_FRAME_LINES_H

#include "debugger/session.h"
#include "debugger/unwind/unwind.h"

/* A member of the frame's object, and in text a line below it; nothing without session->lines. */
void frame_write_lines(struct session *session, const struct frame *frame);

#endif
