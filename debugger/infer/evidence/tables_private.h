/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the readers of the kernel's tables share. */
#ifndef DEBUGGER_INFER_EVIDENCE_TABLES_PRIVATE_H
#define DEBUGGER_INFER_EVIDENCE_TABLES_PRIVATE_H

#include "debugger/infer/known/knowledge.h"

/* A span of memory. */
struct span {
	uint64_t address;
	uint8_t *data;
	size_t size;
};

/* An unsigned number of `size` bytes at an offset; 0 where the span ends before it does. */
uint64_t span_load(const struct knowledge *knowledge, const struct span *span, size_t at,
		   size_t size);
/* Where a member lies, in bytes; false: the kernel has no such type or member. */
bool table_offset(struct target *target, const char *type, const char *member, uint64_t *ret);
/* "char *", "struct x", or the name of an integer; false: the layout has no such type. */
bool table_find_type(const struct layout *layout, const char *name, struct type *ret);

/* sysctls.c: what the records of sysctls say of variables and of their limits. */
struct error *sysctls_read(struct knowledge *knowledge, const struct layout *layout) MUST_CHECK;

#endif
