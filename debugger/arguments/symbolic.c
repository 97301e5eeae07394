// SPDX-License-Identifier: GPL-3.0-or-later
/* The sweeps over a function, and what each operation does to the state. */
#include "debugger/arguments/symbolic.h"

#include "debugger/arguments/symbolic_state.h"
#include "debugger/code/sweep.h"
#include <stdlib.h>
#include <string.h>

#define SWEEPS_MAX 24
#define CODE_MAX   (256u << 10)
/* A call is at most so long. */
#define CALL_MAX 8
/* Definitions that an operation makes of what it reads: two at most. */
#define READ_DEFINITION 0x40000000u

struct run {
	const struct symbolic_world *world;
	const struct code *code;
	struct ops ops;
	struct sweep sweep;
	struct symbolic_state state;
	bool has_table; /* it jumps to where nobody can say */
	uint32_t index; /* of the operation */
	uint32_t place; /* offset of the instruction whose state is wanted */
	bool is_found;
	struct symbolic_place *ret;
	symbolic_observer *observe; /* NULL: nobody looks */
	void *observe_context;
};

/* --- values ------------------------------------------------------------------------------ */

static void set_register(struct run *run, uint8_t number, struct symbolic value)
{
	const struct lowering *lowering = run->world->lowering;
	run->state.registers[number] = value;
	if (number != lowering->stack) {
		/* From now on it may go anywhere. */
		if (value.base == BASE_STACK)
			symbolic_escape(&run->state, value.offset, lowering->kept_by_calls);
		return;
	}
	if (value.base == BASE_STACK)
		symbolic_forget_slots(&run->state, INT64_MIN / 2, value.offset);
	else
		symbolic_escape(&run->state, INT32_MIN, lowering->kept_by_calls);
}

static struct symbolic definition(struct run *run, uint32_t id)
{
	symbolic_forget_definition(&run->state, id);
	return (struct symbolic){ .base = BASE_SOME, .size = 8, .id = id };
}

/* Something that only this operation knows. */
static void define(struct run *run, uint8_t number)
{
	set_register(run, number, definition(run, run->index + 1));
}

/* What is not known gets a name, so that its copies are known to be the same. */
static struct symbolic read_register(struct run *run, uint8_t number, uint32_t which)
{
	struct symbolic *value = &run->state.registers[number];
	if (number < LOWER_SOMEWHERE && value->base == BASE_UNKNOWN)
		*value = definition(run, READ_DEFINITION + 2 * run->index + which);
	return *value;
}

/* The low `size` bytes of it; unknown where that cannot be said. */
static struct symbolic cut(struct symbolic value, uint32_t size)
{
	if (size >= 8 || value.base == BASE_UNKNOWN)
		return value;
	if (value.base == BASE_NUMBER && size == 4 && value.offset >= 0 &&
	    value.offset <= INT32_MAX)
		return value;
	if (value.base == BASE_NUMBER || value.base == BASE_STACK || value.offset)
		return (struct symbolic){ .base = BASE_UNKNOWN };
	if (value.size > size)
		value.size = (uint8_t)size;
	return value;
}

static void set_or_define(struct run *run, uint8_t number, struct symbolic value)
{
	if (value.base == BASE_UNKNOWN)
		define(run, number);
	else
		set_register(run, number, value);
}

/* --- places ------------------------------------------------------------------------------- */

enum place_kind { PLACE_ELSEWHERE, PLACE_STACK, PLACE_STACK_SOMEWHERE };

static enum place_kind place_of(struct run *run, const struct op *op, int64_t *ret)
{
	const struct symbolic *registers = run->state.registers;
	bool has_base = op->base != LOWER_NONE, has_index = op->index != LOWER_NONE;
	if (op->per_cpu)
		return PLACE_ELSEWHERE;
	if (has_base && registers[op->base].base == BASE_STACK && registers[op->base].size == 8) {
		/* No stack is so large: what was added is a number of the code's that is none of
		 * it. */
		bool is_far =
			__builtin_add_overflow(registers[op->base].offset, op->displacement, ret) ||
			*ret < INT32_MIN || *ret > INT32_MAX;
		if (is_far)
			*ret = INT32_MIN;
		return has_index || is_far ? PLACE_STACK_SOMEWHERE : PLACE_STACK;
	}
	if (has_index && registers[op->index].base == BASE_STACK) {
		*ret = INT32_MIN;
		return PLACE_STACK_SOMEWHERE;
	}
	return PLACE_ELSEWHERE;
}

