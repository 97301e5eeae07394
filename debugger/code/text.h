/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The text of the kernel and of modules, as it lies in the dump: patched, and perhaps with holes,
 * which read as traps. Either read piece by piece, or loaded as a whole.
 */
#ifndef DEBUGGER_CODE_TEXT_H
#define DEBUGGER_CODE_TEXT_H

#include "debugger/code/lower.h"
#include "debugger/target/target.h"

struct text_range {
	uint64_t start, size;
	uint8_t *bytes; /* NULL: not loaded */
	bool was_swept;
};

struct text {
	struct target *target;
	const struct lowering *lowering;
	struct text_range *ranges; /* the kernel's first */
	size_t count, capacity;
	uint64_t total; /* bytes of all ranges */
};

/* The kernel's text. */
struct error *text_init(struct text *text, struct target *target,
			const struct lowering *lowering) MUST_CHECK;
/* What is constant in the kernel: empty where that is not known. */
struct error *text_init_strings(struct text *text, struct target *target,
				const struct lowering *lowering) MUST_CHECK;
void text_deinit(struct text *text);
/* One more, unless it is there; none of a size that all code together cannot have. */
struct error *text_add_module(struct text *text, const struct module *module) MUST_CHECK;
/* Loads all ranges. */
struct error *text_load(struct text *text) MUST_CHECK;
/*
 * To be called before all of a range is read: who does so a second time will do so often, which is
 * dear where the dump is compressed. Loads it then, unless the machine runs. Without memory nothing
 * is loaded, which costs time only.
 */
void text_expect_sweep(struct text *text, struct text_range *range);
/* Copies bytes; those that cannot be read become traps. False: outside all ranges. */
bool text_read(const struct text *text, uint64_t address, uint8_t *buffer, size_t size);
/* The same without a copy; NULL: not loaded, or outside. */
const uint8_t *text_bytes(const struct text *text, uint64_t address, size_t size);
/* As much of what may be a string as there is, with a 0 at its end. False: outside all ranges. */
bool text_string(const struct text *text, uint64_t address, char *buffer, size_t size);
/*
 * The bytes of a function without those that only align what comes next: kallsyms has no sizes. The
 * whole room up to the next symbol where the code cannot be read.
 */
uint64_t text_function_size(const struct target *target, const struct symbol *function);

#endif
