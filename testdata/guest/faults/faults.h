/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of the module share: the device that all mistakes are made with, and their tables.
 */
#ifndef LAB_FAULTS_H
#define LAB_FAULTS_H

#include <linux/interrupt.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/timer.h>
#include <linux/types.h>
#include <linux/workqueue.h>

struct lab_device;

struct lab_ops {
	int (*stop)(struct lab_device *device);
	int (*start)(struct lab_device *device);
	const char *name;
};

struct lab_config {
	u64 rate;
	u32 mode;
};

struct lab_device {
	const char *name;
	u32 id;
	u32 mode;
	const struct lab_ops *ops;
	struct lab_device *parent;
	struct lab_request *current_request;
	struct list_head requests;
	void (*notify)(struct lab_device *device, u32 mode);
	u64 bytes;
	u64 interval; /* in which they came */
	int users;
	refcount_t references;
	struct timer_list timer;
	struct tasklet_struct tasklet;
	struct work_struct work;
};

enum lab_state { LAB_NEW = 1, LAB_DONE };

/* A request that is free keeps its list: the allocator's pointer lies in the middle of it. */
struct lab_request {
	u64 sector;
	struct list_head list;
	u32 state;
	u8 payload[92];
};

struct fault {
	const char *name; /* NULL: the end of a table */
	int (*make)(struct lab_device *device);
};

extern struct lab_device *lab_device;
extern const struct fault lab_pointer_faults[], lab_list_faults[], lab_claim_faults[],
	lab_elsewhere_faults[], lab_cpu_faults[], lab_watchdog_faults[], lab_storm_faults[],
	lab_memory_faults[], lab_guard_faults[], lab_neighbour_faults[];

/* What they need before the first one. */
int lab_lists_init(struct lab_device *device);
void lab_elsewhere_init(struct lab_device *device);
int lab_memory_init(void);

/* A cache of which user space may be given parts is merged with none that is like it. */
struct kmem_cache *lab_cache(const char *name, size_t size);
int lab_device_start(struct lab_device *device);
int lab_fault_null(struct lab_device *device);
/* A thread on the last CPU, or on one. */
int lab_start_thread(int (*run)(void *), struct lab_device *device, const char *name);
int lab_start_thread_on(int (*run)(void *), struct lab_device *device, const char *name,
			unsigned int cpu);
/* CPUs spin there as long as the mode is 0. */
int lab_spin_deaf(void *device);

#endif
