// SPDX-License-Identifier: GPL-3.0-or-later
#include "cmds/command.h"

#include "debugger/eval/value.h"
#include "debugger/infer/infer.h"
#include "debugger/target/object.h"
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALTERNATIVES 4

extern const struct command command_print;

struct printing {
	struct session *session;
	const char *text; /* of the expression */
	struct render_options options;
};

/*
 * "init_task.mm", "runqueues:0.curr->pid": what can stand where a declaration has its name. With an
 * index it could not be told from an array's declaration.
 */
static bool is_path(const char *text)
{
	if (!isalpha((unsigned char)*text) && *text != '_')
		return false;
	for (const char *at = text; *at; at++) {
		bool arrow = at[0] == '-' && at[1] == '>';
		if (arrow)
			at++;
		else if (!isalnum((unsigned char)*at) && !strchr("_.:@", *at))
			return false;
	}
	return true;
}

/* "struct task_struct init_task = " or "(int)". */
static void show_type(const struct printing *printing, const struct value *value, bool one_of_many)
{
	struct out *out = printing->session->out;
	char type[512], declared[1024];
	if (!value->type.btf) {
		if (value->in_memory)
			out_text(out, "%s = ", printing->text);
		out_null_as(out, "type", "");
		return;
	}
	type_spell(value->type, NULL, type, sizeof(type));
	if (value->in_memory && !one_of_many && is_path(printing->text)) {
		type_spell(value->type, printing->text, declared, sizeof(declared));
		out_text(out, "%s = ", declared);
	} else {
		out_text(out, "(%s)", type);
	}
	out_string_as(out, "type", type, "");
}

/* A comment that says on whose word the type is what it is, when it is not the kernel's own. */
static void show_origin(struct out *out, const struct value *value)
{
	if (value->in_memory && !value->type.btf && value->raw_size)
		out_text(out, "  // type unknown, %" PRIu64 " bytes up to the next symbol",
			 value->raw_size);
	else if (value->in_memory && !value->type.btf)
		out_text(out, "  // type unknown");
	else if (value->origin == ORIGIN_FILE || value->origin == ORIGIN_DECLARED ||
		 value->origin == ORIGIN_INFERRED || value->origin == ORIGIN_GUESSED)
		out_text(out, "  // %s", type_origin_name(value->origin));
	if (value_fills_room(value))
		out_text(out, "%s at most so long", value->origin == ORIGIN_CERTAIN ? "  //" : ",");
	out_text(out, "\n");
}

/* How sure the type is; NULL where that is for the user to judge: declared, or cast. */
static const char *confidence(const struct value *value)
{
	switch (value->origin) {
	case ORIGIN_KERNEL:
	case ORIGIN_MODULE:
	case ORIGIN_FILE:
	case ORIGIN_CERTAIN:
		return "certain";
	case ORIGIN_INFERRED:
		return "inferred";
	case ORIGIN_GUESSED:
		return "guess";
	case ORIGIN_NONE:
		return "unknown";
	default:
		return NULL;
	}
}

static void show_data(struct out *out, const struct value *value)
{
	bool is_inferred = value->origin == ORIGIN_CERTAIN || value->origin == ORIGIN_GUESSED;
	enum type_origin origin = is_inferred ? ORIGIN_INFERRED : value->origin;
	out_string_as(out, "origin", type_origin_name(origin), "");
	if (confidence(value))
		out_string_as(out, "confidence", confidence(value), "");
}

/* What else a guessed variable may be: the candidates that nothing contradicts. */
static void show_alternatives(const struct printing *printing, const struct value *value)
{
	struct target *target = printing->session->target;
	struct out *out = printing->session->out;
	struct symbol symbol = { 0 };
	struct typing typing;
	uint64_t cursor = 0;
	while (target_find_symbol(target, NULL, printing->text, &cursor, &symbol))
		if (symbol.address == value->address)
			break;
	if (strcmp(symbol.name, printing->text) || symbol.address != value->address)
		return;
	struct error *error = infer_symbol(target, NULL, &symbol, true, &typing);
	if (error) {
		error_free(error);
		return;
	}
	size_t shown = 0;
	out_array_begin(out, "alternatives");
	for (size_t i = 0; i < typing.candidate_count && shown < ALTERNATIVES; i++) {
		char type[512];
		type_spell(typing.candidates[i].type, NULL, type, sizeof(type));
		if (typing.candidates[i].rejected ||
		    type_equal(typing.candidates[i].type, value->type))
			continue;
		out_text(out, shown++ ? ", " : "// or: ");
		out_string(out, NULL, type);
	}
	out_array_end(out);
	if (shown)
		out_text(out, "\n");
	typing_deinit(&typing);
}

