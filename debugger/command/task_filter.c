// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/command/task_filter.h"

#include "base/ascii.h"
#include "base/digits.h"
#include "debugger/kernel/cgroup.h"
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#define STATES "RSDTtXZPI"

static struct error *check_states(const char *states)
{
	for (; states && *states; states++)
		if (!strchr(STATES, *states))
			return error_create(ERROR_USAGE,
					    "no state \"%c\"; there are R S D T t X Z P I",
					    ascii_is_print(*states) ? *states : '?');
	return NULL;
}

struct error *task_filter_init(struct task_filter *filter, struct session *session,
			       const struct arguments *arguments, const char *const *names,
			       size_t name_count)
{
	*filter = (struct task_filter){ .target = session->target,
					.kernel = arguments->options[FILTER_KERNEL],
					.user = arguments->options[FILTER_USER],
					.states = arguments->options[FILTER_STATE],
					.cgroup = arguments->options[FILTER_CGROUP],
					.names = names,
					.name_count = name_count };
	TRY(check_states(filter->states));
	if (arguments->options[FILTER_MM])
		TRY(expression_address(&session->scope, arguments->options[FILTER_MM],
				       &filter->mm));
	filter->found = calloc(name_count + 1, sizeof(*filter->found));
	return filter->found ? NULL : error_no_memory();
}

void task_filter_deinit(struct task_filter *filter)
{
	free(filter->found);
}

/* A pid, the address of a task_struct in hexadecimal, or a name. */
static bool is_called(const struct task *task, const char *name)
{
	uint64_t number;
	const char *end = digits_scan(name, 10, &number);
	if (end && !*end && strlen(name) < 16)
		return number == (uint64_t)task->pid;
	end = digits_scan(name, 16, &number);
	if (end && !*end && number == task->address)
		return true;
	/* A name may have brackets of its own. */
	return !strcmp(name, task->comm) || !fnmatch(name, task->comm, 0);
}

static bool has_mm(const struct task_filter *filter, const struct task *task)
{
	struct object object;
	uint64_t mm = 0;
	struct error *error =
		object_at(filter->target, "struct task_struct", task->address, &object);
	if (!error)
		error = object_u64(&object, "mm", &mm);
	error_free(error);
	return mm == filter->mm;
}

static bool in_cgroup(const struct task_filter *filter, const struct task *task)
{
	char path[4096];
	size_t length = strlen(filter->cgroup);
	struct error *error = task_cgroup(filter->target, task->address, path, sizeof(path));
	error_free(error);
	while (length && filter->cgroup[length - 1] == '/')
		length--;
	return !error && !strncmp(path, filter->cgroup, length) &&
	       (!path[length] || path[length] == '/');
}

bool task_filter_wants(struct task_filter *filter, const struct task *task)
{
	if ((filter->kernel || filter->user) && !(task->has_mm ? filter->user : filter->kernel))
		return false;
	if (filter->states && (!task->state_letter || !strchr(filter->states, task->state_letter)))
		return false;
	if ((filter->active && !task->on_cpu) || (filter->leader && task->pid != task->tgid))
		return false;
	bool any = !filter->name_count;
	for (size_t i = 0; i < filter->name_count; i++)
		if (is_called(task, filter->names[i]))
			any = filter->found[i] = true;
	return any && (!filter->mm || has_mm(filter, task)) &&
	       (!filter->cgroup || in_cgroup(filter, task));
}

struct error *task_filter_check(const struct task_filter *filter)
{
	for (size_t i = 0; i < filter->name_count; i++)
		if (!filter->found[i])
			return error_create(ERROR_NOT_FOUND, "no task \"%s\"", filter->names[i]);
	return NULL;
}
