// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A jump to where no code is: who called is to blame. What calls whatever it is given, for timers,
 * work items, callbacks, is not: the object is that it was given.
 */
#include "debugger/analysis/byte_run.h"
#include "debugger/analysis/fault.h"
#include "debugger/analysis/stack_words.h"
#include "debugger/code/lower.h"
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool fault_is_readable(const struct fault *fault, uint64_t address)
{
	uint8_t byte;
	struct error *error = memory_read_u8(fault->analysis->target->memory, address, &byte);
	bool readable = !error;
	error_free(error);
	return readable;
}

/* Other exceptions than page faults are of instructions, unless none can be there. */
bool fault_is_jump(const struct fault *fault)
{
	struct bad_address bad;
	bool is_told = fault->is_page_fault && fault->has_error_code;
	/* A function may be gone from its place: what only the start of the kernel needs is. */
	if (fault->midway || (is_told && fault->error_code & FAULT_FETCH))
		return true;
	if (fault->frame->has_symbol || is_told)
		return false;
	bad_address_find(fault->analysis->target, NULL, fault->frame->pc, &bad);
	return (fault->is_page_fault || bad.kind == BAD_NON_CANONICAL) &&
	       !fault_is_readable(fault, fault->frame->pc);
}

static bool word_is(const struct fault *fault, uint64_t place, uint64_t wanted)
{
	uint64_t word;
	struct error *error = memory_read_word(fault->analysis->target->memory, place, &word);
	bool is_so = !error && word == wanted;
	error_free(error);
	return is_so;
}

static bool is_in_register(const struct fault *fault)
{
	const struct target *target = fault->analysis->target;
	const struct frame *frame = fault->frame;
	for (unsigned int i = 0; i < target->arch->register_count; i++)
		if (i != target->arch->pc && registers_has(&frame->registers, i) &&
		    frame->registers.values[i] == frame->pc)
			return true;
	return false;
}

/* Why nothing should have gone there. */
static const char *spell_wrong(const struct fault *fault)
{
	return fault->midway		     ? "in the middle of an instruction"
	       : fault->bad.kind == BAD_USER ? "where the kernel must run nothing"
					     : "where no code is";
}

/*
 * A call leaves the address to return to at the top of the stack; what lies deeper was called
 * before. A return leaves where it went to below the top, as does a call by way of a thunk, for
 * which a register has it.
 */
static bool has_called(const struct fault *fault, size_t caller)
{
	const struct target *target = fault->analysis->target;
	const struct frame *frame = fault->frame;
	if (!word_is(fault, frame->sp, fault->analysis->trace.frames[caller].pc))
		return false;
	return !word_is(fault, frame->sp - target->memory->word_size, frame->pc) ||
	       is_in_register(fault);
}

#define GIVEN_SIZE 64 /* bytes: the struct of a timer, a work item, a callback */

/* What was to be called was given something: nothing has changed the register since. */
struct given {
	bool is_known;
	uint64_t address;
	uint64_t place; /* near it, of the pointer that led astray; 0: it is not there */
	struct object_note note;
};

static struct error *find_given(const struct fault *fault, struct given *ret)
{
	struct target *target = fault->analysis->target;
	const struct registers *registers = &fault->frame->registers;
	const struct lowering *lowering = lowering_find(target->arch->name);
	*ret = (struct given){ .is_known = false };
	if (!lowering)
		return NULL;
	unsigned int reg = lowering->in_target[lowering->arguments[0]];
	if (!registers_has(registers, reg))
		return NULL;
	ret->is_known = true;
	ret->address = registers->values[reg];
	for (uint64_t offset = 0; offset < GIVEN_SIZE && !ret->place; offset += 8)
		if (word_is(fault, ret->address + offset, fault->frame->pc))
			ret->place = ret->address + offset;
	return object_note_find(target, ret->address, &ret->note);
}

/*
 * "lab_head" of "lab_head.0+0x40 [faults]", "kmalloc-1k" of "an object of the slab cache
 * kmalloc-1k": without what differs from boot to boot, and without what no signature may have.
 */
static void put_owner(const struct given *given, char *buffer, size_t size)
{
	static const char cache[] = "slab cache ";
	const char *name = strstr(given->note.text, cache), *allowed = "_-.:";
	size_t length = 0;
	if (name) {
		name += sizeof(cache) - 1;
	} else {
		name = given->note.text;
		allowed = "_";
	}
	while (isalnum((unsigned char)name[length]) ||
	       (name[length] && strchr(allowed, name[length])))
		length++;
	snprintf(buffer, size, "%.*s", (int)length, name);
}

