// SPDX-License-Identifier: GPL-3.0-or-later
#include "cmds/bt.h"

#include "base/interrupt.h"
#include "cmds/stacks.h"
#include "debugger/command/arguments.h"
#include "debugger/command/command.h"
#include "debugger/show/frames.h"
#include "debugger/unwind/unwind.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* --- one task ----------------------------------------------------------------------------- */

void bt_write_header(struct out *out, const char *key, const struct task *task)
{
	char state[2] = { task->state_letter, 0 };
	out_object_begin(out, key);
	out_text(out, "PID: ");
	out_pad(out, -8);
	if (task->is_partial)
		out_null_as(out, "pid", "?");
	else
		out_i64(out, "pid", task->pid);
	out_text(out, " TASK: ");
	out_address(out, "address", task->address);
	out_text(out, "  CPU: ");
	out_pad(out, -3);
	out_u64(out, "cpu", task->cpu);
	out_space(out, 1, (int)strlen(task->comm) + 11, 4);
	out_text(out, "COMMAND: ");
	if (task->is_partial) {
		out_null_as(out, "comm", "?");
		out_text(out, "\n    (");
		out_string(out, "problem", task->problem ? task->problem->message : "");
		out_text(out, ")\n");
	} else {
		out_text(out, "\"");
		out_string(out, "comm", task->comm);
		out_text(out, "\"\n");
	}
	out_string_as(out, "state", state, "");
	out_object_end(out);
}

static void write_row(struct session *session, const struct task *task,
		      const struct stack_trace *trace, size_t number,
		      const struct frame_arguments *arguments)
{
	struct out *out = session->out;
	char state[2] = { task->state_letter, 0 };
	out_object_begin(out, NULL);
	if (task->is_partial)
		out_null_as(out, "pid", "");
	else
		out_i64(out, "pid", task->pid);
	out_string(out, "comm", task->is_partial ? "" : task->comm);
	out_u64(out, "cpu", task->cpu);
	out_string(out, "state", state);
	out_address(out, "task", task->address);
	frame_write_cells(session, trace->count ? &trace->frames[number] : NULL, number,
			  arguments ? &arguments[number] : NULL);
	out_string(out, "start", trace->is_moving ? "moving" : trace_start_name(trace->start));
	if (trace->end)
		out_string(out, "end", trace->end->message);
	else
		out_null_as(out, "end", "");
	out_object_end(out);
}

/* A table has a row a frame, and one where a task has no frames. */
static void write_rows(struct session *session, const struct task *task,
		       const struct stack_trace *trace, const struct frame_arguments *arguments)
{
	out_array_begin(session->out, NULL);
	for (size_t i = 0; !i || i < trace->count; i++)
		write_row(session, task, trace, i, arguments);
	out_array_end(session->out);
}

static void write_trace(struct session *session, const struct task *task,
			const struct stack_trace *trace, const struct frame_arguments *arguments)
{
	struct out *out = session->out;
	if (out_is_rows(out)) {
		write_rows(session, task, trace, arguments);
		return;
	}
	out_object_begin(out, NULL);
	bt_write_header(out, "task", task);
	trace_write_start(out, trace);
	out_array_begin(out, "frames");
	for (size_t i = 0; i < trace->count; i++)
		frame_write(session, &trace->frames[i], i, arguments ? &arguments[i] : NULL);
	out_array_end(out);
	if (trace->end) {
		out_string_as(out, "end", trace->end->message, "");
		out_text(out, trace->is_moving ? "    (%s)\n" : "    (the end: %s)\n",
			 trace->end->message);
	}
	out_object_end(out);
}

struct error *bt_find_arguments(struct session *session, const struct task *task,
				struct stack_trace *trace, struct argument_places *places,
				struct frame_arguments **ret)
{
	*ret = NULL;
	TRY(error_only_fatal(arguments_with(session->target, task, trace, places, ret)));
	if (!unwind_holds(session->target, task, trace)) {
		free(*ret);
		*ret = NULL;
	}
	return NULL;
}

struct error *bt_write_task(struct session *session, const struct task *task, bool with_arguments)
{
	struct stack_trace trace;
	struct frame_arguments *arguments = NULL;
	struct error *error = NULL;
	TRY(unwind_task(session->target, task, &trace));
	if (with_arguments)
		error = bt_find_arguments(session, task, &trace, NULL, &arguments);
	if (!error)
		write_trace(session, task, &trace, arguments);
	free(arguments);
	stack_trace_deinit(&trace);
	return error;
}

/* --- which tasks ------------------------------------------------------------------------------ */

struct name_search {
	const char *name;
	uint64_t address; /* what the name is as a symbol, 0: none */
	bool is_task;	  /* a task is there */
	uint64_t named;	  /* the first one that is called so */
	size_t count;
};

static struct error *match_name(void *context, const struct task *task)
{
	struct name_search *search = context;
	if (task->address == search->address)
		search->is_task = true;
	if (!strcmp(task->comm, search->name) && !search->count++)
		search->named = task->address;
	return NULL;
}

/*
 * The symbol of this name, if it is a task in the lists, else the task of this name, if no other
 * has it. `why` is kept from the search for an address.
 */
