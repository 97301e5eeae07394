// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/command/print_options.h"

#include "base/array.h"
#include "base/ascii.h"
#include "debugger/eval/selection.h"
#include "debugger/eval/value.h"
#include "debugger/eval/variables.h"
#include "debugger/infer/symbol_type.h"
#include "debugger/show/member.h"
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
	const char *text; /* of the expression, without the members */
	struct selection members;
	struct render_options options;
};

/*
 * "init_task.mm", "runqueues:0.curr->pid": what can stand where a declaration has its name. With an
 * index it could not be told from an array's declaration.
 */
static bool is_path(const char *text)
{
	if (!ascii_is_alpha(*text) && *text != '_')
		return false;
	for (const char *at = text; *at; at++) {
		bool arrow = at[0] == '-' && at[1] == '>';
		if (arrow)
			at++;
		else if (!ascii_is_alnum(*at) && !strchr("_.:@", *at))
			return false;
	}
	return true;
}

/* "struct task_struct init_task = " or "(int)"; for data, the type alone. */
static void show_type(const struct printing *printing, const struct value *value, bool one_of_many)
{
	struct out *out = printing->session->out;
	bool declares = value->in_memory && !one_of_many && is_path(printing->text);
	char type[1024];
	if (!value->type.btf) {
		if (value->in_memory)
			out_text(out, "%s = ", printing->text);
		out_null_as(out, "type", "");
	} else if (!out_is_text(out)) {
		type_spell(value->type, NULL, type, sizeof(type));
		out_string(out, "type", type);
	} else if (declares) {
		type_spell(value->type, printing->text, type, sizeof(type));
		out_text(out, "%s = ", type);
	} else {
		type_spell(value->type, NULL, type, sizeof(type));
		out_text(out, "(%s)", type);
	}
}

/* A comment that says on whose word the type is what it is, when it is not the kernel's own. */
static void show_origin(struct out *out, const struct value *value)
{
	if (value->origin == ORIGIN_GUESSED)
		out_style(out, OUT_GUESS);
	if (value->in_memory && !value->type.btf && value->raw_size)
		out_text(out, "  // type unknown, %" PRIu64 " bytes up to the next symbol",
			 value->raw_size);
	else if (value->in_memory && !value->type.btf)
		out_text(out, "  // type unknown");
	else if (origin_remark(value->origin))
		out_text(out, "  // %s", origin_remark(value->origin));
	if (value_length_is_open(value))
		out_text(out, "%s %s", value->origin == ORIGIN_CERTAIN ? "  //" : ",",
			 verdict_length_remark(value->type, value->raw_size));
	out_style(out, OUT_PLAIN);
	out_text(out, "\n");
}

static void show_data(struct out *out, const struct value *value)
{
	const char *confidence = origin_confidence_name(value->origin);
	out_string_as(out, "origin", origin_data_name(value->origin), "");
	if (confidence)
		out_string_as(out, "confidence", confidence, "");
}

static void show_alternatives(const struct printing *printing, const struct value *value)
{
	struct target *target = printing->session->target;
	struct out *out = printing->session->out;
	struct type types[ALTERNATIVES];
	struct symbol symbol;
	symtab_get(target->symbols, value->symbol, &symbol);
	size_t count = verdict_alternatives(target, &symbol, value->type, types, ALTERNATIVES);
	out_array_begin(out, "alternatives");
	for (size_t i = 0; i < count; i++) {
		char type[512];
		type_spell(types[i], NULL, type, sizeof(type));
		out_text(out, i ? ", " : "// or: ");
		out_string(out, NULL, type);
	}
	out_array_end(out);
	if (count)
		out_text(out, "\n");
}

/* "{ .comm = ..., .pid = ... }" of the members that were chosen. */
static struct error *show_members(struct printing *printing, const struct value *value)
{
	struct out *out = printing->session->out;
	struct render_options options = printing->options;
	struct error *error = NULL;
	size_t depth = out_depth(out);
	options.indent++;
	out_object_begin(out, "value");
	out_text(out, "{");
	for (size_t i = 0; i < printing->members.count && !error; i++) {
		const char *path = printing->members.paths[i];
		out_text(out, options.one_line ? " .%s = " : "\n\t.%s = ", path);
		error = member_show(printing->session, value, &printing->members, i, path, &options,
				    false);
		out_text(out, ",");
	}
	out_text(out, options.one_line ? " }" : "\n}");
	out_finish_to(out, depth);
	return error;
}

static struct error *show_whole(const struct printing *printing, const struct value *value)
{
	struct out *out = printing->session->out;
	struct error *error = value_render(out, "value", value, &printing->options);
	if (error && error_is_missing(error))
		out_missing(out, "value", error);
	else if (error)
		out_null_as(out, "value", "<error>");
	return error;
}

