/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A number that differs from run to run and that nobody who made a dump can know: hashed with what
 * a dump says, so that it cannot choose what falls together.
 */
#ifndef BASE_SEED_H
#define BASE_SEED_H

#include <stdint.h>

/* The same in all of a run; no system call. */
uint64_t seed_of_run(void);

#endif
