// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/kernel/clock.h"

#include <inttypes.h>

/* HZ is between 24 and 1200 on all processors (kernel/Kconfig.hz): wide bounds around that. */
#define TICK_MIN_NS UINT64_C(100000)
#define TICK_MAX_NS UINT64_C(1000000000)

/*
 * Where kernels keep it (kernel/time/timekeeping.c): first of an array of clocks; in a struct that
 * has a name; up to 6.12 in one that has none, so that only the copy beside it can be found.
 */
static const struct {
	const char *variable, *type, *member;
} timekeepers[] = {
	{ "timekeeper_data", "struct tk_data", "timekeeper" },
	{ "tk_core", "struct tk_data", "timekeeper" },
	{ "shadow_timekeeper", "struct timekeeper", NULL },
};

struct error *clock_timekeeper(struct target *target, struct object *ret)
{
	for (size_t i = 0; i < sizeof(timekeepers) / sizeof(*timekeepers); i++) {
		struct object object;
		struct error *error = object_variable(target, timekeepers[i].variable,
						      timekeepers[i].type, &object);
		if (!error)
			error = object_member(&object, timekeepers[i].member, ret);
		if (!error)
			return NULL;
		error_free(error);
	}
	return error_create(ERROR_NOT_FOUND, "the kernel has no timekeeper that is known");
}

struct error *clock_now(struct target *target, uint64_t *ret)
{
	struct object timekeeper;
	uint64_t base, fraction, shift;
	TRY(clock_timekeeper(target, &timekeeper));
	TRY(object_u64(&timekeeper, "tkr_mono.base", &base));
	TRY(object_u64(&timekeeper, "tkr_mono.xtime_nsec", &fraction));
	TRY(object_u64(&timekeeper, "tkr_mono.shift", &shift));
	*ret = base + (shift < 64 ? fraction >> shift : 0);
	return NULL;
}

static struct error *read_tick(struct target *target, uint64_t *ret)
{
	struct object object;
	struct error *error = object_variable(target, "tick_nsec", "unsigned long", &object);
	if (!error)
		return object_u64(&object, NULL, ret);
	TRY(error_only_fatal(error));
	/* The first of an array of clocks; the upper half counts nanoseconds. */
	TRY(object_variable(target, "tk_ntp_data", "struct ntp_data", &object));
	bool has_base = object_has(&object, "tick_length_base");
	TRY(object_u64(&object, has_base ? "tick_length_base" : "tick_length", ret));
	*ret >>= 32;
	return NULL;
}

struct error *clock_tick(struct target *target, uint64_t *ret)
{
	uint64_t tick;
	TRY(error_prefix(read_tick(target, &tick), "how long a tick is"));
	if (tick < TICK_MIN_NS || tick > TICK_MAX_NS)
		return error_create(ERROR_FORMAT, "a tick of %" PRIu64 " ns is not sane", tick);
	*ret = tick;
	return NULL;
}

struct error *clock_boot_time(struct target *target, int64_t *ret)
{
	struct object timekeeper;
	uint64_t wall, monotonic;
	TRY(clock_timekeeper(target, &timekeeper));
	TRY(object_u64(&timekeeper, "xtime_sec", &wall));
	TRY(object_u64(&timekeeper, "ktime_sec", &monotonic));
	if (!wall || monotonic > wall)
		return error_create(ERROR_NOT_FOUND, "the timekeeper was not running yet");
	*ret = (int64_t)(wall - monotonic);
	return NULL;
}
