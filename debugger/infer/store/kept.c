// SPDX-License-Identifier: GPL-3.0-or-later
/* Knowledge, the shipped table in it, and the results of an earlier session are kept. */
#include "debugger/infer/store/kept.h"

#include "debugger/infer/hints/hints.h"
#include "debugger/target/object.h"
#include <stdio.h>
#include <stdlib.h>
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

static void forget(struct remembered *remembered)
{
	cache_close(remembered->cache);
	knowledge_destroy(remembered->knowledge);
	free(remembered->guesses);
	free(remembered->answers);
	free(remembered);
}

struct error *kept_get(struct inference *inference, struct remembered **ret)
{
	*ret = inference->remembered;
	if (*ret)
		return NULL;
	struct remembered *made = calloc(1, sizeof(*made));
	struct error *error = made ? knowledge_create(inference->target, &made->knowledge)
				   : error_no_memory();
	if (error) {
		free(made);
		return error;
	}
	inference->forget = forget;
	*ret = inference->remembered = made;
	return NULL;
}

void kept_forget_cache(struct remembered *remembered)
{
	cache_close(remembered->cache);
	remembered->cache = NULL;
	remembered->cache_asked = false;
}

struct cache *kept_cache(struct remembered *remembered, const struct infer_options *options)
{
	struct target *target = remembered->knowledge->target;
	struct cache_key key;
	if (options->no_cache)
		return NULL;
	if (remembered->cache_asked && remembered->cache_no_hints == options->no_hints)
		return remembered->cache;
	kept_forget_cache(remembered);
	if (cache_key_of(target, options, &key))
		remembered->cache = cache_open(target, &key);
	remembered->cache_asked = true;
	remembered->cache_no_hints = options->no_hints;
	return remembered->cache;
}
