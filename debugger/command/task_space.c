// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/command/task_space.h"

#include "debugger/command/task_named.h"

struct error *task_space_open(struct session *session, const char *name, struct user_space **ret)
{
	const struct task *chosen;
	struct task named;
	TRY(target_need_memory(session->target));
	TRY(target_need_btf(session->target));
	if (!name) {
		TRY(focus_task(&session->focus, session->target, &chosen));
		return user_space_open_task(session->target, chosen, ret);
	}
	TRY(task_named(session, name, &named));
	struct error *error = user_space_open_task(session->target, &named, ret);
	task_deinit(&named);
	return error;
}
