// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Memory that ran out: whose limit that was, and who has it. And what is too much of one thing,
 * also in a machine that died of something else: a slab cache, a caller of vmalloc, pages that are
 * in none of the kernel's accounts.
 */
#include "base/array.h"
#include "debugger/analysis/allocation_report.h"
#include "debugger/analysis/memory_holders.h"
#include "debugger/analysis/memory_words.h"
#include "debugger/analysis/stack_words.h"
#include "debugger/kernel/bpf_memory.h"
#include "debugger/kernel/cgroup.h"
#include "debugger/kernel/memory_cgroup.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * What is worth a word, in hundredths. Healthy machines, of 192 MiB up, have up to 3 in no account;
 * their largest slab cache that cannot shrink has 13 of all such slabs, their largest caller of
 * vmalloc, which is the loading of modules, 6 of all memory.
 */
#define UNACCOUNTED_PERCENT  10 /* of memory */
#define VMALLOC_PERCENT	     10 /* of memory, one caller */
#define CACHE_PERCENT	     20 /* of the slabs that cannot shrink, one cache */
#define CACHE_OF_ALL_PERCENT 3	/* and of memory */
#define OBJECTS_PER_4_TASKS  5	/* so many objects need no other reason than that there are tasks */
/* Of an account: */
#define SHOWN_PERCENT 1 /* kinds with more are listed */

struct memory_question {
	struct analysis *analysis;
	struct memory_view view;
	uint64_t total; /* pages */
	/* What there was too much of when memory ran out: it is not told of again. MEMORY_KINDS:
	 * what is in no account; else nothing was. */
	unsigned int told;
};

#define TOLD_NOTHING (MEMORY_KINDS + 1)
#define NODE_WORDS   16 /* of 64 nodes each */

static uint64_t bytes_of(const struct memory_question *question, uint64_t pages)
{
	uint64_t bytes;
	return __builtin_mul_overflow(pages, question->view.account.page_size, &bytes) ? UINT64_MAX
										       : bytes;
}

static void put_pages(const struct memory_question *question, uint64_t pages,
		      char text[MEMORY_SIZE_TEXT])
{
	memory_size_text(bytes_of(question, pages), text);
}

static struct error *add_text(struct finding *finding, const char *command, struct strbuf *text)
{
	strbuf_bytes(text, "", 1);
	struct error *error = text->failed ? error_no_memory()
					   : finding_add(finding, command, "%s", text->data);
	strbuf_deinit(text);
	return error;
}

/* --- evidence --------------------------------------------------------------------------------- */

struct amount {
	const char *name;
	uint64_t bytes;
	unsigned int kind;
};

static int by_bytes(const void *left, const void *right)
{
	const struct amount *a = left, *b = right;
	return (a->bytes < b->bytes) - (a->bytes > b->bytes);
}

/* "what has the 344 MiB: anonymous memory: 264 MiB, free: 3 MiB": sorts the amounts. */
static struct error *add_amounts(struct finding *finding, const char *command, uint64_t whole,
				 struct amount *amounts, size_t count)
{
	struct strbuf text = { 0 };
	char size[MEMORY_SIZE_TEXT];
	array_sort(amounts, count, sizeof(*amounts), by_bytes);
	memory_size_text(whole, size);
	strbuf_format(&text, "what has the %s", size);
	for (size_t i = 0; i < count; i++) {
		if (i && memory_percent(amounts[i].bytes, whole) < SHOWN_PERCENT)
			break;
		memory_size_text(amounts[i].bytes, size);
		strbuf_format(&text, "%s %s: %s", i ? "," : ":", amounts[i].name, size);
	}
	return add_text(finding, command, &text);
}

static struct error *add_tasks(const struct memory_question *question,
			       const struct memory_tasks *tasks, bool is_of_cgroup,
			       struct finding *finding)
{
	struct strbuf text = { 0 };
	char command[32], size[MEMORY_SIZE_TEXT];
	if (!tasks->count)
		return NULL;
	/* Memory that a process has is not all charged to the cgroup that it is in. */
	strbuf_format(&text,
		      "the largest processes%s%s:", tasks->is_partial ? " that the dump has" : "",
		      is_of_cgroup ? ", with what is charged to other cgroups" : "");
	for (size_t i = 0; i < tasks->count; i++) {
		put_pages(question, tasks->items[i].pages, size);
		strbuf_format(&text, "%s pid %" PRId32 " \"%s\" %s", i ? "," : "",
			      tasks->items[i].pid, tasks->items[i].comm, size);
	}
	if (tasks->lost)
		strbuf_format(&text, "; the memory of %zu cannot be read", tasks->lost);
	snprintf(command, sizeof(command), "ps %" PRId32, tasks->items[0].pid);
	return add_text(finding, command, &text);
}

