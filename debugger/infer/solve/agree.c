// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Two sources that know nothing of each other, the table and inference, are never both wrong in the
 * same way: where they agree the type is certain. Where only the table speaks, it is inferred if
 * the symbol's bytes and code do not contradict. Where they differ, both are shown.
 */
#include "debugger/infer/solve/agree.h"

#include "base/bytes.h"
#include "debugger/infer/hints/hint_types.h"
#include "debugger/infer/hints/hints.h"
#include "debugger/infer/known/subjects.h"
#include "debugger/infer/solve/array_length.h"
#include "debugger/target/object.h"
#include <string.h>

/* Points by which a refined guess must be ahead of the next. */
#define REFINED_MARGIN 10

/* Points of own_data_judge(): an object of the right type, or a function and one more. */
#define BYTES_MIN 3
#define TEXT_MIN  3

/* A row of the table in terms of this kernel. */
struct proposal {
	struct type spelled; /* of an array the element, of an array of arrays the row */
	uint32_t type;	     /* resolved; of an array the innermost element */
	uint32_t count;	     /* of these; 0: no array */
	uint32_t row;	     /* of these in `spelled` */
	bool tight;	     /* it fills the room but for alignment */
	uint32_t given;	     /* the count that other kernels have, 0: none that can be here */
	uint32_t filled;     /* as many as there is room for, where more is in use; else 0 */
	bool is_disputed;    /* of different length in other kernels */
	bool is_cut;	     /* there is no room for as many, and no other sign of its end */
	bool count_proved;   /* by the bytes alone at first */
	bool is_family;
	uint32_t kernels; /* that say so */
	bool is_near;	  /* one of these is next to this kernel */
	bool is_outdone;
	struct scored scored;
};

struct answer answer_of(const struct solver *solver)
{
	struct answer answer = { .confidence = (uint8_t)solver_confidence(solver) };
	if (!solver->count || answer.confidence == CONFIDENCE_UNKNOWN)
		return answer;
	const struct scored *best = solver->items;
	answer.type = best->type;
	answer.count = best->count;
	/* That it is indexed proves an array, not its length. */
	answer.count_is_proved = (best->is_fact || best->is_counted) && best->count;
	answer.score = best->score;
	answer.margin = (int16_t)solver_margin(solver);
	answer.sources = best->sources;
	return answer;
}

/* --- rows ----------------------------------------------------------------------------------- */

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

static size_t collect_proposals(const struct question *question, struct proposal *ret)
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

/*
 * A type that has changed is what the kernels next to this one have: those before the one before,
 * or after the one after, know an older or a newer one. Near ones first; returns how many.
 */
static size_t put_near_first(struct proposal *proposals, size_t count)
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

/* --- together -------------------------------------------------------------------------------- */

static void measure(struct solver *solver, struct proposal *proposal)
{
	uint32_t count = proposal->filled ? proposal->filled : proposal->count;
	for (size_t i = 0; i < solver->count; i++) {
		struct scored *item = &solver->items[i];
		if (item->type == proposal->type && item->count == count) {
			if (!item->is_judged)
				solver_judge(solver, item);
			proposal->scored = *item;
			return;
		}
	}
	proposal->scored = (struct scored){ .type = proposal->type, .count = count };
	solver_check(solver, &proposal->scored);
}

static bool contradicts(const struct proposal *proposal)
{
	return proposal->scored.rejected || proposal->scored.against > 6 ||
	       proposal->scored.data < -2;
}

/* Clues name the type, and nothing speaks against it. */
static bool is_alike(const struct solver *solver, const struct scored *best, int margin,
		     const struct proposal *proposal)
{
	return best->type && best->against <= 3 && best->data >= -1 &&
	       best->typed + best->data >= 4 && margin >= 2 &&
	       layout_compare(solver->layout, best->type, proposal->type) != LIKE_NOT;
}

/*
 * Is it of the same kind, and not by chance? A size that is accessed or a name does not count: an
 * atomic_t and an int look the same to both. Refining knows names, as the table does: what it says
 * must be far ahead, and the table must have one word only.
 */
static bool is_agreement(const struct solver *solver, const struct answer *answer,
			 const struct proposal *proposal, bool only)
{
	const struct scored *best = solver->items;
	if (answer->confidence == CONFIDENCE_UNKNOWN || contradicts(proposal))
		return false;
	if (!best->is_refined &&
	    layout_compare(solver->layout, best->type, proposal->type) == LIKE_NOT)
		return false;
	if (answer->confidence >= CONFIDENCE_INFERRED)
		return true;
	if (!best->is_refined)
		return is_alike(solver, best, answer->margin, proposal);
	bool same = best->type == proposal->type && !best->count == !proposal->count;
	return is_alike(solver, &solver->settled, solver->settled_margin, proposal) ||
	       (same && only && proposal->tight && best->against <= 3 && best->data >= 3 &&
		layout_is_compound(solver->layout, best->type) && answer->margin >= REFINED_MARGIN);
}

