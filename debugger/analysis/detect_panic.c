// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * panic() that was called for a reason of its own: what the message says and who called it. The
 * rows name the function that decides to panic, as it stands on the stack.
 */
#include "base/array.h"
#include "debugger/analysis/analysis.h"
#include "debugger/analysis/cpu_view.h"
#include "debugger/analysis/rcu_owing.h"
#include "debugger/analysis/self_link.h"
#include "debugger/analysis/spinning.h"
#include "debugger/analysis/stack_words.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT	      512
#define NS_PER_SECOND 1e9

static const struct reason {
	const char *function; /* on the stack */
	const char *kind;
	const char *words;	   /* what happened */
	const char *command, *why; /* where to look next; NULL */
} reasons[] = {
	{ "sysrq_handle_crash", "sysrq", "somebody asked for the crash (sysrq c)", NULL, NULL },
	{ "watchdog_timer_fn", "soft-lockup", "a CPU did not schedule for too long", "bt -a",
	  "what the CPUs do" },
	{ "watchdog_overflow_callback", "hard-lockup", "a CPU did not take interrupts for too long",
	  "bt -a", "what the CPUs do" },
	{ "watchdog_hardlockup_check", "hard-lockup", "a CPU did not take interrupts for too long",
	  "bt -a", "what the CPUs do" },
	{ "out_of_memory", "out-of-memory", "memory ran out", "log",
	  "the kernel's own account of memory" },
	{ "panic_on_rcu_stall", "rcu-stall", "an RCU grace period did not end", "bt -a",
	  "what the CPUs do" },
	{ "rcu_sched_clock_irq", "rcu-stall", "an RCU grace period did not end", "bt -a",
	  "what the CPUs do" },
	{ "rcu_exp_wait_wake", "rcu-stall", "an RCU grace period did not end", "bt -a",
	  "what the CPUs do" },
	{ "unknown_nmi_error", "nmi", "an NMI came that nobody had asked for", NULL, NULL },
	{ "pci_serr_error", "nmi", "an NMI said that a device has failed (SERR)", "log",
	  "what else the hardware said" },
	{ "io_check_error", "nmi", "an NMI said that a device has failed (IOCK)", "log",
	  "what else the hardware said" },
	{ "mce_panic", "machine-check", "the processor found that hardware has failed", "log",
	  "the banks of the machine check" },
	{ "do_machine_check", "machine-check", "the processor found that hardware has failed",
	  "log", "the banks of the machine check" },
	{ "__ghes_panic", "hardware-error", "firmware said that hardware has failed", "log",
	  "what it said" },
};

static const struct reason hung = { "watchdog", "hung-task", "tasks were blocked for too long",
				    "stacks -s D", "what they wait for" };
static const struct reason init_died = { "do_exit", "init-died", "the first process ended", "log",
					 "what it said before" };

/* khungtaskd's function has a name that others have: the message tells. */
static const struct reason *find_reason(const struct analysis *analysis, size_t *ret_frame)
{
	const struct stack_trace *trace = &analysis->trace;
	for (size_t i = 0; i < trace->count; i++) {
		if (trace->frames[i].is_unproved)
			continue;
		if (i && trace->frames[i].kind == FRAME_EXCEPTION)
			break;
		*ret_frame = i;
		for (size_t k = 0; k < ARRAY_COUNT(reasons); k++)
			if (frame_is(&trace->frames[i], reasons[k].function))
				return &reasons[k];
		if (frame_is(&trace->frames[i], hung.function) &&
		    strstr(analysis->panic, "hung_task"))
			return &hung;
		if (frame_is(&trace->frames[i], init_died.function) &&
		    strstr(analysis->panic, "kill init"))
			return &init_died;
	}
	return NULL;
}

/* The message without what all of them begin with. */
static const char *message_of(const struct analysis *analysis)
{
	static const char head[] = "Kernel panic - not syncing: ";
	return strncmp(analysis->panic, head, sizeof(head) - 1)
		       ? analysis->panic
		       : analysis->panic + sizeof(head) - 1;
}

