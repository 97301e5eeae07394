// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Waits on a queue (include/linux/wait.h): the function that wakes the entry says what it is part
 * of, the queue's head where it hangs. And those whose record is of a kind of its own: futexes,
 * file locks.
 */
#include "debugger/analysis/waits_private.h"

#include "base/array.h"
#include "debugger/analysis/wait_place.h"
#include "debugger/kernel/disks.h"
#include <inttypes.h>
#include <string.h>

#define ENTRY "struct wait_queue_entry"

/* Of struct file_lock (include/linux/filelock.h): OFD locks are POSIX locks of an open file. */
#define FL_POSIX  1u
#define FL_OFDLCK 1024u

static void say(struct wait *wait, const char *kind, const char *type, uint64_t object,
		const char *how, enum confidence sure)
{
	wait->kind = kind;
	wait->type = type;
	wait->object = object;
	wait->how = how;
	wait->sure = sure;
}

/* --- what the entry is part of ---------------------------------------------------------- */

/* A bit of a word, or the word itself ("var"), which has no queue of its own but a shared one. */
static bool find_bit(struct sleeper *sleeper, uint64_t entry, bool is_variable)
{
	const char *type = "struct wait_bit_queue_entry";
	uint64_t offset, word;
	if (!wait_offset(sleeper->world, type, "wq_entry", &offset) ||
	    !wait_read(sleeper->world, type, entry - offset, "key.flags", &word))
		return false;
	say(sleeper->wait, is_variable ? "variable" : "bit", NULL, word, "list",
	    CONFIDENCE_CERTAIN);
	return true;
}

/* A bit of a buffer's state (fs/buffer.c); who waits for it leaves no function of its own. */
static struct error *find_buffer(struct sleeper *sleeper)
{
	const char *type = "struct buffer_head";
	struct wait *wait = sleeper->wait;
	uint64_t offset, device;
	if (!wait_offset(sleeper->world, type, "b_state", &offset))
		return NULL;
	enum confidence sure =
		wait_slab_object(sleeper->world->target, wait->object - offset, type);
	if (sure == CONFIDENCE_UNKNOWN)
		return NULL;
	say(wait, "buffer", type, wait->object - offset, "list", sure);
	if (wait_read(sleeper->world, type, wait->object, "b_bdev", &device) && device) {
		wait->within = device;
		wait->within_type = "struct block_device";
	}
	struct bio_sought sought = { .private = wait->object };
	return wait_say_disk(sleeper, wait->within, &sought);
}

/* A page's or, since 5.16, a folio's bit. */
static struct error *find_folio(struct sleeper *sleeper, uint64_t entry)
{
	static const char *const names[] = { "folio", "page" };
	static const char *const types[] = { "struct folio", "struct page" };
	const char *type = "struct wait_page_queue";
	uint64_t offset, value, bit, mapping, inode, block, of_file = 0;
	size_t name = !wait_offset(sleeper->world, type, names[0], &value);
	if (!wait_offset(sleeper->world, type, "wait", &offset) ||
	    !wait_read(sleeper->world, type, entry - offset, names[name], &value) ||
	    !wait_read(sleeper->world, type, entry - offset, "bit_nr", &bit))
		return NULL;
	say(sleeper->wait, names[name], types[name], value, "list", CONFIDENCE_CERTAIN);
	/* Of the page cache, unless one of the lowest bits says otherwise (PAGE_MAPPING_FLAGS). */
	if (wait_read(sleeper->world, types[name], value, "mapping", &mapping) && mapping &&
	    !(mapping & 3) &&
	    wait_read(sleeper->world, "struct address_space", mapping, "host", &inode) && inode) {
		uint64_t device = 0;
		error_free(block_device_of_inode(sleeper->world->target, inode, &device));
		sleeper->wait->within = device ?: inode;
		sleeper->wait->within_type = device ? "struct block_device" : "struct inode";
		if (!device && wait_read(sleeper->world, "struct inode", inode, "i_sb", &block))
			wait_read(sleeper->world, "struct super_block", block, "s_bdev", &of_file);
		of_file = device ?: of_file;
	}
	struct bio_sought sought = { .page = value };
	return wait_say_disk(sleeper, of_file, &sought);
}

/* --- what the queue is part of ---------------------------------------------------------- */

