// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/tables/sql.h"

#include "base/array.h"
#include "debugger/command/command.h"
#include "debugger/command/table_cells.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TITLE_SIZE 48

struct answer {
	struct session *session;
	struct sql_column *sources; /* by column of the answer */
	struct column *columns;
	char (*names)[TITLE_SIZE], (*titles)[TITLE_SIZE];
	size_t count;
};

/* --- tables ---------------------------------------------------------------------------------- */

static size_t find_tables(const struct table **tables)
{
	size_t count = 0;
	for (size_t i = 0; commands[i]; i++)
		if (commands[i]->table) {
			if (tables)
				tables[count] = commands[i]->table;
			count++;
		}
	return count;
}

static struct error *list_tables(struct session *session)
{
	static const struct column columns[] = { { "name", "TABLE", -10 },
						 { "summary", "A ROW EACH OF", -32 },
						 { "columns", "COLUMNS", -1 } };
	struct out *out = session->out;
	out_table_begin(out, NULL, columns, ARRAY_COUNT(columns));
	for (size_t i = 0; commands[i]; i++) {
		const struct table *table = commands[i]->table;
		char names[512] = "";
		size_t used = 0;
		for (size_t k = 0; table && k < table->column_count && used < sizeof(names); k++)
			used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s",
						 k ? " " : "", table->columns[k].name);
		if (!table)
			continue;
		out_row_begin(out);
		out_string(out, "name", table->name);
		out_string(out, "summary", table->summary);
		out_string(out, "columns", names);
		out_row_end(out);
	}
	out_table_end(out);
	return NULL;
}

/* --- the answer ------------------------------------------------------------------------------ */

/* Two columns of one name would be one key: the second gets a number. */
static void name_column(struct answer *answer, size_t index, const char *name)
{
	char *to = answer->names[index];
	snprintf(to, TITLE_SIZE, "%s", *name ? name : "?");
	for (unsigned int number = 2;; number++) {
		size_t i = 0;
		while (i < index && strcmp(answer->names[i], to))
			i++;
		if (i == index)
			return;
		snprintf(to, TITLE_SIZE, "%.*s_%u", TITLE_SIZE - 12, name, number);
	}
}

static struct error *head(void *context, const struct sql_column *columns, size_t count)
{
	struct answer *answer = context;
	answer->sources = calloc(count, sizeof(*answer->sources));
	answer->columns = calloc(count, sizeof(*answer->columns));
	answer->names = calloc(count, sizeof(*answer->names));
	answer->titles = calloc(count, sizeof(*answer->titles));
	answer->count = count;
	if (!answer->sources || !answer->columns || !answer->names || !answer->titles)
		return error_no_memory();
	for (size_t i = 0; i < count; i++) {
		answer->sources[i] = columns[i];
		name_column(answer, i, columns[i].name);
		table_cells_column(answer->names[i], columns[i].source, i + 1 == count,
				   answer->titles[i], TITLE_SIZE, &answer->columns[i]);
	}
	out_table_begin(answer->session->out, NULL, answer->columns, count);
	return NULL;
}

static void write_value(struct out *out, const char *key, const struct table_column *source,
			const struct sql_value *value)
{
	const struct out_integer integer = { (uint64_t)value->integer, 64, true };
	const struct table_cell cell = { .state = CELL_SET, .number = (uint64_t)value->integer };
	if (value->kind == SQL_NULL)
		out_null_as(out, key, "-");
	else if (value->kind == SQL_REAL)
		out_double(out, key, value->real);
	else if (value->kind == SQL_TEXT)
		out_string(out, key, value->text);
	else if (source && source->kind != COLUMN_TEXT)
		table_cells_write(out, key, source, &cell);
	else
		out_integer_as(out, key, &integer, NULL);
}

/* What a pipe gets of a row: the first address of something that has a type. */
static void write_item(const struct answer *answer, const struct sql_value *values)
{
	for (size_t i = 0; i < answer->count; i++) {
		const struct table_column *source = answer->sources[i].source;
		if (source && source->type_name && values[i].kind == SQL_INTEGER) {
			out_item_named(answer->session->out, (uint64_t)values[i].integer,
				       source->type_name);
			return;
		}
	}
}

static struct error *row(void *context, const struct sql_value *values, size_t count)
{
	const struct answer *answer = context;
	struct out *out = answer->session->out;
	write_item(answer, values);
	out_row_begin(out);
	for (size_t i = 0; i < count; i++)
		write_value(out, answer->names[i], answer->sources[i].source, &values[i]);
	out_row_end(out);
	return NULL;
}

/* --- the command ----------------------------------------------------------------------------- */

/* The statement without the quotes around the whole of it, which keep it from the line's pipes. */
static char *statement_of(const char *text)
{
	size_t length = strlen(text);
	bool quoted = length > 1 && (*text == '\'' || *text == '"') && text[length - 1] == *text;
	return quoted ? strndup(text + 1, length - 2) : strdup(text);
}

static struct error *ask(struct answer *answer, const char *text, struct error **ret_problem)
{
	size_t count = find_tables(NULL);
	const struct table **tables = calloc(count, sizeof(*tables));
	if (!tables)
		return error_no_memory();
	find_tables(tables);
	const struct sql_question question = { .target = answer->session->target,
					       .tables = tables,
					       .table_count = count,
					       .text = text,
					       .head = head,
					       .row = row,
					       .context = answer };
	struct error *error = sql_ask(&question, ret_problem);
	free(tables);
	return error;
}

static struct error *run(struct session *session, const struct arguments *arguments)
{
	struct answer answer = { .session = session };
	struct error *problem = NULL;
	if (!arguments->operand_count)
		return list_tables(session);
	char *text = statement_of(arguments->operands[0]);
	if (!text)
		return error_no_memory();
	struct error *error = ask(&answer, text, &problem);
	if (answer.count)
		out_table_end(session->out);
	free(answer.sources);
	free(answer.columns);
	free(answer.names);
	free(answer.titles);
	free(text);
	return error ?: problem;
}

static const char *const examples[] = {
	"sql",
	"sql SELECT type, count(*) AS files FROM files GROUP BY type ORDER BY files DESC",
	"sql SELECT path, count(*) AS opened FROM files GROUP BY path ORDER BY opened DESC LIMIT 5",
	"sql SELECT pid, comm, sum(size) AS bytes FROM mappings GROUP BY pid, comm",
	"sql 'SELECT f.pid, f.comm, f.path FROM files f JOIN mounts m ON f.path GLOB m.path || "
	"\"/*\" WHERE m.type = \"tmpfs\"'",
	"sql SELECT file FROM files WHERE pid = 1 | print {f_pos, f_flags}",
	NULL
};

const struct command command_sql = {
	.name = "sql",
	.summary = "ask the tables in SQL",
	.description =
		"Runs one SELECT of SQLite over the tables of what the kernel holds; without an "
		"operand, lists these and their columns, which `help TABLE` explains. Only what "
		"the statement asks for is read.\n"
		"\n"
		"Addresses are integers: compare with 0x..., or show those that were computed by "
		"addr(). What the dump lacks is NULL. Words in SQL's single quotes may be in "
		"double "
		"quotes where the whole statement is quoted.\n"
		"\n"
		"Behind a pipe, each row's first address of an object is `$_`.",
	.operands = { { .name = "STATEMENT",
			.kind = OPERAND_EXPRESSION,
			.optional = true,
			.rest = true } },
	.examples = examples,
	.needs = NEEDS_MEMORY | NEEDS_SYMBOLS | NEEDS_BTF,
	.run = run,
};
