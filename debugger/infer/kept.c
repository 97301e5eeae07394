// SPDX-License-Identifier: GPL-3.0-or-later
/* Knowledge, the shipped table in it, and the results of an earlier session are kept. */
#include "debugger/infer/kept.h"

#include "debugger/infer/hints/hints.h"
#include "debugger/target/object.h"
#include <stdio.h>
#include <string.h>

struct infer_options infer_options_settle(const struct target *target,
					  const struct infer_options *options)
{
	struct infer_options settled = options ? *options : (struct infer_options){ 0 };
	settled.no_hints |= target->no_hints;
	/* A score has to measure this program, not what an earlier one left in the cache. */
	settled.no_cache |= target->no_cache || settled.without || settled.rules;
	return settled;
}

/* Of "7.3,7.2" each; an unknown one is an error: otherwise a typing error would leave nothing out
 * unnoticed. */
static struct error *leave_out(struct knowledge *knowledge, const char *list)
{
	for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
		char name[128];
		uint32_t own = 0;
		if (snprintf(name, sizeof(name), "%.*s", (int)strcspn(at, ","), at) <
		    (int)sizeof(name))
			own = hints_kernel(knowledge->hints, name);
		if (!own)
			return error_create(ERROR_USAGE, "the shipped table has no kernel \"%s\"",
					    name);
		knowledge->hint_kernels &= ~own;
	}
	return NULL;
}

struct error *infer_use_hints(struct knowledge *knowledge, const struct infer_options *options)
{
	knowledge->rules = options->rules;
	if (options->no_hints || knowledge->hints)
		return NULL;
	TRY(hints_create(&knowledge->hints));
	knowledge->hint_kernels = HINTS_ALL;
	return options->without ? leave_out(knowledge, options->without) : NULL;
}

struct error *kept_knowledge(struct inference *inference, struct knowledge **ret)
{
	if (!inference->knowledge) {
		TRY(knowledge_create(inference->target, &inference->knowledge));
		inference->knowledge_destroy = knowledge_destroy;
	}
	*ret = inference->knowledge;
	return NULL;
}

void kept_forget_cache(struct knowledge *knowledge)
{
	cache_close(knowledge->cache);
	knowledge->cache = NULL;
	knowledge->cache_asked = false;
}

struct cache *kept_cache(struct knowledge *knowledge, const struct infer_options *options)
{
	struct cache_key key;
	if (options->no_cache)
		return NULL;
	if (knowledge->cache_asked && knowledge->cache_no_hints == options->no_hints)
		return knowledge->cache;
	kept_forget_cache(knowledge);
	if (cache_key_of(knowledge->target, options, &key))
		knowledge->cache = cache_open(knowledge->target, &key);
	knowledge->cache_asked = true;
	knowledge->cache_no_hints = options->no_hints;
	return knowledge->cache;
}