static struct error *add_cache(const struct memory_question *question,
			       const struct slab_usage *usage, struct finding *finding)
{
	char command[64], size[MEMORY_SIZE_TEXT];
	put_pages(question, usage->pages, size);
	snprintf(command, sizeof(command), "print *(struct kmem_cache *)0x%" PRIx64,
		 usage->cache.address);
	return finding_add(finding, command,
			   "the slab cache %s%s has %s: %" PRIu64 " objects of %" PRIu64 " bytes",
			   usage->cache.name,
			   usage->cache.is_shared ? ", which others were merged into," : "", size,
			   usage->active, usage->cache.object_size);
}

static struct error *add_user(const struct memory_question *question,
			      const struct vmalloc_user *user, struct finding *finding)
{
	char command[40], place[SYMBOL_NAME_SIZE + 96], size[MEMORY_SIZE_TEXT];
	put_pages(question, user->pages, size);
	if (!target_describe(question->analysis->target, user->caller, place, sizeof(place)))
		snprintf(place, sizeof(place), "0x%" PRIx64, user->caller);
	snprintf(command, sizeof(command), "dis 0x%" PRIx64, user->caller);
	return finding_add(finding, command, "%s took %s from vmalloc, in %" PRIu64 " area%s",
			   place, size, user->areas, user->areas == 1 ? "" : "s");
}

/* --- memory that ran out ---------------------------------------------------------------------- */

static struct error *add_zones(const struct memory_question *question, struct finding *finding)
{
	const struct zones *zones = &question->view.zones;
	for (size_t i = 0; i < zones->count && question->view.has_zones; i++) {
		const struct zone *zone = &zones->items[i];
		char command[48], size[MEMORY_SIZE_TEXT], least[MEMORY_SIZE_TEXT], block[48];
		int order = zone_highest_order(zone);
		if (!zone->managed)
			continue;
		put_pages(question, zone->free, size);
		put_pages(question, zone->min, least);
		snprintf(command, sizeof(command), "print *(struct zone *)0x%" PRIx64,
			 zone->address);
		*block = 0;
		if (order >= 0)
			snprintf(block, sizeof(block), ", in blocks up to order %d", order);
		TRY(finding_add(finding, command,
				"zone %s of node %u: %s free%s; its minimum is %s%s", zone->name,
				zone->node, size, block, least,
				zone->free < zone->min ? ", so it has too little" : ""));
	}
	return NULL;
}

static struct error *add_large(const struct memory_question *question, struct finding *finding)
{
	const struct memory_view *view = &question->view;
	uint64_t slabs = view->account.pages[MEMORY_SLAB] + view->account.pages[MEMORY_RECLAIMABLE];
	if (memory_percent(slabs, question->total) >= MEMORY_LARGE_PERCENT)
		for (size_t i = 0; i < view->slabs.count && i < MEMORY_TOP; i++)
			TRY(add_cache(question, &view->slabs.items[i], finding));
	if (memory_percent(view->account.pages[MEMORY_VMALLOC], question->total) >=
	    MEMORY_LARGE_PERCENT)
		for (size_t i = 0; i < view->user_count && i < MEMORY_TOP; i++)
			TRY(add_user(question, &view->users[i], finding));
	return NULL;
}

/* ": 264 MiB of 344 MiB are anonymous memory; pid 308 "collect" has most of it, 250 MiB". */
static struct error *summarize(struct finding *finding, const char *what, uint64_t whole,
			       const struct amount *most, const char *holder)
{
	char has[MEMORY_SIZE_TEXT], of[MEMORY_SIZE_TEXT];
	memory_size_text(most->bytes, has);
	memory_size_text(whole, of);
	return finding_summarize(finding, "%s: %s of %s are %s%s%s", what, has, of, most->name,
				 *holder ? "; " : "", holder);
}