static bool is_current_task(const struct run *run, const struct op *op)
{
	if (!op->per_cpu || op->base != LOWER_NONE || op->index != LOWER_NONE || op->size != 8)
		return false;
	for (size_t i = 0; i < 2; i++)
		if (run->world->current_task[i] &&
		    (uint64_t)op->displacement == run->world->current_task[i])
			return true;
	return false;
}

/* Remembers where the value that this operation defines comes from. */
static void note_load(struct run *run, const struct op *op, struct symbolic address)
{
	struct symbolic_place *place = run->ret;
	if (address.base == BASE_UNKNOWN || address.size < 8 || op->size != 8 ||
	    op->index != LOWER_NONE || op->per_cpu || run->is_found)
		return;
	address.offset = (int64_t)((uint64_t)address.offset + (uint64_t)op->displacement);
	place->loads[place->load_count++ % SYMBOLIC_LOADS] =
		(struct symbolic_load){ .id = run->index + 1, .address = address };
}

static void load(struct run *run, const struct op *op)
{
	uint32_t kept = run->world->lowering->kept_by_calls;
	int64_t offset;
	if (is_current_task(run, op)) {
		set_register(run, op->to, (struct symbolic){ .base = BASE_TASK, .size = 8 });
		return;
	}
	if (place_of(run, op, &offset) != PLACE_STACK) {
		struct symbolic address = { .base = BASE_NUMBER, .size = 8 };
		if (op->base != LOWER_NONE)
			address = read_register(run, op->base, 0);
		define(run, op->to);
		note_load(run, op, address);
		return;
	}
	struct symbolic value = symbolic_slot_value(&run->state, offset, op->size);
	if (value.base != BASE_UNKNOWN) {
		set_register(run, op->to, value);
		return;
	}
	define(run, op->to);
	value = run->state.registers[op->to];
	value.size = op->size < 8 ? op->size : 8;
	if (op->to != run->world->lowering->stack)
		symbolic_store(&run->state, offset, op->size, &value, kept);
}

static void store(struct run *run, const struct op *op, struct symbolic value)
{
	uint32_t kept = run->world->lowering->kept_by_calls;
	int64_t offset;
	switch (place_of(run, op, &offset)) {
	case PLACE_STACK:
		if (op->size)
			symbolic_store(&run->state, offset, op->size, &value, kept);
		else
			symbolic_escape(&run->state, offset, kept);
		break;
	case PLACE_STACK_SOMEWHERE:
		symbolic_escape(&run->state, offset, kept);
		break;
	case PLACE_ELSEWHERE:
		break;
	}
}

static void add(struct run *run, const struct op *op)
{
	uint32_t kept = run->world->lowering->kept_by_calls;
	int64_t offset;
	struct symbolic value = { .base = BASE_NUMBER, .size = 8 };
	if (place_of(run, op, &offset) == PLACE_STACK_SOMEWHERE)
		symbolic_escape(&run->state, offset, kept);
	if (op->index != LOWER_NONE || op->size != 8) {
		define(run, op->to);
		return;
	}
	if (op->base != LOWER_NONE)
		value = read_register(run, op->base, 0);
	if (value.size < 8 || value.base == BASE_UNKNOWN) {
		define(run, op->to);
		return;
	}
	value.offset = (int64_t)((uint64_t)value.offset + (uint64_t)op->displacement);
	set_register(run, op->to, value);
}

/* --- where control goes ---------------------------------------------------------------------- */

static void after_call(struct run *run)
{
	const struct lowering *lowering = run->world->lowering;
	for (uint8_t i = 0; i < LOWER_SOMEWHERE; i++)
		if (i >= LOWER_TEMPORARY || !(lowering->kept_by_calls >> i & 1))
			run->state.registers[i] = (struct symbolic){ .base = BASE_UNKNOWN };
	define(run, lowering->result);
}

