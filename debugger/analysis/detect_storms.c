// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Interrupts that come so often that a CPU has little time for tasks: those of a device, and those
 * of software (softirqs), which a thread of each CPU takes over when there are too many.
 */
#include "base/array.h"
#include "debugger/analysis/analysis.h"
#include "debugger/analysis/stack_words.h"
#include "debugger/kernel/interrupts.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NS_PER_S 1e9
/*
 * Each CPU counts the interrupts of devices from which it takes randomness, and begins anew in a
 * timer, a second later at most: one that counts for longer has not come to run its timers.
 */
#define COUNTING_NS  2000000000u
#define STORM_RATE   2000 /* in a second of that time; healthy machines of the tests have 1500 */
#define UTIL_ALL     1024 /* of a task's load average, which is of the last tenths of a second */
#define UTIL_MIN     (UTIL_ALL / 2)
#define STORMS_SHOWN 4
#define PLACE	     (SYMBOL_NAME_SIZE + 96)

/* What came most often on a CPU since the machine was started, and all others together. */
struct most {
	uint32_t count;
	uint64_t others;
	struct interrupt interrupt;
};

struct storms {
	struct analysis *analysis;
	const struct cpu *cpu; /* that is looked at */
	struct most most;
	size_t shown;
};

/* The CPU did not get to run its tasks, which is what killed the machine. */
static bool is_symptom(const struct storms *storms)
{
	static const char *const kinds[] = { "soft-lockup", "rcu-stall" };
	const struct analysis *analysis = storms->analysis;
	for (size_t i = 0; i < ARRAY_COUNT(kinds) && analysis->count; i++)
		if (!strcmp(analysis->findings[0].kind, kinds[i]) && analysis->has_task &&
		    analysis->task.cpu == storms->cpu->number)
			return true;
	return false;
}

/*
 * The function that keeps the CPU is known, and said already. The thread lets others run between
 * two softirqs: that one of them does not come to its end is no matter of how many there are, and
 * when it is a task that does not, what the thread had of the CPU was before.
 */
static bool is_known(const struct storms *storms)
{
	const struct analysis *analysis = storms->analysis;
	return is_symptom(storms) && analysis->task.address == storms->cpu->current_task &&
	       analysis->blamed < analysis->trace.count &&
	       !frame_is_generic(&analysis->trace.frames[analysis->blamed]);
}

static struct error *set_culprit(struct storms *storms, struct finding *finding, uint64_t function)
{
	struct symbol symbol;
	uint64_t offset;
	if (!target_symbol_at(storms->analysis->target, function, &symbol, &offset))
		return NULL;
	finding->culprit = strndup(symbol.name, strcspn(symbol.name, "."));
	return finding->culprit ? NULL : error_no_memory();
}

static struct error *new_finding(struct storms *storms, const char *kind, enum confidence sure,
				 struct finding **ret)
{
	struct analysis *analysis = storms->analysis;
	size_t at = is_symptom(storms) ? 0 : analysis->count;
	*ret = analysis_add_at(analysis, at, kind, sure);
	storms->shown++;
	if (!*ret)
		return error_no_memory();
	(*ret)->task = 0;
	return NULL;
}

/* --- of devices ------------------------------------------------------------------------------- */

static struct error *look_at_interrupt(void *context, const struct interrupt *interrupt)
{
	struct storms *storms = context;
	struct most *most = &storms->most;
	uint32_t count;
	TRY(error_only_fatal(
		interrupt_count(storms->analysis->target, interrupt, storms->cpu, &count)));
	most->others += count > most->count ? most->count : count;
	if (count > most->count) {
		most->count = count;
		most->interrupt = *interrupt;
	}
	return NULL;
}

static struct error *say_interrupts(struct storms *storms, const struct interrupt_rate *rate)
{
	struct finding *finding;
	char handler[PLACE], command[64];
	const struct interrupt *interrupt = &storms->most.interrupt;
	uint64_t lost;
	uint32_t number = storms->cpu->number;
	double seconds = (double)rate->ns / NS_PER_S;
	TRY(error_only_fatal(
		interrupts_for_each(storms->analysis->target, look_at_interrupt, storms, &lost)));
	/* If all others came in that time, too, it still has most. */
	bool is_sure = storms->most.others < rate->count / 2;
	TRY(new_finding(storms, "interrupt-storm",
			is_sure ? CONFIDENCE_CERTAIN : CONFIDENCE_INFERRED, &finding));
	TRY(finding_summarize(finding,
			      "interrupts leave CPU %" PRIu32 " no time: %.0f a second came in its "
			      "last %.1f s, most of them %" PRIu32 " (%s)",
			      number, (double)rate->count / seconds, seconds, interrupt->number,
			      *interrupt->name ? interrupt->name : "of nobody"));
	snprintf(command, sizeof(command), "print irq_randomness:%" PRIu32, number);
	TRY(finding_add(finding, command,
			"CPU %" PRIu32 " has counted %" PRIu64 " since it last ran its timers",
			number, rate->count));
	snprintf(command, sizeof(command), "print *(struct irq_desc *)0x%" PRIx64, interrupt->desc);
	TRY(finding_add(finding, command,
			"interrupt %" PRIu32 " came %" PRIu32 " times on CPU %" PRIu32
			" since the start, all others %" PRIu64 " times",
			interrupt->number, storms->most.count, number, storms->most.others));
	if (!interrupt->handler || !target_describe(storms->analysis->target, interrupt->handler,
						    handler, sizeof(handler)))
		return NULL;
	snprintf(command, sizeof(command), "dis 0x%" PRIx64, interrupt->handler);
	TRY(finding_add(finding, command, "%s handles it", handler));
	return set_culprit(storms, finding, interrupt->handler);
}

