// SPDX-License-Identifier: GPL-3.0-or-later
/* struct, union, enum and ptype: one command, for definitions and for values in memory. */
#include "cmds/struct.h"

#include "base/array.h"
#include "base/interrupt.h"
#include "debugger/declare/declare.h"
#include "debugger/eval/definition.h"
#include "debugger/eval/value.h"
#include "debugger/target/btf_files.h"
#include "debugger/target/object.h"
#include <stdio.h>
#include <string.h>

extern const struct command command_struct;
extern const struct command command_ptype;

enum { OPTION_LAYOUT, OPTION_EXPAND, OPTION_MODULE, OPTION_HEX, OPTION_DECIMAL };

#define COUNT_MAX 100000u

#define NAME_SIZE  256
#define FOUND_MAX  32 /* different types of one name that are shown */
#define SPELL_SIZE 256

/* What the line asks for. */
struct question {
	struct session *session;
	struct btf_layout_style style;
	bool as_pahole; /* nothing around the layouts either */
	char name[NAME_SIZE];
	const char *module;	/* NULL: anywhere */
	const char *paths;	/* "comm,pid"; NULL: the whole */
	const char *address;	/* NULL: the definition */
	const char *count_text; /* of the elements at the address; NULL: one */
	struct render_options options;
	bool any_kind;	    /* the name had no "struct", "union" or "enum" before it */
	enum btf_kind kind; /* what it had; else what the command is called, which comes first */
	char module_name[64];
	struct type found[FOUND_MAX];
	size_t count;
};

/* --- finding ----------------------------------------------------------------------- */

static bool is_found(const struct question *question, struct type type)
{
	for (size_t i = 0; i < question->count; i++)
		if (type_equal(question->found[i], type))
			return true;
	return false;
}

/* Looks in this BTF alone, not in its base. */
static void find_kind(struct question *question, const struct btf *btf, enum btf_kind kind)
{
	uint64_t cursor = 0;
	uint32_t id;
	while ((id = btf_find(btf, kind, question->name, &cursor))) {
		struct type type = { btf, id };
		if (id < btf_start_id(btf) || question->count == FOUND_MAX ||
		    is_found(question, type))
			continue;
		question->found[question->count++] = type;
	}
}

static void find_in(struct question *question, const struct btf *btf)
{
	static const enum btf_kind kinds[] = { BTF_STRUCT,  BTF_UNION, BTF_ENUM,
					       BTF_TYPEDEF, BTF_INT,   BTF_FLOAT };
	size_t before = question->count;
	if (!question->any_kind) {
		find_kind(question, btf, question->kind);
		return;
	}
	find_kind(question, btf, question->kind);
	/* A struct, union or enum hides a typedef of the same name. */
	for (size_t i = 0; i < ARRAY_COUNT(kinds); i++)
		if (kinds[i] <= BTF_ENUM || question->count == before)
			find_kind(question, btf, kinds[i]);
}

static struct error *find_in_module(struct question *question)
{
	const struct btf *btf;
	TRY(target_find_btf(question->session->target, question->module, &btf));
	find_in(question, btf);
	return NULL;
}

/* The kernel's, and what modules and files have of the name that is something else. */
static void find_anywhere(struct question *question)
{
	struct target *target = question->session->target;
	const struct module *modules = NULL;
	find_in(question, target->btf);
	size_t count = target_modules(target, &modules);
	for (size_t i = 0; i < count; i++) {
		const struct btf *btf = target_module_btf(target, &modules[i]);
		if (btf)
			find_in(question, btf);
	}
	for (size_t i = 0; i < target_btf_file_count(target); i++)
		find_in(question, target_btf_file(target, i)->btf);
}

/* No such type: with the names that may have been meant. */
static struct error *not_found(const struct question *question)
{
	const char *tag = question->kind == BTF_UNION  ? "union"
			  : question->kind == BTF_ENUM ? "enum"
						       : "struct";
	char full[NAME_SIZE + 8];
	struct type type;
	snprintf(full, sizeof(full), "%s %s", tag, question->name);
	if (!question->module) {
		struct error *error =
			declare_parse_type(question->session->target, NULL, full, NULL, &type);
		if (error)
			return error;
	}
	return error_create(ERROR_NOT_FOUND, "no type \"%s\"%s%s", full,
			    question->module ? " in " : "",
			    question->module ? question->module : "");
}

static struct error *find(struct question *question)
{
	if (question->module)
		TRY(find_in_module(question));
	else
		find_anywhere(question);
	return question->count ? NULL : not_found(question);
}

/* --- showing ------------------------------------------------------------------------ */

static void show_head(const struct question *question, struct type type)
{
	struct out *out = question->session->out;
	const char *holder = btf_name(type.btf);
	char spelled[SPELL_SIZE];
	type_spell(type, NULL, spelled, sizeof(spelled));
	out_string_as(out, "type", spelled, "");
	out_string_as(out, "btf", holder, "");
	out_u64_as(out, "id", type.id, "");
	if (!question->as_pahole && (question->count > 1 || strcmp(holder, "vmlinux")))
		out_text(out, "/* %s, type %u */\n", holder, type.id);
}

