// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/infer/known/typing.h"

#include <stdlib.h>

const char *confidence_name(enum confidence confidence)
{
	static const char *const names[] = { "unknown", "guess", "inferred", "certain" };
	return names[confidence];
}

void typing_deinit(struct typing *typing)
{
	free(typing->candidates);
	free(typing->rows);
	clues_deinit(&typing->clues);
	*typing = (struct typing){ 0 };
}