static struct error *say_who(struct analysis *analysis, struct finding *finding, size_t frame)
{
	static const struct {
		const char *function, *words;
		bool is_task; /* the task that panicked did it; else an interrupt came upon that */
	} ways[] = {
		{ "write_sysrq_trigger", "wrote c to /proc/sysrq-trigger", true },
		{ "sysrq_filter", "pressed the keys of the crash", false },
		{ "serial8250_handle_irq", "sent a break and c to a serial port", false },
		{ "uart_handle_break", "sent a break and c to a serial port", false },
	};
	char who[TEXT];
	for (size_t i = frame; i < analysis->trace.count; i++)
		for (size_t k = 0; k < ARRAY_COUNT(ways); k++) {
			if (!frame_is(&analysis->trace.frames[i], ways[k].function))
				continue;
			if (!ways[k].is_task)
				return finding_summarize(finding, "somebody %s (sysrq c)",
							 ways[k].words);
			finding->blamed = analysis->task.address;
			analysis_put_task(&analysis->task, who, sizeof(who));
			return finding_summarize(finding, "%s asked for the crash: it %s", who,
						 ways[k].words);
		}
	return NULL;
}

/* Where the CPU was when an interrupt, or the NMI of the panic, came: the first frame behind that.
 */
static size_t find_interrupted(const struct stack_trace *trace, size_t first)
{
	for (size_t i = first; i < trace->count; i++)
		if (trace->frames[i].kind == FRAME_EXCEPTION)
			return i;
	return trace->count;
}

/* Why a loop does not end. */
static struct error *show_self_link(const struct analysis *analysis, size_t frame,
				    struct finding *finding)
{
	struct self_link link;
	char command[48];
	TRY(self_link_find(analysis->target, &analysis->trace.frames[frame].registers, &link));
	if (!link.node)
		return NULL;
	TRY(finding_summarize(finding, "%s; the node at 0x%" PRIx64 ", in %s, leads to itself",
			      finding->summary, link.node, link.note.text));
	snprintf(command, sizeof(command), "rd 0x%" PRIx64 " 2", link.node);
	return finding_add(finding, command,
			   "%s has it: a walk over what is linked so does not end there; it may "
			   "have been added twice",
			   analysis->target->arch->register_names[link.reg]);
}

/* The interrupted code is what kept the CPU busy. */
static struct error *say_interrupted(struct analysis *analysis, struct finding *finding,
				     const struct reason *reason, size_t frame)
{
	const struct stack_trace *trace = &analysis->trace;
	char place[TEXT], who[TEXT], does[SPINNING_TEXT], command[32];
	size_t at = find_interrupted(trace, frame);
	/* Another CPU that took none is where it was. */
	bool is_there = at == trace->count && analysis->is_other && at &&
			!trace->frames[0].is_unproved && trace->frames[0].kind != FRAME_USER;
	at = is_there ? 0 : at;
	analysis->blamed = trace->count;
	finding->task = analysis->task.address;
	struct circumstance circumstance;
	/* The task has no part in it. */
	bool is_of_other = at < trace->count && trace_circumstance(trace, at, &circumstance) &&
			   (circumstance.is_borrowed || circumstance.is_deferred);
	if (analysis->task.is_idle && !is_of_other)
		return finding_add(finding, NULL, "CPU %u was idle when the interrupt came",
				   analysis->task.cpu);
	analysis_put_task(&analysis->task, who, sizeof(who));
	if (at == trace->count)
		return finding_add(finding, NULL, "CPU %u ran %s", analysis->task.cpu, who);
	size_t blamed = trace_blame(trace, at);
	analysis->blamed = blamed < trace->count ? blamed : at;
	analysis_place(analysis, analysis->blamed, place, sizeof(place));
	struct spinning spinning;
	TRY(spinning_find(analysis, at, &spinning));
	TRY(spinning_describe(analysis, at, &spinning, does, sizeof(does)));
	TRY(finding_summarize(finding, "%s: %s", reason->words, does));
	if (!spinning.is_found)
		TRY(show_self_link(analysis, at, finding));
	if (spinning.is_found) {
		TRY(spinning_add_others(analysis, analysis->task.cpu, finding));
		free(finding->culprit);
		finding->culprit = NULL;
	}
	if (is_of_other) {
		snprintf(command, sizeof(command), "frame %zu", circumstance.frame);
		TRY(finding_add(finding, command, "it ran in %s; %s %s", circumstance.what, who,
				!circumstance.is_borrowed ? "is only the thread that runs them"
				: spinning.is_found
					? "was interrupted, and what it has stays taken meanwhile"
					: "was only interrupted"));
	}
	analysis_place(analysis, at, place, sizeof(place));
	snprintf(command, sizeof(command), "bt -c %u", analysis->task.cpu);
	return finding_add(finding, command, "CPU %u was in %s %s", analysis->task.cpu, place,
			   is_there ? "at the end" : "when the interrupt came");
}

