// SPDX-License-Identifier: GPL-3.0-or-later
/* Turns clues into wishes (what a type should have where), and measures candidates by them. */
#include "base/array.h"
#include "debugger/infer/solve/solve.h"

#define NUMBER_SIZE_MAX 8
#define PRIOR_LOCK	-3 /* of a spinlock_t; how many others hold a raw_spinlock_t tells nothing */

/* --- clues ---------------------------------------------------------------------------------- */

/* Points that a clue gives a candidate that matches, and takes from one that does not. */
static enum rule rule_of(const struct layout *layout, const struct clue *clue, uint32_t type)
{
	enum btf_kind kind = layout_kind(layout, type);
	bool compound = kind == BTF_STRUCT || kind == BTF_UNION;
	switch (clue->kind) {
	case CLUE_WHOLE:
		return RULE_WHOLE;
	case CLUE_STRIDE:
		return RULE_STRIDE;
	case CLUE_ACCESS:
		return RULE_ACCESS;
	case CLUE_SHAPE:
		return clue->source == SOURCE_NAME ? RULE_SHAPE_NAME : RULE_SHAPE;
	case CLUE_OBJECT:
		if (compound)
			return RULE_OBJECT;
		return kind == BTF_PTR			? RULE_OBJECT_POINTER
		       : layout_size(layout, type) == 1 ? RULE_OBJECT_BYTE
							: RULE_OBJECT_NUMBER;
	case CLUE_VALUE:
		if (kind == BTF_PTR)
			return layout_is_compound(layout, layout_target(layout, type))
				       ? RULE_VALUE_POINTER
			       /* void * is what pointers to anything are passed as. */
			       : !layout_target(layout, type) ? RULE_COUNT
			       : clue->source == SOURCE_DATA  ? RULE_VALUE_SEEN
							      : RULE_VALUE_OTHER_POINTER;
		if (kind == BTF_ENUM || kind == BTF_ENUM64 || compound)
			return RULE_VALUE_ENUM;
		return clue->shows_sign ? RULE_VALUE_SIGN : RULE_VALUE_NUMBER;
	default:
		return RULE_COUNT;
	}
}

static int weigh(const struct solver *solver, const struct clue *clue, uint32_t type)
{
	enum rule which = rule_of(solver->layout, clue, type);
	return which == RULE_COUNT ? 0 : points_of(solver, which);
}

static bool add_wish(struct solver *solver, const struct clue *clue)
{
	const struct layout *layout = solver->layout;
	uint64_t room = solver->input->subject->room;
	uint32_t type = layout_id(layout, clue->type), size = layout_size(layout, type);
	uint32_t count = points_of(solver, RULE_COUNTED) ? clue->count : 0;
	if (layout_kind(layout, type) == BTF_FUNC_PROTO) {
		type = layout_resolve(layout, layout->records[type].pointer);
		size = layout_size(layout, type);
	}
	bool is_typed = clue->kind != CLUE_ACCESS && clue->kind != CLUE_STRIDE;
	if (is_typed && (!type || !size))
		return true;
	if (!is_typed)
		size = clue->size;
	if (clue->offset >= room || size > room - clue->offset)
		return true;
	int16_t weight = (int16_t)weigh(solver, clue, type);
	for (size_t i = 0; i < solver->wish_count; i++) {
		struct wish *wish = &solver->wishes[i];
		if (wish->kind == clue->kind && wish->offset == clue->offset &&
		    wish->size == size && wish->type == type) {
			/* The same clue once more adds a little, not the same again. */
			if (!wish->count)
				wish->count = count;
			wish->shows_sign |= clue->shows_sign;
			if (wish->weight < weight)
				wish->weight = weight;
			if (wish->times++ < 3 && wish->weight > 2)
				wish->weight =
					(int16_t)(wish->weight + points_of(solver, RULE_AGAIN));
			return true;
		}
	}
	if (!array_reserve(&solver->wishes, &solver->wish_capacity, solver->wish_count + 1))
		return false;
	solver->wishes[solver->wish_count++] = (struct wish){ .kind = clue->kind,
							      .source = clue->source,
							      .offset = clue->offset,
							      .size = size,
							      .type = type,
							      .count = count,
							      .weight = weight,
							      .times = 1,
							      .shows_sign = clue->shows_sign,
							      .where = clue->where };
	return true;
}

