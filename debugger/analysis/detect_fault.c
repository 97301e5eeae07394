// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * An exception that nobody expected: the frame that it came upon, what the instruction there
 * accesses, what is wrong with the address, and where the pointer came from.
 */
#include "base/array.h"
#include "debugger/analysis/access.h"
#include "debugger/analysis/analysis.h"
#include "debugger/analysis/bad_address.h"
#include "debugger/analysis/broken_list.h"
#include "debugger/analysis/bug_table.h"
#include "debugger/analysis/pointer_source.h"
#include "debugger/analysis/stack_words.h"
#include "debugger/code/lower.h"
#include "debugger/disassembly/decode.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define TEXT 640
/* Of what page_fault_oops() is told (kernel arch/x86/include/asm/trap_pf.h). */
#define FAULT_PRESENT 1u
#define FAULT_WRITE   2u
#define FAULT_FETCH   16u

struct fault {
	struct analysis *analysis;
	size_t entry;		   /* frame of the stub that the exception entered */
	size_t at;		   /* frame that it came upon */
	const struct frame *frame; /* that one */
	bool is_page_fault;
	bool has_error_code, has_address; /* as the handler was told */
	uint64_t error_code, address;
	struct accesses accesses;
	const struct access *access; /* that failed; NULL: not known */
	struct bad_address bad;	     /* of the access, or of the pc */
	struct function_members members;
	struct pointer_source source; /* of the register that the access starts from */
};

/* --- which frame ------------------------------------------------------------------------------ */

static const struct exception {
	const char *stub, *kind, *words;
} exceptions[] = {
	{ "asm_exc_page_fault", "bad-pointer", "page fault" },
	{ "asm_exc_general_protection", "bad-pointer", "general protection fault" },
	{ "asm_exc_stack_segment", "bad-pointer", "stack segment fault" },
	{ "asm_exc_divide_error", "divide", "divide error" },
	{ "asm_exc_overflow", "trap", "overflow trap" },
	{ "asm_exc_bounds", "trap", "bounds trap" },
	{ "asm_exc_invalid_op", "invalid-instruction", "invalid instruction" },
	{ "asm_exc_alignment_check", "alignment", "alignment check" },
	{ "asm_exc_control_protection", "control-flow", "jump to where none may go" },
	{ "asm_exc_double_fault", "double-fault", "double fault" },
	{ "asm_exc_machine_check", "machine-check", "machine check" },
	{ "asm_exc_simd_coprocessor_error", "trap", "floating point error" },
	{ "asm_exc_coprocessor_error", "trap", "floating point error" },
};

static const struct exception *exception_of(const struct frame *stub)
{
	for (size_t i = 0; i < ARRAY_COUNT(exceptions); i++)
		if (frame_is(stub, exceptions[i].stub))
			return &exceptions[i];
	return NULL;
}

static bool dies_between(const struct stack_trace *trace, size_t first, size_t end)
{
	static const char *const deadly[] = { "oops_end",
					      "die",
					      "die_addr",
					      "__die",
					      "__warn",
					      "check_panic_on_warn",
					      "handle_stack_overflow",
					      "exc_double_fault",
					      "do_machine_check" };
	for (size_t i = first; i < end; i++)
		for (size_t k = 0; k < ARRAY_COUNT(deadly); k++)
			if (frame_is(&trace->frames[i], deadly[k]))
				return true;
	return false;
}

/* The innermost exception of which the kernel died; one that is merely being handled is none. */
static const struct exception *find_frame(struct fault *fault)
{
	const struct stack_trace *trace = &fault->analysis->trace;
	size_t first = 0;
	for (size_t i = 1; i < trace->count; i++) {
		const struct frame *frame = &trace->frames[i];
		if (frame->kind != FRAME_EXCEPTION || frame->is_unproved)
			continue;
		const struct exception *exception = exception_of(&trace->frames[i - 1]);
		if (exception && dies_between(trace, first, i)) {
			fault->entry = i - 1;
			fault->at = i;
			fault->frame = frame;
			return exception;
		}
		first = i;
	}
	return NULL;
}