/* What inference found by itself. */
static bool is_named(const struct solver *solver, const struct proposal *proposal)
{
	const struct scored *best = solver->items;
	return best->type == proposal->type && !best->count == !proposal->count;
}

/*
 * Of integers, clues and the table name the very same, sign included. What passes for `unsigned
 * long` may be a u64: one other kernel is not enough to tell.
 */
static bool is_same_integer(const struct solver *solver, const struct proposal *proposal)
{
	const struct layout *layout = solver->layout;
	if (layout_kind(layout, solver->items->type) != BTF_INT ||
	    layout_kind(layout, proposal->type) != BTF_INT)
		return true;
	bool is_long = layout_size(layout, proposal->type) == 8;
	return solver->items->type == proposal->type &&
	       (!is_long || proposal->kernels & (proposal->kernels - 1));
}

/* Of several rows that clues agree with. What they call a spinlock_t may be a raw_spinlock_t. */
static bool settles(const struct solver *solver, const struct proposal *proposal)
{
	return is_named(solver, proposal) && !layout_is_compound(solver->layout, proposal->type);
}

static void accept(struct answer *answer, const struct proposal *proposal,
		   enum confidence confidence)
{
	answer->spelled = proposal->spelled;
	answer->type = proposal->type;
	answer->count = proposal->count;
	answer->row = proposal->row;
	answer->count_is_proved = proposal->count_proved && proposal->tight;
	answer->is_family = proposal->is_family;
	answer->confidence = (uint8_t)confidence;
	answer->score = proposal->scored.score;
	answer->sources = (uint8_t)(proposal->scored.sources | 1u << SOURCE_HINTS);
}

/* The row that clues agree with; of several the one that they name. Returns how many agree. */
static size_t find_agreed(struct solver *solver, const struct answer *answer,
			  struct proposal *proposals, size_t count, const struct proposal **ret)
{
	size_t agreeing = 0;
	for (size_t i = 0; i < count; i++) {
		const struct proposal *one = &proposals[i];
		measure(solver, &proposals[i]);
		if (!is_agreement(solver, answer, one, count == 1))
			continue;
		if (!agreeing++ || is_named(solver, one))
			*ret = one;
	}
	return agreeing;
}

/* False: no row is agreed with. */
static bool agree_with_clues(struct solver *solver, struct answer *answer,
			     struct proposal *proposals, size_t near, size_t count)
{
	const struct proposal *agreed = NULL;
	size_t agreeing = find_agreed(solver, answer, proposals, near, &agreed);
	enum confidence most = agreeing ? CONFIDENCE_CERTAIN : CONFIDENCE_INFERRED;
	if (!agreeing)
		agreeing = find_agreed(solver, answer, proposals + near, count - near, &agreed);
	if (!agreeing)
		return false;
	/* Two rows that are alike to it, an int and a u32, are no word that settles which. */
	accept(answer, agreed,
	       agreeing == 1 && is_same_integer(solver, agreed) ? most
	       : agreeing == 1 || settles(solver, agreed)	? CONFIDENCE_INFERRED
								: CONFIDENCE_GUESS);
	return true;
}

/*
 * By the table it has no size here, as a lock_class_key without lockdep: what is known of its
 * address is known of what lies there, too.
 */
static bool has_empty_row(const struct question *question)
{
	const struct knowledge *knowledge = question->knowledge;
	struct hint hints[HINTS_A_NAME];
	size_t count =
		hints_find(knowledge->hints, question->symbol, knowledge->hint_kernels, hints);
	for (size_t i = 0; i < count; i++) {
		struct hint_type row;
		if (!hint_type_find(knowledge->hint_types, question->layout->btf, hints[i].type,
				    knowledge->is_shared, &row))
			continue;
		uint32_t type = layout_id(question->layout, row.type);
		if (layout_is_compound(question->layout, type) &&
		    !layout_size(question->layout, type))
			return true;
	}
	return false;
}

/* An array of pointers that code indexes by several at once: structs of pointers look the same. */
static bool may_be_rows(const struct solver *solver, const struct answer *answer)
{
	uint32_t size = layout_size(solver->layout, answer->type);
	if (!answer->count || layout_kind(solver->layout, answer->type) != BTF_PTR)
		return false;
	for (size_t i = 0; i < solver->wish_count; i++)
		if (solver->wishes[i].kind == CLUE_STRIDE && solver->wishes[i].size > size)
			return true;
	return false;
}

