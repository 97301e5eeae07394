// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Two sources that know nothing of each other, the table and inference, are never both wrong in the
 * same way: where they agree the type is certain. Where only the table speaks, it is inferred if
 * the symbol's bytes and code do not contradict. Where they differ, both are shown.
 */
#include "debugger/infer/agree.h"

#include "base/bytes.h"
#include "debugger/infer/array_length.h"
#include "debugger/infer/hint_types.h"
#include "debugger/infer/hints/hints.h"
#include "debugger/infer/subjects.h"
#include "debugger/target/object.h"

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
	bool is_disputed;    /* of different length in other kernels */
	bool count_proved;   /* by the bytes alone at first */
	bool is_family;
	uint32_t kernels; /* that say so */
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
	bool is_possible = count && count <= most &&
			   (count >= array_in_use(question, ret->type) || question->has_literals);
	ret->given = is_possible ? (uint32_t)count : 0;
	ret->is_disputed = count && !is_possible;
	ret->count = end ? end : ret->given ? ret->given : length_of_room(question, ret);
	ret->count_proved = end && is_sure;
	return ret->count;
}

/* Some symbols are missing: the bytes of the next variable are no element. */
static bool fits_at_end(const struct question *question, const struct proposal *proposal)
{
	uint32_t size = layout_size(question->layout, proposal->type);
	uint32_t before = (proposal->count - 1) * size;
	struct subject subject = *question->subject;
	struct question last = *question;
	const char *why = NULL;
	subject.address += before;
	subject.room = size;
	last.subject = &subject;
	last.bytes += before;
	last.size = size;
	return own_data_judge(&last, proposal->type, 0, &why) >= 0;
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
	       fits_at_end(question, proposal);
}

static void conclude_length(const struct question *question, struct proposal *proposal)
{
	/* Grown since. */
	if (proposal->is_disputed && proposal->count == proposal->given &&
	    proposal->given < array_in_use(question, proposal->type)) {
		proposal->given = 0;
		proposal->count = length_of_room(question, proposal);
	}
	proposal->count_proved = is_length_proved(question, proposal);
	proposal->tight =
		leaves_alignment(question->subject, layout_size(question->layout, proposal->type) *
							    (uint64_t)proposal->count);
}

/* One more row for the same type: another kernel's length. */
static void add_length(const struct question *question, struct proposal *known,
		       const struct proposal *other)
{
	uint32_t used = array_in_use(question, known->type);
	known->kernels |= other->kernels;
	known->is_disputed |= other->is_disputed || known->given != other->given;
	bool is_better = other->given >= used && other->given != known->given &&
			 (known->given < used || other->given == used);
	if (!is_better)
		return;
	known->given = other->given;
	known->count = other->count;
}

/* A row that exists here and fits. */
static bool propose(const struct question *question, const struct hint *hint, struct proposal *ret)
{
	const struct layout *layout = question->layout;
	const struct subject *subject = question->subject;
	struct hint_type row;
	*ret = (struct proposal){ .is_family = hint->is_family, .kernels = hint->kernels };
	if (!hint_type_find(question->knowledge, layout->btf, hint->type, &row))
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

static size_t collect_proposals(const struct question *question, struct proposal *ret)
{
	struct knowledge *knowledge = question->knowledge;
	struct hint hints[HINTS_A_NAME];
	size_t count =
		hints_find(knowledge->hints, question->symbol, knowledge->hint_kernels, hints);
	size_t kept = 0;
	bool any_tight = false;
	for (size_t i = 0; i < count; i++) {
		if (!propose(question, &hints[i], &ret[kept]))
			continue;
		bool again = false;
		for (size_t k = 0; k < kept && !again; k++) {
			again = ret[k].type == ret[kept].type && !ret[k].count == !ret[kept].count;
			if (again)
				add_length(question, &ret[k], &ret[kept]);
		}
		kept += !again;
	}
	size_t left = 0;
	for (size_t i = 0; i < kept; i++) {
		if (ret[i].count)
			conclude_length(question, &ret[i]);
		any_tight |= ret[i].tight;
	}
	for (size_t i = 0; i < kept; i++)
		if (ret[i].tight || !any_tight)
			ret[left++] = ret[i];
	return left;
}

/* --- together -------------------------------------------------------------------------------- */

static void measure(struct solver *solver, struct proposal *proposal)
{
	for (size_t i = 0; i < solver->count; i++) {
		struct scored *item = &solver->items[i];
		if (item->type == proposal->type && item->count == proposal->count) {
			if (!item->is_judged)
				solver_judge(solver, item);
			proposal->scored = *item;
			return;
		}
	}
	proposal->scored = (struct scored){ .type = proposal->type, .count = proposal->count };
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

struct error *agree_with_hints(const struct question *question, struct solver *solver,
			       struct answer *answer)
{
	struct proposal proposals[HINTS_A_NAME];
	size_t count = collect_proposals(question, proposals);
	const struct proposal *best = NULL, *agreed = NULL;
	size_t agreeing = 0;
	for (size_t i = 0; i < count; i++) {
		const struct proposal *one = &proposals[i];
		measure(solver, &proposals[i]);
		if (!best || one->scored.score > best->scored.score)
			best = one;
		if (!is_agreement(solver, answer, one, count == 1))
			continue;
		agreeing++;
		if (!agreed || is_named(solver, one))
			agreed = one;
	}
	if (agreed) {
		/* Two rows that are alike to it, an int and a u32, are no word that settles which.
		 */
		accept(answer, agreed,
		       agreeing == 1 && is_same_integer(solver, agreed) ? CONFIDENCE_CERTAIN
		       : agreeing == 1 || settles(solver, agreed)	? CONFIDENCE_INFERRED
									: CONFIDENCE_GUESS);
		return NULL;
	}
	if (!best)
		return NULL;
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
	answer->is_open = answer->confidence == CONFIDENCE_INFERRED && !best->scored.against;
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