/* For the signature: what there was too much of, and whose that is if that has a name. */
static struct error *set_culprit(struct finding *finding, const char *kind, const char *holder)
{
	char text[384];
	snprintf(text, sizeof(text), "%s%s%s", kind, *holder ? "/" : "", holder);
	for (char *at = text; *at; at++)
		if (*at == ' ' || *at == ',')
			*at = '-';
	finding->culprit = strdup(text);
	return finding->culprit ? NULL : error_no_memory();
}

/* --- who may not have all of it --- */

enum constraint { CONSTRAINT_NONE, CONSTRAINT_CPUSET, CONSTRAINT_POLICY };

/* "1", "0-2,5" of a mask of nodes. */
static struct error *put_nodes(const struct object *mask, char *text, size_t size)
{
	size_t used = 0;
	*text = 0;
	for (unsigned int word = 0; word < NODE_WORDS && used < size; word++) {
		char path[16];
		uint64_t bits;
		snprintf(path, sizeof(path), "bits[%u]", word);
		/* A kernel for few nodes has few words. */
		struct error *error = object_u64(mask, path, &bits);
		if (error)
			return word ? error_only_fatal(error) : error;
		for (unsigned int bit = 0; bit < 64 && used < size; bit++)
			if (bits >> bit & 1)
				used += (size_t)snprintf(text + used, size - used, "%s%u",
							 *text ? "," : "", word * 64 + bit);
	}
	return NULL;
}

/* The nodes that whoever asked may have memory of; "" in `nodes`: all. */
static struct error *find_constraint(const struct analysis *analysis, enum constraint *ret,
				     char *nodes, size_t size)
{
	struct object control, mask;
	uint64_t address, constraint;
	size_t frame = trace_find(&analysis->trace, 0, "out_of_memory");
	*ret = CONSTRAINT_NONE;
	*nodes = 0;
	if (!analysis_argument(analysis, frame, "oc", &address))
		return NULL;
	TRY(object_at(analysis->target, "struct oom_control", address, &control));
	TRY(object_u64(&control, "constraint", &constraint));
	if (constraint == CONSTRAINT_CPUSET) {
		TRY(object_at(analysis->target, "struct task_struct", analysis->task.address,
			      &mask));
		TRY(object_member(&mask, "mems_allowed", &mask));
	} else if (constraint == CONSTRAINT_POLICY) {
		TRY(object_follow(&control, "nodemask", &mask));
	} else {
		return NULL;
	}
	*ret = (enum constraint)constraint;
	return put_nodes(&mask, nodes, size);
}

/* Memory of other nodes is of no use. */
static struct error *say_constraint(const struct memory_question *question, struct finding *finding,
				    enum constraint constraint, const char *nodes)
{
	const struct zones *zones = &question->view.zones;
	char free_size[MEMORY_SIZE_TEXT], size[MEMORY_SIZE_TEXT], who[128];
	char group[256] = "";
	uint64_t free_pages = 0, managed = 0, elsewhere = 0;
	for (size_t i = 0; i < zones->count && question->view.has_zones; i++) {
		bool is_allowed = allocation_has_node(nodes, zones->items[i].node);
		managed += is_allowed ? zones->items[i].managed : 0;
		*(is_allowed ? &free_pages : &elsewhere) += zones->items[i].free;
	}
	if (constraint == CONSTRAINT_CPUSET)
		TRY(error_only_fatal(task_cgroup(question->analysis->target,
						 question->analysis->task.address, group,
						 sizeof(group))));
	finding->culprit = strdup(constraint == CONSTRAINT_CPUSET ? "cpuset" : "memory-policy");
	if (!finding->culprit)
		return error_no_memory();
	analysis_put_task(&question->analysis->task, who, sizeof(who));
	put_pages(question, elsewhere, free_size);
	TRY(finding_add(finding, "zones", "other nodes have %s free", free_size));
	put_pages(question, free_pages, free_size);
	put_pages(question, managed, size);
	return finding_summarize(
		finding,
		"memory ran out on node %s: no other is allowed to %s by its %s%s%s%s; %s of "
		"%s are free there",
		nodes, who, constraint == CONSTRAINT_CPUSET ? "cpuset" : "memory policy",
		*group ? " (cgroup " : "", group, *group ? ")" : "", free_size, size);
}

