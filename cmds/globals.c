// SPDX-License-Identifier: GPL-3.0-or-later
#include "cmds/command.h"

#include "debugger/declare/declare.h"
#include "debugger/infer/infer.h"
#include "debugger/target/object.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

extern const struct command command_globals;

enum { OPTION_MODULE, OPTION_TYPE, OPTION_TIER, OPTION_CONTAINS, OPTION_NO_HINTS, OPTION_WITHOUT };

static const struct column columns[] = {
	{ "address", "ADDRESS", 16 },  { "room", "ROOM", 7 }, { "confidence", "TIER", -8 },
	{ "name", "DECLARATION", -1 }, { "type", NULL, 0 },   { "origin", NULL, 0 },
	{ "module", NULL, 0 },	       { "score", NULL, 0 },  { "margin", NULL, 0 },
	{ "sources", NULL, 0 },
};

struct listing {
	struct out *out;
	const char *module, *tier;
	struct type type, contains; /* { NULL, 0 }: any */
};

#define DEPTH_MAX  12
#define VISITS_MAX 20000

/* Is it that type, an array of it, or does it have a member that is? Not through pointers. */
static bool contains(struct type type, struct type wanted, int depth, unsigned int *visits)
{
	struct btf_type record;
	struct btf_member member;
	struct type element;
	if (depth > DEPTH_MAX || ++*visits > VISITS_MAX)
		return false;
	if (type_equal(type_resolve(type), wanted))
		return true;
	if (!type_get_resolved(type, &record))
		return false;
	if (record.kind == BTF_ARRAY)
		return type_target(type, &element) && contains(element, wanted, depth + 1, visits);
	if (record.kind != BTF_STRUCT && record.kind != BTF_UNION)
		return false;
	for (uint32_t i = 0; btf_member(&record, i, &member); i++) {
		struct type inner = { type.btf, member.type };
		if (contains(inner, wanted, depth + 1, visits))
			return true;
	}
	return false;
}

/* "struct list_head", "mutex" for "struct mutex". */
static struct error *parse_wanted(struct target *target, const char *text, struct type *ret)
{
	char tagged[256];
	struct error *error = declare_parse_type(target, NULL, text, NULL, ret);
	if (error) {
		snprintf(tagged, sizeof(tagged), "struct %s", text);
		struct error *second = declare_parse_type(target, NULL, tagged, NULL, ret);
		if (second) {
			error_free(second);
			return error;
		}
		error_free(error);
	}
	*ret = type_resolve(*ret);
	return NULL;
}

static bool is_wanted(const struct listing *listing, const struct symbol *symbol,
		      const struct typing *typing)
{
	if (listing->tier && strcmp(listing->tier, confidence_name(typing->confidence)))
		return false;
	if (listing->module && strcmp(listing->module, symbol->module ? symbol->module : "vmlinux"))
		return false;
	struct type type = typing->type;
	struct type element;
	unsigned int visits = 0;
	if (listing->contains.btf && (!type.btf || !contains(type, listing->contains, 0, &visits)))
		return false;
	if (!listing->type.btf)
		return true;
	if (!type.btf)
		return false;
	struct btf_type record;
	bool is_array = type_get_resolved(type, &record) && record.kind == BTF_ARRAY;
	return type_equal(type_resolve(type), listing->type) ||
	       (is_array && type_target(type, &element) &&
		type_equal(type_resolve(element), listing->type));
}

static struct error *show(void *context, const struct subject *subject, const struct symbol *symbol,
			  const struct typing *typing)
{
	const struct listing *listing = context;
	char spelled[512] = "", declared[1024];
	if (!is_wanted(listing, symbol, typing))
		return NULL;
	struct out *out = listing->out;
	snprintf(declared, sizeof(declared), "%s", symbol->name);
	if (typing->type.btf) {
		type_spell(typing->type, NULL, spelled, sizeof(spelled));
		type_spell(typing->type, symbol->name, declared, sizeof(declared));
	}
	out_row_begin(out);
	out_address(out, "address", subject->address);
	out_u64(out, "room", subject->room);
	out_string(out, "confidence", confidence_name(typing->confidence));
	out_string_as(out, "name", symbol->name, declared);
	out_string(out, "type", spelled);
	out_string(out, "origin", type_origin_name(typing->origin));
	out_string(out, "module", symbol->module ? symbol->module : "");
	out_i64(out, "score", typing->score);
	out_i64(out, "margin", typing->margin);
	out_u64(out, "sources", typing->sources);
	out_row_end(out);
	return NULL;
}

/* What would only give an empty table is an error before the seconds are spent. */
static struct error *check_words(struct target *target, const char *module, const char *tier)
{
	bool is_tier = !tier;
	for (int i = CONFIDENCE_UNKNOWN; i <= CONFIDENCE_CERTAIN; i++)
		is_tier |= tier && !strcmp(tier, confidence_name((enum confidence)i));
	if (!is_tier)
		return error_create(ERROR_USAGE,
				    "no tier \"%s\": certain, inferred, guess or unknown", tier);
	if (module && strcmp(module, "vmlinux") && !target_module(target, module))
		return error_create(ERROR_NOT_FOUND, "no module \"%s\" is loaded", module);
	return NULL;
}

static struct error *globals_run(struct session *session, const struct arguments *arguments)
{
	struct target *target = session->target;
	struct listing listing = { .out = session->out,
				   .module = arguments->options[OPTION_MODULE],
				   .tier = arguments->options[OPTION_TIER] };
	TRY(check_words(target, listing.module, listing.tier));
	if (arguments->options[OPTION_TYPE])
		TRY(parse_wanted(target, arguments->options[OPTION_TYPE], &listing.type));
	if (arguments->options[OPTION_CONTAINS])
		TRY(parse_wanted(target, arguments->options[OPTION_CONTAINS], &listing.contains));
	struct infer_options options = { .no_hints = arguments->options[OPTION_NO_HINTS] != NULL,
					 .without = arguments->options[OPTION_WITHOUT] };
	if (!session->quiet && isatty(STDERR_FILENO))
		fputs("reading the code and data of the whole kernel, some seconds...\n", stderr);
	out_table_begin(session->out, NULL, columns, sizeof(columns) / sizeof(columns[0]));
	struct error *error = infer_all(target, &options, show, &listing);
	out_table_end(session->out);
	return error;
}

static const char *const examples[] = { "globals --tier certain", "globals -t 'struct list_head'",
					NULL };

const struct command command_globals = {
	.name = "globals",
	.summary = "list the global variables with their types",
	.description =
		"All data symbols with the types that BTF, tables of the kernel, its code and its "
		"data give them, and how sure that is.",
	.options = { { 'm', "module", "MODULE", OPERAND_MODULE,
		       "only of this module; vmlinux: the kernel" },
		     { 't', "type", "TYPE", OPERAND_TYPE, "only of this type" },
		     { 0, "tier", "TIER", OPERAND_WORD,
		       "only certain, inferred, guess or unknown" },
		     { 0, "contains", "TYPE", OPERAND_TYPE,
		       "only those with a member of this type" },
		     { 0, "no-hints", NULL, OPERAND_WORD,
		       "without the table of other kernels' globals" },
		     { 0, "without", "KERNEL", OPERAND_WORD,
		       "without that kernel's rows in the table, for scores" } },
	.examples = examples,
	.needs = NEEDS_BTF | NEEDS_MEMORY,
	.run = globals_run,
};
