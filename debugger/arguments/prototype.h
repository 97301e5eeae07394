/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the proof of arguments knows of functions, for others that follow their code. */
#ifndef DEBUGGER_ARGUMENTS_PROTOTYPE_H
#define DEBUGGER_ARGUMENTS_PROTOTYPE_H

#include "debugger/arguments/arguments.h"
#include "debugger/arguments/symbolic.h"
#include "debugger/infer/known/inference.h"

/*
 * The parameters of the function that begins at an address, none of them known; `registers`: where
 * each comes, LOWER_NONE: not in one. False: its prototype is not proved.
 */
bool arguments_prototype(struct inference *inference, uint64_t function,
			 struct frame_arguments *ret, uint8_t registers[ARGUMENTS_MAX]);
/* The world of a symbolic run, with `inference` as context. */
void arguments_world(struct inference *inference, struct symbolic_world *ret);

#endif
