// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/analysis/fault.h"

#include <inttypes.h>
#include <stdio.h>

void fault_spell_function(const struct frame *frame, char *buffer, size_t size)
{
	if (frame->has_symbol && frame->symbol.module)
		snprintf(buffer, size, "%s() [%s]", frame->symbol.name, frame->symbol.module);
	else if (frame->has_symbol)
		snprintf(buffer, size, "%s()", frame->symbol.name);
	else
		snprintf(buffer, size, "code at 0x%" PRIx64, frame->pc);
}

bool fault_writes(const struct fault *fault)
{
	return fault->has_error_code && fault->is_page_fault ? fault->error_code & FAULT_WRITE
							     : fault->access->is_write;
}

bool fault_is_error_known(const struct fault *fault)
{
	return fault->source.is_known && !fault->source.origin.offset;
}

bool fault_may_be_number(const struct fault *fault)
{
	return fault->bad.kind == BAD_NULL && fault->pointer && !fault->source.is_known &&
	       fault->access && fault->access->has_base && fault->access->displacement;
}

/* What the pointer is that the access starts from: "NULL", "LIST_POISON1", "0x... (no address...)".
 */
static struct error *spell_pointer(const struct fault *fault, char *buffer, size_t size)
{
	const struct access *access = fault->access;
	struct bad_address pointer = fault->bad;
	uint64_t value = access->has_base ? access->base_value : access->address;
	if (fault->bad.kind == BAD_MISALIGNED)
		pointer = (struct bad_address){ .kind = BAD_NOTHING };
	else if (access->has_base && fault->bad.kind != BAD_SMALL)
		TRY(bad_address_look_up(fault->analysis->target, &fault->analysis->task, value,
					&pointer));
	/* What is added can make a bad address of a good one, an index for instance. */
	if (pointer.kind == BAD_NOTHING && fault->bad.kind != BAD_MISALIGNED)
		pointer = fault->bad;
	bool tells_all = pointer.kind == BAD_NULL || pointer.kind == BAD_ERROR ||
			 pointer.kind == BAD_LIST_POISON || pointer.kind == BAD_FREE_POISON;
	/* NULL in the place of a list's next entry, less where that lies in its object, is as
	 * small. */
	if (pointer.kind == BAD_ERROR && !fault_is_error_known(fault))
		snprintf(buffer, size, "0x%" PRIx64 " (NULL - 0x%" PRIx64 ", or %s)", value, -value,
			 pointer.text);
	else if (pointer.kind == BAD_NULL && fault_may_be_number(fault))
		snprintf(buffer, size, "0x%" PRIx64 " (%s, or a small number)", value,
			 pointer.text);
	else if (tells_all)
		snprintf(buffer, size, "%s", pointer.text);
	else
		snprintf(buffer, size, "0x%" PRIx64 "%s%s%s", value, *pointer.text ? " (" : "",
			 pointer.text, *pointer.text ? ")" : "");
	return NULL;
}

void fault_spell_callee(const struct fault *fault, char *buffer, size_t size)
{
	uint64_t callee = fault->source.origin.callee;
	if (!callee || !target_describe(fault->analysis->target, callee, buffer, size))
		snprintf(buffer, size, "a function");
}

static void spell_result(const struct fault *fault, char *buffer, size_t size)
{
	char callee[FAULT_TEXT], added[48] = "";
	int64_t offset = fault->source.origin.offset;
	fault_spell_callee(fault, callee, sizeof(callee));
	if (offset > 0)
		snprintf(added, sizeof(added), ", and 0x%" PRIx64 " was added", (uint64_t)offset);
	else if (offset < 0)
		snprintf(added, sizeof(added), ", and 0x%" PRIx64 " was taken off",
			 -(uint64_t)offset);
	snprintf(buffer, size, ": %s returned it%s", callee, added);
}

