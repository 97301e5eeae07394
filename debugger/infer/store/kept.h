/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What outlives a question: knowledge, the shipped table in it, results of an earlier session. */
#ifndef DEBUGGER_INFER_STORE_KEPT_H
#define DEBUGGER_INFER_STORE_KEPT_H

#include "debugger/infer/known/inference.h"
#include "debugger/infer/known/knowledge.h"
#include "debugger/infer/known/typing.h"
#include "debugger/infer/store/cache.h"

/* What is asked for, and what holds for the whole session. `options` may be NULL. */
struct infer_options infer_options_settle(const struct target *target,
					  const struct infer_options *options);
/* The shipped table, unless it is turned off or there. */
struct error *infer_use_hints(struct knowledge *knowledge,
			      const struct infer_options *options) MUST_CHECK;

/* What was learnt for one question serves the next. */
struct remembered {
	struct knowledge *knowledge;
	struct cache *cache;		  /* of the dump's results; NULL: none */
	bool cache_asked, cache_no_hints; /* was it looked for, and without the table? */
	/* The last guess: whoever shows one asks for its alternatives next. */
	struct candidate *guesses; /* NULL: none is kept */
	size_t guess_count;
	uint32_t guess_symbol;
	/* Without the table: of each of the inference's subjects; NULL: the pass was not made. */
	struct answer *answers;
};
/* *ret is the inference's. */
struct error *kept_get(struct inference *inference, struct remembered **ret) MUST_CHECK;
/* The results of an earlier session, looked for once; NULL: none. Borrowed. */
struct cache *kept_cache(struct remembered *remembered, const struct infer_options *options);
void kept_forget_cache(struct remembered *remembered);

#endif