/* What the handlers were told, where it is proved. */
static void read_told(struct fault *fault)
{
	const struct analysis *analysis = fault->analysis;
	for (size_t i = 0; i < fault->entry; i++) {
		const struct frame *frame = &analysis->trace.frames[i];
		if (!frame->has_symbol || frame->symbol.module)
			continue;
		if (!fault->has_error_code)
			fault->has_error_code =
				analysis_argument(analysis, i, "error_code", &fault->error_code);
		if (!fault->has_address && fault->is_page_fault)
			fault->has_address =
				analysis_argument(analysis, i, "address", &fault->address);
	}
}

/* --- which access ----------------------------------------------------------------------------- */

static bool explains(const struct fault *fault, const struct access *access)
{
	uint64_t size = access->size ?: 8;
	return fault->address - access->address < size;
}

static bool is_readable(const struct fault *fault, uint64_t address)
{
	uint8_t byte;
	struct error *error = memory_read_u8(fault->analysis->target->memory, address, &byte);
	bool readable = !error;
	error_free(error);
	return readable;
}

/* The one at the address that the handler was told, else the first one that cannot be done. */
static void choose_access(struct fault *fault)
{
	const struct accesses *all = &fault->accesses;
	struct bad_address bad;
	for (size_t i = 0; i < all->count && fault->has_address; i++)
		if (explains(fault, &all->items[i])) {
			fault->access = &all->items[i];
			return;
		}
	for (size_t i = 0; i < all->count && !fault->has_address; i++) {
		bad_address_find(fault->analysis->target, &fault->analysis->task,
				 all->items[i].address, &bad);
		if (bad.kind != BAD_NOTHING || !is_readable(fault, all->items[i].address)) {
			fault->access = &all->items[i];
			return;
		}
	}
}

static struct error *find_access(struct fault *fault)
{
	struct target *target = fault->analysis->target;
	const struct cpu *cpu = target_cpu(target, fault->analysis->task.cpu);
	struct error *error = accesses_find(target, cpu, fault->frame, &fault->accesses);
	if (!error)
		choose_access(fault);
	TRY(error_only_fatal(error));
	if (fault->access)
		bad_address_find(target, &fault->analysis->task, fault->access->address,
				 &fault->bad);
	else if (fault->has_address)
		bad_address_find(target, &fault->analysis->task, fault->address, &fault->bad);
	if (fault->frame->has_symbol && fault->access)
		TRY(error_only_fatal(
			function_members_find(target, &fault->frame->symbol, &fault->members)));
	if (!fault->access || !fault->access->has_base || fault->access->is_stack)
		return NULL;
	return pointer_source_find(fault->analysis, fault->at, fault->access->base, &fault->source);
}

/* --- words ------------------------------------------------------------------------------------ */

static const char *kind_of(const struct fault *fault, const struct exception *exception)
{
	static const char *const kinds[] = {
		[BAD_NULL] = "null-pointer",	      [BAD_ERROR] = "error-pointer",
		[BAD_LIST_POISON] = "list-poison",    [BAD_FREE_POISON] = "freed-object",
		[BAD_NON_CANONICAL] = "wild-pointer", [BAD_USER] = "user-pointer",
		[BAD_GUARD] = "stack-overflow",
	};
	if (strcmp(exception->kind, "bad-pointer") || fault->bad.kind == BAD_NOTHING)
		return exception->kind;
	return kinds[fault->bad.kind];
}

static void spell_function(const struct fault *fault, char *buffer, size_t size)
{
	const struct frame *frame = fault->frame;
	if (frame->has_symbol)
		snprintf(buffer, size, "%s()", frame->symbol.name);
	else
		snprintf(buffer, size, "code at 0x%" PRIx64, frame->pc);
}

static bool writes(const struct fault *fault)
{
	return fault->has_error_code && fault->is_page_fault ? fault->error_code & FAULT_WRITE
							     : fault->access->is_write;
}

/* What the pointer is that the access starts from: "NULL", "LIST_POISON1", "0x... (no address...)".
 */