/* How the bits of the member at the end of `path` are called; NULL: that is not known. */
static const struct flag_names *flags_of(struct type whole, const char *path)
{
	struct type_place place = { .type = whole };
	char outer[NAME_SIZE];
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
	const char *paths = question->paths;
	struct error *error = NULL;
	out_array_begin(out, "members");
	while (*paths && !error) {
		char path[NAME_SIZE];
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
	show_head(question, value->type);
	out_address_as(out, "address", value->address, "");
	struct error *error = question->paths ? show_members(question, value)
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

static struct error *show_type(const struct question *question, struct type type)
{
	struct out *out = question->session->out;
	out_object_begin(out, NULL);
	show_head(question, type);
	struct error *error =
		question->paths ? definition_render_members(out, "members", type, question->paths,
							    &question->style)
				: definition_render_as(out, "definition", type, &question->style);
	out_object_end(out);
	return error;
}

static struct error *show_found(const struct question *question)
{
	struct error *error = NULL;
	out_array_begin(question->session->out, NULL);
	for (size_t i = 0; i < question->count && !error; i++) {
		struct type type = question->found[i];
		error = question->address ? show_values(question, type) : show_type(question, type);
	}
	out_array_end(question->session->out);
	return error;
}

/* --- the line ----------------------------------------------------------------------- */

/* "struct ", "union ", "enum " before the name. */
static const char *skip_tag(struct question *question, const char *text)
{
	static const struct {
		const char *word;
		enum btf_kind kind;
	} tags[] = { { "struct", BTF_STRUCT }, { "union", BTF_UNION }, { "enum", BTF_ENUM } };
	question->any_kind = true;
	for (size_t i = 0; i < ARRAY_COUNT(tags); i++) {
		size_t length = strlen(tags[i].word);
		if (strncmp(text, tags[i].word, length) || text[length] != ' ')
			continue;
		question->any_kind = false;
		question->kind = tags[i].kind;
		text += length;
		text += strspn(text, " ");
		break;
	}
	return text;
}

/* "[struct] [MODULE:]NAME[.MEMBER,...]"; false: it is not of this form. */
static bool parse_name(struct question *question, const char *text)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
	text = skip_tag(question, text);
	size_t length = strspn(text, letters);
	if (text[length] == ':' && text[length + 1] != ':' &&
	    length < sizeof(question->module_name)) {
		snprintf(question->module_name, sizeof(question->module_name), "%.*s", (int)length,
			 text);
		question->module = question->module_name;
		text = skip_tag(question, text + length + 1);
		length = strspn(text, letters);
	}
	if (!length || length >= sizeof(question->name))
		return false;
	snprintf(question->name, sizeof(question->name), "%.*s", (int)length, text);
	question->paths = text[length] == '.' && text[length + 1] ? text + length + 1 : NULL;
	return !text[length] || question->paths;
}

static void parse_options(struct question *question, const struct arguments *arguments)
{
	question->as_pahole = arguments->options[OPTION_LAYOUT];
	question->style = (struct btf_layout_style){
		.as_pahole = question->as_pahole,
		.expand = arguments->options[OPTION_EXPAND],
	};
	question->module = arguments->options[OPTION_MODULE];
	question->options = question->session->render;
	if (arguments->options[OPTION_HEX])
		question->options.base = BASE_HEXADECIMAL;
	if (arguments->options[OPTION_DECIMAL])
		question->options.base = BASE_DECIMAL;
}

static struct error *struct_run(struct session *session, const struct arguments *arguments)
{
	struct question question = { .session = session, .kind = BTF_STRUCT };
	const char *const *operands = arguments->operands;
	size_t count = arguments->operand_count;
	char tagged[NAME_SIZE];
	parse_options(&question, arguments);
	skip_tag(&question, arguments->line);
	/* `struct struct x`, as it is copied from C. */
	bool has_tag = count > 1 && (!strcmp(operands[0], "struct") ||
				     !strcmp(operands[0], "union") || !strcmp(operands[0], "enum"));
	snprintf(tagged, sizeof(tagged), "%s%s%s", operands[0], has_tag ? " " : "",
		 has_tag ? operands[1] : "");
	if (!parse_name(&question, tagged))
		return error_create(ERROR_USAGE, "\"%s\" is no name of a type", tagged);
	question.address = count > 1 + has_tag ? operands[1 + has_tag] : NULL;
	question.count_text = count > 2 + has_tag ? operands[2 + has_tag] : NULL;
	TRY(find(&question));
	return show_found(&question);
}

struct error *show_namesakes(struct session *session, const char *text, bool *ret_shown)
{
	struct question question = { .session = session, .kind = BTF_STRUCT };
	*ret_shown = false;
	if (!parse_name(&question, text) || question.paths)
		return NULL;
	error_free(find(&question));
	*ret_shown = question.count > 1;
	return *ret_shown ? show_found(&question) : NULL;
}

/* Any type or expression, in one text with blanks. */
static struct error *ptype_run(struct session *session, const struct arguments *arguments)
{
	struct question question = { .session = session, .kind = BTF_STRUCT };
	const char *text = arguments->operands[0];
	struct type type;
	parse_options(&question, arguments);
	if (parse_name(&question, text)) {
		struct error *error = find(&question);
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
	question.paths = NULL;
	question.found[question.count++] = type_completed(session->target, type);
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
