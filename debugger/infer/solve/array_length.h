/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How long an array is, told by its own bytes: text has a NUL, lists of attributes and ids end
 * with an element of zeros, tables of flags with a mask of ones. The room up to the next symbol is
 * no length: GCC aligns large arrays to 32 bytes, which leaves up to three pointers of padding.
 */
#ifndef DEBUGGER_INFER_SOLVE_ARRAY_LENGTH_H
#define DEBUGGER_INFER_SOLVE_ARRAY_LENGTH_H

#include "debugger/infer/known/knowledge.h"

/* The bytes up to the last that is not zero. */
uint32_t bytes_in_use(const struct question *question);
/* The elements up to the last that is not all zero, at least so many it has; `type` resolved. */
uint32_t array_in_use(const struct question *question, uint32_t type);
/*
 * The length that the kernel's sources declare (declared_length()), where elements of `type`
 * (resolved) then end with the room; 0: they say nothing, or it is another array. *ret_sure: the
 * last is in use. Else a release that nobody looked at may declare it shorter.
 */
uint32_t array_declared(const struct question *question, uint32_t type, bool *ret_sure);
/*
 * The length of an array of `type` (resolved) that the symbol is; 0: its bytes do not tell.
 * `is_made`: a macro makes all variables that are called so, as long as what they are made of.
 * `*ret_sure`: it cannot be longer.
 */
uint32_t array_end(const struct question *question, uint32_t type, bool is_made, bool *ret_sure);
/*
 * The elements of `type` (resolved) that it has where array_end() says nothing and there is room
 * for `most`: those in use, with the empty one that ends lists and text, as far as alignment
 * explains the rest of the room. Never more than `most`; nothing proves it.
 */
uint32_t array_estimate(const struct question *question, uint32_t type, uint32_t most);
/* Whether one element of zeros ends arrays of that type: so it is seldom seen alone. */
bool array_ends_with_empty(const struct layout *layout, uint32_t type);
/* Whether all of `count` elements are in use and there is no room for more. */
bool array_is_filled(const struct question *question, uint32_t type, uint32_t count);
/*
 * Whether a symbol that begins with a `type` (resolved) is a list of them, even of one: a table of
 * a driver's devices or of sysctls, or pointers to attributes under a name in the plural.
 */
bool array_is_list(const struct question *question, uint32_t type);

#endif
