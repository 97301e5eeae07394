// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/kernel/summary.h"

#include "debugger/kernel/clock.h"
#include "debugger/kernel/panic_cpu.h"
#include "debugger/kernel/printk.h"
#include <stdio.h>
#include <string.h>

/* Seconds since 1970 that a dead clock may reasonably show: 2001 to 2200. */
#define TIME_MIN 1000000000
#define TIME_MAX 7258118400

#define LOAD_SHIFT 11 /* FSHIFT of include/linux/sched/loadavg.h */
#define LOAD_MAX   (1u << 22)

static void read_uts(struct target *target, struct summary *ret)
{
	struct object uts;
	struct error *error = object_variable(target, "init_uts_ns", "struct uts_namespace", &uts);
	if (!error)
		error = object_string(&uts, "name.release", ret->release, sizeof(ret->release));
	if (!error)
		error = object_string(&uts, "name.version", ret->version, sizeof(ret->version));
	if (!error)
		error = object_string(&uts, "name.machine", ret->machine, sizeof(ret->machine));
	if (!error)
		error = object_string(&uts, "name.nodename", ret->nodename, sizeof(ret->nodename));
	error_free(error);
	if (!*ret->release)
		snprintf(ret->release, sizeof(ret->release), "%s", target->release);
}

static void read_times(struct target *target, struct summary *ret)
{
	struct object timekeeper;
	uint64_t now = 0, to_monotonic = 0;
	struct error *error = clock_timekeeper(target, &timekeeper);
	if (!error)
		error = object_u64(&timekeeper, "xtime_sec", &now);
	if (!error)
		error = object_u64(&timekeeper, "wall_to_monotonic.tv_sec", &to_monotonic);
	error_free(error);
	bool sane = now > TIME_MIN && now < TIME_MAX;
	ret->crash_time = target->facts->crash_time ? target->facts->crash_time
			  : sane		    ? (int64_t)now
						    : 0;
	int64_t uptime = (int64_t)(now + to_monotonic);
	ret->uptime = sane && uptime >= 0 && uptime <= (int64_t)now ? uptime : -1;
}

/* Without what firmware has, and without the kernel itself (kernel mm/show_mem.c). */
static void read_memory(struct target *target, struct summary *ret)
{
	struct object pages;
	uint64_t count = 0;
	struct error *error = object_variable(target, "_totalram_pages", "atomic_long_t", &pages);
	if (!error)
		error = object_u64(&pages, "counter", &count);
	error_free(error);
	if (__builtin_mul_overflow(count, target->facts->page_size, &ret->memory))
		ret->memory = 0;
}

static void read_cpus(struct target *target, struct summary *ret)
{
	const struct cpu *cpus;
	ret->cpus = target_cpus(target, &cpus);
	for (uint64_t i = 0; i < ret->cpus; i++)
		ret->cpus_online += cpus[i].online || cpus[i].is_stopped;
}

static struct error *count_task(void *context, const struct task *task)
{
	(void)task;
	++*(uint64_t *)context;
	return NULL;
}

/* Its lack is told only where the log cannot be read: else there is none in it. */
static struct error *read_panic(struct target *target, struct summary *ret)
{
	if (printk_panic_message(target, ret->panic, sizeof(ret->panic)))
		return NULL;
	ret->panic[0] = 0;
	return printk_check(target);
}

/* avenrun has numbers with LOAD_SHIFT bits behind the point. */
static void read_load(struct target *target, struct summary *ret)
{
	uint64_t words[SUMMARY_LOADS], address;
	struct error *error = target_need_memory(target);
	if (error || !symtab_address(target->symbols, "avenrun", &address)) {
		error_free(error);
		return;
	}
	for (size_t i = 0; i < SUMMARY_LOADS && !error; i++) {
		error = memory_read_word(target->memory, address + i * sizeof(*words), &words[i]);
		if (!error && words[i] >> LOAD_SHIFT > LOAD_MAX)
			return;
	}
	for (size_t i = 0; i < SUMMARY_LOADS && !error; i++)
		ret->load[i] = (double)words[i] / (1 << LOAD_SHIFT);
	error_free(error);
}

void summary_read(struct target *target, struct summary *ret)
{
	*ret = (struct summary){ .uptime = -1, .load = { -1 } };
	read_uts(target, ret);
	read_times(target, ret);
	target_add_problem(target, read_panic(target, ret));
	read_cpus(target, ret);
	read_memory(target, ret);
	read_load(target, ret);
	struct error *problem = NULL;
	struct error *error = task_for_each(target, count_task, &ret->tasks, &problem);
	ret->has_all_tasks = !error && !problem;
	target_add_problem(target, error);
	target_add_problem(target, problem);
	uint32_t cpu;
	ret->panicked = panic_cpu_find(target, &cpu);
	error = task_panicking(target, &ret->task);
	ret->has_task = !error;
	target_add_problem(target, error);
}

void summary_deinit(struct summary *summary)
{
	if (summary->has_task)
		task_deinit(&summary->task);
}
