// SPDX-License-Identifier: GPL-3.0-or-later
/* TAB in C: the word at the cursor may be a member, a type, a variable or a symbol. */
#include "debugger/completion/complete_private.h"

#include "debugger/eval/variables.h"
#include "debugger/target/btf_files.h"
#include <stdio.h>
#include <string.h>

#define ANONYMOUS_DEPTH_MAX 8
#define EXPRESSION_SIZE	    512

/* --- members ------------------------------------------------------------------------- */

static void offer_members(struct completing *completing, struct type type, int depth)
{
	struct btf_type record;
	struct btf_member member;
	if (depth > ANONYMOUS_DEPTH_MAX || !type_get_resolved(type, &record) ||
	    (record.kind != BTF_STRUCT && record.kind != BTF_UNION))
		return;
	for (uint32_t i = 0; btf_member(&record, i, &member); i++) {
		if (*member.name)
			complete_offer_name(completing, member.name);
		else
			offer_members(completing, (struct type){ record.btf, member.type },
				      depth + 1);
	}
}

/* Of a struct, or of what a pointer points to. */
static void offer_members_of(struct completing *completing, struct type type)
{
	struct type target;
	if (type_is_pointer(type) && type_target(type, &target))
		type = target;
	offer_members(completing, type_completed(completing->session->target, type), 0);
}

/* The start of the bracket that ends at `end`; `start` when it has none. */
static size_t bracket_start(const char *text, size_t start, size_t end)
{
	int depth = 0;
	while (end > start) {
		char byte = text[--end];
		depth += byte == ')' || byte == ']' ? 1 : byte == '(' || byte == '[' ? -1 : 0;
		if (!depth)
			break;
	}
	return end;
}

/*
 * Where the operand of a `.` or `->` at `end` begins: names, brackets and what joins them. A
 * bracket before a name is a cast, which binds less.
 */
static size_t operand_start(const char *text, size_t start, size_t end)
{
	for (;;) {
		size_t before = end;
		if (end > start && text[end - 1] == ']') {
			end = bracket_start(text, start, end);
			continue;
		}
		if (end > start && text[end - 1] == ')')
			end = bracket_start(text, start, end);
		else
			end = complete_identifier(text, start, end);
		if (end > start && text[end] == '(')
			end = complete_identifier(text, start, end); /* per_cpu(...) */
		if (end > start && text[end - 1] == '$')
			end--;
		if (end == before)
			return end;
		if (end > start && strchr(".:@", text[end - 1]))
			end--;
		else if (end > start + 1 && text[end - 1] == '>' && text[end - 2] == '-')
			end -= 2;
		else
			return end;
	}
}

void complete_members_of(struct completing *completing, const char *operand)
{
	struct value value;
	struct error *error = expression_type(&completing->session->scope, operand, &value);
	if (!error && value.type.btf)
		offer_members_of(completing, value.type);
	error_free(error);
}

/* `end`: where the `.` or `->` is. */
static void complete_member(struct completing *completing, size_t start, size_t end)
{
	const char *text = completing->text;
	char operand[EXPRESSION_SIZE];
	size_t from = operand_start(text, start, end);
	if (end - from >= sizeof(operand))
		return;
	memcpy(operand, text + from, end - from);
	operand[end - from] = 0;
	complete_members_of(completing, operand);
}

/* --- types ---------------------------------------------------------------------------- */

static bool is_kind(enum btf_kind kind, enum btf_kind wanted)
{
	if (wanted == BTF_ENUM)
		return kind == BTF_ENUM || kind == BTF_ENUM64;
	return kind == wanted;
}

static void offer_types(struct completing *completing, const struct btf *btf, enum btf_kind kind)
{
	struct btf_type type;
	for (uint32_t id = btf_start_id(btf); id < btf_end_id(btf); id++)
		if (btf_get(btf, id, &type) && is_kind(type.kind, kind) && *type.name)
			complete_offer_name(completing, type.name);
}

static void offer_kinds(struct completing *completing, const struct btf *btf,
			const enum btf_kind *kinds, size_t count)
{
	for (size_t i = 0; btf && i < count; i++)
		offer_types(completing, btf, kinds[i]);
}

/*
 * The kernel's, those of files, and of modules whose types were asked for: reading all would be
 * felt. Where the kernel has none that fits, all modules are asked.
 */
