// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Who could end a wait by using a file: the other end of a pipe or socket, the device of a FUSE
 * filesystem, a group of fanotify.
 * Only a task that has it open can; where one alone has, it holds the waiter up (fs/pipe.c,
 * fs/fuse/dev.c, fs/notify/fanotify/fanotify.c).
 */
#include "debugger/analysis/waits_private.h"

#include "base/array.h"
#include "base/bytes.h"
#include "base/interrupt.h"
#include "debugger/target/list.h"
#include "debugger/target/object.h"
#include <string.h>

/* Of struct sock_common.skc_family. */
#define AF_UNIX 1u
/* Of struct file.f_mode. */
#define FMODE_READ  1u
#define FMODE_WRITE 2u
#define FMODE_ANY   (FMODE_READ | FMODE_WRITE)

/* Open files, and places for them, that are looked at in all tasks together. */
#define FILES_MAX     (1u << 18)
#define SLOTS_MAX     (1u << 22)
#define SLOTS_AT_ONCE 512u
#define DEVICES_MAX   64u
/* Open files that are looked at for all waiters together. */
#define STEPS_MAX (1u << 26)

/* --- all that is open --------------------------------------------------------------------- */

/* A table of open files, and one of the tasks that share it: the first thread, if that does. */
struct table {
	uint64_t address;
	const struct task *task;
};

struct loading {
	struct wait_world *world;
	uint64_t mode, data; /* offsets in struct file */
	size_t slots_left;
};

static int compare_tables(const void *a, const void *b)
{
	const struct table *one = a, *other = b;
	if (one->address != other->address)
		return one->address < other->address ? -1 : 1;
	int first = one->task->pid == one->task->tgid,
	    second = other->task->pid == other->task->tgid;
	if (first != second)
		return second - first;
	return one->task->address < other->task->address
		       ? -1
		       : one->task->address > other->task->address;
}

static int compare_files(const void *a, const void *b)
{
	const struct wait_file *one = a, *other = b;
	if (one->data != other->data)
		return one->data < other->data ? -1 : 1;
	if (one->file != other->file)
		return one->file < other->file ? -1 : 1;
	return one->table < other->table ? -1 : one->table > other->table;
}

/* What cannot be read is nobody's: whether all ends of it were seen is counted. */
static struct error *keep_file(struct loading *loading, const struct table *table, uint64_t file)
{
	struct wait_world *world = loading->world;
	struct memory *memory = world->target->memory;
	uint32_t mode;
	uint64_t data = 0;
	struct error *why = memory_read_u32(memory, file + loading->mode, &mode);
	if (!why)
		why = memory_read_word(memory, file + loading->data, &data);
	bool is_read = !why;
	error_free(why);
	if (!is_read || !data)
		return NULL;
	if (world->file_count >= FILES_MAX) {
		world->files_cut = true;
		return NULL;
	}
	if (!array_reserve(&world->files, &world->file_capacity, world->file_count + 1))
		return error_no_memory();
	world->files[world->file_count++] = (struct wait_file){ .data = data,
								.file = file,
								.table = table->address,
								.task = table->task->address,
								.mode = mode };
	return NULL;
}

static struct error *load_table(struct loading *loading, const struct table *table)
{
	struct wait_world *world = loading->world;
	struct memory *memory = world->target->memory;
	uint8_t bytes[SLOTS_AT_ONCE * 8];
	uint64_t fdt, slots, array;
	TRY(interrupt_check());
	if (!wait_read(world, "struct files_struct", table->address, "fdt", &fdt) ||
	    !wait_read(world, "struct fdtable", fdt, "max_fds", &slots) ||
	    !wait_read(world, "struct fdtable", fdt, "fd", &array))
		return NULL;
	slots = (uint32_t)slots;
	world->files_cut |= slots > loading->slots_left;
	if (slots > loading->slots_left)
		slots = loading->slots_left;
	loading->slots_left -= slots;
	while (slots) {
		struct error *why;
		TRY(interrupt_check());
		size_t wanted = (slots < SLOTS_AT_ONCE ? slots : SLOTS_AT_ONCE) * 8;
		size_t size = memory_read_some(memory, array, bytes, wanted, &why);
		error_free(why);
		for (size_t i = 0; i + 8 <= size; i += 8) {
			uint64_t file = load_unsigned(bytes + i, 8, memory->big_endian);
			if (file)
				TRY(keep_file(loading, table, file));
		}
		if (size < wanted)
			break;
		array += size;
		slots -= size / 8;
	}
	return NULL;
}

