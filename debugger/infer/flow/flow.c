// SPDX-License-Identifier: GPL-3.0-or-later
/* The sweeps over a function, and what each operation does to the state. flow_value.c is about the
 * values, flow_state.c about the stack and joins. */
#include "debugger/infer/flow/flow.h"

#include "base/array.h"
#include "debugger/code/parameters.h"
#include "debugger/infer/flow/flow_private.h"
#include <stdlib.h>
#include <string.h>

#define SWEEPS_MAX 8
/* Larger than any function is: beyond, the symbol is damaged. */
#define CODE_MAX (1u << 20)

/* --- calls ----------------------------------------------------------------------------------- */

/* What a call of a function with this FUNC_PROTO returns. */
static struct value result_of(struct flow *flow, struct kind prototype)
{
	const struct levels *levels = flow->world->levels;
	struct btf_type record = kind_record(levels, prototype);
	if (record.kind != BTF_FUNC_PROTO)
		return (struct value){ .kind = VALUE_OBJECT, .id = OBJECT_UNTYPED };
	struct kind type = kind_of(levels, prototype.level, record.type);
	bool is_pointer = kind_record(levels, type).kind == BTF_PTR;
	if (is_pointer && !kind_target(levels, type).id)
		return (struct value){ .kind = VALUE_OBJECT };
	return value_of_type(flow, type);
}

static void read_arguments(struct flow *flow, struct kind prototype, struct arguments *ret)
{
	const struct levels *levels = flow->world->levels;
	struct parameters parameters;
	struct parameter parameter;
	*ret = (struct arguments){ .prototype = prototype, .result = result_of(flow, prototype) };
	if (!parameters_begin(&parameters, flow->world->lowering, kind_type(levels, prototype)))
		return;
	while (ret->count < ARGUMENTS_MAX && parameters_next(&parameters, &parameter)) {
		struct kind type = kind_of(levels, prototype.level, parameter.type.id);
		/* What is passed by value in more than one register is not followed. */
		if (parameter.reg == LOWER_NONE ||
		    !btf_kind_is_scalar(kind_record(levels, type).kind))
			continue;
		ret->registers[ret->count] = parameter.reg;
		ret->types[ret->count++] = type;
	}
}

/* Where the arguments of a known prototype are passed; kept for the next call of it. */
static const struct arguments *arguments_of(struct flow *flow, struct kind prototype)
{
	struct arguments *arguments =
		&flow->arguments[(prototype.id + prototype.level) & (ARGUMENTS_CACHE - 1)];
	if (!kind_is(arguments->prototype, prototype))
		read_arguments(flow, prototype, arguments);
	return arguments;
}

/* Calls `visit` for each argument in a register that a prototype types. */
typedef void argument_visitor(struct flow *flow, uint8_t reg, struct kind type);

static void each_argument(struct flow *flow, struct kind prototype, argument_visitor *visit)
{
	if (!prototype.id)
		return;
	const struct arguments *arguments = arguments_of(flow, prototype);
	for (uint8_t i = 0; i < arguments->count; i++)
		visit(flow, arguments->registers[i], arguments->types[i]);
}

static void enter_argument(struct flow *flow, uint8_t reg, struct kind type)
{
	flow->state.registers[reg] = value_of_type(flow, type);
}

static void pass_argument(struct flow *flow, uint8_t reg, struct kind type)
{
	meet(flow, &flow->state.registers[reg], type, "argument of a call");
}

static void pass_arguments(struct flow *flow, struct kind prototype)
{
	each_argument(flow, prototype, pass_argument);
	pass_formatted(flow, prototype);
}

/* What the sweep before found is found again, or was wrong. */
static void set_entry(void *context)
{
	struct flow *flow = context;
	flow->finding_count = 0;
	state_reset(&flow->state);
	flow->state.registers[flow->world->lowering->stack] = (struct value){ .kind = VALUE_STACK };
	if (flow->function->self.kind == CALLEE_TYPED) {
		each_argument(flow, flow->function->self.prototype, enter_argument);
		return;
	}
	const struct lowering *lowering = flow->world->lowering;
	for (uint8_t i = 0; i < lowering->argument_count; i++) {
		uint8_t reg = lowering->arguments[i];
		flow->state.registers[reg] = object_value(flow, OBJECT_ARGUMENT | reg);
	}
}

