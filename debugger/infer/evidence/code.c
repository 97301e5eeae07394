// SPDX-License-Identifier: GPL-3.0-or-later
/* Clues from code, of one symbol; code_all.c has the same of all. */
#include "debugger/infer/evidence/code.h"

#include "base/array.h"
#include "base/interrupt.h"
#include "debugger/code/references.h"
#include "debugger/infer/evidence/code_private.h"
#include "debugger/infer/known/knowledge.h"
#include "debugger/target/object.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Read at once: small, so that the pages it takes are few. */
#define CHUNK_SIZE (256u << 10)
/* Of what nearly nothing is found about, which nobody waits for. */
#define FUNCTIONS_MAX 1024
/* Behind the last symbol lie megabytes, and many a number looks like a reference to them. */
#define NEAR_SIZE	  4096
#define FUNCTION_SIZE_MAX (1u << 20)

/* --- the world of the flow ------------------------------------------------------------------- */

void code_world_init(struct inference *inference, struct flow_world *ret)
{
	struct per_cpu_copies untyped;
	(void)per_cpu_untyped(inference->target, &untyped);
	*ret = (struct flow_world){
		.levels = &inference->levels,
		.lowering = inference->lowering,
		.first = inference->data_first,
		.last = inference->data_last,
		.data_first = inference->data_first,
		.data_last = inference->data_last,
		.per_cpu_offsets = inference->per_cpu_offsets,
		.this_cpu_offset = inference->this_cpu_offset,
		.per_cpu_first = untyped.first,
		.per_cpu_last = untyped.last,
		.per_cpu_base = untyped.base,
		.list_head = inference->list_head,
		.atomics = { inference->atomics[0], inference->atomics[1] },
		.truth = inference->truth,
		.pointer = inference->pointer,
	};
	memcpy(ret->integers, inference->integers, sizeof(ret->integers));
}

struct error *code_finding_clue(const struct inference *inference, const struct finding *finding,
				const struct subject *subject, struct clue *ret)
{
	*ret = (struct clue){
		.kind = finding->kind,
		.source = SOURCE_CODE,
		.offset = (uint32_t)(finding->address - subject->address),
		.size = finding->size,
		.where = finding->where,
		.shows_sign = finding->shows_sign,
		.how = finding->how,
	};
	if (!finding->type.id)
		return NULL;
	ret->type = kind_type(&inference->levels, finding->type);
	return finding->points ? type_pointer_to(ret->type, &ret->type) : NULL;
}

static uint64_t edge_start(const struct code_edge *edges, size_t count, uint64_t address)
{
	return array_bound(count, i, edges[i].from < address);
}

void code_function_edges(const struct inference *inference, struct flow_function *function)
{
	const struct code *code = &function->code;
	size_t first = edge_start(inference->edges, inference->edge_count, code->address);
	size_t last =
		edge_start(inference->edges, inference->edge_count, code->address + code->size);
	function->edges = inference->edges ? inference->edges + first : NULL;
	function->edge_count = last - first;
}

/* --- functions that refer to a symbol -------------------------------------------------------- */

struct places {
	uint64_t *items;
	size_t count, capacity;
	bool failed; /* no memory */
};

static void add_place(void *context, uint64_t address)
{
	struct places *places = context;
	if (!array_reserve(&places->items, &places->capacity, places->count + 1))
		places->failed = true;
	else
		places->items[places->count++] = address;
}

static struct error *scan_range(struct inference *inference, struct text_range *range,
				const struct reference_scan *scan)
{
	text_expect_sweep(&inference->text, range);
	uint8_t *chunk = malloc(CHUNK_SIZE + REFERENCE_SIZE);
	struct error *error = chunk ? NULL : error_no_memory();
	for (uint64_t at = 0; !error && at < range->size; at += CHUNK_SIZE) {
		uint64_t left = range->size - at;
		size_t size = left < CHUNK_SIZE + REFERENCE_SIZE - 1
				      ? (size_t)left
				      : CHUNK_SIZE + REFERENCE_SIZE - 1;
		const uint8_t *bytes = text_bytes(&inference->text, range->start + at, size);
		if (!bytes && text_read(&inference->text, range->start + at, chunk, size))
			bytes = chunk;
		if (bytes)
			references_find(scan, bytes, size, range->start + at);
		error = interrupt_check();
	}
	free(chunk);
	return error;
}

/* The function around an address; false: none, or data. */
static bool function_around(struct inference *inference, uint64_t address,
			    struct function_range *ret)
{
	char name[SYMBOL_NAME_SIZE];
	struct symbol symbol;
	uint64_t offset;
	if (!symtab_by_address_into(inference->target->symbols, address, name, &symbol, &offset) ||
	    !symbol_is_text(&symbol) || symbol.size <= offset || symbol.size > FUNCTION_SIZE_MAX)
		return false;
	*ret = (struct function_range){ symbol.address, (uint32_t)symbol.size };
	return true;
}

/* --- one symbol ------------------------------------------------------------------------------ */

struct lazy {
	struct inference *inference;
	const struct subject *subject;
	struct clues *clues;
	unsigned int findings;
	struct error *error;
};

static void emit_clue(void *context, const struct finding *finding)
{
	struct lazy *lazy = context;
	struct clue clue;
	if (lazy->error || lazy->findings == CODE_FINDINGS_MAX ||
	    code_is_literal(finding, lazy->subject))
		return;
	lazy->findings++;
	lazy->error = code_finding_clue(lazy->inference, finding, lazy->subject, &clue);
	if (!lazy->error && !clues_add(lazy->clues, &clue))
		lazy->error = error_no_memory();
}

