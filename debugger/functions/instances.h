/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which FUNC belongs to which address, by all that is known: code, tags, and tables of the kernel.
 */
#ifndef DEBUGGER_FUNCTIONS_INSTANCES_H
#define DEBUGGER_FUNCTIONS_INSTANCES_H

#include "debugger/prototypes/instance.h"

typedef struct error *function_instance_visitor(void *context,
						const struct function_instance *instance);
/*
 * All functions of a name, clones too, in the order of the symbols; a prototype is proved only when
 * `proof` says so. A name may be a pattern (*, ?,
 * []). NULL: of all names that have several addresses or prototypes in the kernel or in one module.
 */
struct error *function_instances(struct target *target, const char *name,
				 function_instance_visitor *visit, void *context) MUST_CHECK;

#endif