bool solver_read_clues(struct solver *solver)
{
	solver->wish_count = 0;
	for (size_t i = 0; i < solver->input->clues->count; i++)
		if (!add_wish(solver, &solver->input->clues->items[i]))
			return false;
	return true;
}

/* --- a candidate by a wish -------------------------------------------------------------- */

/* An array with elements of that size covers the offset. */
static bool stride_fits(const struct layout *layout, uint32_t type, uint32_t offset, uint32_t size)
{
	for (int depth = 0; depth < 16; depth++) {
		uint32_t element = layout_target(layout, type);
		if (layout_kind(layout, type) == BTF_ARRAY) {
			uint32_t step = layout_size(layout, element);
			if (step && size % step == 0)
				return true;
			if (!step)
				return false;
			type = element;
			offset %= step;
			continue;
		}
		const struct field *field;
		uint32_t i = 0;
		while ((field = layout_field(layout, type, i)) &&
		       layout_is_compound(layout, type) &&
		       (offset < field->offset ||
			offset - field->offset >= layout_size(layout, field->type)))
			i++;
		if (!field || !layout_is_compound(layout, type))
			return false;
		type = field->type;
		offset -= field->offset;
	}
	return false;
}

static enum likeness match(struct solver *solver, uint32_t type, uint32_t offset, uint32_t wanted)
{
	uint32_t hash = (type * 0x9e3779b1u ^ wanted * 0x85ebca6bu ^ offset * 0xc2b2ae35u) >> 16;
	struct match_answer *answer = &solver->matches[hash & (MATCHES_CACHE - 1)];
	if (answer->type != type || answer->offset != offset || answer->wanted != wanted)
		*answer =
			(struct match_answer){ type, offset, wanted,
					       layout_match(solver->layout, type, offset, wanted) };
	return answer->likeness;
}

bool solver_is_cpumask_bits(const struct layout *layout, uint32_t pointer)
{
	const struct field *bits = layout->cpumask ? layout_field(layout, layout->cpumask, 0)
						   : NULL;
	return bits && layout_size(layout, layout->cpumask) > layout_size(layout, pointer) &&
	       layout_kind(layout, pointer) == BTF_PTR && layout_target(layout, pointer) &&
	       layout_target(layout, layout_resolve(layout, bits->type)) ==
		       layout_target(layout, pointer);
}

/*
 * In the middle of a chain, the words of a hlist_node are linked back just as a list_head's: what
 * looks like the one may be the other.
 */
static enum likeness match_shape(struct solver *solver, const struct scored *item,
				 const struct wish *wish, uint32_t offset)
{
	const struct layout *layout = solver->layout;
	enum likeness likeness = match(solver, item->type, offset, wish->type);
	bool is_list = wish->kind == CLUE_SHAPE && wish->type == layout->list_head;
	if (likeness != LIKE_NOT || !is_list || !layout->hlist_node)
		return likeness;
	return match(solver, item->type, offset, layout->hlist_node);
}

/* Tables of tables of numbers have rows; of texts, two in a row may be the members of a struct. */
static bool is_to_numbers(const struct layout *layout, uint32_t type)
{
	uint32_t target = layout_target(layout, type);
	return layout_kind(layout, type) == BTF_PTR && layout_kind(layout, target) == BTF_INT &&
	       layout_size(layout, target) > 1;
}

