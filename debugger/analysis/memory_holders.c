// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/analysis/memory_holders.h"

#include "debugger/kernel/memory_files.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POOLS_MAX      64
#define HUGE_ORDER_MAX 40

struct question {
	struct target *target;
	const struct memory_view *view;
	struct finding *finding;
	struct memory_holder *ret;
};

static void put_pages(const struct question *question, uint64_t pages, char text[MEMORY_SIZE_TEXT])
{
	uint64_t bytes;
	if (__builtin_mul_overflow(pages, question->view->account.page_size, &bytes))
		bytes = UINT64_MAX;
	memory_size_text(bytes, text);
}

static void name_task(const struct question *question, const struct memory_tasks *tasks,
		      uint64_t of_pages)
{
	char size[MEMORY_SIZE_TEXT];
	if (!tasks->count)
		return;
	question->ret->pages = tasks->items[0].pages;
	if (!memory_tasks_know_most(tasks, of_pages))
		return;
	put_pages(question, tasks->items[0].pages, size);
	snprintf(question->ret->words, sizeof(question->ret->words),
		 "pid %" PRId32 " \"%s\" has most of it, %s", tasks->items[0].pid,
		 tasks->items[0].comm, size);
}

#define LARGEST_SHARE 2 /* who has less than such a part has not most of it */

/* No cache has most of it. Pages that kmalloc() hands out whole, for more than its caches have,
 * count as slabs. */
static struct error *name_kmalloc(const struct question *question, const struct slab_usage *largest,
				  uint64_t whole, bool is_reclaimable)
{
	const struct slab_usages *slabs = &question->view->slabs;
	char size[MEMORY_SIZE_TEXT], rest[MEMORY_SIZE_TEXT];
	uint64_t sum = 0;
	for (size_t i = 0; i < slabs->count; i++)
		if (!slabs->knows_reclaimable || slabs->items[i].is_reclaimable == is_reclaimable)
			sum += slabs->items[i].pages;
	put_pages(question, largest->pages, size);
	/* What a cache has that could not be read is not in none. */
	if (is_reclaimable || slabs->lost || sum >= whole / 2) {
		snprintf(question->ret->words, sizeof(question->ret->words),
			 "the largest slab cache%s is %s, with %s",
			 slabs->lost ? " of those that could be read" : "", largest->cache.name,
			 size);
		return NULL;
	}
	put_pages(question, whole - sum, rest);
	question->ret->pages = whole - sum;
	snprintf(question->ret->words, sizeof(question->ret->words),
		 "%s of it are in no slab cache, but in larger pieces that kmalloc() gave", rest);
	snprintf(question->ret->culprit, sizeof(question->ret->culprit), "kmalloc-large");
	return NULL;
}

static struct error *name_cache(const struct question *question, bool is_reclaimable)
{
	const struct slab_usages *slabs = &question->view->slabs;
	char owner[SYMBOL_NAME_SIZE + 96] = "", size[MEMORY_SIZE_TEXT];
	size_t at = 0;
	while (at < slabs->count && slabs->knows_reclaimable &&
	       slabs->items[at].is_reclaimable != is_reclaimable)
		at++;
	if (at == slabs->count)
		return NULL;
	const struct slab_usage *usage = &slabs->items[at];
	uint64_t whole =
		question->view->account.pages[is_reclaimable ? MEMORY_RECLAIMABLE : MEMORY_SLAB];
	put_pages(question, usage->pages, size);
	if (usage->pages < whole / LARGEST_SHARE)
		return name_kmalloc(question, usage, whole, is_reclaimable);
	question->ret->pages = usage->pages;
	TRY(cache_users_add(question->target, usage, question->finding, owner, sizeof(owner)));
	snprintf(question->ret->words, sizeof(question->ret->words),
		 "the slab cache %s%s%s%s has most of it, %s", usage->cache.name,
		 *owner ? " (" : "", owner, *owner ? ")" : "", size);
	snprintf(question->ret->culprit, sizeof(question->ret->culprit), "%s", usage->cache.name);
	return NULL;
}

static void name_caller(const struct question *question)
{
	char place[SYMBOL_NAME_SIZE + 96], size[MEMORY_SIZE_TEXT];
	if (!question->view->user_count ||
	    !target_describe(question->target, question->view->users[0].caller, place,
			     sizeof(place)))
		return;
	question->ret->pages = question->view->users[0].pages;
	put_pages(question, question->ret->pages, size);
	snprintf(question->ret->words, sizeof(question->ret->words), "%s has most of it, %s", place,
		 size);
	/* Without the offset and what a compiler added. */
	snprintf(question->ret->culprit, sizeof(question->ret->culprit), "%.*s",
		 (int)strcspn(place, "+. "), place);
}

