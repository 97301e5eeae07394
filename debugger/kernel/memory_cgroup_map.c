// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/kernel/memory_cgroup_map.h"

#include "base/array.h"
#include "base/interrupt.h"
#include "debugger/target/list.h"
#include "debugger/target/object.h"

#define STATE "struct cgroup_subsys_state"
/* MEM_CGROUP_ID_MAX of include/linux/memcontrol.h: those that were removed keep their numbers. */
#define GROUPS_MAX 65536u

static int compare_pairs(const void *a, const void *b)
{
	const struct memory_cgroup_pair *one = a, *other = b;
	return one->cgroup < other->cgroup ? -1 : one->cgroup > other->cgroup;
}

static struct error *add(struct target *target, uint64_t address, struct memory_cgroup_map *map)
{
	struct object state;
	struct memory_cgroup_pair pair = { .state = address };
	if (map->count == GROUPS_MAX)
		return error_create(ERROR_FORMAT, "there are more memory cgroups than %u",
				    GROUPS_MAX);
	TRY(object_at(target, STATE, address, &state));
	TRY(object_u64(&state, "cgroup", &pair.cgroup));
	TRY(budget_reserve(&target->kept, &map->items, &map->capacity, map->count + 1));
	map->items[map->count++] = pair;
	return NULL;
}

static struct error *add_children(struct target *target, uint64_t address,
				  struct memory_cgroup_map *map)
{
	struct list_walk walk;
	struct object state, children, child, link;
	uint64_t node;
	TRY(object_at(target, STATE, address, &state));
	TRY(object_member(&state, "children", &children));
	TRY(object_at(target, STATE, 0, &child));
	TRY(object_member(&child, "sibling", &link));
	list_walk_init(&walk, target, children.address);
	for (;;) {
		TRY(list_walk_next(&walk, &node));
		if (!node)
			return NULL;
		TRY(add(target, node - link.address, map));
	}
}

struct error *memory_cgroup_map_load(struct target *target, uint64_t root,
				     struct memory_cgroup_map *ret)
{
	struct error *error = error_only_fatal(add(target, root, ret));
	/* Each is looked at after the one above, which added it. */
	for (size_t i = 0; i < ret->count && !error; i++) {
		error = interrupt_check();
		if (error)
			break;
		error = add_children(target, ret->items[i].state, ret);
		if (error && ret->count < GROUPS_MAX)
			error = error_only_fatal(error);
	}
	array_sort(ret->items, ret->count, sizeof(*ret->items), compare_pairs);
	return error;
}

uint64_t memory_cgroup_map_find(const struct memory_cgroup_map *map, uint64_t cgroup)
{
	const struct memory_cgroup_pair key = { .cgroup = cgroup };
	const struct memory_cgroup_pair *found =
		array_search(&key, map->items, map->count, sizeof(*map->items), compare_pairs);
	return found ? found->state : 0;
}

void memory_cgroup_map_deinit(struct target *target, struct memory_cgroup_map *map)
{
	budget_release(&target->kept, map->items, map->capacity);
	*map = (struct memory_cgroup_map){ 0 };
}
