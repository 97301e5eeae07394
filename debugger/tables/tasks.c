// SPDX-License-Identifier: GPL-3.0-or-later
/* Tasks, threads and idle tasks too (kernel include/linux/sched.h). */
#include "debugger/tables/table.h"

#include "base/array.h"
#include "debugger/kernel/cgroup.h"
#include "debugger/kernel/path.h"
#include "debugger/kernel/task_memory.h"
#include "debugger/kernel/task_strings.h"
#include <string.h>

enum {
	COLUMN_PID,
	COLUMN_TGID,
	COLUMN_PPID,
	COLUMN_UID,
	COLUMN_CPU,
	COLUMN_TASK,
	COLUMN_STATE,
	COLUMN_RUNNING,
	COLUMN_PRIO,
	COLUMN_NICE,
	COLUMN_POLICY,
	COLUMN_FLAGS,
	COLUMN_MM,
	COLUMN_RSS,
	COLUMN_VSZ,
	COLUMN_SWAP,
	COLUMN_START,
	COLUMN_LAST,
	COLUMN_WAITED,
	COLUMN_UTIME,
	COLUMN_STIME,
	COLUMN_SWITCHES,
	COLUMN_PREEMPTIONS,
	COLUMN_CGROUP,
	COLUMN_CWD,
	COLUMN_ROOT,
	COLUMN_EXE,
	COLUMN_ARGS,
	COLUMN_ENV,
	COLUMN_COMM,
};

static const struct table_column columns[] = {
	[COLUMN_PID] = { "pid", COLUMN_INTEGER, 7, "of the thread", NULL },
	[COLUMN_TGID] = { "tgid", COLUMN_INTEGER, 7, "of the process", NULL },
	[COLUMN_PPID] = { "ppid", COLUMN_INTEGER, 7, "of the parent", NULL },
	[COLUMN_UID] = { "uid", COLUMN_INTEGER, 0, "the real user's", NULL },
	[COLUMN_CPU] = { "cpu", COLUMN_INTEGER, 4, "where it runs or ran last", NULL },
	[COLUMN_TASK] = { "task", COLUMN_ADDRESS, 16, "its task_struct", "struct task_struct" },
	[COLUMN_STATE] = { "state", COLUMN_TEXT, -5, "/proc's letter: R S D T t X Z P I", NULL },
	[COLUMN_RUNNING] = { "running", COLUMN_INTEGER, 0, "1: a CPU runs it", NULL },
	[COLUMN_PRIO] = { "prio", COLUMN_INTEGER, 4, "in force; below 100 real-time", NULL },
	[COLUMN_NICE] = { "nice", COLUMN_INTEGER, 4, "as was asked for", NULL },
	[COLUMN_POLICY] = { "policy", COLUMN_TEXT, -8, "SCHED_ policy", NULL },
	[COLUMN_FLAGS] = { "flags", COLUMN_INTEGER, 0, "PF_* of the kernel", NULL },
	[COLUMN_MM] = { "mm", COLUMN_ADDRESS, 0, "its address space; 0: a kernel thread",
			"struct mm_struct" },
	[COLUMN_RSS] = { "rss", COLUMN_BYTES, 6, "memory of its process: anonymous, files, shared",
			 NULL },
	[COLUMN_VSZ] = { "vsz", COLUMN_BYTES, 0, "all mappings of its process", NULL },
	[COLUMN_SWAP] = { "swap", COLUMN_BYTES, 0, "of its process, swapped out", NULL },
	[COLUMN_START] = { "start", COLUMN_DURATION, 0, "when it began, since the boot", NULL },
	[COLUMN_LAST] = { "last", COLUMN_DURATION, 0,
			  "when it last got a CPU, by the scheduler's clock", NULL },
	[COLUMN_WAITED] = { "run_delay", COLUMN_DURATION, 0,
			    "for how long it waited for a CPU, all in all", NULL },
	[COLUMN_UTIME] = { "utime", COLUMN_DURATION, 0, "in user mode, as /proc/PID/stat scales it",
			   NULL },
	[COLUMN_STIME] = { "stime", COLUMN_DURATION, 0, "in the kernel, the same", NULL },
	[COLUMN_SWITCHES] = { "switches", COLUMN_WIDE, 0, "how often it gave its CPU up", NULL },
	[COLUMN_PREEMPTIONS] = { "preemptions", COLUMN_WIDE, 0, "how often it lost it", NULL },
	[COLUMN_CGROUP] = { "cgroup", COLUMN_TEXT, 0, "path in the unified hierarchy", NULL },
	[COLUMN_CWD] = { "cwd", COLUMN_TEXT, 0, "path of its working directory", NULL },
	[COLUMN_ROOT] = { "root", COLUMN_TEXT, 0, "path of its root directory", NULL },
	[COLUMN_EXE] = { "exe", COLUMN_TEXT, 0, "path of the program that its process runs", NULL },
	[COLUMN_ARGS] = { "args", COLUMN_TEXT, 0, "arguments of its process, blanks between",
			  NULL },
	[COLUMN_ENV] = { "env", COLUMN_TEXT, 0, "environment of its process, the same", NULL },
	[COLUMN_COMM] = { "comm", COLUMN_TEXT, -16, "its name", NULL },
};

