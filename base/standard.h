/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a process finds when it starts: standard input, output and errors, which may be closed, or a
 * full disk; a stack, which may be small.
 */
#ifndef BASE_STANDARD_H
#define BASE_STANDARD_H

#include "base/error.h"
#include <stddef.h>

/*
 * Before any file is opened: takes the numbers of those that are closed, so that no other file gets
 * them. Reading and writing them fails all the same. ERROR_SYSTEM without /dev/null.
 */
struct error *standard_open(void) MUST_CHECK;
/* A stack that is too small ends in SIGSEGV somewhere: it is an error at once. */
struct error *standard_stack(void) MUST_CHECK;
/*
 * Writes out what is left; ERROR_SYSTEM when something of the output was lost since the last time.
 */
struct error *standard_flush(void) MUST_CHECK;

/*
 * Closes what this process was started with beside these three: a lock, a log, a folder that the
 * shell before has open may be written by whoever takes this process over. The numbers in `keep`
 * stay. Standard input becomes /dev/null: lines are read by the helper. Returns the highest number
 * that stays.
 */
int standard_close_others(const int *keep, size_t count);

#endif
