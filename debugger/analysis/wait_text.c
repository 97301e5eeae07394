// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/analysis/wait_text.h"

#include "base/array.h"
#include "btf/member_path.h"
#include "debugger/analysis/wait_place.h"
#include "debugger/analysis/waits_private.h"
#include "debugger/kernel/cgroup.h"
#include "debugger/kernel/disks.h"
#include "debugger/kernel/kernfs.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Of a path of kernfs. */
#define PATH_BYTES 1024

#define STACK_SIZE_MOST (32u << 10) /* with KASAN */
#define TRAP_FREEZE	(1u << 23)  /* of task_struct.jobctl */
#define STATE_FROZEN	0x8000u	    /* of task_struct.__state, since 6.1 (f5d39b020809) */

/* "s_umount of vda1, ext4": the member of a super block that an address is in. */
static void put_super_block(struct target *target, uint64_t address, uint64_t lock,
			    struct strbuf *ret)
{
	struct object block, type;
	struct member_place place;
	char name[64] = "", kind[64] = "";
	uint64_t letters = 0;
	size_t length;
	struct error *error = object_at(target, "struct super_block", address, &block);
	if (!error)
		error = object_string(&block, "s_id", name, sizeof(name));
	if (error) {
		error_free(error);
		return;
	}
	member_path_at(block.type, lock - address, &place);
	error = object_follow(&block, "s_type", &type);
	if (!error)
		error = object_u64(&type, "name", &letters);
	if (!error)
		error = memory_read_string(target->memory, letters, kind, sizeof(kind), &length);
	error_free(error);
	strbuf_format(ret, "%.*s of %s, %s", (int)strcspn(place.path, ".["), place.path, name,
		      error ? "a filesystem" : kind);
}

/* "for disk vda [virtio_blk]". */
static void put_disk(struct target *target, uint64_t address, struct strbuf *ret)
{
	char name[64] = "", driver[DISK_DRIVER_SIZE];
	struct object disk;
	struct error *error = object_at(target, "struct gendisk", address, &disk);
	if (!error)
		error = object_string(&disk, "disk_name", name, sizeof(name));
	if (!error) {
		disk_driver(target, disk.address, driver);
		strbuf_format(ret, "for disk %s%s%s%s", name, *driver ? " [" : "", driver,
			      *driver ? "]" : "");
	}
	error_free(error);
}

/* The disk that a bio is for. */
static void put_device(struct target *target, uint64_t address, struct strbuf *ret)
{
	struct object device;
	uint64_t disk;
	struct error *error = object_at(target, "struct block_device", address, &device);
	if (!error)
		error = object_u64(&device, "bd_disk", &disk);
	if (!error)
		put_disk(target, disk, ret);
	error_free(error);
}

/* "unix stream socket", "IPv4 stream socket on port 8080". */
static void put_socket(struct target *target, uint64_t address, struct strbuf *ret)
{
	static const char *const families[] = {
		[1] = "unix ", [2] = "IPv4 ", [10] = "IPv6 ", [16] = "netlink ", [17] = "packet "
	};
	static const char *const types[] = {
		[1] = "stream ", [2] = "datagram ", [3] = "raw ", [5] = "seqpacket "
	};
	struct object socket, sock;
	uint64_t family, type, port;
	struct error *error = object_at(target, "struct socket", address, &socket);
	if (!error)
		error = object_u64(&socket, "type", &type);
	if (!error)
		error = object_follow(&socket, "sk", &sock);
	if (!error)
		error = object_u64(&sock, "__sk_common.skc_family", &family);
	if (!error)
		error = object_u64(&sock, "__sk_common.skc_num", &port);
	error_free(error);
	if (error)
		return;
	strbuf_format(ret, "%s%ssocket",
		      family < ARRAY_COUNT(families) && families[family] ? families[family] : "",
		      type < ARRAY_COUNT(types) && types[type] ? types[type] : "");
	if (family == 2 || family == 10)
		strbuf_format(ret, " on port %" PRIu64, port);
}

static void put_kernfs_node(struct target *target, uint64_t address, struct strbuf *ret)
{
	char path[PATH_BYTES];
	struct object node;
	struct error *error = object_at(target, "struct kernfs_node", address, &node);
	if (!error)
		error = kernfs_path(&node, path, sizeof(path));
	if (!error)
		strbuf_put(ret, path);
	error_free(error);
}

