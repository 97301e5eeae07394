// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * CPUs that others wait for: one that takes no interrupts, and so does not run what it is asked to
 * by those that wait for it; one that runs a task which lets no other have it.
 */
#include "base/array.h"
#include "debugger/analysis/analysis.h"
#include "debugger/analysis/cpu_view.h"
#include "debugger/analysis/spinning.h"
#include "debugger/analysis/stack_words.h"
#include "debugger/kernel/panic_cpu.h"
#include "debugger/kernel/throttle.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_S 1000000000.0
#define DEAF_NS	 2000000000u /* a CPU whose timer is so late takes no interrupts */
/* Nobody who is ready to run waits for so long but for a task that is more important. */
#define STARVED_NS    5000000000u
#define STARVED_SHOWN 3
/* A policy (kernel include/uapi/linux/sched.h) */
#define SCHED_IDLE 5
#define GROUPS_MAX 64 /* one within another */
#define PLACE	   (SYMBOL_NAME_SIZE + 96)

static double seconds(uint64_t ns)
{
	return (double)ns / NS_PER_S;
}

/* --- CPUs without interrupts ------------------------------------------------------------------ */

struct waiting {
	struct analysis *analysis;
	const struct cpu *cpu;	  /* that takes no interrupts */
	struct pending_call call; /* that another one waits for; address 0: none */
};

/* It stands in a function that waits until others have run theirs. */
static struct error *waits_for_others(struct analysis *analysis, uint32_t number, bool *ret)
{
	static const char *const names[] = { "smp_call_function_single",
					     "smp_call_function_many_cond",
					     "smp_call_function_many", "csd_lock_wait",
					     "__csd_lock_wait" };
	struct task task;
	struct stack_trace trace = { 0 };
	*ret = false;
	TRY(task_on_cpu(analysis->target, number, &task));
	struct error *error = unwind_task(analysis->target, &task, &trace);
	for (size_t i = 0; i < ARRAY_COUNT(names) && !error && !*ret; i++)
		*ret = trace_find(&trace, 0, names[i]) != trace.count;
	stack_trace_deinit(&trace);
	task_deinit(&task);
	return error;
}

static struct error *look_at_call(void *context, const struct pending_call *call)
{
	struct waiting *waiting = context;
	bool waits;
	if (call->by == UINT32_MAX || call->by == waiting->cpu->number || waiting->call.address)
		return NULL;
	TRY(error_only_fatal(waits_for_others(waiting->analysis, call->by, &waits)));
	if (waits)
		waiting->call = *call;
	return NULL;
}

/* `for 9.1 s: pid 321 "lab-deaf" was in lab_device_poll+0x9 [faults]`. */
static struct error *put_culprit(const struct analysis *analysis, const struct spinning *spinning,
				 uint64_t late, char *text, size_t size)
{
	char who[128]; /* a comm has 16 bytes */
	int used = snprintf(text, size, "for %.1f s", seconds(late));
	if (!analysis->has_task || used < 0 || (size_t)used + 2 >= size)
		return NULL;
	if (analysis->blamed < analysis->trace.count) {
		strcpy(text + used, ": ");
		return spinning_describe(analysis,
					 spinning->is_found ? spinning->frame : analysis->blamed,
					 spinning, text + used + 2, size - (size_t)used - 2);
	}
	analysis_put_task(&analysis->task, who, sizeof(who));
	snprintf(text + used, size - (size_t)used, ": %s ran there", who);
	return NULL;
}

static struct error *add_call(struct finding *finding, const struct waiting *waiting)
{
	char command[64], function[PLACE];
	if (!target_describe(waiting->analysis->target, waiting->call.function, function,
			     sizeof(function)))
		snprintf(function, sizeof(function), "0x%" PRIx64, waiting->call.function);
	snprintf(command, sizeof(command), "print *(struct __call_single_data *)0x%" PRIx64,
		 waiting->call.address);
	return finding_add(finding, command, "CPU %u was asked by CPU %u to run %s, and did not",
			   waiting->cpu->number, waiting->call.by, function);
}

/* For the signature: a timer that spins has no part in the task that it came upon. */
static struct error *find_borrower(const struct analysis *analysis, const struct spinning *spinning,
				   char *ret)
{
	const struct stack_trace *trace = &analysis->trace;
	struct circumstance circumstance;
	size_t frame;
	if (!spinning->is_found || analysis->blamed >= trace->count ||
	    !trace_circumstance(trace, spinning->frame, &circumstance) || !circumstance.is_borrowed)
		return NULL;
	TRY(analysis_find_module(analysis, spinning->frame, &frame));
	frame_stem(&trace->frames[frame < trace->count ? frame : analysis->blamed], ret,
		   SYMBOL_NAME_SIZE);
	return NULL;
}