/* Of many kinds of files, a queue may lie where a pipe has one: the function says which it is. */
static bool is_pipe_wait(const struct sleeper *sleeper)
{
	static const char *const names[] = { "pipe_read", "pipe_write", "anon_pipe_read",
					     "anon_pipe_write" };
	for (size_t i = 0; i < ARRAY_COUNT(names); i++)
		if (wait_frame_is(&sleeper->trace->frames[sleeper->frame], names[i]))
			return true;
	return false;
}

/* The object that an argument leads to, if the queue is one of its own. */
static bool find_pipe(struct sleeper *sleeper, uint64_t head)
{
	static const struct {
		const char *member, *mode;
	} queues[] = { { "rd_wait", "read" }, { "wr_wait", "write" } };
	const char *type = "struct pipe_inode_info";
	struct wait_world *world = sleeper->world;
	uint64_t iocb, file, pipe, offset;
	if (!is_pipe_wait(sleeper))
		return false;
	bool has_file = wait_argument(sleeper, sleeper->frame, sleeper->frame + 1, "struct kiocb *",
				      &iocb) &&
			wait_read(world, "struct kiocb", iocb, "ki_filp", &file);
	/* vfs_read() and vfs_write() call it. */
	if (!has_file &&
	    !wait_argument(sleeper, sleeper->frame, sleeper->frame + 2, "struct file *", &file))
		return false;
	if (!wait_read(world, "struct file", file, "private_data", &pipe))
		return false;
	for (size_t i = 0; i < ARRAY_COUNT(queues); i++) {
		if (!wait_offset(world, type, queues[i].member, &offset) || pipe + offset != head)
			continue;
		say(sleeper->wait, "pipe", type, pipe, "argument and list", CONFIDENCE_CERTAIN);
		sleeper->wait->mode = queues[i].mode;
		return true;
	}
	return false;
}

/* The queue lies in an eventpoll, whose file leads back to it. */
static bool find_epoll(struct sleeper *sleeper, uint64_t head)
{
	const char *type = "struct eventpoll";
	struct wait_world *world = sleeper->world;
	uint64_t offset, file, back;
	if (!wait_offset(world, type, "wq", &offset) ||
	    !wait_read(world, type, head - offset, "file", &file) ||
	    !wait_read(world, "struct file", file, "private_data", &back) || back != head - offset)
		return false;
	say(sleeper->wait, "epoll", type, back, "list", CONFIDENCE_CERTAIN);
	return true;
}

/* The queue is a socket's own, whose file leads back to it. */
static bool find_socket(struct sleeper *sleeper, uint64_t head)
{
	static const struct {
		const char *function, *mode;
	} ways[] = {
		{ "unix_stream_read_generic", "read" },	   { "unix_stream_data_wait", "read" },
		{ "__skb_wait_for_more_packets", "read" }, { "sk_wait_data", "read" },
		{ "sock_wait_for_wmem", "write" },	   { "sock_alloc_send_pskb", "write" },
		{ "sk_stream_wait_memory", "write" },	   { "unix_wait_for_peer", "write" },
	};
	const char *type = "struct socket";
	struct wait_world *world = sleeper->world;
	uint64_t offset, file, back;
	if (!wait_offset(world, type, "wq.wait", &offset) ||
	    !wait_read(world, type, head - offset, "file", &file) ||
	    !wait_read(world, "struct file", file, "private_data", &back) || back != head - offset)
		return false;
	say(sleeper->wait, "socket", type, back, "list", CONFIDENCE_CERTAIN);
	sleeper->wait->within = back;
	sleeper->wait->within_type = type;
	for (size_t i = 0; i < ARRAY_COUNT(ways); i++)
		for (size_t k = 0; k < 2 && sleeper->frame + k < sleeper->trace->count; k++)
			if (wait_frame_is(&sleeper->trace->frames[sleeper->frame + k],
					  ways[i].function))
				sleeper->wait->mode = ways[i].mode;
	return true;
}