static void spell_pointer(const struct fault *fault, char *buffer, size_t size)
{
	const struct access *access = fault->access;
	struct bad_address pointer = fault->bad;
	uint64_t value = access->has_base ? access->base_value : access->address;
	if (access->has_base)
		bad_address_find(fault->analysis->target, &fault->analysis->task, value, &pointer);
	/* What is added can make a bad address of a good one, an index for instance. */
	if (pointer.kind == BAD_NOTHING)
		pointer = fault->bad;
	bool tells_all = pointer.kind == BAD_NULL || pointer.kind == BAD_ERROR ||
			 pointer.kind == BAD_LIST_POISON || pointer.kind == BAD_FREE_POISON;
	if (tells_all)
		snprintf(buffer, size, "%s", pointer.text);
	else
		snprintf(buffer, size, "0x%" PRIx64 "%s%s%s", value, *pointer.text ? " (" : "",
			 pointer.text, *pointer.text ? ")" : "");
}

static void name_callee(const struct fault *fault, char *buffer, size_t size)
{
	uint64_t callee = fault->source.origin.callee;
	if (!callee || !target_describe(fault->analysis->target, callee, buffer, size))
		snprintf(buffer, size, "a function");
}

static void spell_result(const struct fault *fault, char *buffer, size_t size)
{
	char callee[TEXT];
	name_callee(fault, callee, sizeof(callee));
	snprintf(buffer, size, ": %s returned it", callee);
}

/* ": ops of the struct lab_device at 0x... was NULL", where the code says where that pointer was.
 */
static void spell_source(const struct fault *fault, const char *pointer, char *buffer, size_t size)
{
	const struct pointer_source *source = &fault->source;
	const struct frame *frame = &fault->analysis->trace.frames[source->frame];
	const struct named_member *member = &source->member;
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
		snprintf(buffer, size, ": %s of the %s at 0x%" PRIx64 " was %s", member->path,
			 member->type, source->origin.place - member->offset, pointer);
	else if (*member->path)
		snprintf(buffer, size, ": %s of a %s was %s", member->path, member->type, pointer);
	else if (source->origin.has_place)
		snprintf(buffer, size, ": the pointer at 0x%" PRIx64 " was %s",
			 source->origin.place, pointer);
}

static struct error *summarize(struct fault *fault, struct finding *finding,
			       const struct exception *exception)
{
	char function[TEXT], pointer[160], origin[2 * TEXT];
	struct named_member member;
	spell_function(fault, function, sizeof(function));
	if (!fault->access)
		return finding_summarize(finding, "%s in %s%s%s", exception->words, function,
					 *fault->bad.text ? ": " : "", fault->bad.text);
	spell_pointer(fault, pointer, sizeof(pointer));
	spell_source(fault, pointer, origin, sizeof(origin));
	if (fault->access->is_stack)
		return finding_summarize(finding, "%s %s 0x%" PRIx64 ", which cannot be a stack",
					 function, writes(fault) ? "pushed to" : "popped from",
					 fault->access->address);
	const char *verb = fault->accesses.calls ? "wanted to call"
			   : writes(fault)	 ? "wrote"
						 : "read";
	uint64_t offset = fault->frame->pc - fault->frame->symbol.address;
	if (fault->frame->has_symbol && named_member_find(&fault->members, offset, &member))
		return finding_summarize(finding, "%s %s %s of a %s through %s%s", function, verb,
					 member.path, member.type, pointer, origin);
	return finding_summarize(finding, "%s %s 0x%" PRIx64 " through %s%s", function,
				 fault->accesses.calls ? "wanted to call what is at"
				 : writes(fault)       ? "wrote to"
						       : "read from",
				 fault->access->address, pointer, origin);
}

/* --- evidence --------------------------------------------------------------------------------- */

