// SPDX-License-Identifier: GPL-3.0-or-later
/* Control groups of all hierarchies, as cgroupfs has them. */
#include "debugger/kernel/cgroup.h"

#include "base/array.h"
#include "base/strbuf.h"
#include "debugger/kernel/memory_cgroup.h"
#include "debugger/kernel/memory_cgroup_map.h"
#include "debugger/tables/walks.h"
#include <inttypes.h>
#include <stdio.h>

enum {
	COLUMN_CGROUP,
	COLUMN_HIERARCHY,
	COLUMN_NAME,
	COLUMN_CONTROLLERS,
	COLUMN_LEVEL,
	COLUMN_TASKS,
	COLUMN_FROZEN,
	COLUMN_DYING,
	COLUMN_MEMCG,
	COLUMN_MEMORY,
	COLUMN_MEMORY_HIGH,
	COLUMN_MEMORY_MAX,
	COLUMN_FAILURES,
	COLUMN_PIDS,
	COLUMN_PIDS_MAX,
	COLUMN_PATH,
};

static const struct table_column columns[] = {
	[COLUMN_CGROUP] = { "cgroup", COLUMN_ADDRESS, 16, "its struct cgroup", "struct cgroup" },
	[COLUMN_HIERARCHY] = { "hierarchy", COLUMN_INTEGER, 9,
			       "its number, as in /proc/PID/cgroup; 0: the unified one", NULL },
	[COLUMN_NAME] = { "name", COLUMN_TEXT, 0, "of an old hierarchy that has one", NULL },
	[COLUMN_CONTROLLERS] = { "controllers", COLUMN_TEXT, 0, "that it has, commas between",
				 NULL },
	[COLUMN_LEVEL] = { "level", COLUMN_INTEGER, 0, "how deep it lies; 0: the root", NULL },
	[COLUMN_TASKS] = { "tasks", COLUMN_INTEGER, 6, "threads in it, without those below", NULL },
	[COLUMN_FROZEN] = { "frozen", COLUMN_INTEGER, 0, "1: it is to be frozen", NULL },
	[COLUMN_DYING] = { "dying", COLUMN_INTEGER, 5,
			   "1: it was removed, and is there for what still belongs to it", NULL },
	[COLUMN_MEMCG] = { "memcg", COLUMN_ADDRESS, 0, "its struct mem_cgroup",
			   "struct mem_cgroup" },
	[COLUMN_MEMORY] = { "memory", COLUMN_BYTES, 6, "in use, with all below; not of roots",
			    NULL },
	[COLUMN_MEMORY_HIGH] = { "high", COLUMN_BYTES, 6, "from where on it is slowed down", NULL },
	[COLUMN_MEMORY_MAX] = { "max", COLUMN_BYTES, 6, "memory's limit; none: there is no", NULL },
	[COLUMN_FAILURES] = { "failcnt", COLUMN_WIDE, 0, "how often the limit was hit", NULL },
	[COLUMN_PIDS] = { "pids", COLUMN_INTEGER, 6, "threads, with all below; not of roots",
			  NULL },
	[COLUMN_PIDS_MAX] = { "pids_max", COLUMN_INTEGER, 8, "their limit; none: there is no",
			      NULL },
	[COLUMN_PATH] = { "path", COLUMN_TEXT, -24, "in its hierarchy", NULL },
};

/* PIDS_MAX of kernel/cgroup/pids.c: one more than numbers there can be. */
#define PIDS_LIMIT	(UINT64_C(1) << 22)
#define CONTROLLERS_MAX 64
/* CGROUP_FREEZING_SELF and _PARENT of kernel/cgroup/legacy_freezer.c. */
#define FREEZING  6u
#define DEPTH_MAX 256

struct pass {
	struct table_scan *scan;
	struct object root;
	unsigned int depth;
	uint64_t count;			/* of cgroups that were visited */
	uint64_t memory, pids, freezer; /* numbers of these controllers */
	uint64_t online;		/* the flag of a state */
	bool has_memory, has_pids, has_freezer, has_online;
	struct memory_cgroup_map removed; /* of the hierarchy; empty: nobody asked yet */
};

