/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Between types.c and types_depth.c. */
#ifndef DEBUGGER_EXPORT_TYPES_PRIVATE_H
#define DEBUGGER_EXPORT_TYPES_PRIVATE_H

#include "debugger/export/types.h"

/* Fills `chain` or, `by_value`, `nesting`; those of the base are known. */
void exported_types_measure(struct exported_types *types, bool by_value);

#endif
