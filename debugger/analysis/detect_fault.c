// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * An exception that nobody expected: the frame that it came upon, what the instruction there
 * accesses, what is wrong with the address, and where the pointer came from.
 */
#include "base/array.h"
#include "debugger/analysis/fault.h"
#include "debugger/analysis/list_report.h"
#include "debugger/analysis/object_name.h"
#include "debugger/analysis/object_note.h"
#include "debugger/analysis/stack_words.h"
#include "debugger/analysis/trap_condition.h"
#include "debugger/code/lower.h"
#include "debugger/kernel/bug_table.h"
#include "debugger/whattype/place.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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

bool fault_is_explained(const struct fault *fault, const struct access *access)
{
	uint64_t size = access->size ?: 8;
	return fault->address - access->address < size;
}

/*
 * The only one that can have been the processor's, by what the error code says of a page that is
 * there and must not be used so; NULL: there are several, or none.
 */
static const struct access *find_forbidden(const struct fault *fault)
{
	const struct accesses *all = &fault->accesses;
	const struct access *found = NULL;
	bool is_write = fault->error_code & FAULT_WRITE;
	if (!fault->is_page_fault || !fault->has_error_code || fault->has_address ||
	    !(fault->error_code & FAULT_PROTECTION) || fault->error_code & FAULT_FETCH)
		return NULL;
	for (size_t i = 0; i < all->count; i++) {
		if (all->items[i].is_write != is_write)
			continue;
		if (found)
			return NULL;
		found = &all->items[i];
	}
	return found;
}

/* The one at the address that the handler was told, else the first one that cannot be done. */
static void choose_access(struct fault *fault)
{
	const struct accesses *all = &fault->accesses;
	struct bad_address bad;
	for (size_t i = 0; i < all->count && fault->has_address; i++)
		if (fault_is_explained(fault, &all->items[i])) {
			fault->access = &all->items[i];
			return;
		}
	for (size_t i = 0; i < all->count && !fault->has_address; i++) {
		bad_address_find(fault->analysis->target, &fault->analysis->task,
				 all->items[i].address, &bad);
		if (bad.kind != BAD_NOTHING || !fault_is_readable(fault, all->items[i].address)) {
			fault->access = &all->items[i];
			return;
		}
	}
	fault->access = find_forbidden(fault);
}

/* What is added to NULL, an index for instance, may lead anywhere. */
static struct error *judge(struct fault *fault)
{
	struct target *target = fault->analysis->target;
	const struct access *access = fault->access;
	struct bad_address base;
	TRY(bad_address_look_up(target, &fault->analysis->task, access->address, &fault->bad));
	bool may_be_of_null = fault->bad.kind == BAD_USER || fault->bad.kind == BAD_LOW ||
			      fault->bad.kind == BAD_ERROR;
	if (!may_be_of_null || !access->has_base)
		return NULL;
	bad_address_find(target, NULL, access->base_value, &base);
	if (base.kind != BAD_NULL)
		return NULL;
	fault->bad = base;
	fault->bad.offset = access->address;
	bool is_below = (int64_t)access->address < 0;
	snprintf(fault->bad.text, sizeof(fault->bad.text), "NULL %c 0x%" PRIx64,
		 is_below ? '-' : '+', is_below ? -access->address : access->address);
	return NULL;
}

/* What is added to NULL is added in a register: what lay in memory as it is was no NULL. */
static void judge_number(struct fault *fault)
{
	const struct pointer_source *source = &fault->source;
	if (fault->bad.kind != BAD_NULL || !fault->pointer)
		return;
	bool is_read = source->is_known && source->origin.is_loaded && !source->origin.offset;
	/* Nor is where a member lies that is no multiple of its size. */
	uint32_t size = fault->access->size;
	bool is_odd = (size == sizeof(uint32_t) || size == sizeof(uint64_t)) &&
		      fault->access->displacement && fault->access->address % size;
	if (!is_read && !is_odd)
		return;
	fault->bad.kind = BAD_SMALL;
	snprintf(fault->bad.text, sizeof(fault->bad.text),
		 fault->pointer > INT64_MAX ? "a number just below 0" : "a small number");
}

/* Where the code does not say of what struct the pointer is a member, the slab cache may. */
static struct error *find_member(struct fault *fault)
{
	struct named_member *member = &fault->source.member;
	struct places *places = NULL;
	struct memory_place place = { .confidence = CONFIDENCE_UNKNOWN };
	TRY(places_create(fault->analysis->target, &places));
	struct error *error = places_find(places, fault->source.origin.place, &place);
	if (!error && place.region == REGION_SLAB && place.confidence >= CONFIDENCE_INFERRED &&
	    place.type.btf && *place.member) {
		const char *path = place.member + (*place.member == '.');
		memcpy(member->path, path, strlen(path) + 1);
		type_spell(place.type, NULL, member->type, sizeof(member->type));
		member->offset = place.offset;
		fault->is_by_cache = true;
	}
	places_destroy(places);
	return error;
}

