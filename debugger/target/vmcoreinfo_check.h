/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whether a VMCOREINFO is of the dump's kernel and boot: everything else is found by it, and much
 * of another one's could be read without an error, and be wrong. One that the user brings is
 * refused where something contradicts it; the dump's own is all there is, and a warning says so.
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
/* linux_banner, if there is one, begins with the release. */
struct error *vmcoreinfo_check_banner(struct target *target) MUST_CHECK;
/* ERROR_FORMAT: what the symbol `name` has is not what VMCOREINFO says. */
struct error *vmcoreinfo_contradicted(const struct target *target, const char *name,
				      const char *has) MUST_CHECK;
/* Takes `why`, which may be NULL. A problem of the target: its VMCOREINFO may be another kernel's.
 */
void vmcoreinfo_doubt(struct target *target, struct error *why);

#endif
