/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is known of a function that code calls. */
#ifndef DEBUGGER_PROTOTYPES_CALLEE_H
#define DEBUGGER_PROTOTYPES_CALLEE_H

#include "debugger/code/lay.h"
#include "debugger/code/lower.h"

enum callee_kind { CALLEE_UNKNOWN, CALLEE_TYPED, CALLEE_HELPER };

struct callee {
	enum callee_kind kind;
	struct kind prototype; /* a FUNC_PROTO */
	enum helper helper;
	uint8_t helper_register;
};

#endif