static bool is_root(const struct object *cgroup)
{
	uint64_t level;
	struct error *error = object_u64(cgroup, "level", &level);
	error_free(error);
	return !error && !level;
}

/* The struct of a controller, of which a cgroup_subsys_state is the first member; 0: none. */
static struct error *controller(const struct object *cgroup, uint64_t number, uint64_t *ret)
{
	char path[32];
	snprintf(path, sizeof(path), "subsys[%" PRIu64 "]", number);
	return object_u64(cgroup, path, ret);
}

static struct error *set_limit(struct table_scan *scan, unsigned int column,
			       const struct object *object, const char *path)
{
	uint64_t pages, page_size = scan->target->facts->page_size;
	TRY(object_u64(object, path, &pages));
	/* PAGE_COUNTER_MAX stands for none. */
	if (pages < INT64_MAX / page_size)
		table_set(scan, column, pages * page_size);
	return NULL;
}

static struct error *is_removed(const struct pass *pass, const struct object *cgroup, bool *ret)
{
	uint64_t flags;
	TRY(object_u64(cgroup, "self.flags", &flags));
	/* As the kernel's own cgroup_is_dead() says. */
	*ret = pass->has_online && !(flags & pass->online);
	return NULL;
}

/* Of one that was removed, what is still charged to it. */
static struct error *memory_state(struct pass *pass, const struct object *cgroup, uint64_t *ret)
{
	struct object root;
	uint64_t state;
	bool removed;
	TRY(controller(cgroup, pass->memory, ret));
	TRY(is_removed(pass, cgroup, &removed));
	if (*ret || !removed)
		return NULL;
	if (!pass->removed.count) {
		TRY(object_member(&pass->root, "cgrp", &root));
		TRY(controller(&root, pass->memory, &state));
		if (state)
			TRY(memory_cgroup_map_load(pass->scan->target, state, &pass->removed));
	}
	*ret = memory_cgroup_map_find(&pass->removed, cgroup->address);
	return NULL;
}

static struct error *set_memory(struct pass *pass, const struct object *cgroup)
{
	struct table_scan *scan = pass->scan;
	struct object memory;
	uint64_t address, pages, failures;
	if (!pass->has_memory)
		return NULL;
	TRY(memory_state(pass, cgroup, &address));
	if (!address)
		return NULL;
	TRY(object_container(scan->target, "struct mem_cgroup", "css", address, &memory));
	table_set(scan, COLUMN_MEMCG, memory.address);
	/* Nothing is counted for it. */
	if (is_root(cgroup))
		return NULL;
	TRY(object_u64(&memory, "memory.usage.counter", &pages));
	table_set_pages(scan, COLUMN_MEMORY, pages);
	TRY(set_limit(scan, COLUMN_MEMORY_HIGH, &memory, "memory.high"));
	TRY(set_limit(scan, COLUMN_MEMORY_MAX, &memory, "memory.max"));
	struct error *error = memory_cgroup_failures(scan->target, &memory, &failures);
	if (!error)
		table_set(scan, COLUMN_FAILURES, failures);
	return table_set_error(scan, COLUMN_FAILURES, error);
}

static struct error *set_pids(const struct pass *pass, const struct object *cgroup)
{
	struct table_scan *scan = pass->scan;
	struct object pids;
	uint64_t address, limit;
	if (!pass->has_pids || is_root(cgroup))
		return NULL;
	TRY(controller(cgroup, pass->pids, &address));
	if (!address)
		return NULL;
	TRY(object_container(scan->target, "struct pids_cgroup", "css", address, &pids));
	TRY(object_u64(&pids, "limit.counter", &limit));
	if (limit <= PIDS_LIMIT)
		table_set(scan, COLUMN_PIDS_MAX, limit);
	return table_set_member(scan, COLUMN_PIDS, &pids, "counter.counter");
}

