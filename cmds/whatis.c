// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/command/command.h"
#include "debugger/show/function_instance.h"
#include "debugger/show/types_named.h"

#include "base/array.h"
#include "debugger/declare/declare.h"
#include "debugger/eval/value.h"
#include "debugger/infer/infer.h"
#include "debugger/infer/known/declared_length.h"
#include "debugger/infer/symbol_type.h"
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

static bool is_plain_name(const char *text)
{
	return text[strspn(text,
			   "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.")] ==
	       0;
}

static void show_origin(struct out *out, const struct value *value)
{
	const char *confidence = origin_confidence_name(value->origin);
	const char *remark = origin_remark(value->origin);
	out_string_as(out, "origin", origin_data_name(value->origin), "");
	if (confidence)
		out_string_as(out, "confidence", confidence, "");
	if (value->origin == ORIGIN_KERNEL || value->origin == ORIGIN_MODULE ||
	    value->origin == ORIGIN_CERTAIN)
		remark = type_origin_name(value->origin);
	bool is_at_most = value->type.btf && value_length_is_open(value);
	if (value->origin == ORIGIN_GUESSED)
		out_style(out, OUT_GUESS);
	if (remark)
		out_text(out, "  // %s", remark);
	if (is_at_most)
		out_text(out, "%s %s", remark ? "," : "  //",
			 verdict_length_remark(value->type, value->raw_size));
	out_style(out, OUT_PLAIN);
	if (is_at_most)
		out_bool_as(out, "at_most", true, "");
}

/* "struct task_struct init_task;" and on whose word. */
static void show_declaration(struct session *session, const char *text, const struct value *value)
{
	char spelled[512], declared[1024];
	struct out *out = session->out;
	out_object_begin(out, NULL);
	if (value->type.btf) {
		type_spell(value->type, NULL, spelled, sizeof(spelled));
		type_spell(value->type, is_plain_name(text) ? text : NULL, declared,
			   sizeof(declared));
		out_string_as(out, "type", spelled, declared);
		show_size(out, value->type);
		out_text(out, ";");
	} else {
		out_null_as(out, "type", "");
		out_u64_as(out, "size", value->raw_size, "");
		out_text(out, "%s: type unknown, %" PRIu64 " bytes up to the next symbol;", text,
			 value->raw_size);
	}
	show_origin(out, value);
	out_object_end(out);
	out_text(out, "\n");
}

/* --- evidence ------------------------------------------------------------------------------ */

#define PLACE_SIZE 640

