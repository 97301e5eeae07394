/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What outlives a question: knowledge, the shipped table in it, results of an earlier session. */
#ifndef DEBUGGER_INFER_KEPT_H
#define DEBUGGER_INFER_KEPT_H

#include "debugger/infer/cache.h"
#include "debugger/infer/code.h"
#include "debugger/infer/infer.h"
#include "debugger/infer/knowledge.h"

/* What is asked for, and what holds for the whole session. `options` may be NULL. */
struct infer_options infer_options_settle(const struct target *target,
					  const struct infer_options *options);
/* The shipped table, unless it is turned off or there. */
struct error *infer_use_hints(struct knowledge *knowledge,
			      const struct infer_options *options) MUST_CHECK;
/* What was learnt for one question serves the next. *ret is the inference's. */
struct error *kept_knowledge(struct inference *inference, struct knowledge **ret) MUST_CHECK;
/* The results of an earlier session, looked for once; NULL: none. The knowledge owns them. */
struct cache *kept_cache(struct knowledge *knowledge, const struct infer_options *options);
void kept_forget_cache(struct knowledge *knowledge);

#endif
