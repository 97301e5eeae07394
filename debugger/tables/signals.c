// SPDX-License-Identifier: GPL-3.0-or-later
/* Signals of tasks, as /proc/TID/status has them. */
#include "debugger/tables/walks.h"

#include "base/array.h"
#include "base/bytes.h"
#include <inttypes.h>
#include <stdio.h>

enum {
	COLUMN_PID,
	COLUMN_COMM,
	COLUMN_TASK,
	COLUMN_PENDING,
	COLUMN_SHARED,
	COLUMN_BLOCKED,
	COLUMN_IGNORED,
	COLUMN_CAUGHT
};

static const struct table_column columns[] = {
	[COLUMN_PID] = { "pid", COLUMN_INTEGER, 7, "of the thread", NULL },
	[COLUMN_COMM] = { "comm", COLUMN_TEXT, -15, "its name", NULL },
	[COLUMN_TASK] = { "task", COLUMN_ADDRESS, 0, "its struct task_struct",
			  "struct task_struct" },
	[COLUMN_PENDING] = { "pending", COLUMN_TEXT, -8, "that wait for this thread: SigPnd",
			     NULL },
	[COLUMN_SHARED] = { "shared", COLUMN_TEXT, -8, "for any of its process: ShdPnd", NULL },
	[COLUMN_BLOCKED] = { "blocked", COLUMN_TEXT, -20, "that it does not take now: SigBlk",
			     NULL },
	[COLUMN_IGNORED] = { "ignored", COLUMN_TEXT, -20, "that do nothing: SigIgn", NULL },
	[COLUMN_CAUGHT] = { "caught", COLUMN_TEXT, -20, "that a function handles: SigCgt", NULL },
};

#define SIGNALS 64u
/* sa_handler: kernel include/uapi/asm-generic/signal-defs.h */
enum { HANDLER_DEFAULT = 0, HANDLER_IGNORE = 1 };

/* From 1 on, as asm-generic has them; those of real time have numbers. */
static const char *const names[] = {
	"HUP",	"INT",	"QUIT", "ILL",	  "TRAP",   "ABRT",  "BUS",  "FPE",  "KILL", "USR1", "SEGV",
	"USR2", "PIPE", "ALRM", "TERM",	  "STKFLT", "CHLD",  "CONT", "STOP", "TSTP", "TTIN", "TTOU",
	"URG",	"XCPU", "XFSZ", "VTALRM", "PROF",   "WINCH", "IO",   "PWR",  "SYS",
};

static void set_names(struct table_scan *scan, unsigned int column, uint64_t set)
{
	char text[SIGNALS * 8] = "";
	size_t used = 0;
	if (set == UINT64_MAX) {
		table_set_text(scan, column, "all");
		return;
	}
	for (unsigned int i = 0; i < SIGNALS && used < sizeof(text); i++) {
		if (!(set >> i & 1))
			continue;
		const char *between = used ? "," : "";
		used += (size_t)(i < ARRAY_COUNT(names) ? snprintf(text + used, sizeof(text) - used,
								   "%s%s", between, names[i])
							: snprintf(text + used, sizeof(text) - used,
								   "%s%u", between, i + 1));
	}
	table_set_text(scan, column, text);
}

static struct error *set_signals(struct table_scan *scan, unsigned int column,
				 const struct object *object, const char *path)
{
	uint64_t set;
	if (!table_wants(scan, column))
		return NULL;
	struct error *error = object_u64(object, path, &set);
	if (error)
		return table_set_error(scan, column, error);
	set_names(scan, column, set);
	return NULL;
}

/* What each of the actions does: all are read at once. */
static struct error *set_actions(struct table_scan *scan, const struct object *task)
{
	struct target *target = scan->target;
	struct object sighand, actions, first;
	uint64_t size, one, offset, ignored = 0, caught = 0;
	TRY(object_follow(task, "sighand", &sighand));
	if (!sighand.address)
		return NULL;
	TRY(object_member(&sighand, "action", &actions));
	TRY(object_member(&sighand, "action[0]", &first));
	TRY(object_offset(target, "struct k_sigaction", "sa.sa_handler", &offset));
	if (!type_size(actions.type, &size) || !type_size(first.type, &one) || !one ||
	    size / one != SIGNALS || one > 256 || offset + 8 > one)
		return error_create(ERROR_FORMAT, "sighand_struct has no usable actions");
	uint8_t bytes[SIGNALS * 256];
	TRY(memory_read(target->memory, actions.address, bytes, size));
	for (unsigned int i = 0; i < SIGNALS; i++) {
		uint64_t handler = load_u64(bytes + i * one + offset, target->memory->big_endian);
		if (handler == HANDLER_IGNORE)
			ignored |= UINT64_C(1) << i;
		else if (handler != HANDLER_DEFAULT)
			caught |= UINT64_C(1) << i;
	}
	set_names(scan, COLUMN_IGNORED, ignored);
	set_names(scan, COLUMN_CAUGHT, caught);
	return NULL;
}

static struct error *visit_task(struct table_scan *scan, const struct task *task)
{
	struct object object, signal;
	TRY(object_at(scan->target, "struct task_struct", task->address, &object));
	table_set(scan, COLUMN_PID, (uint64_t)task->pid);
	table_set_text(scan, COLUMN_COMM, task->comm);
	table_set(scan, COLUMN_TASK, task->address);
	TRY(set_signals(scan, COLUMN_PENDING, &object, "pending.signal.sig[0]"));
	TRY(set_signals(scan, COLUMN_BLOCKED, &object, "blocked.sig[0]"));
	struct error *error = object_follow(&object, "signal", &signal);
	if (error)
		TRY(table_set_error(scan, COLUMN_SHARED, error));
	else if (signal.address)
		TRY(set_signals(scan, COLUMN_SHARED, &signal, "shared_pending.signal.sig[0]"));
	TRY(table_set_error(scan, COLUMN_CAUGHT, set_actions(scan, &object)));
	return table_emit(scan);
}

static const char *const examples[] = { "signals 1",
					"signals -a --where \"pending <> '' or shared <> ''\"",
					NULL };

const struct table table_signals = {
	.name = "signals",
	.alias = "sig",
	.summary = "signals of tasks",
	.description = "A row is a thread: which signals wait for it, which it blocks, ignores and "
		       "handles, without SIG in front; those of real time by their number.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit_task = visit_task,
	.item = COLUMN_TASK,
	.is_object = true,
};
