// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/analysis/fault.h"

#include "base/array.h"
#include "debugger/analysis/broken_list.h"
#include "debugger/analysis/stack_words.h"
#include "debugger/kernel/worker.h"
#include <inttypes.h>
#include <stdio.h>

static struct error *show_instruction(struct fault *fault, struct finding *finding)
{
	char command[64], name[FAULT_TEXT];
	analysis_place(fault->analysis, fault->at, name, sizeof(name));
	snprintf(command, sizeof(command), "dis -r 0x%" PRIx64, fault->frame->pc);
	if (!finding->instruction)
		return finding_add(finding, NULL, "at %s there is no code that the dump has", name);
	return finding_add(finding, command, "the instruction at %s: %s", name,
			   finding->instruction);
}

static struct error *show_access(struct fault *fault, struct finding *finding)
{
	const struct access *access = fault->access;
	char command[64];
	if (!access)
		return NULL;
	snprintf(command, sizeof(command), "bt");
	if (!access->has_base)
		return finding_add(finding, command, "it accesses 0x%" PRIx64, access->address);
	const char *said = fault->has_address && fault_is_explained(fault, access)
				   ? ", as the processor said"
				   : "";
	if (!access->displacement)
		return finding_add(finding, command, "%s is 0x%" PRIx64 ": it accesses that%s",
				   fault->pointer_name, access->base_value, said);
	bool is_below = access->displacement < 0;
	return finding_add(
		finding, command,
		"%s is 0x%" PRIx64 ", and %s0x%" PRIx64 " is added: it accesses 0x%" PRIx64 "%s",
		fault->pointer_name, access->base_value, is_below ? "-" : "",
		is_below ? -(uint64_t)access->displacement : (uint64_t)access->displacement,
		access->address, said);
}

/* Whether it came from a function that returns what others stored, and no errors but that. */
static bool is_looked_up(const struct fault *fault)
{
	static const char *const names[] = { "xa_load",		  "xa_find",
					     "xa_find_after",	  "xas_load",
					     "xas_find",	  "idr_find",
					     "idr_get_next",	  "ida_find",
					     "radix_tree_lookup", "__radix_tree_lookup",
					     "dev_get_drvdata",	  "klist_next" };
	char callee[FAULT_TEXT];
	if (!fault_is_error_known(fault))
		return false;
	fault_spell_callee(fault, callee, sizeof(callee));
	for (size_t i = 0; i < ARRAY_COUNT(names); i++)
		if (!strcmp(callee, names[i]))
			return true;
	return false;
}

/* What values of that kind mean. */
static struct error *show_meaning(struct fault *fault, struct finding *finding)
{
	static const char *const meanings[] = {
		[BAD_ERROR] =
			"functions that return a pointer return such a number when they fail: "
			"nobody looked (IS_ERR)",
		[BAD_LIST_POISON] =
			"list_del() and hlist_del() leave that in an entry: it was taken "
			"out of its list and used all the same",
		[BAD_FREE_POISON] = "slab debugging fills objects with it when they are freed",
		[BAD_USER] =
			"the kernel may only follow a pointer of user space by copy_from_user() "
			"and its like",
		[BAD_GUARD] = "what lies there is never mapped: a stack that is full ends in it",
		[BAD_MISALIGNED] = "code that was compiled for aligned data was given other data",
	};
	const char *meaning = fault->bad.kind < ARRAY_COUNT(meanings) ? meanings[fault->bad.kind]
								      : NULL;
	if (fault->bad.kind == BAD_ERROR && is_looked_up(fault))
		meaning = "that function returns what somebody stored: an error, perhaps, that "
			  "whoever stored it did not look for (IS_ERR)";
	if (fault->bad.kind == BAD_ERROR && !fault_is_error_known(fault))
		meaning = "functions that fail return such a number (IS_ERR); NULL less where a "
			  "member "
			  "lies is one, too (container_of)";
	return meaning ? finding_add(finding, NULL, "%s", meaning) : NULL;
}

/*
 * One bit of it turned makes a pointer to the start of an object or of a variable, and no other bit
 * does: it may have been one. Not of NULL and its like, which are what somebody wrote.
 */
