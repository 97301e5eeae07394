// SPDX-License-Identifier: GPL-3.0-or-later
/* The command table, out of the list of names. */
#include "debugger/command/command.h"
#include "debugger/command/table_command.h"

#define COMMAND(NAME)	  extern const struct command command_##NAME;
#define TABLE(NAME)	  TABLE_COMMAND(NAME);
#define TASK_TABLE(NAME)  TASK_TABLE_COMMAND(NAME);
#define NAMED_TABLE(NAME) NAMED_TABLE_COMMAND(NAME);
#include "cmds/commands.def"
#undef COMMAND
#undef TABLE
#undef TASK_TABLE
#undef NAMED_TABLE

#define COMMAND(NAME)	  &command_##NAME,
#define TABLE(NAME)	  COMMAND(NAME)
#define TASK_TABLE(NAME)  COMMAND(NAME)
#define NAMED_TABLE(NAME) COMMAND(NAME)
const struct command *const commands[] = {
#include "cmds/commands.def"
	NULL,
};