/* For the signature: the reader itself would have come to its end. */
static struct error *set_preempted(const struct analysis *analysis, struct finding *finding)
{
	char stem[SYMBOL_NAME_SIZE] = "", text[SYMBOL_NAME_SIZE + 16];
	if (analysis->blamed < analysis->trace.count)
		frame_stem(&analysis->trace.frames[analysis->blamed], stem, sizeof(stem));
	snprintf(text, sizeof(text), "preempted%s%s", *stem ? "/" : "", stem);
	finding->culprit = strdup(text);
	return finding->culprit ? NULL : error_no_memory();
}

static struct error *add_reader_count(struct finding *finding, const struct task *task,
				      const struct rcu_owing *owing)
{
	bool is_alone = owing->task_count == 1;
	char command[32];
	snprintf(command, sizeof(command), "bt %" PRId32, task->pid);
	return finding_add(finding, command, "%zu task%s that read%s hold%s the grace period up",
			   owing->task_count, is_alone ? "" : "s", is_alone ? "s" : "",
			   is_alone ? "s" : "");
}

/*
 * Who was preempted once, and runs again: a task as any that a watchdog comes upon, which may be
 * the one that reported itself.
 */
static struct error *say_running_reader(struct analysis *analysis, struct finding *finding,
					const struct reason *reason, const struct rcu_owing *owing,
					size_t frame)
{
	TRY(say_interrupted(analysis, finding, reason, frame));
	TRY(add_reader_count(finding, &analysis->task, owing));
	return finding_add(finding, NULL, "it was preempted while it reads, and runs again");
}

/* Nobody else may have what he reads changed, however long he is away. */
static struct error *say_reader(struct analysis *analysis, struct finding *finding,
				const struct reason *reason, const struct rcu_owing *owing,
				size_t frame)
{
	char place[TEXT], who[TEXT], command[48];
	if (analysis->has_task && analysis->task.on_cpu && analysis->task.address == owing->task)
		return say_running_reader(analysis, finding, reason, owing, frame);
	TRY(analysis_look_at_task(analysis, owing->task));
	if (analysis->has_task && analysis->task.on_cpu)
		TRY(analysis_look_at_cpu(analysis, analysis->task.cpu));
	if (!analysis->has_task)
		return NULL;
	const struct task *task = &analysis->task;
	if (task->on_cpu && task->address == owing->task)
		return say_running_reader(analysis, finding, reason, owing, 0);
	bool is_ready = task->state_letter == 'R';
	finding->task = finding->blamed = task->address;
	analysis_blame_first(analysis);
	analysis_put_task(task, who, sizeof(who));
	*place = 0;
	if (analysis->blamed < analysis->trace.count)
		analysis_place(analysis, analysis->blamed, place, sizeof(place));
	TRY(finding_summarize(finding, "%s: %s %s while it reads, %s%s", reason->words, who,
			      is_ready ? "was preempted" : "sleeps",
			      *place ? "in " : "nobody knows where", place));
	TRY(add_reader_count(finding, task, owing));
	struct task other;
	if (!is_ready)
		return NULL;
	TRY(set_preempted(analysis, finding));
	struct error *error = task_on_cpu(analysis->target, task->cpu, &other);
	if (error)
		return error_only_fatal(error);
	analysis_put_task(&other, who, sizeof(who));
	task_deinit(&other);
	snprintf(command, sizeof(command), "bt -c %u", task->cpu);
	return finding_add(finding, command, "CPU %u, on which it would go on, runs %s instead",
			   task->cpu, who);
}

static struct error *say_stall(struct analysis *analysis, struct finding *finding,
			       const struct reason *reason, size_t frame)
{
	struct rcu_owing owing = { 0 };
	TRY(error_only_fatal(rcu_owing_find(analysis->target, &owing)));
	uint32_t cpu = owing.first;
	analysis->blamed = analysis->trace.count;
	if (owing.began_ns)
		TRY(finding_add(finding, "print rcu_state.gp_start",
				"the grace period began %.1f s before the end",
				(double)owing.began_ns / NS_PER_SECOND));
	if (!owing.count && owing.task)
		return say_reader(analysis, finding, reason, &owing, frame);
	if (!owing.count)
		return finding_add(finding, "print rcu_state",
				   "neither a CPU nor a task is known to hold it up");
	TRY(finding_add(finding, "print rcu_state.node[0]",
			"CPU %u owes the grace period a quiescent state", cpu));
	if (analysis->task.cpu != cpu) {
		TRY(analysis_look_at_cpu(analysis, cpu));
		frame = 0;
	}
	return analysis->has_task ? say_interrupted(analysis, finding, reason, frame) : NULL;
}