/* What a pipe is told: an object has its own address, a pointer that of what it points to. */
static void name_item(struct out *out, const struct value *value)
{
	struct btf_type record;
	struct type type = value->type;
	uint64_t address = value->address;
	if (!out_takes_items(out))
		return;
	bool is_typed = value_record(value, &record);
	if (is_typed && record.kind == BTF_PTR) {
		struct error *error = value_u64(value, &address);
		bool is_bad = error || !address;
		error_free(error);
		if (is_bad || !type_target(value->type, &type))
			return;
	} else if (!value->in_memory) {
		return;
	}
	if (!is_typed)
		type.btf = NULL;
	out_item(out,
		 &(struct out_item){ .address = address, .btf = type.btf, .type_id = type.id });
}

static struct error *show_value(struct printing *printing, const struct value *value,
				bool one_of_many)
{
	struct out *out = printing->session->out;
	struct btf_type record;
	struct value object = *value;
	bool is_chosen = printing->members.count != 0;
	/* Members are those of what a pointer leads to. */
	if (is_chosen && value_record(value, &record) && record.kind == BTF_PTR)
		TRY(value_follow(value, &object));
	name_item(out, value);
	show_type(printing, &object, one_of_many || object.address != value->address);
	show_data(out, &object);
	if (object.in_memory)
		out_address_as(out, "address", object.address + object.bit_offset / 8, "");
	struct error *error = is_chosen ? show_members(printing, &object)
					: show_whole(printing, &object);
	show_origin(out, &object);
	if (object.origin == ORIGIN_GUESSED && object.is_symbol)
		show_alternatives(printing, &object);
	return error;
}

/* Which of several results it is: "[CPU]" and "[INDEX]" of each slice. */
static void show_label(struct out *out, const struct expression_result *result)
{
	char label[32];
	if (result->has_cpu) {
		snprintf(label, sizeof(label), "[%u]", result->cpu);
		out_u64_as(out, "cpu", result->cpu, label);
	}
	if (result->index_count)
		out_array_begin(out, "index");
	for (size_t i = 0; i < result->index_count; i++) {
		snprintf(label, sizeof(label), "[%" PRId64 "]", result->indices[i]);
		const struct out_integer index = { (uint64_t)result->indices[i], 64, true };
		out_integer_as(out, NULL, &index, label);
	}
	if (result->index_count)
		out_array_end(out);
	if (result->has_cpu || result->index_count)
		out_text(out, ": ");
}

static struct error *show_result(void *context, const struct expression_result *result)
{
	struct printing *printing = context;
	struct out *out = printing->session->out;
	if (result->note)
		out_text(out, "// %s\n", result->note);
	out_object_begin(out, NULL);
	if (result->note)
		out_string_as(out, "note", result->note, "");
	bool is_several = result->has_cpu || result->index_count;
	show_label(out, result);
	struct error *error = NULL;
	uint64_t number;
	if (result->value) {
		error = show_value(printing, result->value, is_several);
		if (!error)
			error = variables_add_result(printing->session->scope.variables,
						     result->value, &number);
	} else {
		out_missing(out, "value", result->error);
		out_text(out, "\n");
	}
	out_object_end(out);
	/* What one CPU or element lacks stands in its place. */
	if (error && is_several && error_is_missing(error)) {
		error_free(error);
		return NULL;
	}
	return error;
}

static struct error *print_all(struct printing *printing)
{
	struct session *session = printing->session;
	enum slice_meaning slice = printing->members.count ? SLICE_ELEMENTS : SLICE_ARRAY;
	bool several = expression_has_several(&session->scope, printing->text, slice);
	if (several && printing->members.count)
		printing->options.one_line = true;
	if (several)
		out_array_begin(session->out, NULL);
	struct error *error =
		expression_evaluate(&session->scope, printing->text, slice, show_result, printing);
	if (several)
		out_array_end(session->out);
	return error;
}

/* A format of gdb's that is none here: "t", "8x". */
static struct error *no_format(const char *format)
{
	static const struct {
		char letter;
		const char *hint;
	} hints[] = {
		{ 't', "; of /x each digit is four bits" },
		{ 'c', "; `print (char)NUMBER` is a character, `rd -a ADDRESS` memory as text" },
		{ 's', "; `rd -a ADDRESS` shows memory as text" },
		{ 'i', "; `dis ADDRESS` shows instructions" },
		{ 'f', "; numbers with a fraction are not known here" },
	};
	int length = (int)strcspn(format, " \t");
	const char *hint =
		isdigit((unsigned char)*format) ? "; `rd ADDRESS COUNT` shows memory as words" : "";
	for (size_t i = 0; i < ARRAY_COUNT(hints); i++)
		if (hints[i].letter == *format)
			hint = hints[i].hint;
	return error_create(ERROR_USAGE, "there are /x, /d and /o, not /%.*s%s", length, format,
			    hint);
}

