// SPDX-License-Identifier: GPL-3.0-or-later
/* From the text of an expression to its results. */
#include "debugger/eval/tree.h"

#include "base/digits.h"
#include "base/interrupt.h"
#include "debugger/eval/variables.h"
#include "debugger/target/object.h"
#include <inttypes.h>
#include <string.h>

/* Nothing of the kernel lies so low, but members of what is at NULL. */
#define NULL_PAGE 4096

/* --- several results ------------------------------------------------------------------------ */

/* A tree that is evaluated for each CPU and for each element of its slices. */
struct run {
	const struct tree *tree;
	struct evaluation evaluation;
	struct expression_result result; /* which of them it is */
	expression_visitor *visit;
	void *context;
};

/* What cannot be read is the error of this result; the others are still evaluated. */
static struct error *run_once(struct run *run)
{
	struct expression_result *result = &run->result;
	struct value value;
	bool is_several = result->has_cpu || result->index_count;
	*run->evaluation.note = 0;
	struct error *error = expression_walk(&run->evaluation, run->tree->root, &value);
	if (error && !(is_several && error_is_missing(error)))
		return error;
	result->value = error ? NULL : &value;
	result->error = error;
	result->note = *run->evaluation.note ? run->evaluation.note : NULL;
	struct error *failure = run->visit(run->context, result);
	error_free(error);
	return failure;
}

static struct error *run_slices(struct run *run, size_t depth)
{
	if (depth == run->tree->slice_count)
		return run_once(run);
	struct node *node = run->tree->slices[depth];
	int64_t first, last;
	TRY(slice_bounds(&run->evaluation, node, &first, &last));
	for (int64_t i = first;; i++) {
		TRY(interrupt_check());
		node->slice_at = run->result.indices[depth] = i;
		TRY(run_slices(run, depth + 1));
		if (i == last)
			return NULL;
	}
}

static struct error *run_cpus(struct run *run)
{
	const struct cpu *cpus;
	size_t count = target_cpus(run->evaluation.target, &cpus);
	if (!count)
		return error_create(ERROR_NOT_FOUND, "the machine's CPUs are not known");
	run->result.has_cpu = true;
	for (size_t i = 0; i < count; i++) {
		TRY(interrupt_check());
		run->evaluation.cpu = &cpus[i];
		run->result.cpu = cpus[i].number;
		TRY(run_slices(run, 0));
	}
	return NULL;
}

static struct error *run_tree(struct scope *scope, const struct tree *tree,
			      expression_visitor *visit, void *context)
{
	struct run run = { .tree = tree,
			   .evaluation = { .scope = scope, .target = scope->target },
			   .result.index_count = tree->slice_count,
			   .visit = visit,
			   .context = context };
	return tree->all_cpus ? run_cpus(&run) : run_slices(&run, 0);
}

/* What the parser took for one array, as the last of the slices. */
static void take_elements(struct tree *tree)
{
	if (tree->root->kind != NODE_SLICE)
		return;
	tree->root->is_whole = false;
	tree->slice_count++;
}

struct error *expression_evaluate(struct scope *scope, const char *text, enum slice_meaning slice,
				  expression_visitor *visit, void *context)
{
	struct tree tree;
	TRY(expression_parse(scope, text, &tree));
	if (slice == SLICE_ELEMENTS)
		take_elements(&tree);
	struct error *error = run_tree(scope, &tree, visit, context);
	tree_deinit(&tree);
	return error;
}

static bool has_several(const struct tree *tree)
{
	return tree->all_cpus || tree->slice_count;
}

bool expression_has_several(struct scope *scope, const char *text, enum slice_meaning slice)
{
	struct tree tree;
	/* "name:a" and "a[0..9]" have these; most texts need not be parsed twice. */
	if (!strchr(text, ':') && !strstr(text, ".."))
		return false;
	struct error *error = expression_parse(scope, text, &tree);
	if (!error && slice == SLICE_ELEMENTS)
		take_elements(&tree);
	bool several = !error && has_several(&tree);
	if (!error)
		tree_deinit(&tree);
	error_free(error);
	return several;
}

/* --- one result ----------------------------------------------------------------------------- */

static struct error *keep_value(void *context, const struct expression_result *result)
{
	*(struct value *)context = *result->value;
	return NULL;
}

/* Refuses what has not one value. */
static struct error *check_single(struct tree *tree)
{
	if (!has_several(tree))
		return NULL;
	bool all_cpus = tree->all_cpus;
	tree_deinit(tree);
	return error_create(ERROR_USAGE, all_cpus ? "one CPU is wanted here, not all: say :0"
						  : "one value is wanted here, not one an element");
}

static struct error *parse_single(struct scope *scope, const char *text, struct tree *ret)
{
	TRY(expression_parse(scope, text, ret));
	return check_single(ret);
}

struct error *expression_value(struct scope *scope, const char *text, struct value *ret)
{
	struct tree tree;
	TRY(parse_single(scope, text, &tree));
	struct error *error = run_tree(scope, &tree, keep_value, ret);
	tree_deinit(&tree);
	return error;
}

