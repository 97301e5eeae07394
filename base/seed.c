// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/seed.h"

#include <string.h>
#include <sys/auxv.h>

/* The kernel gives each program 16 random bytes (getauxval(3)). */
uint64_t seed_of_run(void)
{
	const void *bytes = (const void *)getauxval(AT_RANDOM);
	uint64_t seed = 0;
	if (bytes)
		memcpy(&seed, bytes, sizeof(seed));
	return seed;
}