/* What is asked about counts as not known, or there would be nothing to find. */
static bool known_beside(void *context, uint64_t address, struct kind *ret, int64_t *ret_offset)
{
	struct lazy *lazy = context;
	return address - lazy->subject->address >= lazy->subject->room &&
	       known_global(lazy->inference, address, ret, ret_offset);
}

static void lazy_callee(void *context, uint64_t address, struct callee *ret)
{
	struct lazy *lazy = context;
	callees_find(&lazy->inference->callees, address, ret);
}

static bool lazy_per_cpu(void *context, uint64_t offset, struct kind *ret, int64_t *ret_offset)
{
	struct lazy *lazy = context;
	return per_cpu_find(&lazy->inference->per_cpu, offset, ret, ret_offset);
}

static bool lazy_string(void *context, uint64_t address, char *buffer, size_t size)
{
	struct lazy *lazy = context;
	return text_string(&lazy->inference->strings, address, buffer, size);
}

static struct error *run_function(struct lazy *lazy, struct flow *flow,
				  const struct function_range *range)
{
	struct inference *inference = lazy->inference;
	uint8_t *bytes = malloc(range->size);
	if (!bytes)
		return error_no_memory();
	struct error *error = NULL;
	if (text_read(&inference->text, range->address, bytes, range->size)) {
		struct flow_function function = {
			.code = { bytes, range->size, range->address },
		};
		callees_find(&inference->callees, range->address, &function.self);
		code_function_edges(inference, &function);
		error = flow_run(flow, &function);
	}
	free(bytes);
	return error ? error : lazy->error;
}

/* Places ascend within a range of text, so do the functions around them. */
static struct error *list_functions(struct inference *inference, const struct places *places,
				    struct function_range **ret, size_t *ret_count)
{
	struct function_range last = { 0, 0 };
	size_t count = 0;
	struct function_range *functions = calloc(places->count + 1, sizeof(*functions));
	if (!functions)
		return error_no_memory();
	for (size_t i = 0; i < places->count; i++)
		if (places->items[i] - last.address >= last.size &&
		    function_around(inference, places->items[i], &last))
			functions[count++] = last;
	*ret = functions;
	*ret_count = count;
	return NULL;
}

static struct error *run_functions(struct lazy *lazy, const struct function_range *functions,
				   size_t count)
{
	struct flow_world world;
	code_world_init(lazy->inference, &world);
	world.context = lazy;
	world.callee = lazy_callee;
	world.per_cpu = lazy_per_cpu;
	world.known = known_beside;
	world.string = lazy_string;
	world.emit = emit_clue;
	world.first = lazy->subject->address;
	world.last = world.first + lazy->subject->room;
	struct flow *flow = flow_create(&world, lazy);
	struct error *error = flow ? NULL : error_no_memory();
	size_t most = count < FUNCTIONS_MAX ? count : FUNCTIONS_MAX;
	for (size_t i = 0; !error && i < most && lazy->findings < CODE_FINDINGS_MAX; i++) {
		error = run_function(lazy, flow, &functions[i]);
		if (!error)
			error = interrupt_check();
	}
	flow_destroy(flow);
	return error;
}

/* Modules use what the kernel exports. */
static bool is_exported(struct inference *inference, const struct subject *subject)
{
	struct symbol symbol;
	char name[SYMBOL_NAME_SIZE + 16];
	uint64_t address;
	symtab_get(inference->target->symbols, subject->symbol, &symbol);
	snprintf(name, sizeof(name), "__ksymtab_%s", symbol.name);
	return subject->module || symtab_address(inference->target->symbols, name, &address);
}

/*
 * The functions that may refer to the first `size` bytes of a subject. A module is not referred to
 * by the kernel, nor what is not exported by modules: whether an earlier question has read these
 * must not change the answer.
 */
static struct error *find_functions(struct inference *inference, const struct subject *subject,
				    uint64_t size, bool by_modules, struct function_range **ret,
				    size_t *ret_count)
{
	struct places places = { .items = NULL };
	struct reference_scan scan = { subject->address - subject->per_cpu_base, size, &places,
				       add_place };
	struct error *error = NULL;
	size_t end = by_modules || !inference->text.count ? inference->text.count : 1;
	for (size_t i = subject->module ? 1 : 0; !error && i < end; i++)
		error = scan_range(inference, &inference->text.ranges[i], &scan);
	if (!error && places.failed)
		error = error_no_memory();
	if (!error)
		error = list_functions(inference, &places, ret, ret_count);
	free(places.items);
	return error;
}

struct error *code_clues(struct inference *inference, const struct subject *subject,
			 struct clues *clues)
{
	struct lazy lazy = { inference, subject, clues, 0, NULL };
	struct function_range *functions = NULL;
	size_t count = 0;
	bool by_modules = is_exported(inference, subject);
	if (by_modules)
		TRY(inference_add_modules(inference));
	inference_read_edges(inference);
	TRY(find_functions(inference, subject, subject->room, by_modules, &functions, &count));
	if (count > FUNCTIONS_MAX && subject->room > NEAR_SIZE) {
		free(functions);
		TRY(find_functions(inference, subject, NEAR_SIZE, by_modules, &functions, &count));
	}
	struct error *error = run_functions(&lazy, functions, count);
	free(functions);
	return error;
}

struct error *code_collect(const struct question *question, struct clues *clues)
{
	struct inference *inference;
	if (question->code) {
		for (size_t i = 0; i < question->code->count; i++)
			if (!clues_add(clues, &question->code->items[i]))
				return error_no_memory();
		return NULL;
	}
	/* Without code, the rest still says something. */
	struct error *error = inference_get(question->knowledge->target, &inference);
	if (!error)
		error = code_clues(inference, question->subject, clues);
	return error_only_fatal(error);
}