static struct error *show_instruction(struct fault *fault, struct finding *finding)
{
	struct target *target = fault->analysis->target;
	struct disassembler *disassembler;
	struct instruction instruction;
	uint8_t bytes[INSTRUCTION_MAX];
	struct error *why;
	char command[64], name[TEXT];
	size_t size =
		memory_read_some(target->memory, fault->frame->pc, bytes, sizeof(bytes), &why);
	error_free(why);
	analysis_place(fault->analysis, fault->at, name, sizeof(name));
	snprintf(command, sizeof(command), "dis -r 0x%" PRIx64, fault->frame->pc);
	if (!size)
		return finding_add(finding, NULL, "at %s there is no code that the dump has", name);
	TRY(disassembler_create(target->arch->name, &disassembler));
	disassemble(disassembler, bytes, size, fault->frame->pc, &instruction);
	disassembler_destroy(disassembler);
	return finding_add(finding, command, "the instruction at %s: %s %s", name,
			   instruction.mnemonic, instruction.operands);
}

static const char *register_name(const struct fault *fault, unsigned int number)
{
	const struct arch *arch = fault->analysis->target->arch;
	return number < arch->register_count ? arch->register_names[number] : "?";
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
	const char *said = fault->has_address && explains(fault, access) ? ", as the processor said"
									 : "";
	if (!access->displacement)
		return finding_add(finding, command, "%s is 0x%" PRIx64 ": it accesses that%s",
				   register_name(fault, access->base), access->base_value, said);
	bool is_below = access->displacement < 0;
	return finding_add(
		finding, command,
		"%s is 0x%" PRIx64 ", and %s0x%" PRIx64 " is added: it accesses 0x%" PRIx64 "%s",
		register_name(fault, access->base), access->base_value, is_below ? "-" : "",
		is_below ? -(uint64_t)access->displacement : (uint64_t)access->displacement,
		access->address, said);
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
	};
	const char *meaning = fault->bad.kind < ARRAY_COUNT(meanings) ? meanings[fault->bad.kind]
								      : NULL;
	return meaning ? finding_add(finding, NULL, "%s", meaning) : NULL;
}

/* The functions that passed the pointer on, from the one that read it. */
static struct error *show_way(struct fault *fault, struct finding *finding)
{
	const struct pointer_source *source = &fault->source;
	char place[TEXT], command[64];
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
	char *summary = finding->summary;
	finding->summary = NULL;
	struct error *error =
		finding_summarize(finding, "use after free: %s, out of %s", summary, note->text);
	free(summary);
	TRY(error);
	snprintf(command, sizeof(command), "whattype 0x%" PRIx64, place);
	return finding_add(finding, command,
			   "that object is free: it was used after it had been freed");
}

/* The place that a bad pointer was read from, as it is in the dump. */
static struct error *show_load(struct fault *fault, struct finding *finding)
{
	const struct pointer_source *source = &fault->source;
	const struct origin *origin = &source->origin;
	const char *name = register_name(fault, fault->access->base), *note = source->note.text;
	char command[64];
	uint64_t now;
	if (!origin->has_place)
		return finding_add(finding, NULL, "it was read at +0x%x of %s(), from %s%s%s",
				   origin->at,
				   fault->analysis->trace.frames[source->frame].symbol.name,
				   *source->member.path ? source->member.path : "memory",
				   *source->member.path ? " of a " : "", source->member.type);
	struct error *error =
		memory_read_word(fault->analysis->target->memory, origin->place, &now);
	bool is_read = !error;
	bool is_same = is_read && now + (uint64_t)origin->offset == fault->access->base_value;
	error_free(error);
	snprintf(command, sizeof(command), "rd 0x%" PRIx64, origin->place);
	TRY(finding_add(finding, command, "%s comes from 0x%" PRIx64 "%s%s%s, %s", name,
			origin->place, *note ? " (" : "", note, *note ? ")" : "",
			is_same	  ? "where it still is"
			: is_read ? "where something else is by now"
				  : "which cannot be read in the dump"));
	return show_freed(finding, &source->note, origin->place);
}

