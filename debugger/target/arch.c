// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/target/arch.h"

#include "base/array.h"
#include <string.h>

static const struct arch *const archs[] = {
	&arch_x86_64,
};

const struct arch *arch_find(const char *machine)
{
	for (size_t i = 0; i < ARRAY_COUNT(archs); i++)
		if (!strcmp(archs[i]->name, machine))
			return archs[i];
	return NULL;
}