static struct error *find_by_head(struct sleeper *sleeper, uint64_t entry, uint64_t function)
{
	uint64_t head;
	TRY(wait_queue_head_of(sleeper->world, entry, &head));
	if (!head)
		return NULL;
	if (wait_is_function(sleeper->world, function, "ep_autoremove_wake_function") &&
	    find_epoll(sleeper, head))
		return NULL;
	if (find_pipe(sleeper, head))
		return wait_pipe_peer(sleeper);
	if (find_socket(sleeper, head))
		return wait_socket_peer(sleeper);
	TRY(wait_find_kernfs(sleeper));
	if (!sleeper->wait->kind)
		TRY(wait_find_journal(sleeper, head));
	if (!sleeper->wait->kind)
		TRY(wait_find_fanotify(sleeper, head));
	if (!sleeper->wait->kind)
		TRY(wait_find_autofs(sleeper, head));
	if (!sleeper->wait->kind)
		TRY(wait_find_userfault(sleeper, head));
	if (sleeper->wait->kind)
		return NULL;
	say(sleeper->wait, "wait queue", "struct wait_queue_head", head, "list",
	    CONFIDENCE_CERTAIN);
	return NULL;
}

static struct error *find_by_entry(struct sleeper *sleeper, uint64_t entry)
{
	struct wait_world *world = sleeper->world;
	uint64_t function;
	if (!wait_read(world, ENTRY, entry, "func", &function) ||
	    !wait_is_function(world, function, NULL))
		return NULL;
	if (wait_is_function(world, function, "wake_bit_function") &&
	    find_bit(sleeper, entry, false))
		return find_buffer(sleeper);
	if (wait_is_function(world, function, "var_wake_function") &&
	    find_bit(sleeper, entry, true))
		return NULL;
	if (wait_is_function(world, function, "child_wait_callback") &&
	    wait_find_child(sleeper, entry))
		return NULL;
	if (wait_is_function(world, function, "wake_page_function"))
		TRY(find_folio(sleeper, entry));
	if (sleeper->wait->kind)
		return NULL;
	return find_by_head(sleeper, entry, function);
}

struct error *wait_find_queue(struct sleeper *sleeper)
{
	uint64_t entries[WAIT_RECORDS_MAX];
	size_t count = wait_records(sleeper, ENTRY, "private", "entry", 4, entries);
	for (size_t i = 0; i < count && !sleeper->wait->kind; i++)
		TRY(find_by_entry(sleeper, entries[i]));
	return NULL;
}

/* --- polls ---------------------------------------------------------------------------------- */

/*
 * Who polls has a struct poll_wqueues on its stack, and in it an entry for each queue; of one alone
 * it is known which it is.
 */
static bool find_poll(struct sleeper *sleeper, uint64_t queues)
{
	struct wait_world *world = sleeper->world;
	uint64_t count, more, head, owner, file;
	const char *type = "struct poll_wqueues";
	if (!wait_read(world, type, queues, "inline_index", &count) || (int32_t)count != 1 ||
	    !wait_read(world, type, queues, "table", &more) || more ||
	    !wait_read(world, type, queues, "inline_entries[0].wait.private", &owner) ||
	    owner != queues || !wait_read(world, type, queues, "inline_entries[0].filp", &file) ||
	    !wait_read(world, type, queues, "inline_entries[0].wait_address", &head))
		return false;
	say(sleeper->wait, "poll", "struct wait_queue_head", head, "stack", CONFIDENCE_CERTAIN);
	sleeper->wait->within = file;
	sleeper->wait->within_type = "struct file";
	return true;
}

static bool is_poll_wait(const struct sleeper *sleeper)
{
	static const char *const names[] = { "do_sys_poll", "do_select", "core_sys_select",
					     "do_poll" };
	for (size_t i = 0; i < ARRAY_COUNT(names); i++)
		if (wait_frame_is(&sleeper->trace->frames[sleeper->frame], names[i]))
			return true;
	return false;
}

struct error *wait_find_poll(struct sleeper *sleeper)
{
	uint64_t places[WAIT_RECORDS_MAX], task;
	if (!is_poll_wait(sleeper) ||
	    !wait_offset(sleeper->world, "struct poll_wqueues", "polling_task", &task))
		return NULL;
	size_t count = wait_places_of_task(sleeper, 4, places);
	for (size_t i = 0; i < count && !sleeper->wait->kind; i++)
		find_poll(sleeper, places[i] - task);
	return NULL;
}

/* --- futexes ---------------------------------------------------------------------------- */

/* The lowest bits of an offset: of which kind the key is (include/linux/futex.h). */
#define FUTEX_SHARED 3u

/* The address that the task gave; of a private one the key has it as well. */
static bool user_address(struct sleeper *sleeper, uint64_t *ret)
{
	return wait_argument(sleeper, sleeper->frame + 1, sleeper->frame + 5, "u32 *", ret);
}

