/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Members that say how many elements another member points at. */
#ifndef DEBUGGER_INFER_EVIDENCE_COUNTED_H
#define DEBUGGER_INFER_EVIDENCE_COUNTED_H

#include "debugger/infer/layout/layout.h"

/*
 * Elements that the pointer at `offset` bytes into a struct `type` points at, by the integer of the
 * same struct that is named after it: "mcgrps" and "n_mcgrps", "vecs" and "count" right behind it.
 * `object`: the bytes of the struct, all of them. 0: there is no such member, or it says 0.
 */
uint64_t counted_by(const struct layout *layout, uint32_t type, uint32_t offset,
		    const uint8_t *object, bool big_endian);

#endif
