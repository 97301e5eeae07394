// SPDX-License-Identifier: GPL-3.0-or-later
/* System V IPC of all namespaces, as /proc/sysvipc has it. */
#include "debugger/kernel/namespaces.h"

#include "base/array.h"
#include "debugger/tables/walks.h"
#include <stdio.h>
#include <stdlib.h>

enum {
	COLUMN_OBJECT,
	COLUMN_NAMESPACE,
	COLUMN_KIND,
	COLUMN_KEY,
	COLUMN_ID,
	COLUMN_PERMS,
	COLUMN_UID,
	COLUMN_GID,
	COLUMN_SIZE,
	COLUMN_ENTRIES,
	COLUMN_CREATOR,
	COLUMN_LAST,
	COLUMN_CHANGED,
};

static const struct table_column columns[] = {
	[COLUMN_OBJECT] = { "ipc", COLUMN_ADDRESS, 16,
			    "its shmid_kernel, sem_array or msg_queue, which begins so",
			    "struct kern_ipc_perm" },
	[COLUMN_NAMESPACE] = { "namespace", COLUMN_WIDE, 10,
			       "inode number of the namespace, as in /proc/PID/ns/ipc", NULL },
	[COLUMN_KIND] = { "kind", COLUMN_TEXT, -4, "shm, sem, msg", NULL },
	[COLUMN_KEY] = { "key", COLUMN_INTEGER, 10, "by which it is found; 0: private", NULL },
	[COLUMN_ID] = { "id", COLUMN_INTEGER, 6, "its number", NULL },
	[COLUMN_PERMS] = { "perms", COLUMN_TEXT, -5, "in octal", NULL },
	[COLUMN_UID] = { "uid", COLUMN_INTEGER, 5, "its owner", NULL },
	[COLUMN_GID] = { "gid", COLUMN_INTEGER, 0, "and group", NULL },
	[COLUMN_SIZE] = { "size", COLUMN_BYTES, 7, "of shared memory, or of messages that wait",
			  NULL },
	[COLUMN_ENTRIES] = { "entries", COLUMN_INTEGER, 7,
			     "who has the memory mapped, semaphores, messages that wait", NULL },
	[COLUMN_CREATOR] = { "cpid", COLUMN_INTEGER, 6,
			     "who made the memory, or sent the last message", NULL },
	[COLUMN_LAST] = { "lpid", COLUMN_INTEGER, 6,
			  "who mapped the memory last, or received the last message", NULL },
	[COLUMN_CHANGED] = { "ctime", COLUMN_WIDE, 0, "of the last change, seconds since 1970",
			     NULL },
};

/* The order of ipc_namespace.ids, and what is where. */
static const struct kind {
	const char *name, *type_name, *permissions, *size, *entries, *creator, *last, *changed;
} kinds[] = {
	{ "sem", "struct sem_array", "sem_perm", NULL, "sem_nsems", NULL, NULL, "sem_ctime" },
	{ "msg", "struct msg_queue", "q_perm", "q_cbytes", "q_qnum", "q_lspid", "q_lrpid",
	  "q_ctime" },
	{ "shm", "struct shmid_kernel", "shm_perm", "shm_segsz", "shm_nattch", "shm_cprid",
	  "shm_lprid", "shm_ctim" },
};

struct pass {
	const struct kind *kind;
	const struct object *namespace;
	uint64_t count; /* of objects of this kind in it */
};

/* In the first of namespaces, which is everybody's. */
static struct error *set_pid(struct table_scan *scan, unsigned int column,
			     const struct object *object, const char *path)
{
	struct object pid;
	if (!path)
		return NULL;
	struct error *error = object_follow(object, path, &pid);
	if (error)
		return table_set_error(scan, column, error);
	return pid.address ? table_set_member(scan, column, &pid, "numbers[0].nr") : NULL;
}

static struct error *set_permissions(struct table_scan *scan, const struct object *permissions)
{
	uint64_t mode;
	char text[16];
	TRY(table_set_member(scan, COLUMN_KEY, permissions, "key"));
	TRY(table_set_member(scan, COLUMN_ID, permissions, "id"));
	TRY(table_set_member(scan, COLUMN_UID, permissions, "uid.val"));
	TRY(table_set_member(scan, COLUMN_GID, permissions, "gid.val"));
	TRY(object_u64(permissions, "mode", &mode));
	snprintf(text, sizeof(text), "%03o", (unsigned int)mode);
	table_set_text(scan, COLUMN_PERMS, text);
	return NULL;
}

static struct error *visit_object(struct table_scan *scan, const struct object *permissions,
				  void *context)
{
	struct pass *pass = context;
	const struct kind *kind = pass->kind;
	struct object object;
	pass->count++;
	TRY(object_container(scan->target, kind->type_name, kind->permissions, permissions->address,
			     &object));
	table_set(scan, COLUMN_OBJECT, permissions->address);
	table_set_text(scan, COLUMN_KIND, kind->name);
	TRY(table_set_member(scan, COLUMN_NAMESPACE, pass->namespace, "ns.inum"));
	TRY(table_set_error(scan, COLUMN_PERMS, set_permissions(scan, permissions)));
	if (kind->size)
		TRY(table_set_member(scan, COLUMN_SIZE, &object, kind->size));
	TRY(table_set_member(scan, COLUMN_ENTRIES, &object, kind->entries));
	TRY(set_pid(scan, COLUMN_CREATOR, &object, kind->creator));
	TRY(set_pid(scan, COLUMN_LAST, &object, kind->last));
	TRY(table_set_member(scan, COLUMN_CHANGED, &object, kind->changed));
	return table_emit(scan);
}

static struct error *visit_kind(struct table_scan *scan, const struct object *namespace, size_t i)
{
	struct pass pass = { &kinds[i], namespace, 0 };
	const struct table_walk walk = { CONTAINER_IDR, "struct kern_ipc_perm", NULL, visit_object,
					 &pass };
	struct object map;
	char path[32];
	snprintf(path, sizeof(path), "ids[%zu].ipcs_idr", i);
	TRY(object_member(namespace, path, &map));
	TRY(table_walk(scan, map.address, &walk));
	snprintf(path, sizeof(path), "ids[%zu].in_use", i);
	return table_check_count(scan, namespace, path, pass.count);
}

static struct error *visit_namespace(struct table_scan *scan, uint64_t address)
{
	struct object namespace;
	TRY(object_at(scan->target, "struct ipc_namespace", address, &namespace));
	for (size_t i = 0; i < ARRAY_COUNT(kinds); i++)
		TRY(table_broken(scan, visit_kind(scan, &namespace, i)));
	return NULL;
}

static struct error *visit(struct table_scan *scan)
{
	struct namespaces namespaces;
	struct error *problem = NULL;
	TRY(namespaces_read(scan->target, 1u << NAMESPACE_IPC, &namespaces, &problem));
	struct error *error = table_broken(scan, problem);
	for (size_t i = 0; i < namespaces.count && !error; i++)
		error = table_broken(scan, visit_namespace(scan, namespaces.items[i].address));
	free(namespaces.items);
	return error;
}

static const char *const examples[] = { "ipcs", "ipcs --where \"kind = 'shm'\" --sort -size",
					NULL };

const struct table table_ipcs = {
	.name = "ipcs",
	.summary = "shared memory, semaphores, message queues",
	.description = "A row is an object of System V IPC in a namespace that a task is in, as "
		       "/proc/sysvipc has them.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit = visit,
	.item = COLUMN_OBJECT,
	.is_object = true,
};
