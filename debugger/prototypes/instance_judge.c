// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/prototypes/instance_judge.h"

#include "debugger/code/parameters.h"
#include <string.h>

#define DEPTH_MAX 16
/* So many accesses that hit a member exactly, and none that misses, are no accident. */
#define FITS_ENOUGH 8
/* Bits are tested in bytes, and small structs are copied at once. */
#define FITS_PER_PART 4

struct hypothesis {
	const struct use_world *world;
	const struct uses *uses;
	struct type types[USE_NODES_MAX]; /* of the nodes; { NULL, 0 }: not known */
	uint32_t registers;		  /* that the prototype takes, a mask */
	struct judgement *judgement;
};

/* --- what lies where ------------------------------------------------------------------------- */

static bool is_compound(struct type type, struct btf_type *ret)
{
	return type_get_resolved(type, ret) && (ret->kind == BTF_STRUCT || ret->kind == BTF_UNION);
}

/* The same record of the same BTF. */
static bool is_same_record(const struct btf_type *a, const struct btf_type *b)
{
	return a->btf == b->btf && a->id == b->id;
}

enum fit { FIT_NOT, FIT_PART, FIT_EXACT };

struct lookup {
	uint32_t size;
	struct type scalar; /* the exact one */
	bool is_ambiguous;  /* union arms differ */
};

static enum fit fit_scalar(struct lookup *lookup, struct type type, uint64_t offset)
{
	uint64_t size;
	if (!type_size(type, &size) || offset >= size)
		return FIT_NOT;
	if (offset || size != lookup->size)
		return offset + lookup->size <= size ? FIT_PART : FIT_NOT;
	if (lookup->scalar.btf && !type_equal(lookup->scalar, type))
		lookup->is_ambiguous = true;
	lookup->scalar = type;
	return FIT_EXACT;
}

static enum fit fit_at(struct lookup *lookup, struct type type, uint64_t offset, int depth);

static enum fit fit_member(struct lookup *lookup, struct type parent, const struct btf_type *record,
			   uint32_t index, uint64_t offset, int depth)
{
	struct btf_member member;
	uint64_t size = 0;
	btf_member(record, index, &member);
	uint64_t start = member.bit_offset / 8;
	if (offset + lookup->size <= start)
		return FIT_NOT;
	if (member.bit_size)
		return offset * 8 < member.bit_offset + (uint64_t)member.bit_size ? FIT_PART
										  : FIT_NOT;
	struct type type = { parent.btf, member.type };
	(void)type_size(type, &size);
	/* A flexible array has no size, and no end. */
	if (offset < start || (size && offset >= start + size))
		return FIT_NOT;
	return fit_at(lookup, type, offset - start, depth + 1);
}

static enum fit fit_at(struct lookup *lookup, struct type type, uint64_t offset, int depth)
{
	struct btf_type record;
	struct type element;
	uint64_t size;
	enum fit best = FIT_NOT;
	if (depth > DEPTH_MAX || !type_get_resolved(type, &record))
		return FIT_NOT;
	if (record.kind == BTF_ARRAY) {
		if (!type_target(type, &element) || !type_size(element, &size) || !size)
			return FIT_NOT;
		return fit_at(lookup, element, offset % size, depth + 1);
	}
	if (record.kind != BTF_STRUCT && record.kind != BTF_UNION)
		return fit_scalar(lookup, type, offset);
	for (uint32_t i = 0; i < record.vlen; i++) {
		enum fit fit = fit_member(lookup, type, &record, i, offset, depth);
		best = fit > best ? fit : best;
	}
	return best;
}

bool type_scalar_at(struct type type, uint64_t offset, uint32_t size, struct type *ret)
{
	struct lookup lookup = { .size = size };
	if (fit_at(&lookup, type, offset, 0) != FIT_EXACT || lookup.is_ambiguous)
		return false;
	*ret = lookup.scalar;
	return true;
}