/* What a call gives back: a pointer without a type is one to an object that may get one. */
static struct value value_of_result(struct flow *flow, struct kind prototype)
{
	if (!prototype.id)
		return object_value(flow, OBJECT_UNTYPED | flow->at);
	struct value result = arguments_of(flow, prototype)->result;
	return result.kind == VALUE_OBJECT ? object_value(flow, result.id | flow->at) : result;
}

/* The callee may keep and write what it got the address of. */
static void give_away_stack(struct flow *flow)
{
	const struct lowering *lowering = flow->world->lowering;
	for (uint8_t i = 0; i < lowering->argument_count; i++) {
		const struct value *value = &flow->state.registers[lowering->arguments[i]];
		if (value->kind == VALUE_STACK)
			state_escape(&flow->state, value->number, INT32_MAX);
	}
	state_forget_escaped(&flow->state);
}

static void clobber(struct flow *flow, uint64_t mask)
{
	mask &= ((uint64_t)1 << LOWER_SOMEWHERE) - 1;
	for (; mask; mask &= mask - 1)
		flow->state.registers[__builtin_ctzll(mask)] = value_unknown();
}

static void after_call(struct flow *flow, struct kind prototype)
{
	const struct lowering *lowering = flow->world->lowering;
	give_away_stack(flow);
	clobber(flow, ~lowering->kept_by_calls & (((uint64_t)1 << LOWER_TEMPORARY) - 1));
	flow->state.registers[lowering->result] = value_of_result(flow, prototype);
}

static void pass_result(struct flow *flow)
{
	const struct flow_world *world = flow->world;
	const struct callee *self = &flow->function->self;
	if (self->kind != CALLEE_TYPED)
		return;
	struct btf_type record = kind_record(world->levels, self->prototype);
	meet(flow, &flow->state.registers[world->lowering->result],
	     kind_of(world->levels, self->prototype.level, record.type), "returned");
}

/* The prototype behind a register that is called; none when that is not known. */
static struct kind register_prototype(struct flow *flow, uint8_t reg)
{
	const struct value *value = &flow->state.registers[reg];
	struct callee callee = { .kind = CALLEE_UNKNOWN };
	if (value->kind == VALUE_CONSTANT)
		flow->world->callee(flow->world->context, (uint64_t)value->number, &callee);
	if (callee.kind == CALLEE_TYPED)
		return callee.prototype;
	if (value->kind == VALUE_POINTER && !value->number &&
	    kind_record(flow->world->levels, value_type(value)).kind == BTF_FUNC_PROTO)
		return value_type(value);
	return (struct kind){ 0, 0 };
}

static void call_register(struct flow *flow, uint8_t reg)
{
	used_as_address(flow, &flow->state.registers[reg], "called");
	struct kind prototype = register_prototype(flow, reg);
	pass_arguments(flow, prototype);
	after_call(flow, prototype);
}

static void call(struct flow *flow, const struct op *op)
{
	struct callee callee = { .kind = CALLEE_UNKNOWN };
	flow->world->callee(flow->world->context, (uint64_t)op->constant, &callee);
	if (callee.kind == CALLEE_HELPER && callee.helper == HELPER_REGISTER) {
		call_register(flow, callee.helper_register);
		return;
	}
	/* Where a function is traced, the call at the hook goes to the tracer: not a call of its
	 * own. */
	if ((callee.kind == CALLEE_HELPER && callee.helper == HELPER_NOTHING) ||
	    (callee.kind == CALLEE_UNKNOWN && op->at <= LOWER_HOOK_MAX))
		return;
	struct kind prototype = { 0, 0 };
	if (callee.kind == CALLEE_TYPED)
		prototype = callee.prototype;
	pass_arguments(flow, prototype);
	after_call(flow, prototype);
}

/* The stack is as at entry, so what is jumped to was called by our caller. */
static bool is_tail(const struct flow *flow)
{
	const struct value *stack = &flow->state.registers[flow->world->lowering->stack];
	return stack->kind == VALUE_STACK && !stack->number;
}