static struct error *load_tables(struct loading *loading, struct table *tables)
{
	struct wait_world *world = loading->world;
	size_t count = 0;
	for (size_t i = 0; i < world->task_count; i++) {
		struct table *table = &tables[count];
		table->task = &world->tasks[i];
		if (wait_read(world, "struct task_struct", table->task->address, "files",
			      &table->address) &&
		    table->address)
			count++;
	}
	array_sort(tables, count, sizeof(*tables), compare_tables);
	for (size_t i = 0; i < count; i++)
		if (!i || tables[i].address != tables[i - 1].address)
			TRY(load_table(loading, &tables[i]));
	array_sort(world->files, world->file_count, sizeof(*world->files), compare_files);
	return NULL;
}

static struct error *load_files(struct wait_world *world)
{
	struct loading loading = { .world = world, .slots_left = SLOTS_MAX };
	if (world->files_loaded)
		return NULL;
	world->files_loaded = true;
	if (!wait_offset(world, "struct file", "f_mode", &loading.mode) ||
	    !wait_offset(world, "struct file", "private_data", &loading.data))
		return NULL;
	struct table *tables = malloc((world->task_count + 1) * sizeof(*tables));
	if (!tables)
		return error_no_memory();
	struct error *error = load_tables(&loading, tables);
	free(tables);
	return error;
}

/* --- who has it open ---------------------------------------------------------------------- */

struct peers {
	uint64_t tables[WAIT_OTHERS_MAX], tasks[WAIT_OTHERS_MAX]; /* not the waiter's own */
	size_t count;
	size_t files; /* that are open, however often they are shared */
	bool has_own; /* the waiter itself has one open */
	bool has_more;
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

/* `files`: how many are open, as what they lead to counts them. */
static void say_peers(struct sleeper *sleeper, const struct peers *peers, uint64_t files,
		      const struct peer_words *words)
{
	struct wait *wait = sleeper->wait;
	if (sleeper->world->files_cut) {
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
		wait->owner_sure = files == peers->files ? CONFIDENCE_CERTAIN : CONFIDENCE_INFERRED;
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
	TRY(load_files(world));
	if (!wait_read(world, "struct task_struct", sleeper->task->address, "files", &own) ||
	    !wait_read(world, wait->type, wait->object, reads ? "writers" : "readers", &files))
		return NULL;
	add_peers(world, wait->object, reads ? FMODE_WRITE : FMODE_READ, own, &peers);
	say_peers(sleeper, &peers, (uint32_t)files, &end_words);
	return NULL;
}

/* --- sockets -------------------------------------------------------------------------------- */

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
	if (!wait_read(world, "struct sock", peer, "sk_socket", &socket) || !socket ||
	    !wait_read(world, "struct socket", socket, "file", &file) || !file) {
		wait->owner_how = "the other end is closed";
		return NULL;
	}
	TRY(load_files(world));
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
	for (size_t i = 0; i < DEVICES_MAX; i++) {
		TRY(list_walk_next(&walk, &node));
		if (!node)
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
	TRY(load_files(world));
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
	TRY(load_files(world));
	if (!wait_read(world, "struct task_struct", sleeper->task->address, "files", &own))
		return NULL;
	add_peers(world, wait->object, FMODE_ANY, own, &peers);
	say_peers(sleeper, &peers, 1, &group_words);
	return NULL;
}
