/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sources of evidence; a new one is a file and a line in sources[]. */
#ifndef DEBUGGER_INFER_EVIDENCE_SOURCES_H
#define DEBUGGER_INFER_EVIDENCE_SOURCES_H

#include "debugger/infer/known/knowledge.h"

struct source {
	const char *name;
	source_collect *collect;
};
extern const struct source sources[];
extern const size_t source_count;

#endif