static struct error *say_all(struct memory_question *question, struct finding *finding)
{
	const struct memory_account *account = &question->view.account;
	struct amount amounts[MEMORY_KINDS + 1], most;
	struct memory_tasks tasks;
	struct memory_holder holder = { .words = "" };
	enum constraint constraint;
	char nodes[256];
	for (unsigned int i = 0; i < MEMORY_KINDS; i++)
		amounts[i] = (struct amount){ memory_kind_name(i),
					      bytes_of(question, account->pages[i]), i };
	amounts[MEMORY_KINDS] = (struct amount){ "in no account",
						 bytes_of(question, account->unaccounted),
						 MEMORY_KINDS };
	TRY(memory_tasks_read(question->analysis->target, 0, &tasks));
	TRY(error_only_fatal(
		find_constraint(question->analysis, &constraint, nodes, sizeof(nodes))));
	TRY(add_zones(question, finding));
	uint64_t whole = bytes_of(question, question->total);
	TRY(add_amounts(finding, "print vm_node_stat", whole, amounts, MEMORY_KINDS + 1));
	most = amounts[0];
	TRY(add_tasks(question, &tasks, false, finding));
	TRY(add_large(question, finding));
	if (constraint != CONSTRAINT_NONE && *nodes)
		return say_constraint(question, finding, constraint, nodes);
	if (most.kind < MEMORY_KINDS)
		TRY(memory_holder_find(question->analysis->target, &question->view, most.kind,
				       &tasks, finding, &holder));
	unsigned int kind = most.kind;
	TRY(memory_holder_prefer_unused(question->analysis->target, &question->view, finding, &kind,
					&holder));
	if (kind != most.kind)
		most = (struct amount){ memory_kind_name(kind),
					bytes_of(question, account->pages[kind]), kind };
	question->told = most.kind;
	TRY(set_culprit(finding, most.name, holder.culprit));
	return summarize(finding, "memory ran out", whole, &most, holder.words);
}

static struct error *say_cgroup(const struct memory_question *question, struct finding *finding,
				const struct memory_cgroup *group)
{
	struct amount amounts[CGROUP_KINDS];
	struct memory_tasks tasks;
	char holder[160] = "";
	char command[64], what[CGROUP_PATH_SIZE + 128];
	char usage[MEMORY_SIZE_TEXT], limit[MEMORY_SIZE_TEXT];
	for (unsigned int i = 0; i < CGROUP_KINDS; i++)
		amounts[i] = (struct amount){ memory_cgroup_kind_name(i), group->kinds[i], i };
	finding->kind = "cgroup-out-of-memory";
	memory_size_text(group->usage, usage);
	memory_size_text(group->limit, limit);
	snprintf(command, sizeof(command), "print *(struct mem_cgroup *)0x%" PRIx64,
		 group->address);
	TRY(finding_add(finding, command,
			"cgroup %s has %s, its limit (memory.max) is %s, which it hit %" PRIu64
			" times",
			group->path, usage, limit, group->failures));
	if (group->has_kinds)
		TRY(add_amounts(finding, command, group->usage, amounts, CGROUP_KINDS));
	TRY(memory_tasks_read(question->analysis->target, group->address, &tasks));
	TRY(add_tasks(question, &tasks, true, finding));
	snprintf(what, sizeof(what), "memory ran out in cgroup %s, whose limit is %s", group->path,
		 limit);
	if (!group->has_kinds)
		return finding_summarize(finding, "%s", what);
	if (amounts[0].kind == CGROUP_ANONYMOUS &&
	    memory_tasks_know_most(&tasks, amounts[0].bytes / question->view.account.page_size))
		snprintf(holder, sizeof(holder), "pid %" PRId32 " \"%s\" has most of it",
			 tasks.items[0].pid, tasks.items[0].comm);
	TRY(set_culprit(finding, amounts[0].name, ""));
	return summarize(finding, what, group->usage, &amounts[0], holder);
}

/* The cgroup that is over its limit; false in `*ret_found`: the whole machine is. */
static struct error *find_cgroup(const struct analysis *analysis, struct memory_cgroup *ret,
				 bool *ret_found)
{
	uint64_t address;
	size_t frame = trace_find(&analysis->trace, 0, "mem_cgroup_out_of_memory");
	*ret_found = false;
	if (!analysis_argument(analysis, frame, "memcg", &address) || !address)
		return NULL;
	struct error *error = memory_cgroup_read(analysis->target, address, ret);
	*ret_found = !error;
	return error_only_fatal(error);
}

