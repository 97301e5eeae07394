/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A module built out of the kernel's tree has in .BTF.base the few types of the kernel that it
 * mentions, stripped to kind, name and size, and in .BTF what continues these. So it fits any
 * kernel that has them. Format: Documentation/bpf/btf.rst, "BTF.base"; Linux 6.11, pahole 1.28.
 */
#ifndef BTF_RELOCATE_H
#define BTF_RELOCATE_H

#include "base/bytes.h"
#include "btf/btf.h"

/*
 * Writes the split BTF anew, as one that continues `base`. The caller frees *ret.
 * Errors: ERROR_FORMAT, saying which type of the distilled base does not fit and why.
 */
struct error *btf_relocate(const struct bytes *distilled, const struct bytes *split,
			   const struct btf *base, void **ret, size_t *ret_size) MUST_CHECK;

#endif