static void jump_register(struct flow *flow, uint8_t reg)
{
	used_as_address(flow, &flow->state.registers[reg], "called");
	if (is_tail(flow))
		pass_arguments(flow, register_prototype(flow, reg));
}

/* A jump or a branch. */
static void jump(struct flow *flow, const struct op *op)
{
	uint64_t target = (uint64_t)op->constant;
	struct callee callee = { .kind = CALLEE_UNKNOWN };
	if (sweep_is_inside(&flow->sweep, target)) {
		sweep_go_to(&flow->sweep, target, op->at);
		return;
	}
	flow->world->callee(flow->world->context, target, &callee);
	if (callee.kind == CALLEE_HELPER && callee.helper == HELPER_RETURN)
		pass_result(flow);
	else if (callee.kind == CALLEE_HELPER && callee.helper == HELPER_REGISTER)
		jump_register(flow, callee.helper_register);
	else if (callee.kind == CALLEE_TYPED && is_tail(flow))
		pass_arguments(flow, callee.prototype);
}

/* --- one operation --------------------------------------------------------------------------- */

static void execute_flow(struct flow *flow, const struct op *op)
{
	switch ((enum op_kind)op->kind) {
	case OP_CALL:
		call(flow, op);
		break;
	case OP_CALL_REGISTER:
		call_register(flow, op->from);
		break;
	case OP_BRANCH:
		jump(flow, op);
		break;
	case OP_JUMP:
		jump(flow, op);
		sweep_end_path(&flow->sweep);
		break;
	case OP_JUMP_REGISTER:
		jump_register(flow, op->from);
		sweep_end_path(&flow->sweep);
		break;
	case OP_RETURN:
		pass_result(flow);
		sweep_end_path(&flow->sweep);
		break;
	default: /* OP_STOP */
		sweep_end_path(&flow->sweep);
	}
}

static void observe(struct flow *flow, const struct op *op)
{
	bool is_place = op->kind == OP_LOAD || op->kind == OP_STORE || op->kind == OP_CHANGE ||
			op->kind == OP_STORE_CONSTANT || op->kind == OP_TOUCH;
	if (!is_place && op->kind != OP_ADDRESS)
		return;
	struct value place = value_of_place(flow, op);
	if (place.kind != VALUE_POINTER)
		return;
	struct flow_access access = { .at = op->at,
				      .base = op->base,
				      .is_address = !is_place,
				      .size = op->size,
				      .type = value_type(&place),
				      .offset = place.number };
	flow->world->observe(flow->emit_context, &access);
}

static void extended(struct value *value)
{
	if (value->kind == VALUE_LOADED || value->kind == VALUE_MEMBER)
		value->level = VALUE_SIGNED;
}

static void execute(struct flow *flow, const struct op *op)
{
	struct value *registers = flow->state.registers;
	switch ((enum op_kind)op->kind) {
	case OP_CONSTANT:
		registers[op->to] =
			(struct value){ .kind = VALUE_CONSTANT, .number = op->constant };
		break;
	case OP_MOVE:
		moved_as(flow, op);
		registers[op->to] = value_cut(&registers[op->from], op->size);
		if (op->sign == SIGN_SIGNED)
			extended(&registers[op->to]);
		break;
	case OP_CHOOSE: {
		struct value from = value_cut(&registers[op->from], op->size);
		registers[op->to] = value_join(&registers[op->to], &from, JOIN_FORWARD);
		break;
	}
	case OP_ADDRESS:
		registers[op->to] = value_of_place(flow, op);
		break;
	case OP_SCALE:
		counted_with(flow, &registers[op->from], 8, SIGN_UNKNOWN);
		registers[op->to] = value_scale(&registers[op->from], op->constant);
		break;
	case OP_NUMBER:
		registers[op->to] = (struct value){ .kind = VALUE_NUMBER };
		break;
	case OP_LOAD:
		registers[op->to] = flow_load(flow, op);
		break;
	case OP_STORE:
		flow_store(flow, op,
			   op->from == LOWER_NONE ? value_unknown() : registers[op->from]);
		break;
	case OP_STORE_CONSTANT:
		flow_store(flow, op,
			   (struct value){ .kind = VALUE_CONSTANT, .number = op->constant });
		break;
	case OP_TOUCH:
	case OP_CHANGE:
		flow_touch(flow, op);
		break;
	case OP_COMPARE:
		compare(flow, op);
		break;
	case OP_COUNT_WITH:
		counted_with(flow, &registers[op->from], op->size, (enum sign)op->sign);
		break;
	case OP_CONDITION:
		compared_as(flow, (enum sign)op->sign);
		break;
	case OP_CLOBBER:
		clobber(flow, (uint64_t)op->constant);
		break;
	default:
		execute_flow(flow, op);
	}
}