static struct error *look_at_interrupts(struct storms *storms)
{
	struct interrupt_rate rate;
	TRY(interrupt_rate_read(storms->analysis->target, storms->cpu, &rate));
	if (rate.ns < COUNTING_NS || (double)rate.count * NS_PER_S / (double)rate.ns < STORM_RATE)
		return NULL;
	return say_interrupts(storms, &rate);
}

/* --- of software ------------------------------------------------------------------------------ */

/* A function that comes again and again: the tasklet that is next. */
static struct error *add_tasklet(struct storms *storms, struct finding *finding)
{
	struct object head, tasklet;
	uint64_t function;
	char text[PLACE], command[48];
	TRY(object_per_cpu(storms->analysis->target, "tasklet_vec", "struct tasklet_head",
			   storms->cpu, &head));
	TRY(object_follow(&head, "head", &tasklet));
	if (!tasklet.address)
		return NULL;
	/* Of both sorts, which share their place, since 12cc923f1ccc (5.9). */
	TRY(object_u64(&tasklet, "func", &function));
	if (!target_describe(storms->analysis->target, function, text, sizeof(text)))
		return NULL;
	snprintf(command, sizeof(command), "dis 0x%" PRIx64, function);
	TRY(finding_add(finding, command, "the tasklet that is next there: %s", text));
	return set_culprit(storms, finding, function);
}

static struct error *say_softirqs(struct storms *storms, const struct task *task, uint64_t util)
{
	struct finding *finding;
	uint32_t counts[SOFTIRQS_MAX] = { 0 }, number = storms->cpu->number;
	size_t count = 0, most = 0;
	char command[64], name[32];
	TRY(softirq_counts(storms->analysis->target, storms->cpu, counts, &count));
	for (size_t i = 1; i < count; i++)
		most = counts[i] > counts[most] ? i : most;
	softirq_name(storms->analysis->target, most, name, sizeof(name));
	TRY(new_finding(storms, "softirq-storm", CONFIDENCE_CERTAIN, &finding));
	finding->blamed = task->address;
	TRY(finding_summarize(
		finding,
		"softirqs take CPU %" PRIu32 ": pid %" PRId32 " \"%s\" %s, and has had "
		"%" PRIu64 " %% of the CPU of late",
		number, task->pid, task->comm,
		task->on_cpu ? "runs them" : "waits to go on with them", util * 100 / UTIL_ALL));
	snprintf(command, sizeof(command), "print ((struct task_struct *)0x%" PRIx64 ")->se.avg",
		 task->address);
	TRY(finding_add(finding, command, "its load average is %" PRIu64 " of %d", util, UTIL_ALL));
	snprintf(command, sizeof(command), "print kstat:%" PRIu32 ".softirqs", number);
	TRY(finding_add(finding, command, "most that came there since the start are %s: %" PRIu32,
			name, counts[most]));
	return !strcmp(name, "TASKLET") ? error_only_fatal(add_tasklet(storms, finding)) : NULL;
}

/* A thread of each CPU runs what is too much for the end of an interrupt. */
static struct error *look_at_thread(struct storms *storms)
{
	struct target *target = storms->analysis->target;
	struct object pointer, object;
	uint64_t address, util;
	struct task task;
	TRY(object_per_cpu(target, "ksoftirqd", "unsigned long", storms->cpu, &pointer));
	TRY(object_u64(&pointer, NULL, &address));
	TRY(object_at(target, "struct task_struct", address, &object));
	TRY(object_u64(&object, "se.avg.util_avg", &util));
	if (util < UTIL_MIN || is_known(storms))
		return NULL;
	TRY(task_read(target, address, &task));
	task.on_cpu = storms->cpu->current_task == address;
	struct error *error =
		task.state_letter == 'R'
			? say_softirqs(storms, &task, util > UTIL_ALL ? UTIL_ALL : util)
			: NULL;
	task_deinit(&task);
	return error;
}

struct error *detect_storms(struct analysis *analysis)
{
	struct storms storms = { .analysis = analysis };
	const struct cpu *cpus;
	/* Of a running machine all of this changes while it is read. */
	if (analysis->is_asked || target_is_live(analysis->target))
		return NULL;
	size_t count = target_cpus(analysis->target, &cpus);
	for (size_t i = 0; i < count && storms.shown < STORMS_SHOWN; i++) {
		storms.cpu = &cpus[i];
		storms.most = (struct most){ .count = 0 };
		TRY(error_only_fatal(look_at_interrupts(&storms)));
		TRY(error_only_fatal(look_at_thread(&storms)));
	}
	return NULL;
}
