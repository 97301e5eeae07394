// SPDX-License-Identifier: GPL-3.0-or-later
/* A fault as facts, for programs that read the answer. */
#include "debugger/analysis/fault.h"

#include <inttypes.h>
#include <stdio.h>

static struct error *note_instruction(const struct fault *fault, struct finding *finding)
{
	struct instruction instruction;
	struct error *error = fault_read_instruction(fault, &instruction);
	if (error)
		return error_only_fatal(error);
	finding->instruction_address = fault->frame->pc;
	int length = asprintf(&finding->instruction, "%s%s%s", instruction.mnemonic,
			      *instruction.operands ? " " : "", instruction.operands);
	if (length >= 0)
		return NULL;
	finding->instruction = NULL;
	return error_no_memory();
}

static void note_access(const struct fault *fault, struct finding *finding)
{
	const struct access *access = fault->access;
	if (!access) {
		/* The code itself could not be read: a jump to where none is. */
		if (!finding->instruction && fault->is_page_fault)
			finding->access = (struct finding_access){ .kind = "fetch",
								   .address = fault->frame->pc };
		return;
	}
	finding->access = (struct finding_access){
		.kind = fault->accesses.calls ? "call"
			: fault_writes(fault) ? "write"
					      : "read",
		.address = access->address,
		.size = access->size,
	};
	if (!access->has_base)
		return;
	finding->access.base = fault->analysis->target->arch->register_names[access->base];
	finding->access.base_value = access->base_value;
	finding->access.displacement = access->displacement;
}

/* The member's struct, or, where that is not known, the slab's object or the place itself. */
static void note_object(const struct fault *fault, struct finding *finding)
{
	const struct pointer_source *source = &fault->source;
	struct finding_object *object = &finding->object;
	if (!source->is_known || !source->origin.is_loaded || !source->origin.has_place)
		return;
	object->address = source->origin.place;
	if (*source->member.path)
		object->address -= source->member.offset;
	else if (source->note.object)
		object->address = source->note.object;
	snprintf(object->type, sizeof(object->type), "%s", source->member.type);
	snprintf(object->member, sizeof(object->member), "%s", source->member.path);
	snprintf(object->note, sizeof(object->note), "%s", source->note.text);
}

struct error *fault_note(const struct fault *fault, struct finding *finding)
{
	/* Bytes that were called and are no code have no meaning as an instruction. */
	if (fault->place.kind != PLACE_NO_CODE && !fault->midway)
		TRY(error_only_fatal(note_instruction(fault, finding)));
	note_access(fault, finding);
	note_object(fault, finding);
	return NULL;
}