#define NICE_ZERO 120 /* kernel include/linux/sched/prio.h: DEFAULT_PRIO */

static const char *policy_name(uint64_t policy)
{
	/* kernel include/uapi/linux/sched.h; the gap was SCHED_ISO's */
	static const char *const names[] = { "NORMAL", "FIFO", "RR",	   "BATCH",
					     NULL,     "IDLE", "DEADLINE", "EXT" };
	return policy < ARRAY_COUNT(names) && names[policy] ? names[policy] : "?";
}

static struct error *set_scheduling(struct table_scan *scan, const struct object *object)
{
	uint64_t number;
	TRY(table_set_member(scan, COLUMN_PRIO, object, "prio"));
	TRY(object_u64(object, "static_prio", &number));
	table_set(scan, COLUMN_NICE, (uint64_t)((int64_t)number - NICE_ZERO));
	TRY(object_u64(object, "policy", &number));
	table_set_text(scan, COLUMN_POLICY, policy_name(number));
	return NULL;
}

static struct error *set_user(struct table_scan *scan, const struct object *object)
{
	struct object credentials;
	uint64_t uid;
	if (!table_wants(scan, COLUMN_UID))
		return NULL;
	TRY(object_follow(object, "real_cred", &credentials));
	TRY(object_u64(&credentials, "uid.val", &uid));
	table_set(scan, COLUMN_UID, uid);
	return NULL;
}

static struct error *set_memory(struct table_scan *scan, const struct task *task)
{
	struct task_memory memory;
	if (!task->has_mm || (!table_wants(scan, COLUMN_RSS) && !table_wants(scan, COLUMN_SWAP)))
		return NULL;
	TRY(task_memory_read(scan->target, task->address, &memory));
	uint64_t pages;
	if (__builtin_add_overflow(memory.file, memory.anonymous, &pages) ||
	    __builtin_add_overflow(pages, memory.shared, &pages))
		pages = UINT64_MAX;
	table_set_pages(scan, COLUMN_RSS, pages);
	table_set_pages(scan, COLUMN_SWAP, memory.swap);
	return NULL;
}

static struct error *set_size(struct table_scan *scan, const struct object *object)
{
	struct object mm;
	uint64_t pages;
	if (!table_wants(scan, COLUMN_VSZ))
		return NULL;
	TRY(object_follow(object, "mm", &mm));
	if (!mm.address)
		return NULL;
	TRY(object_u64(&mm, "total_vm", &pages));
	table_set_pages(scan, COLUMN_VSZ, pages);
	return NULL;
}

static struct error *set_cgroup(struct table_scan *scan, uint64_t address)
{
	char path[PATH_SIZE];
	if (!table_wants(scan, COLUMN_CGROUP))
		return NULL;
	TRY(task_cgroup(scan->target, address, path, sizeof(path)));
	table_set_text(scan, COLUMN_CGROUP, path);
	return NULL;
}

/* Kernel threads have them, too; who has ended has none. */
static struct error *set_folder(struct table_scan *scan, const struct object *object,
				unsigned int column, const char *name)
{
	struct object folders;
	char path[PATH_SIZE];
	if (!table_wants(scan, column))
		return NULL;
	TRY(object_follow(object, "fs", &folders));
	if (!folders.address)
		return NULL;
	TRY(path_at(&folders, name, path));
	table_set_text(scan, column, path);
	return NULL;
}

static struct error *set_program(struct table_scan *scan, const struct object *object)
{
	struct object mm, file;
	char path[PATH_SIZE];
	if (!table_wants(scan, COLUMN_EXE))
		return NULL;
	TRY(object_follow(object, "mm", &mm));
	if (!mm.address)
		return NULL;
	TRY(object_follow(&mm, "exe_file", &file));
	if (!file.address)
		return NULL;
	TRY(path_of_file(&file, NULL, path));
	table_set_text(scan, COLUMN_EXE, path);
	return NULL;
}

/*
 * Ticks say how a task's time divides, and the scheduler how long it was (kernel/sched/cputime.c,
 * cputime_adjust()). What was shown once never gets less.
 */
static struct error *set_times(struct table_scan *scan, const struct object *object)
{
	uint64_t whole, user, system, told_user, told_system;
	if (!table_wants(scan, COLUMN_UTIME) && !table_wants(scan, COLUMN_STIME))
		return NULL;
	TRY(object_u64(object, "se.sum_exec_runtime", &whole));
	TRY(object_u64(object, "utime", &user));
	TRY(object_u64(object, "stime", &system));
	TRY(object_u64(object, "prev_cputime.utime", &told_user));
	TRY(object_u64(object, "prev_cputime.stime", &told_system));
	if (told_user + told_system >= whole) {
		user = told_user;
		system = told_system;
	} else {
		if (system && user)
			system = (uint64_t)((unsigned __int128)system * whole /
					    ((unsigned __int128)system + user));
		else if (system)
			system = whole;
		system = system > told_system ? system : told_system;
		user = whole - system;
		if (user < told_user) {
			user = told_user;
			system = whole - user;
		}
	}
	table_set(scan, COLUMN_UTIME, user);
	table_set(scan, COLUMN_STIME, system);
	return NULL;
}