static void note_call(struct run *run, enum call_kind kind, uint64_t target, uint8_t reg)
{
	if (run->ops.items[run->index].at != run->place)
		return;
	run->ret->call = kind;
	run->ret->target = target;
	if (kind == CALL_REGISTER)
		run->ret->pointer = run->state.registers[reg];
}

static void call(struct run *run, const struct op *op)
{
	uint8_t reg = LOWER_NONE;
	uint64_t target = (uint64_t)op->constant;
	/* The hook for tracing, whatever it calls now, keeps all. */
	if (op->at <= LOWER_HOOK_MAX)
		return;
	switch (run->world->helper(run->world->context, target, &reg)) {
	case HELPER_NOTHING:
		return;
	case HELPER_REGISTER:
		note_call(run, CALL_REGISTER, 0, reg);
		break;
	default:
		note_call(run, CALL_DIRECT, target, LOWER_NONE);
		break;
	}
	after_call(run);
}

/* With the stack as at entry it is a call for our caller, else a table of places. */
static void jump_register(struct run *run)
{
	const struct symbolic *stack = &run->state.registers[run->world->lowering->stack];
	if (stack->base != BASE_STACK || stack->offset)
		run->has_table = true;
	sweep_end_path(&run->sweep);
}

static void jump(struct run *run, const struct op *op)
{
	uint64_t target = (uint64_t)op->constant;
	uint8_t reg;
	if (sweep_is_inside(&run->sweep, target)) {
		sweep_go_to(&run->sweep, target, op->at);
	} else if (op->kind == OP_JUMP &&
		   run->world->helper(run->world->context, target, &reg) == HELPER_REGISTER) {
		jump_register(run);
		return;
	}
	if (op->kind == OP_JUMP)
		sweep_end_path(&run->sweep);
}

/* --- one operation -----------------------------------------------------------------------------
 */

static void clobber(struct run *run, uint64_t mask)
{
	for (uint8_t i = 0; i < LOWER_SOMEWHERE; i++)
		if (mask >> i & 1)
			set_register(run, i, (struct symbolic){ .base = BASE_UNKNOWN });
}

static void choose(struct run *run, const struct op *op)
{
	struct symbolic other = read_register(run, op->from, 0);
	if (!symbolic_equal(&other, &run->state.registers[op->to]))
		define(run, op->to);
}

static void execute(struct run *run, const struct op *op)
{
	static const struct symbolic unknown = { .base = BASE_UNKNOWN };
	struct symbolic number = { .base = BASE_NUMBER, .size = 8, .offset = op->constant };
	switch ((enum op_kind)op->kind) {
	case OP_CONSTANT:
		set_register(run, op->to, number);
		break;
	case OP_MOVE:
		set_or_define(run, op->to, cut(read_register(run, op->from, 0), op->size));
		break;
	case OP_CHOOSE:
		choose(run, op);
		break;
	case OP_ADDRESS:
		add(run, op);
		break;
	case OP_SCALE:
	case OP_NUMBER:
		define(run, op->to);
		break;
	case OP_LOAD:
		load(run, op);
		break;
	case OP_STORE:
		store(run, op, op->from == LOWER_NONE ? unknown : read_register(run, op->from, 0));
		break;
	case OP_STORE_CONSTANT:
		store(run, op, op->size == 8 ? number : unknown);
		break;
	case OP_CHANGE:
		store(run, op, unknown);
		break;
	case OP_CALL:
		call(run, op);
		break;
	case OP_CALL_REGISTER:
		note_call(run, CALL_REGISTER, 0, op->from);
		after_call(run);
		break;
	case OP_JUMP:
	case OP_BRANCH:
		jump(run, op);
		break;
	case OP_JUMP_REGISTER:
		jump_register(run);
		break;
	case OP_RETURN:
	case OP_STOP:
		sweep_end_path(&run->sweep);
		break;
	case OP_CLOBBER:
		clobber(run, (uint64_t)op->constant);
		break;
	case OP_TOUCH:
	case OP_COMPARE:
	case OP_COUNT_WITH:
	case OP_CONDITION:
		break;
	}
}