static enum likeness fulfil(struct solver *solver, const struct scored *item,
			    const struct wish *wish, const char **ret_why)
{
	const struct layout *layout = solver->layout;
	uint32_t size = layout_size(layout, item->type), offset = wish->offset;
	if (item->count) {
		/* Rows have any size, and loops that are unrolled take several elements at once. */
		if (wish->kind == CLUE_STRIDE && wish->size <= NUMBER_SIZE_MAX)
			*ret_why = "is indexed in other steps";
		if (wish->kind == CLUE_STRIDE && wish->size % size == 0)
			return wish->size == size || is_to_numbers(layout, item->type)
				       ? LIKE_EXACTLY
			       : layout_is_compound(layout, item->type) ||
					       layout_kind(layout, item->type) == BTF_PTR
				       ? LIKE_WEAKLY
				       : LIKE_NOT;
		if (offset / size < item->count)
			offset %= size;
	}
	if (offset >= size) {
		*ret_why = "is accessed past its end";
		return LIKE_NOT;
	}
	switch (wish->kind) {
	case CLUE_STRIDE:
		*ret_why = "is indexed in other steps";
		return stride_fits(layout, item->type, offset, wish->size) ? LIKE_EXACTLY
									   : LIKE_NOT;
	case CLUE_ACCESS:
		*ret_why = "has no member of the size that is accessed";
		return layout_access_fits(layout, item->type, offset, wish->size) ? LIKE_EXACTLY
										  : LIKE_NOT;
	case CLUE_WHOLE:
		*ret_why = "a table has another type";
		if (layout_kind(layout, wish->type) == BTF_ARRAY)
			return item->count ? layout_compare(layout, item->type,
							    layout_target(layout, wish->type))
					   : LIKE_NOT;
		return item->count ? LIKE_NOT : layout_compare(layout, item->type, wish->type);
	default:
		*ret_why = "holds another type at an offset";
		if (layout_kind(layout, layout_target(layout, wish->type)) == BTF_FUNC_PROTO)
			return match(solver, item->type, offset, wish->type) == LIKE_EXACTLY
				       ? LIKE_EXACTLY
				       : LIKE_NOT;
		if (item->type == layout->records[layout->cpumask].pointer &&
		    solver_is_cpumask_bits(layout, wish->type))
			return LIKE_EXACTLY;
		return match_shape(solver, item, wish, offset);
	}
}

static bool begins_with(const struct layout *layout, uint32_t outer, uint32_t inner)
{
	for (int depth = 0; depth < 8 && outer; depth++) {
		if (outer == inner)
			return true;
		const struct field *first =
			layout_is_compound(layout, outer) ? layout_field(layout, outer, 0) : NULL;
		if (layout_kind(layout, outer) == BTF_ARRAY)
			outer = layout_target(layout, outer);
		else
			outer = first && !first->offset && !first->bit_size
					? layout_resolve(layout, first->type)
					: 0;
	}
	return false;
}

/*
 * &entry->list, where `list` is the first member, is the entry's address: a pointer to the one is
 * seen where there is a pointer to the other. `*ret_outer`: the candidate's is the entry's.
 */
static bool is_first_member(const struct layout *layout, const struct scored *item,
			    const struct wish *wish, bool *ret_outer)
{
	uint32_t size = layout_size(layout, item->type), start;
	uint32_t offset = item->count ? wish->offset % size : wish->offset;
	if (wish->kind != CLUE_VALUE || layout_kind(layout, wish->type) != BTF_PTR)
		return false;
	uint32_t type = layout_scalar_at(layout, item->type, offset, &start);
	uint32_t own = layout_target(layout, type), other = layout_target(layout, wish->type);
	if (start != offset || layout_kind(layout, type) != BTF_PTR)
		return false;
	bool begins_so = begins_with(layout, own, other);
	/* Anything begins with a list, or with bytes: its name, most often. */
	*ret_outer = begins_so && other != layout->list_head && layout_size(layout, other) > 1;
	return begins_so || (layout_size(layout, own) > 1 && begins_with(layout, other, own));
}

