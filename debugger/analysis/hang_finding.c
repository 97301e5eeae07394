// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/analysis/hang_finding.h"

#include "base/array.h"
#include "debugger/analysis/lock_taker.h"
#include "debugger/analysis/object_name.h"
#include "debugger/analysis/wait_stack.h"
#include "debugger/analysis/wait_text.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Of one: links of a circle, and tasks behind a head. */
#define LINKS_SHOWN 6

static const struct task *owner_of(const struct waits *waits, const struct wait *wait)
{
	if (!wait->owner)
		return NULL;
	if (wait->owner_wait != WAIT_NONE)
		return &waits->items[wait->owner_wait].task;
	return wait->chain == WAIT_NONE ? NULL : &waits->chains[wait->chain].head;
}

/* Takes what is in `text`. */
static struct error *summarize(struct finding *finding, struct strbuf *text)
{
	struct error *error = text->failed ? error_no_memory()
					   : finding_summarize(finding, "%.*s", (int)text->size,
							       text->data ?: "");
	strbuf_deinit(text);
	return error;
}

static void put_age(const struct pressure *pressure, struct strbuf *text)
{
	uint64_t tenths = pressure->longest / 100000000;
	if (tenths)
		strbuf_format(text, ", for up to %" PRIu64 ".%" PRIu64 " s", tenths / 10,
			      tenths % 10);
}

/* The stack of who waits, and the lock that it waits for. */
static struct error *add_link(struct detection *detection, struct finding *finding,
			      const struct wait *wait)
{
	struct strbuf text = { 0 };
	char command[32];
	const struct task *owner = owner_of(detection->waits, wait);
	TRY(wait_add_link(detection->target, wait, owner, finding));
	wait_put_link(detection->target, wait, owner, &text);
	snprintf(command, sizeof(command), "bt %" PRId32, wait->task.pid);
	struct error *error = text.failed ? error_no_memory()
					  : finding_add(finding, command, "%.*s", (int)text.size,
							text.data ?: "");
	strbuf_deinit(&text);
	return error ? error : wait_add_lock(wait, finding);
}

/* "; 0x... is dev->lock [drv]": a lock that is no variable, by the variable that leads to it. */
static struct error *put_name(struct detection *detection, const struct wait *wait,
			      struct strbuf *text)
{
	struct strbuf name = { 0 };
	if (!wait->object || !wait->type || wait->within || wait_is_own_stack(wait))
		return NULL;
	struct error *error = object_name_put(detection->target, wait->object, wait->type, &name);
	if (!error && name.size) {
		strbuf_put(text, "; ");
		strbuf_bytes(text, name.data, name.size);
	}
	text->failed |= name.failed;
	strbuf_deinit(&name);
	return error;
}

static struct error *add_graph(struct finding *finding, uint32_t behind)
{
	if (!behind)
		return NULL;
	return finding_add(finding, "locks --graph", "%" PRIu32 " task%s behind", behind,
			   behind == 1 ? " is" : "s are");
}

static struct error *new_finding(struct detection *detection, const char *kind,
				 struct finding **ret)
{
	if (!array_reserve(&detection->findings, &detection->capacity, detection->count + 1))
		return error_no_memory();
	*ret = &detection->findings[detection->count++];
	**ret = (struct finding){ .kind = kind };
	return NULL;
}

/* --- circles -----------------------------------------------------------------------------------
 */

static void put_circle(struct detection *detection, const struct wait_chain *chain,
		       struct strbuf *text)
{
	const struct waits *waits = detection->waits;
	uint32_t at = chain->wait;
	wait_put_task(&chain->head, text);
	for (uint32_t i = 0; i < chain->length && i < LINKS_SHOWN; i++) {
		const struct wait *wait = &waits->items[at];
		strbuf_put(text, i ? ", who waits for " : " waits for ");
		wait_put_object(detection->target, wait, text);
		strbuf_put(text, ", held up by ");
		wait_put_task(owner_of(waits, wait), text);
		at = wait->owner_wait;
	}
	if (chain->length > LINKS_SHOWN)
		strbuf_put(text, ", and so on");
}

/*
 * "; it is in vol_scrub+0x19 [volmgr]"; nothing where that is `function`, which was said. The task
 * is called by its name unless it `is_it`.
 */
static struct error *put_place(struct detection *detection, const struct task *task,
			       const char *function, bool is_it, struct strbuf *text)
{
	struct strbuf place = { 0 };
	struct error *error = wait_put_module_place(detection->target, task, function, &place);
	if (!error && place.size) {
		strbuf_put(text, "; ");
		if (is_it)
			strbuf_put(text, "it");
		else
			wait_put_task(task, text);
		strbuf_put(text, " is in ");
		strbuf_bytes(text, place.data, place.size);
	}
	text->failed |= place.failed;
	strbuf_deinit(&place);
	return error;
}

