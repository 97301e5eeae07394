// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Network devices whose drivers stopped a transmit queue for too long: what is sent stays in the
 * kernel, and a device without a function for that has no watchdog that says so.
 */
#include "debugger/analysis/analysis.h"
#include "debugger/analysis/cpu_view.h"
#include "debugger/kernel/clock.h"
#include "debugger/kernel/net_devices.h"
#include <inttypes.h>
#include <stdio.h>

#define NS_PER_S      1e9
#define STOPPED_NS    5000000000u /* as long as the kernel's own watchdog waits by default */
#define QUEUES_MAX    65536u	  /* that are looked at, of all devices */
#define DEVICES_SHOWN 8
#define NAME	      32
#define FLAG_UP	      1u /* IFF_UP */

struct stopped {
	struct analysis *analysis;
	uint64_t now;		/* ns since the start */
	uint64_t jiffies, tick; /* ns of one */
	uint64_t state_stopped, state_started, state_no_carrier;
	uint64_t queues_left, shown;
	struct error *problem; /* the first one; NULL */
	struct object oldest;  /* of one device: its queue that was stopped for longest */
	uint64_t number, count, age;
};

/* What cannot be read may be stopped, too: the first of these is handed on in the end. */
static struct error *broken(void *context, struct error *problem)
{
	struct stopped *stopped = context;
	if (error_is_fatal(problem))
		return problem;
	if (stopped->problem)
		error_free(problem);
	else
		stopped->problem = problem;
	return NULL;
}

/* A bit's number, as an enumerator has it. */
static struct error *read_bit(const struct target *target, const char *name, uint64_t *ret)
{
	struct btf_enumerator enumerator;
	uint32_t id;
	if (!target->btf || !btf_find_enumerator(target->btf, name, &id, &enumerator))
		return error_create(ERROR_NOT_FOUND, "no enumerator %s in BTF", name);
	*ret = (uint64_t)1 << ((uint64_t)enumerator.value & 63);
	return NULL;
}

/* Of a device that is up and has a link, which is what sends. */
static struct error *is_sending(const struct stopped *stopped, const struct object *device,
				bool *ret)
{
	uint64_t flags, state;
	TRY(object_u64(device, "flags", &flags));
	TRY(object_u64(device, "state", &state));
	*ret = flags & FLAG_UP && state & stopped->state_started &&
	       !(state & stopped->state_no_carrier);
	return NULL;
}

static struct error *look_at_queue(struct stopped *stopped, const struct object *queue,
				   uint64_t number)
{
	uint64_t state, sent;
	TRY(object_u64(queue, "state", &state));
	TRY(object_u64(queue, "trans_start", &sent));
	uint64_t age = (stopped->jiffies - sent) * stopped->tick;
	/* One that never sent has a time of before the start. */
	if (!(state & stopped->state_stopped) || sent > stopped->jiffies || age < STOPPED_NS ||
	    age > stopped->now)
		return NULL;
	if (!stopped->count++ || age > stopped->age) {
		stopped->oldest = *queue;
		stopped->number = number;
		stopped->age = age;
	}
	return NULL;
}

/* Up to what the queue's discipline counts: some of them count on each CPU. */
static struct error *put_waiting(const struct object *queue, char *buffer, size_t size)
{
	struct object discipline;
	uint64_t length;
	*buffer = 0;
	TRY(object_follow(queue, "qdisc", &discipline));
	TRY(object_u64(&discipline, "q.qlen", &length));
	if (length)
		snprintf(buffer, size, ", and %" PRIu64 " packet%s wait%s", length,
			 length == 1 ? "" : "s", length == 1 ? "s" : "");
	return NULL;
}

static struct error *say_device(struct stopped *stopped, const struct object *device)
{
	char name[NAME], driver[NET_DRIVER_SIZE], waiting[64], command[80], others[48] = "";
	struct finding *finding =
		analysis_add(stopped->analysis, "transmit-stopped", CONFIDENCE_CERTAIN);
	if (!finding)
		return error_no_memory();
	finding->task = 0;
	TRY(object_string(device, "name", name, sizeof(name)));
	net_device_driver(device, driver);
	TRY(error_only_fatal(put_waiting(&stopped->oldest, waiting, sizeof(waiting))));
	if (stopped->count > 1)
		snprintf(others, sizeof(others), ", and %" PRIu64 " more", stopped->count - 1);
	TRY(finding_summarize(finding,
			      "network device %s%s%s%s: its driver has stopped transmit queue "
			      "%" PRIu64 "%s, and nothing is noted as sent there for %.1f s%s",
			      name, *driver ? " [" : "", driver, *driver ? "]" : "",
			      stopped->number, others, (double)stopped->age / NS_PER_S, waiting));
	if (asprintf(&finding->culprit, "%s", *driver ? driver : name) < 0) {
		finding->culprit = NULL;
		return error_no_memory();
	}
	snprintf(command, sizeof(command), "print *(struct netdev_queue *)0x%" PRIx64,
		 stopped->oldest.address);
	TRY(finding_add(finding, command, "the queue, whose state has __QUEUE_STATE_DRV_XOFF"));
	snprintf(command, sizeof(command), "print *(struct net_device *)0x%" PRIx64,
		 device->address);
	return finding_add(finding, command, "the device, which is up and has a link");
}

static struct error *look_at_device(struct stopped *stopped, const struct object *device)
{
	struct object queue;
	uint64_t count, size;
	bool is;
	stopped->count = stopped->age = 0;
	TRY(is_sending(stopped, device, &is));
	if (!is)
		return NULL;
	TRY(object_u64(device, "real_num_tx_queues", &count));
	TRY(object_follow(device, "_tx", &queue));
	if (!type_size(queue.type, &size))
		return NULL;
	for (uint64_t i = 0; i < count && stopped->queues_left; i++, stopped->queues_left--) {
		TRY(look_at_queue(stopped, &queue, i));
		queue.address += size;
	}
	if (!stopped->count || stopped->shown == DEVICES_SHOWN)
		return NULL;
	stopped->shown++;
	return say_device(stopped, device);
}

static struct error *look(void *context, const struct object *net, const struct object *device)
{
	(void)net;
	struct error *error = look_at_device(context, device);
	return error ? broken(context, error) : NULL;
}

struct error *detect_netdevs(struct analysis *analysis)
{
	struct target *target = analysis->target;
	struct stopped stopped = { .analysis = analysis, .queues_left = QUEUES_MAX };
	struct object jiffies;
	if (analysis->is_asked || target_is_live(target))
		return NULL;
	TRY(read_bit(target, "__QUEUE_STATE_DRV_XOFF", &stopped.state_stopped));
	TRY(read_bit(target, "__LINK_STATE_START", &stopped.state_started));
	TRY(read_bit(target, "__LINK_STATE_NOCARRIER", &stopped.state_no_carrier));
	TRY(time_of_death(target, &stopped.now));
	TRY(clock_tick(target, &stopped.tick));
	TRY(object_variable(target, "jiffies", "unsigned long", &jiffies));
	TRY(object_u64(&jiffies, NULL, &stopped.jiffies));
	struct error *error = net_devices_for_each(target, look, broken, &stopped);
	if (!error)
		return stopped.problem;
	error_free(stopped.problem);
	return error;
}