static struct error *print_run(struct session *session, const struct arguments *arguments)
{
	struct printing printing = { .session = session, .options = session->render };
	TRY(print_options(&command_print, arguments, &printing.options));
	const char *text = print_format(arguments->operands[0], &printing.options);
	const char *members = selection_find(text);
	if (members == text)
		return error_create(ERROR_USAGE, "members of what? EXPRESSION{A, B}");
	if (*text == '/' && ascii_is_alnum(text[1]))
		return no_format(text + 1);
	if (members)
		TRY(selection_parse(members, NULL, &printing.members));
	char *expression = strndup(text, members ? (size_t)(members - text) : strlen(text));
	if (expression)
		for (size_t end = strlen(expression);
		     end && isspace((unsigned char)expression[end - 1]);)
			expression[--end] = 0;
	printing.text = expression;
	struct error *error = expression ? print_all(&printing) : error_no_memory();
	free(expression);
	selection_deinit(&printing.members);
	return error;
}

static const char *const examples[] = {
	"print init_task.comm",
	"print init_task.tasks.next",
	"print &init_task",
	"print runqueues:0.nr_running",
	"print runqueues:a.curr->comm",
	"print sizeof(struct task_struct)",
	"print -x (unsigned long)&init_task >> 12",
	"print init_task{comm, pid, se{load, vruntime}, real_parent->comm}",
	"print init_task{pid, prio - 100, se.load.weight >> 10}",
	"print -z -t init_task.se",
	"print -O -r init_task.cred->usage",
	NULL
};

const struct command command_print = {
	.name = "print",
	.alias = "p",
	.summary = "evaluate a C expression and print its value",
	.description =
		"Expressions are C's, without assignments and calls: variables, members (. and -> "
		"do the same), array elements, * and &, casts to any C type, sizeof, offsetof, "
		"container_of, typeof, constants, strings, enumerators, arithmetic, comparisons, "
		"?: and pointer arithmetic.\n"
		"\n"
		"NAME:CPU is a per-CPU variable on one CPU, NAME:a on all of them; "
		"per_cpu(NAME, CPU) and per_cpu_ptr(POINTER, CPU) compute the CPU. MODULE:NAME is "
		"a module's variable. Of several symbols that are called NAME, NAME@ADDRESS picks "
		"one. `current` is the task of the CPU that panicked, current:CPU another's.\n"
		"\n"
		"ARRAY[0..9] is the array of ten elements, both ends included; with more behind "
		"it, ARRAY[0..9].member, each element has a result of its own. == compares text "
		"in memory with a string (comm == \"init\"), and two structs. $ is the last "
		"result, $NAME a variable or a register: see `help set`.\n"
		"\n"
		"A comment after the value says where the type is from, unless that is certain: "
		"\"declared\" is from the list of declarations that comes with btfcrash or from "
		"--declare, checked against size and BTF; \"inferred\" is from the kernel's code "
		"and data, without contradiction; \"guess\" is the likeliest of several, the "
		"others "
		"follow. `whatis -v NAME` shows what speaks for it. A variable whose type nobody "
		"knows is shown as words; cast it: (struct foo)name, or *(struct foo *)&name.\n"
		"\n"
		"EXPRESSION{A, B} shows these members alone: paths such as mm->owner->comm, and "
		"mm{a, b} for several of one, and expressions in which these names may be used: "
		"{pid, mm->total_vm * 4, comm == \"init\"}. Behind a pipe `print {A, B}` makes a "
		"table.\n"
		"\n"
		"Well-known structs are shown in a few words: numbers of atomics and "
		"reference counts, the state and the owner of locks, the ends of lists, sets of "
		"CPUs. -r shows them, and all else, as they are: what JSON has.\n"
		"\n"
		"Flags of pages, VMAs and allocations (gfp_t) have their names behind the number, "
		"out of the kernel's own tables; those of tasks are \"declared\": the PF_ flags "
		"that no release has moved. In JSON they are in a member of their own, "
		"\"flags_names\" beside \"flags\".\n"
		"\n"
		"Parts of a value that are not in the dump are shown as <excluded>, <unmapped> or "
		"<truncated> in their places.",
	.options = { { 'x', "hex", NULL, 0, "numbers in hexadecimal" },
		     { 'o', "octal", NULL, 0, "numbers in octal" },
		     { 'D', "decimal", NULL, 0, "numbers in decimal" },
		     { 'd', "depth", "LEVELS", OPERAND_NUMBER,
		       "show so many levels of nested structs and arrays; 0: all" },
		     { 'a', "array", "COUNT", OPERAND_NUMBER,
		       "show so many elements of an array; 0: all" },
		     { 's', "string", "BYTES", OPERAND_NUMBER,
		       "show so many bytes of a string; 0: all" },
		     { 'z', "hide-zero", NULL, 0, "leave out members that are all zero" },
		     { 't', "types", NULL, 0, "show the type of each member" },
		     { 'O', "offsets", NULL, 0, "show the offset of each member, in bytes" },
		     { 'r', "raw", NULL, 0, "no short forms, enumerators or symbols" } },
	.operands = { { .name = "EXPRESSION", .kind = OPERAND_EXPRESSION, .rest = true } },
	.examples = examples,
	.needs = NEEDS_BTF,
	.per_task = true,
	.makes_table = true,
	.run = print_run,
};
