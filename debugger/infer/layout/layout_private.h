/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files that make a layout share. */
#ifndef DEBUGGER_INFER_LAYOUT_LAYOUT_PRIVATE_H
#define DEBUGGER_INFER_LAYOUT_LAYOUT_PRIVATE_H

#include "debugger/infer/layout/layout.h"

/* Its record will differ from the base's: remembered for who takes that over. */
struct layout_record *layout_change(struct layout *layout, uint32_t id);

/*
 * layout_copies.c: what a module has once more is the base's. For records that are laid out and not
 * completed. False: no memory.
 */
bool layout_join_copies(struct layout *layout);

#endif
