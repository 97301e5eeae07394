// SPDX-License-Identifier: GPL-3.0-or-later
/* Locks of files, as /proc/locks has them. */
#include "debugger/kernel/path.h"

#include "base/array.h"
#include "debugger/tables/walks.h"

enum {
	COLUMN_LOCK,
	COLUMN_KIND,
	COLUMN_TYPE,
	COLUMN_PID,
	COLUMN_BLOCKER,
	COLUMN_INO,
	COLUMN_START,
	COLUMN_END,
	COLUMN_FILE,
	COLUMN_PATH,
};

static const struct table_column columns[] = {
	[COLUMN_LOCK] = { "lock", COLUMN_ADDRESS, 16, "its struct file_lock", "struct file_lock" },
	[COLUMN_KIND] = { "kind", COLUMN_TEXT, -6, "POSIX, FLOCK, LEASE, DELEG, OFDLCK", NULL },
	[COLUMN_TYPE] = { "type", COLUMN_TEXT, -5, "READ, WRITE", NULL },
	[COLUMN_PID] = { "pid", COLUMN_INTEGER, 7, "who has it, or waits for it", NULL },
	[COLUMN_BLOCKER] = { "blocker", COLUMN_ADDRESS, 16,
			     "the lock that it waits for; none: it is held", "struct file_lock" },
	[COLUMN_INO] = { "ino", COLUMN_WIDE, 0, "of the file", NULL },
	[COLUMN_START] = { "start", COLUMN_WIDE, 8, "the first byte", NULL },
	[COLUMN_END] = { "end", COLUMN_WIDE, 8, "the last; none: up to the end of the file", NULL },
	[COLUMN_FILE] = { "file", COLUMN_ADDRESS, 0, "its struct file", "struct file" },
	[COLUMN_PATH] = { "path", COLUMN_TEXT, -24, "the file's", NULL },
};

/* FL_* of kernel include/linux/filelock.h; one that is open-file's own is POSIX, too. */
static const struct {
	uint64_t bit;
	const char *word;
} kinds[] = { { 1024, "OFDLCK" }, { 1, "POSIX" }, { 2, "FLOCK" }, { 4, "DELEG" }, { 32, "LEASE" } };
static const char *const type_names[] = { "READ", "WRITE", "UNLCK" }; /* F_*LCK */
#define DEPTH_MAX 64

/* Since 6.9 (4ca52f539865) what all kinds have is a struct of its own, with other names. */
struct names {
	const char *type, *flags, *pid, *file, *link, *blocked, *waiter;
};
static const struct names old_names = { "fl_type",	    "fl_flags", "fl_pid",
					"fl_file",	    "fl_link",	"fl_blocked_requests",
					"fl_blocked_member" };
static const struct names new_names = { "c.flc_type",	       "c.flc_flags",
					"c.flc_pid",	       "c.flc_file",
					"c.flc_link",	       "c.flc_blocked_requests",
					"c.flc_blocked_member" };

struct pass {
	const struct names *names;
	uint64_t blocker; /* 0: the lock is held */
	unsigned int depth;
};

static struct error *set_kind(struct table_scan *scan, const struct names *names,
			      const struct object *lock)
{
	uint64_t flags, type;
	TRY(object_u64(lock, names->flags, &flags));
	TRY(object_u64(lock, names->type, &type));
	table_set_name(scan, COLUMN_TYPE, type_names, ARRAY_COUNT(type_names), type);
	for (size_t i = 0; i < ARRAY_COUNT(kinds); i++)
		if (flags & kinds[i].bit) {
			table_set_text(scan, COLUMN_KIND, kinds[i].word);
			break;
		}
	return NULL;
}

static struct error *set_end(struct table_scan *scan, const struct object *lock)
{
	uint64_t end;
	TRY(object_u64(lock, "fl_end", &end));
	/* OFFSET_MAX */
	if (end < INT64_MAX)
		table_set(scan, COLUMN_END, end);
	return NULL;
}

static struct error *set_file(struct table_scan *scan, const struct names *names,
			      const struct object *lock)
{
	struct object file, inode;
	char path[PATH_SIZE];
	TRY(object_follow(lock, names->file, &file));
	if (!file.address)
		return NULL;
	table_set(scan, COLUMN_FILE, file.address);
	TRY(object_follow(&file, "f_inode", &inode));
	TRY(table_set_member(scan, COLUMN_INO, &inode, "i_ino"));
	if (!table_wants(scan, COLUMN_PATH))
		return NULL;
	TRY(path_of_file(&file, NULL, path));
	table_set_text(scan, COLUMN_PATH, path);
	return NULL;
}

static struct error *emit(struct table_scan *scan, const struct pass *pass,
			  const struct object *lock)
{
	table_set(scan, COLUMN_LOCK, lock->address);
	if (pass->blocker)
		table_set(scan, COLUMN_BLOCKER, pass->blocker);
	TRY(table_set_error(scan, COLUMN_KIND, set_kind(scan, pass->names, lock)));
	TRY(table_set_member(scan, COLUMN_PID, lock, pass->names->pid));
	TRY(table_set_member(scan, COLUMN_START, lock, "fl_start"));
	TRY(table_set_error(scan, COLUMN_END, set_end(scan, lock)));
	TRY(table_set_error(scan, COLUMN_PATH, set_file(scan, pass->names, lock)));
	return table_emit(scan);
}

/* Behind it those that wait for it, and behind each of these who waits for that. */
static struct error *visit_lock(struct table_scan *scan, const struct object *lock, void *context)
{
	struct pass *pass = context;
	struct object blocked;
	uint64_t blocker = pass->blocker;
	TRY(emit(scan, pass, lock));
	struct error *error = object_member(lock, pass->names->blocked, &blocked);
	if (!error && pass->depth == DEPTH_MAX)
		error = error_create(ERROR_FORMAT, "locks wait for each other more than %d deep",
				     DEPTH_MAX);
	if (error)
		return table_broken(scan, error);
	const struct table_walk walk = { CONTAINER_LIST, "struct file_lock", pass->names->waiter,
					 visit_lock, pass };
	pass->blocker = lock->address;
	pass->depth++;
	error = table_walk(scan, blocked.address, &walk);
	pass->depth--;
	pass->blocker = blocker;
	return error;
}

static struct error *visit_cpu(struct table_scan *scan, const struct cpu *cpu,
			       const struct object *list, void *context)
{
	struct pass *pass = context;
	struct object head;
	const struct table_walk walk = { CONTAINER_HLIST, "struct file_lock", pass->names->link,
					 visit_lock, pass };
	(void)cpu;
	TRY(object_member(list, "hlist", &head));
	return table_walk(scan, head.address, &walk);
}

static struct error *visit(struct table_scan *scan)
{
	struct object lock;
	struct pass pass = { .names = &old_names };
	TRY(object_at(scan->target, "struct file_lock", 0, &lock));
	if (object_has(&lock, "c.flc_type"))
		pass.names = &new_names;
	return table_each_cpu(scan, "file_lock_list", "struct file_lock_list_struct", visit_cpu,
			      &pass);
}

static const char *const examples[] = { "filelocks", "filelocks --where 'blocker IS NOT NULL'",
					NULL };

const struct table table_filelocks = {
	.name = "filelocks",
	.summary = "locks of files",
	.description = "A row is a lock that a process has on a file, or waits for, as /proc/locks "
		       "has them. What tasks wait for otherwise is the matter of locks.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit = visit,
	.item = COLUMN_LOCK,
	.is_object = true,
};