/* A NUL ends a cell's text: blanks stand between them, as ps(1) has it. */
static struct error *set_strings(struct table_scan *scan, const struct task *task,
				 unsigned int column, enum task_strings_kind kind)
{
	struct task_strings strings;
	if (!task->has_mm || !table_wants(scan, column))
		return NULL;
	TRY(task_strings_read(scan->target, task, kind, &strings));
	while (strings.size && !strings.bytes[strings.size - 1])
		strings.size--;
	for (size_t i = 0; i < strings.size; i++)
		if (!strings.bytes[i])
			strings.bytes[i] = ' ';
	if (strings.is_cut && strings.size > 3)
		memcpy(strings.bytes + strings.size - 3, "...", 3);
	if (strings.bytes)
		table_set_text(scan, column, strings.bytes);
	task_strings_deinit(&strings);
	return NULL;
}

static struct error *set_members(struct table_scan *scan, const struct object *object)
{
	/* Since 5.5 (cf25e24db61c) what /proc shows counts the time asleep too. */
	const char *start = object_has(object, "start_boottime") ? "start_boottime"
								 : "real_start_time";
	TRY(table_set_member(scan, COLUMN_FLAGS, object, "flags"));
	TRY(table_set_member(scan, COLUMN_MM, object, "mm"));
	TRY(table_set_member(scan, COLUMN_START, object, start));
	TRY(table_set_member(scan, COLUMN_LAST, object, "sched_info.last_arrival"));
	TRY(table_set_member(scan, COLUMN_WAITED, object, "sched_info.run_delay"));
	TRY(table_set_error(scan, COLUMN_VSZ, set_size(scan, object)));
	TRY(table_set_error(scan, COLUMN_UTIME, set_times(scan, object)));
	TRY(table_set_error(scan, COLUMN_CWD, set_folder(scan, object, COLUMN_CWD, "pwd")));
	TRY(table_set_error(scan, COLUMN_ROOT, set_folder(scan, object, COLUMN_ROOT, "root")));
	TRY(table_set_error(scan, COLUMN_EXE, set_program(scan, object)));
	TRY(table_set_member(scan, COLUMN_SWITCHES, object, "nvcsw"));
	TRY(table_set_member(scan, COLUMN_PREEMPTIONS, object, "nivcsw"));
	TRY(table_set_error(scan, COLUMN_PRIO, set_scheduling(scan, object)));
	TRY(table_set_error(scan, COLUMN_UID, set_user(scan, object)));
	return table_set_error(scan, COLUMN_CGROUP, set_cgroup(scan, object->address));
}

static struct error *visit_task(struct table_scan *scan, const struct task *task)
{
	const char state[] = { task->state_letter, 0 };
	struct object object;
	TRY(object_at(scan->target, "struct task_struct", task->address, &object));
	table_set(scan, COLUMN_TASK, task->address);
	table_set(scan, COLUMN_CPU, task->cpu);
	table_set(scan, COLUMN_RUNNING, task->on_cpu);
	if (!task->is_partial) {
		table_set(scan, COLUMN_PID, (uint64_t)task->pid);
		table_set(scan, COLUMN_TGID, (uint64_t)task->tgid);
		table_set_text(scan, COLUMN_STATE, state);
		table_set_text(scan, COLUMN_COMM, task->comm);
	}
	if (task->ppid >= 0)
		table_set(scan, COLUMN_PPID, (uint64_t)task->ppid);
	TRY(table_set_error(scan, COLUMN_RSS, set_memory(scan, task)));
	TRY(table_set_error(scan, COLUMN_ARGS,
			    set_strings(scan, task, COLUMN_ARGS, TASK_ARGUMENTS)));
	TRY(table_set_error(scan, COLUMN_ENV,
			    set_strings(scan, task, COLUMN_ENV, TASK_ENVIRONMENT)));
	TRY(set_members(scan, &object));
	return table_emit(scan);
}

static const char *const examples[] = { "tasks",
					"tasks --sort -stime -n 5 -o pid,comm,utime,stime",
					"tasks --where \"state = 'D'\" -o pid,comm,start,cgroup",
					"tasks --where \"args LIKE '%init%'\" -o pid,args",
					"tasks -n 3 | bt",
					NULL };

const struct table table_tasks = {
	.name = "tasks",
	.summary = "tasks, with times, priorities and cgroups",
	.description = "A row is a thread, or the idle task of a CPU. `ps` has the same tasks with "
		       "options to choose some; here are more columns. args and env are the "
		       "process's own memory, which "
		       "a dump without users' pages does not have.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit_task = visit_task,
	.item = COLUMN_TASK,
	.is_object = true,
};
