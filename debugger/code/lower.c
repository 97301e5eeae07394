// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/code/lower.h"

#include "debugger/code/lower_x86_64.h"
#include <string.h>

const struct lowering *lowering_find(const char *arch)
{
	return !strcmp(arch, lowering_x86_64.arch) ? &lowering_x86_64 : NULL;
}

bool lowering_read(const struct lowering *lowering, const struct code *code, struct ops *ret)
{
	struct decoder *decoder = lowering->create();
	*ret = (struct ops){ .failed = !decoder };
	if (!decoder)
		return false;
	lowering->lower(decoder, code, ret);
	lowering->destroy(decoder);
	return !ret->failed;
}
