/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_UNIT_CHANCE_H
#define TESTS_UNIT_CHANCE_H

#include <stdint.h>

/* A repeatable source of bad luck. */
static inline uint32_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(*state >> 33);
}

#endif
