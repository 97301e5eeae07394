// SPDX-License-Identifier: GPL-3.0-or-later
/* What an analysis rests on, and could not be read: without it, silence of the detectors is no
 * news. */
#include "debugger/analysis/analysis.h"
#include "debugger/kernel/printk.h"

static struct error *pass_task(void *context, const struct task *task)
{
	(void)context;
	(void)task;
	return NULL;
}

struct error *analysis_note_unread(struct analysis *analysis, struct error *error, const char *what)
{
	if (!error || error_is_fatal(error))
		return error;
	if (analysis->unread_count == UNREAD_MAX)
		error_free(error);
	else
		analysis->unread[analysis->unread_count++] = what ? error_prefix(error, "%s", what)
								  : error;
	return NULL;
}

static struct error *look_at_tasks(struct analysis *analysis)
{
	struct error *problem = NULL;
	TRY(analysis_note_unread(
		analysis, task_for_each(analysis->target, pass_task, NULL, &problem), "tasks"));
	return analysis_note_unread(analysis, problem, "tasks");
}

static struct error *look_at_stack(struct analysis *analysis)
{
	if (!analysis->has_task || analysis->trace.count > 1 || !analysis->trace.end)
		return NULL;
	return analysis_note_unread(analysis, error_copy(analysis->trace.end), "its stack");
}

struct error *analysis_find_unread(struct analysis *analysis, struct error *no_task)
{
	TRY(analysis_note_unread(analysis, no_task, "the task"));
	TRY(look_at_stack(analysis));
	if (analysis->is_asked)
		return NULL;
	TRY(analysis_note_unread(analysis, printk_check(analysis->target), NULL));
	return look_at_tasks(analysis);
}

const char *analysis_nothing_found(const struct analysis *analysis)
{
	return analysis->unread_count ? "what is wrong is not known"
				      : "nothing is found to be wrong";
}
