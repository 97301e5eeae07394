// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/kernel/task.h"

#include "base/array.h"
#include "debugger/kernel/panic_cpu.h"
#include "debugger/kernel/task_list.h"
#include "debugger/target/attached.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of so many it is remembered what was read: 2.5 MiB. */
#define TASKS_KEPT_MAX 16384u

/* --- state (kernel include/linux/sched.h, fs/proc/array.c) --------------------------- */

#define STATE_UNINTERRUPTIBLE 0x2u
#define STATE_REPORT	      0x7fu
#define STATE_IDLE	      0x402u  /* UNINTERRUPTIBLE | NOLOAD */
#define STATE_RTLOCK_WAIT     0x1000u /* 5.16 on */
#define STATE_FROZEN	      0x8000u /* 6.1 on */

static char state_letter(uint64_t state)
{
	static const char letters[] = "RSDTtXZP";
	if ((state & STATE_IDLE) == STATE_IDLE)
		return 'I';
	if (state & (STATE_RTLOCK_WAIT | STATE_FROZEN))
		state |= STATE_UNINTERRUPTIBLE;
	uint64_t reported = state & STATE_REPORT;
	return letters[reported ? 64 - __builtin_clzll(reported) : 0];
}

/* --- reading one ------------------------------------------------------------------------ */

static void note(struct task *task, struct error *error)
{
	if (task->problem)
		error_free(error);
	else
		task->problem = error;
}

/* The member by the first of its names that exists; 0 and a problem when it cannot be read. */
static uint64_t member(struct task *task, const struct object *object, const char *name,
		       const char *older)
{
	uint64_t value = 0;
	if (older && !object_has(object, name))
		name = older;
	note(task, object_u64(object, name, &value));
	return value;
}

static struct error *read_parent(const struct object *object, int32_t *ret)
{
	struct object parent;
	uint64_t tgid;
	TRY(object_follow(object, "real_parent", &parent));
	TRY(error_prefix(object_u64(&parent, "tgid", &tgid), "real_parent"));
	*ret = (int32_t)tgid;
	return NULL;
}

static void find_cpu(struct target *target, struct task *task)
{
	const struct cpu *cpus;
	size_t count = target_cpus(target, &cpus);
	for (size_t i = 0; i < count; i++) {
		if (cpus[i].current_task == task->address) {
			task->on_cpu = true;
			task->cpu = cpus[i].number;
		}
		if (cpus[i].idle_task == task->address) {
			task->is_idle = true;
			task->cpu = cpus[i].number;
		}
	}
}

/*
 * What one word says and others contradict. A task that neither runs nor waits for a CPU sleeps: it
 * sets its state before it leaves the run queue, and who wakes it does so after it is back
 * (kernel/sched/core.c: __schedule(), ttwu_do_activate()). A stack is freed behind the end alone.
 */
static void check(struct target *target, struct task *task, const struct object *object)
{
	uint64_t queued = 1;
	if (task->problem || task->is_idle || task->on_cpu || target_is_live(target))
		return;
	if (object_has(object, "on_rq"))
		note(task, object_u64(object, "on_rq", &queued));
	if (!task->state && !queued)
		note(task, error_create(ERROR_FORMAT,
					"task %d: its state says that it runs, and it is on no "
					"run queue",
					task->pid));
	if (!task->stack && !strchr("ZX", task->state_letter))
		note(task, error_create(ERROR_FORMAT,
					"task %d: its stack is NULL, though it has not exited",
					task->pid));
}

struct error *task_read(struct target *target, uint64_t address, struct task *ret)
{
	struct task task = { .address = address, .ppid = -1 };
	struct object object;
	uint64_t pid;
	TRY(target_need_memory(target));
	TRY(object_at(target, "struct task_struct", address, &object));
	TRY(error_prefix(object_u64(&object, "pid", &pid), "task 0x%" PRIx64, address));
	task.pid = (int32_t)pid;
	task.tgid = (int32_t)member(&task, &object, "tgid", NULL);
	note(&task, read_parent(&object, &task.ppid));
	/* In the task itself up to 5.15, then in thread_info (bcf9033e5449). */
	task.cpu = (uint32_t)member(&task, &object, "cpu", "thread_info.cpu");
	/* `state` up to 5.13. */
	uint64_t state = (uint32_t)member(&task, &object, "__state", "state");
	task.state = state | (uint32_t)member(&task, &object, "exit_state", NULL);
	task.state_letter = state_letter(task.state);
	task.has_mm = member(&task, &object, "mm", NULL) != 0;
	task.stack = member(&task, &object, "stack", NULL);
	note(&task, object_string(&object, "comm", task.comm, sizeof(task.comm)));
	find_cpu(target, &task);
	check(target, &task, &object);
	*ret = task;
	return NULL;
}

