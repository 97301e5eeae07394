/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lists are walked in debugger/target already (the module list): see there. */
#ifndef DEBUGGER_KERNEL_LIST_H
#define DEBUGGER_KERNEL_LIST_H

#include "debugger/target/list.h"

#endif