/* What ran there, in an analysis of its own: the stack that is shown may stay the other one. */
static struct error *say_deaf(struct analysis *analysis, const struct waiting *waiting,
			      uint64_t late, uint64_t due, bool is_cause)
{
	char culprit[SPINNING_TEXT + 32], command[48], borrower[SYMBOL_NAME_SIZE] = "";
	struct spinning spinning = { .is_found = false };
	bool is_call = waiting->call.address;
	struct analysis other = { .target = analysis->target };
	struct analysis *shown = is_cause ? analysis : &other;
	struct error *error = analysis_look_at_cpu(shown, waiting->cpu->number);
	if (!error) {
		analysis_blame_first(shown);
		error = spinning_find_any(shown, &spinning);
	}
	if (!error)
		error = put_culprit(shown, &spinning, late, culprit, sizeof(culprit));
	uint64_t task = shown->has_task ? shown->task.address : 0;
	if (!error)
		error = find_borrower(shown, &spinning, borrower);
	analysis_deinit(&other);
	TRY(error);
	struct finding *finding = analysis_add_at(analysis, is_cause ? 0 : analysis->count,
						  is_call ? "stuck-call" : "interrupts-off",
						  CONFIDENCE_CERTAIN);
	if (!finding)
		return error_no_memory();
	finding->task = finding->blamed = task;
	if (*borrower && !(finding->culprit = strdup(borrower)))
		return error_no_memory();
	uint32_t number = waiting->cpu->number;
	TRY(is_call ? finding_summarize(finding,
					"CPU %u waits for CPU %u, which takes no interrupts %s",
					waiting->call.by, number, culprit)
		    : finding_summarize(finding, "CPU %u takes no interrupts %s", number, culprit));
	if (is_call)
		TRY(add_call(finding, waiting));
	snprintf(command, sizeof(command), "print hrtimer_bases:%u", number);
	TRY(finding_add(finding, command,
			"the timer of CPU %u was due %.6f s after the start, the end came at %.6f",
			number, seconds(due), seconds(due + late)));
	snprintf(command, sizeof(command), "bt -c %u", number);
	return finding_add(finding, command, "what CPU %u does", number);
}

/* What somebody found out of whom this CPU held up. */
static bool is_symptom(const struct analysis *analysis)
{
	static const char *const kinds[] = { "soft-lockup", "hard-lockup", "rcu-stall",
					     "hung-task" };
	for (size_t i = 0; i < ARRAY_COUNT(kinds) && analysis->count; i++)
		if (!strcmp(analysis->findings[0].kind, kinds[i]))
			return true;
	return false;
}

static struct error *say_deaf_cpus(struct analysis *analysis, uint64_t now, bool *ret_found)
{
	const struct cpu *cpus;
	uint32_t panicked = UINT32_MAX;
	size_t count = target_cpus(analysis->target, &cpus);
	panic_cpu_find(analysis->target, &panicked);
	for (size_t i = 0; i < count; i++) {
		struct waiting waiting = { .analysis = analysis, .cpu = &cpus[i] };
		uint64_t late, due;
		/* Who panics does so with interrupts off, and may take its time. */
		if (cpus[i].number == panicked || !cpus[i].current_task)
			continue;
		TRY(cpu_lateness(analysis->target, &cpus[i], now, &late, &due));
		if (late < DEAF_NS)
			continue;
		TRY(error_only_fatal(
			cpu_for_each_call(analysis->target, &cpus[i], look_at_call, &waiting)));
		TRY(say_deaf(analysis, &waiting, late, due,
			     waiting.call.address && is_symptom(analysis)));
		*ret_found = true;
	}
	return NULL;
}

/* --- tasks that wait for a CPU ---------------------------------------------------------------- */

/* Of one CPU. */
struct starved {
	uint32_t cpu;
	bool is_busy; /* it runs a task: an idle one will run those that are ready */
	uint64_t longest, count;
	struct {
		struct task task;
		uint64_t waited, priority;
	} items[STARVED_SHOWN]; /* the first ones that are met */
	size_t shown;
};

/* Of all CPUs: the tasks are many, so they are walked once. */
struct starving {
	struct target *target;
	uint64_t now;
	struct starved *cpus; /* in ascending order */
	size_t count;
};

/* Whether it asked for no more than what others leave of a CPU, or a group did for it (since 5.15).
 */
static struct error *is_modest(const struct object *task, bool *ret)
{
	struct object group;
	uint64_t policy, is_idle = 0;
	TRY(object_u64(task, "policy", &policy));
	*ret = policy == SCHED_IDLE;
	if (*ret || !object_has(task, "sched_task_group"))
		return NULL;
	TRY(object_follow(task, "sched_task_group", &group));
	for (unsigned int i = 0; i < GROUPS_MAX && group.address && !*ret; i++) {
		if (object_has(&group, "idle"))
			TRY(object_u64(&group, "idle", &is_idle));
		*ret = is_idle;
		TRY(object_follow(&group, "parent", &group));
	}
	return NULL;
}

static struct error *read_wait(const struct starving *starving, const struct task *task,
			       uint64_t *ret, uint64_t *ret_priority)
{
	struct object object;
	uint64_t queued, is_queued;
	bool modest;
	*ret = 0;
	TRY(object_at(starving->target, "struct task_struct", task->address, &object));
	TRY(object_u64(&object, "on_rq", &is_queued));
	TRY(object_u64(&object, "rt_priority", ret_priority));
	TRY(object_u64(&object, "sched_info.last_queued", &queued));
	if (is_queued != 1 || !queued || queued >= starving->now)
		return NULL;
	TRY(is_modest(&object, &modest));
	*ret = modest ? 0 : starving->now - queued;
	return NULL;
}

