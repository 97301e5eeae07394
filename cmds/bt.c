// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/interrupt.h"
#include "debugger/command/arguments.h"
#include "debugger/command/command.h"
#include "debugger/command/task_named.h"
#include "debugger/kernel/source_lines.h"
#include "debugger/show/stack_groups.h"
#include "debugger/show/traces.h"
#include "debugger/show/user_traces.h"

/* A task at `left_out` is not shown; *shown: those that were. */
static struct error *write_cpu(struct session *session, uint32_t number, bool with_arguments,
			       uint64_t left_out, size_t *shown)
{
	struct task task;
	struct error *error = NULL;
	TRY(task_on_cpu(session->target, number, &task));
	/* The task may not know (yet) that it runs there. */
	task.cpu = number;
	task.on_cpu = true;
	if (task.address != left_out) {
		if ((*shown)++)
			out_text(session->out, "\n");
		error = trace_write_task(session, &task, with_arguments);
	}
	task_deinit(&task);
	return error;
}

/* The selected task, which `bt` shows; 0: there is none. */
static uint64_t selected_task(struct session *session)
{
	const struct task *task;
	struct error *error = focus_task(&session->focus, session->target, &task);
	uint64_t address = error ? 0 : task->address;
	error_free(error);
	return address;
}

/* One CPU that has no task does not keep the others from being shown. */
static struct error *write_all_cpus(struct session *session, bool with_arguments, uint64_t left_out)
{
	const struct cpu *cpus;
	struct error *first = NULL;
	TRY(target_need_cpus(session->target));
	size_t count = target_cpus(session->target, &cpus), asked = 0, shown = 0;
	out_array_begin(session->out, NULL);
	for (size_t i = 0; i < count; i++) {
		if (!cpus[i].online && !cpus[i].has_registers && !cpus[i].is_stopped)
			continue;
		struct error *error = interrupt_check();
		if (!error)
			error = write_cpu(session, cpus[i].number, with_arguments, left_out,
					  &shown);
		asked++;
		if (first)
			error_free(error);
		else
			first = error;
	}
	out_array_end(session->out);
	if (!asked)
		return error_create(
			ERROR_NOT_FOUND,
			"none of the %zu CPUs was online, stopped by the panic, or left "
			"registers",
			count);
	if (!shown && !first)
		out_text(session->out, "no other task was running\n");
	return first;
}

static struct error *write_operand(struct session *session, const char *text, bool with_arguments)
{
	struct task task;
	TRY(task_named(session, text, &task));
	struct error *error = trace_write_task(session, &task, with_arguments);
	task_deinit(&task);
	return error;
}

/* In user mode: of the tasks that are named, else of the selected one. */
static struct error *write_user(struct session *session, const struct arguments *arguments)
{
	struct error *error = NULL;
	const struct task *chosen;
	if (!arguments->operand_count) {
		TRY(focus_task(&session->focus, session->target, &chosen));
		return user_trace_write(session, chosen);
	}
	if (arguments->operand_count > 1)
		out_array_begin(session->out, NULL);
	for (size_t i = 0; i < arguments->operand_count && !error; i++) {
		struct task task;
		if (i)
			out_text(session->out, "\n");
		error = task_named(session, arguments->operands[i], &task);
		if (error)
			break;
		error = user_trace_write(session, &task);
		task_deinit(&task);
	}
	if (arguments->operand_count > 1)
		out_array_end(session->out);
	return error;
}

static struct error *write_operands(struct session *session, const struct arguments *arguments,
				    bool with_arguments)
{
	struct error *error = NULL;
	out_array_begin(session->out, NULL);
	for (size_t i = 0; i < arguments->operand_count && !error; i++) {
		if (i)
			out_text(session->out, "\n");
		error = write_operand(session, arguments->operands[i], with_arguments);
	}
	out_array_end(session->out);
	return error;
}

/* The selected task, which is the panicking one at first. */
static struct error *write_selected(struct session *session, bool with_arguments)
{
	const struct stack_trace *trace;
	TRY(focus_trace(&session->focus, session->target, &trace));
	trace_write(session, &session->focus.task, trace,
		    with_arguments ? session->focus.arguments : NULL);
	return NULL;
}

enum {
	OPTION_ALL,
	OPTION_CPU,
	OPTION_GROUPS,
	OPTION_LINES,
	OPTION_NO_ARGUMENTS,
	OPTION_OTHERS,
	OPTION_USER
};

