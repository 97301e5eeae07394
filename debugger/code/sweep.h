/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The one way through a function's operations: in their order, with the states of all paths that
 * meet at a label joined there, again and again until no jump backward brings anything new. What a
 * state is and what operations do to it is the business of those who sweep: the flow of types, what
 * a function does with its arguments, what registers hold in terms of their values at entry.
 */
#ifndef DEBUGGER_CODE_SWEEP_H
#define DEBUGGER_CODE_SWEEP_H

#include "debugger/code/lower.h"

/* JOIN_WIDEN: so many sweeps were not enough that what still differs is to be given up. */
enum join { JOIN_FORWARD, JOIN_BACKWARD, JOIN_WIDEN };

struct sweep_rules {
	size_t state_size;
	unsigned int most; /* sweeps */
	/* Makes the state that holds at the function's entry. */
	void (*enter)(void *context);
	void (*execute)(void *context, const struct op *op);
	/*
	 * A path ended, and what follows nobody is known to jump to: makes the state in which it is
	 * looked at nevertheless. NULL: such operations are passed over.
	 */
	void (*lose)(void *context);
	/* Keeps in `to` only what holds in both. True: `to` changed. */
	bool (*join)(void *to, const void *from, enum join how);
	/* NULL: all bytes of a state are copied. */
	void (*copy)(void *to, const void *from);
};

/* Working storage, zeroed at first; may serve for one function after the other. */
struct sweep {
	const struct sweep_rules *rules;
	void *context, *state; /* of the rules; the state where control is */
	const struct code *code;
	const struct ops *ops;
	const struct code_edge *edges;
	size_t edge_count;
	bool live;     /* `state` is known to be reached */
	bool changed;  /* in this sweep, of what was swept before */
	bool too_many; /* more labels than any function has: some are left out */
	unsigned int number;
	uint16_t *label_of; /* by offset in the code: number of its label, 0: none */
	bool *reached;	    /* by number, less 1 */
	uint8_t *states;    /* of all that arrives there */
	size_t label_of_capacity, label_count, reached_capacity, state_capacity;
};

/* Finds the labels. `edges`, by `from`: jumps that the operations do not show. False: no memory. */
bool sweep_begin(struct sweep *sweep, const struct code *code, const struct ops *ops,
		 const struct code_edge *edges, size_t edge_count);
/* Sweeps until nothing changes. False: the rules' `most` sweeps were not enough. */
bool sweep_converge(struct sweep *sweep);
/* Once more, as when all is known. */
void sweep_once(struct sweep *sweep);
void sweep_deinit(struct sweep *sweep);

/* For `execute`. */
static inline bool sweep_is_inside(const struct sweep *sweep, uint64_t address)
{
	return address - sweep->code->address < sweep->code->size;
}
/* Control may go from the operation at offset `from` to an address inside, in the present state. */
void sweep_go_to(struct sweep *sweep, uint64_t target, uint32_t from);
/* Control does not go on behind this operation. */
void sweep_end_path(struct sweep *sweep);

#endif
