// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What one task waits for. The names of functions are data: those that sleep for a lock, and those
 * around them up to the caller, as Linux has had them from 5.10 on; what the compiler adds to a
 * name
 * (".constprop.0") is left out.
 */
#include "debugger/analysis/waits_private.h"

#include "base/array.h"
#include <stdio.h>
#include <string.h>

static const struct wait_class mutex = { "mutex",	 "struct mutex",  "struct mutex_waiter",
					 "task",	 "list",	  "wait_list",
					 "first_waiter", wait_mutex_owner };
static const struct wait_class rwsem = {
	"rwsem", "struct rw_semaphore", "struct rwsem_waiter", "task",
	"list",	 "wait_list",		"first_waiter",	       wait_rwsem_owner
};
static const struct wait_class semaphore = {
	"semaphore", "struct semaphore", "struct semaphore_waiter", "task", "list",
	"wait_list", "first_waiter",	 wait_semaphore_owner
};
static const struct wait_class completion = {
	"completion", "struct completion", "struct swait_queue",
	"task",	      "task_list",	   "wait.task_list",
	NULL,	      wait_completer
};
static const struct wait_class percpu_rwsem = { "percpu_rwsem",
						"struct percpu_rw_semaphore",
						"struct wait_queue_entry",
						"private",
						"entry",
						"waiters.head",
						NULL,
						wait_percpu_owner };

static const struct wait_class receivers = { "message queue",
					     "struct msg_queue",
					     "struct msg_receiver",
					     "r_tsk",
					     "r_list",
					     "q_receivers",
					     NULL,
					     NULL };
static const struct wait_class senders = { "message queue",
					   "struct msg_queue",
					   "struct msg_sender",
					   "tsk",
					   "list",
					   "q_senders",
					   NULL,
					   NULL };

struct wait_row {
	const char *function;
	const struct wait_class *class;
	const char *mode;
};

static const struct wait_row rows[] = {
	{ "__mutex_lock", &mutex, NULL },
	{ "__mutex_lock_common", &mutex, NULL },
	{ "__ww_mutex_lock", &mutex, NULL },
	{ "__mutex_lock_slowpath", &mutex, NULL },
	{ "__mutex_lock_killable_slowpath", &mutex, NULL },
	{ "__mutex_lock_interruptible_slowpath", &mutex, NULL },
	{ "mutex_lock", &mutex, NULL },
	{ "mutex_lock_killable", &mutex, NULL },
	{ "mutex_lock_interruptible", &mutex, NULL },
	{ "mutex_lock_io", &mutex, NULL },
	{ "rwsem_down_read_slowpath", &rwsem, "read" },
	{ "down_read", &rwsem, "read" },
	{ "down_read_killable", &rwsem, "read" },
	{ "down_read_interruptible", &rwsem, "read" },
	{ "rwsem_down_write_slowpath", &rwsem, "write" },
	{ "down_write", &rwsem, "write" },
	{ "down_write_killable", &rwsem, "write" },
	{ "percpu_rwsem_wait", &percpu_rwsem, NULL },
	{ "__percpu_down_read", &percpu_rwsem, "read" },
	{ "percpu_down_write", &percpu_rwsem, "write" },
	{ "__wait_for_common", &completion, NULL },
	{ "wait_for_common", &completion, NULL },
	{ "wait_for_completion", &completion, NULL },
	{ "wait_for_completion_io", &completion, NULL },
	{ "wait_for_completion_state", &completion, NULL },
	{ "wait_for_completion_killable", &completion, NULL },
	{ "wait_for_completion_interruptible", &completion, NULL },
	{ "wait_for_completion_timeout", &completion, NULL },
	{ "wait_for_completion_io_timeout", &completion, NULL },
	{ "wait_for_completion_killable_timeout", &completion, NULL },
	{ "wait_for_completion_interruptible_timeout", &completion, NULL },
	{ "___down_common", &semaphore, NULL },
	{ "__down_common", &semaphore, NULL },
	{ "__down", &semaphore, NULL },
	{ "__down_interruptible", &semaphore, NULL },
	{ "__down_killable", &semaphore, NULL },
	{ "__down_timeout", &semaphore, NULL },
	{ "down", &semaphore, NULL },
	{ "down_interruptible", &semaphore, NULL },
	{ "down_killable", &semaphore, NULL },
	{ "down_timeout", &semaphore, NULL },
	{ "do_msgrcv", &receivers, "read" },
	{ "do_msgsnd", &senders, "write" },
};

