// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Who could end a wait by using a file: the other end of a pipe or socket, the device of a FUSE
 * filesystem, a group of fanotify, the pipe of an automount daemon, a userfaultfd. Only a task that
 * has it open can; where one alone has, it holds the waiter up (fs/pipe.c, fs/fuse/dev.c,
 * fs/notify/fanotify/fanotify.c, fs/autofs/waitq.c, fs/userfaultfd.c).
 */
#include "debugger/analysis/wait_place.h"
#include "debugger/analysis/waits_private.h"

#include "base/array.h"
#include "debugger/target/list.h"
#include "debugger/target/object.h"
#include <string.h>

/* Of struct sock_common.skc_family. */
#define AF_UNIX 1u
/* Of struct sock_common.skc_state, which sockets of this machine use, too. */
#define TCP_ESTABLISHED 1u
/* Of struct file.f_mode. */
#define FMODE_READ  1u
#define FMODE_WRITE 2u
#define FMODE_ANY   (FMODE_READ | FMODE_WRITE)

/* Open files that are looked at for all waiters together. */
#define STEPS_MAX (1u << 26)
/* Devices of one filesystem: a server may have one for each of its threads. */
#define DEVICES_MAX 4096u
/* To read one's place in the list takes as long as to look at that many open files. */
#define DEVICE_STEPS 16u

/* --- who has it open ---------------------------------------------------------------------- */

struct peers {
	uint64_t tables[WAIT_OTHERS_MAX], tasks[WAIT_OTHERS_MAX]; /* not the waiter's own */
	size_t count;
	size_t files; /* that are open, however often they are shared */
	bool has_own; /* the waiter itself has one open */
	bool has_more;
	bool is_cut; /* there is more that leads there than is looked at */
};

static void add_peer(struct peers *peers, const struct wait_file *file)
{
	for (size_t i = 0; i < peers->count; i++)
		if (peers->tables[i] == file->table)
			return;
	peers->has_more |= peers->count == WAIT_OTHERS_MAX;
	if (peers->has_more)
		return;
	peers->tables[peers->count] = file->table;
	peers->tasks[peers->count++] = file->task;
}

/* Adds those who have a file of this private data open, to read or to write. */
static void add_peers(struct wait_world *world, uint64_t data, uint32_t mode, uint64_t own,
		      struct peers *ret)
{
	uint64_t last = 0;
	size_t at = array_bound(world->file_count, i, world->files[i].data < data);
	for (; at < world->file_count && world->files[at].data == data; at++) {
		const struct wait_file *file = &world->files[at];
		world->files_cut |= world->file_steps++ >= STEPS_MAX;
		/* More than can be told of, or than could be the only one. */
		if (world->files_cut || ret->has_more)
			return;
		if (!(file->mode & mode))
			continue;
		ret->files += file->file != last;
		last = file->file;
		if (file->table == own)
			ret->has_own = true;
		else
			add_peer(ret, file);
	}
}

/* How what is waited for is used: in words. */
struct peer_words {
	const char *own, *nobody, *several, *alone;
};

static const struct peer_words end_words = {
	"none but itself has the other end open",
	"no task is seen to have the other end open",
	"several tasks have the other end open",
	"the only one that has the other end open",
};

/* Its words say more than who has it open: why that is asked. */
static const struct peer_words listener_words = {
	"its connection has not been accepted yet: itself alone has the socket that listens",
	"its connection has not been accepted yet: no task is seen to have the socket that listens",
	"its connection has not been accepted yet: several tasks have the socket that listens",
	"the only one that has the socket that listens: it has not accepted the connection yet",
};

static const struct peer_words device_words = {
	"none but itself has the filesystem's device open",
	"no task is seen to have the filesystem's device open",
	"several tasks have the filesystem's device open",
	"the only one that has the filesystem's device open",
};

static const struct peer_words group_words = {
	"none but itself has the group of fanotify open",
	"no task is seen to have the group of fanotify open",
	"several tasks have the group of fanotify open",
	"the only one that has the group of fanotify open, and decides",
};

static const struct peer_words daemon_words = {
	"none but itself has the pipe of the automount daemon open",
	"no task is seen to have the pipe of the automount daemon open",
	"several tasks have the pipe of the automount daemon open",
	"the only one that has the pipe of the automount daemon open",
};

