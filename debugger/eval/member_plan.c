// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/eval/member_plan.h"

#include "debugger/eval/tree.h"

#define MEMBERS_MAX 32

/* The names behind the object, the last one first; 0: there is more than members in the path. */
static size_t members_of(const struct tree *tree, const struct node *ret[MEMBERS_MAX])
{
	const struct node *node = tree->root;
	size_t count = 0;
	for (; node->kind == NODE_MEMBER && count < MEMBERS_MAX; node = node->operands[0])
		ret[count++] = node;
	return node->kind == NODE_BASE ? count : 0;
}

/* Of a pointer, what it points to; the pointer is one that has to be read each time. */
static struct error *add_pointer(struct member_plan *plan, struct value *at)
{
	struct btf_type record;
	if (!value_record(at, &record) || record.kind != BTF_PTR)
		return NULL;
	if (plan->pointer_count == MEMBER_PLAN_POINTERS)
		return error_create(ERROR_UNSUPPORTED, "too many pointers");
	plan->pointers[plan->pointer_count++] = *at;
	/* Any address does: what was not read decides about no type. */
	at->in_memory = false;
	at->scalar = 0;
	return value_follow(at, at);
}

static struct error *follow_members(struct member_plan *plan, const struct tree *tree)
{
	const struct node *members[MEMBERS_MAX];
	size_t count = members_of(tree, members);
	struct value at = plan->base;
	if (!count)
		return error_create(ERROR_UNSUPPORTED, "not only members");
	while (count--) {
		TRY(add_pointer(plan, &at));
		TRY(value_member(&at, members[count]->name, &at));
	}
	plan->last = at;
	return NULL;
}

/* What is wrong with the path, its evaluation says. */
static void make(struct member_plan *plan, struct scope *scope, const struct value *object,
		 const char *path)
{
	struct tree tree;
	*plan = (struct member_plan){ .is_made = true, .base = *object };
	plan->base.address = 0;
	if (!object->in_memory || !object->type.btf || object->bit_size)
		return;
	struct error *error = member_path_parse(scope, path, &tree);
	if (!error) {
		error = follow_members(plan, &tree);
		tree_deinit(&tree);
	}
	plan->is_usable = !error;
	error_free(error);
}

static bool is_for(const struct member_plan *plan, const struct value *object)
{
	const struct value *base = &plan->base;
	return plan->is_made && object->target == base->target &&
	       object->type.btf == base->type.btf && object->type.id == base->type.id &&
	       object->in_memory == base->in_memory && object->bit_size == base->bit_size &&
	       object->origin == base->origin;
}

struct error *member_plan_value(struct member_plan *plan, struct scope *scope,
				const struct value *object, const char *path, struct value *ret)
{
	struct error *error = NULL;
	if (!is_for(plan, object))
		make(plan, scope, object, path);
	if (!plan->is_usable)
		return expression_member(scope, object, path, ret);
	uint64_t address = object->address;
	for (size_t i = 0; i < plan->pointer_count && !error; i++) {
		struct value pointer = plan->pointers[i];
		pointer.address += address;
		error = value_u64(&pointer, &address);
	}
	if (error)
		return error;
	*ret = plan->last;
	ret->address += address;
	return NULL;
}
