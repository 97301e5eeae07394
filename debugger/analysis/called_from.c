// SPDX-License-Identifier: GPL-3.0-or-later
/* For whom the kernel's own code worked when something went wrong in it. */
#include "debugger/analysis/analysis.h"
#include "debugger/kernel/module.h"
#include <stdio.h>
#include <string.h>

static struct error *is_of_outside(struct target *target, const char *name, bool *ret)
{
	const struct module *modules;
	size_t count = target_modules(target, &modules);
	*ret = false;
	for (size_t i = 0; i < count; i++) {
		struct module_facts facts = { .taints = 0 };
		if (strcmp(modules[i].name, name) != 0)
			continue;
		TRY(error_only_fatal(module_facts_read(target, &modules[i], &facts)));
		*ret = facts.taints >> TAINT_OUT_OF_TREE & 1;
	}
	return NULL;
}

struct error *analysis_find_module(const struct analysis *analysis, size_t first, size_t *ret)
{
	const struct stack_trace *trace = &analysis->trace;
	*ret = trace->count;
	if (analysis->blamed < trace->count && trace->frames[analysis->blamed].symbol.module)
		return NULL;
	for (size_t i = first; i < trace->count; i++) {
		const struct frame *frame = &trace->frames[i];
		bool is_of_other = i > first && frame->kind == FRAME_EXCEPTION;
		bool is_outside;
		if (is_of_other || frame->kind == FRAME_USER || frame->kind == FRAME_SCAN ||
		    frame->is_unproved || !frame->has_symbol)
			return NULL;
		if (!frame->symbol.module)
			continue;
		TRY(is_of_outside(analysis->target, frame->symbol.module, &is_outside));
		if (is_outside && i > first)
			*ret = i;
		return NULL;
	}
	return NULL;
}

struct error *analysis_put_module(const struct analysis *analysis, size_t first, char *buffer,
				  size_t size)
{
	char place[SYMBOL_NAME_SIZE + 96];
	size_t frame;
	*buffer = 0;
	TRY(analysis_find_module(analysis, first, &frame));
	if (frame == analysis->trace.count)
		return NULL;
	analysis_place(analysis, frame, place, sizeof(place));
	snprintf(buffer, size, ", called from %s", place);
	return NULL;
}
