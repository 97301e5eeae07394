/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How the cells of tables look. */
#ifndef DEBUGGER_COMMAND_TABLE_CELLS_H
#define DEBUGGER_COMMAND_TABLE_CELLS_H

#include "base/out.h"
#include "debugger/tables/table.h"

/*
 * The column of output for one of a table; `source` NULL: what is shown was computed. Its title is
 * the key in capitals, in the caller's buffer. `is_last`: its cells are not filled up with blanks.
 */
void table_cells_column(const char *key, const struct table_column *source, bool is_last,
			char *title, size_t size, struct column *ret);
void table_cells_write(struct out *out, const char *key, const struct table_column *source,
		       const struct table_cell *cell);

#endif
