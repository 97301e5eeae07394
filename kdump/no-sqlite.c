// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * In the place of debugger/tables/sql.c and sql_tables.c: for the static program, whose capture
 * kernel has no memory to spare, and for `make SQLITE=no`.
 */
#include "debugger/tables/sql.h"

struct error *sql_ask(const struct sql_question *question, struct error **ret_problem)
{
	(void)question;
	(void)ret_problem;
	return error_create(ERROR_UNSUPPORTED, "this program was built without SQLite");
}