void fault_spell_source(const struct fault *fault, const char *pointer, char *buffer, size_t size)
{
	const struct pointer_source *source = &fault->source;
	const struct frame *frame = &fault->analysis->trace.frames[source->frame];
	const struct named_member *member = &source->member;
	char name[FAULT_TEXT];
	*buffer = 0;
	if (!source->is_known)
		return;
	if (source->origin.is_constant)
		snprintf(buffer, size, ": %s() made it so", frame->symbol.name);
	else if (source->origin.is_result)
		spell_result(fault, buffer, size);
	else if (source->origin.argument)
		snprintf(buffer, size, ": argument %s of %s()", source->origin.argument,
			 frame->symbol.name);
	else if (!source->origin.is_loaded || source->origin.offset)
		return;
	else if (*member->path && source->origin.has_place)
		snprintf(buffer, size, ": %s of %s %s%s at 0x%" PRIx64 " was %s", member->path,
			 fault->is_misplaced ? "what was taken for a" : "the", member->type,
			 fault->is_by_cache ? " (by its slab cache)" : "",
			 source->origin.place - member->offset, pointer);
	else if (*member->path)
		snprintf(buffer, size, ": %s of a %s was %s", member->path, member->type, pointer);
	else if (source->origin.has_place &&
		 target_describe(fault->analysis->target, source->origin.place, name, sizeof(name)))
		snprintf(buffer, size, ": the pointer at 0x%" PRIx64 ", %s, was %s",
			 source->origin.place, name, pointer);
	else if (source->origin.has_place)
		snprintf(buffer, size, ": the pointer at 0x%" PRIx64 " was %s",
			 source->origin.place, pointer);
}

/* ", lab_null_ops+0x10 [faults], which is read-only". */
static void spell_place(const struct fault *fault, char *buffer, size_t size)
{
	const struct fault_place *place = &fault->place;
	if (fault->bad.kind == BAD_MISALIGNED) {
		snprintf(buffer, size, ", %s", fault->bad.text);
		return;
	}
	snprintf(buffer, size, "%s%s%s", *place->text ? ", " : "", place->text,
		 place->kind == PLACE_READ_ONLY ? ", which is read-only" : "");
}

struct error *fault_summarize(const struct fault *fault, const char *words, struct finding *finding)
{
	char function[FAULT_TEXT], pointer[192], origin[2 * FAULT_TEXT], place[3 * FAULT_TEXT + 64];
	struct named_member member;
	fault_spell_function(fault->frame, function, sizeof(function));
	if (!fault->access)
		return finding_summarize(finding, "%s in %s%s%s", words, function,
					 *fault->bad.text ? ": " : "", fault->bad.text);
	TRY(spell_pointer(fault, pointer, sizeof(pointer)));
	fault_spell_source(fault, pointer, origin, sizeof(origin));
	if (fault->access->is_stack)
		return finding_summarize(finding, "%s %s 0x%" PRIx64 ", which cannot be a stack",
					 function,
					 fault_writes(fault) ? "pushed to" : "popped from",
					 fault->access->address);
	spell_place(fault, place, sizeof(place));
	const char *verb = fault->accesses.calls ? "wanted to call"
			   : fault_writes(fault) ? "wrote"
						 : "read";
	uint64_t offset = fault->frame->pc - fault->frame->symbol.address;
	if (fault->frame->has_symbol && named_member_find(&fault->members, offset, &member))
		return finding_summarize(finding, "%s %s %s of a %s through %s%s%s", function, verb,
					 member.path, member.type, pointer, place, origin);
	/* What was followed and what was accessed may be one, and a number. */
	bool is_same = fault->access->has_base && !fault->access->displacement &&
		       (fault->bad.kind == BAD_NOTHING || fault->bad.kind == BAD_MISALIGNED);
	return finding_summarize(finding, "%s %s 0x%" PRIx64 "%s%s%s%s", function,
				 fault->accesses.calls ? "wanted to call what is at"
				 : fault_writes(fault) ? "wrote to"
						       : "read from",
				 fault->access->address, is_same ? "" : " through ",
				 is_same ? "" : pointer, place, origin);
}