static struct error *say_out_of_memory(struct memory_question *question)
{
	struct analysis *analysis = question->analysis;
	struct memory_cgroup group;
	bool is_group;
	TRY(find_cgroup(analysis, &group, &is_group));
	return is_group ? say_cgroup(question, &analysis->findings[0], &group)
			: say_all(question, &analysis->findings[0]);
}

/* --- too much of one thing -------------------------------------------------------------------- */

static struct error *count_task(void *context, const struct task *task)
{
	(void)task;
	++*(uint64_t *)context;
	return NULL;
}

static struct error *count_tasks(const struct memory_question *question, uint64_t *ret)
{
	struct error *problem = NULL;
	*ret = 0;
	struct error *error = task_for_each(question->analysis->target, count_task, ret, &problem);
	error_free(problem);
	return error_only_fatal(error);
}

/*
 * Each inode has one, which goes when the inode does: such a cache counts as one that cannot shrink
 * though inodes can be had back.
 */
static bool is_for_inodes(const struct memory_question *question, const struct slab_usage *usage)
{
	static const char *const names[] = { "lsm_inode_cache", "iint_cache", "fscrypt_inode_info",
					     "fsverity_info" };
	static const char ending[] = "inode_cache";
	const struct memory_view *view = &question->view;
	uint64_t inodes = 0;
	bool is_one_of_them = false;
	for (size_t i = 0; i < ARRAY_COUNT(names); i++)
		is_one_of_them |= !strcmp(usage->cache.name, names[i]);
	for (size_t i = 0; i < view->slabs.count && is_one_of_them; i++) {
		const struct slab_usage *other = &view->slabs.items[i];
		size_t length = strlen(other->cache.name);
		if (other->is_reclaimable && length >= sizeof(ending) - 1 &&
		    !strcmp(other->cache.name + length - (sizeof(ending) - 1), ending))
			inodes += other->active;
	}
	return is_one_of_them && usage->active <= inodes + inodes / 4;
}

static struct error *say_cache(const struct memory_question *question,
			       const struct slab_usage *usage)
{
	char size[MEMORY_SIZE_TEXT], owner[SYMBOL_NAME_SIZE + 96];
	uint64_t tasks;
	TRY(count_tasks(question, &tasks));
	if (usage->active <= tasks * OBJECTS_PER_4_TASKS / 4 || is_for_inodes(question, usage))
		return NULL;
	struct finding *finding =
		analysis_add(question->analysis, "slab-growth", CONFIDENCE_CERTAIN);
	if (!finding)
		return error_no_memory();
	put_pages(question, usage->pages, size);
	TRY(add_cache(question, usage, finding));
	TRY(cache_users_add(question->analysis->target, usage, finding, owner, sizeof(owner)));
	return finding_summarize(
		finding,
		"the slab cache %s%s%s%s has %s, %u %% of the slabs that cannot shrink: %" PRIu64
		" objects",
		usage->cache.name, *owner ? " (" : "", owner, *owner ? ")" : "", size,
		memory_percent(usage->pages, question->view.account.pages[MEMORY_SLAB]),
		usage->active);
}

static struct error *say_caches(const struct memory_question *question)
{
	const struct memory_view *view = &question->view;
	uint64_t all = view->account.pages[MEMORY_SLAB];
	/* Those that can shrink have what nobody else wants. */
	for (size_t i = 0; i < view->slabs.count && view->slabs.knows_reclaimable; i++) {
		const struct slab_usage *usage = &view->slabs.items[i];
		if (!usage->is_reclaimable && memory_percent(usage->pages, all) >= CACHE_PERCENT &&
		    memory_percent(usage->pages, question->total) >= CACHE_OF_ALL_PERCENT)
			TRY(say_cache(question, usage));
	}
	return NULL;
}

/* The stacks of tasks: about as many areas as there are tasks, and about as much memory. */
static struct error *is_for_stacks(const struct memory_question *question,
				   const struct vmalloc_user *user, bool *ret)
{
	uint64_t tasks;
	uint64_t stacks = question->view.account.pages[MEMORY_STACKS];
	TRY(count_tasks(question, &tasks));
	*ret = user->pages <= stacks + stacks / 4 && user->areas >= tasks / 2;
	return NULL;
}