static struct error *show_flip(struct fault *fault, struct finding *finding)
{
	struct target *target = fault->analysis->target;
	struct object_note note, found = { 0 };
	struct symbol symbol;
	uint64_t offset;
	unsigned int found_bit = 0, count = 0;
	char command[64], words[sizeof(note.text) + 64];
	if (!fault->pointer_name || (fault->bad.kind != BAD_NOTHING && fault->bad.kind != BAD_LOW &&
				     fault->bad.kind != BAD_NON_CANONICAL))
		return NULL;
	/* Where modules lie there is something at every turn: most often it was a module's. */
	if (fault->pointer >= target->arch->modules_start &&
	    fault->pointer < target->arch->modules_end)
		return NULL;
	/* A pointer into something was not flipped, but used as it must not be. */
	TRY(object_note_find(target, fault->pointer, &note));
	if (*note.text)
		return NULL;
	for (unsigned int bit = 0; bit < 64; bit++) {
		uint64_t value = fault->pointer ^ UINT64_C(1) << bit;
		if (!fault_is_readable(fault, value))
			continue;
		TRY(object_note_find(target, value, &note));
		bool is_variable = target_symbol_at(target, value, &symbol, &offset) && !offset;
		if (is_variable)
			note.object = value;
		else if (!note.is_slab || note.state != SLAB_ALLOCATED || note.object != value)
			continue;
		found = note;
		found_bit = bit;
		count++;
	}
	if (count != 1)
		return NULL;
	snprintf(words, sizeof(words), "with bit %u turned it is a good pointer, to %s", found_bit,
		 found.text);
	TRY(fault_append(finding, words));
	snprintf(command, sizeof(command), "whattype 0x%" PRIx64, found.object);
	return finding_add(finding, command,
			   "with bit %u turned it is 0x%" PRIx64
			   ", %s: one bit may have been changed",
			   found_bit, found.object, found.text);
}

/* The functions that passed the pointer on, from the one that read it. */
static struct error *show_way(struct fault *fault, struct finding *finding)
{
	const struct pointer_source *source = &fault->source;
	char place[FAULT_TEXT], command[64];
	if (source->frame == fault->at)
		return NULL;
	analysis_place(fault->analysis, source->frame, place, sizeof(place));
	snprintf(command, sizeof(command), "frame %zu", source->frame);
	return finding_add(finding, command, "it was handed down by %s", place);
}

/* That an object is free from which a bad pointer was read. */
static struct error *show_freed(struct finding *finding, const struct object_note *note,
				uint64_t place)
{
	char command[64];
	if (!note->is_slab || note->state != SLAB_FREE)
		return NULL;
	finding->kind = "use-after-free";
	TRY(finding_summarize(finding, "use after free: %s, out of %s", finding->summary,
			      note->text));
	snprintf(command, sizeof(command), "whattype 0x%" PRIx64, place);
	TRY(finding_add(finding, command,
			"that object is free: it was used after it had been freed"));
	/* All of memory is looked through: that is for who wants to know. */
	snprintf(command, sizeof(command), "search -r 0x%" PRIx64 " -n 8", note->object);
	return finding_add(finding, command, "who has it still may be found by what points at it");
}

static struct error *show_misplaced(const struct fault *fault, struct finding *finding)
{
	const struct pointer_source *source = &fault->source;
	const struct object_note *note = &source->note;
	uint64_t start = source->origin.place - source->member.offset;
	char command[64];
	snprintf(command, sizeof(command), "whattype 0x%" PRIx64, start);
	if (!note->is_slab)
		return finding_add(finding, command,
				   "whether a %s is at 0x%" PRIx64 " is not known: it is in no "
				   "object of a slab cache, and in nothing else that is known",
				   source->member.type, start);
	return finding_add(finding, command,
			   "no %s is at 0x%" PRIx64 ", 0x%" PRIx64 " bytes %s the start of an "
			   "object of 0x%" PRIx64 " bytes: who handed on that address had another "
			   "one in mind (container_of), or an old one",
			   source->member.type, start,
			   start < note->object ? note->object - start : start - note->object,
			   start < note->object ? "before" : "behind", note->size);
}

