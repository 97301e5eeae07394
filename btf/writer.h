/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writes a split BTF: a level of types, variables and tags that continues a base. Format: kernel
 * Documentation/bpf/btf.rst.
 *
 * Types of the base, and what was derived from them, are named by id; others are looked for there
 * by name, and copied with all they mention where they are not. What runs out of memory is
 * remembered until the end.
 */
#ifndef BTF_WRITER_H
#define BTF_WRITER_H

#include "btf/btf.h"

struct btf_writer;

/* Borrows `base` and all types that are mentioned. NULL without memory. */
struct btf_writer *btf_writer_create(const struct btf *base);
void btf_writer_destroy(struct btf_writer *writer);

/* Each gives an id in the new level. `linkage`: 0 static, 1 global. */
uint32_t btf_writer_variable(struct btf_writer *writer, const char *name, struct type type,
			     uint32_t linkage);
/* Of the whole type `id`. */
uint32_t btf_writer_tag(struct btf_writer *writer, const char *text, uint32_t id);
/* `size` bytes; the entries in ascending order of their offsets. */
void btf_writer_section(struct btf_writer *writer, const char *name, uint32_t size,
			const struct btf_section_entry *entries, uint32_t count);
/* The blob, which the caller frees. Errors: ERROR_NO_MEMORY, or more than BTF can hold. */
struct error *btf_writer_finish(struct btf_writer *writer, void **ret, size_t *ret_size) MUST_CHECK;

#endif
