/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The processor of a dump whose headers do not name it. */
#ifndef VMCORE_MACHINE_H
#define VMCORE_MACHINE_H

#include "vmcore/notes.h"
#include "vmcore/vmcoreinfo.h"

/*
 * From keys that only one architecture writes into VMCOREINFO (NULL: none there), else from the
 * size of the PRSTATUS notes; "" when neither says.
 */
const char *machine_guess(const struct vmcoreinfo *info, const struct notes *notes,
			  bool big_endian);

#endif