static void offer_all_types(struct completing *completing, const enum btf_kind *kinds,
			    size_t kind_count)
{
	struct target *target = completing->session->target;
	const struct module *modules;
	offer_kinds(completing, target->btf, kinds, kind_count);
	bool is_of_module = !completing->ret->count;
	size_t count = target_modules(target, &modules);
	for (size_t i = 0; i < count && !interrupt_flag; i++)
		offer_kinds(completing,
			    is_of_module ? target_module_btf(target, &modules[i]) : modules[i].btf,
			    kinds, kind_count);
	for (size_t i = 0; i < target_btf_file_count(target); i++)
		offer_kinds(completing, target_btf_file(target, i)->btf, kinds, kind_count);
}

/* "task_struct.se": the type of what stands before the last point. */
static void complete_path(struct completing *completing, const char *name, const char *path)
{
	char tag[EXPRESSION_SIZE];
	struct type_place place = { 0 };
	snprintf(tag, sizeof(tag), "struct %.*s", (int)strcspn(name, "."), name);
	struct error *error = target_find_type(completing->session->target, NULL, tag, &place.type);
	if (!error && path > name + strcspn(name, ".")) {
		const char *first = name + strcspn(name, ".") + 1;
		snprintf(tag, sizeof(tag), "%.*s", (int)(path - first), first);
		struct type whole = place.type;
		error = type_find_path(whole, tag, &place);
	}
	if (!error)
		offer_members_of(completing, place.type);
	error_free(error);
}

void complete_type_operand(struct completing *completing, size_t start)
{
	static const enum btf_kind kinds[] = { BTF_STRUCT, BTF_UNION, BTF_ENUM };
	const char *text = completing->text, *end = completing->prefix;
	if (end == text + start || end[-1] != '.') {
		offer_all_types(completing, kinds, ARRAY_COUNT(kinds));
		return;
	}
	const char *blank = strrchr(text + start, ' ');
	complete_path(completing, blank ? blank + 1 : text + start, end - 1);
}

/* --- symbols and variables ---------------------------------------------------------------- */

/* `module` NULL: of any; not terminated. */
static void offer_symbols(struct completing *completing, const char *module, size_t length)
{
	struct target *target = completing->session->target;
	const struct module *modules;
	target_modules(target, &modules); /* loads their symbols */
	const struct symtab *symtab = target->symbols;
	uint32_t count = symtab_count(symtab);
	char name[SYMBOL_NAME_SIZE];
	struct symbol symbol;
	for (uint32_t i = module ? symtab_kernel_count(symtab) : 0; i < count; i++) {
		symtab_get_into(symtab, i, name, &symbol);
		if (!module || (!strncmp(symbol.module, module, length) && !symbol.module[length]))
			complete_offer_name(completing, symbol.name);
		if (complete_full(completing))
			return;
	}
}

static void offer_variables(struct completing *completing)
{
	const struct variables *variables = completing->session->scope.variables;
	const struct arch *arch = completing->session->target->arch;
	const struct value *value;
	const char *name;
	for (size_t i = 0; variables && variables_get(variables, i, &name, &value); i++)
		complete_offer_name(completing, name);
	for (unsigned int i = 0; arch && i < arch->register_count; i++)
		complete_offer_name(completing, arch->register_names[i]);
}

/* "sd_mod:name", "runqueues:0". */
static void complete_after_colon(struct completing *completing, size_t start, size_t colon)
{
	const char *text = completing->text;
	size_t from = complete_identifier(text, start, colon);
	char name[64];
	if (colon - from >= sizeof(name))
		return;
	memcpy(name, text + from, colon - from);
	name[colon - from] = 0;
	if (target_module(completing->session->target, name))
		offer_symbols(completing, name, strlen(name));
}

void complete_expression(struct completing *completing, size_t start)
{
	const char *text = completing->text;
	size_t word = (size_t)(completing->prefix - text);
	switch (complete_place(text, start, word)) {
	case PLACE_BRACES:
		complete_in_braces(completing, start, word);
		break;
	case PLACE_MEMBER:
		complete_member(completing, start, word - (text[word - 1] == '.' ? 1 : 2));
		break;
	case PLACE_VARIABLE:
		offer_variables(completing);
		break;
	case PLACE_SYMBOL:
		complete_after_colon(completing, start, word - 1);
		break;
	case PLACE_STRUCT:
		offer_all_types(completing, &(enum btf_kind){ BTF_STRUCT }, 1);
		break;
	case PLACE_UNION:
		offer_all_types(completing, &(enum btf_kind){ BTF_UNION }, 1);
		break;
	case PLACE_ENUM:
		offer_all_types(completing, &(enum btf_kind){ BTF_ENUM }, 1);
		break;
	case PLACE_FREE:
		offer_symbols(completing, NULL, 0);
		if (!completing->ret->count)
			offer_all_types(completing, &(enum btf_kind){ BTF_TYPEDEF }, 1);
		break;
	case PLACE_EMPTY:
		break;
	}
}
