/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Types by name, as `struct` shows them. */
#ifndef CMDS_STRUCT_H
#define CMDS_STRUCT_H

#include "debugger/command/command.h"

/* "struct irq_info": if several different types have the name, shows all of them, as an array. */
struct error *show_namesakes(struct session *session, const char *text, bool *ret_shown) MUST_CHECK;

#endif
