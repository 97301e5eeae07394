// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Locks that are a part of a filesystem's struct super_block (kernel include/linux/fs.h): it has no
 * slab cache of its own that would say so, but is in a list.
 */
#include "debugger/analysis/waits_private.h"

#include "base/array.h"
#include "debugger/target/list.h"
#include <string.h>

#define BLOCK "struct super_block"
/* For all waiters together: machines with containers have thousands. */
#define BLOCKS_MAX (1u << 20)

static int compare_addresses(const void *a, const void *b)
{
	const uint64_t *one = a, *other = b;
	return *one < *other ? -1 : *one > *other;
}

/* As many as can be read. */
static struct error *load_blocks(struct wait_world *world)
{
	struct list_walk walk;
	struct object block;
	uint64_t head, link, node;
	world->super_blocks_loaded = true;
	if (!symtab_address(world->target->symbols, "super_blocks", &head) ||
	    !wait_offset(world, BLOCK, "s_list", &link))
		return NULL;
	struct error *error = object_at(world->target, BLOCK, 0, &block);
	if (error || !type_size(block.type, &world->super_block_size))
		return error_only_fatal(error);
	list_walk_init(&walk, world->target, head);
	while (world->super_block_count < BLOCKS_MAX) {
		error = list_walk_next(&walk, &node);
		if (error || !node)
			break;
		if (!array_reserve(&world->super_blocks, &world->super_block_capacity,
				   world->super_block_count + 1))
			return error_no_memory();
		world->super_blocks[world->super_block_count++] = node - link;
	}
	array_sort(world->super_blocks, world->super_block_count, sizeof(*world->super_blocks),
		   compare_addresses);
	return error_only_fatal(error);
}

struct error *wait_find_super_block(struct sleeper *sleeper)
{
	struct wait_world *world = sleeper->world;
	struct wait *wait = sleeper->wait;
	if (!wait->object || wait->within)
		return NULL;
	if (!world->super_blocks_loaded)
		TRY(load_blocks(world));
	const uint64_t *blocks = world->super_blocks;
	size_t behind = array_bound(world->super_block_count, i, blocks[i] <= wait->object);
	if (!behind || wait->object - blocks[behind - 1] >= world->super_block_size)
		return NULL;
	wait->within = blocks[behind - 1];
	wait->within_type = BLOCK;
	return NULL;
}
