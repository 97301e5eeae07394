/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * VMCOREINFO: lines KEY=VALUE that the kernel wrote for its dump readers (kernel
 * Documentation/admin-guide/kdump/vmcoreinfo.rst; KERNEL-FORMATS section 1).
 */
#ifndef VMCORE_VMCOREINFO_H
#define VMCORE_VMCOREINFO_H

#include "base/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vmcoreinfo;

/* Copies the text; NUL padding and a cut last line are allowed. ERROR_FORMAT without OSRELEASE. */
struct error *vmcoreinfo_parse(const char *text, size_t size, struct vmcoreinfo **ret) MUST_CHECK;
void vmcoreinfo_free(struct vmcoreinfo *info);

/* Keys are spelled in full: "OSRELEASE", "SYMBOL(_stext)". NULL/false when absent or not a number.
 */
const char *vmcoreinfo_get(const struct vmcoreinfo *info, const char *key);
/* Hexadecimal without 0x, as SYMBOL() and KERNELOFFSET are. */
bool vmcoreinfo_hex(const struct vmcoreinfo *info, const char *key, uint64_t *ret);
/* Decimal, signed, or with 0x, as NUMBER(), OFFSET(), SIZE(), LENGTH() are. */
bool vmcoreinfo_number(const struct vmcoreinfo *info, const char *key, int64_t *ret);
/* The physical address of one in the kernel's image, without page tables: x86-64 and arm64 say how.
 */
bool vmcoreinfo_image_physical(const struct vmcoreinfo *info, uint64_t address, uint64_t *ret);
/* The whole text, for `sys -v` and tests. */
const char *vmcoreinfo_text(const struct vmcoreinfo *info, size_t *ret_size);

#endif
