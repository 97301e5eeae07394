// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/command/table_schema.h"

#include "base/out.h"
#include "debugger/command/command.h"
#include "debugger/tables/table.h"
#include <stdlib.h>

/* The definition in common.json; NULL: a string. */
static const char *const definitions[] = {
	[COLUMN_INTEGER] = "common.json#/$defs/integer",
	[COLUMN_WIDE] = "common.json#/$defs/wide",
	[COLUMN_BYTES] = "common.json#/$defs/wide",
	[COLUMN_DURATION] = "common.json#/$defs/wide",
	[COLUMN_ADDRESS] = "common.json#/$defs/address",
	[COLUMN_TEXT] = NULL,
};

static void write_choice(struct out *out, const char *key, const char *value)
{
	out_object_begin(out, NULL);
	out_string(out, key, value);
	out_object_end(out);
}

/* A value, nothing, or why the dump does not have it. */
static void write_column(struct out *out, const struct table_column *column)
{
	out_object_begin(out, column->name);
	out_string(out, "description", column->help);
	out_array_begin(out, "anyOf");
	if (definitions[column->kind])
		write_choice(out, "$ref", definitions[column->kind]);
	else
		write_choice(out, "type", "string");
	write_choice(out, "type", "null");
	write_choice(out, "$ref", "common.json#/$defs/error");
	out_array_end(out);
	out_object_end(out);
}

static void write_row(struct out *out, const struct table *table)
{
	out_object_begin(out, "items");
	out_string(out, "type", "object");
	out_object_begin(out, "properties");
	for (size_t i = 0; i < table->column_count; i++)
		write_column(out, &table->columns[i]);
	out_object_end(out);
	out_array_begin(out, "required");
	for (size_t i = 0; i < table->column_count; i++)
		out_string(out, NULL, table->columns[i].name);
	out_array_end(out);
	out_bool(out, "additionalProperties", false);
	out_object_end(out);
}

static void write_schema(struct out *out, const struct table *table)
{
	char id[128], title[128];
	snprintf(id, sizeof(id), "https://btfcrash.invalid/schemas/%s.json", table->name);
	snprintf(title, sizeof(title), "result of %s", table->name);
	out_object_begin(out, NULL);
	out_string(out, "$schema", "https://json-schema.org/draft/2020-12/schema");
	out_string(out, "$id", id);
	out_string(out, "title", title);
	out_string(out, "description", table->description);
	out_string(out, "type", "array");
	write_row(out, table);
	out_object_end(out);
}

static struct error *write_file(const char *folder, const struct table *table)
{
	char *path;
	if (asprintf(&path, "%s/%s.json", folder, table->name) < 0)
		return error_no_memory();
	FILE *file = fopen(path, "w");
	struct out *out = file ? out_json_create(file) : NULL;
	struct error *error = file ? NULL : error_system("%s", path);
	if (out)
		write_schema(out, table);
	else if (file)
		error = error_no_memory();
	out_destroy(out);
	if (file)
		putc('\n', file);
	if (file && (fclose(file) && !error))
		error = error_system("%s", path);
	free(path);
	return error;
}

struct error *table_schemas_write(const char *folder)
{
	for (size_t i = 0; commands[i]; i++)
		if (commands[i]->table)
			TRY(write_file(folder, commands[i]->table));
	return NULL;
}
