/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Structs that a module's BTF has although the kernel's has them, too. */
#ifndef DEBUGGER_INFER_LAYOUT_LAYOUT_ORIGINAL_H
#define DEBUGGER_INFER_LAYOUT_LAYOUT_ORIGINAL_H

#include "btf/btf.h"

/*
 * The struct or union of the bases that is called as `id`, a type of this level, if it has the same
 * members in the same places, of types that are called the same; 0: there is none.
 */
uint32_t layout_find_original(const struct btf *btf, uint32_t id);

#endif