/* A function that is kept as a void *, as tracepoints keep their probes. Tables give it a type. */
static bool is_untyped_function(const struct layout *layout, const struct scored *item,
				const struct wish *wish)
{
	uint32_t start = 0;
	if (item->count || layout_kind(layout, layout_target(layout, wish->type)) != BTF_FUNC_PROTO)
		return false;
	uint32_t type = layout_scalar_at(layout, item->type, wish->offset, &start);
	return start == wish->offset && layout_kind(layout, type) == BTF_PTR &&
	       !layout_target(layout, type);
}

/* Code reads more than the scalar has; of structs, several members at once are. */
static bool is_too_small(const struct layout *layout, const struct scored *item,
			 const struct wish *wish)
{
	uint32_t size = layout_size(layout, item->type);
	return wish->kind == CLUE_ACCESS && !item->count && !wish->offset && size < wish->size &&
	       !layout_is_compound(layout, item->type) &&
	       layout_kind(layout, item->type) != BTF_ARRAY;
}

static void check_wish(struct solver *solver, struct scored *item, const struct wish *wish)
{
	const char *why = NULL;
	enum likeness likeness = fulfil(solver, item, wish, &why);
	int weight = wish->weight;
	if (likeness == LIKE_EXACTLY) {
		item->times_for = (uint16_t)(item->times_for + wish->times);
		item->score = (int16_t)(item->score + weight);
		if (wish->source != SOURCE_NAME)
			item->matched = (int16_t)(item->matched + weight);
		item->sources |= (uint8_t)(1u << wish->source);
		if (wish->kind == CLUE_STRIDE && item->count)
			item->is_proved = true;
		if (wish->count && wish->count == item->count && wish->type == item->type) {
			item->is_proved = item->is_counted = true;
			item->score = (int16_t)(item->score + points_of(solver, RULE_COUNTED));
		}
		if (wish->kind != CLUE_STRIDE && wish->kind != CLUE_ACCESS &&
		    wish->source != SOURCE_NAME)
			item->typed = (int16_t)(item->typed + weight);
		return;
	}
	bool is_outer = false;
	bool is_same = likeness == LIKE_NOT &&
		       (is_first_member(solver->layout, item, wish, &is_outer) ||
			is_untyped_function(solver->layout, item, wish));
	if (likeness == LIKE_WEAKLY || is_outer) {
		item->score = (int16_t)(item->score + weight / 2);
		item->matched = (int16_t)(item->matched + weight / 2);
		if (wish->kind != CLUE_STRIDE && wish->kind != CLUE_ACCESS)
			item->typed = (int16_t)(item->typed + weight / 2);
		item->sources |= (uint8_t)(1u << wish->source);
		return;
	}
	if (is_same || wish->source == SOURCE_NAME)
		return;
	if (is_too_small(solver->layout, item, wish))
		weight = -points_of(solver, RULE_TOO_SMALL);
	else if (wish->kind == CLUE_ACCESS &&
		 wish->offset < layout_size(solver->layout, item->type))
		/* Wide moves and block copies take no notice of members. */
		weight = wish->size >= 8 ? 0 : -points_of(solver, RULE_MISFIT);
	item->score = (int16_t)(item->score - weight);
	item->against = (int16_t)(item->against + weight);
	item->times_against = (uint16_t)(item->times_against + wish->times);
	if (weight > 3 && !item->rejected_by) {
		item->rejected = why;
		item->rejected_by = wish->where ? wish->where : NOWHERE;
	}
}

/* --- without clues ----------------------------------------------------------------------- */

/*
 * The gap before the next symbol. The linker leaves one for alignment only, so it is smaller than
 * the alignment of the next address; among constants, literals without a symbol may follow.
 */
