/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the threads of stuck share: threads.c has the list of them. */
#ifndef STUCK_H
#define STUCK_H

#include <linux/completion.h>
#include <linux/sched.h>
#include <linux/types.h>

struct stuck_thread {
	const char *comm;
	int (*run)(struct stuck_thread *self);
	const char *owner; /* comm of who has what it waits for */
	struct task_struct *task;
	const char *kind;
	const void *what;
	struct completion arrived, released;
	bool is_worker; /* a work item, which another thread starts */
};

struct stuck_thread *stuck_find(const char *comm);
/* All that is to be held is held; what follows is never had. */
void stuck_arrive(struct stuck_thread *self, const char *kind, const void *what);
int stuck_sleep(struct stuck_thread *self);

/* Those that wait for works (works.c). */
int works_init(void);
int flush_owner(struct stuck_thread *self);
int flush_sleeper(struct stuck_thread *self);
int flush_queue(struct stuck_thread *self);
int flush_behind(struct stuck_thread *self);

/* Those that wait for the writer of a file of sysfs (attributes.c). */
int attributes_init(void);
int attribute_writes(struct stuck_thread *self);
int attribute_waits(struct stuck_thread *self);

/* Who waits for a network device to be let go, for a program to end (devices.c). */
int devices_init(void);
int netdev_waits(struct stuck_thread *self);
int program_waits(struct stuck_thread *self);

#endif
