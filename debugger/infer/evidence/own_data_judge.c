// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What a symbol's bytes say of a candidate, in points: own_data_fit.c looks at each word as a
 * member of that type, and what it finds there that the rules have a row for speaks for the type or
 * against.
 */
#include "debugger/infer/evidence/own_data_fit_private.h"

#define LEAST	      -25
#define LIMIT	      (FIT_IMPOSSIBLE / 2)
#define FOR_MAX	      10 /* points: the first few of a kind count */
#define THERE_MAX     2	 /* where nothing better speaks for it */
#define AGAINST_MIN   -3 /* what is worse is the reason that is told */
#define PADDING_BYTES 256

/* The row says why. */
static void note(struct evidence *evidence, const struct rules *rules, enum rule which)
{
	int points = rule(rules, which);
	if (points > 0) {
		if (evidence->good >= (which == RULE_POINTER_THERE ? THERE_MAX : FOR_MAX))
			return;
		evidence->good += points;
	} else if (points && (!evidence->why || points < AGAINST_MIN)) {
		evidence->why = rule_row(which)->says;
	}
	evidence->points += points;
}

int fit_found(struct fit *fit, enum rule which)
{
	return fit_found_at(fit, which, rule_row(which)->bits);
}

int fit_found_at(struct fit *fit, enum rule which, int bits)
{
	if (fit->evidence)
		note(fit->evidence, fit->question->knowledge->rules, which);
	return bits * FIT_BIT;
}

/*
 * DEFINE_STATIC_KEY_TRUE() and _FALSE() wrap nearly all keys, and what the key began as stands in
 * the lowest bit of its second word for good.
 */
static int judge_static_key(const struct question *question, uint32_t type)
{
	const struct layout *layout = question->layout;
	int points = rule(question->knowledge->rules, RULE_STATIC_KEY);
	bool begins_true = word_load(question, 8, 8) & 1;
	if (!type || layout_size(layout, type) != 16 || question->size < 16)
		return 0;
	if (type == layout_find(layout, BTF_STRUCT, "static_key_true"))
		return begins_true ? points : -points;
	if (type == layout_find(layout, BTF_STRUCT, "static_key_false"))
		return begins_true ? -points : points;
	return 0;
}

/* What lies behind the end is padding: zeros. */
static bool is_padding(const struct question *question, uint64_t end)
{
	for (uint64_t at = end; at < question->size && at < end + PADDING_BYTES; at++)
		if (question->bytes[at])
			return false;
	return true;
}

int own_data_judge(void *context, uint32_t type, uint32_t count, const char **ret_why)
{
	const struct question *question = context;
	uint64_t size = layout_size(question->layout, type);
	struct evidence evidence = { .points = 0 };
	/* Zeros are neither for nor against any type. */
	if (!question->bytes || !question->size || question->is_zero)
		return 0;
	struct fit *fit = fit_borrow(question);
	evidence.points = judge_static_key(question, type);
	if (fit) {
		fit->evidence = &evidence;
		(void)fit_cost_bytes(fit, type, count, LIMIT);
		fit->evidence = NULL;
		fit_return(question, fit);
	}
	/* Strings without a symbol may follow what is known to end. */
	if (!question->is_constant && (!count || count != question->counted) &&
	    !is_padding(question, count ? size * count : size))
		note(&evidence, question->knowledge->rules, RULE_PADDING);
	*ret_why = evidence.why;
	return evidence.points < LEAST		 ? LEAST
	       : evidence.points > OWN_DATA_MOST ? OWN_DATA_MOST
						 : evidence.points;
}