static struct error *find_named(struct target *target, const char *name, uint64_t address,
				struct error *why, struct task *ret)
{
	struct name_search search = { .name = name, .address = address };
	struct error *problem = NULL, *error = task_for_each(target, match_name, &search, &problem);
	bool is_whole = !error && !problem;
	error_free(problem);
	error_free(error);
	if (search.is_task || (address && !search.count && !is_whole))
		return why ?: task_find(target, address, ret);
	if (!search.count)
		return why
			       ?: error_create(ERROR_NOT_FOUND,
					       "no task is at 0x%" PRIx64 ", where %s is", address,
					       name);
	error_free(why);
	if (search.count > 1)
		return error_create(ERROR_USAGE, "%zu tasks are called %s; `ps %s` has their pids",
				    search.count, name, name);
	return task_read(target, search.named, ret);
}

/* A pid, an address (hexadecimal, with or without 0x), or a name. */
struct error *bt_find_task(struct session *session, const char *text, struct task *ret)
{
	struct target *target = session->target;
	char *end;
	uint64_t value = strtoull(text, &end, 10), symbol = 0;
	if (!*end && end != text && strlen(text) < 16)
		return task_find(target, value, ret);
	struct error *error = expression_address(&session->scope, text, &value);
	if (!error && (!symtab_address(target->symbols, text, &symbol) || symbol != value))
		error = task_find(target, value, ret);
	else if (!error)
		return find_named(target, text, symbol, NULL, ret);
	return error && !error_is_fatal(error) ? find_named(target, text, 0, error, ret) : error;
}

static struct error *write_cpu(struct session *session, uint32_t number, bool with_arguments)
{
	struct task task;
	TRY(task_on_cpu(session->target, number, &task));
	/* The task may not know (yet) that it runs there. */
	task.cpu = number;
	task.on_cpu = true;
	struct error *error = bt_write_task(session, &task, with_arguments);
	task_deinit(&task);
	return error;
}

/* A panic takes the CPUs it stops offline; the scheduler still counts them, but no others. */
static bool was_stopped(struct target *target, uint32_t number)
{
	unsigned int bits = 8u * target->arch->word_size;
	uint64_t mask, word;
	if (!symtab_address(target->symbols, "__cpu_active_mask", &mask))
		return false;
	struct error *error = memory_read_word(
		target->memory, mask + number / bits * target->arch->word_size, &word);
	error_free(error);
	return !error && (word >> number % bits & 1);
}

/* One CPU that has no task does not keep the others from being shown. */
static struct error *write_all_cpus(struct session *session, bool with_arguments)
{
	const struct cpu *cpus;
	struct error *first = NULL;
	TRY(target_need_cpus(session->target));
	size_t count = target_cpus(session->target, &cpus), shown = 0;
	out_array_begin(session->out, NULL);
	for (size_t i = 0; i < count; i++) {
		if (!cpus[i].online && !cpus[i].has_registers &&
		    !was_stopped(session->target, cpus[i].number))
			continue;
		if (shown++)
			out_text(session->out, "\n");
		struct error *error = interrupt_check();
		if (!error)
			error = write_cpu(session, cpus[i].number, with_arguments);
		if (first)
			error_free(error);
		else
			first = error;
	}
	out_array_end(session->out);
	if (!shown)
		return error_create(
			ERROR_NOT_FOUND,
			"none of the %zu CPUs was online, stopped by the panic, or left "
			"registers",
			count);
	return first;
}

static struct error *write_operand(struct session *session, const char *text, bool with_arguments)
{
	struct task task;
	TRY(bt_find_task(session, text, &task));
	struct error *error = bt_write_task(session, &task, with_arguments);
	task_deinit(&task);
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
	write_trace(session, &session->focus.task, trace,
		    with_arguments ? session->focus.arguments : NULL);
	return NULL;
}

enum { OPTION_ALL, OPTION_CPU, OPTION_GROUPS, OPTION_NO_ARGUMENTS };

static struct error *bt_run(struct session *session, const struct arguments *arguments)
{
	uint64_t number;
	bool with_arguments = !arguments->options[OPTION_NO_ARGUMENTS];
	if (arguments->options[OPTION_ALL])
		return write_all_cpus(session, with_arguments);
	if (arguments->options[OPTION_GROUPS])
		return stacks_write_all(session);
	if (arguments->options[OPTION_CPU]) {
		TRY(argument_number(arguments->options[OPTION_CPU], "a CPU number", 0, UINT32_MAX,
				    &number));
		return write_cpu(session, (uint32_t)number, with_arguments);
	}
	if (arguments->operand_count > 1)
		return write_operands(session, arguments, with_arguments);
	if (arguments->operand_count)
		return write_operand(session, arguments->operands[0], with_arguments);
	return write_selected(session, with_arguments);
}

static const char *const examples[] = { "bt",		"bt -a", "bt -c 0", "bt 1",
					"bt init_task", "bt -n", NULL };

const struct command command_bt = {
	.name = "bt",
	.summary = "stack traces",
	.description =
		"Shows the kernel stack of a task: of the panicking one, of those given by pid, "
		"by name or by the address of their task_struct, of the one on a CPU (-c), or of "
		"all CPUs "
		"(-a)."
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
		"look at one frame, `dis` shows its code.",
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
		     [OPTION_NO_ARGUMENTS] = { .letter = 'n',
					       .name = "no-arguments",
					       .help = "without the functions' arguments" } },
	.operands = { { .name = "TASK",
			.kind = OPERAND_TASK,
			.optional = true,
			.repeated = true } },
	.examples = examples,
	.needs = NEEDS_MEMORY | NEEDS_SYMBOLS | NEEDS_BTF,
	.per_task = true,
	.run = bt_run,
};
