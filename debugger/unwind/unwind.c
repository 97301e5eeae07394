// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The walk: where it starts, what ends it. Each frame is reached by a rule where there is one
 * (step_orc), else by proof or guess (step_guess.c); the frame says which. That it ends: the
 * stack pointer rises on each stack, no stack is entered twice, and frames are counted.
 */
#include "debugger/unwind/scan.h"
#include "debugger/unwind/step.h"

#include "base/array.h"
#include "base/interrupt.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* 16 KiB of stack hold at most 1024 frames of 16 bytes; a few stacks are chained. */
#define FRAME_LIMIT 2048

const char *frame_kind_name(enum frame_kind kind)
{
	static const char *const names[] = {
		[FRAME_REGISTERS] = "registers",
		[FRAME_ORC] = "orc",
		[FRAME_EXCEPTION] = "exception",
		[FRAME_CALL_SCAN] = "call",
		[FRAME_BPF] = "bpf",
		[FRAME_POINTER] = "fp",
		[FRAME_SCAN] = "scan",
		[FRAME_USER] = "user",
	};
	return names[kind];
}

/* --- frames ----------------------------------------------------------------------- */

static void find_symbol(struct unwinder *unwinder, struct frame *frame)
{
	/* A return address may lie behind the end of its function: after a call that does not
	 * return. */
	uint64_t back = frame->pc_is_exact ? 0 : 1;
	if (frame->kind == FRAME_USER)
		return;
	frame->has_symbol = target_symbol_at(unwinder->target, frame->pc - back, &frame->symbol,
					     &frame->offset);
	frame->offset += back;
}

static void find_stack(struct unwinder *unwinder, struct frame *frame, const struct frame *before)
{
	if (frame->kind == FRAME_USER)
		return;
	const struct stack_bounds *bounds = stacks_find(&unwinder->stacks, frame->sp);
	frame->stack = bounds ? bounds->kind : STACK_UNKNOWN;
	const struct stack_bounds *previous = before && before->kind != FRAME_USER
						      ? stacks_find(&unwinder->stacks, before->sp)
						      : NULL;
	frame->leaves_stack = previous && bounds != previous;
	if (bounds && bounds != previous)
		memcpy(frame->stack_name, bounds->name, sizeof(frame->stack_name));
}

static struct error *add_frame(struct unwinder *unwinder, enum frame_kind kind)
{
	struct stack_trace *trace = unwinder->trace;
	const struct arch *arch = unwinder->target->arch;
	if (!array_reserve(&trace->frames, &trace->capacity, trace->count + 1))
		return error_no_memory();
	struct frame *frame = &trace->frames[trace->count];
	memset(frame, 0, offsetof(struct frame, symbol));
	frame->symbol.name[0] = 0;
	memset(frame->stack_name, 0, sizeof(frame->stack_name));
	frame->kind = arch->is_user_mode(&unwinder->registers) ? FRAME_USER : kind;
	frame->registers = unwinder->registers;
	frame->pc = unwinder->registers.values[arch->pc];
	frame->sp = unwinder->registers.values[arch->sp];
	frame->pc_is_exact = unwinder->pc_is_exact;
	find_symbol(unwinder, frame);
	find_stack(unwinder, frame, trace->count ? frame - 1 : NULL);
	unwinder->has_function = frame->has_symbol;
	unwinder->function = frame->has_symbol ? frame->symbol.address : 0;
	trace->count++;
	return NULL;
}

/* --- steps ------------------------------------------------------------------------- */

/* The stack pointer must rise on a stack, and a stack that was left is not entered again. */
static struct error *check_stack(struct unwinder *unwinder, const struct step *step)
{
	const struct arch *arch = unwinder->target->arch;
	if (arch->is_user_mode(&step->registers))
		return NULL;
	uint64_t old = unwinder->registers.values[arch->sp];
	uint64_t new = step->registers.values[arch->sp];
	const struct stack_bounds *from = stacks_find(&unwinder->stacks, old);
	const struct stack_bounds *to = stacks_find(&unwinder->stacks, new);
	if (from == to && new <= old)
		return error_create(ERROR_FORMAT,
				    "the stack pointer does not rise: 0x%" PRIx64
				    " after 0x%" PRIx64,
				    new, old);
	if (from == to || !to)
		return NULL;
	if (unwinder->stacks_left >> (to - unwinder->stacks.bounds) & 1)
		return error_create(ERROR_FORMAT, "the stack at 0x%" PRIx64 " is entered again",
				    to->start);
	return NULL;
}

static void leave_stack(struct unwinder *unwinder, const struct step *step)
{
	unsigned int sp = unwinder->target->arch->sp;
	const struct stack_bounds *from =
		stacks_find(&unwinder->stacks, unwinder->registers.values[sp]);
	const struct stack_bounds *to = stacks_find(&unwinder->stacks, step->registers.values[sp]);
	if (from && from != to)
		unwinder->stacks_left |= 1u << (from - unwinder->stacks.bounds);
}

/*
 * What a call returns to is code. Kernel and modules are known; other generated code (BPF,
 * trampolines) lies near them and is believed when a call precedes.
 */
static struct error *check_pc(struct unwinder *unwinder, const struct step *step)
{
	struct target *target = unwinder->target;
	uint64_t pc = step->registers.values[target->arch->pc];
	if (step->kind == FRAME_EXCEPTION || scan_is_text(target, pc) ||
	    (pc >> 31 == 0x1ffffffff && scan_follows_call(target, pc)))
		return NULL;
	return error_create(ERROR_FORMAT, "the return address 0x%" PRIx64 " is not code", pc);
}

