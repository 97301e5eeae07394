// SPDX-License-Identifier: GPL-3.0-or-later
/* Of one task that was asked about: what it waits for, who has that, and what he waits for in turn.
 */
#include "debugger/analysis/analysis.h"
#include "debugger/analysis/stack_words.h"
#include "debugger/analysis/wait_text.h"
#include <inttypes.h>
#include <stdio.h>

#define LINKS_MAX 16

static const struct wait *find_wait(const struct waits *waits, uint64_t task)
{
	for (size_t i = 0; i < waits->count; i++)
		if (waits->items[i].task.address == task)
			return &waits->items[i];
	return NULL;
}

static struct error *summarize(struct finding *finding, struct strbuf *text)
{
	strbuf_bytes(text, "", 1);
	struct error *error = text->failed ? error_no_memory()
					   : finding_summarize(finding, "%s", text->data);
	strbuf_deinit(text);
	return error;
}

/* A link of the chain as evidence, with the stack that shows it. */
static struct error *add_link(const struct analysis *analysis, struct finding *finding,
			      const struct wait *wait, const struct task *owner)
{
	struct strbuf text = { 0 };
	char command[32];
	wait_put_link(analysis->target, wait, owner, &text);
	strbuf_bytes(&text, "", 1);
	snprintf(command, sizeof(command), "bt %" PRId32, wait->task.pid);
	struct error *error = text.failed ? error_no_memory()
					  : finding_add(finding, command, "%s", text.data);
	strbuf_deinit(&text);
	return error;
}

/* NULL: no owner is known, or nothing of what that waits for. */
static const struct wait *next_wait(const struct waits *waits, const struct wait *wait)
{
	return wait->owner_wait == WAIT_NONE ? NULL : &waits->items[wait->owner_wait];
}

static bool is_shown(const struct wait *const *shown, size_t count, const struct wait *wait)
{
	for (size_t i = 0; i < count; i++)
		if (shown[i] == wait)
			return true;
	return false;
}

static struct error *say_wait(struct analysis *analysis, const struct waits *waits,
			      const struct wait *wait)
{
	struct strbuf text = { 0 };
	/* That it sleeps where it does is no question. */
	struct finding *finding =
		analysis_add(analysis, "waiting", wait->object ? wait->sure : CONFIDENCE_CERTAIN);
	if (!finding)
		return error_no_memory();
	struct task owner = { 0 };
	struct error *unknown = wait->owner ? task_read(analysis->target, wait->owner, &owner)
					    : NULL;
	bool has_owner = wait->owner && !unknown;
	error_free(unknown);
	finding->blamed = has_owner ? wait->owner : 0;
	wait_put_link(analysis->target, wait, has_owner ? &owner : NULL, &text);
	if (has_owner)
		task_deinit(&owner);
	TRY(summarize(finding, &text));
	const struct wait *shown[LINKS_MAX];
	size_t count = 0;
	while (wait && count < LINKS_MAX && !is_shown(shown, count, wait)) {
		const struct wait *next = next_wait(waits, wait);
		TRY(add_link(analysis, finding, wait, next ? &next->task : NULL));
		shown[count++] = wait;
		wait = next;
	}
	if (wait && count < LINKS_MAX)
		TRY(finding_add(finding, NULL, "that is a deadlock"));
	return finding_add(finding, "locks --graph", "all that wait");
}

static struct error *say_state(struct analysis *analysis)
{
	const char *function;
	struct strbuf text = { 0 };
	TRY(wait_function_of(analysis->target, &analysis->task, &function));
	struct finding *finding = analysis_add(analysis, "task", CONFIDENCE_CERTAIN);
	if (!finding)
		return error_no_memory();
	wait_put_task(&analysis->task, &text);
	strbuf_char(&text, ' ');
	wait_put_state(&analysis->task, function, &text);
	TRY(summarize(finding, &text));
	char command[32];
	snprintf(command, sizeof(command), "bt %" PRId32, analysis->task.pid);
	return finding_add(finding, command, "its stack says no more");
}

struct error *detect_wait(struct analysis *analysis, const struct waits *waits)
{
	const struct wait *wait = find_wait(waits, analysis->task.address);
	TRY(wait ? say_wait(analysis, waits, wait) : say_state(analysis));
	analysis->blamed = 0;
	while (analysis->blamed < analysis->trace.count &&
	       frame_is_generic(&analysis->trace.frames[analysis->blamed]))
		analysis->blamed++;
	return NULL;
}
