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
#include "debugger/infer/solve/proposal.h"
#include "debugger/target/object.h"
#include <stdio.h>
#include <string.h>

/* Points by which a refined guess must be ahead of the next. */
#define REFINED_MARGIN 10

/* Points of own_data_judge(): an object of the right type, or a function and one more. */
#define BYTES_MIN 3
#define TEXT_MIN  3

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
	size_t all = proposals_collect(question, proposals);
	size_t count = proposals_put_near_first(proposals, all);
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

/* What became of a row. */
static const char *row_said(const struct answer *answer, const struct proposal *proposal,
			    const struct hint *hint, bool is_near, uint64_t *ret_by)
{
	uint64_t count = (uint64_t)hint->count * proposal->row;
	bool is_answer = answer->sources >> SOURCE_HINTS & 1 && proposal->type == answer->type &&
			 proposal->count == answer->count && proposal->row == answer->row;
	if (is_answer && count && count != answer->count)
		return "taken, but for the length";
	if (is_answer)
		return answer->confidence == CONFIDENCE_CERTAIN ? "borne out" : "taken";
	if (!is_near)
		return "kernels nearer to this one have another row";
	if (!contradicts(proposal))
		return "not what was found here";
	*ret_by = proposal->scored.rejected_by;
	return proposal->scored.rejected      ? proposal->scored.rejected
	       : proposal->scored.against > 6 ? "contradicted by clues"
					      : "contradicted by its bytes";
}

size_t agree_rows(const struct question *question, struct solver *solver,
		  const struct answer *answer, struct listed_row *ret)
{
	const struct knowledge *knowledge = question->knowledge;
	struct proposal proposals[HINTS_A_NAME];
	struct hint hints[HINTS_A_NAME];
	size_t count =
		hints_find(knowledge->hints, question->symbol, knowledge->hint_kernels, hints);
	size_t all = proposals_collect(question, proposals);
	size_t near = proposals_put_near_first(proposals, all);
	for (size_t i = 0; i < all; i++)
		measure(solver, &proposals[i]);
	for (size_t i = 0; i < count; i++) {
		const char *many = hints[i].count ? strstr(hints[i].type, "[]") : NULL;
		ret[i] = (struct listed_row){
			.said = proposal_is_possible(question, &hints[i])
					? "another row ends where the room ends"
					: "no such type here, or no room for it",
		};
		if (many)
			snprintf(ret[i].type, sizeof(ret[i].type), "%.*s[%u]%s",
				 (int)(many - hints[i].type), hints[i].type, hints[i].count,
				 many + 2);
		else
			snprintf(ret[i].type, sizeof(ret[i].type), "%s", hints[i].type);
		hints_series(knowledge->hints, hints[i].kernels, ret[i].kernels,
			     sizeof(ret[i].kernels));
		for (size_t k = 0; k < all; k++)
			if (proposals[k].rows >> i & 1)
				ret[i].said = row_said(answer, &proposals[k], &hints[i], k < near,
						       &ret[i].said_by);
	}
	return count;
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
	if (proposals_collect(&pointee, proposals) != 1 || !proposals->tight)
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
