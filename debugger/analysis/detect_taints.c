// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * How the kernel is tainted, and by which modules: those on the stack come first. It is said once,
 * behind all else that is known of the cause.
 */
#include "debugger/analysis/analysis.h"
#include "debugger/kernel/module.h"
#include <stdio.h>
#include <string.h>

#define TEXT	      512
#define MODULES_SHOWN 4
/* More bits of tainted_mask, that a module sets, and whatever loads one. */
#define TAINT_UNSIGNED	 13
#define TAINT_OF_MODULES ((UINT64_C(1) << TAINT_OUT_OF_TREE) | (UINT64_C(1) << TAINT_UNSIGNED))
#define TAINT_WARNED	 9

struct tainters {
	uint64_t taints; /* of all modules that are loaded */
	size_t count, on_stack;
	char names[TEXT]; /* "faults (OE, on the stack), stuck (OE)" */
};

static struct error *read_taints(struct target *target, uint64_t *ret)
{
	struct object variable;
	TRY(object_variable(target, "tainted_mask", "unsigned long", &variable));
	return object_u64(&variable, NULL, ret);
}

static bool is_on_stack(const struct analysis *analysis, const char *module)
{
	for (size_t i = 0; i < analysis->trace.count; i++) {
		const struct frame *frame = &analysis->trace.frames[i];
		if (frame->has_symbol && frame->symbol.module && !frame->is_unproved &&
		    !strcmp(frame->symbol.module, module))
			return true;
	}
	return false;
}

/* Those on the stack whatever they taint it with, or all others that are not of the kernel's tree.
 */
static struct error *find_tainters(const struct analysis *analysis, bool on_stack,
				   struct tainters *ret)
{
	const struct module *modules;
	size_t count = target_modules(analysis->target, &modules);
	for (size_t i = 0; i < count; i++) {
		struct module_facts facts = { .taints = 0 };
		size_t used = strlen(ret->names);
		TRY(error_only_fatal(module_facts_read(analysis->target, &modules[i], &facts)));
		ret->taints |= facts.taints;
		if (!(facts.taints & (on_stack ? UINT64_MAX : TAINT_OF_MODULES)) ||
		    is_on_stack(analysis, modules[i].name) != on_stack)
			continue;
		ret->on_stack += on_stack;
		if (ret->count++ < MODULES_SHOWN)
			snprintf(ret->names + used, sizeof(ret->names) - used, "%s%s (%s%s)",
				 used ? ", " : "", modules[i].name, facts.letters,
				 on_stack ? ", on the stack" : "");
	}
	return NULL;
}

static struct error *say_taints(struct analysis *analysis)
{
	struct target *target = analysis->target;
	struct finding *finding = &analysis->findings[0];
	struct tainters tainters = { .names = "" };
	uint64_t taints;
	char letters[TAINT_LETTERS_SIZE], gone[TAINT_LETTERS_SIZE], more[40] = "";
	TRY(read_taints(target, &taints));
	if (!taints)
		return NULL;
	TRY(taint_letters(target, taints, letters));
	TRY(find_tainters(analysis, true, &tainters));
	/* Who asked for the end has no part in it. */
	if (!strcmp(finding->kind, "sysrq") && !tainters.on_stack)
		return NULL;
	TRY(find_tainters(analysis, false, &tainters));
	if (tainters.count > MODULES_SHOWN)
		snprintf(more, sizeof(more), " and %zu more", tainters.count - MODULES_SHOWN);
	TRY(finding_add(finding, tainters.count ? "mod" : "print -x tainted_mask",
			"the kernel is tainted (%s)%s%s%s%s", letters,
			tainters.count ? ", by the module" : "",
			tainters.count > 1    ? "s "
			: tainters.count == 1 ? " "
					      : "",
			tainters.names, more));
	if (taints & ~tainters.taints & TAINT_OF_MODULES) {
		TRY(taint_letters(target, taints & ~tainters.taints & TAINT_OF_MODULES, gone));
		TRY(finding_add(finding, "mod", "a module that tainted it (%s) is no longer loaded",
				gone));
	}
	if (taints >> TAINT_WARNED & 1 && !analysis->has_warning &&
	    strcmp(finding->kind, "warning") != 0)
		TRY(finding_add(finding, "log", "the kernel had warned before (W)"));
	return NULL;
}

struct error *detect_taints(struct analysis *analysis)
{
	if (analysis->is_asked || !analysis->count)
		return NULL;
	return error_only_fatal(say_taints(analysis));
}
