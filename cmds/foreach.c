// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/command/foreach_words.h"

#include "base/array.h"
#include "base/interrupt.h"
#include "debugger/command/alias.h"
#include "debugger/command/crash_words.h"
#include "debugger/command/repeats.h"
#include "debugger/command/run.h"
#include "debugger/command/task_filter.h"
#include "debugger/show/traces.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

extern const struct command command_help, command_task;

/* Nothing in the line is a command: crash may have had one of this name. `*` is all tasks. */
static struct error *no_command(const struct foreach_words *words)
{
	for (size_t i = 0; i < words->count; i++)
		if (*words->names[i] != '*' &&
		    crash_command_hint(words->names[i], strlen(words->names[i])))
			return command_unknown(words->names[i], strlen(words->names[i]));
	const char *last = words->count ? words->names[words->count - 1] : "";
	return command_unknown(last, strlen(last));
}

/* crash's words for kinds and states of tasks. */
static bool take_kind(struct task_filter *filter, const char *word)
{
	static const struct {
		const char *word, *letters;
	} states[] = { { "RU", "R" }, { "IN", "S" }, { "UN", "D" }, { "ST", "T" }, { "TR", "t" },
		       { "ZO", "Z" }, { "DE", "X" }, { "PA", "P" }, { "ID", "I" } };
	for (size_t i = 0; i < ARRAY_COUNT(states); i++)
		if (!strcmp(word, states[i].word)) {
			filter->states = states[i].letters;
			return true;
		}
	const struct {
		const char *word;
		bool *flag;
	} kinds[] = { { "kernel", &filter->kernel },
		      { "user", &filter->user },
		      { "active", &filter->active },
		      { "gleader", &filter->leader } };
	for (size_t i = 0; i < ARRAY_COUNT(kinds); i++)
		if (!strcmp(word, kinds[i].word))
			return *kinds[i].flag = true;
	return false;
}

static void take_kinds(struct task_filter *filter)
{
	while (filter->name_count && take_kind(filter, filter->names[0])) {
		filter->names++;
		filter->name_count--;
	}
}

/* --- what is done for each task ------------------------------------------------------------ */

struct pass {
	struct session *session;
	struct task_filter filter;
	struct call call;    /* of what runs */
	bool is_bt;	     /* whose answer has the task's line itself */
	bool with_arguments; /* then */
	bool shows_task;     /* its text has that line, too */
	uint64_t seen, chosen, failed;
	struct repeats repeats; /* of what failed, in text */
};

/* `in_place`: the answer says already what is missing. */
static struct error *show_failure(struct pass *pass, const struct task *task, struct error *error,
				  bool in_place)
{
	struct session *session = pass->session;
	char name[32];
	if (session->json) {
		out_next_key(session->out, NULL);
		if (out_is_rows(session->out))
			out_object_begin(session->out, NULL);
		out_string(session->out, "error", error->message);
		if (out_is_rows(session->out))
			out_object_end(session->out);
	} else {
		snprintf(name, sizeof(name), "task %d", task->pid);
		const char *said = repeats_say(&pass->repeats, session, name, error->message);
		if (said && !in_place)
			out_text(session->out, "fails as %s did\n", said);
	}
	error_free(error);
	return NULL;
}

/* In a table the task stands in each row of the answer. */
static void write_task(const struct pass *pass, const struct task *task)
{
	struct out *out = pass->session->out;
	if (out_is_text(out) && (pass->shows_task || pass->call.command == &command_task))
		return;
	if (out_is_rows(out))
		out_rows_repeat_begin(out);
	task_write(out, "task", task);
	if (out_is_rows(out))
		out_rows_repeat_end(out);
}

/* What is wrong with the words is so for every task, unless they did for one. */
static bool is_final(const struct pass *pass, const struct error *error)
{
	return error_is_fatal(error) ||
	       (error->kind == ERROR_USAGE && pass->failed + 1 == pass->chosen);
}

/* The command, with the task as the current one. */
static struct error *run_for(struct pass *pass, const struct task *task)
{
	struct session *session = pass->session;
	struct out *out = session->out;
	struct task current = *task;
	current.problem = NULL;
	focus_set_task(&session->focus, &current);
	session->scope.task = task->address;
	bool is_object = !out_is_rows(out);
	if (is_object)
		out_object_begin(out, NULL);
	write_task(pass, task);
	size_t depth = out_depth(out), missing = out_missing_count(out);
	out_next_key(out, "result");
	struct error *error = run_call(session, &pass->call);
	out_finish_to(out, depth);
	if (error && !is_final(pass, error)) {
		pass->failed++;
		error = show_failure(pass, task, error, out_missing_count(out) > missing);
	}
	out_next_key(out, NULL);
	if (is_object)
		out_object_end(out);
	return error;
}

static struct error *visit(void *context, const struct task *task)
{
	struct pass *pass = context;
	TRY(interrupt_check());
	progress_report(pass->session->progress, "tasks", pass->seen++, 0);
	if (!task_filter_wants(&pass->filter, task))
		return NULL;
	if (pass->chosen++)
		out_text(pass->session->out, "\n");
	return pass->is_bt ? trace_write_task(pass->session, task, pass->with_arguments)
			   : run_for(pass, task);
}

static struct error *run_pass(struct pass *pass)
{
	struct error *problem;
	out_array_begin(pass->session->out, NULL);
	struct error *error = task_for_each(pass->session->target, visit, pass, &problem);
	out_array_end(pass->session->out);
	repeats_end(&pass->repeats, pass->session);
	if (error) {
		error_free(problem);
		return error;
	}
	return problem ?: task_filter_check(&pass->filter);
}

