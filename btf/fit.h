/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whether BTF from elsewhere belongs to what it is to be used with. Split BTF does not name its
 * base, but a wrong one shows: names begin in the middle of strings, functions have no prototype.
 */
#ifndef BTF_FIT_H
#define BTF_FIT_H

#include "base/bytes.h"
#include "btf/btf.h"

/*
 * True of a blob that continues another: only a base has the empty string, at its offset 0. False
 * when it is no BTF at all.
 */
bool btf_is_split(const struct bytes *blob);
/* A level on the base it was opened with. Errors: ERROR_FORMAT with what does not fit. */
struct error *btf_check_base(const struct btf *split) MUST_CHECK;
/*
 * Two BTFs of the same kernel lay out all structs and unions alike that both know by one
 * definition. Errors: ERROR_FORMAT with the first that differs.
 */
struct error *btf_check_alike(const struct btf *file, const struct btf *kernel) MUST_CHECK;

#endif
