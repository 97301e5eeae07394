/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Devices by the bus or the class that they are of (kernel drivers/base/{bus,class}.c). */
#ifndef DEBUGGER_KERNEL_DEVICE_SETS_H
#define DEBUGGER_KERNEL_DEVICE_SETS_H

#include "debugger/target/object.h"

struct device_visitor {
	/* A struct device; `set`: the struct subsys_private of its bus or class. */
	struct error *(*visit)(void *context, const struct object *set,
			       const struct object *device);
	/* Something is broken here; takes `problem`. */
	struct error *(*broken)(void *context, struct error *problem);
	void *context;
};

/* Of all buses. Errors: of `visit` and `broken`, and what is missing. */
struct error *bus_devices_for_each(struct target *target,
				   const struct device_visitor *visitor) MUST_CHECK;
/* Of the class at an address. */
struct error *class_devices_for_each(struct target *target, uint64_t class,
				     const struct device_visitor *visitor) MUST_CHECK;

#endif
