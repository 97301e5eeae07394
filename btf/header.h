/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * All types of a BTF as one C header that compiles: everything is declared before it is used, and
 * the compiler lays structs out as they are in the kernel. What BTF does not keep is lost:
 * alignment that no offset shows, attributes, static and inline functions. Types that share a name
 * get "___2",
 * "___3"... in the order of their ids, and so do enumerators.
 */
#ifndef BTF_HEADER_H
#define BTF_HEADER_H

#include "base/strbuf.h"
#include "btf/btf.h"

/* Of a level and its bases. */
struct error *btf_header(const struct btf *btf, struct strbuf *ret) MUST_CHECK;

#endif
