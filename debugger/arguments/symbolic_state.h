/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Operations on the state; for symbolic*.c. */
#ifndef DEBUGGER_ARGUMENTS_SYMBOLIC_STATE_H
#define DEBUGGER_ARGUMENTS_SYMBOLIC_STATE_H

#include "debugger/arguments/symbolic.h"

/* Sets the state that holds at the entry of a function. */
void symbolic_enter(struct symbolic_state *state, const struct lowering *lowering);
/* Keeps in `to` only what holds in both states. True: `to` changed. */
bool symbolic_join(struct symbolic_state *to, const struct symbolic_state *from);
/* `definition` runs again: what it gave the last time is not known any more. */
void symbolic_forget_definition(struct symbolic_state *state, uint32_t definition);
/* Unknown: the slot is not known, or not as one of that size. */
struct symbolic symbolic_slot_value(const struct symbolic_state *state, int64_t offset,
				    uint32_t size);
/* Replaces what was in these bytes; keeps nothing that others may write. `kept_by_calls`: mask. */
void symbolic_store(struct symbolic_state *state, int64_t offset, uint32_t size,
		    const struct symbolic *value, uint32_t kept_by_calls);
/* Forgets the slots of [start, end). */
void symbolic_forget_slots(struct symbolic_state *state, int64_t start, int64_t end);
/* Others may write the stack from `offset` on upward; callers' registers stay. */
void symbolic_escape(struct symbolic_state *state, int64_t offset, uint32_t kept_by_calls);

#endif
