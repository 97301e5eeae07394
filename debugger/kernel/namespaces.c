// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/kernel/namespaces.h"

#include "base/address_map.h"
#include "base/array.h"
#include <stdlib.h>

static const struct {
	const char *name, *type_name;
	const char *member; /* of struct nsproxy; NULL: it is found otherwise */
} kinds[NAMESPACE_KINDS] = {
	[NAMESPACE_MOUNT] = { "mnt", "struct mnt_namespace", "mnt_ns" },
	[NAMESPACE_UTS] = { "uts", "struct uts_namespace", "uts_ns" },
	[NAMESPACE_IPC] = { "ipc", "struct ipc_namespace", "ipc_ns" },
	[NAMESPACE_PID] = { "pid", "struct pid_namespace", NULL },
	[NAMESPACE_USER] = { "user", "struct user_namespace", NULL },
	[NAMESPACE_NET] = { "net", "struct net", "net_ns" },
	[NAMESPACE_CGROUP] = { "cgroup", "struct cgroup_namespace", "cgroup_ns" },
	[NAMESPACE_TIME] = { "time", "struct time_namespace", "time_ns" },
};

/* How deep pid namespaces can lie within each other: MAX_PID_NS_LEVEL. */
#define LEVELS_MAX 32

const char *namespace_kind_name(enum namespace_kind kind)
{
	return kinds[kind].name;
}

const char *namespace_type_name(enum namespace_kind kind)
{
	return kinds[kind].type_name;
}

struct use {
	uint64_t address; /* see address_map */
	struct namespace_use use;
};

struct pass {
	struct target *target;
	uint32_t wanted;
	struct address_map uses;
	struct error *problem;
};

static struct error *note(struct pass *pass, enum namespace_kind kind, uint64_t address,
			  const struct task *task)
{
	struct use *use = address ? address_map_add(&pass->uses, sizeof(*use), address) : NULL;
	/* One that has exited is in none. */
	if (!address)
		return NULL;
	if (!use)
		return error_no_memory();
	if (!use->use.address)
		use->use = (struct namespace_use){ .address = address,
						   .kind = kind,
						   .pid = task->pid,
						   .order = pass->uses.count };
	use->use.tasks++;
	return NULL;
}

/* The innermost that it has a number in. */
static struct error *pid_namespace(const struct object *thread, uint64_t *ret)
{
	struct object pid, numbers, number;
	uint64_t level, size;
	*ret = 0;
	TRY(object_follow(thread, "thread_pid", &pid));
	if (!pid.address)
		return NULL;
	TRY(object_u64(&pid, "level", &level));
	TRY(object_member(&pid, "numbers", &numbers));
	TRY(object_at(pid.target, "struct upid", numbers.address, &number));
	if (level > LEVELS_MAX || !type_size(number.type, &size))
		return error_create(ERROR_FORMAT, "a struct pid is too deep");
	number.address += level * size;
	return object_u64(&number, "ns", ret);
}

static struct error *user_namespace(const struct object *thread, uint64_t *ret)
{
	struct object cred;
	TRY(object_follow(thread, "cred", &cred));
	*ret = 0;
	return cred.address ? object_u64(&cred, "user_ns", ret) : NULL;
}

static struct error *find_namespace(const struct object *thread, const struct object *proxy,
				    enum namespace_kind kind, uint64_t *ret)
{
	*ret = 0;
	if (kind == NAMESPACE_PID)
		return pid_namespace(thread, ret);
	if (kind == NAMESPACE_USER)
		return user_namespace(thread, ret);
	/* A kernel may be built without. */
	if (!proxy->address || !object_has(proxy, kinds[kind].member))
		return NULL;
	return object_u64(proxy, kinds[kind].member, ret);
}

static struct error *note_task(struct pass *pass, const struct task *task)
{
	struct object thread, proxy;
	TRY(object_at(pass->target, "struct task_struct", task->address, &thread));
	TRY(object_follow(&thread, "nsproxy", &proxy));
	for (unsigned int kind = 0; kind < NAMESPACE_KINDS; kind++) {
		uint64_t address;
		if (!(pass->wanted >> kind & 1))
			continue;
		TRY(find_namespace(&thread, &proxy, kind, &address));
		TRY(note(pass, kind, address, task));
	}
	return NULL;
}

static struct error *visit_task(void *context, const struct task *task)
{
	struct pass *pass = context;
	/* They have no numbers of their own, and nothing that others have not. */
	if (task->is_idle)
		return NULL;
	struct error *error = note_task(pass, task);
	if (!error || error_is_fatal(error))
		return error;
	if (pass->problem)
		error_free(error);
	else
		pass->problem = error_prefix(error, "task %d", task->pid);
	return NULL;
}

static int by_kind(const void *a, const void *b)
{
	const struct namespace_use *x = a, *y = b;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static struct error *take(const struct pass *pass, struct namespaces *ret)
{
	ret->items = calloc(pass->uses.count + 1, sizeof(*ret->items));
	if (!ret->items)
		return error_no_memory();
	for (size_t i = 0; i < pass->uses.capacity; i++) {
		struct use use;
		memcpy(&use, pass->uses.entries + i * sizeof(use), sizeof(use));
		if (use.address)
			ret->items[ret->count++] = use.use;
	}
	array_sort(ret->items, ret->count, sizeof(*ret->items), by_kind);
	return NULL;
}

struct error *namespaces_read(struct target *target, uint32_t wanted, struct namespaces *ret,
			      struct error **ret_problem)
{
	struct pass pass = { .target = target, .wanted = wanted };
	struct error *broken = NULL;
	*ret = (struct namespaces){ .items = NULL };
	struct error *error = task_for_each(target, visit_task, &pass, &broken);
	if (!error)
		error = take(&pass, ret);
	address_map_deinit(&pass.uses);
	/* One of them is enough. */
	*ret_problem = error ? NULL : pass.problem ?: broken;
	if (*ret_problem != pass.problem)
		error_free(pass.problem);
	if (*ret_problem != broken)
		error_free(broken);
	return error;
}
