// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/analysis/detect_deadlock.h"

#include "base/array.h"
#include "debugger/analysis/hang_finding.h"
#include "debugger/analysis/wait_stack.h"
#include <string.h>

#define FINDINGS_SHOWN 16
/* Of task_struct.__state: bits that khungtaskd goes by (kernel include/linux/sched.h). */
#define STATE_UNINTERRUPTIBLE 0x2u
#define STATE_WAKEKILL	      0x100u
#define STATE_NOLOAD	      0x400u

/* A holder that sleeps for a while by itself goes on; one that did for this long is told of. */
#define PURPOSE_MOST_AGE 10000000000u /* ns */

/* A signal that kills ends the wait, or it is one of a thread that has nothing to do. */
static bool hangs_nobody(const struct task *task)
{
	return !(task->state & STATE_UNINTERRUPTIBLE) ||
	       task->state & (STATE_WAKEKILL | STATE_NOLOAD);
}

static void press(const struct detection *detection, struct pressure *pressure, uint32_t number)
{
	const struct wait *wait = &detection->waits->items[number];
	const struct hung_task *named = hung_log_find(&detection->log, &wait->task);
	enum rank rank = named ? RANK_NAMED : hangs_nobody(&wait->task) ? RANK_KILLABLE : RANK_HUNG;
	if (!pressure->count++) {
		pressure->first = number;
		pressure->rank = rank;
	}
	if (rank < pressure->rank)
		pressure->rank = rank;
	if (named && !pressure->named)
		pressure->named = named;
	/* Who waits for a network device looks again and again, and sleeps for a moment each time.
	 */
	bool polls = !strcmp(wait->kind, "network device");
	bool is_told = polls && detection->log.has_network_device;
	pressure->is_long |= named || is_told || !wait->has_age || wait->age >= HANG_LEAST_AGE;
	if (wait->has_age && !polls && wait->age > pressure->longest)
		pressure->longest = wait->age;
}

static int compare_objects(const void *a, const void *b)
{
	const struct pressure *one = a, *other = b;
	if (one->object != other->object)
		return one->object < other->object ? -1 : 1;
	return one->first < other->first ? -1 : one->first > other->first;
}

static int compare_counts(const void *a, const void *b)
{
	const struct pressure *one = a, *other = b;
	if (one->count != other->count)
		return one->count > other->count ? -1 : 1;
	return one->first < other->first ? -1 : one->first > other->first;
}

static int32_t pid_of(const struct detection *detection, uint32_t number)
{
	return detection->waits->items[number].task.pid;
}

/* Equal objects together: each with its first waiter, in the order of the list, and a sum. */
static size_t join_objects(const struct detection *detection, struct pressure *objects,
			   size_t count)
{
	size_t joined = 0;
	array_sort(objects, count, sizeof(*objects), compare_objects);
	for (size_t i = 0; i < count; i++) {
		struct pressure one = objects[i];
		if (!joined || !one.object || objects[joined - 1].object != one.object)
			objects[joined++] = (struct pressure){ .object = one.object };
		press(detection, &objects[joined - 1], one.first);
		/* The signature is of one of them: of the same, in whatever order they were found.
		 */
		if (pid_of(detection, one.first) < pid_of(detection, objects[joined - 1].first))
			objects[joined - 1].first = one.first;
	}
	array_sort(objects, joined, sizeof(*objects), compare_counts);
	return joined;
}

/* Those that wait for what nobody is known to have; without an object, whom the kernel named. */
static size_t find_objects(const struct detection *detection, struct pressure *objects)
{
	const struct waits *waits = detection->waits;
	size_t count = 0;
	for (uint32_t i = 0; i < waits->count; i++) {
		const struct wait *wait = &waits->items[i];
		if (wait->chain == WAIT_NONE && wait->task.state_letter == 'D' &&
		    (wait->object || hung_log_find(&detection->log, &wait->task)))
			objects[count++] = (struct pressure){ .object = wait->object, .first = i };
	}
	return join_objects(detection, objects, count);
}

/* --- all of them ---------------------------------------------------------------------------------
 */

/* Whether it is known for whom a task waits that the kernel named. */
static bool is_end_known(const struct waits *waits, const struct pressure *pressures)
{
	for (uint32_t i = 0; i < waits->chain_count; i++) {
		const struct wait_chain *chain = &waits->chains[i];
		if (pressures[i].named && !chain->length && chain->wait == WAIT_NONE)
			return true;
	}
	return false;
}

