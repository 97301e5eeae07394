// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/infer/solve/proposal.h"

#include "debugger/infer/hints/hint_types.h"
#include "debugger/infer/solve/array_length.h"
#include "debugger/target/object.h"
#include <string.h>

/* Leaves what an array of arrays is made of in *type; returns how many, 1: it is no array. */
static uint64_t innermost(struct type *type)
{
	struct btf_type record;
	uint64_t count = 1;
	for (int depth = 0; depth < 8; depth++) {
		if (!type_get_resolved(*type, &record) || record.kind != BTF_ARRAY)
			break;
		count *= record.array_count;
		if (count > UINT32_MAX)
			return 0;
		*type = (struct type){ record.btf, record.type };
	}
	return count;
}

static bool leaves_alignment(const struct subject *subject, uint64_t used)
{
	uint64_t end = subject->address + subject->room;
	return subject->room - used < (end & -end);
}

static uint32_t length_of_room(const struct question *question, const struct proposal *proposal)
{
	uint64_t most = question->subject->room / layout_size(question->layout, proposal->type);
	uint32_t count = (uint32_t)(most / proposal->row * proposal->row);
	return proposal->row == 1 ? array_estimate(question, proposal->type, count) : count;
}

/* Whether the bytes of an element can be one: the next variable's may be none. */
static bool element_fits(const struct question *question, uint32_t type, uint32_t number)
{
	uint32_t size = layout_size(question->layout, type);
	uint64_t before = (uint64_t)number * size;
	struct subject subject = *question->subject;
	struct question one = *question;
	const char *why = NULL;
	if (before + size > question->size)
		return true;
	subject.address += before;
	subject.room = size;
	one.subject = &subject;
	one.bytes += before;
	one.size = size;
	one.fit = NULL;
	return own_data_judge(&one, type, 0, &why) >= 0;
}

/* More is in use than that: it has grown, or else something follows that has no symbol. */
static bool is_outgrown(const struct question *question, uint32_t type, uint32_t count)
{
	return count < array_in_use(question, type) && element_fits(question, type, count);
}

/*
 * An array is here as long as its own bytes say, as long as in other kernels, or at most as long as
 * there is room.
 */
static bool settle_length(const struct question *question, const struct hint *hint, uint32_t inner,
			  struct proposal *ret)
{
	uint64_t size = layout_size(question->layout, ret->type);
	uint64_t most = question->subject->room / size, count = (uint64_t)hint->count * inner;
	/* Symbols of modules have their size: no other kernel knows better. */
	if (question->subject->room_is_exact) {
		ret->count = (uint32_t)most;
		ret->count_proved = true;
		return most && most * size == question->subject->room;
	}
	bool is_sure = false;
	uint32_t declared = ret->row == 1 ? array_declared(question, ret->type, &is_sure) : 0;
	if (declared) {
		ret->count = ret->given = declared;
		ret->is_disputed = count != declared && !array_in_use(question, ret->type);
		ret->count_proved = is_sure;
		return true;
	}
	uint32_t end = ret->row == 1 ? array_end(question, ret->type, hint->is_family, &is_sure)
				     : 0;
	/* Constants without a symbol may follow a constant: what is in use is not all its own. */
	bool is_possible =
		count && count <= most &&
		(question->has_literals || !is_outgrown(question, ret->type, (uint32_t)count));
	ret->given = is_possible ? (uint32_t)count : 0;
	ret->is_disputed = count && !is_possible;
	ret->is_cut = count > most && !end;
	ret->count = end ? end : ret->given ? ret->given : length_of_room(question, ret);
	ret->count_proved = end && is_sure;
	return ret->count;
}

/*
 * Whether the length that other kernels give is this one's, too. It is where the last element is in
 * use and there is no room for more. Of what is all zero, all other kernels must say so.
 */
static bool is_length_proved(const struct question *question, const struct proposal *proposal)
{
	const struct subject *subject = question->subject;
	uint64_t size = layout_size(question->layout, proposal->type) * (uint64_t)proposal->row;
	uint64_t all = size / proposal->row * proposal->count;
	uint32_t used = array_in_use(question, proposal->type);
	if (proposal->count_proved)
		return !proposal->given || proposal->given == proposal->count;
	if (!proposal->given || proposal->given != proposal->count)
		return false;
	if (!used)
		return !proposal->is_disputed;
	/* A large one is not read to its end. */
	return proposal->count >= used && proposal->count - used < proposal->row &&
	       all <= question->size && all + size > subject->room &&
	       element_fits(question, proposal->type, proposal->count - 1);
}

static void conclude_length(const struct question *question, struct proposal *proposal)
{
	/* Grown since. */
	if (proposal->is_disputed && proposal->count == proposal->given &&
	    is_outgrown(question, proposal->type, proposal->given)) {
		proposal->given = 0;
		proposal->count = length_of_room(question, proposal);
	}
	proposal->count_proved = is_length_proved(question, proposal);
	/* What follows without a symbol is no gap. */
	if (proposal->count == proposal->given && !question->has_literals &&
	    proposal->count < array_in_use(question, proposal->type))
		proposal->filled = length_of_room(question, proposal);
	uint32_t count = proposal->filled ? proposal->filled : proposal->count;
	proposal->tight = leaves_alignment(
		question->subject, layout_size(question->layout, proposal->type) * (uint64_t)count);
}