/* The place that a bad pointer was read from, as it is in the dump. */
static struct error *show_load(struct fault *fault, struct finding *finding)
{
	const struct pointer_source *source = &fault->source;
	const struct origin *origin = &source->origin;
	const char *name = fault->pointer_name, *note = source->note.text;
	char command[64];
	uint64_t now;
	if (!origin->has_place)
		return finding_add(finding, NULL,
				   "the pointer was read at +0x%x of %s(), from %s%s%s", origin->at,
				   fault->analysis->trace.frames[source->frame].symbol.name,
				   *source->member.path ? source->member.path : "memory",
				   *source->member.path ? " of a " : "", source->member.type);
	struct error *error =
		memory_read_word(fault->analysis->target->memory, origin->place, &now);
	bool is_read = !error;
	bool is_same = is_read && now + (uint64_t)origin->offset == fault->pointer;
	error_free(error);
	snprintf(command, sizeof(command), "rd 0x%" PRIx64, origin->place);
	TRY(finding_add(finding, command, "%s comes from%s 0x%" PRIx64 "%s%s%s, %s", name,
			origin->offset ? " what is at" : "", origin->place, *note ? " (" : "", note,
			*note ? ")" : "",
			is_same	  ? origin->offset ? "and something was added" : "where it still is"
			: is_read ? "where something else is by now"
				  : "which cannot be read in the dump"));
	fault->object_place = origin->place;
	fault->object = source->note;
	if (fault->is_misplaced)
		return show_misplaced(fault, finding);
	return show_freed(finding, &source->note, origin->place);
}

/* A loop over a list has lost where the bad pointer was; the list leads there again. */
static struct error *show_list(struct fault *fault, struct finding *finding)
{
	const struct access *access = fault->access;
	struct broken_list list = { 0 };
	char command[64];
	/* Zeros and small numbers stand everywhere: a chain of pointers that ends in one is no
	 * list. */
	if (!access || fault->source.is_known || access->is_stack || fault->bad.kind == BAD_NULL ||
	    fault->bad.kind == BAD_ERROR)
		return NULL;
	TRY(broken_list_find(fault->analysis->target, &fault->frame->registers,
			     access->has_base ? access->base_value : access->address, &list));
	if (!list.is_found)
		return NULL;
	snprintf(command, sizeof(command), "rd 0x%" PRIx64 " 2", list.entry);
	TRY(finding_add(finding, command,
			"the list at 0x%" PRIx64 " (%s) leads there: its entry %" PRIu64
			" at 0x%" PRIx64 "%s%s%s has it as its next",
			list.head, fault->analysis->target->arch->register_names[list.reg],
			list.position, list.entry, *list.note.text ? ", in " : "", list.note.text,
			*list.note.text ? "," : ""));
	fault->object_place = list.entry;
	fault->object = list.note;
	return show_freed(finding, &list.note, list.entry);
}

static struct error *show_result(struct fault *fault, struct finding *finding)
{
	const struct pointer_source *source = &fault->source;
	const struct frame *frame = &fault->analysis->trace.frames[source->frame];
	char callee[FAULT_TEXT], command[64];
	fault_spell_callee(fault, callee, sizeof(callee));
	snprintf(command, sizeof(command), "dis -r 0x%" PRIx64, frame->pc);
	return finding_add(finding, command, "%s is what %s returned, called at +0x%x of %s()",
			   fault->pointer_name, callee, source->origin.at, frame->symbol.name);
}

struct error *fault_show_source(struct fault *fault, struct finding *finding)
{
	const struct pointer_source *source = &fault->source;
	char command[64];
	if (!source->is_known)
		return NULL;
	if (source->origin.is_loaded)
		TRY(show_load(fault, finding));
	if (source->origin.is_result)
		TRY(show_result(fault, finding));
	if (source->origin.is_constant)
		TRY(finding_add(finding, NULL, "it is a constant in the code of %s()",
				fault->analysis->trace.frames[source->frame].symbol.name));
	TRY(show_way(fault, finding));
	if (!source->origin.argument)
		return NULL;
	snprintf(command, sizeof(command), "frame %zu", source->frame);
	return finding_add(finding, command, "%s is the argument %s of %s()%s", fault->pointer_name,
			   source->origin.argument,
			   fault->analysis->trace.frames[source->frame].symbol.name,
			   source->origin.offset ? ", and something added" : "");
}

/*
 * The function that a frame called as a timer's, a work item's: the frame below it is that one's,
 * or of one that it jumped on to. "": the frame was at something else.
 */
