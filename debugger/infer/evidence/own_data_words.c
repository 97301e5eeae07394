// SPDX-License-Identifier: GPL-3.0-or-later
/* What the words of a symbol are, whatever type it has; costs are counted in own_data_fit.c. */
#include "debugger/infer/evidence/own_data_fit_private.h"
#include "debugger/infer/known/subjects.h"

#include <stdlib.h>

/* Some type may describe a word so much shorter than it is described without a type. */
#define LEAST_SLACK (8 * FIT_BIT)
#define NOISE_COST  (56 * FIT_BIT) /* of a word */
#define NOISE_SLACK (6 * FIT_BIT)
#define NO_ROOM	    UINT64_MAX

static enum word_kind classify(const struct fit *fit, uint64_t value)
{
	struct knowledge *knowledge = fit->question->knowledge;
	if (!value)
		return WORD_ZERO;
	if (!fit_is_address(value))
		return WORD_NUMBER;
	if (knowledge_function(knowledge, value)->is_function)
		return WORD_FUNCTION;
	if (knowledge_type_at(knowledge, value))
		return WORD_OBJECT;
	if (word_is_text(fit->question, value))
		return WORD_TEXT;
	/* Literals have no symbol. */
	char name[SYMBOL_NAME_SIZE];
	struct symbol symbol;
	uint64_t offset;
	if (knowledge_is_constant(knowledge, value) &&
	    target_symbol_at_into(knowledge->target, value, name, &symbol, &offset) && offset)
		return WORD_BYTES;
	return WORD_OBJECT;
}

enum word_kind fit_word(struct fit *fit, uint32_t offset)
{
	if (offset % 8 || offset / 8 >= FIT_WORDS_MAX)
		return WORD_NUMBER;
	uint8_t *word = &fit->words[offset / 8];
	if (*word == WORD_UNSEEN)
		*word = (uint8_t)classify(fit, word_load(fit->question, offset, 8));
	return *word;
}

/* Whether a word looks random: neither text nor small numbers. */
static bool is_noise(uint64_t value)
{
	int text = 0, small = 0;
	for (int i = 0; i < 64; i += 8) {
		uint8_t byte = (uint8_t)(value >> i);
		text += byte >= ' ' && byte < 0x7f;
		small += byte < 16;
	}
	return text < 6 && small < 3;
}

/* Noise costs the same whatever it is; of other words some type may say it shorter. */
static int least_of(int cost, uint64_t value)
{
	if (is_kernel_pointer(value) || cost <= LEAST_SLACK)
		return 0;
	return cost >= NOISE_COST && is_noise(value) ? cost - NOISE_SLACK
						     : (cost - LEAST_SLACK) / 2;
}

/* What the bytes from each word on cost when nothing is known of them. */
static void count_unknown(struct fit *fit)
{
	fit->unknown[FIT_WORDS_MAX] = fit->least[FIT_WORDS_MAX] = 0;
	for (uint32_t i = FIT_WORDS_MAX; i-- > 0;) {
		uint64_t value = i * 8 < fit->size ? word_load(fit->question, i * 8, 8) : 0;
		uint64_t before = i && i * 8 <= fit->size ? word_load(fit->question, i * 8 - 8, 8)
							  : 0;
		int cost = is_kernel_pointer(value) ? 40 * FIT_BIT
			   : value		    ? fit_number_cost(value, 8) + FIT_BIT
			   : i * 8 < fit->size	    ? ZERO_COST
						    : 0;
		fit->unknown[i] = fit->unknown[i + 1] + cost;
		int least = least_of(cost, value);
		/* It may count what lies behind the pointer in front of it. */
		if (i && least > COUNTED_COST && fit_is_address(before))
			least = COUNTED_COST;
		fit->least[i] = fit->least[i + 1] + least;
	}
}

void fit_read_name(struct fit *fit)
{
	const struct question *question = fit->question;
	if (fit->has_name)
		return;
	fit->has_name = true;
	fit->name_count = name_words(question->symbol->name, fit->name);
	fit->kin_count = names_kin(question, fit->name, fit->name_count, fit->kin);
	fit->name_count = name_words_numbered(fit->name, fit->name_count);
	fit->name_bits = name_bits(fit->name, fit->name_count);
	for (size_t i = 0; i < fit->kin_count; i++)
		fit->kin_bits |= (uint64_t)1 << fit->kin[i].type % 64;
}

struct fit *fit_create(const struct question *question)
{
	struct fit *fit =
		question->is_zero
			? NULL
			: calloc(1, sizeof(*fit) + (question->size + 1) * sizeof(fit->filled[0]));
	if (!fit)
		return NULL;
	fit->question = question;
	fit->layout = question->layout;
	fit->size = question->size < FIT_BYTES_MAX ? question->size : FIT_BYTES_MAX;
	for (uint32_t i = 0; i < question->size; i++) {
		fit->filled[i + 1] = (uint16_t)(fit->filled[i] + (question->bytes[i] != 0));
		if (question->bytes[i] && i < OUTLINE_BYTES)
			fit->in_use |= (uint64_t)1 << i;
	}
	for (uint32_t i = 0; i < OUTLINE_WORDS && (i + 1) * 8 <= fit->size; i++) {
		uint64_t value = word_load(fit->question, i * 8, 8);
		if (fit_is_address(value))
			fit->pointers |= (uint16_t)(1u << i);
		else if (value && !is_poison(value))
			fit->numbers |= (uint16_t)(1u << i);
	}
	if (!fit->filled[fit->size]) {
		free(fit);
		return NULL;
	}
	count_unknown(fit);
	return fit;
}

void fit_destroy(struct fit *fit)
{
	free(fit);
}

struct fit *fit_borrow(const struct question *question)
{
	return question->fit ? question->fit : fit_create(question);
}

void fit_return(const struct question *question, struct fit *fit)
{
	if (fit != question->fit)
		fit_destroy(fit);
}

uint64_t fit_room_behind(struct fit *fit, uint32_t offset)
{
	const struct knowledge *knowledge = fit->question->knowledge;
	uint64_t value = word_load(fit->question, offset, 8), into = 0, *room;
	const struct subject *subject;
	struct subject found;
	if (offset / 8 >= FIT_WORDS_MAX || !fit_is_address(value))
		return 0;
	room = &fit->rooms[offset / 8];
	if (!*room) {
		/* Only the whole pass has a list of all symbols. */
		subject = knowledge->subjects ? subject_at(knowledge->subjects, value, &into)
			  : subject_find(knowledge->target, value, &found, &into) ? &found
										  : NULL;
		*room = subject && !into ? subject->room : NO_ROOM;
	}
	return *room == NO_ROOM ? 0 : *room;
}
