// SPDX-License-Identifier: GPL-3.0-or-later
/* What a record says of many: tasks that wait, the log's end, stacks. */
#include "base/array.h"
#include "debugger/analysis/waits.h"
#include "debugger/kernel/printk.h"
#include "debugger/show/record_parts.h"
#include "debugger/show/stack_groups.h"
#include <stdlib.h>
#include <string.h>

#define GROUPS_MAX    64 /* of those that wait, the largest */
#define LINE_SIZE_MAX 1024

/* --- who waits -------------------------------------------------------------------------------- */

struct wait_group {
	const struct wait *wait; /* one of them */
	uint64_t tasks, longest; /* ns */
};

static int compare_waits(const void *a, const void *b)
{
	const struct wait *left = *(const struct wait *const *)a;
	const struct wait *right = *(const struct wait *const *)b;
	int order = strcmp(left->kind, right->kind);
	order = order ? order : strcmp(left->function, right->function);
	return order ? order : strcmp(left->caller, right->caller);
}

static int compare_groups(const void *a, const void *b)
{
	const struct wait_group *left = a, *right = b;
	if (left->tasks != right->tasks)
		return left->tasks > right->tasks ? -1 : 1;
	return compare_waits(&left->wait, &right->wait);
}

/* `sorted`: equal ones one behind the other. Returns how many groups they are. */
static size_t group(const struct wait *const *sorted, size_t count, struct wait_group *ret)
{
	size_t groups = 0;
	for (size_t i = 0; i < count; i++) {
		const struct wait *wait = sorted[i];
		if (!i || compare_waits(&sorted[i - 1], &wait))
			ret[groups++] = (struct wait_group){ .wait = wait };
		ret[groups - 1].tasks++;
		if (wait->has_age && wait->age > ret[groups - 1].longest)
			ret[groups - 1].longest = wait->age;
	}
	array_sort(ret, groups, sizeof(*ret), compare_groups);
	return groups;
}

static void write_name(struct out *out, const char *key, const char *name)
{
	if (*name)
		out_string(out, key, name);
	else
		out_null_as(out, key, "");
}

static void write_group(struct out *out, const struct wait_group *waiting)
{
	out_object_begin(out, NULL);
	out_string(out, "kind", waiting->wait->kind);
	write_name(out, "function", waiting->wait->function);
	write_name(out, "caller", waiting->wait->caller);
	out_u64(out, "tasks", waiting->tasks);
	out_u64(out, "longest_ms", waiting->longest / 1000000);
	out_object_end(out);
}

static struct error *write_groups(struct out *out, const struct waits *waits)
{
	const struct wait **sorted = calloc(waits->count + 1, sizeof(*sorted));
	struct wait_group *groups = calloc(waits->count + 1, sizeof(*groups));
	struct error *error = sorted && groups ? NULL : error_no_memory();
	size_t count = 0;
	for (size_t i = 0; i < waits->count && !error; i++)
		if (waits->items[i].task.state_letter == 'D')
			sorted[count++] = &waits->items[i];
	if (!error) {
		array_sort(sorted, count, sizeof(*sorted), compare_waits);
		count = group(sorted, count, groups);
	}
	for (size_t i = 0; i < count && i < GROUPS_MAX && !error; i++)
		write_group(out, &groups[i]);
	free(sorted);
	free(groups);
	return error;
}

struct error *record_write_waiting(struct record *record)
{
	struct waits waits;
	struct error *error = waits_find(record->target, &waits);
	if (error) {
		out_null_as(record->out, "waiting", "");
		return error_only_fatal(error);
	}
	out_array_begin(record->out, "waiting");
	error = write_groups(record->out, &waits);
	out_array_end(record->out);
	waits_deinit(&waits);
	return error;
}

/* --- the log ---------------------------------------------------------------------------------- */

struct log_end {
	struct out *out;
	uint64_t count, skip;
	bool is_counted;
};

static struct error *visit_record(void *context, const struct printk_record *record)
{
	struct log_end *end = context;
	if (!end->is_counted) {
		end->count++;
		return NULL;
	}
	if (end->skip) {
		end->skip--;
		return NULL;
	}
	size_t size = record->size < LINE_SIZE_MAX ? record->size : LINE_SIZE_MAX;
	out_object_begin(end->out, NULL);
	out_u64(end->out, "us", record->time / 1000);
	out_string_bytes(end->out, "text", record->text, size);
	out_object_end(end->out);
	return NULL;
}

struct error *record_write_log(struct record *record)
{
	struct log_end end = { .out = record->out };
	uint64_t lost, wanted = record->options->log_lines;
	if (!wanted)
		return NULL;
	struct error *error = printk_for_each(record->target, visit_record, &end, &lost);
	end.is_counted = true;
	end.skip = end.count > wanted ? end.count - wanted : 0;
	if (error && !error_is_fatal(error)) {
		out_null_as(record->out, "log", "");
		error_free(error);
		return NULL;
	}
	out_array_begin(record->out, "log");
	if (!error)
		error = printk_for_each(record->target, visit_record, &end, &lost);
	out_array_end(record->out);
	return error_only_fatal(error);
}

/* --- stacks ----------------------------------------------------------------------------------- */

struct error *record_write_stacks(struct record *record)
{
	const struct stack_selection all = { .function = NULL };
	struct out *usual = record->session->out;
	if (!record->options->has_stacks)
		return NULL;
	record->session->out = record->out;
	out_next_key(record->out, "stacks");
	struct error *error = stack_groups_write(record->session, &all);
	record->session->out = usual;
	return error_only_fatal(error);
}
