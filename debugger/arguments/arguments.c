// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/arguments/arguments.h"

#include "base/array.h"
#include "base/interrupt.h"
#include "debugger/arguments/code_places.h"
#include "debugger/arguments/equations.h"
#include "debugger/arguments/prototype.h"
#include "debugger/code/parameters.h"
#include "debugger/target/object.h"
#include <stdlib.h>
#include <string.h>

struct pass {
	struct target *target;
	const struct task *task;
	struct stack_trace *trace;
	struct inference *inference;
	struct code_places *places;
	struct symbolic_world world;
	struct frame_arguments *arguments;
	struct equations callee, caller; /* of the frame at hand and of the one that called it */
};

/* --- prototypes ---------------------------------------------------------------------------- */

static bool is_scalar(struct type type)
{
	struct btf_type record;
	return type_get_resolved(type, &record) && btf_kind_is_scalar(record.kind);
}

bool arguments_prototype(struct inference *inference, uint64_t function,
			 struct frame_arguments *ret, uint8_t registers[ARGUMENTS_MAX])
{
	struct callee callee;
	struct parameters parameters;
	struct parameter parameter;
	callees_find_judged(&inference->callees, function, &callee);
	if (callee.kind != CALLEE_TYPED ||
	    !parameters_begin(&parameters, inference->lowering,
			      kind_type(&inference->levels, callee.prototype)))
		return false;
	ret->has_prototype = true;
	ret->result = (struct type){ parameters.function.btf, parameters.function.type };
	while (ret->count < ARGUMENTS_MAX && parameters_next(&parameters, &parameter)) {
		registers[ret->count] = is_scalar(parameter.type) ? parameter.reg : LOWER_NONE;
		ret->items[ret->count++] =
			(struct argument){ .name = parameter.name, .type = parameter.type };
	}
	return true;
}

/* The low bytes of a register as the type has them. */
static uint64_t extend(struct type type, uint64_t value)
{
	uint64_t size;
	if (!type_size(type, &size) || size >= 8)
		return value;
	unsigned int bits = (unsigned int)size * 8;
	value &= ((uint64_t)1 << bits) - 1;
	if (type_is_signed(type) && value >> (bits - 1))
		value |= ~(uint64_t)0 << bits;
	return value;
}

/* --- one frame ----------------------------------------------------------------------------------
 */

static enum helper find_helper(void *context, uint64_t address, uint8_t *ret_register)
{
	const struct inference *inference = context;
	return callees_helper(&inference->callees, address, ret_register);
}

static void known_registers(const struct pass *pass, const struct frame *frame,
			    struct equation_registers *ret)
{
	*ret = (struct equation_registers){ .known = 0 };
	for (unsigned int i = 0; i < 16; i++) {
		uint8_t number = pass->world.lowering->in_target[i];
		if (!registers_has(&frame->registers, number))
			continue;
		ret->values[i] = frame->registers.values[number];
		ret->known |= 1u << i;
	}
}

/* The stack pointer when the function was entered: its caller's frame says. */
static bool entry_stack(const struct pass *pass, size_t index, uint64_t *ret)
{
	if (index + 1 >= pass->trace->count)
		return false;
	const struct frame *next = &pass->trace->frames[index + 1];
	if (next->kind == FRAME_EXCEPTION || next->kind == FRAME_USER || next->kind == FRAME_SCAN ||
	    next->pc_is_exact)
		return false;
	*ret = next->sp - 8;
	return true;
}

/* Solves what holds in frame `index`. Errors: why nothing can be said of it. */
static struct error *solve_frame(struct pass *pass, size_t index, struct equations *ret)
{
	const struct frame *frame = &pass->trace->frames[index];
	struct equation_frame input = { .memory = pass->target->memory,
					.task = pass->task ? pass->task->address : 0 };
	if (!frame->has_symbol || frame->symbol.size < frame->offset || frame->kind == FRAME_USER)
		return error_create(ERROR_NOT_FOUND, "no function");
	TRY(code_places_find(pass->places, pass->inference, &pass->world, frame, &ret->place));
	known_registers(pass, frame, &input.registers);
	input.sp = frame->sp;
	input.has_entry = entry_stack(pass, index, &input.entry);
	return equations_solve(ret, &input, pass->world.lowering);
}