/* A loop over a list has lost where the bad pointer was; the list leads there again. */
static struct error *show_list(struct fault *fault, struct finding *finding)
{
	const struct access *access = fault->access;
	struct broken_list list = { 0 };
	char command[64];
	if (!access || fault->source.is_known || access->is_stack)
		return NULL;
	TRY(broken_list_find(fault->analysis->target, &fault->frame->registers, access->address,
			     &list));
	if (!list.is_found && access->has_base)
		TRY(broken_list_find(fault->analysis->target, &fault->frame->registers,
				     access->base_value, &list));
	if (!list.is_found)
		return NULL;
	snprintf(command, sizeof(command), "rd 0x%" PRIx64 " 2", list.entry);
	TRY(finding_add(finding, command,
			"the list at 0x%" PRIx64 " (%s) leads there: its entry %" PRIu64
			" at 0x%" PRIx64 "%s%s%s has that as its next",
			list.head, register_name(fault, list.reg), list.position, list.entry,
			*list.note.text ? ", in " : "", list.note.text,
			*list.note.text ? "," : ""));
	return show_freed(finding, &list.note, list.entry);
}

static struct error *show_result(struct fault *fault, struct finding *finding)
{
	const struct pointer_source *source = &fault->source;
	const struct frame *frame = &fault->analysis->trace.frames[source->frame];
	char callee[TEXT], command[64];
	name_callee(fault, callee, sizeof(callee));
	snprintf(command, sizeof(command), "dis -r 0x%" PRIx64, frame->pc);
	return finding_add(finding, command, "%s is what %s returned, called at +0x%x of %s()",
			   register_name(fault, fault->access->base), callee, source->origin.at,
			   frame->symbol.name);
}

static struct error *show_source(struct fault *fault, struct finding *finding)
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
	return finding_add(finding, command, "%s is the argument %s of %s()%s",
			   register_name(fault, fault->access->base), source->origin.argument,
			   fault->analysis->trace.frames[source->frame].symbol.name,
			   source->origin.offset ? ", and something added" : "");
}

/* Whose fault it is: the first function that is not called from everywhere. */
static struct error *show_blame(struct fault *fault, struct finding *finding)
{
	struct analysis *analysis = fault->analysis;
	const struct stack_trace *trace = &analysis->trace;
	struct circumstance circumstance;
	char place[TEXT], command[64];
	size_t i = fault->at;
	while (i < trace->count && frame_is_generic(&trace->frames[i]))
		i++;
	analysis->blamed = i < trace->count ? i : fault->at;
	snprintf(command, sizeof(command), "frame %zu", analysis->blamed);
	analysis_place(analysis, analysis->blamed, place, sizeof(place));
	if (analysis->blamed != fault->at)
		TRY(finding_add(finding, command, "it was called by %s", place));
	if (!trace_circumstance(trace, fault->at, &circumstance))
		return NULL;
	snprintf(command, sizeof(command), "frame %zu", circumstance.frame);
	if (circumstance.frame <= fault->at)
		return finding_add(finding, command, "it ran in %s", circumstance.what);
	analysis_place(analysis, circumstance.frame - 1, place, sizeof(place));
	return finding_add(finding, command, "it ran in %s, as %s%s", circumstance.what, place,
			   circumstance.is_borrowed ? ": the task was only interrupted" : "");
}

static struct error *show_several(struct fault *fault, struct finding *finding)
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
			char place[TEXT];
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

/* --- BUG, WARN, division ---------------------------------------------------------------------- */

static struct error *find_bug(struct fault *fault, struct bug *ret, bool *ret_found)
{
	uint64_t hint = 0;
	const struct lowering *lowering = lowering_find(fault->analysis->target->arch->name);
	if (lowering &&
	    registers_has(&fault->frame->registers, lowering->in_target[lowering->arguments[0]]))
		hint = fault->frame->registers.values[lowering->in_target[lowering->arguments[0]]];
	return error_only_fatal(
		bug_find(fault->analysis->target, fault->frame->pc, hint, ret_found, ret));
}