static struct error *name_member(struct fault *fault)
{
	const struct pointer_source *source = &fault->source;
	bool is_unnamed = source->is_known && source->origin.is_loaded &&
			  source->origin.has_place && !*source->member.path;
	return is_unnamed ? error_only_fatal(find_member(fault)) : NULL;
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
		TRY(judge(fault));
	else if (!fault->is_page_fault)
		TRY(fault_find_misaligned(fault));
	else if (fault->has_address)
		TRY(bad_address_look_up(target, &fault->analysis->task, fault->address,
					&fault->bad));
	if (fault->access || fault->has_address)
		TRY(fault_find_place(fault,
				     fault->access ? fault->access->address : fault->address));
	if (fault->frame->has_symbol && fault->access)
		TRY(error_only_fatal(
			function_members_find(target, &fault->frame->symbol, &fault->members)));
	if (!fault->access || !fault->access->has_base || fault->access->is_stack)
		return NULL;
	fault->pointer_name = target->arch->register_names[fault->access->base];
	fault->pointer = fault->access->base_value;
	TRY(pointer_source_find(fault->analysis, fault->at, fault->access->base, &fault->source));
	TRY(name_member(fault));
	fault->is_misplaced = fault_is_misplaced(fault);
	judge_number(fault);
	return NULL;
}

/* --- what it is called ------------------------------------------------------------------------ */

static const char *kind_of(const struct fault *fault, const struct exception *exception)
{
	static const char *const kinds[] = {
		[BAD_NULL] = "null-pointer",	      [BAD_ERROR] = "error-pointer",
		[BAD_LIST_POISON] = "list-poison",    [BAD_FREE_POISON] = "freed-object",
		[BAD_NON_CANONICAL] = "wild-pointer", [BAD_USER] = "user-pointer",
		[BAD_LOW] = "wild-pointer",	      [BAD_SMALL] = "wild-pointer",
		[BAD_GUARD] = "stack-overflow",	      [BAD_MISALIGNED] = "alignment",
	};
	if (!strcmp(exception->kind, "bad-pointer") && fault->place.kind == PLACE_READ_ONLY)
		return "read-only";
	if (!strcmp(exception->kind, "bad-pointer") && fault->place.kind == PLACE_GUARD)
		return "guard-page";
	/* A number of an error and NULL less something look alike: see fault_is_error_known(). */
	bool is_doubtful = fault->bad.kind == BAD_ERROR && !fault_is_error_known(fault);
	if (strcmp(exception->kind, "bad-pointer") || fault->bad.kind == BAD_NOTHING || is_doubtful)
		return exception->kind;
	return kinds[fault->bad.kind];
}

/* --- BUG and WARN -------------------------------------------------------------------------- */

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

/*
 * The allocator panics of an object that is given back though it is the next one to be given out: a
 * register has it, and it is free.
 */
static struct error *show_freed_twice(const struct fault *fault, struct finding *finding, bool *ret)
{
	const struct target *target = fault->analysis->target;
	const struct registers *registers = &fault->frame->registers;
	*ret = false;
	for (unsigned int i = 0; i < target->arch->register_count && !*ret; i++) {
		struct object_note note;
		char command[64];
		if (!registers_has(registers, i))
			continue;
		TRY(object_note_find(fault->analysis->target, registers->values[i], &note));
		if (!note.is_slab || note.state != SLAB_FREE || note.object != registers->values[i])
			continue;
		*ret = true;
		snprintf(command, sizeof(command), "whattype 0x%" PRIx64, note.object);
		TRY(finding_add(finding, command, "%s is 0x%" PRIx64 ", %s: it was free already",
				target->arch->register_names[i], note.object, note.text));
	}
	return NULL;
}

static bool is_of_file(const struct bug *bug, const char *file)
{
	size_t length = strlen(bug->file);
	return length >= strlen(file) && !strcmp(bug->file + length - strlen(file), file);
}

static bool is_of_allocator(const struct bug *bug)
{
	return is_of_file(bug, "mm/slub.c") || is_of_file(bug, "mm/slab.h") ||
	       is_of_file(bug, "mm/slab.c");
}