/* An object of the wanted struct or union begins at an offset, in any arm, as any element. */
static bool holds(struct type type, uint64_t offset, const struct btf_type *wanted, int depth)
{
	struct btf_type record;
	struct btf_member member;
	struct type element;
	uint64_t size;
	if (depth > DEPTH_MAX || !type_get_resolved(type, &record))
		return false;
	if (record.kind == BTF_ARRAY)
		return type_target(type, &element) && type_size(element, &size) && size &&
		       holds(element, offset % size, wanted, depth + 1);
	if (record.kind != BTF_STRUCT && record.kind != BTF_UNION)
		return false;
	if (!offset && is_same_record(&record, wanted))
		return true;
	for (uint32_t i = 0; i < record.vlen; i++) {
		btf_member(&record, i, &member);
		struct type inner = { type.btf, member.type };
		uint64_t start = member.bit_offset / 8;
		if (member.bit_size || offset < start)
			continue;
		if (!type_size(inner, &size))
			continue;
		if ((!size || offset < start + size) &&
		    holds(inner, offset - start, wanted, depth + 1))
			return true;
	}
	return false;
}

/* --- the nodes under the hypothesis ---------------------------------------------------------- */

static void type_arguments(struct hypothesis *hypothesis, struct type prototype)
{
	struct parameters parameters;
	struct parameter parameter;
	if (!parameters_begin(&parameters, hypothesis->world->lowering, prototype))
		return;
	while (parameters_next(&parameters, &parameter))
		if (parameter.count == 1)
			hypothesis->types[parameter.first + 1] = parameter.type;
	hypothesis->registers = parameters.takes_more ? ~0u : (1u << parameters.used) - 1;
}

static struct type pointee_of(struct type type)
{
	struct type none = { NULL, 0 }, target;
	return type.btf && type_is_pointer(type) && type_target(type, &target) ? target : none;
}

static void type_children(struct hypothesis *hypothesis)
{
	const struct uses *uses = hypothesis->uses;
	struct btf_type record;
	for (uint16_t i = 1; i < uses->node_count; i++) {
		const struct use_node *node = &uses->nodes[i];
		if (!node->parent || node->offset < 0)
			continue;
		struct type target = pointee_of(hypothesis->types[node->parent]);
		struct lookup lookup = { .size = 8 };
		if (!target.btf || !is_compound(target, &record))
			continue;
		if (fit_at(&lookup, target, (uint64_t)node->offset, 0) == FIT_EXACT &&
		    !lookup.is_ambiguous)
			hypothesis->types[i] = lookup.scalar;
	}
}

/* Of the argument that a node was reached from. */
static struct support *support_of(struct hypothesis *hypothesis, uint16_t node)
{
	while (hypothesis->uses->nodes[node].parent)
		node = hypothesis->uses->nodes[node].parent;
	return &hypothesis->judgement->arguments[(node - 1) % JUDGED_ARGUMENTS];
}

/* --- uses ------------------------------------------------------------------------------------ */

/* An integer too small for an address. */
static bool is_small(struct type type)
{
	struct btf_type record;
	uint64_t size;
	return type_get_resolved(type, &record) && type_size(type, &size) && size < 8 &&
	       (record.kind == BTF_INT || record.kind == BTF_ENUM || record.kind == BTF_ENUM64);
}

static void is_odd(struct hypothesis *hypothesis, const struct use *use, const char *why)
{
	hypothesis->judgement->odd++;
	/* What was loaded may have been cast; an argument is what the prototype says. */
	if (!hypothesis->uses->nodes[use->node].parent && why)
		hypothesis->judgement->refuted = why;
}

static void judge_access(struct hypothesis *hypothesis, const struct use *use, struct type type)
{
	struct type target = pointee_of(type);
	struct btf_type record;
	struct lookup lookup = { .size = use->size };
	if (is_small(type)) {
		is_odd(hypothesis, use, "an integer would be dereferenced");
		return;
	}
	if (!target.btf || !is_compound(target, &record))
		return;
	enum fit fit = use->offset < 0 ? FIT_NOT
				       : fit_at(&lookup, target, (uint64_t)use->offset, 0);
	struct support *support = support_of(hypothesis, use->node);
	if (fit == FIT_EXACT)
		support->fits++;
	else if (use->offset < 0 || (uint64_t)use->offset >= record.size)
		is_odd(hypothesis, use, NULL);
	else
		support->parts++;
}

static void judge_pass(struct hypothesis *hypothesis, const struct use *use, struct type type)
{
	struct type wanted = kind_type(hypothesis->world->levels, use->type);
	struct type wanted_target = pointee_of(wanted), target = pointee_of(type);
	struct btf_type inner, outer;
	if (is_small(type) && type_is_pointer(wanted)) {
		is_odd(hypothesis, use, "an integer would be handed on as a pointer");
		return;
	}
	if (!wanted_target.btf || !target.btf || !target.id || !wanted_target.id)
		return;
	if (!is_compound(wanted_target, &inner)) {
		if (!use->offset && type_equal(type_resolve(target), type_resolve(wanted_target)))
			support_of(hypothesis, use->node)->fits++;
		return;
	}
	if (!is_compound(target, &outer))
		return;
	if (use->offset >= 0 && holds(target, (uint64_t)use->offset, &inner, 0))
		support_of(hypothesis, use->node)->strong++;
	else
		is_odd(hypothesis, use, NULL);
}