static bool find_futex(struct sleeper *sleeper, uint64_t queued)
{
	struct wait_world *world = sleeper->world;
	const char *type = "struct futex_q";
	uint64_t owner, offset, page, mm, tasks_mm;
	if (!wait_read(world, type, queued, "task", &owner) || owner != sleeper->task->address ||
	    !wait_read(world, type, queued, "key.both.offset", &offset) ||
	    !wait_read(world, type, queued, "key.private.address", &page) ||
	    !wait_read(world, type, queued, "key.private.mm", &mm) ||
	    !wait_read(world, "struct task_struct", owner, "mm", &tasks_mm))
		return false;
	offset = (uint32_t)offset;
	bool is_private = !(offset & FUTEX_SHARED) && mm == tasks_mm;
	uint64_t address = page + offset;
	bool known = is_private || user_address(sleeper, &address);
	say(sleeper->wait, "futex", NULL, known ? address : 0, "argument",
	    known ? CONFIDENCE_CERTAIN : CONFIDENCE_UNKNOWN);
	sleeper->wait->mode = is_private ? NULL : "shared";
	sleeper->wait->owner_how = "the kernel does not know who has it: user space does";
	return true;
}

/* Where the functions of futexes sleep, and none else. */
static bool is_futex_wait(const struct sleeper *sleeper)
{
	static const char *const names[] = { "futex_wait_queue_me", "futex_wait_queue",
					     "futex_do_wait",	    "__futex_wait",
					     "futex_wait",	    "futex_wait_multiple" };
	for (size_t i = 0; i < ARRAY_COUNT(names); i++)
		if (wait_frame_is(&sleeper->trace->frames[sleeper->frame], names[i]))
			return true;
	return false;
}

struct error *wait_find_futex(struct sleeper *sleeper)
{
	uint64_t records[WAIT_RECORDS_MAX], argument;
	if (!is_futex_wait(sleeper))
		return NULL;
	size_t count =
		wait_records(sleeper, "struct futex_q", "task", "list.node_list", 4, records);
	if (!count && wait_argument(sleeper, sleeper->frame, sleeper->frame + 1, "struct futex_q *",
				    &argument))
		records[count++] = argument;
	for (size_t i = 0; i < count && !sleeper->wait->kind; i++)
		find_futex(sleeper, records[i]);
	return NULL;
}

/* --- file locks ------------------------------------------------------------------------- */

static int compare_pids(const void *a, const void *b)
{
	const struct task *one = *(const struct task *const *)a,
			  *other = *(const struct task *const *)b;
	return one->pid < other->pid ? -1 : one->pid > other->pid;
}

/* Only who waits for a file lock asks for tasks by pid. */
static struct error *task_of_pid(struct wait_world *world, int32_t pid, uint64_t *ret)
{
	const struct task key = { .pid = pid }, *wanted = &key;
	*ret = 0;
	if (!world->by_pid) {
		world->by_pid = malloc((world->task_count + 1) * sizeof(*world->by_pid));
		if (!world->by_pid)
			return error_no_memory();
		for (size_t i = 0; i < world->task_count; i++)
			world->by_pid[i] = &world->tasks[i];
		array_sort(world->by_pid, world->task_count, sizeof(*world->by_pid), compare_pids);
	}
	const struct task **found = array_search(&wanted, world->by_pid, world->task_count,
						 sizeof(*world->by_pid), compare_pids);
	if (found && pid > 0)
		*ret = (*found)->address;
	return NULL;
}

/* The members are in a core of their own since 6.9 (a69ce85ec9af). */
static bool read_lock(const struct sleeper *sleeper, uint64_t lock, const char *core,
		      const char *older, uint64_t *ret)
{
	return wait_read(sleeper->world, "struct file_lock", lock, core, ret) ||
	       wait_read(sleeper->world, "struct file_lock", lock, older, ret);
}

/* The table of open files that a POSIX lock belongs to: of the tasks that have it the first thread.
 */
static const struct task *task_of_table(struct wait_world *world, uint64_t table)
{
	const struct task *ret = NULL;
	for (size_t i = 0; table && i < world->task_count; i++) {
		const struct task *task = &world->tasks[i];
		uint64_t files;
		if (!wait_read(world, "struct task_struct", task->address, "files", &files) ||
		    files != table)
			continue;
		if (task->pid == task->tgid)
			return task;
		ret = ret ?: task;
	}
	return ret;
}

