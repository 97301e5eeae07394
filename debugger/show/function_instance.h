/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What tells symbols and functions of equal names apart, for sym and whatis. */
#ifndef DEBUGGER_SHOW_FUNCTION_INSTANCE_H
#define DEBUGGER_SHOW_FUNCTION_INSTANCE_H

#include "debugger/functions/instances.h"
#include "debugger/kernel/module.h"
#include "debugger/session.h"

/* The section that a symbol lies in; its name is "" when that is not known. */
void symbol_section(struct target *target, const struct symbol *symbol, struct module_section *ret);
/* A visitor: address, name, module, size, section and prototype. `context`: the session. */
struct error *function_instance_show(void *context, const struct function_instance *instance);

#endif