/* The caller's registers that the callee saved: known in the caller's frame from now on. */
static void hand_on(struct pass *pass, const struct equations *equations, struct frame *caller)
{
	const struct lowering *lowering = pass->world.lowering;
	for (unsigned int i = 0; i < 16; i++) {
		struct symbolic entry = { .base = BASE_ENTRY, .size = 8, .id = i };
		uint64_t value;
		if (!(lowering->kept_by_calls >> i & 1) || i == lowering->stack ||
		    !equations_value(equations, &entry, 8, &value))
			continue;
		uint8_t number = lowering->in_target[i];
		if (!registers_has(&caller->registers, number))
			registers_set(&caller->registers, number, value);
	}
}

/*
 * What the caller called is this very function. Through a pointer: one that is still where the
 * caller took it from, and would else have to be changed to this function since.
 */
static bool calls(const struct pass *pass, const struct equations *caller, uint64_t function)
{
	uint64_t target;
	if (caller->place->call == CALL_DIRECT)
		return caller->place->target == function;
	return caller->place->call == CALL_REGISTER &&
	       equations_value_again(caller, &caller->place->pointer, pass->target->memory,
				     &target) &&
	       target == function;
}

static void find_argument(struct argument *argument, uint8_t reg, const struct equations *callee,
			  const struct equations *caller)
{
	struct symbolic entry = { .base = BASE_ENTRY, .size = 8, .id = reg };
	uint64_t size, inner, outer;
	if (reg == LOWER_NONE || !type_size(argument->type, &size))
		return;
	bool by_callee = callee && equations_value(callee, &entry, (uint32_t)size, &inner);
	bool by_caller = caller && equations_value(caller, &caller->place->state.registers[reg],
						   (uint32_t)size, &outer);
	if (by_callee)
		inner = extend(argument->type, inner);
	if (by_caller)
		outer = extend(argument->type, outer);
	if ((!by_callee && !by_caller) || (by_callee && by_caller && inner != outer))
		return;
	argument->is_known = true;
	argument->value = by_callee ? inner : outer;
}

/*
 * "f.cold" is a part of f that lies elsewhere: its caller called f. False: it is none, or several
 * have f's name.
 */
static bool find_whole(const struct pass *pass, const struct symbol *part, uint64_t *ret)
{
	static const char cold[] = ".cold";
	char name[SYMBOL_NAME_SIZE];
	struct symbol symbol, other;
	uint64_t cursor = 0;
	size_t length = strlen(part->name), end = sizeof(cold) - 1;
	if (length <= end || strcmp(part->name + length - end, cold) != 0)
		return false;
	memcpy(name, part->name, length - end);
	name[length - end] = 0;
	const struct symtab *symbols = pass->target->symbols;
	if (!symtab_find_own(symbols, part->module, name, &cursor, &symbol) ||
	    symtab_find_own(symbols, part->module, name, &cursor, &other))
		return false;
	*ret = symbol.address;
	return true;
}

static void find_arguments(struct pass *pass, size_t index, const struct equations *callee,
			   const struct equations *caller)
{
	const struct frame *frame = &pass->trace->frames[index];
	struct frame_arguments *arguments = &pass->arguments[index];
	uint8_t registers[ARGUMENTS_MAX];
	uint64_t function = frame->symbol.address;
	if (!frame->has_symbol || frame->kind == FRAME_USER)
		return;
	/* Where the part begins, registers no longer have what the function was given. */
	if (find_whole(pass, &frame->symbol, &function))
		callee = NULL;
	if (!arguments_prototype(pass->inference, function, arguments, registers))
		return;
	if (caller && !calls(pass, caller, function))
		caller = NULL;
	for (size_t i = 0; i < arguments->count; i++)
		find_argument(&arguments->items[i], registers[i], callee, caller);
}