static const struct peer_words fault_words = {
	"its own process has the userfaultfd open, and has not given the page",
	"no task is seen to have the userfaultfd open",
	"several processes have the userfaultfd open",
	"the only one that has the userfaultfd open: it has not given the page",
};

/* `files`: how many are open, as what they lead to counts them. */
static void say_peers(struct sleeper *sleeper, const struct peers *peers, uint64_t files,
		      const struct peer_words *words)
{
	struct wait *wait = sleeper->wait;
	if (sleeper->world->files_cut || peers->is_cut) {
		wait->owner_how = "there are too many open files to look through";
	} else if (!peers->count) {
		wait->owner_how = peers->has_own ? words->own : words->nobody;
	} else if (peers->has_own || peers->count > 1) {
		wait->owner_how = words->several;
		wait->other_count = peers->count;
		wait->has_more_others = peers->has_more;
		memcpy(wait->others, peers->tasks, sizeof(wait->others));
	} else {
		wait->owner = peers->tasks[0];
		/* Who shares a table that could not be read has all that is in it, too. */
		wait->owner_sure = files == peers->files && !sleeper->world->files_unread
					   ? CONFIDENCE_CERTAIN
					   : CONFIDENCE_INFERRED;
		wait->owner_how = words->alone;
	}
}

struct error *wait_pipe_peer(struct sleeper *sleeper)
{
	struct wait_world *world = sleeper->world;
	struct wait *wait = sleeper->wait;
	struct peers peers = { 0 };
	uint64_t own, files;
	bool reads = wait->mode && wait->mode[0] == 'r';
	TRY(wait_load_files(world));
	if (!wait_read(world, "struct task_struct", sleeper->task->address, "files", &own) ||
	    !wait_read(world, wait->type, wait->object, reads ? "writers" : "readers", &files))
		return NULL;
	add_peers(world, wait->object, reads ? FMODE_WRITE : FMODE_READ, own, &peers);
	say_peers(sleeper, &peers, (uint32_t)files, &end_words);
	return NULL;
}

/* --- sockets -------------------------------------------------------------------------------- */

/*
 * An end without a socket was closed, or connect() made it, and nobody has accepted it yet: who
 * listens can. Older kernels have no way there from the end.
 */
static struct error *say_no_socket(struct sleeper *sleeper, uint64_t peer)
{
	struct wait_world *world = sleeper->world;
	struct wait *wait = sleeper->wait;
	struct peers peers = { 0 };
	uint64_t own, state, listener, socket;
	if (!wait_read(world, "struct sock", peer, "__sk_common.skc_state", &state))
		return NULL;
	wait->owner_how = state == TCP_ESTABLISHED ? "the connection has not been accepted yet"
						   : "the other end is closed";
	if (state != TCP_ESTABLISHED ||
	    !wait_read(world, "struct unix_sock", peer, "listener", &listener) || !listener ||
	    !wait_read(world, "struct sock", listener, "sk_socket", &socket) || !socket ||
	    !wait_read(world, "struct task_struct", sleeper->task->address, "files", &own))
		return NULL;
	TRY(wait_load_files(world));
	add_peers(world, socket, FMODE_ANY, own, &peers);
	say_peers(sleeper, &peers, 1, &listener_words);
	return NULL;
}

/* Of a socket of this machine alone the kernel knows who is at the other end (net/unix/af_unix.c).
 */
struct error *wait_socket_peer(struct sleeper *sleeper)
{
	struct wait_world *world = sleeper->world;
	struct wait *wait = sleeper->wait;
	struct peers peers = { 0 };
	uint64_t own, sock, family, peer, socket, file;
	if (!wait_read(world, "struct socket", wait->object, "sk", &sock) ||
	    !wait_read(world, "struct sock", sock, "__sk_common.skc_family", &family) ||
	    family != AF_UNIX || !wait_read(world, "struct unix_sock", sock, "peer", &peer) ||
	    !peer)
		return NULL;
	wait->owner_how = "who has the other end open could not be found out";
	if (!wait_read(world, "struct sock", peer, "sk_socket", &socket))
		return NULL;
	if (!socket)
		return say_no_socket(sleeper, peer);
	if (!wait_read(world, "struct socket", socket, "file", &file))
		return NULL;
	if (!file) {
		wait->owner_how = "the other end is the kernel's own, or is being closed";
		return NULL;
	}
	TRY(wait_load_files(world));
	if (!wait_read(world, "struct task_struct", sleeper->task->address, "files", &own))
		return NULL;
	/* A socket has one file, however many tables have that. */
	add_peers(world, socket, FMODE_ANY, own, &peers);
	say_peers(sleeper, &peers, 1, &end_words);
	return NULL;
}