void task_deinit(struct task *task)
{
	error_free(task->problem);
	task->problem = NULL;
}

/* --- all of them -------------------------------------------------------------------------- */

/*
 * The first tasks of a machine that stands still as they were read, in the order of their list, for
 * their pages are in no cache when they are asked for again; address 0: something was missing.
 */
struct kept {
	struct task *tasks;
	size_t count;
};

static const char kept_key;

static void kept_destroy(void *data)
{
	struct kept *kept = data;
	free(kept->tasks);
	free(kept);
}

struct visitor {
	struct target *target;
	task_visitor *visit;
	void *context;
	struct error *problem;
	const struct kept *kept; /* NULL: they are read, and remembered here */
	struct task *tasks;
	size_t number, task_count, task_capacity;
};

/*
 * Whether a task of a running machine has left its lists since they were walked, so that what was
 * read of it may be anything. Who is on them is linked back to (list_del_rcu() poisons `prev`).
 */
static bool has_exited(struct target *target, uint64_t address)
{
	struct object task, link;
	uint64_t next, prev, back = 0, forth = 0;
	if (!target_is_live(target))
		return false;
	struct error *error = object_at(target, "struct task_struct", address, &task);
	if (!error)
		error = object_member(&task, "thread_node", &link);
	if (!error)
		error = object_u64(&link, "next", &next);
	if (!error)
		error = object_u64(&link, "prev", &prev);
	if (!error)
		error = memory_read_word(target->memory, next + target->memory->word_size, &back);
	if (!error)
		error = memory_read_word(target->memory, prev, &forth);
	bool linked = !error && back == link.address && forth == link.address;
	error_free(error);
	return !linked;
}

/* One that is not whole is read again, and says again what is missing. */
static void remember(struct visitor *visitor, const struct task *task)
{
	if (target_is_live(visitor->target) || visitor->task_count == TASKS_KEPT_MAX ||
	    !array_reserve(&visitor->tasks, &visitor->task_capacity, visitor->task_count + 1))
		return;
	visitor->tasks[visitor->task_count++] = task && !task->problem ? *task : (struct task){ 0 };
}

static struct error *read_and_visit(void *context, uint64_t address)
{
	struct visitor *visitor = context;
	const struct kept *kept = visitor->kept;
	struct task task;
	size_t number = visitor->number++;
	if (kept && number < kept->count && kept->tasks[number].address == address)
		return visitor->visit(visitor->context, &kept->tasks[number]);
	struct error *error = task_read(visitor->target, address, &task);
	if (!kept)
		remember(visitor, error ? NULL : &task);
	if (error) {
		if (visitor->problem || has_exited(visitor->target, address))
			error_free(error);
		else
			visitor->problem = error;
		return NULL;
	}
	if (!has_exited(visitor->target, address)) {
		if (task.problem && !visitor->problem)
			visitor->problem = error_copy(task.problem);
		error = visitor->visit(visitor->context, &task);
	}
	task_deinit(&task);
	return error;
}

/* Takes what a walk to the end has read of them; without memory they are read once more. */
static void keep_read(struct visitor *visitor, const struct error *error)
{
	/* A visitor may have gone to the end itself. */
	bool is_new = !error && visitor->tasks && !target_attached(visitor->target, &kept_key);
	struct kept *kept = is_new ? malloc(sizeof(*kept)) : NULL;
	if (!kept) {
		free(visitor->tasks);
		return;
	}
	*kept = (struct kept){ .tasks = visitor->tasks, .count = visitor->task_count };
	error_free(target_attach(visitor->target, &kept_key, kept, kept_destroy));
}

struct error *task_for_each(struct target *target, task_visitor *visit, void *context,
			    struct error **ret_problem)
{
	struct visitor visitor = { .target = target,
				   .visit = visit,
				   .context = context,
				   .kept = target_attached(target, &kept_key) };
	struct error *error = task_list_for_each(target, read_and_visit, &visitor, ret_problem);
	keep_read(&visitor, error);
	if (*ret_problem)
		error_free(visitor.problem);
	else
		*ret_problem = visitor.problem;
	return error;
}