static void put_within(struct target *target, const struct wait *wait, struct strbuf *ret)
{
	if (!strcmp(wait->within_type, "struct super_block"))
		put_super_block(target, wait->within, wait->object, ret);
	else if (!strcmp(wait->within_type, "struct block_device"))
		put_device(target, wait->within, ret);
	else if (!strcmp(wait->within_type, "struct gendisk"))
		put_disk(target, wait->within, ret);
	else if (!strcmp(wait->within_type, "struct socket"))
		put_socket(target, wait->within, ret);
	else if (!strcmp(wait->within_type, "struct kernfs_node"))
		put_kernfs_node(target, wait->within, ret);
	else if (!strcmp(wait->within_type, "struct rpc_task"))
		wait_put_rpc(target, wait->within, ret);
	else if (!strcmp(wait->within_type, "struct subprocess_info"))
		wait_put_program(target, wait->within, ret);
	else if (!strcmp(wait->within_type, "struct net_device"))
		wait_put_netdev(target, wait->within, ret);
	else if (!strcmp(wait->within_type, "struct inode")) {
		strbuf_put(ret, "of ");
		if (!wait_put_inode(target, wait->within, ret))
			strbuf_put(ret, "an inode");
	}
}

bool wait_is_own_stack(const struct wait *wait)
{
	return wait->task.stack && wait->object >= wait->task.stack &&
	       wait->object - wait->task.stack < STACK_SIZE_MOST;
}

void wait_put_object_name(struct target *target, const struct wait *wait, struct strbuf *ret)
{
	char text[640];
	if (!wait->object)
		return;
	if (wait->within)
		put_within(target, wait, ret);
	else if (wait_is_own_stack(wait))
		strbuf_put(ret, "on its own stack");
	else if (strcmp(wait->kind, "futex") &&
		 target_describe(target, wait->object, text, sizeof(text)))
		strbuf_put(ret, text);
}

void wait_put_object_place(struct target *target, const struct wait *wait, struct strbuf *ret)
{
	if (wait->object && !wait->within && strcmp(wait->kind, "futex"))
		wait_put_place(target, wait->object, wait->type, ret);
}

/* The one or the other. */
static void put_name(struct target *target, const struct wait *wait, struct strbuf *ret)
{
	wait_put_object_name(target, wait, ret);
	if (!ret->size)
		wait_put_object_place(target, wait, ret);
}

void wait_put_held(struct target *target, const struct wait *wait, struct strbuf *ret)
{
	struct strbuf name = { 0 };
	strbuf_put(ret, wait->kind);
	if (wait->object)
		strbuf_format(ret, " 0x%" PRIx64, wait->object);
	put_name(target, wait, &name);
	if (name.size) {
		strbuf_put(ret, " (");
		strbuf_bytes(ret, name.data, name.size);
		strbuf_put(ret, ")");
	}
	ret->failed |= name.failed;
	strbuf_deinit(&name);
}

void wait_put_object(struct target *target, const struct wait *wait, struct strbuf *ret)
{
	wait_put_held(target, wait, ret);
	if (wait->mode)
		strbuf_format(ret, strcmp(wait->mode, "shared") ? " to %s" : " (%s)", wait->mode);
}

void wait_put_task(const struct task *task, struct strbuf *ret)
{
	if (task->pid < 0)
		strbuf_format(ret, "task 0x%" PRIx64, task->address);
	else
		strbuf_format(ret, "%" PRId32 " \"%s\"", task->pid, task->comm);
}

/* By its cgroup (the bits are of 5.2, 76f969e8948d), or by what freezes all before a sleep. */
static bool put_frozen(struct target *target, const struct task *task, struct strbuf *ret)
{
	struct object object;
	uint64_t is_frozen = 0, state = 0, traps = 0;
	char cgroup[512];
	struct error *error = object_at(target, "struct task_struct", task->address, &object);
	if (!error)
		error = object_u64(&object, "frozen", &is_frozen);
	if (!error)
		error = object_u64(&object, "jobctl", &traps);
	error_free(error);
	/* Who is stopped counts as frozen, too. */
	if (!error && is_frozen && traps & TRAP_FREEZE) {
		error = task_cgroup(target, task->address, cgroup, sizeof(cgroup));
		strbuf_format(ret, "is frozen by its cgroup%s%s", error ? "" : " ",
			      error ? "" : cgroup);
		error_free(error);
		return true;
	}
	error = object_at(target, "struct task_struct", task->address, &object);
	if (!error)
		error = object_u64(&object, "__state", &state);
	error_free(error);
	if (error || !(state & STATE_FROZEN))
		return false;
	strbuf_put(ret, "is frozen");
	return true;
}

