// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/infer/evidence/accesses.h"

#include "debugger/infer/evidence/code_private.h"

static void find_callee(void *context, uint64_t address, struct callee *ret)
{
	struct inference *inference = context;
	callees_find(&inference->callees, address, ret);
}

static bool find_known(void *context, uint64_t address, struct kind *ret, int64_t *ret_offset)
{
	return known_global(context, address, ret, ret_offset);
}

static bool find_per_cpu(void *context, uint64_t offset, struct kind *ret, int64_t *ret_offset)
{
	struct inference *inference = context;
	return per_cpu_find(&inference->per_cpu, offset, ret, ret_offset);
}

static void ignore(void *context, const struct finding *finding)
{
	(void)context;
	(void)finding;
}

struct error *function_accesses(struct inference *inference, const struct code *code,
				void (*visit)(void *context, const struct flow_access *access),
				void *context)
{
	struct flow_function function = { .code = *code };
	struct flow_world world;
	code_world_init(inference, &world);
	world.context = inference;
	world.callee = find_callee;
	world.known = find_known;
	world.per_cpu = find_per_cpu;
	world.emit = ignore;
	world.observe = visit;
	inference_read_edges(inference);
	code_function_edges(inference, &function);
	callees_find_judged(&inference->callees, code->address, &function.self);
	struct flow *flow = flow_create(&world, context);
	if (!flow)
		return error_no_memory();
	struct error *error = flow_run(flow, &function);
	flow_destroy(flow);
	return error;
}
