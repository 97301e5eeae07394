// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/user_stack/user_stack.h"

#include "base/array.h"
#include "base/interrupt.h"
#include "debugger/kernel/mappings.h"
#include "debugger/kernel/path.h"
#include "debugger/target/arch_x86_64.h"
#include "debugger/unwind/scan.h"
#include "debugger/unwind/unwind.h"
#include "debugger/user_stack/program.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES_MAX   (1u << 16)
#define PROGRAMS_MAX 1024
#define NAME_SIZE    4096
#define VM_EXEC	     4u
#define SELECTOR_32  0x23 /* __USER32_CS */

/* What is known of a mapping's program; NULL: it is none. */
struct mapped_program {
	size_t first; /* number of its first mapping */
	struct program *program;
};

struct unwinding {
	struct target *target;
	struct user_space *space;
	const struct user_mapping *mappings;
	size_t mapping_count;
	const struct error *problem; /* why not all mappings are known; NULL: they are */
	struct mapped_program programs[PROGRAMS_MAX];
	size_t program_count;
	uint64_t room; /* for their tables */
	struct user_stack *stack;
};

const char *user_frame_kind_name(enum user_frame_kind kind)
{
	static const char *const names[] = { [USER_FRAME_REGISTERS] = "registers",
					     [USER_FRAME_CFI] = "cfi",
					     [USER_FRAME_SIGNAL] = "signal",
					     [USER_FRAME_POINTER] = "fp" };
	return names[kind];
}

void user_stack_deinit(struct user_stack *stack)
{
	for (size_t i = 0; i < stack->count; i++) {
		free(stack->frames[i].symbol);
		free(stack->frames[i].path);
	}
	free(stack->frames);
	error_free(stack->end);
}

/* --- what is where --------------------------------------------------------------------------- */

/* Code; NULL: none is mapped there. */
static const struct user_mapping *find_code(const struct unwinding *unwinding, uint64_t address)
{
	const struct user_mapping *mappings = unwinding->mappings;
	size_t first = array_bound(unwinding->mapping_count, i, mappings[i].end <= address);
	bool is_there = first < unwinding->mapping_count && mappings[first].start <= address;
	return is_there && mappings[first].flags & VM_EXEC ? &mappings[first] : NULL;
}

static struct error *find_program(struct unwinding *unwinding, const struct user_mapping *mapping,
				  struct program **ret)
{
	size_t number = (size_t)(mapping - unwinding->mappings);
	size_t first = program_first_mapping(unwinding->mappings, number);
	for (size_t i = 0; i < unwinding->program_count; i++) {
		if (unwinding->programs[i].first == first) {
			*ret = unwinding->programs[i].program;
			return NULL;
		}
	}
	*ret = NULL;
	if (unwinding->program_count == PROGRAMS_MAX)
		return NULL;
	TRY(program_create(unwinding->space, unwinding->mappings, number, &unwinding->room, ret));
	unwinding->programs[unwinding->program_count++] = (struct mapped_program){ first, *ret };
	return NULL;
}

/* --- frames ---------------------------------------------------------------------------------- */

static struct error *name_file(struct unwinding *unwinding, const struct user_mapping *mapping,
			       struct user_frame *frame)
{
	struct object mm, vma;
	char path[PATH_SIZE] = "";
	TRY(object_at(unwinding->target, "struct mm_struct", user_space_mm(unwinding->space), &mm));
	TRY(object_at(unwinding->target, "struct vm_area_struct", mapping->vma, &vma));
	TRY(error_only_fatal(mapping_name(&mm, &vma, path, sizeof(path))));
	frame->place = frame->pc - mapping->start;
	if (mapping->file)
		frame->place += mapping->page_offset * unwinding->target->facts->page_size;
	if (!*path)
		return NULL;
	frame->path = strdup(path);
	return frame->path ? NULL : error_no_memory();
}

/* A return address may be the first one behind its function, which ends in a call. */
static uint64_t code_of(const struct user_frame *frame)
{
	return frame->pc - !frame->pc_is_exact;
}

static struct error *name_frame(struct unwinding *unwinding, struct user_frame *frame)
{
	char name[NAME_SIZE];
	struct program *program;
	const struct user_mapping *mapping = find_code(unwinding, code_of(frame));
	if (!mapping)
		return NULL;
	TRY(name_file(unwinding, mapping, frame));
	TRY(find_program(unwinding, mapping, &program));
	if (!program || !program_symbol_at(program, user_space_memory(unwinding->space),
					   code_of(frame), name, sizeof(name), &frame->offset))
		return NULL;
	frame->offset += !frame->pc_is_exact;
	frame->symbol = strdup(name);
	return frame->symbol ? NULL : error_no_memory();
}