/* Of the scheduler and its timers: who sleeps in them has called them to do so. */
bool wait_is_scheduler(const struct frame *frame)
{
	static const char *const prefixes[] = { "schedule", "__schedule", "io_schedule",
						"poll_schedule", "rt_mutex_schedule" };
	for (size_t i = 0; i < ARRAY_COUNT(prefixes); i++)
		if (!strncmp(frame->symbol.name, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

bool wait_frame_is(const struct frame *frame, const char *name)
{
	size_t length = strlen(name);
	return frame->has_symbol && !strncmp(frame->symbol.name, name, length) &&
	       (!frame->symbol.name[length] || frame->symbol.name[length] == '.');
}

static const struct wait_row *row_of(const struct frame *frame)
{
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
		if (wait_frame_is(frame, rows[i].function))
			return &rows[i];
	return NULL;
}

/* --- arguments -----------------------------------------------------------------------------------
 */

static void ask_arguments(struct sleeper *sleeper)
{
	struct wait_world *world = sleeper->world;
	if (sleeper->arguments_asked)
		return;
	sleeper->arguments_asked = true;
	struct error *error =
		arguments_of(world->target, sleeper->task, sleeper->trace, &sleeper->arguments);
	if (error)
		sleeper->arguments = NULL;
	error_free(error);
}

static const struct argument *find_argument(struct sleeper *sleeper, size_t from, size_t to,
					    const char *type)
{
	char spelled[64];
	ask_arguments(sleeper);
	if (!sleeper->arguments)
		return NULL;
	for (size_t i = from; i < to && i < sleeper->trace->count; i++) {
		const struct frame_arguments *frame = &sleeper->arguments[i];
		for (size_t k = 0; k < frame->count; k++) {
			if (!frame->items[k].is_known)
				continue;
			type_spell(frame->items[k].type, NULL, spelled, sizeof(spelled));
			if (!strcmp(spelled, type))
				return &frame->items[k];
		}
	}
	return NULL;
}

bool wait_argument(struct sleeper *sleeper, size_t from, size_t to, const char *type, uint64_t *ret)
{
	const struct argument *argument = find_argument(sleeper, from, to, type);
	if (argument)
		*ret = argument->value;
	return argument;
}

bool wait_argument_object(struct sleeper *sleeper, size_t from, size_t to, const char *type,
			  struct object *ret)
{
	const struct argument *argument = find_argument(sleeper, from, to, type);
	*ret = (struct object){ .target = sleeper->world->target };
	if (!argument || !type_target(argument->type, &ret->type))
		return false;
	ret->address = argument->value;
	return true;
}

/* --- locks ------------------------------------------------------------------------------ */

/*
 * What newer kernels note of themselves (CONFIG_DETECT_HUNG_TASK_BLOCKER): the address of the lock,
 * and in its lowest bits its kind.
 */
static uint64_t noted_lock(const struct sleeper *sleeper, const struct wait_class *class)
{
	static const struct wait_class *const classes[] = { &mutex, &semaphore, &rwsem, &rwsem };
	uint64_t blocker;
	if (!wait_read(sleeper->world, "struct task_struct", sleeper->task->address, "blocker",
		       &blocker) ||
	    !blocker || classes[blocker & 3] != class)
		return 0;
	return blocker & ~(uint64_t)3;
}

#define CANDIDATES_MAX 40

static bool can_be_lock(uint64_t address)
{
	return is_kernel_pointer(address) && address % 8 == 0;
}

/* What registers held in the function and in who called it: the list says whether it is the lock.
 */
static size_t add_registers(const struct sleeper *sleeper, uint64_t *candidates, size_t count)
{
	const struct arch *arch = sleeper->world->target->arch;
	for (size_t i = sleeper->frame; i < sleeper->frame + 2 && i < sleeper->trace->count; i++) {
		const struct registers *registers = &sleeper->trace->frames[i].registers;
		for (unsigned int k = 0; k < arch->register_count; k++)
			if (registers_has(registers, k) && can_be_lock(registers->values[k]) &&
			    count < CANDIDATES_MAX)
				candidates[count++] = registers->values[k];
	}
	return count;
}

static void say(struct wait *wait, uint64_t object, const char *how, enum confidence sure)
{
	wait->object = object;
	wait->how = how;
	wait->sure = sure;
}

static struct error *find_object(struct sleeper *sleeper, const struct wait_class *class,
				 size_t frames_end)
{
	struct wait *wait = sleeper->wait;
	uint64_t candidates[CANDIDATES_MAX], argument = 0, listed;
	size_t count = 0;
	char type[64];
	snprintf(type, sizeof(type), "%s *", class->type);
	uint64_t noted = noted_lock(sleeper, class);
	if (noted)
		candidates[count++] = noted;
	if (wait_argument(sleeper, sleeper->frame, frames_end, type, &argument) && argument)
		candidates[count++] = argument;
	count = add_registers(sleeper, candidates, count);
	TRY(wait_lock_by_list(sleeper, class, candidates, count, &listed));
	if (listed && (!argument || argument == listed) && (!noted || noted == listed))
		say(wait, listed, argument ? "argument and list" : "list", CONFIDENCE_CERTAIN);
	else if (argument)
		say(wait, argument, "argument", listed ? CONFIDENCE_INFERRED : CONFIDENCE_CERTAIN);
	else if (noted)
		say(wait, noted, "task's own note",
		    listed ? CONFIDENCE_INFERRED : CONFIDENCE_CERTAIN);
	return NULL;
}

static struct error *find_lock(struct sleeper *sleeper, const struct wait_row *row)
{
	struct wait *wait = sleeper->wait;
	const struct stack_trace *trace = sleeper->trace;
	size_t end = sleeper->frame;
	wait->kind = row->class->kind;
	wait->type = row->class->type;
	/* The functions around the one that sleeps may say more: how, and of which lock. */
	for (const struct wait_row *outer = row; outer && outer->class == row->class;) {
		wait->mode = wait->mode ?: outer->mode;
		outer = ++end < trace->count ? row_of(&trace->frames[end]) : NULL;
	}
	TRY(find_object(sleeper, row->class, end));
	return wait->object && row->class->find_owner ? row->class->find_owner(sleeper) : NULL;
}

/* --- all kinds -------------------------------------------------------------------------- */

static bool find_frame(struct sleeper *sleeper)
{
	const struct stack_trace *trace = sleeper->trace;
	for (size_t i = 0; i < trace->count; i++) {
		const struct frame *frame = &trace->frames[i];
		if (frame->kind == FRAME_USER || !frame->has_symbol)
			return false;
		if (!wait_is_scheduler(frame)) {
			sleeper->frame = i;
			sleeper->wait->function = frame->symbol.name;
			return true;
		}
	}
	return false;
}

/* Functions that do nothing but wait for what their caller wants. */
static bool only_waits(const struct frame *frame)
{
	static const char *const names[] = {
		"msleep",	   "msleep_interruptible", "usleep_range_state",
		"ssleep",	   "wait_woken",	   "do_wait_intr_irq",
		"__wait_on_bit",   "__wait_on_bit_lock",   "out_of_line_wait_on_",
		"synchronize_rcu", "__wait_rcu_gp"
	};
	for (size_t i = 0; i < ARRAY_COUNT(names); i++)
		if (!strncmp(frame->symbol.name, names[i], strlen(names[i])))
			return true;
	return row_of(frame) || wait_is_rt_lock(frame);
}

static void find_caller(struct sleeper *sleeper)
{
	const struct stack_trace *trace = sleeper->trace;
	for (size_t i = sleeper->frame; i < trace->count; i++) {
		const struct frame *frame = &trace->frames[i];
		if (frame->kind == FRAME_USER || !frame->has_symbol)
			return;
		if (i > sleeper->frame && !only_waits(frame)) {
			sleeper->wait->caller = frame->symbol.name;
			return;
		}
	}
}

/* A stack that was guessed says nothing for sure. */
static void doubt(struct sleeper *sleeper)
{
	struct wait *wait = sleeper->wait;
	for (size_t i = 0; i <= sleeper->frame; i++) {
		const struct frame *frame = &sleeper->trace->frames[i];
		bool is_guess = frame->kind == FRAME_POINTER || frame->kind == FRAME_SCAN ||
				frame->is_unproved;
		if (is_guess && wait->sure > CONFIDENCE_GUESS)
			wait->sure = CONFIDENCE_GUESS;
		if (is_guess && wait->owner_sure > CONFIDENCE_GUESS)
			wait->owner_sure = CONFIDENCE_GUESS;
	}
}

struct error *wait_find(struct sleeper *sleeper)
{
	if (!find_frame(sleeper))
		return NULL;
	find_caller(sleeper);
	const struct wait_row *row = row_of(&sleeper->trace->frames[sleeper->frame]);
	TRY(wait_find_rt_mutex(sleeper));
	if (!sleeper->wait->kind && !wait_find_rt_writer(sleeper)) {
		if (row)
			TRY(find_lock(sleeper, row));
		if (!sleeper->wait->kind)
			TRY(wait_find_futex(sleeper));
		if (!sleeper->wait->kind)
			TRY(wait_find_poll(sleeper));
		if (!sleeper->wait->kind)
			TRY(wait_find_file_lock(sleeper));
		if (!sleeper->wait->kind)
			TRY(wait_find_fuse(sleeper));
		if (!sleeper->wait->kind)
			wait_find_disk_queue(sleeper);
		if (!sleeper->wait->kind)
			TRY(wait_find_queue(sleeper));
		if (!sleeper->wait->kind)
			TRY(wait_find_exit(sleeper));
		if (!sleeper->wait->kind)
			TRY(wait_find_netdev(sleeper));
		wait_find_rpc(sleeper);
	}
	TRY(wait_find_super_block(sleeper));
	doubt(sleeper);
	return NULL;
}
