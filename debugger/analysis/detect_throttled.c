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
#include <string.h>

#define NS_PER_S     1e9
#define NS_PER_MS    1e6
#define PERIODS_MIN  4		 /* fewer say nothing of a habit */
#define THROTTLED_NS 5000000000u /* for so long in one piece is worth a word, too */
#define TASKS_SHOWN  3
#define PATH	     1024

struct throttling {
	struct analysis *analysis;
	uint64_t now;
};

/* Of one group. */
struct throttled {
	struct target *target;
	uint64_t queue; /* its cfs_rq on a CPU */
	uint64_t count;
	struct task tasks[TASKS_SHOWN]; /* the first ones that are met */
	size_t shown;
};

static struct error *look_at_task(void *context, const struct task *task)
{
	struct throttled *throttled = context;
	struct object object;
	uint64_t queue, is_queued;
	if (task->is_idle || task->on_cpu || task->state_letter != 'R')
		return NULL;
	TRY(object_at(throttled->target, "struct task_struct", task->address, &object));
	TRY(object_u64(&object, "se.cfs_rq", &queue));
	TRY(object_u64(&object, "on_rq", &is_queued));
	if (queue != throttled->queue || !is_queued)
		return NULL;
	throttled->count++;
	if (throttled->shown < TASKS_SHOWN) {
		throttled->tasks[throttled->shown] = *task;
		throttled->tasks[throttled->shown++].problem = NULL;
	}
	return NULL;
}

static struct error *add_numbers(struct finding *finding, const struct task_group *group,
				 uint64_t queue)
{
	char command[64];
	snprintf(command, sizeof(command),
		 "print ((struct task_group *)0x%" PRIx64 ")->cfs_bandwidth", group->address);
	TRY(finding_add(finding, command,
			"its quota is %.1f ms of %.1f ms (cpu.max); it was used up in %" PRIu64
			" of %" PRIu64 " periods, for %.1f s together",
			(double)group->quota / NS_PER_MS, (double)group->period / NS_PER_MS,
			group->throttled_periods, group->periods,
			(double)group->throttled_ns / NS_PER_S));
	snprintf(command, sizeof(command), "print *(struct cfs_rq *)0x%" PRIx64, queue);
	return finding_add(finding, command, "its queue on that CPU");
}

static struct error *say_throttled(struct throttling *throttling, const struct task_group *group,
				   const struct cpu *cpu, uint64_t waited, uint64_t queue)
{
	struct analysis *analysis = throttling->analysis;
	struct throttled throttled = { .target = analysis->target, .queue = queue };
	struct error *problem = NULL;
	char path[PATH] = "", command[32];
	struct error *error = task_for_each(analysis->target, look_at_task, &throttled, &problem);
	error_free(problem);
	if (error || !throttled.count)
		return error;
	if (group->cgroup)
		TRY(error_only_fatal(
			cgroup_path(analysis->target, group->cgroup, path, sizeof(path))));
	struct finding *finding = analysis_add(analysis, "throttled", CONFIDENCE_CERTAIN);
	if (!finding)
		return error_no_memory();
	finding->task = throttled.tasks[0].address;
	TRY(finding_summarize(finding,
			      "%" PRIu64
			      " task%s of cgroup %s ready to run must not, for %.1f s on "
			      "CPU %" PRIu32 ": its quota is used up",
			      throttled.count, throttled.count == 1 ? "" : "s", path,
			      (double)waited / NS_PER_S, cpu->number));
	TRY(add_numbers(finding, group, queue));
	for (size_t i = 0; i < throttled.shown; i++) {
		snprintf(command, sizeof(command), "bt %" PRId32, throttled.tasks[i].pid);
		TRY(finding_add(finding, command, "pid %" PRId32 " \"%s\" is one of them",
				throttled.tasks[i].pid, throttled.tasks[i].comm));
	}
	return NULL;
}

static struct error *look_at_group(void *context, const struct task_group *group)
{
	struct throttling *throttling = context;
	const struct cpu *cpus;
	size_t count = target_cpus(throttling->analysis->target, &cpus);
	bool is_habit = group->periods >= PERIODS_MIN &&
			group->throttled_periods > group->periods / 2;
	for (size_t i = 0; i < count; i++) {
		uint64_t since, queue, waited = 0;
		struct error *error = group_throttled_since(throttling->analysis->target, group,
							    &cpus[i], &since, &queue);
		if (error) {
			TRY(error_only_fatal(error));
			continue;
		}
		if (since && since < throttling->now)
			waited = throttling->now - since;
		if (since && (is_habit || waited >= THROTTLED_NS))
			TRY(say_throttled(throttling, group, &cpus[i], waited, queue));
	}
	return NULL;
}

struct error *detect_throttled(struct analysis *analysis)
{
	struct throttling throttling = { .analysis = analysis };
	if (analysis->is_asked || target_is_live(analysis->target))
		return NULL;
	TRY(time_of_death(analysis->target, &throttling.now));
	return limited_groups_for_each(analysis->target, look_at_group, &throttling);
}
