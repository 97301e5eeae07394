/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command that a table makes. */
#ifndef DEBUGGER_COMMAND_TABLE_COMMAND_H
#define DEBUGGER_COMMAND_TABLE_COMMAND_H

#include "debugger/command/command.h"
#include "debugger/tables/table.h"

struct error *table_command_run(struct session *session,
				const struct arguments *arguments) MUST_CHECK;

enum {
	TABLE_OPTION_COLUMNS,
	TABLE_OPTION_COUNT,
	TABLE_OPTION_WHERE,
	TABLE_OPTION_SORT,
	TABLE_OPTION_ALL
};
#define TABLE_OPTIONS                                                                              \
	[TABLE_OPTION_COLUMNS] = { 'o', "output", "COLUMNS", OPERAND_WORD,                         \
				   "these columns, in this order, commas between" },               \
	[TABLE_OPTION_COUNT] = { 'n', "count", "COUNT", OPERAND_NUMBER, "so many rows" },          \
	[TABLE_OPTION_WHERE] = { 0, "where", "CONDITION", OPERAND_WORD,                            \
				 "those rows; SQL over columns, in quotes" },                      \
	[TABLE_OPTION_SORT] = { 0, "sort", "COLUMN", OPERAND_WORD,                                 \
				"by this column; -COLUMN: the greatest first" }
#define TABLE_NEEDS (NEEDS_MEMORY | NEEDS_SYMBOLS | NEEDS_BTF)

/* Of the table `table_NAME`: its name, help and examples are the table's. */
#define TABLE_COMMAND(NAME)                                                                        \
	extern const struct table table_##NAME;                                                    \
	static const struct command command_##NAME = { .name = #NAME,                              \
						       .table = &table_##NAME,                     \
						       .options = { TABLE_OPTIONS },               \
						       .needs = TABLE_NEEDS,                       \
						       .run = table_command_run }

/* The same of one whose rows are tasks': those of the current task, of the tasks given, of all. */
#define TASK_TABLE_COMMAND(NAME)                                                                   \
	extern const struct table table_##NAME;                                                    \
	static const struct command command_##NAME = {                                             \
		.name = #NAME,                                                                     \
		.table = &table_##NAME,                                                            \
		.options = { TABLE_OPTIONS, [TABLE_OPTION_ALL] = { 'a', "all", NULL, 0,            \
								   "of all tasks" } },             \
		.operands = { { .name = "TASK",                                                    \
				.kind = OPERAND_TASK,                                              \
				.optional = true,                                                  \
				.repeated = true } },                                              \
		.needs = TABLE_NEEDS,                                                              \
		.per_task = true,                                                                  \
		.run = table_command_run                                                           \
	}

/* The same of one that has rows of names: of all, or of those that are given. */
#define NAMED_TABLE_COMMAND(NAME)                                                                  \
	extern const struct table table_##NAME;                                                    \
	static const struct command command_##NAME = { .name = #NAME,                              \
						       .table = &table_##NAME,                     \
						       .options = { TABLE_OPTIONS },               \
						       .operands = { { .name = "NAME",             \
								       .kind = OPERAND_WORD,       \
								       .optional = true,           \
								       .repeated = true } },       \
						       .needs = TABLE_NEEDS,                       \
						       .run = table_command_run }

#endif