/* --- sweeps ---------------------------------------------------------------------------------- */

static void lose_track(void *context)
{
	struct flow *flow = context;
	state_reset(&flow->state);
}

static bool join_states(void *to, const void *from, enum join how)
{
	return state_join(to, from, how);
}

static void copy_state(void *to, const void *from)
{
	state_copy(to, from);
}

static void step(void *context, const struct op *op)
{
	struct flow *flow = context;
	flow->at = op->at;
	if (op->kind != OP_BRANCH && op->kind != OP_CONDITION)
		flow->compared_size = 0;
	if (flow->observes)
		observe(flow, op);
	execute(flow, op);
}

static const struct sweep_rules rules = {
	.state_size = sizeof(struct state),
	.most = SWEEPS_MAX,
	.enter = set_entry,
	.execute = step,
	.lose = lose_track,
	.join = join_states,
	.copy = copy_state,
};

/* Sweeps until nothing new is learnt: what the last sweep finds holds. */
static void sweep_all(struct flow *flow)
{
	flow->observes = flow->knows_objects = false;
	flow->object_count = 0;
	bool is_settled = sweep_converge(&flow->sweep);
	if (!flow->world->observe && objects_learned(flow)) {
		flow->knows_objects = true;
		is_settled = sweep_converge(&flow->sweep);
	}
	flow->observes = flow->world->observe;
	if (!is_settled || flow->observes)
		sweep_once(&flow->sweep);
	for (size_t i = 0; i < flow->finding_count; i++)
		flow->world->emit(flow->emit_context, &flow->findings[i]);
}

/* Without a global's address in it there is nothing to find in a function. */
static bool mentions_data(const struct flow *flow)
{
	const struct flow_world *world = flow->world;
	uint64_t size = world->data_last - world->data_first;
	for (size_t i = 0; i < flow->ops.count; i++) {
		const struct op *op = &flow->ops.items[i];
		if ((uint64_t)op->displacement - world->data_first < size ||
		    (uint64_t)op->constant - world->data_first < size ||
		    (op->per_cpu && world->per_cpu_base))
			return true;
	}
	return false;
}

struct error *flow_run(struct flow *flow, const struct flow_function *function)
{
	if (!function->code.size || function->code.size > CODE_MAX)
		return NULL;
	flow->function = function;
	flow->ops.count = 0;
	flow->world->lowering->lower(flow->decoder, &function->code, &flow->ops);
	if (flow->ops.failed)
		return error_no_memory();
	if (!flow->world->observe && !mentions_data(flow))
		return NULL;
	if (!sweep_begin(&flow->sweep, &function->code, &flow->ops, function->edges,
			 function->edge_count))
		return error_no_memory();
	sweep_all(flow);
	return flow->out_of_memory ? error_no_memory() : NULL;
}

struct flow *flow_create(const struct flow_world *world, void *emit_context)
{
	struct flow *flow = calloc(1, sizeof(*flow));
	if (!flow)
		return NULL;
	flow->world = world;
	flow->emit_context = emit_context;
	flow->lay.levels = world->levels;
	flow->sweep = (struct sweep){ .rules = &rules, .context = flow, .state = &flow->state };
	flow->decoder = world->lowering->create();
	if (flow->decoder)
		return flow;
	free(flow);
	return NULL;
}

void flow_destroy(struct flow *flow)
{
	if (!flow)
		return;
	flow->world->lowering->destroy(flow->decoder);
	free(flow->ops.items);
	free(flow->findings);
	sweep_deinit(&flow->sweep);
	free(flow);
}
