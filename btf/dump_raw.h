/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The records of BTF one by one: text as `bpftool btf dump ... format raw`, JSON with the keys of
 * `bpftool --json` ("types" there is the array itself here).
 */
#ifndef BTF_DUMP_RAW_H
#define BTF_DUMP_RAW_H

#include "base/out.h"
#include "btf/btf.h"

/* One type, an object in JSON: for use inside an array. */
void btf_dump_raw_type(struct out *out, const struct btf *btf, uint32_t id);
/* An array of the level's own types. Ends early on Ctrl-C (ERROR_INTERRUPTED) and when `out` cannot
 * be written. */
struct error *btf_dump_raw(struct out *out, const char *key, const struct btf *btf) MUST_CHECK;

#endif