static struct error *show_value(const struct printing *printing, const struct value *value,
				bool one_of_many)
{
	struct out *out = printing->session->out;
	show_type(printing, value, one_of_many);
	show_data(out, value);
	if (value->in_memory)
		out_address_as(out, "address", value->address + value->bit_offset / 8, "");
	struct error *error = value_render(out, "value", value, &printing->options);
	if (error && error_is_missing(error))
		out_missing(out, "value", error);
	else if (error)
		out_null_as(out, "value", "<error>");
	show_origin(out, value);
	if (value->origin == ORIGIN_GUESSED && value->in_memory)
		show_alternatives(printing, value);
	return error;
}

static struct error *show_result(void *context, const struct expression_result *result)
{
	const struct printing *printing = context;
	struct out *out = printing->session->out;
	if (result->note)
		out_text(out, "// %s\n", result->note);
	out_object_begin(out, NULL);
	if (result->has_cpu) {
		char label[16];
		snprintf(label, sizeof(label), "[%u]: ", result->cpu);
		out_u64_as(out, "cpu", result->cpu, label);
	}
	struct error *error = NULL;
	if (result->value) {
		error = show_value(printing, result->value, result->has_cpu);
	} else {
		out_missing(out, "value", result->error);
		out_text(out, "\n");
	}
	out_object_end(out);
	/* What one CPU lacks stands in its place. */
	if (error && result->has_cpu && error_is_missing(error)) {
		error_free(error);
		return NULL;
	}
	return error;
}

/* Whether the results are several: JSON has an array of them then. Names cannot hold ":a". */
static bool asks_for_all(const char *text)
{
	for (const char *at = strstr(text, ":a"); at; at = strstr(at + 1, ":a"))
		if (at > text && !isspace((unsigned char)at[-1]) &&
		    !isalnum((unsigned char)at[2]) && at[2] != '_')
			return true;
	return false;
}

static struct error *set_number(const char *text, unsigned int *ret)
{
	char *end;
	unsigned long number = strtoul(text, &end, 0);
	if (!*text || *end || *text == '-' || number > UINT32_MAX)
		return error_create(ERROR_USAGE, "\"%s\" is not a number", text);
	*ret = number;
	return NULL;
}

static struct error *print_run(struct session *session, const struct arguments *arguments)
{
	struct printing printing = { session, arguments->operands[0], session->render };
	const char *depth = argument_option(&command_print, arguments, 'd');
	if (argument_option(&command_print, arguments, 'x'))
		printing.options.hexadecimal = true;
	if (depth)
		TRY(set_number(depth, &printing.options.depth));
	bool several = asks_for_all(printing.text);
	if (several)
		out_array_begin(session->out, NULL);
	struct error *error =
		expression_evaluate(session->target, printing.text, show_result, &printing);
	if (several)
		out_array_end(session->out);
	return error;
}

static const char *const examples[] = { "print init_task.comm",
					"print init_task.tasks.next",
					"print &init_task",
					"print runqueues:0.nr_running",
					"print runqueues:a.curr->comm",
					"print sizeof(struct task_struct)",
					"print -x (unsigned long)&init_task >> 12",
					NULL };

const struct command command_print = {
	.name = "print",
	.alias = "p",
	.summary = "evaluate a C expression and print its value",
	.description =
		"Expressions are C's, without assignments and calls: variables, members (. and -> "
		"do the same), array elements, * and &, casts to any C type, sizeof, integer and "
		"character constants, enumerators, arithmetic, comparisons, ?: and pointer "
		"arithmetic.\n"
		"\n"
		"NAME:CPU is a per-CPU variable on one CPU, NAME:a on all of them. MODULE:NAME is "
		"a module's variable. Of several symbols that are called NAME, NAME@ADDRESS picks "
		"one.\n"
		"\n"
		"A comment after the value says where the type is from, unless that is certain: "
		"\"declared\" is from the list of declarations that comes with btfcrash or from "
		"--declare, checked against size and BTF; \"inferred\" is from the kernel's code "
		"and data, without contradiction; \"guess\" is the likeliest of several, the "
		"others "
		"follow. `whatis -v NAME` shows what speaks for it. A variable whose type nobody "
		"knows is shown as words; cast it: (struct foo)name, or *(struct foo *)&name.\n"
		"\n"
		"Parts of a value that are not in the dump are shown as <excluded>, <unmapped> or "
		"<truncated> in their places.",
	.options = { { 'x', "hex", NULL, 0, "numbers in hexadecimal" },
		     { 'd', "depth", "LEVELS", OPERAND_NUMBER,
		       "show so many levels of nested structs and arrays" } },
	.operands = { { .name = "EXPRESSION", .kind = OPERAND_EXPRESSION, .rest = true } },
	.examples = examples,
	.needs = NEEDS_BTF,
	.run = print_run,
};