static struct error *look_at_ready(void *context, const struct task *task)
{
	struct starving *starving = context;
	uint64_t waited, priority;
	bool is_throttled;
	if (task->on_cpu || task->is_idle || task->state_letter != 'R')
		return NULL;
	size_t number = array_bound(starving->count, i, starving->cpus[i].cpu < task->cpu);
	struct starved *starved = &starving->cpus[number];
	if (number == starving->count || starved->cpu != task->cpu || !starved->is_busy)
		return NULL;
	struct error *error = read_wait(starving, task, &waited, &priority);
	if (error || waited < STARVED_NS)
		return error_only_fatal(error);
	/* Who must not run does not wait for the CPU. */
	error = task_is_throttled(starving->target, task->address, &is_throttled);
	if (error || is_throttled)
		return error_only_fatal(error);
	starved->count++;
	starved->longest = waited > starved->longest ? waited : starved->longest;
	if (starved->shown == STARVED_SHOWN)
		return NULL;
	size_t at = starved->shown++;
	starved->items[at].task = *task;
	starved->items[at].task.problem = NULL;
	starved->items[at].waited = waited;
	starved->items[at].priority = priority;
	return NULL;
}

static void put_priority(uint64_t priority, char *text, size_t size)
{
	if (priority)
		snprintf(text, size, "of real-time priority %" PRIu64, priority);
	else
		snprintf(text, size, "without a real-time priority");
}

static struct error *say_starved(struct analysis *analysis, const struct starving *starving,
				 const struct starved *starved)
{
	struct task task;
	char command[32], words[64];
	uint64_t unused, priority = 0;
	TRY(task_on_cpu(analysis->target, starved->cpu, &task));
	struct error *error = read_wait(starving, &task, &unused, &priority);
	struct finding *finding = error ? NULL
					: analysis_add(analysis, "starvation", CONFIDENCE_CERTAIN);
	if (!error && !finding)
		error = error_no_memory();
	put_priority(priority, words, sizeof(words));
	if (!error) {
		finding->task = starved->items[0].task.address;
		finding->blamed = task.address;
		error = finding_summarize(
			finding,
			"%" PRIu64 " task%s ready to run %s waited for CPU %u for up to %.1f s: "
			"pid %d \"%s\", %s, has it",
			starved->count, starved->count == 1 ? "" : "s",
			starved->count == 1 ? "has" : "have", starved->cpu,
			seconds(starved->longest), task.pid, task.comm, words);
	}
	for (size_t i = 0; i < starved->shown && !error; i++) {
		snprintf(command, sizeof(command), "ps %d", starved->items[i].task.pid);
		put_priority(starved->items[i].priority, words, sizeof(words));
		error = finding_add(finding, command, "pid %d \"%s\", %s, has waited for %.1f s",
				    starved->items[i].task.pid, starved->items[i].task.comm, words,
				    seconds(starved->items[i].waited));
	}
	snprintf(command, sizeof(command), "bt -c %u", starved->cpu);
	if (!error)
		error = finding_add(finding, command, "what CPU %u does", starved->cpu);
	task_deinit(&task);
	return error;
}

static struct error *find_starved(struct starving *starving, const struct cpu *cpus)
{
	struct error *problem = NULL;
	for (size_t i = 0; i < starving->count; i++)
		starving->cpus[i] =
			(struct starved){ .cpu = cpus[i].number,
					  .is_busy = cpus[i].current_task &&
						     cpus[i].current_task != cpus[i].idle_task };
	struct error *error = task_for_each(starving->target, look_at_ready, starving, &problem);
	error_free(problem);
	return error;
}

static struct error *say_starvation(struct analysis *analysis, uint64_t now)
{
	const struct cpu *cpus;
	struct starving starving = { .target = analysis->target, .now = now };
	starving.count = target_cpus(analysis->target, &cpus);
	starving.cpus = calloc(starving.count + 1, sizeof(*starving.cpus));
	if (!starving.cpus)
		return error_no_memory();
	struct error *error = find_starved(&starving, cpus);
	for (size_t i = 0; i < starving.count && !error; i++)
		if (starving.cpus[i].count)
			error = say_starved(analysis, &starving, &starving.cpus[i]);
	free(starving.cpus);
	return error;
}

struct error *detect_cpus(struct analysis *analysis)
{
	uint64_t now;
	bool is_deaf = false;
	/* Of a running machine all of this changes while it is read. */
	if (analysis->is_asked || target_is_live(analysis->target))
		return NULL;
	TRY(time_of_death(analysis->target, &now));
	TRY(say_deaf_cpus(analysis, now, &is_deaf));
	/* A lockup has been told of, and starves whatever is behind it. */
	return is_deaf || is_symptom(analysis) ? NULL : say_starvation(analysis, now);
}