static struct error *write_asked(struct session *session, const struct arguments *arguments)
{
	uint64_t number;
	bool with_arguments = !arguments->options[OPTION_NO_ARGUMENTS];
	size_t shown = 0;
	if (arguments->options[OPTION_USER])
		return write_user(session, arguments);
	if (arguments->options[OPTION_ALL])
		return write_all_cpus(session, with_arguments, 0);
	if (arguments->options[OPTION_OTHERS])
		return write_all_cpus(session, with_arguments, selected_task(session));
	if (arguments->options[OPTION_GROUPS])
		return stack_groups_write(session, &(struct stack_selection){ 0 });
	if (arguments->options[OPTION_CPU]) {
		TRY(argument_number(arguments->options[OPTION_CPU], "a CPU number", 0, UINT32_MAX,
				    &number));
		return write_cpu(session, (uint32_t)number, with_arguments, 0, &shown);
	}
	if (arguments->operand_count > 1)
		return write_operands(session, arguments, with_arguments);
	if (arguments->operand_count)
		return write_operand(session, arguments->operands[0], with_arguments);
	return write_selected(session, with_arguments);
}

static struct error *bt_run(struct session *session, const struct arguments *arguments)
{
	struct source_lines *lines = NULL;
	if (arguments->options[OPTION_LINES])
		TRY(source_lines_create(session->target, &lines));
	session->lines = lines;
	struct error *error = write_asked(session, arguments);
	session->lines = NULL;
	source_lines_destroy(lines);
	return error;
}

static const char *const examples[] = { "bt",		"bt -a", "bt -c 0", "bt 1",
					"bt init_task", "bt -n", "bt -l",   NULL };

const struct command command_bt = {
	.name = "bt",
	.summary = "stack traces",
	.description =
		"Shows the kernel stack of a task: of the panicking one, of those given by pid, "
		"by name or by the address of their task_struct, of the one on a CPU (-c), or of "
		"all CPUs "
		"(-a), or of all CPUs but what `bt` alone shows (--others)."
		"\n\n"
		"Frames are found by the kernel's own ORC tables. Where those have nothing, a "
		"frame "
		"is marked: (call) is a return address whose call leads to the function above, "
		"which "
		"is as good as a rule; (fp) followed rbp; (scan?) is a text address found on the "
		"stack, a guess. Registers of an interrupted frame stand above it, those of user "
		"mode "
		"at the end.\n"
		"\n"
		"The task on a CPU whose registers are not in the dump is searched for on the "
		"CPU's stacks: the deepest chain of calls that holds up to where the kernel was "
		"entered. From a function on that never returns, as panic, such a stack is sure; "
		"(search) marks that frame, which is where it made its last call. Frames with "
		"(search?) may be of calls that have returned, and have no arguments; where there "
		"are only such frames, the task may have been in user mode.\n"
		"\n"
		"Behind a function stand its arguments as its prototype names them: values that "
		"callee "
		"and caller prove, ? for all others (-n leaves them out). `frame`, `up` and `down` "
		"look at one frame, `dis` shows its code.\n"
		"\n"
		"No dump has the lines of all code. With -l stands what the kernel keeps for "
		"itself, of "
		"BUGs, WARNs and debug messages (`line`): the file that the function is written "
		"in, and "
		"by how many bytes of code the frame is behind and before places whose lines are "
		"known. "
		"Two kinds of file are not proved: (by its code) has all known places of the "
		"function, (as its neighbours) the functions in front and behind.\n"
		"\n"
		"With -u stands the stack of the program itself, from where it entered the kernel: "
		"by the rules of call frames (.eh_frame) of the files that it has mapped, as far "
		"as "
		"they are in memory. Where there are none, (fp) is a frame that rbp leads to, "
		"behind a call: not proved. Names are those of the files' own tables, where these "
		"are in memory; else the place in the file, for addr2line, is what there is. A "
		"dump without user pages (makedumpfile -d 8) has none of this.",
	.options = { [OPTION_ALL] = { .letter = 'a',
				      .name = "all",
				      .help = "the tasks on all CPUs" },
		     [OPTION_CPU] = { .letter = 'c',
				      .name = "cpu",
				      .argument = "CPU",
				      .argument_kind = OPERAND_CPU,
				      .help = "the task on this CPU" },
		     [OPTION_GROUPS] = { .letter = 'g',
					 .name = "groups",
					 .help = "equal stacks of all tasks, as `stacks` has "
						 "them" },
		     [OPTION_LINES] = { .letter = 'l',
					.name = "lines",
					.help = "the functions' files, and the nearest lines that "
						"the kernel itself has" },
		     [OPTION_NO_ARGUMENTS] = { .letter = 'n',
					       .name = "no-arguments",
					       .help = "without the functions' arguments" },
		     [OPTION_OTHERS] = { .name = "others",
					 .help = "the tasks on the CPUs, but for the selected "
						 "one" },
		     [OPTION_USER] = { .letter = 'u',
				       .name = "user",
				       .help = "the program's own stack, in user mode" } },
	.operands = { { .name = "TASK",
			.kind = OPERAND_TASK,
			.optional = true,
			.repeated = true } },
	.examples = examples,
	.needs = NEEDS_MEMORY | NEEDS_SYMBOLS | NEEDS_BTF,
	.per_task = true,
	.run = bt_run,
};