struct error *expression_type(struct scope *scope, const char *text, struct value *ret)
{
	struct tree tree;
	TRY(expression_parse(scope, text, &tree));
	struct evaluation evaluation = { .scope = scope, .target = scope->target, .types_only = 1 };
	struct error *error = expression_walk(&evaluation, tree.root, ret);
	tree_deinit(&tree);
	return error;
}

static struct error *walk_member(struct evaluation *evaluation, const char *path, struct value *ret)
{
	struct tree tree;
	TRY(member_path_parse(evaluation->scope, path, &tree));
	TRY(check_single(&tree));
	struct error *error = expression_walk(evaluation, tree.root, ret);
	tree_deinit(&tree);
	return error;
}

struct error *expression_member(struct scope *scope, const struct value *base, const char *path,
				struct value *ret)
{
	struct evaluation evaluation = { .scope = scope, .target = scope->target, .base = base };
	return walk_member(&evaluation, path, ret);
}

struct error *expression_member_type(struct scope *scope, const struct value *base,
				     const char *path, struct value *ret)
{
	struct evaluation evaluation = {
		.scope = scope, .target = scope->target, .base = base, .types_only = 1
	};
	return walk_member(&evaluation, path, ret);
}

static struct error *walk_about(struct evaluation *evaluation, const char *text, struct value *ret)
{
	struct tree tree;
	TRY(parse_single(evaluation->scope, text, &tree));
	struct error *error = expression_walk(evaluation, tree.root, ret);
	tree_deinit(&tree);
	return error;
}

struct error *expression_about(struct scope *scope, const struct value *base, const char *text,
			       struct value *ret)
{
	struct evaluation evaluation = { .scope = scope, .target = scope->target, .base = base };
	return walk_about(&evaluation, text, ret);
}

struct error *expression_about_type(struct scope *scope, const struct value *base, const char *text,
				    struct value *ret)
{
	struct evaluation evaluation = {
		.scope = scope, .target = scope->target, .base = base, .types_only = 1
	};
	return walk_about(&evaluation, text, ret);
}

/* --- the scope ------------------------------------------------------------------------------- */

struct error *scope_init(struct scope *scope, struct target *target)
{
	*scope = (struct scope){ .target = target, .variables = variables_create() };
	return scope->variables ? NULL : error_no_memory();
}

void scope_deinit(struct scope *scope)
{
	variables_destroy(scope->variables);
	*scope = (struct scope){ 0 };
}

/* --- addresses -------------------------------------------------------------------------------- */

/* "ffffffff82001000" that is no symbol's name. */
static bool is_bare_address(struct scope *scope, const char *text, uint64_t *ret)
{
	size_t length = strspn(text, "0123456789abcdefABCDEF");
	struct symbol symbol;
	uint64_t cursor = 0;
	if (!length || length > 16 || text[length])
		return false;
	if (symtab_find(scope->target->symbols, NULL, text, &cursor, &symbol))
		return false;
	return digits_scan(text, 16, ret);
}

static bool is_place(const struct value *value)
{
	struct btf_type record;
	return value->in_memory && (!value_record(value, &record) || record.kind == BTF_STRUCT ||
				    record.kind == BTF_UNION || record.kind == BTF_ARRAY ||
				    record.kind == BTF_FUNC_PROTO);
}

/* "symbol": where it is, whatever its type; what was computed or followed: its value. */
static struct error *address_of_node(struct scope *scope, const struct node *node, uint64_t *ret)
{
	struct evaluation evaluation = { .scope = scope, .target = scope->target };
	struct value value;
	TRY(expression_walk(&evaluation, node, &value));
	if (value.in_memory && (node->kind == NODE_NAME || is_place(&value))) {
		/* Else NULL's own number would be asked for: as a word to search, all memory has
		 * it. */
		if (node->kind != NODE_NAME && value.address < NULL_PAGE)
			return error_create(ERROR_NOT_FOUND,
					    "what is asked for lies at 0x%" PRIx64
					    ": a NULL pointer leads there",
					    value.address);
		*ret = value.address;
		return NULL;
	}
	return value_u64(&value, ret);
}

/* pointer+0x10 counts bytes, as everywhere in dumps and oopses, whatever the pointer's type. */
static struct error *address_of_tree(struct scope *scope, const struct node *root, uint64_t *ret)
{
	if (root->kind != NODE_BINARY || (root->operation != '+' && root->operation != '-'))
		return address_of_node(scope, root, ret);
	uint64_t base, offset;
	TRY(address_of_tree(scope, root->operands[0], &base));
	TRY(address_of_node(scope, root->operands[1], &offset));
	*ret = root->operation == '+' ? base + offset : base - offset;
	return NULL;
}

struct error *expression_address(struct scope *scope, const char *text, uint64_t *ret)
{
	if (is_bare_address(scope, text, ret))
		return NULL;
	struct tree tree;
	TRY(parse_single(scope, text, &tree));
	struct error *error = address_of_tree(scope, tree.root, ret);
	tree_deinit(&tree);
	return error;
}