/*
 * By the table of open files; else by the pid, which others may have got since, and which a fork
 * outlives (fs/locks.c: flock_make_lock(), flock_to_posix_lock()).
 */
static struct error *find_taker(struct sleeper *sleeper, uint64_t lock)
{
	struct wait *wait = sleeper->wait;
	uint64_t pid, flags, table = 0, owner;
	wait->owner_how = "the lock does not say who took it";
	if (!read_lock(sleeper, lock, "c.flc_flags", "fl_flags", &flags))
		flags = 0;
	if ((flags & (FL_POSIX | FL_OFDLCK)) == FL_POSIX &&
	    !read_lock(sleeper, lock, "c.flc_owner", "fl_owner", &table))
		table = 0;
	const struct task *holder = task_of_table(sleeper->world, table);
	if (holder) {
		wait->owner = holder->address;
		wait->owner_sure = CONFIDENCE_CERTAIN;
		wait->owner_how = "the lock is of its open files";
		return NULL;
	}
	/* As those that lockd takes, with the pid of another machine. */
	if (table)
		wait->owner_how = "the lock is of no task's open files";
	if (table || !read_lock(sleeper, lock, "c.flc_pid", "fl_pid", &pid) || (int32_t)pid <= 0)
		return NULL;
	wait->owner_how = "no task has the pid of who took it";
	TRY(task_of_pid(sleeper->world, (int32_t)pid, &owner));
	if (!owner)
		return NULL;
	wait->owner = owner;
	wait->owner_sure = CONFIDENCE_INFERRED;
	wait->owner_how = "the pid that the lock has: who took it";
	return NULL;
}

static struct error *find_file_lock(struct sleeper *sleeper, uint64_t request)
{
	struct wait *wait = sleeper->wait;
	uint64_t blocker, type;
	if (!read_lock(sleeper, request, "c.flc_blocker", "fl_blocker", &blocker) || !blocker ||
	    !read_lock(sleeper, request, "c.flc_type", "fl_type", &type))
		return NULL;
	say(wait, "file lock", "struct file_lock", blocker, "argument", CONFIDENCE_CERTAIN);
	wait->mode = type ? "write" : "read";
	return find_taker(sleeper, blocker);
}

/* The request has the queue in which it waits, alone; it hangs in the list of what blocks it. */
static struct error *request_of_queue(struct sleeper *sleeper, uint64_t *ret)
{
	static const char *const queues[] = { "c.flc_wait", "fl_wait" };
	static const char *const members[] = { "c.flc_blocked_member", "fl_blocked_member" };
	struct wait_world *world = sleeper->world;
	uint64_t entries[WAIT_RECORDS_MAX], offset, member, next;
	*ret = 0;
	size_t core = !wait_offset(world, "struct file_lock", queues[0], &offset);
	size_t count = wait_records(sleeper, ENTRY, "private", "entry", 2, entries);
	for (size_t i = 0; i < count && !*ret; i++) {
		uint64_t head;
		TRY(wait_queue_head_of(world, entries[i], &head));
		if (head && wait_offset(world, "struct file_lock", queues[core], &offset) &&
		    wait_offset(world, "struct file_lock", members[core], &member) &&
		    wait_node_is_linked(world->target, head - offset + member, &next))
			*ret = head - offset;
	}
	return NULL;
}

struct error *wait_find_file_lock(struct sleeper *sleeper)
{
	static const char *const names[] = { "locks_lock_inode_wait", "flock_lock_inode_wait",
					     "posix_lock_inode_wait", "fcntl_setlk",
					     "fcntl_setlk64",	      "do_lock_file_wait" };
	const struct frame *frame = &sleeper->trace->frames[sleeper->frame];
	uint64_t request;
	bool waits_here = false;
	for (size_t i = 0; i < ARRAY_COUNT(names); i++)
		waits_here |= wait_frame_is(frame, names[i]);
	if (!waits_here)
		return NULL;
	if (!wait_argument(sleeper, sleeper->frame, sleeper->frame + 2, "struct file_lock *",
			   &request))
		TRY(request_of_queue(sleeper, &request));
	return request ? find_file_lock(sleeper, request) : NULL;
}
