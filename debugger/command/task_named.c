// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/command/task_named.h"

#include "base/digits.h"
#include <inttypes.h>
#include <string.h>

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

struct error *task_named(struct session *session, const char *text, struct task *ret)
{
	struct target *target = session->target;
	uint64_t value, symbol = 0;
	const char *end = digits_scan(text, 10, &value);
	if (end && !*end && strlen(text) < 16)
		return task_find(target, value, ret);
	struct error *error = expression_address(&session->scope, text, &value);
	if (!error && (!symtab_address(target->symbols, text, &symbol) || symbol != value))
		error = task_find(target, value, ret);
	else if (!error)
		return find_named(target, text, symbol, NULL, ret);
	return error && !error_is_fatal(error) ? find_named(target, text, 0, error, ret) : error;
}
