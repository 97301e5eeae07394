/* SPDX-License-Identifier: GPL-3.0-or-later */
/* VMCOREINFO out of memory, for dumps without a note. */
#ifndef VMCORE_SEARCH_H
#define VMCORE_SEARCH_H

#include "vmcore/physical.h"
#include "vmcore/vmcoreinfo.h"

/* Reads all of the memory; the best of several. ERROR_NOT_FOUND; caller frees *ret. */
struct error *search_vmcoreinfo(struct memory *physical, struct vmcoreinfo **ret) MUST_CHECK;

/* Does init_uts_ns, where this VMCOREINFO says it is, hold its release? */
bool search_fits(struct memory *physical, const struct vmcoreinfo *info);

#endif