static const char *const kind_names[] = {
	[CLUE_OBJECT] = "object",   [CLUE_VALUE] = "value", [CLUE_ACCESS] = "access",
	[CLUE_STRIDE] = "elements", [CLUE_SHAPE] = "looks", [CLUE_WHOLE] = "declared",
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
		char spelled[256] = "", place[PLACE_SIZE] = "", how[2 * PLACE_SIZE];
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

/* "holds another type at an offset: start_kernel+0x12" */
static void describe_reason(struct target *target, const char *why, uint64_t where, char *buffer,
			    size_t size)
{
	char place[PLACE_SIZE];
	if (!why)
		*buffer = 0;
	else if (where > 1 && target_describe(target, where, place, sizeof(place)))
		snprintf(buffer, size, "%s: %s", why, place);
	else
		snprintf(buffer, size, "%s", why);
}

static void show_rows(struct target *target, struct out *out, const struct typing *typing)
{
	static const struct column columns[] = {
		{ "kernels", "KERNELS", -25 },
		{ "type", "ROW OF THE SHIPPED TABLE", -32 },
		{ "said", "WHAT BECAME OF IT", -1 },
		{ "said_by", NULL, 0 },
	};
	if (!typing->row_count)
		return;
	out_table_begin(out, "rows", columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < typing->row_count; i++) {
		const struct listed_row *row = &typing->rows[i];
		char said[2 * PLACE_SIZE];
		describe_reason(target, row->said, row->said_by, said, sizeof(said));
		out_row_begin(out);
		out_string(out, "kernels", row->kernels);
		out_string(out, "type", row->type);
		out_string_as(out, "said", row->said, said);
		out_address(out, "said_by", row->said_by);
		out_row_end(out);
	}
	out_table_end(out);
	out_text(out, "\n");
}

static void show_candidates(struct target *target, struct out *out, const struct typing *typing)
{
	static const struct column columns[] = {
		{ "score", "SCORE", 6 },
		{ "type", "CANDIDATE", -32 },
		{ "rejected", "REJECTED", -1 },
		{ "rejected_by", NULL, 0 },
	};
	out_table_begin(out, "candidates", columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < typing->candidate_count; i++) {
		const struct candidate *candidate = &typing->candidates[i];
		char spelled[256], why[2 * PLACE_SIZE];
		describe_reason(target, candidate->rejected, candidate->rejected_by, why,
				sizeof(why));
		type_spell(candidate->type, NULL, spelled, sizeof(spelled));
		out_row_begin(out);
		out_i64(out, "score", candidate->score);
		out_string(out, "type", spelled);
		out_string_as(out, "rejected", candidate->rejected ? candidate->rejected : "", why);
		out_address(out, "rejected_by", candidate->rejected_by);
		out_row_end(out);
	}
	out_table_end(out);
}

/*
 * A declaration next to what inference found. The program's own list is one source; where inference
 * agrees with it the type is certain.
 */
static void show_declared(struct out *out, const struct verdict *verdict)
{
	char spelled[512];
	const struct statement *declared = &verdict->declared, *inferred = &verdict->inferred;
	bool is_known = origin_confidence(inferred->origin) >= CONFIDENCE_INFERRED;
	bool agrees = inferred->type.btf && verdict_is_same_type(declared->type, inferred->type);
	type_spell(declared->type, NULL, spelled, sizeof(spelled));
	out_object_begin(out, "declared");
	out_text(out, "%s: ",
		 declared->origin == ORIGIN_USER ? "declared by --declare"
						 : "declared by btfcrash's list");
	out_string(out, "type", spelled);
	out_bool_as(out, "agrees", agrees,
		    agrees     ? ", as inferred"
		    : is_known ? ", CONFLICT with what is inferred"
			       : ", nothing speaks for or against it");
	out_object_end(out);
	out_text(out, "\n");
}

/* Whether an enumerator says how long the array is that the kernel's variable is. */
static bool has_declared_length(struct target *target, const struct symbol *symbol,
				const struct verdict *verdict, struct declared_length *ret)
{
	struct btf_type record;
	return !symbol->module && !verdict->at_most && verdict->type.btf &&
	       type_get_resolved(verdict->type, &record) && record.kind == BTF_ARRAY &&
	       record.array_count &&
	       record.array_count == declared_length(target->btf, symbol->name, ret);
}

/* "as long as OID__NR + 1, " */
static void show_declared_length(struct out *out, const struct declared_length *length)
{
	char text[96];
	int end = snprintf(text, sizeof(text), "%s", length->enumerator);
	if (length->more)
		snprintf(text + end, sizeof(text) - (size_t)end, " + %" PRIu32, length->more);
	out_text(out, "as long as ");
	out_string(out, "length_by", text);
	out_text(out, ", ");
}

/* The headline: the type that counts, how sure it is, how much room there is. */
static void show_verdict(struct target *target, struct out *out, const struct symbol *symbol,
			 const struct verdict *verdict)
{
	char declared[1024], spelled[512];
	enum confidence confidence = origin_confidence(verdict->origin);
	const char *remark = origin_remark(verdict->origin);
	struct declared_length length;
	snprintf(declared, sizeof(declared), "%s", symbol->name);
	if (verdict->type.btf) {
		type_spell(verdict->type, symbol->name, declared, sizeof(declared));
		type_spell(verdict->type, NULL, spelled, sizeof(spelled));
	}
	out_string(out, "declaration", declared);
	if (verdict->type.btf)
		out_string_as(out, "type", spelled, "");
	else
		out_null_as(out, "type", "");
	out_string_as(out, "origin", origin_data_name(verdict->origin), "");
	out_text(out, "  // ");
	if (confidence == CONFIDENCE_GUESS)
		out_style(out, OUT_GUESS);
	out_string_as(out, "confidence", confidence_name(confidence),
		      remark ? remark : confidence_name(confidence));
	out_style(out, OUT_PLAIN);
	out_text(out, ", ");
	if (has_declared_length(target, symbol, verdict, &length))
		show_declared_length(out, &length);
	if (verdict->at_most) {
		out_bool_as(out, "at_most", true, "");
		out_text(out, "%s, ", verdict_length_remark(verdict->type, symbol->size));
	}
	out_u64(out, "room", symbol->size);
	out_text(out, symbol->size_exact ? " bytes\n" : " bytes up to the next symbol\n");
}

static struct error *show_evidence(struct session *session, const char *text)
{
	struct target *target = session->target;
	struct out *out = session->out;
	struct symbol symbol;
	struct typing typing;
	struct verdict verdict;
	struct value value;
	TRY(expression_type(&session->scope, text, &value));
	/* What BTF itself types, functions and per-CPU variables too, needs no evidence. */
	if (value.origin == ORIGIN_KERNEL || value.origin == ORIGIN_MODULE) {
		show_declaration(session, text, &value);
		return NULL;
	}
	if (!value.is_symbol)
		return error_create(ERROR_NOT_FOUND, "\"%s\" is no variable: -v takes one", text);
	symtab_get(target->symbols, value.symbol, &symbol);
	TRY(infer_symbol(target, NULL, &symbol, true, &typing));
	struct error *error = verdict_of_typing(target, &symbol, &typing, false, &verdict);
	if (error) {
		typing_deinit(&typing);
		return error;
	}
	out_object_begin(out, NULL);
	show_verdict(target, out, &symbol, &verdict);
	if (verdict.declared.origin == ORIGIN_USER || verdict.declared.origin == ORIGIN_DECLARED)
		show_declared(out, &verdict);
	out_text(out, "\n");
	show_clues(target, out, &typing);
	out_text(out, "\n");
	show_rows(target, out, &typing);
	show_candidates(target, out, &typing);
	out_object_end(out);
	typing_deinit(&typing);
	return NULL;
}

/* --- functions of a name -------------------------------------------------------------------- */

struct instances {
	unsigned int functions; /* without clones */
	bool is_refuted;	/* one has no prototype that it could have */
};

static struct error *count_instance(void *context, const struct function_instance *instance)
{
	struct instances *instances = context;
	instances->functions += !instance->is_clone;
	instances->is_refuted |= !instance->is_clone && instance->refuted &&
				 instance->proof == INSTANCE_UNPROVED;
	return NULL;
}

/* Several functions have the name, or the only one is not what BTF has under it: lists them. */
static struct error *show_functions(struct session *session, const char *name, bool *ret_shown)
{
	struct instances instances = { 0 };
	*ret_shown = false;
	if (!is_plain_name(name))
		return NULL;
	TRY(function_instances(session->target, name, count_instance, &instances));
	if (instances.functions < 2 && !instances.is_refuted)
		return NULL;
	*ret_shown = true;
	out_array_begin(session->out, NULL);
	struct error *error =
		function_instances(session->target, name, function_instance_show, session);
	out_array_end(session->out);
	return error;
}

/* Of an expression that has a type. */
static struct error *show_value(struct session *session, const char *text,
				const struct value *value)
{
	struct btf_type record;
	bool is_shown = false;
	if (value->type.btf && type_get_resolved(value->type, &record) &&
	    record.kind == BTF_FUNC_PROTO)
		TRY(show_functions(session, text, &is_shown));
	if (!is_shown)
		show_declaration(session, text, value);
	return NULL;
}

/* "struct irq_info": if several different types have the name, shows all of them. */
static struct error *show_namesakes(struct session *session, const char *text, bool *ret_shown)
{
	static const struct btf_layout_style plain;
	struct types_named types = { .kind = BTF_STRUCT };
	*ret_shown = false;
	if (!types_named_parse(&types, text) || types.paths)
		return NULL;
	error_free(types_named_find(&types, session->target));
	*ret_shown = types.count > 1;
	return *ret_shown ? types_named_write(&types, &plain, session->out) : NULL;
}

static bool begins_with_tag(const char *text)
{
	return type_tag_skip(&text) != BTF_VOID;
}

/* A type that only a module has, or whose keyword was left out. */
static bool find_type(struct target *target, const char *text, struct type *ret)
{
	static const char *const keywords[] = { "", "struct ", "union ", "enum " };
	char name[512];
	for (size_t i = 0; i < ARRAY_COUNT(keywords); i++) {
		snprintf(name, sizeof(name), "%s%s", keywords[i], text);
		struct error *error = declare_parse_type(target, NULL, name, NULL, ret);
		error_free(error);
		if (!error)
			return true;
	}
	return false;
}

static struct error *whatis_run(struct session *session, const struct arguments *arguments)
{
	const char *text = arguments->operands[0];
	struct target *target = session->target;
	struct type type;
	struct value value;
	bool is_shown;
	if (arguments->options[0])
		return show_evidence(session, text);
	if (begins_with_tag(text)) {
		TRY(show_namesakes(session, text, &is_shown));
		if (is_shown)
			return NULL;
		TRY(declare_parse_type(target, NULL, text, NULL, &type));
		return show_definition(session, type);
	}
	if (declare_is_type(target, NULL, text, &type))
		return show_definition(session, type);
	struct error *error = expression_type(&session->scope, text, &value);
	if (!error)
		return show_value(session, text, &value);
	struct error *not_function = show_functions(session, text, &is_shown);
	if (is_shown || not_function) {
		error_free(error);
		return not_function;
	}
	if (!find_type(target, text, &type))
		return error;
	error_free(error);
	return show_definition(session, type);
}

static const char *const examples[] = { "whatis init_task", "whatis struct list_head",
					"whatis pid_t", "whatis init_task.tasks.next", NULL };

const struct command command_whatis = {
	.name = "whatis",
	.summary = "show the type of an expression or the definition of a type",
	.description =
		"For a variable or an expression: its type, and who says so (the kernel's "
		"BTF, a module's, a declaration). For a type's name: its definition. Of "
		"functions that have one name, all are listed, as by sym -f; of types, as by "
		"struct. With -v: what speaks for a variable's type, in three lists. Clues are "
		"what code, the kernel's tables and the variable's bytes say; rows are what its "
		"name is in the kernels of the table that btfcrash carries; candidates are the "
		"types that were compared, with their points, the answer first.",
	.options = { { 'v', "verbose", NULL, OPERAND_WORD, "the evidence for a variable's type" } },
	.operands = { { .name = "EXPRESSION|TYPE", .kind = OPERAND_EXPRESSION, .rest = true } },
	.examples = examples,
	.needs = NEEDS_BTF,
	.per_task = true,
	.run = whatis_run,
};
