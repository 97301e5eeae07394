/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A link of a list leads to whatever else is on it, which may be anybody's: shrinkers, drivers and
 * notifiers of all modules are on lists of the kernel's.
 */
#ifndef DEBUGGER_ANALYSIS_LIST_LINK_H
#define DEBUGGER_ANALYSIS_LIST_LINK_H

#include "debugger/target/target.h"

#define LIST_LINKS_MOST (1u << 20) /* nodes that one question may look at */

/*
 * Whether the pointer at `place` is a link of a struct list_head or hlist_node of a list whose head
 * is the kernel's own, or of a list that is too long to know. `*left`: nodes that may still be
 * looked at.
 */
bool list_link_is_kernels(struct target *target, uint64_t place, uint32_t *left);

#endif