/* For the signature, if no function is to blame: what ran it, whose module it was, what it had. */
static struct error *set_culprit(const struct fault *fault, size_t caller,
				 const struct given *given, struct finding *finding)
{
	const struct stack_trace *trace = &fault->analysis->trace;
	char stem[SYMBOL_NAME_SIZE] = "", owner[SYMBOL_NAME_SIZE] = "";
	if (!given && trace_blame(trace, caller) < trace->count)
		return NULL;
	frame_stem(&trace->frames[caller], stem, sizeof(stem));
	if (given)
		put_owner(given, owner, sizeof(owner));
	const char *removed = fault->place.removed;
	int length = asprintf(&finding->culprit, "%s%s%s%s%s", stem, *owner ? "/" : "", owner,
			      *removed ? "/" : "", removed);
	if (length >= 0)
		return NULL;
	finding->culprit = NULL;
	return error_no_memory();
}

/* What was jumped to, for who counts crashes: different causes lead to different kinds. */
static const char *kind_of(const struct fault *fault)
{
	if (fault->midway)
		return "midway-jump";
	switch (fault->bad.kind) {
	case BAD_NULL:
		return "null-jump";
	case BAD_USER:
		return "user-jump";
	case BAD_LIST_POISON:
	case BAD_FREE_POISON:
		return "freed-jump";
	case BAD_NOTHING:
		return fault_is_readable(fault, fault->frame->pc) ? "data-jump" : "jump";
	default:
		return "wild-jump";
	}
}

/* "an RCU callback, at 0x... (lab_head+0x0 [faults]), led to 0x..., where no code is" */
static struct error *summarize_object(const struct fault *fault,
				      const struct circumstance *circumstance, const char *is,
				      const struct given *given, struct finding *finding)
{
	char queue[FAULT_TEXT];
	const char *note = given->note.text;
	char text[FAULT_TEXT] = "";
	if (given->is_known)
		snprintf(text, sizeof(text), ", given 0x%" PRIx64 "%s%s%s,", given->address,
			 *note ? " (" : "", note, *note ? ")" : "");
	fault_put_queue(fault, circumstance, queue, sizeof(queue));
	return finding_summarize(finding, "%s%s%s led to 0x%" PRIx64 "%s%s%s, %s",
				 circumstance->what, queue, text, fault->frame->pc, *is ? " (" : "",
				 is, *is ? ")" : "", spell_wrong(fault));
}

/* `caller`: NULL is not known. */
static struct error *summarize_caller(const struct fault *fault, const struct frame *caller,
				      const char *is, struct finding *finding)
{
	char source[FAULT_TEXT], function[FAULT_TEXT] = "somebody returned to or";
	if (caller)
		fault_spell_function(caller, function, sizeof(function));
	const char *bad = fault->bad.text;
	fault_spell_source(fault, *bad ? bad : "that", source, sizeof(source));
	return finding_summarize(finding, "%s called 0x%" PRIx64 "%s%s%s, %s%s", function,
				 fault->frame->pc, *is ? " (" : "", is, *is ? ")" : "",
				 spell_wrong(fault), source);
}

static struct error *show_given(struct target *target, const struct given *given,
				struct finding *finding)
{
	struct fault_owner owner;
	char command[64];
	if (!given->is_known)
		return NULL;
	TRY(fault_add_owner(target, &given->note, "the object that it was called with", finding,
			    &owner));
	if (*owner.words)
		TRY(fault_append(finding, owner.words));
	if (given->place)
		TRY(fault_show_run(target, given->place, &given->note, finding, &owner));
	snprintf(command, sizeof(command), "whattype 0x%" PRIx64, given->address);
	return finding_add(finding, command, "what it was called with, 0x%" PRIx64 "%s%s",
			   given->address,
			   *given->note.text ? ", is " : ", is in no object that is known",
			   given->note.text);
}

/*
 * What the processor took the address from is below the top of the stack now; a call by way of a
 * thunk leaves it there, too, but then a register has it.
 */
static struct error *show_return(const struct fault *fault, struct finding *finding, bool *ret)
{
	struct target *target = fault->analysis->target;
	char command[64], wrong[FAULT_TEXT] = "";
	uint64_t place = fault->frame->sp - target->memory->word_size;
	struct byte_run run;
	struct fault_owner owner;
	byte_run_find(target->memory, place, &run);
	/* What was written over the stack is what registers were given back from there, too. */
	bool is_filled = run.start < place && run.start + run.size > fault->frame->sp;
	*ret = word_is(fault, place, fault->frame->pc) && (is_filled || !is_in_register(fault));
	if (!*ret)
		return NULL;
	if (fault->midway)
		analysis_place(fault->analysis, fault->at, wrong, sizeof(wrong));
	snprintf(command, sizeof(command), "rd 0x%" PRIx64, place);
	TRY(finding_summarize(finding,
			      "a function returned to 0x%" PRIx64
			      "%s%s%s, %s: its return address was written over",
			      fault->frame->pc, *wrong ? " (" : "", wrong, *wrong ? ")" : "",
			      spell_wrong(fault)));
	TRY(fault_show_run(target, place, NULL, finding, &owner));
	return finding_add(
		finding, command,
		"the word below the stack pointer is that address, and none above it is of a call "
		"that led there");
}

