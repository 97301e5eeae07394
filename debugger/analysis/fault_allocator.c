// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A fault inside the slab allocator while it takes an object from a cache: it follows the free
 * list, which lies in the free objects themselves. Who wrote into one of those need not be on the
 * stack.
 */
#include "base/array.h"
#include "debugger/analysis/fault.h"
#include "debugger/analysis/stack_words.h"
#include "debugger/target/object.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEAR 4096u /* a member of the cache, and not an object of it */

/* They are given a cache, which is their argument "s", and return an object of it. */
static bool allocates(const struct frame *frame)
{
	static const char *const starts[] = { "__kmalloc",	    "kmalloc_trace",
					      "kmalloc_node_trace", "__kmem_cache_alloc",
					      "kmem_cache_alloc",   "___slab_alloc",
					      "__slab_alloc" };
	for (size_t i = 0; i < ARRAY_COUNT(starts); i++)
		if (frame->has_symbol && !frame->symbol.module &&
		    !strncmp(frame->symbol.name, starts[i], strlen(starts[i])))
			return true;
	return false;
}

static struct error *read_name(struct target *target, uint64_t cache, char *name, size_t size)
{
	struct object object;
	uint64_t address;
	size_t length;
	TRY(object_at(target, "struct kmem_cache", cache, &object));
	TRY(object_u64(&object, "name", &address));
	return memory_read_string(target->memory, address, name, size, &length);
}

static bool is_plain(const char *name)
{
	for (const char *at = name; *at; at++)
		if (*at <= ' ' || *at == '/' || *at > '~')
			return false;
	return *name;
}

struct error *fault_show_allocator(struct fault *fault, struct finding *finding, bool *ret)
{
	struct analysis *analysis = fault->analysis;
	char name[SLAB_NAME_SIZE];
	uint64_t cache;
	*ret = false;
	if (!fault->access || !fault->access->has_base || !allocates(fault->frame) ||
	    !analysis_argument(analysis, fault->at, "s", &cache) ||
	    fault->pointer - cache + NEAR <= 2 * NEAR)
		return NULL;
	struct error *error = read_name(analysis->target, cache, name, sizeof(name));
	if (error || !is_plain(name))
		return error_only_fatal(error);
	*ret = true;
	char *summary = finding->summary;
	finding->summary = NULL;
	error = finding_summarize(finding, "the free list of the slab cache %s is broken: %s", name,
				  summary);
	free(summary);
	TRY(error);
	finding->kind = "slab-corruption";
	/* What the code there follows is not read: the cache's own members may be what is broken.
	 */
	finding->sure = CONFIDENCE_INFERRED;
	analysis->blamed = fault->at;
	if (asprintf(&finding->culprit, "%s", name) < 0) {
		finding->culprit = NULL;
		return error_no_memory();
	}
	TRY(finding_add(finding, NULL,
			"the list leads from one free object to the next: one was written to, by a "
			"writer behind the end of its own object or after it had been freed"));
	return finding_add(finding, "slabs", "whoever asks that cache for memory meets it");
}