static struct error *say_users(const struct memory_question *question)
{
	const struct memory_view *view = &question->view;
	bool is_stacks;
	char place[SYMBOL_NAME_SIZE + 96], size[MEMORY_SIZE_TEXT];
	for (size_t i = 0; i < view->user_count; i++) {
		const struct vmalloc_user *user = &view->users[i];
		if (memory_percent(user->pages, question->total) < VMALLOC_PERCENT)
			break;
		TRY(is_for_stacks(question, user, &is_stacks));
		if (is_stacks)
			continue;
		struct finding *finding =
			analysis_add(question->analysis, "vmalloc-growth", CONFIDENCE_CERTAIN);
		if (!finding)
			return error_no_memory();
		put_pages(question, user->pages, size);
		if (!target_describe(question->analysis->target, user->caller, place,
				     sizeof(place)))
			snprintf(place, sizeof(place), "0x%" PRIx64, user->caller);
		TRY(finding_summarize(finding, "%s has %s of vmalloc, %u %% of memory", place, size,
				      memory_percent(user->pages, question->total)));
		TRY(add_user(question, user, finding));
	}
	return NULL;
}

static struct error *say_bpf(const struct memory_question *question)
{
	struct bpf_memory memory;
	char size[MEMORY_SIZE_TEXT];
	TRY(error_only_fatal(bpf_memory_read(question->analysis->target, &memory)));
	if (!memory.count || memory_percent(memory.pages, question->total) < VMALLOC_PERCENT)
		return NULL;
	struct finding *finding =
		analysis_add(question->analysis, "bpf-growth", CONFIDENCE_CERTAIN);
	if (!finding)
		return error_no_memory();
	put_pages(question, memory.pages, size);
	TRY(finding_summarize(finding,
			      "BPF maps have %s of vmalloc, %u %% of memory; map %" PRIu32
			      " \"%s\" has most",
			      size, memory_percent(memory.pages, question->total),
			      memory.items[0].map.id, memory.items[0].map.name));
	for (size_t i = 0; i < memory.count; i++) {
		const struct bpf_map *map = &memory.items[i].map;
		char command[64];
		put_pages(question, memory.items[i].pages, size);
		snprintf(command, sizeof(command), "print *(struct bpf_map *)0x%" PRIx64,
			 map->address);
		TRY(finding_add(finding, command,
				"map %" PRIu32 " \"%s\" (%s) of %" PRIu32 " entries has %s",
				map->id, map->name, map->type, map->max_entries, size));
	}
	return NULL;
}

static struct error *say_unaccounted(const struct memory_question *question)
{
	const struct memory_account *account = &question->view.account;
	char size[MEMORY_SIZE_TEXT], sum[MEMORY_SIZE_TEXT], total[MEMORY_SIZE_TEXT];
	if (memory_percent(account->unaccounted, question->total) < UNACCOUNTED_PERCENT)
		return NULL;
	/* There may be an account that is not known here. */
	struct finding *finding =
		analysis_add(question->analysis, "unaccounted-pages", CONFIDENCE_INFERRED);
	if (!finding)
		return error_no_memory();
	put_pages(question, account->unaccounted, size);
	put_pages(question, account->total, total);
	put_pages(question, account->total - account->unaccounted, sum);
	TRY(finding_summarize(finding,
			      "%s of pages, %u %% of memory, are in no account: somebody holds "
			      "them from the page allocator itself",
			      size, memory_percent(account->unaccounted, question->total)));
	return finding_add(finding, "print vm_node_stat",
			   "all accounts together, with what is free, have %s of %s", sum, total);
}

struct error *detect_memory(struct analysis *analysis)
{
	if (analysis->is_asked)
		return NULL;
	struct memory_question *question = calloc(1, sizeof(*question));
	if (!question)
		return error_no_memory();
	question->analysis = analysis;
	question->told = TOLD_NOTHING;
	struct error *error = memory_view_read(analysis->target, &question->view);
	question->total = question->view.account.total;
	bool has_account = question->view.has_account;
	if (!error && has_account && analysis->count &&
	    !strcmp(analysis->findings[0].kind, "out-of-memory"))
		error = say_out_of_memory(question);
	bool is_slab = question->told == MEMORY_SLAB || question->told == MEMORY_RECLAIMABLE;
	if (!error && has_account && !is_slab)
		error = say_caches(question);
	if (!error && has_account)
		error = say_bpf(question);
	if (!error && has_account && question->told != MEMORY_VMALLOC)
		error = say_users(question);
	if (!error && has_account && question->told != MEMORY_KINDS)
		error = say_unaccounted(question);
	memory_view_deinit(&question->view);
	free(question);
	return error;
}