/* What was written over the stack tells where the address came from, if it was. */
static struct error *show_stack(const struct fault *fault, struct finding *finding)
{
	struct fault_owner owner;
	struct byte_run run;
	struct memory *memory = fault->analysis->target->memory;
	byte_run_find(memory, fault->frame->sp, &run);
	if (!run.size)
		return NULL;
	TRY(fault_append(finding, "the stack there was written over"));
	return fault_show_run(fault->analysis->target, fault->frame->sp, NULL, finding, &owner);
}

/* Neither a call nor a return is proved: where it went is all that is known. */
static struct error *say_astray(struct fault *fault, struct finding *finding)
{
	const struct stack_trace *trace = &fault->analysis->trace;
	char place[FAULT_TEXT];
	bool is_return;
	TRY(show_return(fault, finding, &is_return));
	if (is_return)
		return NULL;
	finding->sure = CONFIDENCE_INFERRED;
	if (!fault->midway)
		return show_stack(fault, finding);
	fault->analysis->blamed = trace_blame(trace, fault->at);
	analysis_place(fault->analysis, fault->at, place, sizeof(place));
	return finding_summarize(finding, "the processor was led to %s, %s", place,
				 spell_wrong(fault));
}

static struct error *show_midway(const struct fault *fault, struct finding *finding)
{
	char command[64];
	if (!fault->midway)
		return NULL;
	snprintf(command, sizeof(command), "dis -r 0x%" PRIx64, fault->frame->pc - fault->midway);
	return finding_add(
		finding, command,
		"the instruction that the compiler put there begins %zu byte%s before it",
		fault->midway, fault->midway == 1 ? "" : "s");
}

struct error *fault_say_jump(struct fault *fault)
{
	struct analysis *analysis = fault->analysis;
	const struct stack_trace *trace = &analysis->trace;
	char back[FAULT_TEXT], inside[FAULT_TEXT], command[64];
	struct circumstance circumstance;
	struct given given;
	size_t caller = fault->at + 1;
	bool has_caller = caller < trace->count && trace->frames[caller].kind != FRAME_USER &&
			  trace->frames[caller].has_symbol && has_called(fault, caller);
	struct finding *finding = analysis_add(analysis, "jump", CONFIDENCE_CERTAIN);
	if (!finding)
		return error_no_memory();
	TRY(bad_address_look_up(analysis->target, &analysis->task, fault->frame->pc, &fault->bad));
	fault->pointer = fault->frame->pc;
	fault->pointer_name = "that address";
	if (has_caller)
		TRY(pointer_source_find_target(analysis, caller, &fault->source));
	TRY(fault_find_place(fault, fault->frame->pc));
	finding->kind = kind_of(fault);
	analysis_place(analysis, fault->at, inside, sizeof(inside));
	const char *is = fault->midway	    ? inside
			 : *fault->bad.text ? fault->bad.text
					    : fault->place.text;
	bool is_given = has_caller && trace_circumstance(trace, caller, &circumstance) &&
			circumstance.frame == caller;
	if (is_given) {
		TRY(find_given(fault, &given));
		TRY(summarize_object(fault, &circumstance, is, &given, finding));
	} else {
		TRY(summarize_caller(fault, has_caller ? &trace->frames[caller] : NULL, is,
				     finding));
	}
	if (has_caller)
		TRY(set_culprit(fault, caller, is_given ? &given : NULL, finding));
	TRY(fault_note(fault, finding));
	TRY(fault_show_place(fault, finding));
	TRY(show_midway(fault, finding));
	if (!has_caller)
		return say_astray(fault, finding);
	if (is_given)
		TRY(show_given(fault->analysis->target, &given, finding));
	snprintf(command, sizeof(command), "frame %zu", caller);
	analysis_place(analysis, caller, back, sizeof(back));
	TRY(finding_add(finding, command, "it would have returned to %s", back));
	fault->at = caller;
	TRY(fault_show_source(fault, finding));
	if (!is_given)
		return fault_show_blame(fault, finding);
	analysis->blamed = caller;
	return circumstance.is_borrowed
		       ? finding_add(finding, command, "the task was only interrupted")
		       : NULL;
}
