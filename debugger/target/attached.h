/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the rooms above have learned of a target and keep with it until it is closed. Only they know
 * what it is: each has a key, the address of something static of its own.
 */
#ifndef DEBUGGER_TARGET_ATTACHED_H
#define DEBUGGER_TARGET_ATTACHED_H

#include "debugger/target/target.h"

/* NULL: nothing was attached with this key. Borrowed. */
void *target_attached(const struct target *target, const void *key);
/*
 * Takes data, on errors too; `destroy` frees it. A key holds one at a time. Errors:
 * ERROR_NO_MEMORY.
 */
struct error *target_attach(struct target *target, const void *key, void *data,
			    void (*destroy)(void *data)) MUST_CHECK;
/* Frees what has this key, if anything has. */
void target_detach(struct target *target, const void *key);
/* The latest first: it may use what was there before it. */
void target_detach_all(struct target *target);

#endif