static struct error *add_chains(struct detection *detection, const struct pressure *pressures,
				enum rank rank)
{
	const struct waits *waits = detection->waits;
	/* What nobody ends may be what those wait for whose wait says no more. */
	enum rank of_circle = is_end_known(waits, pressures) ? RANK_HUNG : RANK_NAMED;
	for (uint32_t i = 0; i < waits->chain_count && detection->count < FINDINGS_SHOWN; i++) {
		const struct pressure *pressure = &pressures[i];
		bool is_circle = waits->chains[i].length;
		/* Of a circle nobody gets out, whoever may be killed. */
		enum rank own = pressure->named		  ? RANK_NAMED
				: is_circle		  ? of_circle
				: pressure->is_purposeful ? RANK_PURPOSE
							  : pressure->rank;
		if (own == rank && is_circle)
			TRY(hang_add_circle(detection, &waits->chains[i], pressure));
		else if (own == rank && pressure->count && pressure->is_long)
			TRY(hang_add_chain(detection, i, pressure));
	}
	return NULL;
}

static struct error *add_all(struct detection *detection, const struct pressure *chains,
			     const struct pressure *objects, size_t object_count)
{
	for (enum rank rank = RANK_NAMED; rank <= RANK_PURPOSE; rank++) {
		TRY(add_chains(detection, chains, rank));
		for (size_t i = 0; i < object_count && detection->count < FINDINGS_SHOWN; i++)
			if (objects[i].rank == rank && objects[i].is_long)
				TRY(hang_add_object(detection, &objects[i]));
		if (rank == RANK_NAMED)
			detection->named = detection->count;
		if (rank == RANK_HUNG)
			detection->hung = detection->count;
	}
	return NULL;
}

/* It may be the head that the kernel named, and the head may sleep on purpose. */
static struct error *look_at_heads(const struct detection *detection, struct pressure *pressures)
{
	static const char *const sleeps[] = { "msleep_interruptible", "usleep_range_state",
					      "schedule_timeout_interruptible" };
	const struct waits *waits = detection->waits;
	for (size_t i = 0; i < waits->chain_count; i++) {
		const struct wait_chain *chain = &waits->chains[i];
		struct pressure *pressure = &pressures[i];
		const char *function = NULL;
		if (!pressure->count || chain->length)
			continue;
		if (chain->wait != WAIT_NONE && chain->head.state_letter == 'D')
			pressure->named = pressure->named
						  ?: hung_log_find(&detection->log, &chain->head);
		if (chain->head.state_letter != 'S' || pressure->longest >= PURPOSE_MOST_AGE)
			continue;
		TRY(wait_function_of(detection->target, &chain->head, &function));
		for (size_t k = 0; k < ARRAY_COUNT(sleeps) && function; k++)
			pressure->is_purposeful |= !strcmp(function, sleeps[k]);
	}
	return NULL;
}

static struct error *detect(struct detection *detection)
{
	const struct waits *waits = detection->waits;
	struct pressure *chains = calloc(waits->chain_count + 1, sizeof(*chains));
	struct pressure *objects = calloc(waits->count + 1, sizeof(*objects));
	struct error *error = chains && objects ? NULL : error_no_memory();
	for (uint32_t i = 0; i < waits->count && !error; i++) {
		const struct wait *wait = &waits->items[i];
		if (wait->chain != WAIT_NONE && wait->owner && wait->task.state_letter == 'D')
			press(detection, &chains[wait->chain], i);
	}
	if (!error)
		error = look_at_heads(detection, chains);
	if (!error)
		error = add_all(detection, chains, objects, find_objects(detection, objects));
	free(chains);
	free(objects);
	return error;
}

struct error *detect_hang(struct target *target, const struct waits *waits, struct hang *ret)
{
	struct detection detection = { .target = target, .waits = waits };
	*ret = (struct hang){ .count = 0 };
	struct error *error = hung_log_read(target, &detection.log);
	if (!error)
		error = detect(&detection);
	/* Of whom the kernel named it may have been, of nobody else; without its log, of any. */
	size_t leading = detection.log.count ? detection.named : detection.hung;
	hung_log_deinit(&detection.log);
	if (error) {
		for (size_t i = 0; i < detection.count; i++)
			finding_deinit(&detection.findings[i]);
		free(detection.findings);
		return error;
	}
	*ret = (struct hang){ .findings = detection.findings,
			      .count = detection.count,
			      .is_cause = leading > 0 };
	return NULL;
}
