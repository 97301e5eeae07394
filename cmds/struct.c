// SPDX-License-Identifier: GPL-3.0-or-later
/* struct, union, enum and ptype: one command, for definitions and for values in memory. */
#include "debugger/show/types_named.h"

#include "base/interrupt.h"
#include "debugger/command/command.h"
#include "debugger/declare/declare.h"
#include "debugger/eval/definition.h"
#include "debugger/eval/value.h"
#include <stdio.h>
#include <string.h>

extern const struct command command_struct;
extern const struct command command_ptype;

enum { OPTION_LAYOUT, OPTION_EXPAND, OPTION_MODULE, OPTION_HEX, OPTION_DECIMAL };

#define COUNT_MAX  100000u
#define SPELL_SIZE 256

/* What the line asks for. */
struct question {
	struct session *session;
	struct types_named types;
	struct btf_layout_style style;
	const char *address;	/* NULL: the definition */
	const char *count_text; /* of the elements at the address; NULL: one */
	struct render_options options;
};

/* --- showing ------------------------------------------------------------------------ */

/* How the bits of the member at the end of `path` are called; NULL: that is not known. */
static const struct flag_names *flags_of(struct type whole, const char *path)
{
	struct type_place place = { .type = whole };
	char outer[TYPE_NAME_SIZE];
	const char *last = strrchr(path, '.');
	if (!last)
		return flag_names_of_member(whole, path);
	snprintf(outer, sizeof(outer), "%.*s", (int)(last - path), path);
	struct error *error = type_find_path(whole, outer, &place);
	bool found = !error;
	error_free(error);
	return found ? flag_names_of_member(place.type, last + 1) : NULL;
}

/* The member at `path` of what lies at `whole->address`. */
static struct error *show_member(struct out *out, const struct render_options *options,
				 const struct value *whole, const char *path)
{
	struct type_place place;
	TRY(type_find_path(whole->type, path, &place));
	struct value value = *whole;
	char spelled[SPELL_SIZE];
	value.type = place.type;
	value.address += place.bit_offset / 8;
	value.bit_offset = place.bit_offset % 8;
	value.bit_size = place.bit_size;
	value.flags = flags_of(whole->type, path);
	type_spell(place.type, NULL, spelled, sizeof(spelled));
	out_object_begin(out, NULL);
	out_text(out, "  ");
	out_string(out, "name", path);
	out_text(out, " = ");
	out_string_as(out, "type", spelled, "");
	out_u64_as(out, "offset", place.bit_offset / 8, "");
	struct error *error = value_render(out, "value", &value, options);
	if (error)
		out_missing(out, "value", error);
	error_free(error);
	out_text(out, "\n");
	out_object_end(out);
	return NULL;
}

static struct error *show_members(const struct question *question, const struct value *whole)
{
	struct out *out = question->session->out;
	const char *paths = question->types.paths;
	struct error *error = NULL;
	out_array_begin(out, "members");
	while (*paths && !error) {
		char path[TYPE_NAME_SIZE];
		size_t length = strcspn(paths, ",");
		snprintf(path, sizeof(path), "%.*s", (int)length, paths);
		paths += length + (paths[length] == ',');
		error = show_member(out, &question->options, whole, path);
	}
	out_array_end(out);
	return error;
}

static struct error *show_whole(const struct question *question, const struct value *value)
{
	struct out *out = question->session->out;
	char spelled[SPELL_SIZE];
	type_spell(value->type, NULL, spelled, sizeof(spelled));
	out_text(out, "(%s)", spelled);
	struct error *error = value_render(out, "value", value, &question->options);
	if (error)
		out_missing(out, "value", error);
	out_text(out, "\n");
	return error;
}

static struct error *show_element(const struct question *question, const struct value *value)
{
	struct out *out = question->session->out;
	out_item(out, &(struct out_item){ .address = value->address,
					  .btf = value->type.btf,
					  .type_id = value->type.id });
	out_object_begin(out, NULL);
	types_named_write_holder(&question->types, value->type, question->style.as_pahole, out);
	out_address_as(out, "address", value->address, "");
	struct error *error = question->types.paths ? show_members(question, value)
						    : show_whole(question, value);
	out_object_end(out);
	return error;
}

/* What cannot be read of several is shown in its place. */
static struct error *show_values(const struct question *question, struct type type)
{
	struct session *session = question->session;
	struct value value = {
		.target = session->target, .type = type, .in_memory = true, .origin = ORIGIN_CAST
	};
	struct value number;
	uint64_t count = 1, size = 0;
	if (question->count_text) {
		TRY(expression_value(&session->scope, question->count_text, &number));
		TRY(value_u64(&number, &count));
	}
	if (!count || count > COUNT_MAX)
		return error_create(ERROR_USAGE, "COUNT is from 1 to %u", COUNT_MAX);
	TRY(expression_address(&session->scope, question->address, &value.address));
	type_size(type, &size);
	for (uint64_t i = 0; i < count; i++, value.address += size) {
		TRY(interrupt_check());
		struct error *error = show_element(question, &value);
		if (error && (count == 1 || !error_is_missing(error)))
			return error;
		error_free(error);
	}
	return NULL;
}

static struct error *show_found(const struct question *question)
{
	const struct types_named *types = &question->types;
	struct out *out = question->session->out;
	struct error *error = NULL;
	if (!question->address)
		return types_named_write(types, &question->style, out);
	out_array_begin(out, NULL);
	for (size_t i = 0; i < types->count && !error; i++)
		error = show_values(question, types->found[i]);
	out_array_end(out);
	return error;
}

/* --- the line ----------------------------------------------------------------------- */