/* --- sweeps --------------------------------------------------------------------------------------
 */

static void enter(void *context)
{
	struct run *run = context;
	run->is_found = false;
	run->ret->load_count = 0;
	symbolic_enter(&run->state, run->world->lowering);
}

static void step(void *context, const struct op *op)
{
	struct run *run = context;
	run->index = (uint32_t)(op - run->ops.items);
	if (op->at == run->place && !run->is_found) {
		run->ret->state = run->state;
		run->ret->call = CALL_NONE;
		run->is_found = true;
	}
	if (run->observe)
		run->observe(run->observe_context, op, &run->state);
	execute(run, op);
}

static bool join(void *to, const void *from, enum join how)
{
	(void)how;
	return symbolic_join(to, from);
}

static const struct sweep_rules rules = {
	.state_size = sizeof(struct symbolic_state),
	.most = SWEEPS_MAX,
	.enter = enter,
	.execute = step,
	.join = join,
};

/* The instruction in question: the one at `offset`, or the call that ends there. */
static bool find_place(struct run *run, uint64_t offset, bool exact)
{
	const struct op *found = NULL;
	for (size_t i = 0; i < run->ops.count && run->ops.items[i].at < offset + exact; i++)
		found = &run->ops.items[i];
	if (!found || (exact ? found->at != offset
			     : found->at + CALL_MAX < offset ||
				       (found->kind != OP_CALL && found->kind != OP_CALL_REGISTER)))
		return false;
	run->place = found->at;
	return true;
}

static struct error *converge(struct run *run)
{
	if (!sweep_begin(&run->sweep, run->code, &run->ops, NULL, 0))
		return error_no_memory();
	if (run->sweep.too_many)
		return error_create(ERROR_NOT_FOUND, "too many places are jumped to");
	if (!sweep_converge(&run->sweep))
		return error_create(ERROR_NOT_FOUND, "its loops are too deep");
	if (run->has_table)
		return error_create(ERROR_NOT_FOUND, "it jumps through a table");
	return NULL;
}

static struct error *run_sweeps(struct run *run, uint64_t offset, bool exact)
{
	if (!find_place(run, offset, exact))
		return error_create(ERROR_NOT_FOUND, "no %s there",
				    exact ? "instruction" : "call ends");
	struct error *error = converge(run);
	if (error)
		return error;
	return run->is_found ? NULL : error_create(ERROR_NOT_FOUND, "no path leads there");
}

static struct error *run_init(struct run *run)
{
	if (run->code->size > CODE_MAX)
		return error_create(ERROR_NOT_FOUND, "the function is too large");
	run->sweep = (struct sweep){ .rules = &rules, .context = run, .state = &run->state };
	return lowering_read(run->world->lowering, run->code, &run->ops) ? NULL : error_no_memory();
}

static void run_deinit(struct run *run)
{
	free(run->ops.items);
	sweep_deinit(&run->sweep);
}

struct error *symbolic_run(const struct symbolic_world *world, const struct code *code,
			   uint64_t offset, bool exact, struct symbolic_place *ret)
{
	struct run run = { .world = world, .code = code, .ret = ret };
	if (offset > code->size)
		return error_create(ERROR_NOT_FOUND, "it is not in the function");
	struct error *error = run_init(&run);
	if (!error)
		error = run_sweeps(&run, offset, exact);
	run_deinit(&run);
	return error;
}

struct error *symbolic_watch(const struct symbolic_world *world, const struct code *code,
			     symbolic_observer *observe, void *context)
{
	struct symbolic_place place = { .call = CALL_NONE };
	struct run run = { .world = world, .code = code, .ret = &place, .place = UINT32_MAX };
	struct error *error = run_init(&run);
	if (!error)
		error = converge(&run);
	if (!error) {
		run.observe = observe;
		run.observe_context = context;
		sweep_once(&run.sweep);
	}
	run_deinit(&run);
	return error;
}
