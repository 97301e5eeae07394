// SPDX-License-Identifier: GPL-3.0-or-later
/* Namespaces that tasks are in, as /proc/PID/ns has them. */
#include "debugger/kernel/namespaces.h"

#include "base/array.h"
#include "debugger/tables/walks.h"
#include <stdlib.h>

enum { COLUMN_NAMESPACE, COLUMN_KIND, COLUMN_NUMBER, COLUMN_TASKS, COLUMN_PID, COLUMN_COMM };

static const struct table_column columns[] = {
	[COLUMN_NAMESPACE] = { "namespace", COLUMN_ADDRESS, 16,
			       "its struct: mnt_namespace, net, ...", NULL },
	[COLUMN_KIND] = { "type", COLUMN_TEXT, -7, "mnt, uts, ipc, pid, user, net, cgroup, time",
			  NULL },
	[COLUMN_NUMBER] = { "ino", COLUMN_WIDE, 10, "its number in /proc/PID/ns", NULL },
	[COLUMN_TASKS] = { "tasks", COLUMN_INTEGER, 6, "threads that are in it", NULL },
	[COLUMN_PID] = { "pid", COLUMN_INTEGER, 7, "of the first of them", NULL },
	[COLUMN_COMM] = { "comm", COLUMN_TEXT, -15, "the name of that", NULL },
};

static struct error *emit(struct table_scan *scan, const struct namespace_use *use)
{
	struct object object;
	struct task task = { .pid = use->pid };
	struct error *error =
		object_at(scan->target, namespace_type_name(use->kind), use->address, &object);
	table_set(scan, COLUMN_NAMESPACE, use->address);
	table_set_text(scan, COLUMN_KIND, namespace_kind_name(use->kind));
	table_set(scan, COLUMN_TASKS, use->tasks);
	table_set(scan, COLUMN_PID, (uint64_t)use->pid);
	if (!error)
		error = table_set_member(scan, COLUMN_NUMBER, &object, "ns.inum");
	TRY(table_set_error(scan, COLUMN_NUMBER, error));
	if (table_wants(scan, COLUMN_COMM)) {
		error = task_find(scan->target, (uint64_t)use->pid, &task);
		if (!error)
			table_set_text(scan, COLUMN_COMM, task.comm);
		TRY(table_set_error(scan, COLUMN_COMM, error));
		if (!error)
			task_deinit(&task);
	}
	return table_emit(scan);
}

static struct error *visit(struct table_scan *scan)
{
	struct namespaces namespaces;
	struct error *problem = NULL;
	TRY(namespaces_read(scan->target, UINT32_MAX, &namespaces, &problem));
	struct error *error = table_broken(scan, problem);
	for (size_t i = 0; i < namespaces.count && !error; i++)
		error = emit(scan, &namespaces.items[i]);
	free(namespaces.items);
	return error;
}

static const char *const examples[] = { "namespaces", "namespaces --where \"type = 'net'\"", NULL };

const struct table table_namespaces = {
	.name = "namespaces",
	.summary = "namespaces that tasks are in",
	.description = "A row is a namespace that a task is in, as /proc/PID/ns has them. Those "
		       "that only a file or a mount keeps have none.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit = visit,
	.item = COLUMN_NAMESPACE,
};
