/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Network devices of all namespaces (kernel include/linux/netdevice.h,
 * include/net/net_namespace.h). */
#ifndef DEBUGGER_KERNEL_NET_DEVICES_H
#define DEBUGGER_KERNEL_NET_DEVICES_H

#include "debugger/target/object.h"

/* A struct net, and a struct net_device of it. */
typedef struct error *net_device_visitor(void *context, const struct object *net,
					 const struct object *device);
/*
 * `broken` takes what cannot be read, as that of struct walk: also a device that is in the lists of
 * two namespaces. Errors: what is needed and missing, and those of `visit` and `broken`.
 */
struct error *net_devices_for_each(struct target *target, net_device_visitor *visit,
				   struct error *(*broken)(void *context, struct error *problem),
				   void *context) MUST_CHECK;

#define NET_DRIVER_SIZE 64
/* The module that has the functions of a struct net_device; "": the kernel itself, or not known. */
void net_device_driver(const struct object *device, char *ret);

#endif
