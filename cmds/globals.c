// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/command/command.h"

#include "base/array.h"
#include "base/interrupt.h"
#include "debugger/command/arguments.h"
#include "debugger/declare/declare.h"
#include "debugger/infer/known/per_cpu.h"
#include "debugger/infer/solve/rules.h"
#include "debugger/infer/symbol_type.h"
#include "debugger/target/object.h"
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct command command_globals;

enum {
	OPTION_MODULE,
	OPTION_TYPE,
	OPTION_TIER,
	OPTION_CONTAINS,
	OPTION_NO_HINTS,
	OPTION_WITHOUT,
	OPTION_LESS,
	OPTION_THREADS,
	OPTION_SORT
};

static const struct column columns[] = {
	{ "address", "ADDRESS", 16 },  { "room", "ROOM", 7 },  { "confidence", "TIER", -8 },
	{ "name", "DECLARATION", -1 }, { "type", NULL, 0 },    { "origin", NULL, 0 },
	{ "module", NULL, 0 },	       { "per_cpu", NULL, 0 }, { "at_most", NULL, 0 },
	{ "score", NULL, 0 },	       { "margin", NULL, 0 },  { "sources", NULL, 0 },
};

/* A variable as it will be shown. */
struct row {
	uint64_t address, room;
	uint32_t symbol;
	struct type type;
	enum confidence confidence;
	enum type_origin origin;
	int score, margin;
	unsigned int sources;
	bool is_per_cpu;
	bool at_most; /* an array whose length nothing proves */
};

/* Whether a struct holds what is looked for, by its id. */
enum holding { HOLDING_UNKNOWN, HOLDING_NO, HOLDING_YES };
struct holdings {
	const struct btf *btf;
	uint32_t count;
	uint8_t *by_id;
};

struct listing {
	struct target *target;
	const char *module, *tier;
	struct type type, contains;  /* { NULL, 0 }: any */
	const char *const *patterns; /* of names, as in a shell; none: all */
	size_t pattern_count;
	bool undeclared; /* for scores: without the program's list */
	struct row *rows;
	size_t count, capacity;
	struct holdings *holdings; /* what was found out for `contains`, by level of BTF */
	size_t holdings_count, holdings_capacity;
};

#define DEPTH_MAX 128 /* structs within structs end long before; arrays of arrays may not */

static bool holds(struct listing *listing, struct type type, int depth);

/* Of a struct or union: each is gone through once for all globals. NULL: not kept. */
static uint8_t *holding_of(struct listing *listing, const struct btf_type *record)
{
	struct holdings *holdings = listing->holdings;
	size_t i = 0;
	while (i < listing->holdings_count && holdings[i].btf != record->btf)
		i++;
	if (i == listing->holdings_count) {
		if (!array_reserve(&listing->holdings, &listing->holdings_capacity, i + 1))
			return NULL;
		holdings = listing->holdings;
		holdings[i] = (struct holdings){ record->btf, btf_end_id(record->btf), NULL };
		holdings[i].by_id = calloc(holdings[i].count, 1);
		if (!holdings[i].by_id)
			return NULL;
		listing->holdings_count++;
	}
	return record->id < holdings[i].count ? &holdings[i].by_id[record->id] : NULL;
}

static bool any_holds(struct listing *listing, const struct btf_type *record, int depth)
{
	struct btf_member member;
	uint8_t *known = holding_of(listing, record);
	bool found = false;
	if (known && *known != HOLDING_UNKNOWN)
		return *known == HOLDING_YES;
	for (uint32_t i = 0; !found && btf_member(record, i, &member); i++)
		found = holds(listing, (struct type){ record->btf, member.type }, depth + 1);
	if (known)
		*known = found ? HOLDING_YES : HOLDING_NO;
	return found;
}

