// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Whose the memory is that a bad pointer was read from. Where code of the kernel itself came upon
 * it, the stack need not have anybody who wrote there: a list, a tree of timers, a queue is walked
 * for all who are on it.
 */
#include "debugger/analysis/byte_run.h"
#include "debugger/analysis/fault.h"
#include "debugger/analysis/object_owner.h"
#include "debugger/analysis/stack_words.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct error *fault_append(struct finding *finding, const char *words)
{
	return finding_summarize(finding, "%s; %s", finding->summary, words);
}

struct error *fault_add_owner(struct target *target, const struct object_note *note,
			      const char *what, struct finding *finding, struct fault_owner *ret)
{
	struct object_owner owner;
	char command[64];
	TRY(object_owner_of(target, note, &owner));
	object_owner_spell(&owner, what, ret->words, sizeof(ret->words));
	snprintf(ret->module, sizeof(ret->module), "%s", owner.module);
	snprintf(ret->variable, sizeof(ret->variable), "%.*s", (int)strcspn(owner.name, "+ "),
		 owner.name);
	snprintf(command, sizeof(command), "rd 0x%" PRIx64, owner.place);
	return *ret->words ? finding_add(finding, command, "%s", ret->words) : NULL;
}

struct error *fault_show_run(struct target *target, uint64_t place,
			     const struct object_note *object, struct finding *finding,
			     struct fault_owner *ret)
{
	struct byte_run run;
	struct object_note note;
	char command[64], words[256];
	*ret = (struct fault_owner){ .words = "" };
	byte_run_find(target->memory, place, &run);
	if (!run.size)
		return NULL;
	snprintf(command, sizeof(command),
		 *run.text ? "rd -a 0x%" PRIx64 " %" PRIu64 : "rd -8 0x%" PRIx64 " %" PRIu64,
		 run.start, run.size);
	byte_run_spell(&run, words, sizeof(words));
	TRY(finding_add(finding, command, "%s", words));
	if (*run.text)
		TRY(fault_append(finding, words));
	if (!object || run.start >= object->object)
		return NULL;
	TRY(object_note_find(target, run.start, &note));
	if (!note.is_slab || !note.object || run.start == note.object + note.size)
		return NULL;
	snprintf(command, sizeof(command), "whattype 0x%" PRIx64, run.start);
	TRY(finding_add(finding, command,
			"they begin before that object, 0x%" PRIx64 " bytes into %s at 0x%" PRIx64,
			run.start - note.object, note.text, note.object));
	return fault_add_owner(target, &note, "the object where these bytes begin", finding, ret);
}

struct error *fault_show_owner(struct fault *fault, struct finding *finding)
{
	const struct stack_trace *trace = &fault->analysis->trace;
	size_t blamed = fault->analysis->blamed;
	struct fault_owner owner = { .words = "" };
	if (!fault->object.is_slab || !fault->object.object)
		return NULL;
	TRY(fault_show_run(fault->analysis->target, fault->object_place, &fault->object, finding,
			   &owner));
	bool is_of_module = blamed < trace->count && trace->frames[blamed].has_symbol &&
			    trace->frames[blamed].symbol.module;
	if (!*owner.words && !is_of_module)
		TRY(fault_add_owner(fault->analysis->target, &fault->object, "that object", finding,
				    &owner));
	if (!*owner.words)
		return NULL;
	if (!is_of_module)
		snprintf(fault->owner, sizeof(fault->owner), "%s", owner.module);
	return fault_append(finding, owner.words);
}