static struct error *say_bug(struct fault *fault, const struct bug *bug)
{
	char function[TEXT], command[64];
	struct finding *finding = analysis_add(fault->analysis, bug->is_warning ? "warning" : "bug",
					       CONFIDENCE_CERTAIN);
	if (!finding)
		return error_no_memory();
	spell_function(fault, function, sizeof(function));
	TRY(finding_summarize(finding, "%s at %s:%" PRIu64 " in %s",
			      bug->is_warning ? "a WARN that panics" : "a BUG",
			      *bug->file ? bug->file : "?", bug->line, function));
	snprintf(command, sizeof(command), "print *(struct bug_entry *)0x%" PRIx64, bug->entry);
	TRY(finding_add(finding, command,
			"the kernel's table of BUGs and WARNs has the instruction"));
	snprintf(command, sizeof(command), "dis -r 0x%" PRIx64, fault->frame->pc);
	TRY(finding_add(finding, command, "the code in front of it has the condition"));
	TRY(show_blame(fault, finding));
	return show_several(fault, finding);
}

/* --- the detector ----------------------------------------------------------------------------- */

/* A jump to where no code is: the caller is to blame. */
static bool is_jump(const struct fault *fault)
{
	return fault->is_page_fault && !fault->frame->has_symbol &&
	       (fault->has_error_code ? fault->error_code & FAULT_FETCH
				      : !is_readable(fault, fault->frame->pc));
}

static struct error *say_jump(struct fault *fault)
{
	struct analysis *analysis = fault->analysis;
	char place[TEXT], command[64];
	size_t caller = fault->at + 1;
	struct finding *finding = analysis_add(analysis, "jump", CONFIDENCE_CERTAIN);
	if (!finding)
		return error_no_memory();
	bad_address_find(analysis->target, &analysis->task, fault->frame->pc, &fault->bad);
	if (caller < analysis->trace.count && analysis->trace.frames[caller].kind != FRAME_USER)
		analysis_place(analysis, caller, place, sizeof(place));
	else
		snprintf(place, sizeof(place), "somebody");
	snprintf(command, sizeof(command), "frame %zu", caller);
	TRY(finding_summarize(finding, "%s called 0x%" PRIx64 "%s%s%s, where no code is", place,
			      fault->frame->pc, *fault->bad.text ? " (" : "", fault->bad.text,
			      *fault->bad.text ? ")" : ""));
	TRY(finding_add(finding, command, "that is where it would have returned to"));
	fault->at = caller < analysis->trace.count ? caller : fault->at;
	return show_blame(fault, finding);
}

static struct error *say_fault(struct fault *fault, const struct exception *exception)
{
	TRY(find_access(fault));
	bool is_proved = fault->access && (!fault->has_address || explains(fault, fault->access));
	struct finding *finding = analysis_add(
		fault->analysis, kind_of(fault, exception),
		is_proved || !fault->is_page_fault ? CONFIDENCE_CERTAIN : CONFIDENCE_INFERRED);
	if (!finding)
		return error_no_memory();
	TRY(summarize(fault, finding, exception));
	TRY(show_instruction(fault, finding));
	TRY(show_access(fault, finding));
	TRY(show_meaning(fault, finding));
	TRY(show_source(fault, finding));
	TRY(show_list(fault, finding));
	TRY(show_blame(fault, finding));
	return show_several(fault, finding);
}

struct error *detect_fault(struct analysis *analysis)
{
	struct fault fault = { .analysis = analysis };
	const struct exception *exception = analysis->count ? NULL : find_frame(&fault);
	struct bug bug;
	bool is_bug = false;
	if (!exception)
		return NULL;
	fault.is_page_fault = frame_is(&analysis->trace.frames[fault.entry], "asm_exc_page_fault");
	read_told(&fault);
	struct error *error = NULL;
	if (!strcmp(exception->kind, "invalid-instruction"))
		error = find_bug(&fault, &bug, &is_bug);
	if (!error)
		error = is_bug		  ? say_bug(&fault, &bug)
			: is_jump(&fault) ? say_jump(&fault)
					  : say_fault(&fault, exception);
	function_members_deinit(&fault.members);
	return error;
}
