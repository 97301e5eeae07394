/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Waits in words, for people; names are as the dump has them. */
#ifndef DEBUGGER_ANALYSIS_WAIT_TEXT_H
#define DEBUGGER_ANALYSIS_WAIT_TEXT_H

#include "base/strbuf.h"
#include "debugger/analysis/finding.h"
#include "debugger/analysis/waits.h"

/* Whether the object is on the stack of who waits for it. */
bool wait_is_own_stack(const struct wait *wait);
/*
 * What the object is, where that costs nothing: a variable, part of a filesystem, on a task's
 * stack. Puts nothing where nothing is known.
 */
void wait_put_object_name(struct target *target, const struct wait *wait, struct strbuf *ret);
/* What it is a part of by the slab cache that it lies in; the same. */
void wait_put_object_place(struct target *target, const struct wait *wait, struct strbuf *ret);
/* "mutex 0xffff... (abba_first [stuck])", with "reading" and the like; "something" if not known. */
void wait_put_object(struct target *target, const struct wait *wait, struct strbuf *ret);
/* The same without how it is waited for: of who has it. */
void wait_put_held(struct target *target, const struct wait *wait, struct strbuf *ret);
/* `42 "name"`; `task 0x...` where only the address is known. */
void wait_put_task(const struct task *task, struct strbuf *ret);
/*
 * "runs on CPU 1", "sleeps in msleep", "is frozen by its cgroup /batch", "has exited". `function`:
 * NULL not known.
 */
void wait_put_state(struct target *target, const struct task *task, const char *function,
		    struct strbuf *ret);
/*
 * `42 "name" waits for mutex 0x..., held by 43 "other"`: one link of a chain. `owner`: NULL, not
 * known.
 */
void wait_put_link(struct target *target, const struct wait *wait, const struct task *owner,
		   struct strbuf *ret);
/* The same as facts, at the end of the finding's links. Errors: no memory. */
struct error *wait_add_link(struct target *target, const struct wait *wait,
			    const struct task *owner, struct finding *finding) MUST_CHECK;

/* The lock itself as evidence, and what it says of its owner. Nothing is added where it says none.
 */
struct error *wait_add_lock(const struct wait *wait, struct finding *finding) MUST_CHECK;

#endif