/* The user's own task is the current one again afterwards. */
static struct error *run_all(struct pass *pass)
{
	struct session *session = pass->session;
	struct focus focus = session->focus;
	uint64_t task = session->scope.task;
	session->focus = (struct focus){ .has_task = false };
	struct error *error = run_pass(pass);
	focus_deinit(&session->focus);
	session->focus = focus;
	session->scope.task = task;
	if (pass->failed)
		session->failed = true;
	if (!error && pass->failed && session->json)
		error = error_create(ERROR_OTHER, "%" PRIu64 " of %" PRIu64 " failed", pass->failed,
				     pass->chosen);
	return error;
}

/* --- the command ------------------------------------------------------------------------------ */

static struct error *check_bt(struct pass *pass)
{
	const struct arguments *arguments = &pass->call.arguments;
	for (size_t i = 0; i < command_option_count(pass->call.command); i++) {
		char letter = pass->call.command->options[i].letter;
		if (arguments->options[i] && letter != 'n' && letter != 'u')
			return error_create(ERROR_USAGE, "bt: of its options only -n and -u are "
							 "for one task");
	}
	if (arguments->operand_count)
		return error_create(ERROR_USAGE, "bt: the tasks stand before it: foreach %s bt",
				    arguments->operands[0]);
	pass->with_arguments &= !argument_option(pass->call.command, arguments, 'n');
	/* What has no stack in user mode is one task's failure. */
	pass->shows_task = argument_option(pass->call.command, arguments, 'u');
	pass->is_bt = !pass->shows_task;
	return NULL;
}

static struct error *check_command(struct pass *pass)
{
	const struct call *call = &pass->call;
	pass->is_bt = !strcmp(call->command->name, "bt");
	/* `foreach bt --help`: asked once. */
	if (call->command == &command_help && call->arguments.operand_count)
		return NULL;
	if (!call->command->per_task)
		return error_create(
			ERROR_USAGE,
			"\"%s\" does not look at the current task: it cannot be run for "
			"each",
			call->command->name);
	if (call->arguments.operand_count && *call->arguments.operands[0] == '{')
		return error_create(
			ERROR_USAGE,
			"%s: members of what? current%s, or `ps | print %s` for a table",
			call->command->name, call->arguments.operands[0],
			call->arguments.operands[0]);
	return pass->is_bt ? check_bt(pass) : NULL;
}

static struct error *parse_command(struct pass *pass, const struct foreach_words *words, char **ret)
{
	if (!words->command)
		return no_command(words);
	*ret = alias_expand(pass->session, words->command);
	if (!*ret)
		return error_no_memory();
	TRY(call_parse(*ret, &pass->call));
	return check_command(pass);
}

enum { OPTION_NO_ARGUMENTS = FILTER_OPTIONS };

static struct error *foreach_run(struct session *session, const struct arguments *arguments)
{
	struct pass pass = { .session = session,
			     .with_arguments = !arguments->options[OPTION_NO_ARGUMENTS] };
	struct foreach_words words;
	char *text = NULL;
	struct error *error = foreach_words_init(session, arguments->operands[0], &words);
	if (!error)
		error = parse_command(&pass, &words, &text);
	if (!error)
		error = task_filter_init(&pass.filter, session, arguments, words.names,
					 words.count);
	take_kinds(&pass.filter);
	if (!error)
		error = pass.call.command == &command_help ? run_call(session, &pass.call)
							   : run_all(&pass);
	task_filter_deinit(&pass.filter);
	call_deinit(&pass.call);
	free(text);
	foreach_words_deinit(&words);
	return error;
}

static const char *const examples[] = { "foreach bt",
					"foreach -s D bt",
					"foreach user bt",
					"foreach kworker* bt",
					"foreach kernel UN bt",
					"foreach user print current->mm->total_vm",
					"foreach --csv user print current{pid, prio, static_prio}",
					"foreach 1 registers",
					NULL };

const struct command command_foreach = {
	.name = "foreach",
	.summary = "a command for every task",
	.description =
		"Runs a command once for every task, threads and idle tasks too, or for those with "
		"a pid, an address, a name or pattern, a state, an mm, a cgroup. crash's words may "
		"come first: user, kernel, active (on a CPU), gleader (no other threads), and the "
		"states RU IN UN ST TR ZO DE PA ID. The first "
		"word that is a command's name or an alias begins the command; a task that is "
		"called so stands in quotes.\n"
		"\n"
		"Each task is the current one while the command runs, as `task` makes it: "
		"`current` "
		"in expressions, $rip and the other registers, and what bt, dis, frame and "
		"registers look at. What fails for one task is said, and the next one follows. "
		"Afterwards the current task is the one that it was.\n"
		"\n"
		"As JSON, `foreach bt` has an array of stacks, and other commands one of "
		"{\"task\", "
		"\"result\"}, with \"error\" where one failed; as a table, the columns of the "
		"answer "
		"stand behind task.pid, task.comm and so on.\n"
		"\n"
		"`stacks` shows equal stacks once, `ps | print {pid, comm}` makes a table of "
		"members.",
	.options = { TASK_FILTER_OPTIONS,
		     [OPTION_NO_ARGUMENTS] = { .letter = 'n',
					       .name = "no-arguments",
					       .help = "bt without the functions' arguments" } },
	.operands = { { .name = "[PID|TASK|NAME...] COMMAND [ARGUMENT...]",
			.kind = OPERAND_EACH,
			.rest = true } },
	.examples = examples,
	.needs = NEEDS_MEMORY | NEEDS_SYMBOLS | NEEDS_BTF,
	.run = foreach_run,
};
