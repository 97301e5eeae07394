// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/kernel/task_strings.h"

#include "debugger/kernel/user_space.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static struct error *read_range(struct target *target, uint64_t mm, uint64_t start, uint64_t size,
				struct task_strings *ret)
{
	struct user_space *space;
	ret->is_cut = size > TASK_STRINGS_MAX;
	ret->size = ret->is_cut ? TASK_STRINGS_MAX : (size_t)size;
	char *bytes = calloc(1, ret->size + 1);
	if (!bytes)
		return error_no_memory();
	struct error *error = user_space_open(target, mm, &space);
	if (!error) {
		error = memory_read(user_space_memory(space), start, bytes, ret->size);
		user_space_close(space);
	}
	if (error)
		free(bytes);
	else
		ret->bytes = bytes;
	return error;
}

struct error *task_strings_read(struct target *target, const struct task *task,
				enum task_strings_kind kind, struct task_strings *ret)
{
	struct object object, mm;
	uint64_t start, end;
	*ret = (struct task_strings){ .bytes = NULL };
	TRY(object_at(target, "struct task_struct", task->address, &object));
	TRY(object_follow(&object, "mm", &mm));
	if (!mm.address)
		return NULL;
	TRY(object_u64(&mm, kind == TASK_ARGUMENTS ? "arg_start" : "env_start", &start));
	TRY(object_u64(&mm, kind == TASK_ARGUMENTS ? "arg_end" : "env_end", &end));
	if (end < start)
		return error_create(ERROR_FORMAT, "mm 0x%" PRIx64 ": they end before they begin",
				    mm.address);
	return end == start ? NULL : read_range(target, mm.address, start, end - start, ret);
}

void task_strings_deinit(struct task_strings *strings)
{
	free(strings->bytes);
	*strings = (struct task_strings){ .bytes = NULL };
}

const char *task_strings_next(const struct task_strings *strings, const char *at)
{
	if (!strings->bytes)
		return NULL;
	at = at ? at + strlen(at) + 1 : strings->bytes;
	return at < strings->bytes + strings->size ? at : NULL;
}
