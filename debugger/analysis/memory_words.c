// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/analysis/memory_words.h"

#include "base/array.h"
#include "debugger/kernel/memory_cgroup.h"
#include "debugger/kernel/page_counters.h"
#include "debugger/kernel/task_memory.h"
#include "debugger/kernel/vmalloc.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KIB	    1024.0
#define MIB	    (1024.0 * 1024.0)
#define USERS_MAX   65536
#define PERCENT_ALL 100

void memory_size_text(uint64_t bytes, char text[MEMORY_SIZE_TEXT])
{
	if (bytes < MIB)
		snprintf(text, MEMORY_SIZE_TEXT, "%.0f KiB", (double)bytes / KIB);
	else
		snprintf(text, MEMORY_SIZE_TEXT, "%.1f MiB", (double)bytes / MIB);
}

unsigned int memory_percent(uint64_t part, uint64_t whole)
{
	if (part >= whole)
		return whole ? PERCENT_ALL : 0;
	return (unsigned int)((double)part * PERCENT_ALL / (double)whole);
}

/* --- vmalloc ---------------------------------------------------------------------------------- */

static struct error *add_area(void *context, const struct vmalloc_area *area)
{
	struct memory_view *view = context;
	if (!area->pages || !area->caller || view->user_count >= USERS_MAX)
		return NULL;
	if (!array_reserve(&view->users, &view->user_capacity, view->user_count + 1))
		return error_no_memory();
	view->users[view->user_count++] = (struct vmalloc_user){ area->caller, area->pages, 1 };
	return NULL;
}

static int by_caller(const void *left, const void *right)
{
	const struct vmalloc_user *a = left, *b = right;
	return (a->caller > b->caller) - (a->caller < b->caller);
}

static int by_pages(const void *left, const void *right)
{
	const struct vmalloc_user *a = left, *b = right;
	return (a->pages < b->pages) - (a->pages > b->pages);
}

static struct error *read_users(struct target *target, struct memory_view *view)
{
	uint64_t lost;
	size_t kept = 0;
	TRY(error_only_fatal(vmalloc_for_each(target, add_area, view, &lost)));
	if (!view->user_count)
		return NULL;
	array_sort(view->users, view->user_count, sizeof(*view->users), by_caller);
	for (size_t i = 1; i < view->user_count; i++) {
		if (view->users[i].caller == view->users[kept].caller) {
			view->users[kept].pages += view->users[i].pages;
			view->users[kept].areas++;
		} else {
			view->users[++kept] = view->users[i];
		}
	}
	view->user_count = kept + 1;
	array_sort(view->users, view->user_count, sizeof(*view->users), by_pages);
	return NULL;
}

/* --- slabs ------------------------------------------------------------------------------------ */

static int by_slab_pages(const void *left, const void *right)
{
	const struct slab_usage *a = left, *b = right;
	return (a->pages < b->pages) - (a->pages > b->pages);
}

static struct error *read_slabs(struct target *target, struct memory_view *view)
{
	TRY(slab_usages_read(target, view->account.pages[MEMORY_RECLAIMABLE], &view->slabs));
	if (view->slabs.count)
		array_sort(view->slabs.items, view->slabs.count, sizeof(*view->slabs.items),
			   by_slab_pages);
	return NULL;
}

struct error *memory_view_read(struct target *target, struct memory_view *ret)
{
	*ret = (struct memory_view){ .has_account = false };
	struct error *error = memory_account_read(target, &ret->account);
	ret->has_account = !error && ret->account.total;
	TRY(error_only_fatal(error));
	error = zones_read(target, &ret->zones);
	ret->has_zones = !error;
	TRY(error_only_fatal(error));
	if (!ret->has_account)
		return NULL;
	TRY(error_only_fatal(read_slabs(target, ret)));
	return read_users(target, ret);
}

void memory_view_deinit(struct memory_view *view)
{
	slab_usages_deinit(&view->slabs);
	free(view->users);
}

/* --- tasks ------------------------------------------------------------------------------------ */

struct top_question {
	struct target *target;
	uint64_t cgroup;
	struct memory_tasks *top;
};

static void add_task(struct memory_tasks *top, const struct memory_task *task)
{
	size_t at = 0;
	for (size_t i = 0; i < top->count; i++)
		if (top->items[i].mm == task->mm)
			return;
	while (at < top->count && top->items[at].pages >= task->pages)
		at++;
	if (at == MEMORY_TOP)
		return;
	size_t moved = (top->count < MEMORY_TOP ? top->count : MEMORY_TOP - 1) - at;
	memmove(&top->items[at + 1], &top->items[at], moved * sizeof(*task));
	top->items[at] = *task;
	top->count += top->count < MEMORY_TOP;
}

static struct error *is_in_cgroup(const struct top_question *question, uint64_t task, bool *ret)
{
	uint64_t group;
	*ret = !question->cgroup;
	if (*ret)
		return NULL;
	TRY(task_memory_cgroup(question->target, task, &group));
	return memory_cgroup_is_below(question->target, group, question->cgroup, ret);
}

static struct error *look_at_task(void *context, const struct task *task)
{
	const struct top_question *question = context;
	struct task_memory memory = { .mm = 0 };
	bool is_in = false;
	/* Threads have one memory. */
	if (!task->has_mm || task->pid != task->tgid)
		return NULL;
	struct error *error = is_in_cgroup(question, task->address, &is_in);
	if (!error && is_in)
		error = task_memory_read(question->target, task->address, &memory);
	if (!error && memory.mm) {
		struct memory_task found = { .pid = task->pid,
					     .mm = memory.mm,
					     .pages = memory.file + memory.anonymous +
						      memory.shared };
		strcpy(found.comm, task->comm);
		add_task(question->top, &found);
	}
	question->top->lost += error != NULL;
	return error_only_fatal(error);
}

struct error *memory_tasks_read(struct target *target, uint64_t cgroup, struct memory_tasks *ret)
{
	struct top_question question = { target, cgroup, ret };
	struct error *problem = NULL;
	*ret = (struct memory_tasks){ .count = 0 };
	struct error *error = task_for_each(target, look_at_task, &question, &problem);
	ret->is_partial = error || problem || ret->lost;
	error_free(problem);
	return error_only_fatal(error);
}

bool memory_tasks_know_most(const struct memory_tasks *tasks, uint64_t of_pages)
{
	return tasks->count && (!tasks->is_partial || tasks->items[0].pages > of_pages / 2);
}