/* --- FUSE ----------------------------------------------------------------------------------- */

/*
 * What has the devices of a request: the connection, of which a mount may have another one
 * since 5.10 (fcee216beb9c), or, from 7.2 on, its channel.
 */
static struct error *find_connection(const struct object *request, struct object *ret)
{
	struct object mount;
	if (object_has(request, "chan"))
		return object_follow(request, "chan", ret);
	if (!object_has(request, "fm"))
		return object_follow(request, "fc", ret);
	TRY(object_follow(request, "fm", &mount));
	return object_follow(&mount, "fc", ret);
}

/* A device for each time that /dev/fuse was opened for the filesystem: `ret_count` is how many. */
static struct error *add_servers(struct wait_world *world, const struct object *connection,
				 uint64_t own, struct peers *ret, uint64_t *ret_count)
{
	struct list_walk walk;
	struct object devices, entry, device = { .target = world->target };
	uint64_t node;
	/* Of a module, if that is where the connection's is. */
	TRY(target_find_type(world->target, connection->type.btf, "struct fuse_dev", &device.type));
	TRY(object_member(&device, "entry", &entry));
	TRY(object_member(connection, "devices", &devices));
	list_walk_init(&walk, world->target, devices.address);
	for (size_t i = 0; !ret->has_more; i++) {
		TRY(list_walk_next(&walk, &node));
		if (!node)
			break;
		world->file_steps += DEVICE_STEPS;
		ret->is_cut = i >= DEVICES_MAX || world->file_steps >= STEPS_MAX;
		if (ret->is_cut)
			break;
		add_peers(world, node - entry.address, FMODE_ANY, own, ret);
		(*ret_count)++;
	}
	return NULL;
}

static struct error *find_server(struct sleeper *sleeper, const struct object *request)
{
	struct wait_world *world = sleeper->world;
	struct object connection;
	struct peers peers = { 0 };
	uint64_t own, files = 0;
	TRY(wait_load_files(world));
	TRY(find_connection(request, &connection));
	if (!wait_read(world, "struct task_struct", sleeper->task->address, "files", &own))
		return NULL;
	TRY(add_servers(world, &connection, own, &peers, &files));
	/* Up to 7.1 it counts them, too. */
	if (object_has(&connection, "dev_count"))
		TRY(object_u64(&connection, "dev_count.counter", &files));
	say_peers(sleeper, &peers, (uint32_t)files, &device_words);
	return NULL;
}

struct error *wait_find_fuse(struct sleeper *sleeper)
{
	struct wait *wait = sleeper->wait;
	struct object request;
	if (!wait_frame_is(&sleeper->trace->frames[sleeper->frame], "request_wait_answer") ||
	    !wait_argument_object(sleeper, sleeper->frame, sleeper->frame + 1, "struct fuse_req *",
				  &request))
		return NULL;
	wait->kind = "FUSE answer";
	wait->type = "struct fuse_req";
	wait->object = request.address;
	wait->how = "argument";
	wait->sure = CONFIDENCE_CERTAIN;
	wait->owner_how = "who has the filesystem's device open could not be found out";
	return error_only_fatal(find_server(sleeper, &request));
}

/* --- fanotify ------------------------------------------------------------------------------- */

/* A program asked to be asked who may open what (FAN_OPEN_PERM): its group has one file. */
struct error *wait_find_fanotify(struct sleeper *sleeper, uint64_t head)
{
	struct wait_world *world = sleeper->world;
	struct wait *wait = sleeper->wait;
	const char *type = "struct fsnotify_group";
	uint64_t own, offset, operations, function;
	struct peers peers = { 0 };
	if (!wait_offset(world, type, "fanotify_data.access_waitq", &offset) ||
	    !wait_read(world, type, head - offset, "ops", &operations) ||
	    !wait_read(world, "struct fsnotify_ops", operations, "handle_event", &function) ||
	    !wait_is_function(world, function, "fanotify_handle_event"))
		return NULL;
	wait->kind = "fanotify answer";
	wait->type = type;
	wait->object = head - offset;
	wait->how = "list";
	wait->sure = CONFIDENCE_CERTAIN;
	wait->owner_how = "who has the group of fanotify open could not be found out";
	TRY(wait_load_files(world));
	if (!wait_read(world, "struct task_struct", sleeper->task->address, "files", &own))
		return NULL;
	add_peers(world, wait->object, FMODE_ANY, own, &peers);
	say_peers(sleeper, &peers, 1, &group_words);
	return NULL;
}

