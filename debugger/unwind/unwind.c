// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The walk: where it starts, what ends it. Each frame is reached by a rule where there is one
 * (step_orc), else by proof or guess (step_guess.c); the frame says which. That it ends: the
 * stack pointer rises on each stack, no stack is entered twice, and frames are counted.
 */
#include "debugger/unwind/scan.h"
#include "debugger/unwind/search.h"
#include "debugger/unwind/step.h"

#include "base/array.h"
#include "base/interrupt.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* 16 KiB of stack hold at most 1024 frames of 16 bytes; a few stacks are chained. */
#define FRAME_LIMIT 2048

#define LIVE_ATTEMPTS 8

const char *frame_kind_name(enum frame_kind kind)
{
	static const char *const names[] = {
		[FRAME_REGISTERS] = "registers", [FRAME_SEARCH] = "search",  [FRAME_ORC] = "orc",
		[FRAME_EXCEPTION] = "exception", [FRAME_CALL_SCAN] = "call", [FRAME_BPF] = "bpf",
		[FRAME_POINTER] = "fp",		 [FRAME_SCAN] = "scan",	     [FRAME_USER] = "user",
	};
	return names[kind];
}

const char *trace_start_name(enum trace_start start)
{
	static const char *const names[] = { [START_REGISTERS] = "registers",
					     [START_SWITCH] = "switch",
					     [START_SEARCH] = "search" };
	return names[start];
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
	*frame = (struct frame){ .symbol.name = "" };
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
	size_t count = unwinder->strict ? 1 : ARRAY_COUNT(ways);
	for (size_t i = 0; i < count; i++) {
		if (!ways[i](unwinder, ret))
			continue;
		struct error *error = check_stack(unwinder, ret);
		error_free(error);
		if (!error)
			return true;
	}
	return false;
}

struct error *unwinder_step(struct unwinder *unwinder, struct step *ret)
{
	struct error *error = step_by_rule(unwinder, ret);
	/* Where there is no rule another way may be as good; where it leads nowhere, none is. */
	bool may_guess = error && (!unwinder->strict || error->kind == ERROR_NOT_FOUND);
	if (!may_guess || !step_by_guess(unwinder, ret))
		return error;
	error_free(error);
	return NULL;
}

void unwinder_take(struct unwinder *unwinder, const struct step *step)
{
	leave_stack(unwinder, step);
	unwinder->registers = step->registers;
	unwinder->pc_is_exact = step->pc_is_exact;
}

static bool is_at(const struct unwinder *unwinder, const struct search_frame *frame)
{
	const struct arch *arch = unwinder->target->arch;
	const uint64_t *now = unwinder->registers.values, *then = frame->registers.values;
	return now[arch->pc] == then[arch->pc] && now[arch->sp] == then[arch->sp];
}

/* To the end, or up to the frame before `stop`, at which the unwinder then is. */
static struct error *walk(struct unwinder *unwinder, enum frame_kind kind,
			  const struct search_frame *stop)
{
	struct stack_trace *trace = unwinder->trace;
	if (stop && is_at(unwinder, stop))
		return NULL;
	TRY(add_frame(unwinder, kind));
	while (trace->frames[trace->count - 1].kind != FRAME_USER) {
		struct step step;
		TRY(interrupt_check());
		if (trace->count == FRAME_LIMIT) {
			trace->end = error_create(ERROR_FORMAT, "more than %d frames", FRAME_LIMIT);
			return NULL;
		}
		trace->end = unwinder_step(unwinder, &step);
		if (trace->end || step.is_end)
			return NULL;
		unwinder_take(unwinder, &step);
		if (stop && is_at(unwinder, stop))
			return NULL;
		TRY(add_frame(unwinder, step.kind));
	}
	return NULL;
}

static void open_orc(struct unwinder *unwinder)
{
	unwinder->orc_problem = unwinder->target->arch == &arch_x86_64
					? orc_of(unwinder->target, &unwinder->orc)
					: error_create(ERROR_UNSUPPORTED, "no unwinder for %s",
						       unwinder->target->arch->name);
}

static struct error *unwind(struct unwinder *unwinder)
{
	open_orc(unwinder);
	struct error *error = walk(unwinder, FRAME_REGISTERS, NULL);
	error_free(unwinder->orc_problem);
	if (error)
		stack_trace_deinit(unwinder->trace);
	return error;
}

/* --- a search -------------------------------------------------------------------------- */

static void begin_at(struct unwinder *unwinder, const struct search_frame *frame)
{
	unwinder->registers = frame->registers;
	unwinder->pc_is_exact = frame->pc_is_exact;
}

/* First what may be over, then what is sure: from there on, nothing that the former said counts. */
static struct error *walk_found(struct unwinder *unwinder, const struct search_result *found)
{
	struct stack_trace *trace = unwinder->trace;
	bool is_interrupted = found->sure.pc_is_exact;
	begin_at(unwinder, &found->start);
	TRY(walk(unwinder, FRAME_SEARCH, found->proof ? &found->sure : NULL));
	for (size_t i = 0; i < trace->count; i++)
		trace->frames[i].is_unproved = true;
	trace->unproved = trace->count;
	if (!found->proof || trace->end)
		return NULL;
	begin_at(unwinder, &found->sure);
	return walk(unwinder, is_interrupted ? FRAME_EXCEPTION : FRAME_SEARCH, NULL);
}