/* Those whose structs are there, by the names of their numbers. */
static struct error *set_controllers(struct table_scan *scan, const struct object *cgroup)
{
	static const char ending[] = "_cgrp_id";
	struct strbuf text = { 0 };
	struct type type;
	struct btf_type record;
	struct btf_enumerator one;
	if (!table_wants(scan, COLUMN_CONTROLLERS))
		return NULL;
	TRY(target_find_type(scan->target, NULL, "enum cgroup_subsys_id", &type));
	if (!btf_get(type.btf, type.id, &record))
		return NULL;
	for (uint32_t i = 0; i < CONTROLLERS_MAX && btf_enumerator(&record, i, &one); i++) {
		size_t length = strlen(one.name), end = sizeof(ending) - 1;
		uint64_t address = 0;
		if (length <= end || strcmp(one.name + length - end, ending))
			continue;
		struct error *error = controller(cgroup, (uint64_t)one.value, &address);
		if (error) {
			strbuf_deinit(&text);
			return error;
		}
		if (address && text.size)
			strbuf_char(&text, ',');
		if (address)
			strbuf_bytes(&text, one.name, length - end);
	}
	strbuf_bytes(&text, "", 1);
	if (!text.failed)
		table_set_text(scan, COLUMN_CONTROLLERS, text.data);
	strbuf_deinit(&text);
	return NULL;
}

/* --- tasks: those of the sets of cgroups that this one is in ---------------------------------- */

static struct error *add_set(struct table_scan *scan, const struct object *link, void *context)
{
	uint64_t *sum = context, count;
	struct object set;
	(void)scan;
	TRY(object_follow(link, "cset", &set));
	TRY(object_u64(&set, "nr_tasks", &count));
	*sum += (uint32_t)count;
	return NULL;
}

static struct error *set_tasks(struct table_scan *scan, const struct object *cgroup)
{
	uint64_t count = 0;
	struct object links;
	const struct table_walk walk = { CONTAINER_LIST, "struct cgrp_cset_link", "cset_link",
					 add_set, &count };
	if (!table_wants(scan, COLUMN_TASKS))
		return NULL;
	TRY(object_member(cgroup, "cset_links", &links));
	TRY(table_walk(scan, links.address, &walk));
	table_set(scan, COLUMN_TASKS, count);
	return NULL;
}

/* --- state ------------------------------------------------------------------------------------ */

/* Of the unified hierarchy it is in the cgroup itself, of an old one in the struct of "freezer". */
static struct error *set_frozen(const struct pass *pass, const struct object *cgroup)
{
	struct table_scan *scan = pass->scan;
	struct object freezer;
	uint64_t hierarchy, address = 0, state;
	if (!table_wants(scan, COLUMN_FROZEN))
		return NULL;
	TRY(object_u64(&pass->root, "hierarchy_id", &hierarchy));
	if (!hierarchy)
		return table_set_member(scan, COLUMN_FROZEN, cgroup, "freezer.freeze");
	if (pass->has_freezer)
		TRY(controller(cgroup, pass->freezer, &address));
	if (!address)
		return NULL;
	TRY(object_container(scan->target, "struct freezer", "css", address, &freezer));
	TRY(object_u64(&freezer, "state", &state));
	table_set(scan, COLUMN_FROZEN, (state & FREEZING) != 0);
	return NULL;
}

static struct error *set_dying(const struct pass *pass, const struct object *cgroup)
{
	bool removed;
	if (!pass->has_online)
		return NULL;
	TRY(is_removed(pass, cgroup, &removed));
	table_set(pass->scan, COLUMN_DYING, removed);
	return NULL;
}

/* --- rows --------------------------------------------------------------------------------------
 */