/* Where each of a circle is, of those that are in a module: it says whose the locks are. */
static struct error *put_places(struct detection *detection, const struct wait_chain *chain,
				struct strbuf *text)
{
	uint32_t at = chain->wait;
	for (uint32_t i = 0; i < chain->length && i < LINKS_SHOWN; i++) {
		const struct wait *wait = &detection->waits->items[at];
		TRY(put_place(detection, &wait->task, NULL, chain->length == 1, text));
		TRY(put_name(detection, wait, text));
		at = wait->owner_wait;
	}
	return NULL;
}

/* The word may be of an earlier task, whose struct that of the one that waits is now. */
static void put_own_word(struct detection *detection, const struct wait_chain *chain,
			 struct strbuf *text)
{
	wait_put_task(&chain->head, text);
	strbuf_put(text, " waits for ");
	wait_put_object(detection->target, &detection->waits->items[chain->wait], text);
	strbuf_put(text, ", whose owner is said to be that task itself: it has taken it before, or "
			 "who took it has ended, and the task_struct was used again");
}

/* What the kernel said is a fact of its own. */
static struct error *add_named(struct finding *finding, const struct pressure *pressure)
{
	return pressure->named
		       ? finding_add(finding, "log", "the kernel said: %s", pressure->named->line)
		       : NULL;
}

struct error *hang_add_circle(struct detection *detection, const struct wait_chain *chain,
			      const struct pressure *pressure)
{
	struct finding *finding;
	struct strbuf text = { 0 };
	uint32_t at = chain->wait;
	TRY(new_finding(detection, "deadlock", &finding));
	finding->sure = chain->sure;
	finding->task = finding->blamed = chain->head.address;
	bool is_nested = false;
	if (chain->length == 1)
		TRY(wait_is_nested(detection->target, &chain->head, &is_nested));
	bool is_doubtful = chain->length == 1 && chain->sure < CONFIDENCE_CERTAIN && !is_nested;
	if (is_doubtful)
		put_own_word(detection, chain, &text);
	else if (chain->length == 1)
		strbuf_put(&text, "a task waits for itself: ");
	else
		strbuf_format(&text, "deadlock of %" PRIu32 " tasks: ", chain->length);
	if (!is_doubtful)
		put_circle(detection, chain, &text);
	TRY(put_places(detection, chain, &text));
	TRY(summarize(finding, &text));
	for (uint32_t i = 0; i < chain->length && i < FINDING_CIRCLE_MAX; i++) {
		const struct wait *wait = &detection->waits->items[at];
		finding->circle[finding->circle_count++] = wait->task.address;
		if (i < LINKS_SHOWN)
			TRY(add_link(detection, finding, wait));
		at = wait->owner_wait;
	}
	if (is_nested)
		TRY(finding_add(finding, NULL,
				"it has come into that module twice: it may have taken the lock "
				"the first time"));
	TRY(add_named(finding, pressure));
	return add_graph(finding, chain->behind);
}

/* --- chains ------------------------------------------------------------------------------------
 */

static struct error *put_head(struct detection *detection, const struct wait_chain *chain,
			      struct strbuf *text)
{
	const char *function;
	if (chain->wait != WAIT_NONE) {
		wait_put_link(detection->target, &detection->waits->items[chain->wait], NULL, text);
		return NULL;
	}
	TRY(wait_function_of(detection->target, &chain->head, &function));
	wait_put_task(&chain->head, text);
	strbuf_char(text, ' ');
	wait_put_state(detection->target, &chain->head, function, text);
	return NULL;
}

/* A lock of the kernel's own, which its task gives back before it is user space again. */
static bool is_of_kernel(const struct wait *wait)
{
	static const char *const kinds[] = { "mutex", "rwsem", "rt_mutex", "rwlock", "spinlock" };
	for (size_t i = 0; i < ARRAY_COUNT(kinds); i++)
		if (!strcmp(wait->kind, kinds[i]))
			return true;
	return false;
}

/* A lock of the kernel that the head has, of the first who waits for it; NULL. */
static const struct wait *held_by_head(const struct waits *waits, uint32_t number)
{
	for (uint32_t i = 0; i < waits->count; i++) {
		const struct wait *wait = &waits->items[i];
		if (wait->chain == number && wait->owner == waits->chains[number].head.address &&
		    is_of_kernel(wait))
			return wait;
	}
	return NULL;
}

