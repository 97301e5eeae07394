/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The type of a symbol, whoever knows it: the one question that everybody asks. */
#ifndef DEBUGGER_INFER_SYMBOL_TYPE_H
#define DEBUGGER_INFER_SYMBOL_TYPE_H

#include "debugger/infer/infer.h"

/*
 * BTF, else declarations, else the shipped table and inference. ORIGIN_NONE and { NULL, 0 } when
 * nobody says. Arrays whose length nothing proves have as many elements as fit.
 */
struct error *symbol_type(struct target *target, const struct symbol *symbol, struct type *ret_type,
			  enum type_origin *ret_origin) MUST_CHECK;

#endif
