/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the code says at the places where frames are. It is most of the work of proving arguments,
 * and the same for each stack that has the place: so it is kept with the target, unless that is a
 * running machine, whose code may change.
 */
#ifndef DEBUGGER_ARGUMENTS_CODE_PLACES_H
#define DEBUGGER_ARGUMENTS_CODE_PLACES_H

#include "debugger/arguments/symbolic.h"
#include "debugger/infer/known/inference.h"
#include "debugger/unwind/unwind.h"

struct code_places;

/* Those of a target; what was found of them before may be gone. Borrowed. */
struct error *code_places_begin(struct target *target, struct code_places **ret) MUST_CHECK;
/*
 * Borrowed, until the next code_places_begin(). `world`: arguments_world() of `inference`. Errors:
 * ERROR_NOT_FOUND, nothing can be proved of the code there.
 */
struct error *code_places_find(struct code_places *places, struct inference *inference,
			       const struct symbolic_world *world, const struct frame *frame,
			       const struct symbolic_place **ret) MUST_CHECK;

#endif