/* --- one of them ---------------------------------------------------------------------------- */

struct search {
	struct target *target;
	uint64_t pid;
	uint64_t found;
};

/* Only the pid is read: most tasks are not the one. An error that says nothing ends the walk. */
static struct error *match_pid(void *context, uint64_t address)
{
	struct search *search = context;
	struct object task;
	uint64_t pid;
	TRY(object_at(search->target, "struct task_struct", address, &task));
	struct error *error = object_u64(&task, "pid", &pid);
	error_free(error);
	if (error || pid != search->pid)
		return NULL;
	search->found = address;
	return error_create(ERROR_OTHER, "found"); /* ends the walk */
}

/* A kernel stack begins with a page. */
#define STACK_ALIGNMENT 4096

/* Any readable memory can be read as a task; most of it cannot be one. */
static struct error *find_at(struct target *target, uint64_t address, struct task *ret)
{
	struct task task;
	TRY(task_read(target, address, &task));
	/* Pid 0 is that of idle tasks alone, which init_idle() names. */
	bool is_task = task.pid ? task.pid > 0 && task.pid < PID_LIMIT
				: !strncmp(task.comm, "swapper", strlen("swapper"));
	is_task = is_task && task.stack % STACK_ALIGNMENT == 0;
	if (is_task || task.is_partial) {
		*ret = task;
		return NULL;
	}
	task_deinit(&task);
	return error_create(ERROR_NOT_FOUND,
			    "no task is at 0x%" PRIx64 ": its pid would be %" PRId32
			    ", its stack 0x%" PRIx64,
			    address, task.pid, task.stack);
}

struct error *task_find(struct target *target, uint64_t pid_or_address, struct task *ret)
{
	if (pid_or_address >= PID_LIMIT)
		return find_at(target, pid_or_address, ret);
	struct search search = { .target = target, .pid = pid_or_address };
	struct error *problem;
	struct error *error = task_list_for_each(target, match_pid, &search, &problem);
	if (search.found) {
		error_free(error);
		error = NULL;
	} else if (!error)
		error = error_create(ERROR_NOT_FOUND, "no task has pid %" PRIu64 "%s%s",
				     pid_or_address, problem ? ": " : "",
				     problem ? problem->message : "");
	error_free(problem);
	return error ? error : task_read(target, search.found, ret);
}

/* What is known of a task without its pid; takes `why`. */
static struct error *read_partial(struct target *target, const struct cpu *cpu, struct error *why,
				  struct task *ret)
{
	struct task task = { .address = cpu->current_task,
			     .cpu = cpu->number,
			     .on_cpu = true,
			     .is_partial = true,
			     .ppid = -1,
			     .is_idle = cpu->current_task == cpu->idle_task,
			     .state_letter = '?' };
	struct object object;
	struct error *error = object_at(target, "struct task_struct", cpu->current_task, &object);
	if (error || !cpu->has_registers) {
		error_free(error);
		return why;
	}
	task.problem = why;
	error = object_u64(&object, "stack", &task.stack);
	error_free(error);
	*ret = task;
	return NULL;
}

struct error *task_on_cpu(struct target *target, uint32_t number, struct task *ret)
{
	const struct cpu *cpu;
	TRY(target_find_cpu(target, number, &cpu));
	if (!cpu->current_task)
		return error_create(ERROR_NOT_FOUND, "the task of CPU %" PRIu32 " is not known",
				    number);
	struct error *error = task_read(target, cpu->current_task, ret);
	if (!error || error->kind == ERROR_NO_MEMORY)
		return error;
	/* The CPU's registers still lead to its stack. */
	return read_partial(target, cpu, error, ret);
}

void task_forget(struct target *target)
{
	target_detach(target, &kept_key);
	task_list_forget(target);
}

struct error *task_panicking(struct target *target, struct task *ret)
{
	uint32_t number = 0;
	if (target_is_live(target)) {
		struct error *error = task_find(target, (uint64_t)getpid(), ret);
		if (!error || error_is_fatal(error))
			return error;
		error_free(error);
	}
	if (!panic_cpu_find(target, &number)) {
		const struct cpu *cpus;
		if (target_cpus(target, &cpus))
			number = cpus[0].number;
	}
	return task_on_cpu(target, number, ret);
}