static struct error *add_frame(struct unwinding *unwinding, enum user_frame_kind kind,
			       const struct cfi_registers *registers)
{
	struct user_stack *stack = unwinding->stack;
	if (!array_reserve(&stack->frames, &stack->capacity, stack->count + 1))
		return error_no_memory();
	struct user_frame *frame = &stack->frames[stack->count++];
	*frame = (struct user_frame){ .kind = kind,
				      .pc = registers->values[CFI_RIP],
				      .sp = registers->values[CFI_RSP],
				      .pc_is_exact = kind == USER_FRAME_REGISTERS ||
						     kind == USER_FRAME_SIGNAL };
	return name_frame(unwinding, frame);
}

/* --- steps ----------------------------------------------------------------------------------- */

/* By rbp, if what lies there is behind a call, and the stack goes on. */
static bool step_pointer(struct unwinding *unwinding, const struct cfi_registers *registers,
			 struct cfi_registers *ret)
{
	struct memory *user = user_space_memory(unwinding->space);
	uint64_t fp = registers->values[CFI_RBP], next, pc, called;
	if (!cfi_has(registers, CFI_RBP) || fp < registers->values[CFI_RSP] || fp % 8)
		return false;
	struct error *error = memory_read_word(user, fp, &next);
	if (!error)
		error = memory_read_word(user, fp + 8, &pc);
	error_free(error);
	if (error || !find_code(unwinding, pc) || !scan_finds_call(user, pc, &called) ||
	    (called && !find_code(unwinding, called)))
		return false;
	*ret = (struct cfi_registers){ 0 };
	cfi_set(ret, CFI_RIP, pc);
	cfi_set(ret, CFI_RSP, fp + 16);
	cfi_set(ret, CFI_RBP, next);
	return true;
}

/* Errors: why there are no rules, and fatal ones. */
static struct error *step_rules(struct unwinding *unwinding, const struct user_frame *frame,
				const struct cfi_registers *registers, struct cfi_registers *ret,
				enum cfi_result *ret_result)
{
	struct program *program = NULL;
	const struct user_mapping *mapping = find_code(unwinding, code_of(frame));
	*ret_result = CFI_NOTHING;
	if (!mapping && unwinding->problem)
		return error_prefix(error_copy(unwinding->problem), "no rule for 0x%" PRIx64,
				    frame->pc);
	if (!mapping)
		return error_create(ERROR_FORMAT, "no code is mapped at 0x%" PRIx64, frame->pc);
	TRY(find_program(unwinding, mapping, &program));
	if (program)
		TRY(cfi_step(&program->frames, code_of(frame), registers, ret, ret_result));
	if (*ret_result != CFI_NOTHING)
		return NULL;
	if (program && program->problem)
		return error_prefix(error_copy(program->problem), "no rule for 0x%" PRIx64,
				    frame->pc);
	return error_create(ERROR_NOT_FOUND, "the program has no rule for 0x%" PRIx64, frame->pc);
}

/*
 * A caller's frame lies above: vfork() alone takes its return address off the stack before it
 * enters the kernel. What a signal came upon may be on another stack.
 */
static struct error *check_progress(enum cfi_result result, const struct user_frame *frame,
				    uint64_t sp)
{
	if (result == CFI_STEP && (frame->pc_is_exact ? sp < frame->sp : sp <= frame->sp))
		return error_create(ERROR_FORMAT, "the stack does not go on above 0x%" PRIx64,
				    frame->sp);
	return NULL;
}

/* *ret_more false: this was the outermost frame, or `end` says why no other one is known. */
static struct error *step(struct unwinding *unwinding, struct cfi_registers *registers,
			  bool *ret_more)
{
	struct user_stack *stack = unwinding->stack;
	const struct user_frame *frame = &stack->frames[stack->count - 1];
	struct cfi_registers next = { 0 };
	enum cfi_result result;
	enum user_frame_kind kind = USER_FRAME_CFI;
	*ret_more = false;
	struct error *why = step_rules(unwinding, frame, registers, &next, &result);
	if (!why && result == CFI_OUTERMOST)
		return NULL;
	if (!why)
		why = check_progress(result, frame, next.values[CFI_RSP]);
	if (why && error_is_fatal(why))
		return why;
	if (why && step_pointer(unwinding, registers, &next)) {
		kind = USER_FRAME_POINTER;
		error_free(why);
		why = NULL;
	} else if (!why && result == CFI_SIGNAL_STEP) {
		kind = USER_FRAME_SIGNAL;
	}
	if (why) {
		stack->end = why;
		return NULL;
	}
	/* What starts a thread has no return address where nothing says that it has no caller. */
	if (!next.values[CFI_RIP])
		return NULL;
	*registers = next;
	*ret_more = true;
	return add_frame(unwinding, kind, registers);
}