/* --- the whole trace -----------------------------------------------------------------------------
 */

/*
 * Whether a frame is where its function is now. One that a search found has the place of its last
 * call, which may have returned: its own registers and slots may have changed since.
 */
static bool is_current(const struct frame *frame)
{
	return frame->kind != FRAME_SEARCH;
}

/*
 * From the innermost frame outwards: each frame's equations need the registers of that frame.
 * Frames that are not proved come first, and say nothing of any.
 */
static struct error *walk(struct pass *pass)
{
	struct equations *callee = &pass->callee, *caller = &pass->caller;
	bool has_callee = false, has_caller;
	size_t first = pass->trace->unproved;
	for (size_t i = 0; i < first; i++)
		find_arguments(pass, i, NULL, NULL);
	for (size_t i = first; i < pass->trace->count; i++) {
		TRY(interrupt_check());
		if (i == first && is_current(&pass->trace->frames[i])) {
			struct error *error = solve_frame(pass, i, callee);
			has_callee = !error;
			error_free(error);
		}
		bool is_called = i + 1 < pass->trace->count &&
				 !pass->trace->frames[i + 1].pc_is_exact &&
				 pass->trace->frames[i + 1].kind != FRAME_USER;
		has_caller = false;
		if (is_called && has_callee)
			hand_on(pass, callee, &pass->trace->frames[i + 1]);
		if (i + 1 < pass->trace->count) {
			struct error *error = solve_frame(pass, i + 1, caller);
			has_caller = !error;
			error_free(error);
		}
		find_arguments(pass, i, has_callee ? callee : NULL,
			       has_caller && is_called ? caller : NULL);
		struct equations *other = callee;
		callee = caller;
		caller = other;
		has_callee = has_caller;
	}
	return NULL;
}

/* Where the current task's address lies in each CPU's area: by itself, or in pcpu_hot (6.2-6.14).
 */
static void find_current(struct target *target, struct symbolic_world *world)
{
	static const char *const names[] = { "current_task", "const_current_task" };
	uint64_t address, offset;
	for (size_t i = 0; i < ARRAY_COUNT(names); i++)
		if (symtab_address(target->symbols, names[i], &address))
			world->current_task[i] = address;
	if (world->current_task[0] || !symtab_address(target->symbols, "pcpu_hot", &address))
		return;
	struct error *error = object_offset(target, "struct pcpu_hot", "current_task", &offset);
	if (!error)
		world->current_task[0] = address + offset;
	error_free(error);
}

void arguments_world(struct inference *inference, struct symbolic_world *ret)
{
	*ret = (struct symbolic_world){ .lowering = inference->lowering,
					.context = inference,
					.helper = find_helper };
	find_current(inference->target, ret);
}

/* The BTF of the module that the frame is in; that of all modules is a megabyte and more. */
static struct error *add_module_of(struct inference *inference, const struct frame *frame)
{
	const struct module *module = NULL;
	if (frame->has_symbol && frame->symbol.module)
		module = target_module(inference->target, frame->symbol.module);
	return module ? inference_add_module(inference, module) : NULL;
}

struct error *arguments_of(struct target *target, const struct task *task,
			   struct stack_trace *trace, struct frame_arguments **ret)
{
	struct pass pass = { .target = target, .task = task, .trace = trace };
	TRY(inference_get(target, &pass.inference));
	TRY(code_places_begin(target, &pass.places));
	for (size_t i = 0; i < trace->count; i++)
		TRY(add_module_of(pass.inference, &trace->frames[i]));
	arguments_world(pass.inference, &pass.world);
	pass.arguments = calloc(trace->count + 1, sizeof(*pass.arguments));
	if (!pass.arguments)
		return error_no_memory();
	struct error *error = walk(&pass);
	if (error)
		free(pass.arguments);
	else
		*ret = pass.arguments;
	return error;
}
