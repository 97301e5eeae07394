/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Data symbols of kernels whose own table names functions only (built without
 * CONFIG_KALLSYMS_ALL). What VMCOREINFO, the tables of exported symbols and BTF's per-CPU section
 * say is taken as said; a few more that commands live on are found in the code of functions which
 * use them, or by what the bytes of the image show, and believed if what lies there has the
 * structure. Each says how it was found.
 */
#ifndef DEBUGGER_HIDDEN_HIDDEN_H
#define DEBUGGER_HIDDEN_HIDDEN_H

#include "debugger/target/target.h"

/* Does nothing where the kernel's table has data. What goes wrong becomes a problem of the target.
 */
void hidden_find(struct target *target);

#endif
