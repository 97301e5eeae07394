// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/prototypes/instance_code.h"

#include "debugger/code/parameters.h"
#include "debugger/code/sweep.h"
#include "debugger/target/object.h"
#include <stdlib.h>
#include <string.h>

#define CODE_MAX    (1u << 16)
#define SWEEPS_MAX  8
#define SLOTS_MAX   24
#define MEMBERS_MAX 65536
#define STACK_NODE  UINT16_MAX
/* What a callee may write from an address on, or an instruction of unknown length. */
#define STACK_AREA 4096

/* node + number; node 0: anything. STACK_NODE: the stack pointer at entry plus the number. */
struct term {
	uint16_t node;
	int32_t number;
};

struct stack_slot {
	int32_t offset;
	struct term term;
};

struct place_state {
	struct term registers[LOWER_REGISTERS];
	struct stack_slot slots[SLOTS_MAX];
	uint8_t slot_count;
};

struct reading {
	const struct use_world *world;
	struct uses *uses;
	struct sweep sweep;
	struct place_state state;
	bool records;
};

/* --- states ---------------------------------------------------------------------------------- */

static bool is_same(struct term a, struct term b)
{
	return a.node == b.node && (a.number == b.number || !a.node);
}

static const struct term *find_slot(const struct place_state *state, int32_t offset)
{
	for (uint8_t i = 0; i < state->slot_count; i++)
		if (state->slots[i].offset == offset)
			return &state->slots[i].term;
	return NULL;
}

static void set_slot(struct place_state *state, int32_t offset, int32_t size, struct term term)
{
	uint8_t kept = 0;
	for (uint8_t i = 0; i < state->slot_count; i++) {
		int32_t at = state->slots[i].offset;
		if (at + 8 <= offset || at >= offset + size)
			state->slots[kept++] = state->slots[i];
	}
	state->slot_count = kept;
	if (term.node && size == 8 && kept < SLOTS_MAX)
		state->slots[state->slot_count++] = (struct stack_slot){ offset, term };
}

/* True: `to` changed. */
static bool join(void *left, const void *right, enum join how)
{
	struct place_state *to = left;
	const struct place_state *from = right;
	bool changed = false;
	(void)how;
	for (int i = 0; i < LOWER_REGISTERS; i++) {
		if (!to->registers[i].node || is_same(to->registers[i], from->registers[i]))
			continue;
		to->registers[i] = (struct term){ 0, 0 };
		changed = true;
	}
	for (unsigned int i = to->slot_count; i-- > 0;) {
		const struct term *other = find_slot(from, to->slots[i].offset);
		if (other && is_same(*other, to->slots[i].term))
			continue;
		to->slots[i] = to->slots[--to->slot_count];
		changed = true;
	}
	return changed;
}

/* --- what is recorded ------------------------------------------------------------------------ */

static void record(struct reading *reading, struct use use)
{
	struct uses *uses = reading->uses;
	if (!reading->records || !use.node || use.node == STACK_NODE)
		return;
	for (size_t i = 0; i < uses->count; i++) {
		const struct use *other = &uses->items[i];
		if (other->kind == use.kind && other->size == use.size && other->node == use.node &&
		    other->offset == use.offset && kind_is(other->type, use.type))
			return;
	}
	if (uses->count < USES_MAX)
		uses->items[uses->count++] = use;
}

static bool is_argument(const struct reading *reading, struct term term)
{
	return term.node && term.node <= reading->world->lowering->argument_count && !term.number;
}

static void read_argument(struct reading *reading, struct term term)
{
	if (reading->records)
		reading->uses->read |= 1u << (term.node - 1);
}

/* An argument that still is in its own register is read there. */
static void read_register(struct reading *reading, uint8_t reg)
{
	if (reg >= LOWER_REGISTERS)
		return;
	struct term term = reading->state.registers[reg];
	if (is_argument(reading, term) && reading->world->lowering->arguments[term.node - 1] == reg)
		read_argument(reading, term);
}

/* The word at an offset of what a node points at. */
static struct term child_of(struct reading *reading, struct term place)
{
	struct uses *uses = reading->uses;
	if (place.number < -MEMBERS_MAX || place.number > MEMBERS_MAX)
		return (struct term){ 0, 0 };
	for (uint16_t i = 1; i < uses->node_count; i++)
		if (uses->nodes[i].parent == place.node && uses->nodes[i].offset == place.number)
			return (struct term){ i, 0 };
	if (uses->node_count == USE_NODES_MAX)
		return (struct term){ 0, 0 };
	uses->nodes[uses->node_count] = (struct use_node){ place.node, place.number };
	return (struct term){ uses->node_count++, 0 };
}

