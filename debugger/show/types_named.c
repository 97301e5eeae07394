// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/show/types_named.h"

#include "base/array.h"
#include "debugger/declare/declare.h"
#include "debugger/eval/definition.h"
#include "debugger/target/btf_files.h"
#include <stdio.h>
#include <string.h>

#define SPELL_SIZE 256

/* --- the name ----------------------------------------------------------------------- */

enum btf_kind type_tag_skip(const char **text)
{
	static const struct {
		const char *word;
		enum btf_kind kind;
	} tags[] = { { "struct ", BTF_STRUCT }, { "union ", BTF_UNION }, { "enum ", BTF_ENUM } };
	for (size_t i = 0; i < ARRAY_COUNT(tags); i++) {
		size_t length = strlen(tags[i].word);
		if (strncmp(*text, tags[i].word, length) != 0)
			continue;
		*text += length + strspn(*text + length, " ");
		return tags[i].kind;
	}
	return BTF_VOID;
}

static const char *skip_tag(struct types_named *named, const char *text)
{
	enum btf_kind kind = type_tag_skip(&text);
	named->any_kind = kind == BTF_VOID;
	if (!named->any_kind)
		named->kind = kind;
	return text;
}

bool types_named_parse(struct types_named *named, const char *text)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
	text = skip_tag(named, text);
	size_t length = strspn(text, letters);
	if (text[length] == ':' && text[length + 1] != ':' && length < sizeof(named->module_name)) {
		snprintf(named->module_name, sizeof(named->module_name), "%.*s", (int)length, text);
		named->module = named->module_name;
		text = skip_tag(named, text + length + 1);
		length = strspn(text, letters);
	}
	if (!length || length >= sizeof(named->name))
		return false;
	snprintf(named->name, sizeof(named->name), "%.*s", (int)length, text);
	named->paths = text[length] == '.' && text[length + 1] ? text + length + 1 : NULL;
	return !text[length] || named->paths;
}

/* --- finding ----------------------------------------------------------------------- */

static bool is_found(const struct types_named *named, struct type type)
{
	for (size_t i = 0; i < named->count; i++)
		if (type_equal(named->found[i], type))
			return true;
	return false;
}

/* Looks in this BTF alone, not in its base. */
static void find_kind(struct types_named *named, const struct btf *btf, enum btf_kind kind)
{
	uint64_t cursor = 0;
	uint32_t id;
	while ((id = btf_find(btf, kind, named->name, &cursor))) {
		struct type type = { btf, id };
		if (id < btf_start_id(btf) || named->count == TYPES_NAMED_MAX ||
		    is_found(named, type))
			continue;
		named->found[named->count++] = type;
	}
}

static void find_in(struct types_named *named, const struct btf *btf)
{
	static const enum btf_kind kinds[] = { BTF_STRUCT,  BTF_UNION, BTF_ENUM,
					       BTF_TYPEDEF, BTF_INT,   BTF_FLOAT };
	size_t before = named->count;
	if (!named->any_kind) {
		find_kind(named, btf, named->kind);
		return;
	}
	find_kind(named, btf, named->kind);
	/* A struct, union or enum hides a typedef of the same name. */
	for (size_t i = 0; i < ARRAY_COUNT(kinds); i++)
		if (kinds[i] <= BTF_ENUM || named->count == before)
			find_kind(named, btf, kinds[i]);
}

static struct error *find_in_module(struct types_named *named, struct target *target)
{
	const struct btf *btf;
	TRY(target_find_btf(target, named->module, &btf));
	find_in(named, btf);
	return NULL;
}

/* The kernel's, and what modules and files have of the name that is something else. */
static void find_anywhere(struct types_named *named, struct target *target)
{
	const struct module *modules = NULL;
	find_in(named, target->btf);
	size_t count = target_modules(target, &modules);
	for (size_t i = 0; i < count; i++) {
		const struct btf *btf = target_module_btf(target, &modules[i]);
		if (btf)
			find_in(named, btf);
	}
	for (size_t i = 0; i < target_btf_file_count(target); i++)
		find_in(named, target_btf_file(target, i)->btf);
}

/* No such type: with the names that may have been meant. */
static struct error *not_found(const struct types_named *named, struct target *target)
{
	const char *tag = named->kind == BTF_UNION  ? "union"
			  : named->kind == BTF_ENUM ? "enum"
						    : "struct";
	char full[TYPE_NAME_SIZE + 8];
	struct type type;
	snprintf(full, sizeof(full), "%s %s", tag, named->name);
	if (!named->module) {
		struct error *error = declare_parse_type(target, NULL, full, NULL, &type);
		if (error)
			return error;
	}
	return error_create(ERROR_NOT_FOUND, "no type \"%s\"%s%s", full,
			    named->module ? " in " : "", named->module ? named->module : "");
}

struct error *types_named_find(struct types_named *named, struct target *target)
{
	if (named->module)
		TRY(find_in_module(named, target));
	else
		find_anywhere(named, target);
	return named->count ? NULL : not_found(named, target);
}

/* --- showing ------------------------------------------------------------------------ */

void types_named_write_holder(const struct types_named *named, struct type type, bool as_pahole,
			      struct out *out)
{
	const char *holder = btf_name(type.btf);
	char spelled[SPELL_SIZE];
	type_spell(type, NULL, spelled, sizeof(spelled));
	out_string_as(out, "type", spelled, "");
	out_string_as(out, "btf", holder, "");
	out_u64_as(out, "id", type.id, "");
	if (!as_pahole && (named->count > 1 || strcmp(holder, "vmlinux") != 0))
		out_text(out, "/* %s, type %u */\n", holder, type.id);
}

static struct error *write_one(const struct types_named *named, struct type type,
			       const struct btf_layout_style *style, struct out *out)
{
	out_object_begin(out, NULL);
	types_named_write_holder(named, type, style->as_pahole, out);
	struct error *error =
		named->paths ? definition_render_members(out, "members", type, named->paths, style)
			     : definition_render_as(out, "definition", type, style);
	out_object_end(out);
	return error;
}

struct error *types_named_write(const struct types_named *named,
				const struct btf_layout_style *style, struct out *out)
{
	struct error *error = NULL;
	out_array_begin(out, NULL);
	for (size_t i = 0; i < named->count && !error; i++)
		error = write_one(named, named->found[i], style, out);
	out_array_end(out);
	return error;
}
