// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/kernel/clock.h"

#include "debugger/target/object.h"

/*
 * The timekeeper: a copy of its own up to 6.12 (shadow_timekeeper), a member of the named
 * struct tk_data since (kernel/time/timekeeping.c).
 */
static struct error *find_timekeeper(struct target *target, struct object *ret)
{
	struct error *error =
		object_variable(target, "shadow_timekeeper", "struct timekeeper", ret);
	if (!error)
		return NULL;
	struct object core;
	struct error *other = object_variable(target, "tk_core", "struct tk_data", &core);
	if (!other)
		other = object_member(&core, "timekeeper", ret);
	error_free(other ? other : error);
	return other ? error : NULL;
}

struct error *clock_boot_time(struct target *target, int64_t *ret)
{
	struct object timekeeper;
	uint64_t wall, monotonic;
	TRY(error_prefix(find_timekeeper(target, &timekeeper), "the timekeeper"));
	TRY(object_u64(&timekeeper, "xtime_sec", &wall));
	TRY(object_u64(&timekeeper, "ktime_sec", &monotonic));
	if (!wall || monotonic > wall)
		return error_create(ERROR_NOT_FOUND, "the timekeeper was not running yet");
	*ret = (int64_t)(wall - monotonic);
	return NULL;
}
