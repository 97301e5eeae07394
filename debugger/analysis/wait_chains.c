// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Who waits for whom, followed to the end: each task waits for one other at most, so what it leads
 * to is a task that waits for nobody, or a circle.
 */
#include "debugger/analysis/waits.h"

#include "base/array.h"
#include "base/hash.h"
#include <string.h>

struct links {
	struct waits *waits;
	const struct task *(*task_of)(void *context, uint64_t address);
	void *context;
	uint32_t *by_task;	 /* items ordered by the address of their task */
	uint32_t *round;	 /* in which round an item was met; 0: in none yet */
	struct hash_index heads; /* chains by the owner that waits for nobody */
};

static int compare_by_task(const void *a, const void *b, void *context)
{
	const struct waits *waits = context;
	uint64_t one = waits->items[*(const uint32_t *)a].task.address;
	uint64_t other = waits->items[*(const uint32_t *)b].task.address;
	return one < other ? -1 : one > other;
}

static uint32_t wait_of(const struct links *links, uint64_t task)
{
	const struct waits *waits = links->waits;
	size_t at =
		array_bound(waits->count, i, waits->items[links->by_task[i]].task.address < task);
	if (at == waits->count || waits->items[links->by_task[at]].task.address != task)
		return WAIT_NONE;
	return links->by_task[at];
}

static enum confidence least(enum confidence a, enum confidence b)
{
	return a < b ? a : b;
}

static struct error *add_chain(struct waits *waits, const struct task *head, uint32_t wait,
			       uint32_t *ret)
{
	if (!array_reserve(&waits->chains, &waits->chain_capacity, waits->chain_count + 1))
		return error_no_memory();
	waits->chains[waits->chain_count] =
		(struct wait_chain){ .head = *head, .wait = wait, .sure = CONFIDENCE_CERTAIN };
	*ret = (uint32_t)waits->chain_count++;
	return NULL;
}

/* All of a circle that begins and ends at `first`. */
static struct error *add_circle(struct waits *waits, uint32_t first, uint32_t *ret)
{
	TRY(add_chain(waits, &waits->items[first].task, first, ret));
	uint32_t at = first;
	do {
		waits->items[at].chain = *ret;
		waits->chains[*ret].length++;
		at = waits->items[at].owner_wait;
	} while (at != first);
	return NULL;
}

/* The chain whose head an owner is that waits for nobody. */
static struct error *chain_of_owner(struct links *links, uint64_t owner, uint32_t *ret)
{
	struct waits *waits = links->waits;
	uint32_t hash = hash_address(owner);
	size_t position = hash_index_first(&links->heads, hash);
	for (uint32_t n; (n = hash_index_next(&links->heads, hash, &position)) != HASH_NONE;)
		if (waits->chains[n].head.address == owner) {
			*ret = n;
			return NULL;
		}
	const struct task *task = links->task_of(links->context, owner);
	struct task unknown = { .address = owner, .pid = -1, .ppid = -1, .state_letter = '?' };
	TRY(add_chain(waits, task ? task : &unknown, WAIT_NONE, ret));
	return hash_index_add(&links->heads, hash, *ret) ? NULL : error_no_memory();
}

/* Where the way from an item ends, and on it: all items of the way become part of that chain. */
static struct error *follow(struct links *links, uint32_t start, uint32_t round)
{
	struct waits *waits = links->waits;
	uint32_t at = start, chain = WAIT_NONE;
	while (waits->items[at].chain == WAIT_NONE && waits->items[at].owner_wait != WAIT_NONE &&
	       !links->round[at]) {
		links->round[at] = round;
		at = waits->items[at].owner_wait;
	}
	struct wait *last = &waits->items[at];
	if (last->chain != WAIT_NONE)
		chain = last->chain;
	else if (links->round[at] == round)
		TRY(add_circle(waits, at, &chain));
	else if (last->owner)
		TRY(chain_of_owner(links, last->owner, &chain));
	else if (at != start)
		TRY(add_chain(waits, &last->task, at, &chain));
	if (chain == WAIT_NONE)
		return NULL;
	last->chain = chain;
	for (at = start; waits->items[at].chain == WAIT_NONE; at = waits->items[at].owner_wait)
		waits->items[at].chain = chain;
	return NULL;
}

