// SPDX-License-Identifier: GPL-3.0-or-later
#include "cmds/command.h"

#include "debugger/declare/declare.h"
#include "debugger/eval/value.h"
#include "debugger/target/object.h"
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

extern const struct command command_whatis;

static void show_size(struct out *out, struct type type)
{
	uint64_t size;
	if (type_size(type, &size))
		out_u64_as(out, "size", size, "");
	else
		out_null_as(out, "size", "");
}

static struct error *show_definition(struct session *session, struct type type)
{
	char spelled[512];
	struct out *out = session->out;
	type = type_completed(session->target, type);
	type_spell(type, NULL, spelled, sizeof(spelled));
	out_object_begin(out, NULL);
	out_string_as(out, "type", spelled, "");
	show_size(out, type);
	struct error *error = definition_render(out, "definition", type);
	out_object_end(out);
	return error;
}

/* "struct task_struct init_task;" and on whose word. */
static void show_declaration(struct session *session, const char *text, const struct value *value)
{
	char spelled[512], declared[1024];
	struct out *out = session->out;
	out_object_begin(out, NULL);
	if (value->type.btf) {
		bool is_name = text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVW"
						 "XYZ0123456789_.")] == 0;
		type_spell(value->type, NULL, spelled, sizeof(spelled));
		type_spell(value->type, is_name ? text : NULL, declared, sizeof(declared));
		out_string_as(out, "type", spelled, declared);
		show_size(out, value->type);
		out_text(out, ";");
	} else {
		out_null_as(out, "type", "");
		out_u64_as(out, "size", value->raw_size, "");
		out_text(out, "%s: type unknown, %" PRIu64 " bytes up to the next symbol;", text,
			 value->raw_size);
	}
	if (value->origin != ORIGIN_NONE && value->origin != ORIGIN_CAST)
		out_text(out, "  // ");
	out_string_as(out, "origin", type_origin_name(value->origin),
		      value->origin != ORIGIN_NONE && value->origin != ORIGIN_CAST
			      ? type_origin_name(value->origin)
			      : "");
	out_object_end(out);
	out_text(out, "\n");
}

static bool begins_with_tag(const char *text)
{
	return !strncmp(text, "struct ", 7) || !strncmp(text, "union ", 6) ||
	       !strncmp(text, "enum ", 5);
}

static struct error *whatis_run(struct session *session, const struct arguments *arguments)
{
	const char *text = arguments->operands[0];
	struct target *target = session->target;
	struct type type;
	struct value value;
	if (begins_with_tag(text)) {
		TRY(declare_parse_type(target, NULL, text, NULL, &type));
		return show_definition(session, type);
	}
	if (declare_is_type(target, text, &type))
		return show_definition(session, type);
	struct error *error = expression_type(target, text, &value);
	if (!error) {
		show_declaration(session, text, &value);
		return NULL;
	}
	/* A type that only a module has. */
	struct error *not_type = declare_parse_type(target, NULL, text, NULL, &type);
	if (not_type) {
		error_free(not_type);
		return error;
	}
	error_free(error);
	return show_definition(session, type);
}

static const char *const examples[] = { "whatis init_task", "whatis struct list_head",
					"whatis pid_t", "whatis init_task.tasks.next", NULL };

const struct command command_whatis = {
	.name = "whatis",
	.summary = "show the type of an expression or the definition of a type",
	.description = "For a variable or an expression: its type, and who says so (the kernel's "
		       "BTF, a module's, a declaration). Nothing is read from the dump. For a "
		       "type's name: its definition.",
	.operands = { { .name = "EXPRESSION|TYPE", .kind = OPERAND_EXPRESSION, .rest = true } },
	.examples = examples,
	.needs = NEEDS_BTF,
	.run = whatis_run,
};