void wait_put_state(struct target *target, const struct task *task, const char *function,
		    struct strbuf *ret)
{
	if (!task->is_partial && strchr("SDtT", task->state_letter) && !task->on_cpu &&
	    put_frozen(target, task, ret))
		return;
	if (task->on_cpu)
		strbuf_format(ret, "runs on CPU %" PRIu32, task->cpu);
	else if (task->state_letter == 'R')
		strbuf_put(ret, "is ready to run");
	else if (strchr("ZX", task->state_letter))
		strbuf_put(ret, "has exited");
	else if (task->state_letter == '?')
		strbuf_put(ret, "is in an unknown state");
	else
		strbuf_put(ret, strchr("tT", task->state_letter) ? "is stopped" : "sleeps");
	if (function && *function)
		strbuf_format(ret, " in %s", function);
}

/* How sure it is who has it, where that is not proved. */
static const char *doubt_of(const struct wait *wait)
{
	enum confidence sure = wait->sure < wait->owner_sure ? wait->sure : wait->owner_sure;
	return sure == CONFIDENCE_CERTAIN ? NULL : confidence_name(sure);
}

/* Those of whom each could end it, with what they do. */
static void put_others(struct target *target, const struct wait *wait, struct strbuf *ret)
{
	for (size_t i = 0; i < wait->other_count; i++) {
		struct task task;
		struct error *error = task_read(target, wait->others[i], &task);
		error_free(error);
		if (error)
			continue;
		strbuf_put(ret, i ? ", " : ": ");
		wait_put_task(&task, ret);
		strbuf_char(ret, ' ');
		wait_put_state(target, &task, NULL, ret);
		task_deinit(&task);
	}
	if (wait->has_more_others)
		strbuf_put(ret, ", and others");
}

void wait_put_link(struct target *target, const struct wait *wait, const struct task *owner,
		   struct strbuf *ret)
{
	wait_put_task(&wait->task, ret);
	if (!strcmp(wait->kind, "sleep")) {
		strbuf_format(ret, " sleeps in %s, called by %s", wait->function,
			      *wait->caller ? wait->caller : "what is not known");
		return;
	}
	strbuf_put(ret, " waits for ");
	wait_put_object(target, wait, ret);
	if (!owner) {
		strbuf_format(ret, ": %s",
			      wait->owner_how
				      ?: wait->object ? "nobody is known to have it"
						      : "which one is not known");
		put_others(target, wait, ret);
		return;
	}
	bool has_words = wait->owner_how && strcmp(wait->owner_how, "owner word");
	const char *doubt = doubt_of(wait);
	/* An owner word that is the waiter's own is not proved to be of today's task. */
	strbuf_put(ret, doubt && owner->address == wait->task.address
				? ", whose owner is said to be that task itself, "
				: ", held up by ");
	wait_put_task(owner, ret);
	if (has_words || doubt)
		strbuf_format(ret, " (%s%s%s)", doubt ?: "", doubt && has_words ? ": " : "",
			      has_words ? wait->owner_how : "");
}

static void take_task(const struct task *task, struct finding_task *ret)
{
	*ret = (struct finding_task){ .address = task->address,
				      .is_named = !task->is_partial,
				      .pid = task->pid };
	memcpy(ret->comm, task->comm, sizeof(ret->comm));
}

struct error *wait_add_link(struct target *target, const struct wait *wait,
			    const struct task *owner, struct finding *finding)
{
	struct strbuf name = { 0 };
	if (!array_reserve(&finding->links, &finding->link_capacity, finding->link_count + 1))
		return error_no_memory();
	put_name(target, wait, &name);
	if (name.size)
		strbuf_bytes(&name, "", 1);
	if (name.failed)
		return error_no_memory();
	struct finding_link *link = &finding->links[finding->link_count++];
	*link = (struct finding_link){ .owner.address = wait->owner,
				       .kind = wait->kind,
				       .mode = wait->mode,
				       .type = wait->type,
				       .object = wait->object,
				       .name = name.data,
				       .sure = wait->sure,
				       .owner_sure = wait->owner_sure };
	take_task(&wait->task, &link->task);
	if (owner)
		take_task(owner, &link->owner);
	return NULL;
}

struct error *wait_add_lock(const struct wait *wait, struct finding *finding)
{
	char command[96];
	if (!wait->type || !wait->object || !wait->owner_how)
		return NULL;
	snprintf(command, sizeof(command), "print *(%s *)0x%" PRIx64, wait->type, wait->object);
	return finding_add(finding, command, "what is in that %s", wait->kind);
}
