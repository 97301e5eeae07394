// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/show/member.h"

#include "debugger/target/object.h"
#include <stdlib.h>
#include <string.h>

/* Below lies what a NULL pointer leads to. */
#define NULL_PAGE 4096u

static bool is_aggregate(const struct value *value)
{
	struct btf_type record, element;
	struct type type;
	if (!value_record(value, &record))
		return true;
	if (record.kind == BTF_ARRAY)
		return !type_target(value->type, &type) || !type_get_resolved(type, &element) ||
		       strcmp(element.name, "char");
	return record.kind == BTF_STRUCT || record.kind == BTF_UNION;
}

/* A struct or an array takes one cell. */
static struct error *show_aggregate(struct out *to, const char *key, const struct value *value,
				    const struct render_options *options)
{
	char *text = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&text, &size);
	struct out *out = file ? out_text_create(file) : NULL;
	struct error *error = out ? value_render(out, NULL, value, options) : error_no_memory();
	out_destroy(out);
	if (file && fclose(file) && !error)
		error = error_no_memory();
	out_quoted(to, OUT_QUOTED);
	if (!error)
		out_string(to, key, text);
	out_quoted(to, OUT_RAW);
	free(text);
	return error;
}

struct error *member_show(struct session *session, const struct value *base,
			  struct selection *selection, size_t index, const char *key,
			  const struct render_options *options, bool is_cell)
{
	struct out *out = session->out;
	struct value value;
	struct error *error = selection_value(selection, index, &session->scope, base, &value);
	if (!error && is_cell && session->format != FORMAT_JSON && is_aggregate(&value))
		error = show_aggregate(out, key, &value, options);
	else if (!error)
		error = value_render(out, key, &value, options);
	/* A member that does not exist exists in no other object of the type. */
	if (!error || !error_is_missing(error))
		return error;
	if (error->address < NULL_PAGE)
		out_null_as(out, key, "<null>");
	else
		out_missing(out, key, error);
	error_free(error);
	return NULL;
}
