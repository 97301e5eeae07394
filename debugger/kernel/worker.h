/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The struct worker of a thread that runs works (kernel kernel/workqueue_internal.h). */
#ifndef DEBUGGER_KERNEL_WORKER_H
#define DEBUGGER_KERNEL_WORKER_H

#include "debugger/target/object.h"

/* Of a task that has PF_WQ_WORKER. Errors: what cannot be read, or leads to another task. */
struct error *worker_of_task(struct target *target, uint64_t task, struct object *ret) MUST_CHECK;

/*
 * The workqueue whose work it runs: "events", size bytes; "": it runs none, or the name cannot be
 * read.
 */
void worker_put_queue(const struct object *worker, char *buffer, size_t size);

#endif
