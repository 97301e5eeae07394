/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a BUG or WARN was about: its condition is no text in a kernel, but code in front of the
 * trap, a jump that leads there and what that jump looks at.
 */
#ifndef DEBUGGER_ANALYSIS_TRAP_CONDITION_H
#define DEBUGGER_ANALYSIS_TRAP_CONDITION_H

#include "debugger/analysis/finding.h"
#include "debugger/unwind/unwind.h"

/* Adds to a finding how the code came to the trap that a frame stands at, as far as it says so. */
struct error *trap_condition_show(struct target *target, const struct frame *frame,
				  struct finding *finding) MUST_CHECK;

#endif