/* --- operations ------------------------------------------------------------------------------ */

static struct term add(struct term term, int64_t number)
{
	int64_t sum = term.number + number;
	if (!term.node || sum < INT32_MIN / 2 || sum > INT32_MAX / 2)
		return (struct term){ 0, 0 };
	return (struct term){ term.node, (int32_t)sum };
}

static struct term place_of(struct reading *reading, const struct op *op)
{
	struct term nothing = { 0, 0 };
	if (op->base < LOWER_REGISTERS)
		read_register(reading, op->base);
	if (op->index < LOWER_REGISTERS)
		read_register(reading, op->index);
	if (op->per_cpu || op->index != LOWER_NONE || op->base >= LOWER_REGISTERS)
		return nothing;
	return add(reading->state.registers[op->base], op->displacement);
}

static void access_place(struct reading *reading, struct term place, uint8_t size)
{
	record(reading, (struct use){ .kind = USE_ACCESS,
				      .size = size,
				      .node = place.node,
				      .offset = place.number });
}

static struct term load(struct reading *reading, const struct op *op)
{
	struct term place = place_of(reading, op), nothing = { 0, 0 };
	if (place.node == STACK_NODE) {
		const struct term *slot = find_slot(&reading->state, place.number);
		if (slot && is_argument(reading, *slot))
			read_argument(reading, *slot);
		return slot && op->size == 8 ? *slot : nothing;
	}
	access_place(reading, place, op->size);
	return place.node && op->size == 8 ? child_of(reading, place) : nothing;
}

static void store(struct reading *reading, const struct op *op)
{
	struct term place = place_of(reading, op), value = { 0, 0 };
	if (op->kind == OP_STORE && op->from < LOWER_REGISTERS) {
		/* To the stack it is only moved: crash_setup_regs() saves all registers there. */
		if (place.node != STACK_NODE)
			read_register(reading, op->from);
		value = reading->state.registers[op->from];
	}
	if (place.node == STACK_NODE)
		set_slot(&reading->state, place.number, op->size ? op->size : STACK_AREA, value);
	else
		access_place(reading, place, op->size);
}

/* --- calls ----------------------------------------------------------------------------------- */

static void pass_arguments(struct reading *reading, struct kind prototype)
{
	const struct levels *levels = reading->world->levels;
	struct parameters parameters;
	struct parameter parameter;
	uint64_t size;
	if (!parameters_begin(&parameters, reading->world->lowering, kind_type(levels, prototype)))
		return;
	while (parameters_next(&parameters, &parameter)) {
		if (parameter.reg == LOWER_NONE || !type_size(parameter.type, &size))
			continue;
		struct term term = reading->state.registers[parameter.reg];
		read_register(reading, parameter.reg);
		record(reading,
		       (struct use){ .kind = USE_PASS,
				     .size = (uint8_t)size,
				     .node = term.node,
				     .offset = term.number,
				     .type = kind_of(levels, prototype.level, parameter.type.id) });
	}
}

static void after_call(struct reading *reading)
{
	const struct lowering *lowering = reading->world->lowering;
	for (uint8_t i = 0; i < lowering->argument_count; i++) {
		struct term term = reading->state.registers[lowering->arguments[i]];
		/* The callee may write there. */
		if (term.node == STACK_NODE)
			set_slot(&reading->state, term.number, STACK_AREA, (struct term){ 0, 0 });
	}
	for (int i = 0; i < LOWER_TEMPORARY; i++)
		if (!(lowering->kept_by_calls >> i & 1))
			reading->state.registers[i] = (struct term){ 0, 0 };
}

static void call_register(struct reading *reading, uint8_t reg)
{
	if (reg >= LOWER_REGISTERS)
		return;
	struct term term = reading->state.registers[reg];
	if (!term.number)
		record(reading, (struct use){ .kind = USE_CALL, .node = term.node });
}

static void call(struct reading *reading, const struct op *op)
{
	struct callee callee = { .kind = CALLEE_UNKNOWN };
	reading->world->callee(reading->world->context, (uint64_t)op->constant, &callee);
	if (callee.kind == CALLEE_HELPER && callee.helper == HELPER_REGISTER)
		call_register(reading, callee.helper_register);
	else if ((callee.kind == CALLEE_HELPER && callee.helper == HELPER_NOTHING) ||
		 (callee.kind == CALLEE_UNKNOWN && op->at <= LOWER_HOOK_MAX))
		return;
	else if (callee.kind == CALLEE_TYPED)
		pass_arguments(reading, callee.prototype);
	after_call(reading);
}