static int judge_gap(const struct solver_input *input, uint64_t size)
{
	const struct subject *subject = input->subject;
	uint64_t gap = subject->room - size, end = subject->address + subject->room;
	uint64_t alignment = end & -end;
	if (subject->room_is_exact)
		return rule(input->rules, gap ? RULE_GAP_INEXACT : RULE_GAP_EXACT);
	if (!gap)
		return rule(input->rules, RULE_GAP_NONE);
	if (gap >= alignment)
		return input->place == PLACE_RODATA ? 0 : rule(input->rules, RULE_GAP_UNEXPLAINED);
	return gap >= 8 && gap < 16 ? rule(input->rules, RULE_GAP_WORDS) : 0;
}

static void clamp_points(struct scored *item, int points)
{
	int score = item->score + points;
	item->score = (int16_t)(score < -1000 ? -1000 : score > 1000 ? 1000 : score);
}

/*
 * spin_lock() is raw_spin_lock() inlined: of what only that sees, most are spinlock_t. How many
 * other structs hold a raw_spinlock_t says nothing of that.
 */
static int prior_of_lock(const struct solver *solver, const struct scored *item)
{
	for (size_t i = 0; i < solver->wish_count; i++)
		if (solver->wishes[i].kind == CLUE_OBJECT && !solver->wishes[i].offset &&
		    solver->wishes[i].type == solver->layout->raw_spinlock)
			return item->prior < PRIOR_LOCK ? PRIOR_LOCK : item->prior;
	return item->prior;
}

void solver_check_clues(struct solver *solver, struct scored *item)
{
	const struct solver_input *input = solver->input;
	uint64_t size = layout_size(solver->layout, item->type);
	item->score = item->prior;
	item->is_proved = item->is_fact && item->count;
	if (item->type == solver->layout->spinlock && item->type)
		item->score =
			(int16_t)(prior_of_lock(solver, item) + rule(input->rules, RULE_LOCK));
	/* Constants that are one pointer to a function are structs of operations. */
	if (!item->count && (input->place == PLACE_RODATA || input->is_constant) &&
	    layout_kind(solver->layout, layout_target(solver->layout, item->type)) ==
		    BTF_FUNC_PROTO)
		item->score = (int16_t)(item->score + rule(input->rules, RULE_LONE_FUNCTION));
	if (input->among_constants && layout_lacks_const(solver->layout, item->type))
		item->score = (int16_t)(item->score + rule(input->rules, RULE_CONSTANT));
	/* What the kernel writes in assembler lies as it comes. */
	if (!item->is_exact &&
	    input->subject->address % layout_alignment(solver->layout, item->type)) {
		item->rejected = "is aligned otherwise";
		item->rejected_by = NOWHERE;
	}
	item->gap = (int16_t)judge_gap(input, item->count ? size * item->count : size);
	clamp_points(item, item->gap);
	for (size_t i = 0; i < solver->wish_count; i++)
		check_wish(solver, item, &solver->wishes[i]);
	item->is_judged = false;
}

/* One clue may be wrong: what matches far more, or far more often, than contradicts stands. */
static bool outweighs(const struct scored *item)
{
	return item->rejected_by != NOWHERE &&
	       (item->matched > 2 * item->against ||
		(item->matched > item->against && item->times_for > 4 * item->times_against));
}

bool solver_may_stand(const struct scored *item)
{
	return !item->rejected || outweighs(item);
}

void solver_judge(struct solver *solver, struct scored *item)
{
	const struct solver_input *input = solver->input;
	const char *why = NULL;
	if (input->judge) {
		int points = input->judge(input->context, item->type, item->count, &why);
		item->data = (int16_t)points;
		clamp_points(item, points);
		if (points > 0)
			item->sources |= 1u << SOURCE_DATA;
	}
	if (why && item->data < -3 && !item->rejected) {
		item->rejected = why;
		item->rejected_by = input->subject->address;
	}
	if (input->judge_name)
		clamp_points(item, input->judge_name(input->context, item->type, item->count));
	if (item->rejected && outweighs(item) && item->data >= -3)
		item->rejected = NULL;
	item->is_judged = true;
}

void solver_check(struct solver *solver, struct scored *item)
{
	solver_check_clues(solver, item);
	solver_judge(solver, item);
}