static void judge_call(struct hypothesis *hypothesis, const struct use *use, struct type type)
{
	struct type target = pointee_of(type);
	struct btf_type record;
	if (target.btf && type_get_resolved(target, &record) && record.kind == BTF_FUNC_PROTO)
		support_of(hypothesis, use->node)->strong++;
	else
		is_odd(hypothesis, use, NULL);
}

static void judge_use(struct hypothesis *hypothesis, const struct use *use)
{
	struct type type = hypothesis->types[use->node];
	if (!type.btf)
		return;
	if (use->kind == USE_ACCESS)
		judge_access(hypothesis, use, type);
	else if (use->kind == USE_PASS)
		judge_pass(hypothesis, use, type);
	else
		judge_call(hypothesis, use, type);
}

/* Which arguments have to be borne out. */
static void note_arguments(struct hypothesis *hypothesis)
{
	const struct uses *uses = hypothesis->uses;
	struct support *arguments = hypothesis->judgement->arguments;
	struct btf_type record;
	for (unsigned int i = 0; i < JUDGED_ARGUMENTS; i++) {
		struct type target = pointee_of(hypothesis->types[i + 1]);
		arguments[i].is_compound = target.btf && is_compound(target, &record);
		arguments[i].is_used = uses->read >> i & 1;
	}
	for (size_t i = 0; i < uses->count; i++)
		support_of(hypothesis, uses->items[i].node)->is_used = true;
}

void judge_prototype(const struct use_world *world, const struct uses *uses, struct type prototype,
		     struct judgement *ret)
{
	struct hypothesis hypothesis = { .world = world, .uses = uses, .judgement = ret };
	*ret = (struct judgement){ 0 };
	type_arguments(&hypothesis, prototype);
	type_children(&hypothesis);
	note_arguments(&hypothesis);
	for (size_t i = 0; i < uses->count; i++)
		judge_use(&hypothesis, &uses->items[i]);
	if (uses->read & ~hypothesis.registers)
		ret->refuted = "more arguments are read than it has";
}

static bool is_supported(const struct support *support)
{
	return support->strong ||
	       (support->fits >= FITS_ENOUGH && support->parts * FITS_PER_PART <= support->fits);
}

bool is_borne_out(const struct judgement *judgement)
{
	bool is_any = false;
	if (judgement->refuted || judgement->odd)
		return false;
	for (size_t i = 0; i < JUDGED_ARGUMENTS; i++) {
		const struct support *support = &judgement->arguments[i];
		if (!support->is_compound || !support->is_used)
			continue;
		if (!is_supported(support))
			return false;
		is_any = true;
	}
	return is_any;
}

bool is_whole(const struct judgement *judgement)
{
	for (size_t i = 0; i < JUDGED_ARGUMENTS; i++)
		if (judgement->arguments[i].is_compound && !judgement->arguments[i].is_used)
			return false;
	return true;
}

/* --- prototypes ------------------------------------------------------------------------------ */

/* Structs of one name may differ, which type_equal() does not look for behind pointers. */
static bool is_same_type(struct type a, struct type b)
{
	struct type first, second;
	if (!type_equal(a, b))
		return false;
	while (type_is_pointer(a) && type_is_pointer(b) && type_target(a, &first) &&
	       type_target(b, &second)) {
		a = first;
		b = second;
	}
	return type_equal(type_resolve(a), type_resolve(b));
}

bool is_same_prototype(struct type a, struct type b)
{
	struct btf_type first, second;
	struct btf_param left, right;
	if (!type_get(a, &first) || !type_get(b, &second) || first.vlen != second.vlen ||
	    !is_same_type((struct type){ a.btf, first.type }, (struct type){ b.btf, second.type }))
		return false;
	for (uint32_t i = 0; btf_param(&first, i, &left) && btf_param(&second, i, &right); i++)
		if (!left.type != !right.type || !is_same_type((struct type){ a.btf, left.type },
							       (struct type){ b.btf, right.type }))
			return false;
	return true;
}
