// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/analysis/analysis.h"
#include "debugger/command/arguments.h"
#include "debugger/command/command.h"
#include "debugger/command/task_named.h"
#include "debugger/show/finding_facts.h"
#include "debugger/show/traces.h"
#include <string.h>

#define LABEL	      10 /* places for the names on the left */
#define BLOCKED_SHOWN 2

static void label(struct out *out, const char *name)
{
	out_text(out, "%*s: ", LABEL, name);
}

static void write_evidence(struct out *out, const struct finding *finding)
{
	out_array_begin(out, "evidence");
	for (size_t i = 0; i < finding->count; i++) {
		const struct evidence *evidence = &finding->evidence[i];
		if (i)
			out_text(out, "%*s", LABEL + 2, "");
		else
			label(out, "BECAUSE");
		out_object_begin(out, NULL);
		out_string(out, "text", evidence->text);
		if (evidence->command) {
			out_style(out, OUT_ADDRESS);
			out_text(out, "  (");
			out_string(out, "command", evidence->command);
			out_text(out, ")");
			out_style(out, OUT_PLAIN);
		} else {
			out_null_as(out, "command", "");
		}
		out_object_end(out);
		out_text(out, "\n");
	}
	out_array_end(out);
}

static void write_finding(struct out *out, const struct finding *finding, bool is_first)
{
	out_object_begin(out, NULL);
	label(out, is_first ? "WHAT" : "ALSO");
	out_style(out, OUT_HEADING);
	out_string(out, "summary", finding->summary ?: "");
	out_style(out, OUT_PLAIN);
	out_text(out, "\n");
	label(out, "SURE");
	out_string(out, "sure", confidence_name(finding->sure));
	out_text(out, " (");
	out_string(out, "kind", finding->kind);
	out_text(out, ")\n");
	finding_write_facts(out, finding);
	write_evidence(out, finding);
	out_object_end(out);
}

static void write_blamed(struct out *out, const struct analysis *analysis)
{
	char place[SYMBOL_NAME_SIZE + 96];
	if (analysis->blamed >= analysis->trace.count) {
		out_null_as(out, "frame", "");
		return;
	}
	const struct frame *frame = &analysis->trace.frames[analysis->blamed];
	analysis_place(analysis, analysis->blamed, place, sizeof(place));
	label(out, "LOOK AT");
	out_object_begin(out, "frame");
	/* Frames have the numbers of the task's own stack. */
	if (analysis->is_other)
		out_text(out, "task %d, ", analysis->task.pid);
	out_text(out, "frame ");
	out_u64(out, "number", analysis->blamed);
	out_text(out, ", ");
	out_string(out, "place", place);
	out_address_as(out, "pc", frame->pc, "");
	out_object_end(out);
	out_text(out, "\n");
}

/* In text, what is blocked is told of a few only: `locks --graph` has all. */
static bool is_shown(const struct analysis *analysis, size_t number, bool all)
{
	size_t before = 0;
	for (size_t i = 0; i < number; i++)
		before += !strcmp(analysis->findings[i].kind, "blocked");
	return all || strcmp(analysis->findings[number].kind, "blocked") != 0 ||
	       (before < BLOCKED_SHOWN && finding_is_about_waiting(&analysis->findings[0]));
}

static void write_unread(struct out *out, const struct analysis *analysis)
{
	out_array_begin(out, "unread");
	for (size_t i = 0; i < analysis->unread_count; i++) {
		if (i)
			out_text(out, "%*s", LABEL + 2, "");
		else
			label(out, "NOT READ");
		out_string(out, NULL, analysis->unread[i]->message);
		out_text(out, "\n");
	}
	out_array_end(out);
}

static void write_analysis(struct session *session, const struct analysis *analysis, bool all)
{
	struct out *out = session->out;
	out_object_begin(out, NULL);
	out_string_as(out, "panic", analysis->panic, "");
	out_array_begin(out, "findings");
	size_t hidden = 0;
	for (size_t i = 0; i < analysis->count; i++)
		if (is_shown(analysis, i, all))
			write_finding(out, &analysis->findings[i], !i);
		else
			hidden++;
	out_array_end(out);
	if (hidden) {
		bool is_rest = finding_is_about_waiting(&analysis->findings[0]);
		label(out, "ALSO");
		out_text(out, "%zu %schain%s of blocked tasks  (analyze -v, locks --graph)\n",
			 hidden, is_rest ? "more " : "", hidden == 1 ? "" : "s");
	}
	if (!analysis->count)
		out_text(out, "%s%s\n", analysis_nothing_found(analysis),
			 analysis->panicked ? " but that it panicked: see bt and log" : "");
	if (analysis->has_task && analysis->count) {
		label(out, "TASK");
		task_write_place(out, "task", &analysis->task);
		out_text(out, "\n");
	}
	if (analysis->count)
		write_blamed(out, analysis);
	write_unread(out, analysis);
	if (*analysis->signature) {
		label(out, "SIGNATURE");
		out_string(out, "signature", analysis->signature);
		out_text(out, "\n");
	}
	out_object_end(out);
}

