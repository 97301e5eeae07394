// SPDX-License-Identifier: GPL-3.0-or-later
#include "cmds/command.h"

#include "debugger/declare/declare.h"
#include "debugger/eval/value.h"
#include "debugger/infer/infer.h"
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
	if (value->type.btf && value_fills_room(value))
		out_text(out, ", at most so long");
	out_object_end(out);
	out_text(out, "\n");
}

/* --- evidence ------------------------------------------------------------------------------ */

#define PLACE_SIZE 640

static const char *const kind_names[] = {
	[CLUE_OBJECT] = "object",   [CLUE_VALUE] = "value", [CLUE_ACCESS] = "access",
	[CLUE_STRIDE] = "elements", [CLUE_SHAPE] = "looks", [CLUE_WHOLE] = "declared",
	[CLUE_HINT] = "table",
};
static const char *const source_names[] = {
	[SOURCE_CODE] = "code",	      [SOURCE_TABLE] = "table", [SOURCE_DATA] = "data",
	[SOURCE_POINTER] = "pointer", [SOURCE_SLAB] = "slab",	[SOURCE_NAME] = "name",
	[SOURCE_HINTS] = "hints",
};

static void show_clues(struct target *target, struct out *out, const struct typing *typing)
{
	static const struct column columns[] = {
		{ "offset", "OFFSET", 6 }, { "kind", "CLUE", -8 },   { "type", "TYPE", -28 },
		{ "size", "SIZE", 6 },	   { "source", "FROM", -7 }, { "how", "HOW", -1 },
		{ "where", NULL, 0 },
	};
	out_table_begin(out, "clues", columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < typing->clues.count; i++) {
		const struct clue *clue = &typing->clues.items[i];
		char spelled[256] = "", place[PLACE_SIZE] = "", how[PLACE_SIZE];
		if (clue->type.btf)
			type_spell(clue->type, NULL, spelled, sizeof(spelled));
		if (clue->where && !target_describe(target, clue->where, place, sizeof(place)))
			snprintf(place, sizeof(place), "0x%" PRIx64, clue->where);
		snprintf(how, sizeof(how), "%s%s%s", clue->how ? clue->how : "", *place ? ": " : "",
			 place);
		out_row_begin(out);
		out_u64(out, "offset", clue->offset);
		out_string(out, "kind", kind_names[clue->kind]);
		out_string(out, "type", spelled);
		out_u64(out, "size", clue->size);
		out_string(out, "source", source_names[clue->source]);
		out_string_as(out, "how", clue->how ? clue->how : "", how);
		out_address(out, "where", clue->where);
		out_row_end(out);
	}
	out_table_end(out);
}

static void show_candidates(struct target *target, struct out *out, const struct typing *typing)
{
	static const struct column columns[] = {
		{ "score", "SCORE", 6 },
		{ "type", "CANDIDATE", -32 },
		{ "rejected", "REJECTED", -1 },
		{ "rejected_by", NULL, 0 },
	};
	(void)target;
	out_table_begin(out, "candidates", columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < typing->candidate_count; i++) {
		const struct candidate *candidate = &typing->candidates[i];
		char spelled[256];
		type_spell(candidate->type, NULL, spelled, sizeof(spelled));
		out_row_begin(out);
		out_i64(out, "score", candidate->score);
		out_string(out, "type", spelled);
		out_string(out, "rejected", candidate->rejected ? candidate->rejected : "");
		out_address(out, "rejected_by", candidate->rejected_by);
		out_row_end(out);
	}
	out_table_end(out);
}

static struct error *show_evidence(struct session *session, const char *name)
{
	struct target *target = session->target;
	struct out *out = session->out;
	struct symbol symbol;
	struct typing typing;
	char declared[1024];
	uint64_t cursor = 0;
	if (!target_find_symbol(target, NULL, name, &cursor, &symbol))
		return error_create(ERROR_NOT_FOUND, "no symbol \"%s\"", name);
	/* What BTF itself types, functions and per-CPU variables too, needs no evidence. */
	struct value value;
	TRY(expression_type(target, name, &value));
	if (value.origin == ORIGIN_KERNEL || value.origin == ORIGIN_MODULE) {
		show_declaration(session, name, &value);
		return NULL;
	}
	TRY(infer_symbol(target, NULL, &symbol, true, &typing));
	snprintf(declared, sizeof(declared), "%s", symbol.name);
	if (typing.type.btf)
		type_spell(typing.type, symbol.name, declared, sizeof(declared));
	out_object_begin(out, NULL);
	out_string(out, "declaration", declared);
	out_text(out, "  // ");
	out_string(out, "confidence", confidence_name(typing.confidence));
	out_text(out, ", ");
	out_u64(out, "room", symbol.size);
	out_text(out, " bytes up to the next symbol\n\n");
	show_clues(target, out, &typing);
	out_text(out, "\n");
	show_candidates(target, out, &typing);
	out_object_end(out);
	typing_deinit(&typing);
	return NULL;
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
	if (arguments->options[0])
		return show_evidence(session, text);
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
	.options = { { 'v', "verbose", NULL, OPERAND_WORD, "the evidence for a variable's type" } },
	.operands = { { .name = "EXPRESSION|TYPE", .kind = OPERAND_EXPRESSION, .rest = true } },
	.examples = examples,
	.needs = NEEDS_BTF,
	.run = whatis_run,
};