struct error *agree_with_hints(const struct question *question, struct solver *solver,
			       struct answer *answer)
{
	struct proposal proposals[HINTS_A_NAME];
	size_t all = collect_proposals(question, proposals);
	size_t count = put_near_first(proposals, all);
	const struct proposal *best = NULL;
	if (agree_with_clues(solver, answer, proposals, count, all))
		return NULL;
	for (size_t i = 0; i < count; i++)
		if (!best || proposals[i].scored.score > best->scored.score)
			best = &proposals[i];
	if (!best) {
		if (answer->confidence > CONFIDENCE_GUESS && has_empty_row(question))
			answer->confidence = CONFIDENCE_GUESS;
		return NULL;
	}
	/* A kernel's own table against one of other kernels. */
	if (answer->confidence == CONFIDENCE_CERTAIN) {
		answer->confidence = CONFIDENCE_INFERRED;
		return NULL;
	}
	bool alike = solver->count && answer->confidence != CONFIDENCE_UNKNOWN &&
		     layout_compare(solver->layout, solver->items->type, best->type) != LIKE_NOT;
	bool differs = (answer->confidence == CONFIDENCE_INFERRED && !alike) || contradicts(best);
	if (contradicts(best) && answer->confidence == CONFIDENCE_INFERRED &&
	    (count > 1 || !best->tight)) {
		answer->confidence = CONFIDENCE_GUESS;
		return NULL;
	}
	accept(answer, best,
	       differs || count > 1 || !best->tight ? CONFIDENCE_GUESS : CONFIDENCE_INFERRED);
	answer->is_open = answer->confidence == CONFIDENCE_INFERRED && !best->scored.against &&
			  !may_be_rows(solver, answer);
	return NULL;
}

void agree_with_bytes(const struct question *question, struct answer *answer)
{
	const struct layout *layout = question->layout;
	const char *why = NULL;
	if (!answer->is_open || !question->size)
		return;
	bool is_text = answer->count && layout_size(layout, answer->type) == 1 &&
		       layout_kind(layout, answer->type) == BTF_INT &&
		       own_data_text(question) >= TEXT_MIN;
	if (is_text ||
	    own_data_judge((void *)question, answer->type, answer->count, &why) >= BYTES_MIN) {
		answer->confidence = CONFIDENCE_CERTAIN;
		answer->sources |= 1u << SOURCE_DATA;
		answer->is_open = false;
	}
}

/* --- what its pointers point at --------------------------------------------------------------- */

static bool find_pointee(const struct knowledge *knowledge, uint64_t address, struct subject *ret)
{
	const struct subject *found;
	uint64_t inside;
	if (!knowledge->subjects)
		return subject_find(knowledge->target, address, ret, &inside) && !inside;
	found = subject_at(knowledge->subjects, address, &inside);
	if (!found || inside)
		return false;
	*ret = *found;
	return true;
}

/* The table must have one word, and it must fill the room. */
static struct error *agree_on_pointee(const struct question *question, uint64_t address)
{
	struct knowledge *knowledge = question->knowledge;
	struct proposal proposals[HINTS_A_NAME];
	struct subject subject;
	char name[SYMBOL_NAME_SIZE];
	struct symbol symbol;
	if (knowledge_type_at(knowledge, address) || !find_pointee(knowledge, address, &subject) ||
	    (subject.module && subject.module != question->subject->module))
		return NULL;
	struct question pointee = { .knowledge = knowledge,
				    .subject = &subject,
				    .symbol = &symbol,
				    .layout = question->layout };
	symtab_get_into(knowledge->target->symbols, subject.symbol, name, &symbol);
	if (!subject.module)
		TRY(knowledge_layout(knowledge, NULL, &pointee.layout));
	if (collect_proposals(&pointee, proposals) != 1 || !proposals->tight)
		return NULL;
	struct typed typed = { address, pointee.layout, proposals->type, proposals->count };
	return knowledge_set_type(knowledge, &typed);
}

struct error *agree_on_pointees(const struct question *question)
{
	bool big_endian = question->knowledge->target->facts->big_endian;
	if (!question->knowledge->hints)
		return NULL;
	/* What an earlier question needed must not change the answer to this one. */
	knowledge_forget_types(question->knowledge);
	for (uint32_t at = -question->subject->address % 8; at + 8 <= question->size; at += 8) {
		uint64_t value = load_u64(question->bytes + at, big_endian);
		if (is_kernel_pointer(value))
			TRY(agree_on_pointee(question, value));
	}
	return NULL;
}
