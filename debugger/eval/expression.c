// SPDX-License-Identifier: GPL-3.0-or-later
/* From the text of an expression to its results. */
#include "debugger/eval/tree.h"

#include "base/interrupt.h"
#include "debugger/target/object.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* One symbol's note is enough, however often the expression names it. */
static const char *note_of(const struct evaluation *evaluation)
{
	return *evaluation->note ? evaluation->note : NULL;
}

static struct error *evaluate_once(struct target *target, const struct node *root,
				   expression_visitor *visit, void *context)
{
	struct evaluation evaluation = { .target = target };
	struct value value;
	TRY(expression_walk(&evaluation, root, &value));
	struct expression_result result = { .value = &value, .note = note_of(&evaluation) };
	return visit(context, &result);
}

/* What cannot be read on one CPU is shown there; the others are still evaluated. */
static struct error *evaluate_on(struct target *target, const struct node *root,
				 const struct cpu *cpu, expression_visitor *visit, void *context)
{
	struct evaluation evaluation = { .target = target, .cpu = cpu };
	struct expression_result result = { .has_cpu = true, .cpu = cpu->number };
	struct value value;
	TRY(interrupt_check());
	struct error *error = expression_walk(&evaluation, root, &value);
	if (error && !error_is_missing(error))
		return error;
	if (error)
		result.error = error;
	else
		result.value = &value;
	result.note = note_of(&evaluation);
	struct error *failure = visit(context, &result);
	error_free(error);
	return failure;
}

static struct error *evaluate_all(struct target *target, const struct node *root,
				  expression_visitor *visit, void *context)
{
	const struct cpu *cpus;
	size_t count = target_cpus(target, &cpus);
	if (!count)
		return error_create(ERROR_NOT_FOUND, "the machine's CPUs are not known");
	for (size_t i = 0; i < count; i++)
		TRY(evaluate_on(target, root, &cpus[i], visit, context));
	return NULL;
}

struct error *expression_evaluate(struct target *target, const char *text,
				  expression_visitor *visit, void *context)
{
	struct tree tree;
	TRY(expression_parse(target, text, &tree));
	struct error *error = tree.all_cpus ? evaluate_all(target, tree.root, visit, context)
					    : evaluate_once(target, tree.root, visit, context);
	tree_deinit(&tree);
	return error;
}

static struct error *keep_value(void *context, const struct expression_result *result)
{
	*(struct value *)context = *result->value;
	return NULL;
}

/* Refuses "x:a", which has no one value. */
static struct error *parse_single(struct target *target, const char *text, struct tree *ret)
{
	TRY(expression_parse(target, text, ret));
	if (!ret->all_cpus)
		return NULL;
	tree_deinit(ret);
	return error_create(ERROR_USAGE, "one CPU is wanted here, not all: say :0");
}

struct error *expression_value(struct target *target, const char *text, struct value *ret)
{
	struct tree tree;
	TRY(parse_single(target, text, &tree));
	struct error *error = evaluate_once(target, tree.root, keep_value, ret);
	tree_deinit(&tree);
	return error;
}

struct error *expression_type(struct target *target, const char *text, struct value *ret)
{
	struct tree tree;
	TRY(expression_parse(target, text, &tree));
	struct evaluation evaluation = { .target = target, .types_only = 1 };
	struct error *error = expression_walk(&evaluation, tree.root, ret);
	tree_deinit(&tree);
	return error;
}

/* --- addresses -------------------------------------------------------------------------------- */

/* "ffffffff82001000" that is no symbol's name. */
static bool is_bare_address(struct target *target, const char *text, uint64_t *ret)
{
	size_t length = strspn(text, "0123456789abcdefABCDEF");
	struct symbol symbol;
	uint64_t cursor = 0;
	if (!length || length > 16 || text[length])
		return false;
	if (symtab_find(target->symbols, NULL, text, &cursor, &symbol))
		return false;
	*ret = strtoull(text, NULL, 16);
	return true;
}

static bool is_place(const struct value *value)
{
	struct btf_type record;
	return value->in_memory && (!value_record(value, &record) || record.kind == BTF_STRUCT ||
				    record.kind == BTF_UNION || record.kind == BTF_ARRAY ||
				    record.kind == BTF_FUNC_PROTO);
}

/* "symbol": where it is, whatever its type; what was computed or followed: its value. */
static struct error *address_of_node(struct target *target, const struct node *node, uint64_t *ret)
{
	struct evaluation evaluation = { .target = target };
	struct value value;
	TRY(expression_walk(&evaluation, node, &value));
	if (value.in_memory && (node->kind == NODE_NAME || is_place(&value))) {
		*ret = value.address;
		return NULL;
	}
	return value_u64(&value, ret);
}

/* pointer+0x10 counts bytes, as everywhere in dumps and oopses, whatever the pointer's type. */
static struct error *address_of_tree(struct target *target, const struct node *root, uint64_t *ret)
{
	if (root->kind != NODE_BINARY || (root->operation != '+' && root->operation != '-'))
		return address_of_node(target, root, ret);
	uint64_t base, offset;
	TRY(address_of_tree(target, root->operands[0], &base));
	TRY(address_of_node(target, root->operands[1], &offset));
	*ret = root->operation == '+' ? base + offset : base - offset;
	return NULL;
}

struct error *expression_address(struct target *target, const char *text, uint64_t *ret)
{
	if (is_bare_address(target, text, ret))
		return NULL;
	struct tree tree;
	TRY(parse_single(target, text, &tree));
	struct error *error = address_of_tree(target, tree.root, ret);
	tree_deinit(&tree);
	return error;
}
