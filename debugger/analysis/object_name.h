/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What C calls a lock, or what else has no symbol of its own but is part of something that has. */
#ifndef DEBUGGER_ANALYSIS_OBJECT_NAME_H
#define DEBUGGER_ANALYSIS_OBJECT_NAME_H

#include "base/strbuf.h"
#include "debugger/target/target.h"

/*
 * How many may be asked for from now on: each is a search of all variables, and of what these lead
 * to. Beyond that, and before the first such call, nothing is put. Errors: no memory.
 */
struct error *object_names_allow(struct target *target, uint32_t count) MUST_CHECK;
/*
 * Of an object of that type ("struct mutex") within a static variable, or within what a module's
 * variable points at: "0x... is dev->lock [drv], by the inferred type of dev". Where the variable's
 * type does not have such a member there, "dev [drv] points at the object that 0x... lies in", and
 * the like, as object_owner_spell() says. Nothing is put where nothing is known. Errors are fatal
 * ones.
 */
struct error *object_name_put(struct target *target, uint64_t address, const char *type,
			      struct strbuf *ret) MUST_CHECK;

#endif