/* --- userfaultfd ---------------------------------------------------------------------------- */

/* Whose page is missing waits for who has the file: before, and after that has read of it. */
struct error *wait_find_userfault(struct sleeper *sleeper, uint64_t head)
{
	static const char *const queues[] = { "fault_pending_wqh", "fault_wqh" };
	struct wait_world *world = sleeper->world;
	struct wait *wait = sleeper->wait;
	const char *type = "struct userfaultfd_ctx";
	uint64_t own, offset, context = 0;
	struct peers peers = { 0 };
	if (!wait_frame_is(&sleeper->trace->frames[sleeper->frame], "handle_userfault"))
		return NULL;
	for (size_t i = 0; i < ARRAY_COUNT(queues) && !context; i++)
		if (wait_offset(world, type, queues[i], &offset) &&
		    wait_slab_object(world->target, head - offset, type) != CONFIDENCE_UNKNOWN)
			context = head - offset;
	if (!context)
		return NULL;
	wait->kind = "userfaultfd";
	wait->type = type;
	wait->object = context;
	wait->how = "list";
	wait->sure = CONFIDENCE_CERTAIN;
	wait->owner_how = "who has the userfaultfd open could not be found out";
	TRY(wait_load_files(world));
	if (!wait_read(world, "struct task_struct", sleeper->task->address, "files", &own))
		return NULL;
	add_peers(world, context, FMODE_ANY, own, &peers);
	say_peers(sleeper, &peers, 1, &fault_words);
	return NULL;
}

/* --- autofs --------------------------------------------------------------------------------- */

/* What waits for the daemon of one filesystem: more are not believed. */
#define REQUESTS_MAX 4096u

/* Whether the filesystem has this request among those that it waits for. */
static struct error *has_request(struct wait_world *world, const struct object *info,
				 uint64_t request, bool *ret)
{
	struct object at;
	*ret = false;
	TRY(object_follow(info, "queues", &at));
	for (size_t i = 0; at.address && i < REQUESTS_MAX && !*ret; i++) {
		*ret = at.address == request;
		if (world->file_steps++ >= STEPS_MAX)
			return NULL;
		TRY(object_follow(&at, "next", &at));
	}
	return NULL;
}

/* The kernel writes into the pipe what it asks the daemon, which reads that. */
static struct error *find_daemon(struct sleeper *sleeper, const struct object *info)
{
	struct wait_world *world = sleeper->world;
	struct peers peers = { 0 };
	struct object file;
	uint64_t own, pipe, readers;
	TRY(object_follow(info, "pipe", &file));
	if (!file.address) {
		sleeper->wait->owner_how = "the filesystem has no automount daemon any more";
		return NULL;
	}
	TRY(object_u64(&file, "private_data", &pipe));
	TRY(wait_load_files(world));
	if (!wait_read(world, "struct task_struct", sleeper->task->address, "files", &own) ||
	    !wait_read(world, "struct pipe_inode_info", pipe, "readers", &readers))
		return NULL;
	add_peers(world, pipe, FMODE_READ, own, &peers);
	say_peers(sleeper, &peers, (uint32_t)readers, &daemon_words);
	return NULL;
}

struct error *wait_find_autofs(struct sleeper *sleeper, uint64_t head)
{
	struct wait *wait = sleeper->wait;
	struct object info;
	bool has = false;
	if (!wait_frame_is(&sleeper->trace->frames[sleeper->frame], "autofs_wait") ||
	    !wait_argument_object(sleeper, sleeper->frame, sleeper->frame + 1,
				  "struct autofs_sb_info *", &info))
		return NULL;
	struct error *error = has_request(sleeper->world, &info, head, &has);
	if (error || !has)
		return error_only_fatal(error);
	wait->kind = "automount";
	wait->type = "struct autofs_wait_queue";
	wait->object = head;
	wait->how = "argument and list";
	wait->sure = CONFIDENCE_CERTAIN;
	wait->owner_how = "who is the automount daemon could not be found out";
	return error_only_fatal(find_daemon(sleeper, &info));
}