static struct error *step_by_rule(struct unwinder *unwinder, struct step *ret)
{
	TRY(step_orc(unwinder, ret));
	if (ret->is_end)
		return NULL;
	TRY(check_pc(unwinder, ret));
	return check_stack(unwinder, ret);
}

static bool step_by_guess(struct unwinder *unwinder, struct step *ret)
{
	static bool (*const ways[])(struct unwinder *, struct step *) = { step_call_scan,
									  step_frame_pointer,
									  step_scan };
	for (size_t i = 0; i < ARRAY_COUNT(ways); i++) {
		if (!ways[i](unwinder, ret))
			continue;
		struct error *error = check_stack(unwinder, ret);
		error_free(error);
		if (!error)
			return true;
	}
	return false;
}

static struct error *walk(struct unwinder *unwinder)
{
	struct stack_trace *trace = unwinder->trace;
	TRY(add_frame(unwinder, FRAME_REGISTERS));
	while (trace->frames[trace->count - 1].kind != FRAME_USER) {
		struct step step;
		TRY(interrupt_check());
		if (trace->count == FRAME_LIMIT) {
			trace->end = error_create(ERROR_FORMAT, "more than %d frames", FRAME_LIMIT);
			return NULL;
		}
		struct error *error = step_by_rule(unwinder, &step);
		if (error && !step_by_guess(unwinder, &step)) {
			trace->end = error;
			return NULL;
		}
		error_free(error);
		if (step.is_end)
			return NULL;
		leave_stack(unwinder, &step);
		unwinder->registers = step.registers;
		unwinder->pc_is_exact = step.pc_is_exact;
		TRY(add_frame(unwinder, step.kind));
	}
	return NULL;
}

static struct error *unwind(struct unwinder *unwinder)
{
	unwinder->orc_problem = unwinder->target->arch == &arch_x86_64
					? orc_of(unwinder->target, &unwinder->orc)
					: error_create(ERROR_UNSUPPORTED, "no unwinder for %s",
						       unwinder->target->arch->name);
	struct error *error = walk(unwinder);
	error_free(unwinder->orc_problem);
	if (error)
		stack_trace_deinit(unwinder->trace);
	return error;
}

/* --- where it starts ------------------------------------------------------------------ */

/* A switched-out task: struct inactive_task_frame at thread.sp (arch/x86/include/asm/switch_to.h).
 */
static struct error *read_inactive(struct unwinder *unwinder)
{
	static const char *const saved[] = { "r15", "r14", "r13", "r12", "bx", "bp" };
	static const char *const names[] = { "r15", "r14", "r13", "r12", "rbx", "rbp" };
	const struct arch *arch = unwinder->target->arch;
	struct object task, frame;
	uint64_t sp, pc, size, value;
	TRY(object_at(unwinder->target, "struct task_struct", unwinder->task->address, &task));
	TRY(object_u64(&task, "thread.sp", &sp));
	TRY(object_at(unwinder->target, "struct inactive_task_frame", sp, &frame));
	TRY(error_prefix(object_u64(&frame, "ret_addr", &pc), "the frame at thread.sp"));
	if (!type_size(frame.type, &size))
		return error_create(ERROR_FORMAT, "struct inactive_task_frame has no size");
	for (size_t i = 0; i < ARRAY_COUNT(saved); i++) {
		struct error *error = object_u64(&frame, saved[i], &value);
		for (unsigned int number = 0; !error && number < arch->register_count; number++)
			if (!strcmp(arch->register_names[number], names[i]))
				registers_set(&unwinder->registers, number, value);
		error_free(error);
	}
	registers_set(&unwinder->registers, arch->pc, pc);
	registers_set(&unwinder->registers, arch->sp, sp + size);
	return NULL;
}

/* A task that never ran starts at ret_from_fork, which nothing has called (to 6.5 by that name). */
static bool is_fork_entry(struct target *target, uint64_t pc)
{
	static const char *const names[] = { "ret_from_fork_asm", "ret_from_fork" };
	for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
		uint64_t address;
		if (symtab_address(target->symbols, names[i], &address))
			return address == pc;
	}
	return false;
}

struct error *unwind_registers(struct target *target, const struct registers *registers,
			       const struct task *task, struct stack_trace *ret)
{
	struct unwinder unwinder = { .target = target,
				     .task = task,
				     .trace = ret,
				     .registers = *registers,
				     .pc_is_exact = true };
	*ret = (struct stack_trace){ .frames = NULL };
	stacks_init(&unwinder.stacks, target, task, task ? target_cpu(target, task->cpu) : NULL);
	return unwind(&unwinder);
}

struct error *unwind_task(struct target *target, const struct task *task, struct stack_trace *ret)
{
	const struct cpu *cpu = task->on_cpu ? target_cpu(target, task->cpu) : NULL;
	if (cpu && cpu->has_registers)
		return unwind_registers(target, &cpu->registers, task, ret);
	struct unwinder unwinder = { .target = target, .task = task, .trace = ret };
	*ret = (struct stack_trace){ .is_stale = task->on_cpu };
	if (!task->stack) {
		ret->end = error_create(ERROR_NOT_FOUND, "the task has exited: it has no stack");
		return NULL;
	}
	stacks_init(&unwinder.stacks, target, task, cpu);
	ret->end = read_inactive(&unwinder);
	if (ret->end)
		return NULL;
	unwinder.pc_is_exact = is_fork_entry(target, unwinder.registers.values[target->arch->pc]);
	return unwind(&unwinder);
}

void stack_trace_deinit(struct stack_trace *trace)
{
	free(trace->frames);
	error_free(trace->end);
	*trace = (struct stack_trace){ .frames = NULL };
}
