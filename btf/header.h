/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * All types of a BTF as one C header that compiles: everything is declared before it is used, and
 * the compiler lays structs out as they are in the kernel. See README of what is lost.
 */
#ifndef BTF_HEADER_H
#define BTF_HEADER_H

#include "base/strbuf.h"
#include "btf/btf.h"

/* Of a level and its bases. */
struct error *btf_header(const struct btf *btf, struct strbuf *ret) MUST_CHECK;

#endif
