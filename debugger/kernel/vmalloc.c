// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/kernel/vmalloc.h"

#include "debugger/kernel/walk.h"
#include "debugger/target/object.h"

#define VMAP_NODES_MAX 4096

struct areas {
	struct target *target;
	vmalloc_visitor *visit;
	void *context;
	uint64_t *lost;
};

/* False in `*ret_used`: vmap_ram and the like have no vm_struct. */
static struct error *read_area(struct target *target, uint64_t node, struct vmalloc_area *ret,
			       bool *ret_used)
{
	struct object area, vm;
	uint64_t address;
	TRY(object_container(target, "struct vmap_area", "rb_node", node, &area));
	TRY(object_u64(&area, "vm", &address));
	*ret_used = address;
	if (!address)
		return NULL;
	TRY(object_at(target, "struct vm_struct", address, &vm));
	TRY(object_u64(&area, "va_start", &ret->start));
	TRY(object_u64(&vm, "size", &ret->size));
	TRY(object_u64(&vm, "flags", &ret->flags));
	TRY(object_u64(&vm, "nr_pages", &ret->pages));
	if (ret->pages > ret->size / target->facts->page_size)
		return error_create(ERROR_FORMAT, "an area has more pages than room");
	return object_u64(&vm, "caller", &ret->caller);
}

static struct error *visit_node(void *context, const struct walk_item *item)
{
	struct areas *areas = context;
	struct vmalloc_area area;
	bool used = false;
	struct error *error = read_area(areas->target, item->address, &area, &used);
	if (error)
		++*areas->lost;
	else if (used)
		return areas->visit(areas->context, &area);
	return error_only_fatal(error);
}

static struct error *count_break(void *context, struct error *problem)
{
	struct areas *areas = context;
	++*areas->lost;
	return error_only_fatal(problem);
}

/* Since 6.9 (d093602919ad) there are several trees. */
static struct error *visit_trees(const struct walk *walk, struct target *target)
{
	struct object count, table, node, root;
	uint64_t nodes, first, size;
	TRY(object_variable(target, "nr_vmap_nodes", "unsigned int", &count));
	TRY(object_u64(&count, NULL, &nodes));
	TRY(object_variable(target, "vmap_nodes", "unsigned long", &table));
	TRY(object_u64(&table, NULL, &first));
	TRY(object_at(target, "struct vmap_node", 0, &node));
	if (!type_size(node.type, &size) || nodes > VMAP_NODES_MAX)
		return error_create(ERROR_FORMAT, "the trees of vmalloc are not sane");
	for (uint64_t i = 0; i < nodes; i++) {
		node.address = first + i * size;
		TRY(object_member(&node, "busy.root", &root));
		TRY(walk_rbtree(walk, root.address));
	}
	return NULL;
}

struct error *vmalloc_for_each(struct target *target, vmalloc_visitor *visit, void *context,
			       uint64_t *ret_lost)
{
	struct areas areas = { target, visit, context, ret_lost };
	struct walk walk = {
		.target = target, .visit = visit_node, .broken = count_break, .context = &areas
	};
	struct object root;
	*ret_lost = 0;
	struct error *error = object_variable(target, "vmap_area_root", "struct rb_root", &root);
	if (!error)
		return walk_rbtree(&walk, root.address);
	if (error->kind != ERROR_NOT_FOUND)
		return error;
	error_free(error);
	struct seen seen = { .pages = { .entries = NULL } };
	walk.seen = &seen;
	error = visit_trees(&walk, target);
	seen_deinit(&seen);
	return error;
}
