// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/analysis/signature.h"

#include "debugger/analysis/stack_words.h"
#include <stdio.h>
#include <string.h>

#define SIGNATURE_VERSION 1
#define FRAMES_MAX	  4

void signature_make(const struct analysis *analysis, char ret[SIGNATURE_SIZE])
{
	char stem[SYMBOL_NAME_SIZE], last[SYMBOL_NAME_SIZE] = "";
	size_t shown = 0;
	*ret = 0;
	if (!analysis->count)
		return;
	size_t used = (size_t)snprintf(ret, SIGNATURE_SIZE, "%d %s", SIGNATURE_VERSION,
				       analysis->findings[0].kind);
	for (size_t i = analysis->blamed; i < analysis->trace.count && shown < FRAMES_MAX; i++) {
		const struct frame *frame = &analysis->trace.frames[i];
		/* What was interrupted has nothing to do with what interrupted it. */
		if (i > analysis->blamed && frame->kind == FRAME_EXCEPTION)
			break;
		if (frame->is_unproved || frame->kind == FRAME_SCAN || frame_is_generic(frame))
			continue;
		frame_stem(frame, stem, sizeof(stem));
		/* A recursion is one function, however deep it went. */
		if (!strcmp(stem, last))
			continue;
		strcpy(last, stem);
		size_t length = strlen(stem);
		if (used + length + 2 > SIGNATURE_SIZE)
			break;
		used += (size_t)snprintf(ret + used, SIGNATURE_SIZE - used, "%s%s",
					 shown++ ? "/" : " ", stem);
	}
}
