/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sources of symbols. Private to debugger/hidden. */
#ifndef DEBUGGER_HIDDEN_HIDDEN_PRIVATE_H
#define DEBUGGER_HIDDEN_HIDDEN_PRIVATE_H

#include "debugger/target/object.h"

/* What was found; names are owned. */
struct hidden {
	struct target *target;
	uint64_t first, last; /* where data of the kernel image may be, both inside */
	struct found_symbol *items;
	size_t count, capacity;
	uint64_t spent; /* of the steps that all of the search may take */
};

/*
 * Counts steps of some ten nanoseconds: how many there are is up to what the dump says. An error
 * when they are more than any kernel takes.
 */
struct error *hidden_spend(struct hidden *hidden, uint64_t steps) MUST_CHECK;
/* `name` is copied. */
struct error *hidden_add(struct hidden *hidden, const char *name, char kind, uint64_t address,
			 uint64_t size, const char *evidence) MUST_CHECK;
/* NULL: it was not found (yet). */
const struct found_symbol *hidden_find_named(const struct hidden *hidden, const char *name);
/* The kernel's own table first, then what was found. */
bool hidden_address(const struct hidden *hidden, const char *name, uint64_t *ret);
/* Hands over to the target's symbols what was found, and forgets it. */
struct error *hidden_commit(struct hidden *hidden) MUST_CHECK;

/* The tables of exported symbols (exports.c). Nothing is added where none is found. */
struct error *hidden_add_exports(struct hidden *hidden) MUST_CHECK;
/* BTF's per-CPU variables, placed by those that are exported (per_cpu.c). */
struct error *hidden_add_per_cpu(struct hidden *hidden) MUST_CHECK;
struct code_reader;
/* What code refers to, where the structure is there (users.c); needs the others' symbols. */
struct error *hidden_add_used(struct hidden *hidden, struct code_reader *reader) MUST_CHECK;
/* The tables for unwinding (orc.c), the same way. */
struct error *hidden_add_orc(struct hidden *hidden, struct code_reader *reader) MUST_CHECK;

/* What the image shows by its bytes (image.c); needs types. */
struct error *hidden_add_image(struct hidden *hidden) MUST_CHECK;

/* Addresses of data that the code of a function refers to. */
struct mentions {
	uint64_t *items;
	size_t count, capacity;
};
struct error *code_reader_create(struct hidden *hidden, struct code_reader **ret) MUST_CHECK;
void code_reader_destroy(struct code_reader *reader);
/*
 * Adds what the function of that name mentions, and what its parts (.isra.0, .cold) do. `*ret`:
 * there is one.
 */
struct error *code_reader_mentions(struct code_reader *reader, const char *function,
				   struct mentions *mentions, bool *ret) MUST_CHECK;

#endif
