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

static const char *const kind_words[] = {
	[COLUMN_INTEGER] = "integer",	   [COLUMN_WIDE] = "integer",	 [COLUMN_BYTES] = "bytes",
	[COLUMN_DURATION] = "nanoseconds", [COLUMN_ADDRESS] = "address", [COLUMN_TEXT] = "text"
};

static void list_columns(struct out *out, const struct table *table)
{
	for (size_t i = 0; i < table->column_count; i++) {
		const struct table_column *column = &table->columns[i];
		out_row_begin(out);
		out_string(out, "table", table->name);
		out_string(out, "column", column->name);
		out_string(out, "kind", kind_words[column->kind]);
		out_string(out, "help", column->help);
		out_row_end(out);
	}
}

/* `name` "": of all tables. */
static struct error *show_schema(struct session *session, const char *name)
{
	static const struct column columns[] = { { "table", "TABLE", -10 },
						 { "column", "COLUMN", -14 },
						 { "kind", "KIND", -11 },
						 { "help", "WHAT", -1 } };
	bool found = !*name;
	for (size_t i = 0; commands[i] && !found; i++)
		found = commands[i]->table && !strcmp(commands[i]->table->name, name);
	if (!found)
		return error_create(ERROR_USAGE, "no table \"%s\"; `sql` lists them", name);
	out_table_begin(session->out, NULL, columns, ARRAY_COUNT(columns));
	for (size_t i = 0; commands[i]; i++)
		if (commands[i]->table && (!*name || !strcmp(commands[i]->table->name, name)))
			list_columns(session->out, commands[i]->table);
	out_table_end(session->out);
	return NULL;
}

/* ".tables", ".schema NAME" as SQLite's own shell has them; *ret_is false: it is SQL. */
static struct error *run_dot(struct session *session, const char *text, bool *ret_is)
{
	size_t length = strcspn(text, " \t;");
	const char *rest = text + length + strspn(text + length, " \t;");
	*ret_is = *text == '.';
	if (!*ret_is)
		return NULL;
	if (length == 7 && !memcmp(text, ".tables", 7) && !*rest)
		return list_tables(session);
	if (length == 7 && !memcmp(text, ".schema", 7))
		return show_schema(session, rest);
	return error_create(ERROR_USAGE, "%s: there are .tables and .schema [TABLE]", text);
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
	bool is_dot;
	struct error *error = run_dot(session, text, &is_dot);
	if (!is_dot)
		error = ask(&answer, text, &problem);
	if (answer.count)
		out_table_end(session->out);
	free(answer.sources);
	free(answer.columns);
	free(answer.names);
	free(answer.titles);
	free(text);
	return error ?: problem;
}

/* Those that help lists: what is asked of a machine that died, in the order of the description. */
static const char *const examples[] = {
	"sql",
	"sql .schema tasks",
	"sql SELECT state, count(*) AS tasks FROM tasks GROUP BY state ORDER BY tasks DESC",
	"sql SELECT task FROM tasks WHERE state = 'D' | bt",
	"sql SELECT tgid, comm, (utime + stime) / 1000000 AS ms FROM tasks ORDER BY ms DESC LIMIT "
	"10",
	"sql SELECT pid, comm, rss >> 20 AS MiB, swap >> 20 AS swapped FROM tasks WHERE pid = tgid "
	"ORDER BY rss DESC LIMIT 10",
	"sql SELECT cgroup, count(*) AS tasks, sum(rss) >> 20 AS MiB FROM tasks WHERE pid = tgid "
	"GROUP BY cgroup ORDER BY MiB DESC",
	"sql SELECT pid, comm, policy, prio FROM tasks WHERE policy IN ('FIFO', 'RR', 'DEADLINE')",
	"sql SELECT pid, comm, start / 1000000000 AS started FROM tasks ORDER BY start DESC LIMIT "
	"10",
	"sql SELECT p.pid, p.comm, count(*) AS children FROM tasks c JOIN tasks p ON p.pid = "
	"c.ppid "
	"WHERE c.pid = c.tgid GROUP BY p.pid ORDER BY children DESC LIMIT 10",
	"sql SELECT pid, comm, count(*) AS opened FROM files GROUP BY pid ORDER BY opened DESC "
	"LIMIT "
	"10",
	"sql SELECT pid, comm, fd, path FROM files WHERE path LIKE '% (deleted)'",
	"sql SELECT path, count(DISTINCT pid) AS processes FROM files GROUP BY path "
	"ORDER BY processes DESC LIMIT 10",
	"sql 'SELECT m.path, f.pid, f.comm, f.path AS file "
	"FROM (SELECT DISTINCT path FROM mounts WHERE type = \"tmpfs\") m "
	"JOIN files f ON f.path GLOB m.path || \"/*\"'",
	"sql SELECT path, count(DISTINCT pid) AS processes, sum(size) >> 10 AS KiB FROM mappings "
	"WHERE perms LIKE '__x%' GROUP BY path ORDER BY processes DESC LIMIT 10",
	"sql SELECT pid, comm, addr(start) AS start, perms, path FROM mappings WHERE perms LIKE "
	"'_wx%'",
	"sql SELECT protocol, state, count(*) AS sockets, sum(received) AS unread FROM sockets "
	"GROUP BY protocol, state",
	"sql SELECT local, pid, comm FROM sockets WHERE state = 'LISTEN'",
	"sql SELECT name, size >> 10 AS KiB, num_objs - active_objs AS unused FROM slabs "
	"ORDER BY slabs.size DESC LIMIT 10",
	"sql SELECT function, sum(pages) AS bytes FROM vmallocs GROUP BY function ORDER BY bytes "
	"DESC "
	"LIMIT 10",
	"sql SELECT irq, name, count FROM irqs ORDER BY count DESC LIMIT 5",
	"sql SELECT node, name, free >> 20 AS MiB, low >> 20 AS low FROM zones WHERE free < "
	"zones.low",
	"sql SELECT name, flags, mtu, addresses FROM netdevs WHERE flags NOT LIKE '%UP%'",
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
		"Behind a pipe, each row's first address of an object is `$_`. `sql .tables` lists "
		"the tables, too, `sql .schema [TABLE]` their columns.\n"
		"\n"
		"The examples ask: which states tasks are in, and where those are that wait; who "
		"had the processors, the memory, which cgroup; who has real-time priority; who "
		"came "
		"last, whose children there are; who has most files open, which of them are "
		"deleted, which most processes have; what keeps a filesystem busy; which code is "
		"shared, which mappings can be written and run; sockets by state, those that "
		"listen; what slab caches and callers of vmalloc have; interrupts; zones that are "
		"short of memory; devices that are down.",
	.operands = { { .name = "STATEMENT",
			.kind = OPERAND_SQL,
			.optional = true,
			.rest = true } },
	.examples = examples,
	.needs = NEEDS_MEMORY | NEEDS_SYMBOLS | NEEDS_BTF,
	.run = run,
};
