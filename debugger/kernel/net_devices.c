// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/kernel/net_devices.h"

#include "debugger/kernel/walk.h"
#include <stdio.h>

struct pass {
	struct target *target;
	net_device_visitor *visit;
	struct error *(*broken)(void *context, struct error *problem);
	void *context;
	struct seen seen;	  /* devices: each is in one list */
	uint64_t in_net, in_list; /* offsets: of net.list, of net_device.dev_list */
	struct object net;
};

static struct error *hand_on(void *context, struct error *problem)
{
	struct pass *pass = context;
	return pass->broken(pass->context, problem);
}

static struct error *visit_device(void *context, const struct walk_item *item)
{
	struct pass *pass = context;
	struct object device;
	TRY(object_at(pass->target, "struct net_device", item->address - pass->in_list, &device));
	return pass->visit(pass->context, &pass->net, &device);
}

static struct error *visit_net(void *context, const struct walk_item *item)
{
	struct pass *pass = context;
	const struct walk walk = { .target = pass->target,
				   .visit = visit_device,
				   .broken = hand_on,
				   .context = pass,
				   .seen = &pass->seen,
				   .never_empty = "dev_base_head" };
	struct object devices;
	TRY(object_at(pass->target, "struct net", item->address - pass->in_net, &pass->net));
	TRY(object_member(&pass->net, "dev_base_head", &devices));
	return walk_list(&walk, devices.address, false);
}

struct error *net_devices_for_each(struct target *target, net_device_visitor *visit,
				   struct error *(*broken)(void *context, struct error *problem),
				   void *context)
{
	struct pass pass = {
		.target = target, .visit = visit, .broken = broken, .context = context
	};
	const struct walk walk = { .target = target,
				   .visit = visit_net,
				   .broken = hand_on,
				   .context = &pass,
				   .never_empty = "net_namespace_list" };
	struct object namespaces;
	TRY(object_offset(target, "struct net", "list", &pass.in_net));
	TRY(object_offset(target, "struct net_device", "dev_list", &pass.in_list));
	TRY(object_variable(target, "net_namespace_list", "struct list_head", &namespaces));
	struct error *error = walk_list(&walk, namespaces.address, false);
	seen_deinit(&pass.seen);
	return error;
}

void net_device_driver(const struct object *device, char *ret)
{
	struct symbol symbol;
	uint64_t operations, offset;
	struct error *error = object_u64(device, "netdev_ops", &operations);
	*ret = 0;
	if (!error && target_symbol_at(device->target, operations, &symbol, &offset))
		snprintf(ret, NET_DRIVER_SIZE, "%s", symbol.module ?: "");
	error_free(error);
}
