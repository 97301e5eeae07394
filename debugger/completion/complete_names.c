// SPDX-License-Identifier: GPL-3.0-or-later
/* Names of the dump, for the process that reads it. What comes of them is not for it to say. */
#include "debugger/completion/complete_private.h"

#include "debugger/kernel/task.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

void complete_offer_name(struct completing *completing, const char *word)
{
	if (complete_is_name(completing->names, word))
		complete_offer(completing, word);
}

static void offer_modules(struct completing *completing)
{
	const struct module *modules;
	size_t count = target_modules(completing->session->target, &modules);
	for (size_t i = 0; i < count; i++)
		complete_offer_name(completing, modules[i].name);
}

static void offer_cpus(struct completing *completing)
{
	const struct cpu *cpus;
	char number[16];
	size_t count = target_cpus(completing->session->target, &cpus);
	for (size_t i = 0; i < count; i++) {
		snprintf(number, sizeof(number), "%u", cpus[i].number);
		complete_offer_name(completing, number);
	}
}

static struct error *offer_task(void *context, const struct task *task)
{
	struct completing *completing = context;
	char pid[16];
	snprintf(pid, sizeof(pid), "%d", task->pid);
	bool by_name = completing->names == NAMES_TASKS &&
		       !isdigit((unsigned char)*completing->prefix);
	complete_offer_name(completing, by_name ? task->comm : pid);
	return interrupt_check();
}

static void offer_tasks(struct completing *completing)
{
	struct target *target = completing->session->target;
	struct error *problem = NULL;
	if (!target->memory || !target->btf)
		return;
	error_free(task_for_each(target, offer_task, completing, &problem));
	error_free(problem);
}

void command_complete(struct session *session, const char *line,
		      const struct helper_question *question, struct completions *ret)
{
	struct completing completing = {
		.session = session, .text = line, .names = question->names, .ret = ret
	};
	complete_begin(&completing, complete_word(completing.names, line, question->start));
	switch (completing.names) {
	case NAMES_MODULES:
		offer_modules(&completing);
		break;
	case NAMES_CPUS:
		offer_cpus(&completing);
		break;
	case NAMES_PIDS:
	case NAMES_TASKS:
		offer_tasks(&completing);
		break;
	case NAMES_TYPES:
		complete_type_operand(&completing, question->start);
		break;
	case NAMES_EXPRESSION:
		complete_expression(&completing, question->start);
		break;
	default:
		break;
	}
	completions_sort(ret);
}
