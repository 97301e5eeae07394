/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the parameters of a prototype are passed: the one place that knows the calling convention
 * beyond the names of its registers. */
#ifndef DEBUGGER_CODE_PARAMETERS_H
#define DEBUGGER_CODE_PARAMETERS_H

#include "btf/btf.h"
#include "debugger/code/lower.h"

struct parameters {
	const struct lowering *lowering;
	struct btf_type function;
	uint32_t next;
	unsigned int used; /* registers, so far */
	bool takes_more;   /* it ended in `...`, or in a type without a size */
};

struct parameter {
	const char *name;
	struct type type;
	unsigned int first; /* register, in lowering->arguments */
	unsigned int count; /* of them; 0: it lies on the stack */
	uint8_t reg;	    /* that alone has it; LOWER_NONE: there is none */
};

/* False: no FUNC_PROTO. */
bool parameters_begin(struct parameters *parameters, const struct lowering *lowering,
		      struct type prototype);
bool parameters_next(struct parameters *parameters, struct parameter *ret);

#endif
