/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How amounts of memory are spelt, and what is looked at when memory is what is missing. */
#ifndef DEBUGGER_ANALYSIS_MEMORY_WORDS_H
#define DEBUGGER_ANALYSIS_MEMORY_WORDS_H

#include "debugger/analysis/analysis.h"
#include "debugger/kernel/memory_account.h"
#include "debugger/kernel/slab_usage.h"
#include "debugger/kernel/zones.h"

#define MEMORY_SIZE_TEXT 32
#define MEMORY_TOP	 3 /* of the largest of a kind so many are named */
/* Kinds with more, in hundredths of all memory, are looked into when memory ran out. */
#define MEMORY_LARGE_PERCENT 10

/* "16.0 MiB", "512 KiB". */
void memory_size_text(uint64_t bytes, char text[MEMORY_SIZE_TEXT]);
/* Hundredths of a whole, 100 at most; 0 of nothing. */
unsigned int memory_percent(uint64_t part, uint64_t whole);

/* Who took memory from vmalloc: areas of one caller. */
struct vmalloc_user {
	uint64_t caller; /* address of code */
	uint64_t pages, areas;
};

struct memory_view {
	bool has_account, has_zones;
	struct memory_account account;
	struct zones zones;
	struct slab_usages slabs;   /* the one with most pages first */
	struct vmalloc_user *users; /* likewise */
	size_t user_count, user_capacity;
};

/* What can be read of it; errors are fatal ones. Deinit in any case. */
struct error *memory_view_read(struct target *target, struct memory_view *ret) MUST_CHECK;
void memory_view_deinit(struct memory_view *view);

/* The processes with most memory, of all or of those in a memory cgroup (0: all). */
struct memory_task {
	int32_t pid;
	char comm[64];
	uint64_t mm, pages;
};
struct memory_tasks {
	struct memory_task items[MEMORY_TOP];
	size_t count;
	size_t lost;	 /* processes whose memory cannot be read */
	bool is_partial; /* of these, or of all processes, some may be missing */
};
/* No other process, not even one that is missing, has as much of so many pages. */
bool memory_tasks_know_most(const struct memory_tasks *tasks, uint64_t of_pages);
struct error *memory_tasks_read(struct target *target, uint64_t cgroup,
				struct memory_tasks *ret) MUST_CHECK;

/*
 * Who uses a slab cache, as evidence: the variable that has it, the list that its objects are on,
 * what they point to. `owner` says the first of these that is a module's; "": none is.
 */
struct error *cache_users_add(struct target *target, const struct slab_usage *usage,
			      struct finding *finding, char *owner, size_t size) MUST_CHECK;

#endif