/* "; ready_list [drv] is next to it on the list", so that people know which list it is. */
static struct error *append_name(const struct fault *fault, uint64_t entry, const char *what,
				 struct finding *finding)
{
	struct target *target = fault->analysis->target;
	struct strbuf words = { 0 };
	char name[FAULT_TEXT];
	if (!entry)
		return NULL;
	struct error *error = object_name_put(target, entry, "struct list_head", &words);
	if (!error && !words.size && target_describe(target, entry, name, sizeof(name)))
		strbuf_format(&words, "0x%" PRIx64 " is %s", entry, name);
	if (!error && words.failed)
		error = error_no_memory();
	if (!error && words.size)
		error = finding_summarize(finding, "%s; %s: %.*s", finding->summary, what,
					  (int)words.size, words.data);
	strbuf_deinit(&words);
	return error;
}

/* ", a free object of the slab cache lab", or whose it is. */
static struct error *show_entry(const struct fault *fault, const struct list_report *report,
				struct finding *finding)
{
	struct analysis *analysis = fault->analysis;
	struct bad_address found;
	struct object_note note;
	struct fault_owner owner;
	char command[64], words[2 * FAULT_TEXT];
	TRY(bad_address_look_up(analysis->target, &analysis->task, report->found, &found));
	TRY(object_note_find(analysis->target, report->entry, &note));
	snprintf(words, sizeof(words),
		 "the entry at 0x%" PRIx64 "%s%s%s has 0x%" PRIx64 "%s%s%s for a link",
		 report->entry, *note.text ? ", in " : "", note.text, *note.text ? "," : "",
		 report->found, *found.text ? " (" : "", found.text, *found.text ? ")" : "");
	TRY(fault_append(finding, words));
	TRY(append_name(fault, report->neighbour, "next to it on the list", finding));
	snprintf(command, sizeof(command), "rd 0x%" PRIx64 " 2", report->entry);
	TRY(finding_add(finding, command,
			"an entry of the list was written over, freed while it was on it, or moved "
			"by another CPU at the same time: who found that need not be who did it"));
	TRY(fault_show_run(analysis->target, report->entry, &note, finding, &owner));
	return fault_add_owner(analysis->target, &note, "that object", finding, &owner);
}

/* What the check of lists found, and in whose memory. */
static struct error *show_list_report(const struct fault *fault, struct finding *finding)
{
	struct list_report report;
	TRY(list_report_find(fault->analysis->target, &report));
	if (report.fault == LIST_DELETED)
		TRY(fault_append(finding, "that entry had been taken off its list before"));
	if (report.fault == LIST_ADDED)
		TRY(fault_append(finding, "that entry was on the list already"));
	if (report.fault == LIST_DELETED || report.fault == LIST_ADDED)
		return append_name(fault, report.entry, "the entry", finding);
	return report.fault == LIST_BROKEN ? show_entry(fault, &report, finding) : NULL;
}

/* A check that many call is no place to look at: who called it is. */
static struct error *summarize_bug(const struct fault *fault, const struct bug *bug, bool is_twice,
				   struct finding *finding)
{
	const struct analysis *analysis = fault->analysis;
	char function[FAULT_TEXT], caller[FAULT_TEXT] = "", module[FAULT_TEXT + 16];
	fault_spell_function(fault->frame, function, sizeof(function));
	TRY(analysis_put_module(fault->analysis, fault->at, module, sizeof(module)));
	if (analysis->blamed != fault->at && analysis->blamed < analysis->trace.count)
		analysis_put_caller(analysis, analysis->blamed, caller, sizeof(caller));
	return finding_summarize(finding, "%s at %s:%" PRIu64 " in %s%s%s%s%s",
				 bug->is_warning ? "a WARN that panics" : "a BUG",
				 *bug->file ? bug->file : "?", bug->line, function,
				 *caller ? ", called by " : "", caller, module,
				 is_twice ? ": an object that is free was freed again" : "");
}

static struct error *say_bug(struct fault *fault, const struct bug *bug)
{
	char command[64];
	bool is_twice = false;
	struct finding *finding = analysis_add(fault->analysis, bug->is_warning ? "warning" : "bug",
					       CONFIDENCE_CERTAIN);
	if (!finding)
		return error_no_memory();
	fault->analysis->blamed = fault->at;
	TRY(summarize_bug(fault, bug, false, finding));
	TRY(fault_note(fault, finding));
	snprintf(command, sizeof(command), "line 0x%" PRIx64, fault->frame->pc);
	TRY(finding_add(finding, command,
			"the kernel's table of BUGs and WARNs has the instruction"));
	TRY(trap_condition_show(fault->analysis->target, fault->frame, finding));
	if (!bug->is_warning && is_of_allocator(bug))
		TRY(show_freed_twice(fault, finding, &is_twice));
	TRY(fault_show_blame(fault, finding));
	TRY(summarize_bug(fault, bug, is_twice, finding));
	if (is_of_file(bug, "lib/list_debug.c"))
		TRY(show_list_report(fault, finding));
	return fault_show_several(fault, finding);
}

