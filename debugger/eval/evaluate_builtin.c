// SPDX-License-Identifier: GPL-3.0-or-later
/* sizeof, offsetof, container_of, per_cpu: what looks like a call, or is no operation on values. */
#include "debugger/eval/convert.h"
#include "debugger/eval/tree.h"
#include "debugger/target/object.h"
#include <inttypes.h>

/* --- sizes ---------------------------------------------------------------------------------- */

static struct error *size_of(struct evaluation *evaluation, const struct node *node,
			     struct type type, struct value *ret)
{
	uint64_t size;
	if (!type.btf || !type_size(type_completed(evaluation->target, type), &size))
		return error_create(ERROR_USAGE, "column %u: it has no known size", node->column);
	return value_set_integer(evaluation->target, arithmetic_word(evaluation->target, false),
				 size, ret);
}

static struct error *sizeof_evaluate(struct evaluation *evaluation, const struct node *node,
				     struct value *ret)
{
	struct value operand;
	evaluation->types_only++;
	struct error *error = expression_walk(evaluation, node->operands[0], &operand);
	evaluation->types_only--;
	if (error)
		return error;
	if (operand.bit_size)
		return error_create(ERROR_USAGE, "column %u: a bit-field has no size in bytes",
				    node->column);
	return size_of(evaluation, node, operand.type, ret);
}

/* --- places within types -------------------------------------------------------------------- */

/* A path from a place of a type on: no pointer on the way can be followed. */
static struct error *place_walk(struct evaluation *evaluation, const struct node *node,
				struct value *ret)
{
	struct value base, index;
	struct btf_type record;
	if (node->kind == NODE_PLACE)
		return expression_walk(evaluation, node, ret);
	TRY(place_walk(evaluation, node->operands[0], &base));
	if (value_record(&base, &record) && record.kind == BTF_PTR)
		return error_create(ERROR_USAGE, "column %u: the path goes through a pointer",
				    node->column);
	if (node->kind == NODE_MEMBER)
		return at_column(node, value_member(&base, node->name, ret));
	if (node->kind == NODE_SLICE)
		TRY(value_set_integer(evaluation->target, arithmetic_word(evaluation->target, true),
				      (uint64_t)node->slice_at, &index));
	else
		TRY(operand_walk(evaluation, node->operands[1], &index));
	return element_evaluate(node, &base, &index, ret);
}

static struct error *offset_of(struct evaluation *evaluation, const struct node *node,
			       const struct node *path, uint64_t *ret)
{
	struct value place;
	TRY(place_walk(evaluation, path, &place));
	if (place.bit_size)
		return error_create(ERROR_USAGE, "column %u: a bit-field has no offset in bytes",
				    node->column);
	*ret = place.address;
	return NULL;
}

static struct error *offsetof_evaluate(struct evaluation *evaluation, const struct node *node,
				       struct value *ret)
{
	uint64_t offset = 0;
	TRY(offset_of(evaluation, node, node->operands[0], &offset));
	return value_set_integer(evaluation->target, arithmetic_word(evaluation->target, false),
				 offset, ret);
}

static struct error *container_evaluate(struct evaluation *evaluation, const struct node *node,
					struct value *ret)
{
	struct value pointer;
	uint64_t address, offset = 0;
	TRY(offset_of(evaluation, node, node->operands[1], &offset));
	TRY(operand_walk(evaluation, node->operands[0], &pointer));
	TRY(at_column(node, value_u64(&pointer, &address)));
	return value_set_pointer(evaluation->target, node->type, address - offset, ret);
}

/* --- per-CPU -------------------------------------------------------------------------------- */

static struct error *number_cpu(struct evaluation *evaluation, const struct node *node,
				const struct cpu **ret)
{
	struct value value;
	uint64_t number;
	TRY(operand_walk(evaluation, node, &value));
	TRY(at_column(node, value_u64(&value, &number)));
	*ret = NULL;
	if (number > UINT32_MAX)
		return error_create(ERROR_NOT_FOUND, "column %u: there is no CPU %" PRIu64,
				    node->column, number);
	struct error *error = target_find_cpu(evaluation->target, (uint32_t)number, ret);
	if (!evaluation->types_only)
		return error_prefix(error, "column %u", node->column);
	error_free(error);
	return NULL;
}

static struct error *per_cpu_evaluate(struct evaluation *evaluation, const struct node *node,
				      struct value *ret)
{
	const struct cpu *saved = evaluation->per_cpu, *cpu;
	bool saved_used = evaluation->used_per_cpu;
	TRY(number_cpu(evaluation, node->operands[1], &cpu));
	evaluation->per_cpu = cpu;
	evaluation->used_per_cpu = false;
	struct error *error = expression_walk(evaluation, node->operands[0], ret);
	bool used = evaluation->used_per_cpu;
	evaluation->per_cpu = saved;
	evaluation->used_per_cpu = saved_used;
	if (!error && !used)
		return error_create(ERROR_USAGE, "column %u: no per-CPU variable is in it",
				    node->operands[0]->column);
	return error;
}

/* What alloc_percpu() gave, a member of many structs, on one CPU. */
static struct error *per_cpu_ptr_evaluate(struct evaluation *evaluation, const struct node *node,
					  struct value *ret)
{
	const struct cpu *cpu;
	struct value pointer;
	struct type type;
	uint64_t address;
	TRY(number_cpu(evaluation, node->operands[1], &cpu));
	TRY(operand_walk(evaluation, node->operands[0], &pointer));
	if (!pointer.type.btf || !type_is_pointer(pointer.type) ||
	    !type_target(pointer.type, &type))
		return error_create(ERROR_USAGE, "column %u: only a pointer can be per-CPU",
				    node->operands[0]->column);
	TRY(at_column(node, value_u64(&pointer, &address)));
	TRY(value_set_pointer(evaluation->target, type, address + (cpu ? cpu->per_cpu_offset : 0),
			      ret));
	ret->origin = pointer.origin;
	return NULL;
}

struct error *builtin_evaluate(struct evaluation *evaluation, const struct node *node,
			       struct value *ret)
{
	switch (node->kind) {
	case NODE_SIZEOF:
		return sizeof_evaluate(evaluation, node, ret);
	case NODE_SIZEOF_TYPE:
		return size_of(evaluation, node, node->type, ret);
	case NODE_OFFSETOF:
		return offsetof_evaluate(evaluation, node, ret);
	case NODE_CONTAINER:
		return container_evaluate(evaluation, node, ret);
	case NODE_PER_CPU:
		return per_cpu_evaluate(evaluation, node, ret);
	case NODE_PER_CPU_PTR:
		return per_cpu_ptr_evaluate(evaluation, node, ret);
	default:
		return error_create(ERROR_OTHER, "unknown node %d", node->kind);
	}
}