/* A jump out of the function, with the stack as at entry: a call by our caller. */
static void jump_out(struct reading *reading, uint64_t target)
{
	const struct lowering *lowering = reading->world->lowering;
	struct term stack = reading->state.registers[lowering->stack];
	struct callee callee = { .kind = CALLEE_UNKNOWN };
	reading->world->callee(reading->world->context, target, &callee);
	if (callee.kind == CALLEE_HELPER && callee.helper == HELPER_REGISTER)
		call_register(reading, callee.helper_register);
	else if (callee.kind == CALLEE_TYPED && stack.node == STACK_NODE && !stack.number)
		pass_arguments(reading, callee.prototype);
}

static void execute_flow(struct reading *reading, const struct op *op)
{
	switch ((enum op_kind)op->kind) {
	case OP_CALL:
		call(reading, op);
		return;
	case OP_CALL_REGISTER:
		call_register(reading, op->from);
		after_call(reading);
		return;
	case OP_JUMP:
	case OP_BRANCH:
		if (sweep_is_inside(&reading->sweep, (uint64_t)op->constant))
			sweep_go_to(&reading->sweep, (uint64_t)op->constant, op->at);
		else
			jump_out(reading, (uint64_t)op->constant);
		if (op->kind == OP_JUMP)
			sweep_end_path(&reading->sweep);
		return;
	case OP_JUMP_REGISTER:
		call_register(reading, op->from);
		break;
	default: /* OP_RETURN, OP_STOP */
		break;
	}
	sweep_end_path(&reading->sweep);
}

static void execute(void *context, const struct op *op)
{
	struct reading *reading = context;
	struct term *registers = reading->state.registers, nothing = { 0, 0 };
	switch ((enum op_kind)op->kind) {
	case OP_CONSTANT:
	case OP_NUMBER:
		registers[op->to] = nothing;
		break;
	case OP_MOVE:
		read_register(reading, op->from);
		registers[op->to] = op->size == 8 ? registers[op->from] : nothing;
		break;
	case OP_CHOOSE:
		if (!is_same(registers[op->to], registers[op->from]))
			registers[op->to] = nothing;
		break;
	case OP_ADDRESS:
		registers[op->to] = place_of(reading, op);
		break;
	case OP_SCALE:
		read_register(reading, op->from);
		registers[op->to] = nothing;
		break;
	case OP_LOAD:
		registers[op->to] = load(reading, op);
		break;
	case OP_STORE:
	case OP_STORE_CONSTANT:
	case OP_CHANGE:
		store(reading, op);
		break;
	case OP_TOUCH:
		access_place(reading, place_of(reading, op), op->size);
		break;
	case OP_COMPARE:
		read_register(reading, op->from);
		read_register(reading, op->to);
		break;
	case OP_COUNT_WITH:
	case OP_CONDITION:
		break;
	case OP_CLOBBER:
		for (int i = 0; i < LOWER_SOMEWHERE; i++)
			if ((uint64_t)op->constant >> i & 1)
				registers[i] = nothing;
		break;
	default:
		execute_flow(reading, op);
	}
}

/* --- sweeps ---------------------------------------------------------------------------------- */

static void set_entry(void *context)
{
	struct reading *reading = context;
	const struct lowering *lowering = reading->world->lowering;
	memset(&reading->state, 0, sizeof(reading->state));
	for (uint8_t i = 0; i < lowering->argument_count; i++)
		reading->state.registers[lowering->arguments[i]].node = i + 1;
	reading->state.registers[lowering->stack].node = STACK_NODE;
}

static const struct sweep_rules rules = {
	.state_size = sizeof(struct place_state),
	.most = SWEEPS_MAX,
	.enter = set_entry,
	.execute = execute,
	.join = join,
};

struct error *uses_read(const struct use_world *world, const struct code *code, struct uses *ret,
			bool *ret_known)
{
	struct reading reading = { .world = world, .uses = ret };
	struct ops ops = { .items = NULL };
	*ret_known = false;
	memset(ret, 0, sizeof(*ret));
	if (!code->size || code->size > CODE_MAX)
		return NULL;
	ret->node_count = (uint16_t)(world->lowering->argument_count + 1);
	reading.sweep =
		(struct sweep){ .rules = &rules, .context = &reading, .state = &reading.state };
	bool has_memory = lowering_read(world->lowering, code, &ops) &&
			  sweep_begin(&reading.sweep, code, &ops, NULL, 0);
	*ret_known = has_memory && !reading.sweep.too_many && sweep_converge(&reading.sweep);
	if (*ret_known) {
		reading.records = true;
		sweep_once(&reading.sweep);
	}
	free(ops.items);
	sweep_deinit(&reading.sweep);
	return has_memory ? NULL : error_no_memory();
}
