// SPDX-License-Identifier: GPL-3.0-or-later
/* The sources are asked about one symbol, the solver and the shipped table answer. */
#include "debugger/infer/one.h"

#include "base/array.h"
#include "debugger/infer/evidence/own_data_fit.h"
#include "debugger/infer/solve/array_length.h"
#include "debugger/target/object.h"
#include <string.h>

/*
 * The sources of evidence; a new one is a file and a line here. What pointers say, which the whole
 * pass follows beforehand, lies beside what tables do.
 */
static source_collect *const sources[] = { code_collect,     tables_collect, btf_ids_collect,
					   own_data_collect, slab_collect,   names_collect };

static enum subject_place place_of(char kind)
{
	return strchr("rR", kind) ? PLACE_RODATA : strchr("bB", kind) ? PLACE_BSS : PLACE_DATA;
}

uint32_t one_read(struct one *one, const struct subject *subject)
{
	size_t size = subject->room < sizeof(one->bytes) ? (size_t)subject->room
							 : sizeof(one->bytes);
	return (uint32_t)memory_read_some(one->knowledge->target->memory, subject->address,
					  one->bytes, size, NULL);
}

void one_end(struct one *one)
{
	fit_destroy(one->fit);
	one->fit = NULL;
	clues_deinit(&one->clues);
}

void one_begin(struct one *one, const struct subject *subject, const struct symbol *symbol)
{
	struct question *question = &one->question;
	*question = (struct question){ .knowledge = one->knowledge,
				       .subject = subject,
				       .symbol = symbol,
				       .layout = one->solver->layout,
				       .bytes = one->bytes,
				       .is_constant = place_of(symbol->kind) == PLACE_RODATA };
	question->has_literals = question->is_constant ||
				 knowledge_is_constant(one->knowledge, subject->address);
	question->among_constants =
		subject->module ? question->is_constant
				: knowledge_is_constant(one->knowledge, subject->address);
	question->size = one_read(one, subject);
	question->is_zero =
		!question->size ||
		(!one->bytes[0] && !memcmp(one->bytes, one->bytes + 1, question->size - 1));
}

/* The first, the last and the one in the middle: of functions that are apart. */
static void note_places(struct question *question, const struct clues *clues)
{
	for (size_t i = 0; i < PLACES_MAX && clues->count; i++)
		question->places[i] = clues->items[i * (clues->count - 1) / (PLACES_MAX - 1)].where;
	question->place_count = clues->count ? PLACES_MAX : 0;
}

/*
 * Is it the struct module itself, which is in the kernel's list? Then nothing else is asked:
 * module.init points at what was freed, where other modules' functions may lie by now.
 */
static bool is_listed(const struct subject *subject)
{
	return subject->module && subject->module->address == subject->address;
}

struct error *one_ask(struct one *one, const struct subject *subject, const struct symbol *symbol,
		      const struct clues *code)
{
	struct question *question = &one->question;
	one_begin(one, subject, symbol);
	fit_destroy(one->fit);
	question->fit = one->fit = fit_create(question);
	question->code = code;
	TRY(agree_on_pointees(question));
	TRY(names_prepare(question));
	one->clues.count = 0;
	if (code)
		note_places(question, code);
	for (size_t i = 0; i < ARRAY_COUNT(sources); i++)
		if (sources[i] == tables_collect || !is_listed(subject))
			TRY(sources[i](question, &one->clues));
	for (size_t i = 0; i < one->clues.count && !question->counted; i++)
		question->counted = one->clues.items[i].offset ? 0 : one->clues.items[i].count;
	one->input =
		(struct solver_input){ .subject = subject,
				       .clues = &one->clues,
				       .place = place_of(symbol->kind),
				       .is_constant = question->has_literals,
				       .among_constants = question->among_constants,
				       .in_use = bytes_in_use(question),
				       .judge = is_listed(subject) ? NULL : own_data_judge,
				       .used = names_used_struct(question),
				       .says_many = question->says_many,
				       .judge_name = names_judge,
				       .judge_most = one->explains ? 0 : OWN_DATA_MOST + NAMES_MOST,
				       .refine = one->refines ? own_data_refine : NULL,
				       .context = question,
				       .rules = one->knowledge->rules };
	return solve(one->solver, &one->input);
}

