/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whether a VMCOREINFO that did not come with the dump is of its kernel and boot: everything else
 * is found by it, and much of another one's could be read without an error, and be wrong.
 */
#ifndef DEBUGGER_TARGET_VMCOREINFO_CHECK_H
#define DEBUGGER_TARGET_VMCOREINFO_CHECK_H

#include "debugger/target/target.h"

/*
 * Before symbols are looked for: the kernel has its release where VMCOREINFO says, and the page
 * tables have the kernel's image there too. ERROR_FORMAT says what differs.
 */
struct error *vmcoreinfo_check_place(struct target *target) MUST_CHECK;
/* After symbols were looked for: they agree, linux_banner has the release, the kernel's own notes
 * the build ID. */
struct error *vmcoreinfo_check_kernel(struct target *target) MUST_CHECK;

#endif
