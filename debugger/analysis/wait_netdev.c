// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Who takes a network device away waits until nobody has a reference to it (kernel net/core/dev.c,
 * netdev_wait_allrefs_any()), and asks again and again.
 */
#include "debugger/analysis/waits_private.h"
#include "debugger/kernel/net_devices.h"

#include <inttypes.h>

#define DEVICE "struct net_device"

#define FRAME_BYTES 1024u /* of netdev_run_todo()'s that are looked at */

static bool is_leaving(const struct wait_world *world, uint64_t device)
{
	struct btf_enumerator state;
	uint32_t id;
	uint64_t value;
	return btf_find_enumerator(world->target->btf, "NETREG_UNREGISTERED", &id, &state) &&
	       wait_read(world, DEVICE, device, "reg_state", &value) &&
	       value == (uint64_t)state.value;
}

/* The first of the list whose head is at `head`, which it points back at. */
static bool find_listed(const struct wait_world *world, uint64_t head, uint64_t *ret)
{
	const char *type = "struct list_head";
	uint64_t first, back, offset;
	if (!wait_offset(world, DEVICE, "todo_list", &offset) ||
	    !wait_read(world, type, head, "next", &first) || first == head ||
	    !is_kernel_pointer(first) || !wait_read(world, type, first, "prev", &back) ||
	    back != head)
		return false;
	*ret = first - offset;
	return is_leaving(world, *ret);
}

/* Up to 5.17 the device is the argument; then it is on a list, whose head is on the stack. */
static bool find_device(struct sleeper *sleeper, size_t frame, uint64_t *ret)
{
	const struct wait_world *world = sleeper->world;
	const struct stack_trace *trace = sleeper->trace;
	if (wait_argument(sleeper, frame, frame + 1, DEVICE " *", ret))
		return true;
	if (frame + 1 == trace->count)
		return false;
	uint64_t start = trace->frames[frame].sp, end = trace->frames[frame + 1].sp;
	for (uint64_t at = start; at < end && at - start < FRAME_BYTES; at += 8)
		if (wait_is_on_stack(world, sleeper->task, at) && find_listed(world, at, ret))
			return true;
	return false;
}

/* Of each CPU a part; `*ret`: as the kernel's log counts them. */
static bool count_references(const struct wait_world *world, uint64_t device, uint64_t *ret)
{
	uint64_t parts;
	const struct cpu *cpus;
	size_t count = target_cpus(world->target, &cpus);
	uint32_t sum = 0;
	if (!wait_read(world, DEVICE, device, "pcpu_refcnt", &parts))
		return wait_read(world, DEVICE, device, "dev_refcnt.refs.counter", ret);
	for (size_t i = 0; i < count; i++) {
		uint64_t part;
		struct error *error = memory_read_unsigned(
			world->target->memory, parts + cpus[i].per_cpu_offset, 4, &part);
		error_free(error);
		if (error)
			return false;
		sum += (uint32_t)part;
	}
	*ret = sum;
	return count;
}

struct error *wait_find_netdev(struct sleeper *sleeper)
{
	struct wait *wait = sleeper->wait;
	const struct stack_trace *trace = sleeper->trace;
	uint64_t device;
	for (size_t i = sleeper->frame; i < trace->count && i < sleeper->frame + 3; i++) {
		if ((!wait_frame_is(&trace->frames[i], "netdev_wait_allrefs") &&
		     !wait_frame_is(&trace->frames[i], "netdev_run_todo")) ||
		    !find_device(sleeper, i, &device))
			continue;
		wait->kind = "network device";
		wait->type = wait->within_type = DEVICE;
		wait->object = wait->within = device;
		wait->how = "list";
		wait->sure = CONFIDENCE_CERTAIN;
		wait->owner_how = "who has references to it, the kernel does not note";
		return NULL;
	}
	return NULL;
}

void wait_put_netdev(struct target *target, uint64_t address, struct strbuf *ret)
{
	const struct wait_world world = { .target = target };
	struct object device;
	char name[64], driver[NET_DRIVER_SIZE];
	uint64_t references;
	struct error *error = object_at(target, DEVICE, address, &device);
	error = error ?: object_string(&device, "name", name, sizeof(name));
	error_free(error);
	if (error)
		return;
	strbuf_put(ret, name);
	net_device_driver(&device, driver);
	if (*driver)
		strbuf_format(ret, " [%s]", driver);
	if (count_references(&world, address, &references))
		strbuf_format(ret, ", usage count %" PRIu64, references);
}