/* Up to its NUL; 0: the answer is no constant string. */
static uint32_t string_size(const struct question *question, const struct answer *answer)
{
	const struct layout *layout = question->layout;
	if (!answer->is_family || !answer->count || answer->count_is_proved || answer->row > 1 ||
	    question->subject->room_is_exact || !question->has_literals ||
	    answer->type != layout->character)
		return 0;
	uint32_t length = own_data_string(question);
	return length ? length + 1 : 0;
}

/*
 * What clues found, without the table, and only its room ends. Nobody writes an array of one: what
 * is not stepped through and has one in use is one, unless it is of what is never alone.
 */
static void settle_length(const struct one *one, struct answer *answer)
{
	const struct question *question = &one->question;
	bool is_list = array_is_list(question, answer->type), is_sure = false;
	uint32_t declared = array_declared(question, answer->type, &is_sure);
	if (declared) {
		answer->count = declared;
		answer->count_is_proved = is_sure;
		return;
	}
	if (!answer->count && !is_list && !array_ends_with_empty(question->layout, answer->type))
		return;
	uint32_t end = array_end(question, answer->type, answer->is_family, &is_sure);
	if (!answer->count && !is_list && !end)
		return;
	answer->count_is_proved = is_sure || array_is_filled(question, answer->type, answer->count);
	if (end)
		answer->count = end;
	else if (!answer->count_is_proved)
		answer->count = array_estimate(question, answer->type, answer->count);
	/* An empty list is the element that ends it. */
	if (!answer->count)
		answer->count = 1;
	if (answer->count == 1 && !is_list && !one->solver->items->is_proved)
		answer->count = 0;
}

static struct error *conclude(struct one *one, struct answer *ret)
{
	const struct layout *layout = one->solver->layout;
	struct answer answer = answer_of(one->solver);
	if (one->knowledge->hints)
		TRY(agree_with_hints(&one->question, one->solver, &answer));
	agree_with_bytes(&one->question, &answer);
	if (answer.confidence != CONFIDENCE_UNKNOWN && !answer.spelled.btf) {
		answer.spelled =
			(struct type){ layout->btf, names_shown(&one->question, answer.type) };
		answer.row = 1;
	}
	if (!(answer.sources >> SOURCE_HINTS & 1) && !answer.count_is_proved && answer.row == 1)
		settle_length(one, &answer);
	answer.string_size = string_size(&one->question, &answer);
	*ret = answer;
	return NULL;
}

struct error *one_conclude(struct one *one, struct answer *ret)
{
	struct answer answer;
	TRY(conclude(one, &answer));
	if (one->refines && answer.confidence < CONFIDENCE_INFERRED) {
		TRY(solver_refine(one->solver));
		TRY(conclude(one, &answer));
	}
	*ret = answer;
	return NULL;
}

struct error *typing_of_answer(const struct answer *answer, struct typing *ret)
{
	*ret = (struct typing){ .confidence = answer->confidence,
				.count_is_proved = answer->count_is_proved || answer->string_size,
				.score = answer->score,
				.margin = answer->margin,
				.sources = answer->sources };
	if (answer->confidence == CONFIDENCE_UNKNOWN)
		return NULL;
	ret->origin = answer->confidence == CONFIDENCE_CERTAIN	  ? ORIGIN_CERTAIN
		      : answer->confidence == CONFIDENCE_INFERRED ? ORIGIN_INFERRED
								  : ORIGIN_GUESSED;
	if (answer->string_size)
		return type_array_of(answer->spelled, answer->string_size, &ret->type);
	if (answer->count)
		return type_array_of(answer->spelled, answer->count / answer->row, &ret->type);
	ret->type = answer->spelled;
	return NULL;
}
