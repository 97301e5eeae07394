/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The index of a flattened stream between starts: in the user's cache folder, for this very file,
 * in 8 bytes or so for each record. Where anything is odd with it there is none, and the stream is
 * read.
 */
#ifndef VMCORE_FLATTENED_KEPT_H
#define VMCORE_FLATTENED_KEPT_H

#include "vmcore/file.h"

/* Fills extents and cut from what was kept. False: the file has none of either. */
bool flattened_take(struct dump_file *file, struct helper_link *helper);
/* Keeps them, if they are so many that reading them anew costs more. */
void flattened_keep(const struct dump_file *file, struct helper_link *helper);

/* --- as bytes, which are not believed ------------------------------------------------------- */

/* malloc()ed; NULL: no memory. */
uint8_t *flattened_pack(const struct dump_file *file, size_t *ret_size);
/* False, and nothing is changed: these are no extents of such a stream. */
bool flattened_unpack(struct dump_file *file, const uint8_t *bytes, size_t size);

#endif