static struct error *emit(struct pass *pass, const struct object *cgroup)
{
	struct table_scan *scan = pass->scan;
	char path[CGROUP_PATH_SIZE];
	table_set(scan, COLUMN_CGROUP, cgroup->address);
	TRY(table_set_member(scan, COLUMN_HIERARCHY, &pass->root, "hierarchy_id"));
	TRY(table_set_chars(scan, COLUMN_NAME, &pass->root, "name"));
	TRY(table_set_member(scan, COLUMN_LEVEL, cgroup, "level"));
	TRY(table_set_error(scan, COLUMN_FROZEN, set_frozen(pass, cgroup)));
	TRY(table_set_error(scan, COLUMN_DYING, set_dying(pass, cgroup)));
	TRY(table_set_error(scan, COLUMN_CONTROLLERS, set_controllers(scan, cgroup)));
	TRY(table_set_error(scan, COLUMN_TASKS, set_tasks(scan, cgroup)));
	TRY(table_set_error(scan, COLUMN_MEMORY, set_memory(pass, cgroup)));
	TRY(table_set_error(scan, COLUMN_PIDS, set_pids(pass, cgroup)));
	struct error *error = cgroup_path(scan->target, cgroup->address, path, sizeof(path));
	if (error)
		TRY(table_set_error(scan, COLUMN_PATH, error));
	else
		table_set_text(scan, COLUMN_PATH, path);
	return table_emit(scan);
}

static struct error *visit_cgroup(struct pass *pass, const struct object *cgroup);

static struct error *visit_child(struct table_scan *scan, const struct object *state, void *context)
{
	struct pass *pass = context;
	struct object cgroup;
	TRY(object_container(scan->target, "struct cgroup", "self", state->address, &cgroup));
	return visit_cgroup(pass, &cgroup);
}

static struct error *visit_cgroup(struct pass *pass, const struct object *cgroup)
{
	const struct table_walk walk = { CONTAINER_LIST, "struct cgroup_subsys_state", "sibling",
					 visit_child, pass };
	struct object children;
	TRY(emit(pass, cgroup));
	uint64_t first = ++pass->count;
	if (pass->depth == DEPTH_MAX)
		return table_broken(pass->scan,
				    error_create(ERROR_FORMAT, "cgroups lie more than %d deep",
						 DEPTH_MAX));
	struct error *error = object_member(cgroup, "self.children", &children);
	if (error)
		return table_broken(pass->scan, error);
	pass->depth++;
	error = table_walk(pass->scan, children.address, &walk);
	pass->depth--;
	return error ? error
		     : table_check_count(pass->scan, cgroup, "nr_descendants", pass->count - first);
}

static struct error *visit_root(struct table_scan *scan, const struct object *root, void *context)
{
	struct pass *pass = context;
	struct object cgroup;
	(void)scan;
	pass->root = *root;
	memory_cgroup_map_deinit(pass->scan->target, &pass->removed);
	TRY(object_member(root, "cgrp", &cgroup));
	return visit_cgroup(pass, &cgroup);
}

static struct error *visit(struct table_scan *scan)
{
	struct pass pass = { .scan = scan };
	const struct table_walk walk = { CONTAINER_LIST, "struct cgroup_root", "root_list",
					 visit_root, &pass };
	pass.has_memory =
		table_enumerator(scan, "enum cgroup_subsys_id", "memory_cgrp_id", &pass.memory);
	pass.has_pids = table_enumerator(scan, "enum cgroup_subsys_id", "pids_cgrp_id", &pass.pids);
	pass.has_freezer =
		table_enumerator(scan, "enum cgroup_subsys_id", "freezer_cgrp_id", &pass.freezer);
	struct btf_enumerator online;
	uint32_t id;
	pass.has_online = btf_find_enumerator(scan->target->btf, "CSS_ONLINE", &id, &online);
	pass.online = pass.has_online ? (uint64_t)online.value : 0;
	struct error *error = table_walk_variable(scan, "cgroup_roots", "struct list_head", &walk);
	memory_cgroup_map_deinit(scan->target, &pass.removed);
	return error;
}

static const char *const examples[] = { "cgroups", "cgroups --sort -memory -n 5 -o memory,max,path",
					"cgroups --where 'memory > max * 0.9'", NULL };

const struct table table_cgroups = {
	.name = "cgroups",
	.summary = "control groups, with limits and use",
	.description = "A row is a struct cgroup, of the unified hierarchy and of old ones. What "
		       "is in use is counted with all groups below it.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit = visit,
	.item = COLUMN_CGROUP,
	.is_object = true,
};
