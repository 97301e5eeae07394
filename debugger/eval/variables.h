/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a session remembers by a name with a dollar: variables that the user set ($task), results
 * ($1, $2...), and the address that came through a pipe ($_). Values that lie in memory are
 * remembered as places: a dump does not change.
 */
#ifndef DEBUGGER_EVAL_VARIABLES_H
#define DEBUGGER_EVAL_VARIABLES_H

#include "debugger/eval/value.h"

struct variables;

/* NULL without memory. */
struct variables *variables_create(void);
void variables_destroy(struct variables *variables);

/* Names come without the dollar. Errors: a name that is no C identifier. */
struct error *variables_set(struct variables *variables, const char *name,
			    const struct value *value) MUST_CHECK;
/* $_: an address, as a `void *`. */
struct error *variables_set_address(struct variables *variables, struct target *target,
				    uint64_t address) MUST_CHECK;
/* Borrowed until the next variables_set(); NULL: there is none. */
const struct value *variables_find(const struct variables *variables, const char *name);
/* In the order in which they were made; false past the end. */
bool variables_get(const struct variables *variables, size_t index, const char **ret_name,
		   const struct value **ret);

/* Remembers the next result; *ret_number is what it is called by: $1 is the first. */
struct error *variables_add_result(struct variables *variables, const struct value *value,
				   uint64_t *ret_number) MUST_CHECK;
uint64_t variables_result_count(const struct variables *variables);
/* NULL: no such result, or one so old that it was forgotten. */
const struct value *variables_result(const struct variables *variables, uint64_t number);

/* A copy of bytes that lives as long as the variables do; equal ones are kept once. */
struct error *variables_keep_bytes(struct variables *variables, const char *bytes, size_t size,
				   const char **ret) MUST_CHECK;

#endif
