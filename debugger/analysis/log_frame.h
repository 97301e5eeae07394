/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines of stacks that the kernel logs: " lab_fill+0x2e/0x80 [faults]". */
#ifndef DEBUGGER_ANALYSIS_LOG_FRAME_H
#define DEBUGGER_ANALYSIS_LOG_FRAME_H

#include <stdbool.h>
#include <stddef.h>

/*
 * "lab_fill [faults]" of such a line. False: it is none, the kernel is not sure of it ("?"), or the
 * function is called from everywhere.
 */
bool log_frame_to_blame(const char *line, char *buffer, size_t size);
/* What stands behind a word of the line, up to one of the stops; "": the word is not there. */
void log_text_after(const char *line, const char *word, const char *stops, char *buffer,
		    size_t size);

#endif