static struct error *name_file(const struct question *question)
{
	char size[MEMORY_SIZE_TEXT], all[MEMORY_SIZE_TEXT], command[64];
	struct memory_files *files = malloc(sizeof(*files));
	if (!files)
		return error_no_memory();
	struct error *error = memory_files_read(question->target, files);
	for (size_t i = 0; i < files->count && !error; i++) {
		const struct memory_file *file = &files->items[i];
		put_pages(question, file->pages, size);
		snprintf(command, sizeof(command), "print *(struct inode *)0x%" PRIx64,
			 file->inode);
		error = finding_add(question->finding, command, "the file %s of tmpfs has %s",
				    *file->name ? file->name : "without a name", size);
		if (i)
			continue;
		question->ret->pages = file->pages;
		snprintf(question->ret->words, sizeof(question->ret->words),
			 "the file %s has most of it, %s",
			 *file->name ? file->name : "without a name", size);
	}
	if (!error && files->count) {
		put_pages(question, files->pages, all);
		error = finding_add(question->finding, "superblocks",
				    "all files of tmpfs, %" PRIu64 " that are not empty, have %s",
				    files->files, all);
	}
	free(files);
	return error_only_fatal(error);
}

static struct error *read_pool(const struct object *pool, uint64_t *ret_order, uint64_t *ret_count,
			       uint64_t *ret_free)
{
	TRY(object_u64(pool, "order", ret_order));
	TRY(object_u64(pool, "nr_huge_pages", ret_count));
	return object_u64(pool, "free_huge_pages", ret_free);
}

static struct error *name_pools(const struct question *question)
{
	struct object pool, counter;
	uint64_t size, pools, order, count, unused;
	char text[MEMORY_SIZE_TEXT], command[64];
	TRY(object_variable(question->target, "hugetlb_max_hstate", "int", &counter));
	TRY(object_u64(&counter, NULL, &pools));
	TRY(object_variable(question->target, "hstates", "struct hstate", &pool));
	if (!type_size(pool.type, &size))
		return NULL;
	for (uint64_t i = 0; i < pools && i < POOLS_MAX; i++, pool.address += size) {
		TRY(read_pool(&pool, &order, &count, &unused));
		if (!count || order > HUGE_ORDER_MAX)
			continue;
		put_pages(question, (uint64_t)1 << order, text);
		snprintf(command, sizeof(command), "print hstates[%" PRIu64 "].free_huge_pages", i);
		TRY(finding_add(question->finding, command,
				"of %" PRIu64 " huge pages of %s nobody uses %" PRIu64, count, text,
				unused));
		uint64_t total = question->view->account.total;
		uint64_t pages = unused <= count && unused <= total >> order ? unused << order : 0;
		/* Of several sizes the one of which most is unused. */
		if (*question->ret->words && pages <= question->ret->pages)
			continue;
		snprintf(question->ret->words, sizeof(question->ret->words),
			 "nobody uses %" PRIu64 " of the %" PRIu64 " of %s", unused, count, text);
		question->ret->pages = pages;
	}
	return NULL;
}

struct error *memory_holder_find(struct target *target, const struct memory_view *view,
				 enum memory_kind kind, const struct memory_tasks *tasks,
				 struct finding *finding, struct memory_holder *ret)
{
	const struct question question = { target, view, finding, ret };
	*ret = (struct memory_holder){ .words = "" };
	switch (kind) {
	case MEMORY_ANONYMOUS:
	case MEMORY_TABLES:
	case MEMORY_SWAP_CACHE:
		name_task(&question, tasks, view->account.pages[kind]);
		return NULL;
	case MEMORY_SLAB:
	case MEMORY_RECLAIMABLE:
		return error_only_fatal(name_cache(&question, kind == MEMORY_RECLAIMABLE));
	case MEMORY_VMALLOC:
		name_caller(&question);
		return NULL;
	case MEMORY_SHARED:
		return name_file(&question);
	case MEMORY_HUGE:
		return error_only_fatal(name_pools(&question));
	default:
		return NULL;
	}
}

struct error *memory_holder_prefer_unused(struct target *target, const struct memory_view *view,
					  struct finding *finding, unsigned int *kind,
					  struct memory_holder *holder)
{
	const struct memory_account *account = &view->account;
	struct memory_holder huge = { .words = "" };
	const struct question question = { target, view, finding, &huge };
	if (*kind == MEMORY_HUGE ||
	    memory_percent(account->pages[MEMORY_HUGE], account->total) < MEMORY_LARGE_PERCENT)
		return NULL;
	TRY(error_only_fatal(name_pools(&question)));
	if (huge.pages <= holder->pages ||
	    memory_percent(huge.pages, account->total) < MEMORY_LARGE_PERCENT)
		return NULL;
	*kind = MEMORY_HUGE;
	*holder = huge;
	return NULL;
}
