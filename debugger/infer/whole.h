/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The pass over the whole kernel, between its files. */
#ifndef DEBUGGER_INFER_WHOLE_H
#define DEBUGGER_INFER_WHOLE_H

#include "base/workers.h"
#include "debugger/infer/evidence/code.h"
#include "debugger/infer/evidence/pointers.h"
#include "debugger/infer/infer.h"
#include "debugger/infer/one.h"
#include "debugger/infer/store/kept.h"

/* What one thread works with. */
struct member {
	struct knowledge knowledge; /* a copy */
	struct one one;
	struct solver solver;
	struct layout *layout; /* of the module at hand, NULL */
};

struct whole {
	struct target *target;
	const struct infer_options *options;
	struct knowledge *knowledge;
	const struct layout *layout; /* of the kernel's types */
	struct member *members;
	unsigned int member_count;
	struct inference *inference;
	const struct subjects *subjects;
	struct code_clues code;
	struct answer *answers;
	uint32_t *open; /* the subjects, in the end the modules, that are asked in this round */
	struct pointer_walk *walk;
	typing_visitor *visit;
	void *context;
};

/* infer_all.c. Gives each thread's copy what is known by now. */
struct error *whole_share(struct whole *whole) MUST_CHECK;
/* Does the work on all threads, with the pass's progress. */
struct error *whole_run(struct whole *whole, struct work work) MUST_CHECK;
/* A step of work: asks about subject whole->open[number]. `context`: the pass. */
struct error *whole_solve_open(void *context, unsigned int worker, size_t number) MUST_CHECK;
/* Makes the whole pass without the shipped table, and keeps its answers and all that it learned. */
struct error *infer_together(struct inference *inference, const struct infer_options *options,
			     struct remembered *kept) MUST_CHECK;

/*
 * learn.c. The kernel's variables, without the shipped table, which says of most pointers what they
 * point at.
 */
struct error *whole_learn(struct whole *whole) MUST_CHECK;

#endif