/* Who has left the code that takes it did not give it back, or is not who took it. */
static struct error *say_left(const struct lock_taker *taker, const struct task *task,
			      struct finding *finding)
{
	static const char reasons[] = "an earlier system call did not give it back, or who took it "
				      "has ended, and its task_struct is that of";
	char command[32];
	snprintf(command, sizeof(command), "bt %" PRId32, task->pid);
	if (*taker->absent)
		TRY(finding_add(finding, command,
				"the lock is of %s, of which no function is on the stack of "
				"%" PRId32 ": it may have been left taken",
				taker->absent, task->pid));
	if (taker->sleep)
		return finding_add(finding, NULL, "%s() takes no lock: %s %" PRId32 " now",
				   taker->sleep, reasons, task->pid);
	return taker->is_user ? finding_add(finding, NULL,
					    "in user space nobody has a lock of the kernel: %s "
					    "%" PRId32 " now",
					    reasons, task->pid)
			      : NULL;
}

struct error *hang_add_chain(struct detection *detection, uint32_t number,
			     const struct pressure *pressure)
{
	const struct waits *waits = detection->waits;
	const struct wait_chain *chain = &waits->chains[number];
	struct finding *finding;
	struct strbuf text = { 0 };
	char command[32];
	struct lock_taker taker = { .is_user = false };
	const struct wait *held = held_by_head(waits, number);
	if (held)
		TRY(lock_taker_ask(detection->target, &chain->head, held->object, &taker));
	bool is_doubtful = taker.is_user || taker.sleep;
	TRY(new_finding(detection, "blocked", &finding));
	finding->sure = chain->sure;
	if (is_doubtful && finding->sure > CONFIDENCE_INFERRED)
		finding->sure = CONFIDENCE_INFERRED;
	finding->task = waits->items[pressure->first].task.address;
	finding->blamed = is_doubtful ? finding->task : chain->head.address;
	struct error *error = put_head(detection, chain, &text);
	if (error) {
		strbuf_deinit(&text);
		return error;
	}
	strbuf_format(&text, "; it %s up %" PRIu32 " task%s",
		      is_doubtful ? "is said to hold" : "holds", chain->behind,
		      chain->behind == 1 ? "" : "s");
	put_age(pressure, &text);
	if (held && held->object) {
		strbuf_put(&text, ", by ");
		wait_put_held(detection->target, held, &text);
		TRY(put_name(detection, held, &text));
	}
	/* Who sleeps for itself has been told with its caller. */
	bool is_sleep = chain->wait != WAIT_NONE &&
			!strcmp(waits->items[chain->wait].kind, "sleep");
	TRY(put_place(detection, &chain->head, is_sleep ? waits->items[chain->wait].caller : NULL,
		      true, &text));
	if (*taker.absent)
		strbuf_format(&text, "; no function of %s is on its stack", taker.absent);
	TRY(summarize(finding, &text));
	snprintf(command, sizeof(command), "bt %" PRId32, chain->head.pid);
	if (chain->head.pid >= 0)
		TRY(finding_add(finding, command,
				"the stack of %" PRId32 ", which the others wait for",
				chain->head.pid));
	uint32_t shown = 0;
	for (uint32_t i = 0; i < waits->count && shown < LINKS_SHOWN; i++)
		if (waits->items[i].chain == number && waits->items[i].owner) {
			TRY(add_link(detection, finding, &waits->items[i]));
			shown++;
		}
	TRY(say_left(&taker, &chain->head, finding));
	TRY(add_named(finding, pressure));
	return add_graph(finding, chain->behind);
}

/* --- objects without an owner --------------------------------------------------------------------
 */

static struct error *put_waiters(struct detection *detection, const struct pressure *pressure,
				 struct strbuf *text)
{
	const struct wait *wait = &detection->waits->items[pressure->first];
	if (!wait->object) {
		wait_put_link(detection->target, wait, NULL, text);
		put_age(pressure, text);
		return put_place(detection, &wait->task, NULL, true, text);
	}
	if (pressure->count == 1)
		wait_put_task(&wait->task, text);
	else
		strbuf_format(text, "%" PRIu32 " tasks", pressure->count);
	strbuf_put(text, pressure->count == 1 ? " waits for " : " wait for ");
	wait_put_object(detection->target, wait, text);
	put_age(pressure, text);
	strbuf_format(text, ": %s", wait->owner_how ?: "nobody is known to have it");
	TRY(put_name(detection, wait, text));
	return put_place(detection, &wait->task, NULL, pressure->count == 1, text);
}

struct error *hang_add_object(struct detection *detection, const struct pressure *pressure)
{
	const struct wait *wait = &detection->waits->items[pressure->first];
	struct finding *finding;
	struct strbuf text = { 0 };
	TRY(new_finding(detection, "blocked", &finding));
	finding->sure = wait->sure;
	finding->task = wait->task.address;
	TRY(put_waiters(detection, pressure, &text));
	TRY(summarize(finding, &text));
	TRY(add_named(finding, pressure));
	return add_link(detection, finding, wait);
}
