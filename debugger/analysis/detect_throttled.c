// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Tasks that are ready to run and may not: their cgroup has used up its share of a CPU. That is
 * what it was told to do; where it is so for most of the time, somebody waits for it in vain.
 */
#include "debugger/analysis/analysis.h"
#include "debugger/analysis/cpu_view.h"
#include "debugger/kernel/cgroup.h"
#include "debugger/kernel/throttle.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_S     1e9
#define NS_PER_MS    1e6
#define PERIODS_MIN  4		 /* fewer say nothing of a habit */
#define THROTTLED_NS 5000000000u /* for so long in one piece is worth a word, too */
#define QUEUES_SHOWN 4		 /* those that have waited longest */
#define TASKS_SHOWN  3
#define PATH	     1024

/* A group on a CPU. */
struct throttled {
	struct task_group group;
	uint32_t cpu;
	uint64_t queue, waited;		/* its cfs_rq; ns */
	uint64_t count;			/* of tasks that are ready to run there */
	struct task tasks[TASKS_SHOWN]; /* the first ones that are met */
	size_t shown;
};

struct throttling {
	struct analysis *analysis;
	uint64_t now;
	struct throttled items[QUEUES_SHOWN]; /* the longest wait first */
	size_t count;
	uint64_t all;
};

/* --- groups ----------------------------------------------------------------------------------- */

static void keep(struct throttling *throttling, const struct throttled *throttled)
{
	struct throttled *items = throttling->items;
	size_t at = 0;
	throttling->all++;
	while (at < throttling->count && items[at].waited >= throttled->waited)
		at++;
	if (at == QUEUES_SHOWN)
		return;
	size_t moved =
		(throttling->count < QUEUES_SHOWN ? throttling->count : QUEUES_SHOWN - 1) - at;
	memmove(&items[at + 1], &items[at], moved * sizeof(*items));
	items[at] = *throttled;
	throttling->count += throttling->count < QUEUES_SHOWN;
}

static struct error *look_at_group(void *context, const struct task_group *group)
{
	struct throttling *throttling = context;
	const struct cpu *cpus;
	size_t count = target_cpus(throttling->analysis->target, &cpus);
	bool is_habit = group->periods >= PERIODS_MIN &&
			group->throttled_periods > group->periods / 2;
	for (size_t i = 0; i < count; i++) {
		struct throttled throttled = { .group = *group, .cpu = cpus[i].number };
		uint64_t since;
		struct error *error = group_throttled_since(throttling->analysis->target, group,
							    &cpus[i], &since, &throttled.queue);
		if (error) {
			/* Those of the other CPUs would say the same. */
			return analysis_note_unread(throttling->analysis, error,
						    "who is throttled");
		}
		if (since && since < throttling->now)
			throttled.waited = throttling->now - since;
		if (since && (is_habit || throttled.waited >= THROTTLED_NS))
			keep(throttling, &throttled);
	}
	return NULL;
}

/* --- tasks ------------------------------------------------------------------------------------ */

static struct error *look_at_task(void *context, const struct task *task)
{
	struct throttling *throttling = context;
	struct object object;
	uint64_t queue, is_queued;
	if (task->is_idle || task->on_cpu || task->state_letter != 'R')
		return NULL;
	TRY(object_at(throttling->analysis->target, "struct task_struct", task->address, &object));
	TRY(object_u64(&object, "se.cfs_rq", &queue));
	TRY(object_u64(&object, "on_rq", &is_queued));
	for (size_t i = 0; i < throttling->count && is_queued; i++) {
		struct throttled *throttled = &throttling->items[i];
		if (queue != throttled->queue)
			continue;
		throttled->count++;
		if (throttled->shown < TASKS_SHOWN) {
			throttled->tasks[throttled->shown] = *task;
			throttled->tasks[throttled->shown++].problem = NULL;
		}
	}
	return NULL;
}

static struct error *skip_broken(void *context, const struct task *task)
{
	return error_only_fatal(look_at_task(context, task));
}

/* --- words ------------------------------------------------------------------------------------ */

static struct error *add_numbers(struct finding *finding, const struct throttled *throttled)
{
	const struct task_group *group = &throttled->group;
	char command[96];
	snprintf(command, sizeof(command),
		 "print ((struct task_group *)0x%" PRIx64 ")->cfs_bandwidth", group->address);
	TRY(finding_add(finding, command,
			"its quota is %.1f ms of %.1f ms (cpu.max); it was used up in %" PRIu64
			" of %" PRIu64 " periods",
			(double)group->quota / NS_PER_MS, (double)group->period / NS_PER_MS,
			group->throttled_periods, group->periods));
	snprintf(command, sizeof(command), "print *(struct cfs_rq *)0x%" PRIx64, throttled->queue);
	return finding_add(finding, command, "its queue on that CPU");
}

static struct error *say_throttled(const struct throttling *throttling,
				   const struct throttled *throttled)
{
	struct analysis *analysis = throttling->analysis;
	char path[PATH] = "", command[32];
	if (throttled->group.cgroup)
		TRY(error_only_fatal(cgroup_path(analysis->target, throttled->group.cgroup, path,
						 sizeof(path))));
	struct finding *finding = analysis_add(analysis, "throttled", CONFIDENCE_CERTAIN);
	if (!finding)
		return error_no_memory();
	finding->task = throttled->tasks[0].address;
	TRY(finding_summarize(finding,
			      "%" PRIu64
			      " task%s of cgroup %s ready to run must not, for %.1f s on "
			      "CPU %" PRIu32 ": its quota is used up",
			      throttled->count, throttled->count == 1 ? "" : "s", path,
			      (double)throttled->waited / NS_PER_S, throttled->cpu));
	TRY(add_numbers(finding, throttled));
	for (size_t i = 0; i < throttled->shown; i++) {
		snprintf(command, sizeof(command), "bt %" PRId32, throttled->tasks[i].pid);
		TRY(finding_add(finding, command, "pid %" PRId32 " \"%s\" is one of them",
				throttled->tasks[i].pid, throttled->tasks[i].comm));
	}
	return throttling->all <= throttling->count
		       ? NULL
		       : finding_add(finding, NULL, "%" PRIu64 " queues are so in all",
				     throttling->all);
}

static struct error *find_tasks(struct throttling *throttling)
{
	struct error *problem = NULL;
	struct error *error =
		task_for_each(throttling->analysis->target, skip_broken, throttling, &problem);
	error_free(problem);
	for (size_t i = 0; i < throttling->count && !error; i++)
		if (throttling->items[i].count)
			error = say_throttled(throttling, &throttling->items[i]);
	return error;
}

struct error *detect_throttled(struct analysis *analysis)
{
	if (analysis->is_asked || target_is_live(analysis->target))
		return NULL;
	struct throttling *throttling = calloc(1, sizeof(*throttling));
	if (!throttling)
		return error_no_memory();
	throttling->analysis = analysis;
	struct error *error = time_of_death(analysis->target, &throttling->now);
	if (!error)
		error = limited_groups_for_each(analysis->target, look_at_group, throttling);
	/* What is broken ends the list of groups. */
	if (!error || !error_is_fatal(error)) {
		error_free(error);
		error = throttling->count ? find_tasks(throttling) : NULL;
	}
	free(throttling);
	return error;
}