/* For how long it has let its timer wait: since then it took no interrupts. */
static struct error *add_lateness(struct analysis *analysis, struct finding *finding, uint32_t cpu)
{
	const struct cpu *cpus;
	uint64_t now, late = 0, due;
	char command[64];
	size_t count = target_cpus(analysis->target, &cpus), at = 0;
	while (at < count && cpus[at].number != cpu)
		at++;
	if (at == count)
		return NULL;
	TRY(time_of_death(analysis->target, &now));
	TRY(cpu_lateness(analysis->target, &cpus[at], now, &late, &due));
	snprintf(command, sizeof(command), "print hrtimer_bases:%" PRIu32 ".expires_next", cpu);
	return late ? finding_add(finding, command,
				  "the timer of CPU %" PRIu32 " was due %.1f s before the end", cpu,
				  (double)late / NS_PER_SECOND)
		    : NULL;
}

/* The CPU that finds out may watch over another one: what it looked at is its argument. */
static struct error *say_hard_lockup(struct analysis *analysis, struct finding *finding,
				     const struct reason *reason, size_t frame)
{
	uint64_t cpu = analysis->task.cpu;
	if (analysis_argument(analysis, frame, "cpu", &cpu) && cpu != analysis->task.cpu) {
		TRY(finding_add(finding, NULL, "CPU %" PRIu32 " watches over CPU %" PRIu32,
				analysis->task.cpu, (uint32_t)cpu));
		TRY(analysis_look_at_cpu(analysis, (uint32_t)cpu));
		frame = 0;
	}
	if (analysis->has_task)
		TRY(say_interrupted(analysis, finding, reason, frame));
	return error_only_fatal(add_lateness(analysis, finding, (uint32_t)cpu));
}

static bool is_lockup(const struct reason *reason)
{
	return !strcmp(reason->kind, "soft-lockup") || !strcmp(reason->kind, "nmi");
}

static struct error *say_reason(struct analysis *analysis, const struct reason *reason,
				size_t frame)
{
	char command[32];
	struct finding *finding = analysis_add(analysis, reason->kind, CONFIDENCE_CERTAIN);
	if (!finding)
		return error_no_memory();
	analysis->blamed = frame;
	TRY(finding_summarize(finding, "%s", reason->words));
	snprintf(command, sizeof(command), "frame %zu", frame);
	TRY(finding_add(finding, command, "%s() stands on the stack",
			analysis->trace.frames[frame].symbol.name));
	if (*analysis->panic)
		TRY(finding_add(finding, "log", "the kernel's last words: %s",
				message_of(analysis)));
	if (!strcmp(reason->kind, "sysrq"))
		return say_who(analysis, finding, frame);
	/* What ran when it came is another function each time. */
	if (!strcmp(reason->kind, "nmi")) {
		finding->culprit = strdup(reason->function);
		if (!finding->culprit)
			return error_no_memory();
	}
	if (is_lockup(reason))
		TRY(say_interrupted(analysis, finding, reason, frame));
	if (!strcmp(reason->kind, "hard-lockup"))
		TRY(say_hard_lockup(analysis, finding, reason, frame));
	if (!strcmp(reason->kind, "rcu-stall"))
		TRY(say_stall(analysis, finding, reason, frame));
	return reason->command ? finding_add(finding, reason->command, "%s", reason->why) : NULL;
}

/* A panic that is none of these: who called panic(). */
static struct error *say_panic(struct analysis *analysis)
{
	const struct stack_trace *trace = &analysis->trace;
	char place[TEXT], command[32];
	size_t called = trace_find(trace, 0, "panic");
	if (called == trace->count && !*analysis->panic)
		return NULL;
	struct finding *finding = analysis_add(analysis, "panic", CONFIDENCE_CERTAIN);
	if (!finding)
		return error_no_memory();
	TRY(finding_summarize(finding, "panic: %s",
			      *analysis->panic ? message_of(analysis) : "the log has no message"));
	size_t caller = trace_blame(trace, called);
	if (caller >= trace->count)
		return NULL;
	analysis->blamed = caller;
	analysis_put_caller(analysis, caller, place, sizeof(place));
	snprintf(command, sizeof(command), "frame %zu", caller);
	return finding_add(finding, command, "panic() was called by %s", place);
}

struct error *detect_panic(struct analysis *analysis)
{
	size_t frame;
	if (analysis->count || !analysis->panicked)
		return NULL;
	/* The panic is not the story of a task that only was there. */
	if (analysis->is_asked &&
	    trace_find(&analysis->trace, 0, "panic") == analysis->trace.count &&
	    trace_find(&analysis->trace, 0, "__crash_kexec") == analysis->trace.count)
		return NULL;
	const struct reason *reason = find_reason(analysis, &frame);
	return reason ? say_reason(analysis, reason, frame) : say_panic(analysis);
}
