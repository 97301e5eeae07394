/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Parameters of modules and of what is built in: struct kernel_param (include/linux/moduleparam.h).
 * The operations say of what type the variable is; of operations that are a driver's own, nobody
 * says.
 */
#ifndef DEBUGGER_KERNEL_PARAMETER_H
#define DEBUGGER_KERNEL_PARAMETER_H

#include "debugger/target/target.h"

struct parameter {
	uint64_t address; /* of the struct kernel_param */
	char name[128];	  /* of built-in ones "module.name" */
	uint32_t permissions;
	uint64_t operations;
	uint64_t argument; /* what they work on */
	struct type type;  /* { NULL, 0 }: not known */
	uint64_t variable; /* of that type; 0: there is none */
	bool is_inverted;  /* sysfs shows N for true */
};

struct parameter_visitor {
	struct error *(*visit)(void *context, const struct parameter *parameter);
	void *context;
};
/*
 * `module` NULL: those of the kernel itself. A parameter that cannot be read costs this one, whose
 * name is "" then; errors are of the whole table, and the visitor's.
 */
struct error *parameter_for_each(struct target *target, const struct module *module,
				 const struct parameter_visitor *visitor) MUST_CHECK;

#endif