enum { OPTION_ALL, OPTION_CPU };

/* Of a task or of what ran on a CPU; without either of what died. */
static struct error *find_asked(struct session *session, const struct arguments *arguments,
				bool *ret_found, struct task *ret)
{
	const char *cpu = arguments->options[OPTION_CPU];
	uint64_t number;
	*ret_found = cpu || arguments->operand_count;
	if (!*ret_found)
		return NULL;
	if (!cpu)
		return task_named(session, arguments->operands[0], ret);
	if (arguments->operand_count)
		return error_create(ERROR_USAGE, "-c and a TASK exclude each other");
	TRY(argument_number(cpu, "a CPU number", 0, UINT32_MAX, &number));
	TRY(task_on_cpu(session->target, (uint32_t)number, ret));
	ret->cpu = (uint32_t)number;
	ret->on_cpu = true;
	return NULL;
}

static struct error *analyze_run(struct session *session, const struct arguments *arguments)
{
	struct analysis analysis;
	struct task task;
	bool has_task;
	TRY(find_asked(session, arguments, &has_task, &task));
	struct error *error = analysis_run(session->target, has_task ? &task : NULL, &analysis);
	if (!error) {
		write_analysis(session, &analysis,
			       arguments->options[OPTION_ALL] || !out_is_text(session->out));
		if (!analysis.count && analysis.unread_count)
			error = error_copy(analysis.unread[0]);
	}
	analysis_deinit(&analysis);
	if (has_task)
		task_deinit(&task);
	return error;
}

extern const struct command command_analyze;
const struct command command_analyze = {
	.name = "analyze",
	.options = { [OPTION_ALL] = { 'v', "verbose", NULL, 0, "all that is blocked, too" },
		     [OPTION_CPU] = { 'c', "cpu", "CPU", OPERAND_CPU,
				      "the task that ran on this CPU" } },
	.operands = { { .name = "TASK", .kind = OPERAND_TASK_NAME, .optional = true } },
	.summary = "why it died",
	.description =
		"Says what happened, to which task, in which function, and how sure that is. Each "
		"sentence\n"
		"names the command that shows what it rests on. Of a fault: the instruction, the "
		"address\n"
		"that it accessed, what is wrong with that address, and where the pointer came "
		"from.\n"
		"Deadlocks and who holds others up are told, too. Of a TASK: what it waits for; of "
		"a "
		"CPU: what\n"
		"it did when it was interrupted.\n"
		"The signature is the same for dumps of the same crash, whatever the boot.\n"
		"\n"
		"What is found has a kind. Faults: null-pointer, error-pointer, list-poison, "
		"freed-object, use-after-free, slab-corruption, user-pointer, wild-pointer, "
		"bad-pointer, read-only, "
		"guard-page, page-table, jump, "
		"divide, "
		"trap, alignment, control-flow, invalid-instruction, double-fault, stack-overflow, "
		"stack-smashed, stack-end, sleep-in-atomic. What the kernel itself finds: bug, "
		"warning, panic, init-died, "
		"no-root, "
		"kernel-report, earlier-oops, earlier-warning, earlier-hang. Asked for: sysrq, "
		"nmi. Hardware: "
		"machine-check, hardware-error, io-error, thermal, disk-unanswered, "
		"transmit-stopped, network-device. CPUs: "
		"soft-lockup, "
		"hard-lockup, rcu-stall, stuck-call, interrupts-off, interrupt-storm, "
		"softirq-storm, "
		"starvation, throttled. Tasks: deadlock, blocked, hung-task; of one: waiting, "
		"running, "
		"task. Memory: out-of-memory, cgroup-out-of-memory, oom-kill, allocation-failure, "
		"slab-growth, vmalloc-growth, bpf-growth, unaccounted-pages.",
	.examples = (const char *const[]){ "analyze", "analyze 1", "analyze -c 0", NULL },
	.run = analyze_run,
};
