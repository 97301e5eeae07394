// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/arguments/origin.h"

#include "debugger/arguments/equations.h"
#include "debugger/arguments/prototype.h"
#include <stdlib.h>

#define FUNCTION_SIZE_MAX (1u << 20)
#define REGISTERS	  16

struct question {
	struct target *target;
	const struct frame *frame;
	struct inference *inference;
	struct symbolic_world world;
	struct code code;
	struct symbolic_place place;
	struct equations equations; /* of the place */
};

static bool solve(struct question *question, const struct task *task)
{
	const struct frame *frame = question->frame;
	struct equation_frame input = { .memory = question->target->memory,
					.task = task ? task->address : 0,
					.sp = frame->sp };
	for (unsigned int i = 0; i < REGISTERS; i++) {
		uint8_t number = question->world.lowering->in_target[i];
		if (!registers_has(&frame->registers, number))
			continue;
		input.registers.values[i] = frame->registers.values[number];
		input.registers.known |= 1u << i;
	}
	question->equations.place = &question->place;
	struct error *error =
		equations_solve(&question->equations, &input, question->world.lowering);
	bool solved = !error;
	error_free(error);
	return solved;
}

/* The operation that gave a value; its number is one more than its index. */
static bool find_operation(const struct question *question, uint32_t id, struct op *ret)
{
	const struct lowering *lowering = question->world.lowering;
	struct ops ops;
	bool found = lowering_read(lowering, &question->code, &ops) && id && id <= ops.count;
	if (found)
		*ret = ops.items[id - 1];
	free(ops.items);
	return found;
}

static const struct symbolic_load *find_load(const struct symbolic_place *place, uint32_t id)
{
	for (uint32_t i = 0; i < place->load_count && i < SYMBOLIC_LOADS; i++)
		if (place->loads[i].id == id)
			return &place->loads[i];
	return NULL;
}

static void name_argument(const struct question *question, const struct symbolic *value,
			  struct origin *ret)
{
	struct frame_arguments arguments = { 0 };
	uint8_t registers[ARGUMENTS_MAX];
	if (!arguments_prototype(question->inference, question->code.address, &arguments,
				 registers))
		return;
	for (size_t i = 0; i < arguments.count; i++)
		if (registers[i] == value->id && *arguments.items[i].name)
			ret->argument = arguments.items[i].name;
}

/* False: nothing is proved of the value. */
static bool explain(struct question *question, const struct task *task,
		    const struct symbolic *value, struct origin *ret)
{
	struct op op;
	ret->offset = value->offset;
	if (value->size != 8)
		return false;
	if (value->base == BASE_NUMBER) {
		ret->is_constant = true;
		return true;
	}
	if (value->base == BASE_ENTRY && value->id < REGISTERS) {
		ret->is_entry = true;
		ret->entry = question->world.lowering->in_target[value->id];
		name_argument(question, value, ret);
		return true;
	}
	if (value->base != BASE_SOME || !find_operation(question, value->id, &op))
		return false;
	ret->at = op.at;
	if (op.kind == OP_CALL || op.kind == OP_CALL_REGISTER) {
		ret->is_result = true;
		ret->callee = op.kind == OP_CALL ? (uint64_t)op.constant : 0;
		return true;
	}
	if (op.kind != OP_LOAD)
		return false;
	const struct symbolic_load *load = find_load(&question->place, value->id);
	ret->is_loaded = true;
	ret->has_place = load && solve(question, task) &&
			 equations_value(&question->equations, &load->address, 8, &ret->place);
	return true;
}

/* What holds at the frame's place. The bytes of the code are the caller's to free. */
static struct error *ask(struct question *question, uint8_t **ret_bytes)
{
	const struct frame *frame = question->frame;
	if (!frame->has_symbol || frame->symbol.size > FUNCTION_SIZE_MAX ||
	    frame->offset >= frame->symbol.size)
		return error_create(ERROR_NOT_FOUND, "no function");
	TRY(inference_get(question->target, &question->inference));
	arguments_world(question->inference, &question->world);
	*ret_bytes = malloc(frame->symbol.size);
	if (!*ret_bytes)
		return error_no_memory();
	question->code = (struct code){ *ret_bytes, frame->symbol.size, frame->symbol.address };
	if (!text_read(&question->inference->text, question->code.address, *ret_bytes,
		       question->code.size))
		return error_create(ERROR_NOT_FOUND, "no code");
	return symbolic_run(&question->world, &question->code, frame->offset, frame->pc_is_exact,
			    &question->place);
}

static struct error *nothing_proved(void)
{
	return error_create(ERROR_NOT_FOUND, "nothing proves where it came from");
}

struct error *origin_find(struct target *target, const struct task *task, const struct frame *frame,
			  unsigned int reg, struct origin *ret)
{
	struct question question = { .target = target, .frame = frame };
	uint8_t *bytes = NULL;
	*ret = (struct origin){ 0 };
	struct error *error = ask(&question, &bytes);
	const struct symbolic *values = question.place.state.registers;
	unsigned int number = 0;
	while (!error && number < REGISTERS && question.world.lowering->in_target[number] != reg)
		number++;
	if (!error && (number == REGISTERS || !explain(&question, task, &values[number], ret)))
		error = nothing_proved();
	free(bytes);
	return error;
}

struct error *origin_find_target(struct target *target, const struct task *task,
				 const struct frame *frame, struct origin *ret)
{
	struct question question = { .target = target, .frame = frame };
	uint8_t *bytes = NULL;
	*ret = (struct origin){ 0 };
	struct error *error = frame->pc_is_exact ? nothing_proved() : ask(&question, &bytes);
	const struct symbolic_place *place = &question.place;
	if (!error &&
	    (place->call != CALL_REGISTER || !explain(&question, task, &place->pointer, ret)))
		error = nothing_proved();
	free(bytes);
	return error;
}

struct error *origin_find_called(struct target *target, const struct task *task,
				 const struct frame *frame, uint64_t *ret, bool *ret_is_pointer)
{
	struct question question = { .target = target, .frame = frame };
	uint8_t *bytes = NULL;
	*ret = 0;
	struct error *error = frame->pc_is_exact ? nothing_proved() : ask(&question, &bytes);
	const struct symbolic_place *place = &question.place;
	*ret_is_pointer = !error && place->call == CALL_REGISTER;
	if (!error && place->call == CALL_DIRECT)
		*ret = place->target;
	else if (!error && (!*ret_is_pointer || !solve(&question, task) ||
			    (!equations_value(&question.equations, &place->pointer, 8, ret) &&
			     !equations_value_again(&question.equations, &place->pointer,
						    target->memory, ret))))
		error = nothing_proved();
	free(bytes);
	return error;
}
