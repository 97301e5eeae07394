// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/kernel/worker.h"

#include <inttypes.h>

struct error *worker_of_task(struct target *target, uint64_t task, struct object *ret)
{
	struct object object, kthread;
	uint64_t data, owner;
	TRY(object_at(target, "struct task_struct", task, &object));
	/* Up to 5.16 the struct kthread had no member of its own (e32cf5dfbe22). */
	TRY(object_u64(&object,
		       object_has(&object, "worker_private") ? "worker_private" : "set_child_tid",
		       &data));
	TRY(object_at(target, "struct kthread", data, &kthread));
	TRY(object_u64(&kthread, "data", &data));
	TRY(object_at(target, "struct worker", data, ret));
	TRY(object_u64(ret, "task", &owner));
	return owner == task ? NULL
			     : error_create(ERROR_FORMAT,
					    "task 0x%" PRIx64 " has another one's worker", task);
}

void worker_put_queue(const struct object *worker, char *buffer, size_t size)
{
	struct object link, queue;
	*buffer = 0;
	struct error *error = object_follow(worker, "current_pwq", &link);
	if (!error && link.address)
		error = object_follow(&link, "wq", &queue);
	if (!error && link.address)
		error = object_string(&queue, "name", buffer, size);
	if (error)
		*buffer = 0;
	error_free(error);
}