static struct error *unwind_all(struct unwinding *unwinding, struct cfi_registers *registers)
{
	bool is_more = true;
	TRY(add_frame(unwinding, USER_FRAME_REGISTERS, registers));
	while (is_more) {
		TRY(interrupt_check());
		if (unwinding->stack->count == FRAMES_MAX) {
			unwinding->stack->end = error_create(
				ERROR_FORMAT, "there are more than %u frames", FRAMES_MAX);
			return NULL;
		}
		TRY(step(unwinding, registers, &is_more));
	}
	return NULL;
}

/* --- where it begins ------------------------------------------------------------------------- */

/* DWARF's numbers are not those in which the kernel's registers are counted. */
static void take_registers(const struct registers *from, struct cfi_registers *ret)
{
	static const unsigned int numbers[CFI_REGISTERS] = {
		X86_64_RAX, X86_64_RDX, X86_64_RCX, X86_64_RBX, X86_64_RSI, X86_64_RDI,
		X86_64_RBP, X86_64_RSP, X86_64_R8,  X86_64_R9,	X86_64_R10, X86_64_R11,
		X86_64_R12, X86_64_R13, X86_64_R14, X86_64_R15, X86_64_RIP
	};
	*ret = (struct cfi_registers){ 0 };
	for (unsigned int i = 0; i < CFI_REGISTERS; i++)
		if (registers_has(from, numbers[i]))
			cfi_set(ret, i, from->values[numbers[i]]);
}

/* Where the kernel's stack leads back to. */
static struct error *find_registers(struct target *target, const struct task *task,
				    struct cfi_registers *ret)
{
	struct stack_trace trace;
	struct error *error = NULL;
	TRY(unwind_task(target, task, &trace));
	const struct frame *last = trace.count ? &trace.frames[trace.count - 1] : NULL;
	if (!last || last->kind != FRAME_USER || last->is_unproved || trace.may_be_user ||
	    !target->arch->is_possible(&last->registers))
		error = error_create(ERROR_NOT_FOUND,
				     "task %d: its kernel stack does not lead back to the "
				     "registers of user mode",
				     task->pid);
	else if (registers_has(&last->registers, X86_64_CS) &&
		 last->registers.values[X86_64_CS] == SELECTOR_32)
		error = error_create(ERROR_UNSUPPORTED, "task %d runs code of 32 bits", task->pid);
	else
		take_registers(&last->registers, ret);
	stack_trace_deinit(&trace);
	if (!error && (!cfi_has(ret, CFI_RIP) || !cfi_has(ret, CFI_RSP)))
		error = error_create(ERROR_NOT_FOUND, "task %d: rip and rsp are not known",
				     task->pid);
	return error;
}

static void unwinding_destroy(struct unwinding *unwinding)
{
	for (size_t i = 0; i < unwinding->program_count; i++)
		program_destroy(unwinding->programs[i].program);
	user_space_close(unwinding->space);
	free(unwinding);
}

struct error *user_stack_read(struct target *target, const struct task *task,
			      struct user_stack *ret)
{
	struct cfi_registers registers;
	*ret = (struct user_stack){ 0 };
	if (target->arch != &arch_x86_64)
		return error_create(ERROR_UNSUPPORTED, "stacks of programs are not read on %s",
				    target->arch->name);
	struct unwinding *unwinding = calloc(1, sizeof(*unwinding));
	if (!unwinding)
		return error_no_memory();
	unwinding->target = target;
	unwinding->stack = ret;
	unwinding->room = PROGRAMS_ROOM;
	struct error *error = user_space_open_task(target, task, &unwinding->space);
	if (!error)
		error = find_registers(target, task, &registers);
	if (!error)
		error = user_space_mappings(unwinding->space, &unwinding->mappings,
					    &unwinding->mapping_count, &unwinding->problem);
	if (!error)
		error = unwind_all(unwinding, &registers);
	unwinding_destroy(unwinding);
	if (error)
		user_stack_deinit(ret);
	return error;
}