/* A task that was running, or was not left by the scheduler: no registers say where it was. */
static struct error *unwind_searched(struct unwinder *unwinder, const struct cpu *cpu)
{
	struct stack_trace *trace = unwinder->trace;
	struct cpu_context context = { .may_be_nmi = false };
	struct search_result found;
	trace->start = START_SEARCH;
	trace->cpu_is_silent = cpu && cpu->is_silent;
	open_orc(unwinder);
	unwinder->strict = true;
	if (cpu)
		cpu_context_read(unwinder->target, cpu, &context);
	stacks_load(&unwinder->stacks);
	struct error *error = search_stacks(unwinder, &context, &found);
	trace->proof = found.proof;
	trace->may_be_user = unwinder->task->has_mm && !found.proof && !context.count;
	if (!error && found.found)
		error = walk_found(unwinder, &found);
	else if (!error)
		trace->end = unwinder->orc_problem
				     ? error_create(ERROR_NOT_FOUND, "%s",
						    unwinder->orc_problem->message)
				     : error_create(ERROR_NOT_FOUND,
						    "nothing on the stack leads to where the "
						    "kernel was entered");
	error_free(unwinder->orc_problem);
	if (error)
		stack_trace_deinit(trace);
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

/* The scheduler leaves a task in the call of __switch_to_asm, or before its first instruction. */
static bool is_switched_out(struct unwinder *unwinder)
{
	uint64_t pc = unwinder->registers.values[unwinder->target->arch->pc], called, address;
	unwinder->pc_is_exact = is_fork_entry(unwinder->target, pc);
	return unwinder->pc_is_exact ||
	       (symtab_address(unwinder->target->symbols, "__switch_to_asm", &address) &&
		scan_call_target(unwinder->target, pc, &called) && called == address);
}

static struct error *unwind_still(struct target *target, const struct task *task,
				  struct stack_trace *ret)
{
	const struct cpu *cpu = task->on_cpu ? target_cpu(target, task->cpu) : NULL;
	if (cpu && cpu->has_registers) {
		TRY(unwind_registers(target, &cpu->registers, task, ret));
		ret->registers_from = cpu->registers_from;
		return NULL;
	}
	struct unwinder unwinder = { .target = target, .task = task, .trace = ret };
	*ret = (struct stack_trace){ .start = START_SWITCH };
	if (!task->stack) {
		ret->end = task->state_letter == 'Z' || task->state_letter == 'X'
				   ? error_create(ERROR_NOT_FOUND,
						  "the task has exited: it has no stack")
				   : error_create(ERROR_FORMAT,
						  "its task_struct.stack is NULL, though it has "
						  "not exited");
		return NULL;
	}
	stacks_init(&unwinder.stacks, target, task, cpu);
	if (task->on_cpu)
		return unwind_searched(&unwinder, cpu);
	ret->end = read_inactive(&unwinder);
	if (ret->end)
		return NULL;
	return is_switched_out(&unwinder) ? unwind(&unwinder) : unwind_searched(&unwinder, NULL);
}

/* --- a machine that runs ------------------------------------------------------------------ */

/*
 * A task that is not on a CPU, and has not been switched out once more when looked at again, has
 * not run in between (kernel/sched/core.c: __schedule() counts for who leaves, on_cpu is set before
 * and cleared after a task runs).
 */
static struct error *read_stamp(struct target *target, const struct task *task, struct stamp *ret)
{
	struct object object;
	uint64_t voluntary, involuntary, runs = task->on_cpu;
	TRY(object_at(target, "struct task_struct", task->address, &object));
	if (object_has(&object, "on_cpu"))
		TRY(object_u64(&object, "on_cpu", &runs));
	TRY(object_u64(&object, "nvcsw", &voluntary));
	TRY(object_u64(&object, "nivcsw", &involuntary));
	TRY(object_u64(&object, "thread.sp", &ret->sp));
	ret->switches = voluntary + involuntary;
	ret->runs = runs != 0;
	return NULL;
}

bool unwind_holds(struct target *target, const struct task *task, const struct stack_trace *trace)
{
	struct stamp now = { 0 };
	if (!target_is_live(target))
		return true;
	struct error *error = read_stamp(target, task, &now);
	error_free(error);
	return !error && !now.runs && now.sp == trace->stamp.sp &&
	       now.switches == trace->stamp.switches;
}

static struct error *unwind_live(struct target *target, const struct task *task,
				 struct stack_trace *ret)
{
	for (unsigned int attempt = 0; attempt < LIVE_ATTEMPTS; attempt++) {
		struct stamp stamp = { 0 };
		struct task asleep = *task;
		TRY(read_stamp(target, task, &stamp));
		if (stamp.runs)
			continue;
		asleep.on_cpu = false;
		TRY(unwind_still(target, &asleep, ret));
		ret->stamp = stamp;
		if (unwind_holds(target, task, ret))
			return NULL;
		stack_trace_deinit(ret);
	}
	*ret = (struct stack_trace){ .is_moving = true,
				     .end = error_create(ERROR_OTHER,
							 "the task is running: its stack moves") };
	return NULL;
}

struct error *unwind_task(struct target *target, const struct task *task, struct stack_trace *ret)
{
	return target_is_live(target) ? unwind_live(target, task, ret)
				      : unwind_still(target, task, ret);
}

void stack_trace_deinit(struct stack_trace *trace)
{
	free(trace->frames);
	error_free(trace->end);
	*trace = (struct stack_trace){ .frames = NULL };
}
