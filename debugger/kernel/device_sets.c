// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/kernel/device_sets.h"

#include "debugger/kernel/walk.h"

struct pass {
	struct target *target;
	const struct device_visitor *visitor;
	struct object set;
	uint64_t class; /* 0: buses are visited */
	uint64_t in_kset, in_set, in_list;
	struct seen seen; /* nodes of devices: each is in one list */
};

static struct error *broken(void *context, struct error *problem)
{
	const struct pass *pass = context;
	return pass->visitor->broken(pass->visitor->context, problem);
}

static struct error *visit_device(void *context, const struct walk_item *item)
{
	const struct pass *pass = context;
	struct object private, device;
	TRY(object_at(pass->target, "struct device_private", item->address - pass->in_list,
		      &private));
	struct error *error = object_follow(&private, "device", &device);
	if (error)
		return error_is_fatal(error) ? error : broken(context, error);
	return device.address ? pass->visitor->visit(pass->visitor->context, &pass->set, &device)
			      : NULL;
}

/* Of classes, only the one that is wanted. */
static struct error *is_wanted(const struct pass *pass, bool *ret)
{
	uint64_t class = 0;
	if (pass->class)
		TRY(object_u64(&pass->set, "class", &class));
	*ret = class == pass->class;
	return NULL;
}

static struct error *visit_set(void *context, const struct walk_item *item)
{
	struct pass *pass = context;
	const struct walk walk = { .target = pass->target,
				   .visit = visit_device,
				   .broken = broken,
				   .context = pass,
				   .seen = &pass->seen };
	struct object devices;
	bool wanted = false;
	TRY(object_at(pass->target, "struct subsys_private",
		      item->address - pass->in_kset - pass->in_set, &pass->set));
	struct error *error = is_wanted(pass, &wanted);
	if (error)
		return error_is_fatal(error) ? error : broken(context, error);
	if (!wanted)
		return NULL;
	TRY(object_member(&pass->set, "klist_devices.k_list", &devices));
	return walk_list(&walk, devices.address, false);
}

/* A kset has what is in it by their struct kobject. */
static struct error *visit_sets(struct pass *pass, const char *kset, const char *member)
{
	const struct walk walk = { .target = pass->target,
				   .visit = visit_set,
				   .broken = broken,
				   .context = pass,
				   .never_empty = kset };
	struct object pointer, list;
	uint64_t address;
	TRY(object_offset(pass->target, "struct kobject", "entry", &pass->in_kset));
	TRY(object_offset(pass->target, "struct subsys_private", "subsys.kobj", &pass->in_set));
	TRY(object_offset(pass->target, "struct device_private", member, &pass->in_list));
	TRY(object_variable(pass->target, kset, "unsigned long", &pointer));
	TRY(object_u64(&pointer, NULL, &address));
	TRY(object_at(pass->target, "struct kset", address, &list));
	TRY(object_member(&list, "list", &list));
	return address ? walk_list(&walk, list.address, false) : walk_ended(&walk, false);
}

struct error *bus_devices_for_each(struct target *target, const struct device_visitor *visitor)
{
	struct pass pass = { .target = target, .visitor = visitor };
	struct error *error = visit_sets(&pass, "bus_kset", "knode_bus.n_node");
	seen_deinit(&pass.seen);
	return error;
}

struct error *class_devices_for_each(struct target *target, uint64_t class,
				     const struct device_visitor *visitor)
{
	struct pass pass = { .target = target, .visitor = visitor, .class = class };
	struct error *error = visit_sets(&pass, "class_kset", "knode_class.n_node");
	seen_deinit(&pass.seen);
	return error;
}