/*
 * Whether another kernel's length is the better one: what is in use decides, then who is near, then
 * which leaves less of the room.
 */
static bool is_better_length(const struct question *question, const struct proposal *known,
			     const struct proposal *other)
{
	uint32_t used = array_in_use(question, known->type);
	if (!other->given || other->given == known->given)
		return false;
	if ((known->given < used) != (other->given < used))
		return known->given < used;
	if (known->is_near != other->is_near)
		return other->is_near;
	if (known->given == used || other->given == used)
		return other->given == used;
	return other->given > known->given;
}

/* One more row for the same type: another kernel's length. */
static void add_length(const struct question *question, struct proposal *known,
		       const struct proposal *other)
{
	known->is_disputed |= other->is_disputed || known->given != other->given;
	if (is_better_length(question, known, other)) {
		known->given = other->given;
		known->count = other->count;
	}
	known->rows |= other->rows;
	known->kernels |= other->kernels;
	known->is_near |= other->is_near;
}

/* A row that exists here and fits. */
static bool propose(const struct question *question, const struct hint *hint, struct proposal *ret)
{
	const struct layout *layout = question->layout;
	const struct subject *subject = question->subject;
	struct hint_type row;
	*ret = (struct proposal){ .is_family = hint->is_family, .kernels = hint->kernels };
	if (!hint_type_find(question->knowledge->hint_types, layout->btf, hint->type,
			    question->knowledge->is_shared, &row))
		return false;
	bool is_array = row.is_array;
	ret->spelled = row.type;
	struct type element = ret->spelled;
	uint64_t inner = innermost(&element);
	if (inner != 1 && !is_array) /* a typedef of an array */
		ret->spelled = element;
	ret->row = is_array ? (uint32_t)inner : 1;
	is_array |= inner != 1;
	ret->type = layout_id(layout, element);
	uint64_t size = layout_size(layout, ret->type), used = size;
	if (!size || size > subject->room || !inner || inner > subject->room)
		return false;
	/* Where there is room for one number only, it is none any more. */
	is_array = is_array && (hint->count * inner <= 1 || subject->room / size > 1 ||
				layout_kind(layout, ret->type) != BTF_INT);
	if (is_array) {
		if (!settle_length(question, hint, (uint32_t)inner, ret))
			return false;
		used = size * ret->count;
	}
	ret->tight = leaves_alignment(subject, used);
	return !subject->room_is_exact || is_array || used == subject->room;
}

/* Whether two rows say the same but for a length; rows of another length are another type. */
static bool is_same_type(struct proposal *one, struct proposal *other)
{
	if (one->type != other->type || !one->count != !other->count)
		return false;
	if (one->row == other->row)
		return true;
	one->is_disputed = other->is_disputed = true;
	return false;
}

/* The rows of the name that exist here and fit; one for each type. */
static size_t collect_rows(const struct question *question, struct proposal *ret)
{
	const struct knowledge *knowledge = question->knowledge;
	struct hint hints[HINTS_A_NAME];
	size_t count =
		hints_find(knowledge->hints, question->symbol, knowledge->hint_kernels, hints);
	size_t kept = 0;
	uint32_t near = 0;
	for (size_t i = 0; i < count; i++)
		near |= hints[i].kernels;
	near = hints_near(knowledge->hints, near, knowledge->target->release);
	for (size_t i = 0; i < count; i++) {
		if (!propose(question, &hints[i], &ret[kept]))
			continue;
		ret[kept].is_near = hints[i].kernels & near;
		ret[kept].rows = 1u << i;
		size_t known = 0;
		while (known < kept && !is_same_type(&ret[known], &ret[kept]))
			known++;
		if (known < kept)
			add_length(question, &ret[known], &ret[kept]);
		else
			kept++;
	}
	return kept;
}

/* There is no room for the elements that other kernels have, and another row fits as it is. */
static bool is_outdone(const struct proposal *proposals, size_t count, const struct proposal *one)
{
	for (size_t i = 0; i < count && one->is_cut && !one->given; i++)
		if (proposals[i].tight && (!proposals[i].count || proposals[i].given))
			return true;
	return false;
}

size_t proposals_collect(const struct question *question, struct proposal *ret)
{
	size_t kept = collect_rows(question, ret), left = 0;
	bool any_tight = false;
	for (size_t i = 0; i < kept; i++) {
		ret[i].is_outdone = is_outdone(ret, kept, &ret[i]);
		if (ret[i].count)
			conclude_length(question, &ret[i]);
	}
	for (size_t i = 0; i < kept; i++)
		any_tight |= ret[i].tight && !ret[i].is_outdone;
	for (size_t i = 0; i < kept; i++)
		if (!ret[i].is_outdone && (ret[i].tight || !any_tight))
			ret[left++] = ret[i];
	return left;
}

size_t proposals_put_near_first(struct proposal *proposals, size_t count)
{
	size_t first = 0;
	for (size_t i = 0; i < count; i++) {
		struct proposal one = proposals[i];
		if (!one.is_near)
			continue;
		memmove(&proposals[first + 1], &proposals[first], (i - first) * sizeof(one));
		proposals[first++] = one;
	}
	return first ? first : count;
}

bool proposal_is_possible(const struct question *question, const struct hint *hint)
{
	struct proposal proposal;
	return propose(question, hint, &proposal);
}