/* Is it the type looked for, an array of it, or has a member that is? Not through pointers. */
static bool holds(struct listing *listing, struct type type, int depth)
{
	struct btf_type record;
	struct type element;
	if (depth > DEPTH_MAX || interrupt_flag)
		return false;
	if (type_equal(type_resolve(type), listing->contains))
		return true;
	if (!type_get_resolved(type, &record))
		return false;
	if (record.kind == BTF_ARRAY)
		return type_target(type, &element) && holds(listing, element, depth + 1);
	if (record.kind != BTF_STRUCT && record.kind != BTF_UNION)
		return false;
	return any_holds(listing, &record, depth);
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

static bool has_name(const struct listing *listing, const char *name)
{
	for (size_t i = 0; i < listing->pattern_count; i++)
		if (!fnmatch(listing->patterns[i], name, 0))
			return true;
	return !listing->pattern_count;
}

static bool is_array(struct type type)
{
	struct btf_type record;
	return type.btf && type_get_resolved(type, &record) && record.kind == BTF_ARRAY;
}

static bool is_wanted(struct listing *listing, const struct row *row, const struct symbol *symbol)
{
	struct type element;
	if (listing->tier && strcmp(listing->tier, confidence_name(row->confidence)))
		return false;
	if (listing->module && strcmp(listing->module, symbol->module ? symbol->module : "vmlinux"))
		return false;
	if (!has_name(listing, symbol->name))
		return false;
	if (listing->contains.btf && (!row->type.btf || !holds(listing, row->type, 0)))
		return false;
	if (!listing->type.btf)
		return true;
	if (!row->type.btf)
		return false;
	return type_equal(type_resolve(row->type), listing->type) ||
	       (is_array(row->type) && type_target(row->type, &element) &&
		type_equal(type_resolve(element), listing->type));
}

/* --- rows ----------------------------------------------------------------------------------- */

static struct error *add_row(struct listing *listing, const struct row *row,
			     const struct symbol *symbol)
{
	bool wanted = is_wanted(listing, row, symbol);
	TRY(interrupt_check());
	if (!wanted)
		return NULL;
	if (!array_reserve(&listing->rows, &listing->capacity, listing->count + 1))
		return error_no_memory();
	listing->rows[listing->count++] = *row;
	return NULL;
}

static struct error *add_global(void *context, const struct subject *subject,
				const struct symbol *symbol, const struct typing *typing)
{
	struct listing *listing = context;
	struct verdict verdict;
	TRY(verdict_of_typing(listing->target, symbol, typing, listing->undeclared, &verdict));
	struct row row = { .address = symbol->address,
			   .room = subject->room,
			   .symbol = symbol->number,
			   .is_per_cpu = symbol->per_cpu,
			   .type = verdict.type,
			   .confidence = origin_confidence(verdict.origin),
			   .origin = verdict.origin,
			   .score = typing->score,
			   .margin = typing->margin,
			   .sources = typing->sources,
			   .at_most = verdict.at_most };
	return add_row(listing, &row, symbol);
}

static struct error *add_per_cpu(void *context, const struct symbol *symbol, struct type type,
				 enum type_origin origin)
{
	struct row row = { .address = symbol->address,
			   .room = symbol->size,
			   .symbol = symbol->number,
			   .is_per_cpu = true,
			   .type = type,
			   .confidence = origin_confidence(origin),
			   .origin = origin };
	if (!*symbol->name || strstr(symbol->name, "__per_cpu_") == symbol->name)
		return NULL;
	return add_row(context, &row, symbol);
}

static int compare_addresses(const void *a, const void *b)
{
	const struct row *left = a, *right = b;
	if (left->is_per_cpu != right->is_per_cpu)
		return left->is_per_cpu ? -1 : 1;
	if (left->address != right->address)
		return left->address < right->address ? -1 : 1;
	return left->symbol < right->symbol ? -1 : left->symbol > right->symbol;
}

static int compare_names(const void *a, const void *b, void *context)
{
	const struct row *left = a, *right = b;
	const struct listing *listing = context;
	char name[SYMBOL_NAME_SIZE], other_name[SYMBOL_NAME_SIZE];
	struct symbol one, other;
	symtab_get_into(listing->target->symbols, left->symbol, name, &one);
	symtab_get_into(listing->target->symbols, right->symbol, other_name, &other);
	int order = strcmp(one.name, other.name);
	return order ? order : compare_addresses(a, b);
}

static int compare_rooms(const void *a, const void *b)
{
	const struct row *left = a, *right = b;
	if (left->room != right->room)
		return left->room > right->room ? -1 : 1;
	return compare_addresses(a, b);
}

static void put_in_order(struct listing *listing, const char *order)
{
	size_t size = sizeof(*listing->rows);
	if (!listing->count)
		return;
	if (order && !strcmp(order, "name"))
		qsort_r(listing->rows, listing->count, size, compare_names, listing);
	else
		array_sort(listing->rows, listing->count, size,
			   order && !strcmp(order, "size") ? compare_rooms : compare_addresses);
}

static void show(struct out *out, const struct listing *listing, const struct row *row)
{
	char spelled[512] = "", declared[1024];
	char buffer[SYMBOL_NAME_SIZE];
	struct symbol symbol;
	symtab_get_into(listing->target->symbols, row->symbol, buffer, &symbol);
	snprintf(declared, sizeof(declared), "%s", symbol.name);
	if (row->type.btf) {
		type_spell(row->type, NULL, spelled, sizeof(spelled));
		type_spell(row->type, symbol.name, declared, sizeof(declared));
	}
	size_t length = strlen(declared);
	snprintf(declared + length, sizeof(declared) - length, "%s%s%s",
		 row->is_per_cpu ? "  // per-CPU" : "", row->at_most ? "  // " : "",
		 row->at_most ? verdict_length_remark(row->type, row->room) : "");
	out_row_begin(out);
	if (row->confidence == CONFIDENCE_GUESS)
		out_style(out, OUT_GUESS);
	out_address(out, "address", row->address);
	out_u64(out, "room", row->room);
	out_string(out, "confidence", confidence_name(row->confidence));
	out_string_as(out, "name", symbol.name, declared);
	out_string(out, "type", spelled);
	out_string(out, "origin", origin_data_name(row->origin));
	out_string(out, "module", symbol.module ? symbol.module : "");
	out_bool(out, "per_cpu", row->is_per_cpu);
	out_bool(out, "at_most", row->at_most);
	out_i64(out, "score", row->score);
	out_i64(out, "margin", row->margin);
	out_u64(out, "sources", row->sources);
	out_row_end(out);
}

/* What would only give an empty table is an error before the seconds are spent. */
static struct error *check_words(struct target *target, const char *module, const char *tier,
				 const char *order)
{
	if (order && strcmp(order, "address") && strcmp(order, "name") && strcmp(order, "size"))
		return error_create(ERROR_USAGE, "no order \"%s\": address, name or size", order);
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

static struct error *collect(struct session *session, struct listing *listing,
			     const struct infer_options *options)
{
	const struct module *modules;
	/* They have per-CPU variables too; the kernel's cost nothing. */
	(void)target_modules(session->target, &modules);
	TRY(per_cpu_visit(session->target, add_per_cpu, listing));
	return infer_all(session->target, options, add_global, listing);
}

static struct error *globals_run(struct session *session, const struct arguments *arguments)
{
	struct target *target = session->target;
	const char *order = arguments->options[OPTION_SORT];
	const char *threads = arguments->options[OPTION_THREADS];
	const char *less = arguments->options[OPTION_LESS];
	struct rules rules;
	uint64_t count;
	struct listing listing = { .target = target,
				   .module = arguments->options[OPTION_MODULE],
				   .tier = arguments->options[OPTION_TIER],
				   .patterns = arguments->operands,
				   .pattern_count = arguments->operand_count };
	TRY(check_words(target, listing.module, listing.tier, order));
	if (arguments->options[OPTION_TYPE])
		TRY(parse_wanted(target, arguments->options[OPTION_TYPE], &listing.type));
	if (arguments->options[OPTION_CONTAINS])
		TRY(parse_wanted(target, arguments->options[OPTION_CONTAINS], &listing.contains));
	struct infer_options options = { .no_hints = arguments->options[OPTION_NO_HINTS] != NULL,
					 .without = arguments->options[OPTION_WITHOUT],
					 .progress = session->progress };
	if (less) {
		rules_all(&rules);
		options.rules = &rules;
		if (!rules_less(&rules, less))
			return error_create(ERROR_USAGE, "no rule is called \"%s\"", less);
	}
	listing.undeclared = options.rules || options.no_hints || options.without;
	if (threads) {
		TRY(argument_number(threads, "a number of threads from 1 to 64", 1, 64, &count));
		options.threads = (unsigned int)count;
	}
	struct error *error = collect(session, &listing, &options);
	put_in_order(&listing, order);
	out_table_begin(session->out, NULL, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < listing.count; i++)
		show(session->out, &listing, &listing.rows[i]);
	out_table_end(session->out);
	for (size_t i = 0; i < listing.holdings_count; i++)
		free(listing.holdings[i].by_id);
	free(listing.holdings);
	free(listing.rows);
	return error;
}

static const char *const examples[] = { "globals --tier certain", "globals -t 'struct list_head'",
					"globals --contains 'struct mutex' 'tty_*'", NULL };

const struct command command_globals = {
	.name = "globals",
	.summary = "list the global variables with their types",
	.description =
		"All data symbols with the types that BTF, tables of the kernel, its code and its "
		"data give them, and how sure that is; per-CPU variables among them, which BTF "
		"types since 5.11. NAME is a pattern as in a shell (tty_*); of several, one must "
		"fit.",
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
		       "without that kernel's rows in the table (7.2,7.3: of both), for scores" },
		     { 0, "less", "RULE", OPERAND_WORD,
		       "without that rule of inference, for scores" },
		     { 0, "threads", "N", OPERAND_WORD,
		       "by so many threads; otherwise as many as there are processors" },
		     { 's', "sort", "ORDER", OPERAND_WORD, "by address, name or size" } },
	.operands = { { .name = "NAME",
			.kind = OPERAND_SYMBOL,
			.optional = true,
			.repeated = true } },
	.examples = examples,
	.needs = NEEDS_BTF | NEEDS_MEMORY,
	.run = globals_run,
};