static struct error *put_callback(const struct analysis *analysis, size_t frame, char *buffer,
				  size_t size)
{
	const struct frame *below = &analysis->trace.frames[frame - 1];
	uint64_t called;
	bool is_pointer;
	*buffer = 0;
	struct error *error = origin_find_called(analysis->target, &analysis->task,
						 &analysis->trace.frames[frame], &called,
						 &is_pointer);
	TRY(error_only_fatal(error));
	bool is_below = !error && below->has_symbol && below->symbol.address == called;
	if (!error && is_pointer && !is_below &&
	    target_describe(analysis->target, called, buffer, size))
		return NULL;
	if (is_below || (error && !frame_is_generic(below)))
		analysis_place(analysis, frame - 1, buffer, size);
	return NULL;
}

void fault_put_queue(const struct fault *fault, const struct circumstance *circumstance,
		     char *buffer, size_t size)
{
	const struct analysis *analysis = fault->analysis;
	char name[64] = "";
	struct object worker;
	*buffer = 0;
	if (!frame_is(&analysis->trace.frames[circumstance->frame], "process_one_work"))
		return;
	struct error *error = worker_of_task(analysis->target, analysis->task.address, &worker);
	if (!error)
		worker_put_queue(&worker, name, sizeof(name));
	error_free(error);
	if (*name)
		snprintf(buffer, size, " of the workqueue %s", name);
}

/* Whose fault it is: the first function that is not called from everywhere. */
struct error *fault_show_blame(struct fault *fault, struct finding *finding)
{
	struct analysis *analysis = fault->analysis;
	const struct stack_trace *trace = &analysis->trace;
	struct circumstance circumstance;
	char place[FAULT_TEXT], command[64], queue[FAULT_TEXT];
	size_t i = trace_blame(trace, fault->at);
	analysis->blamed = i < trace->count ? i : fault->at;
	snprintf(command, sizeof(command), "frame %zu", analysis->blamed);
	analysis_put_caller(analysis, analysis->blamed, place, sizeof(place));
	if (analysis->blamed != fault->at)
		TRY(finding_add(finding, command, "it was called by %s", place));
	if (!trace_circumstance(trace, fault->at, &circumstance))
		return NULL;
	snprintf(command, sizeof(command), "frame %zu", circumstance.frame);
	fault_put_queue(fault, &circumstance, queue, sizeof(queue));
	if (circumstance.frame <= fault->at)
		return finding_add(finding, command, "it ran in %s%s%s", circumstance.what, queue,
				   circumstance.is_borrowed ? ": the task was only interrupted"
							    : "");
	TRY(put_callback(analysis, circumstance.frame, place, sizeof(place)));
	return finding_add(finding, command, "it ran in %s%s%s%s%s", circumstance.what, queue,
			   *place ? ", as " : "", place,
			   circumstance.is_borrowed ? ": the task was only interrupted" : "");
}

struct error *fault_show_several(struct fault *fault, struct finding *finding)
{
	struct target *target = fault->analysis->target;
	struct object counter, first;
	uint64_t count, ip;
	struct error *error = object_variable(target, "die_counter", "int", &counter);
	if (!error)
		error = object_u64(&counter, NULL, &count);
	if (!error && (int64_t)count > 1 && (int64_t)count < 1000) {
		error = object_variable(target, "exec_summary_regs", "struct pt_regs", &first);
		if (!error)
			error = object_u64(&first, "ip", &ip);
		if (!error) {
			char place[FAULT_TEXT];
			if (!target_describe(target, ip, place, sizeof(place)))
				snprintf(place, sizeof(place), "0x%" PRIx64, ip);
			return finding_add(
				finding, "print exec_summary_regs",
				"it is the last of %" PRIu64
				" such faults; the first one was at %s, and later ones are "
				"often its consequence",
				count, place);
		}
	}
	return error_only_fatal(error);
}

struct error *fault_show(struct fault *fault, struct finding *finding)
{
	TRY(show_instruction(fault, finding));
	TRY(show_access(fault, finding));
	TRY(show_meaning(fault, finding));
	TRY(show_flip(fault, finding));
	TRY(fault_show_place(fault, finding));
	TRY(fault_show_source(fault, finding));
	return show_list(fault, finding);
}