/* The head's own wait is no link that anybody stands behind. */
static void count_behind(struct waits *waits)
{
	for (size_t i = 0; i < waits->count; i++) {
		struct wait *wait = &waits->items[i];
		if (wait->chain == WAIT_NONE)
			continue;
		struct wait_chain *chain = &waits->chains[wait->chain];
		if (wait->owner)
			chain->sure = least(chain->sure, least(wait->sure, wait->owner_sure));
		chain->behind += wait->task.address != chain->head.address;
	}
	for (size_t i = 0; i < waits->chain_count; i++)
		if (waits->chains[i].length)
			waits->chains[i].behind -= waits->chains[i].length - 1;
}

static int compare_chains(const void *a, const void *b, void *context)
{
	const struct waits *waits = context;
	uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;
	const struct wait_chain *one = &waits->chains[first], *other = &waits->chains[second];
	if (!one->length != !other->length)
		return one->length ? -1 : 1;
	if (one->behind != other->behind)
		return one->behind > other->behind ? -1 : 1;
	return first < second ? -1 : first > second;
}

static struct error *sort_chains(struct waits *waits)
{
	size_t count = waits->chain_count;
	uint32_t *order = malloc((count + 1) * sizeof(*order));
	uint32_t *place = malloc((count + 1) * sizeof(*place));
	struct wait_chain *sorted = malloc((count + 1) * sizeof(*sorted));
	if (order && place && sorted) {
		for (uint32_t i = 0; i < count; i++)
			order[i] = i;
		qsort_r(order, count, sizeof(*order), compare_chains, waits);
		for (uint32_t i = 0; i < count; i++) {
			sorted[i] = waits->chains[order[i]];
			place[order[i]] = i;
		}
		for (size_t i = 0; i < waits->count; i++)
			if (waits->items[i].chain != WAIT_NONE)
				waits->items[i].chain = place[waits->items[i].chain];
		memcpy(waits->chains, sorted, count * sizeof(*sorted));
	}
	bool failed = !order || !place || !sorted;
	free(order);
	free(place);
	free(sorted);
	return failed ? error_no_memory() : NULL;
}

static struct error *link_all(struct links *links)
{
	struct waits *waits = links->waits;
	for (uint32_t i = 0; i < waits->count; i++)
		links->by_task[i] = i;
	qsort_r(links->by_task, waits->count, sizeof(*links->by_task), compare_by_task, waits);
	for (size_t i = 0; i < waits->count; i++) {
		waits->items[i].chain = WAIT_NONE;
		waits->items[i].owner_wait =
			waits->items[i].owner ? wait_of(links, waits->items[i].owner) : WAIT_NONE;
	}
	for (uint32_t i = 0; i < waits->count; i++)
		TRY(follow(links, i, i + 1));
	count_behind(waits);
	return waits->chain_count ? sort_chains(waits) : NULL;
}

struct error *waits_link(struct waits *waits,
			 const struct task *(*task_of)(void *context, uint64_t address),
			 void *context)
{
	struct links links = { .waits = waits, .task_of = task_of, .context = context };
	waits->chain_count = 0;
	if (!waits->count)
		return NULL;
	links.by_task = malloc(waits->count * sizeof(*links.by_task));
	links.round = calloc(waits->count, sizeof(*links.round));
	bool has_memory = links.by_task && links.round && hash_index_init(&links.heads, 64);
	struct error *error = has_memory ? link_all(&links) : error_no_memory();
	hash_index_deinit(&links.heads);
	free(links.by_task);
	free(links.round);
	return error;
}