static void parse_options(struct question *question, const struct arguments *arguments)
{
	question->style = (struct btf_layout_style){
		.as_pahole = arguments->options[OPTION_LAYOUT],
		.expand = arguments->options[OPTION_EXPAND],
	};
	question->types.module = arguments->options[OPTION_MODULE];
	question->options = question->session->render;
	if (arguments->options[OPTION_HEX])
		question->options.base = BASE_HEXADECIMAL;
	if (arguments->options[OPTION_DECIMAL])
		question->options.base = BASE_DECIMAL;
}

static struct error *struct_run(struct session *session, const struct arguments *arguments)
{
	const char *line = arguments->line;
	struct question question = { .session = session,
				     .types.kind = type_tag_skip(&line) ?: BTF_STRUCT };
	const char *const *operands = arguments->operands;
	size_t count = arguments->operand_count;
	char tagged[TYPE_NAME_SIZE];
	parse_options(&question, arguments);
	/* `struct struct x`, as it is copied from C. */
	bool has_tag = count > 1 && (!strcmp(operands[0], "struct") ||
				     !strcmp(operands[0], "union") || !strcmp(operands[0], "enum"));
	snprintf(tagged, sizeof(tagged), "%s%s%s", operands[0], has_tag ? " " : "",
		 has_tag ? operands[1] : "");
	if (!types_named_parse(&question.types, tagged))
		return error_create(ERROR_USAGE, "\"%s\" is no name of a type", tagged);
	question.address = count > 1 + has_tag ? operands[1 + has_tag] : NULL;
	question.count_text = count > 2 + has_tag ? operands[2 + has_tag] : NULL;
	TRY(types_named_find(&question.types, session->target));
	return show_found(&question);
}

/* Any type or expression, in one text with blanks. */
static struct error *ptype_run(struct session *session, const struct arguments *arguments)
{
	struct question question = { .session = session, .types.kind = BTF_STRUCT };
	const char *text = arguments->operands[0];
	struct type type;
	parse_options(&question, arguments);
	if (types_named_parse(&question.types, text)) {
		struct error *error = types_named_find(&question.types, session->target);
		if (!error)
			return show_found(&question);
		error_free(error);
	}
	struct error *error = declare_parse_type(session->target, NULL, text, NULL, &type);
	if (error) {
		struct value value;
		struct error *second = expression_type(&session->scope, text, &value);
		if (second) {
			error_free(error);
			return second;
		}
		error_free(error);
		if (!value.type.btf)
			return error_create(ERROR_NOT_FOUND, "the type of %s is not known", text);
		type = value.type;
	}
	question.types.paths = NULL;
	question.types.found[question.types.count++] = type_completed(session->target, type);
	return show_found(&question);
}

#define TYPE_OPTIONS                                                                               \
	{                                                                                          \
		[OPTION_LAYOUT] = { 'o', "layout", NULL, OPERAND_WORD,                             \
				    "the layout, text for text as pahole prints it" },             \
		[OPTION_EXPAND] = { 'E', "expand", NULL, OPERAND_WORD,                             \
				    "members' types in their places" },                            \
		[OPTION_MODULE] = { 'm', "module", "MODULE", OPERAND_MODULE,                       \
				    "only of this module; vmlinux: the kernel" },                  \
		[OPTION_HEX] = { 'x', "hex", NULL, OPERAND_WORD, "numbers in hexadecimal" },       \
		[OPTION_DECIMAL] = { 'd', "decimal", NULL, OPERAND_WORD, "numbers in decimal" },   \
	}

const struct command command_struct = {
	.name = "struct",
	.alias = "union enum",
	.summary = "show the definition of a type, or one in memory",
	.description =
		"NAME is that of a struct, union, enum or typedef, MODULE:NAME one of a module. "
		"Without an address: the definition, with offset and size of the members in bytes "
		"(and offset and width in bits of bit-fields), holes, cache lines and sums as "
		"pahole shows them; `struct` may be left out. With an address: the value found "
		"there. NAME.MEMBER,... shows "
		"these members alone, which may be paths. An array of several dimensions is one of "
		"as many "
		"elements as it has in all, for BTF keeps no dimensions. When several different "
		"types have the "
		"name, all are shown, with the BTF that has them and their ids. The address may be "
		"a symbol, a hexadecimal number, or an expression without spaces; COUNT shows as "
		"many elements of an array that begins there.",
	.options = TYPE_OPTIONS,
	.operands = { { .name = "NAME[.MEMBER,...]", .kind = OPERAND_TYPE },
		      { .name = "ADDRESS", .kind = OPERAND_ADDRESS, .optional = true },
		      { .name = "COUNT", .kind = OPERAND_EXPRESSION, .optional = true } },
	.examples = (const char *const[]){ "struct list_head", "struct task_struct",
					   "struct -o task_struct", "struct -E list_head",
					   "struct list_head &init_task.tasks",
					   "struct task_struct.tasks,pid",
					   "struct task_struct.comm,pid init_task", "enum pid_type",
					   NULL },
	.needs = NEEDS_BTF,
	.per_task = true,
	.run = struct_run,
};

const struct command command_ptype = {
	.name = "ptype",
	.summary = "show the definition of a type or of an expression's type",
	.description = "As struct does, for any type and any expression, with blanks.",
	.options = TYPE_OPTIONS,
	.operands = { { .name = "TYPE|EXPRESSION", .kind = OPERAND_TYPE, .rest = true } },
	.examples = (const char *const[]){ "ptype struct list_head", "ptype pid_t",
					   "ptype init_task.tasks", NULL },
	.needs = NEEDS_BTF,
	.per_task = true,
	.run = ptype_run,
};
