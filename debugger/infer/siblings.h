/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the same member of all rows of a table points at, as void *: drivers keep there what belongs
 * to the device of the row. One type explains the bytes of all of these, where the bytes of each
 * alone fit many.
 */
#ifndef DEBUGGER_INFER_SIBLINGS_H
#define DEBUGGER_INFER_SIBLINGS_H

#include "debugger/infer/known/subjects.h"
#include "debugger/infer/one.h"

/*
 * `answers`: of each of the knowledge's subjects. For each that is found so, its type is put at its
 * place in `types`.
 */
struct error *siblings_find(struct one *one, const struct answer *answers, size_t table,
			    uint32_t *types) MUST_CHECK;

#endif
