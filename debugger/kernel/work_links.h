/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What leads from a struct work_struct to its workqueue: work_struct.data has the address of the
 * struct pool_workqueue that it was queued by, and flags below (kernel include/linux/workqueue.h).
 */
#ifndef DEBUGGER_KERNEL_WORK_LINKS_H
#define DEBUGGER_KERNEL_WORK_LINKS_H

#include "debugger/target/target.h"

struct work_links {
	uint64_t flag;	      /* set where the data has such an address */
	uint64_t mask;	      /* of the address */
	const char *inactive; /* the list of struct pool_workqueue of works that are kept back */
};

/* false: the kernel's types do not say. */
bool work_links_find(struct target *target, struct work_links *ret);

#endif
