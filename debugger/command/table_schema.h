/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the JSON of tables is, made out of them, beside cmds/schemas/. */
#ifndef DEBUGGER_COMMAND_TABLE_SCHEMA_H
#define DEBUGGER_COMMAND_TABLE_SCHEMA_H

#include "base/error.h"

/* Writes NAME.json, a JSON Schema (2020-12), into a folder for each command that shows a table. */
struct error *table_schemas_write(const char *folder) MUST_CHECK;

#endif