/* A function that many call says nothing by itself: who called it does. */
static struct error *summarize_caller(const struct fault *fault, struct finding *finding)
{
	const struct analysis *analysis = fault->analysis;
	char caller[FAULT_TEXT] = "", module[FAULT_TEXT + 16];
	TRY(analysis_put_module(fault->analysis, fault->at, module, sizeof(module)));
	if (analysis->blamed != fault->at && analysis->blamed < analysis->trace.count)
		analysis_put_caller(analysis, analysis->blamed, caller, sizeof(caller));
	return finding_summarize(finding, "%s%s%s%s", finding->summary,
				 *caller ? ", called by " : "", caller, module);
}

/* For the signature, if no function is to blame: what walks for all, and whose module it is. */
static struct error *set_culprit(const struct fault *fault, struct finding *finding)
{
	const char *module = *fault->place.removed ? fault->place.removed : fault->owner;
	char stem[SYMBOL_NAME_SIZE];
	if (!*module || !fault->frame->has_symbol ||
	    trace_blame(&fault->analysis->trace, fault->at) < fault->analysis->trace.count)
		return NULL;
	frame_stem(fault->frame, stem, sizeof(stem));
	if (asprintf(&finding->culprit, "%s/%s", stem, module) >= 0)
		return NULL;
	finding->culprit = NULL;
	return error_no_memory();
}

/* --- the detector ----------------------------------------------------------------------------- */

static bool is_of_page_table(const struct fault *fault)
{
	return fault->is_page_fault && fault->has_error_code &&
	       fault->error_code & FAULT_RESERVED && (fault->has_address || fault->access);
}

/* Whatever address was used: what the processor looked it up in is broken. */
static struct error *say_page_table(struct fault *fault, struct finding *finding)
{
	uint64_t address = fault->has_address ? fault->address : fault->access->address;
	char function[FAULT_TEXT], who[FAULT_TEXT], command[48];
	finding->kind = "page-table";
	finding->sure = CONFIDENCE_CERTAIN;
	fault_spell_function(fault->frame, function, sizeof(function));
	analysis_put_task(&fault->analysis->task, who, sizeof(who));
	TRY(finding_summarize(finding,
			      "a page table of %s is broken: on the way to 0x%" PRIx64
			      ", which %s used, an entry has bits that must be 0",
			      who, address, function));
	snprintf(command, sizeof(command), "vtop 0x%" PRIx64, address);
	TRY(finding_add(finding, command,
			"the processor said so (error code 0x%" PRIx64
			"): a page table was written over, or its page was used for something else",
			fault->error_code));
	return finding_add(finding, NULL, "who came upon it need not be who did it");
}

static struct error *say_fault(struct fault *fault, const struct exception *exception)
{
	TRY(find_access(fault));
	bool is_proved = fault->access &&
			 (!fault->has_address || fault_is_explained(fault, fault->access));
	struct finding *finding = analysis_add(
		fault->analysis, kind_of(fault, exception),
		is_proved || !fault->is_page_fault ? CONFIDENCE_CERTAIN : CONFIDENCE_INFERRED);
	if (!finding)
		return error_no_memory();
	if (fault_may_be_number(fault))
		finding->sure = CONFIDENCE_INFERRED;
	TRY(fault_summarize(fault, exception->words, finding));
	TRY(fault_note(fault, finding));
	if (is_of_page_table(fault))
		return say_page_table(fault, finding);
	TRY(fault_show(fault, finding));
	bool is_of_allocator = false;
	TRY(fault_show_allocator(fault, finding, &is_of_allocator));
	if (!is_of_allocator) {
		TRY(fault_show_blame(fault, finding));
		TRY(summarize_caller(fault, finding));
		TRY(fault_show_owner(fault, finding));
		TRY(set_culprit(fault, finding));
	}
	return fault_show_several(fault, finding);
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
	struct error *error = fault_find_midway(&fault);
	if (!error && !strcmp(exception->kind, "invalid-instruction"))
		error = find_bug(&fault, &bug, &is_bug);
	if (!error)
		error = is_bug			? say_bug(&fault, &bug)
			: fault_is_jump(&fault) ? fault_say_jump(&fault)
						: say_fault(&fault, exception);
	function_members_deinit(&fault.members);
	return error;
}
