// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/array.h"
#include "base/interrupt.h"
#include "btf/dump_raw.h"
#include "btf/header.h"
#include "btf/layout.h"
#include "debugger/command/arguments.h"
#include "debugger/command/command.h"
#include "debugger/declare/declare.h"
#include "debugger/show/types_named.h"
#include "debugger/show/types_search.h"
#include "debugger/target/btf_files.h"
#include "debugger/target/object.h"
#include <stdio.h>
#include <string.h>

enum { OPTION_MODULE, OPTION_FORMAT, OPTION_MEMBER, OPTION_CONTAINS, OPTION_SIZE };

/* The BTF the line asks for: the kernel's, a module's or a file's. */
static struct error *choose_btf(struct target *target, const char *name, const struct btf **ret)
{
	return target_find_btf(target, name ? name : "vmlinux", ret);
}

/* --- raw ---------------------------------------------------------------------------- */

/* "struct x" names one of several types that are called x. */
struct wanted {
	const char *name;
	bool any;
	enum btf_kind kind;
};

static struct wanted parse_name(const char *text)
{
	enum btf_kind kind = type_tag_skip(&text);
	return (struct wanted){ text, kind == BTF_VOID, kind };
}

static bool matches(const struct wanted *wanted, const struct btf_type *type)
{
	if (strcmp(type->name, wanted->name))
		return false;
	return wanted->any || type->kind == wanted->kind ||
	       (type->kind == BTF_FWD &&
		wanted->kind == (type->kind_flag ? BTF_UNION : BTF_STRUCT)) ||
	       (type->kind == BTF_ENUM64 && wanted->kind == BTF_ENUM);
}

static struct error *no_such_type(const struct btf *btf, const char *text)
{
	return error_create(ERROR_NOT_FOUND, "no type of %s is called %s", btf_name(btf), text);
}

static struct error *dump_named(struct out *out, const struct btf *btf, const char *text)
{
	struct wanted wanted = parse_name(text);
	struct btf_type type;
	bool found = false;
	out_array_begin(out, NULL);
	for (uint32_t id = btf_start_id(btf); *wanted.name && btf_get(btf, id, &type); id++) {
		if (!matches(&wanted, &type))
			continue;
		found = true;
		btf_dump_raw_type(out, btf, id);
	}
	out_array_end(out);
	return found ? NULL : no_such_type(btf, text);
}

static struct error *dump_raw(struct out *out, const struct btf *btf, const char *name)
{
	return name ? dump_named(out, btf, name) : btf_dump_raw(out, NULL, btf);
}

/* --- layouts ------------------------------------------------------------------------- */

static struct error *render_layout(struct out *out, struct btf_layouts *layouts,
				   const struct btf_type *record, struct strbuf *buffer)
{
	static const struct btf_layout_style style = { .as_pahole = true };
	out_object_begin(out, NULL);
	if (!out_is_text(out))
		out_u64_as(out, "id", record->id, "");
	struct error *error = btf_layout_render(layouts, &style, record, buffer, out);
	out_object_end(out);
	return error;
}

static struct error *render_layouts(struct out *out, struct btf_layouts *layouts,
				    const struct btf *btf, const char *name)
{
	struct wanted wanted = parse_name(name ? name : "");
	struct strbuf buffer = { 0 };
	struct btf_type record;
	struct error *error = NULL;
	bool found = !name;
	out_array_begin(out, NULL);
	for (uint32_t id = btf_start_id(btf); !error && btf_get(btf, id, &record); id++) {
		if ((record.kind != BTF_STRUCT && record.kind != BTF_UNION) || !*record.name ||
		    (name && !matches(&wanted, &record)))
			continue;
		found = true;
		error = render_layout(out, layouts, &record, &buffer);
		if (!error)
			error = interrupt_check();
		if (out_failed(out))
			break;
	}
	out_array_end(out);
	strbuf_deinit(&buffer);
	return error || found ? error : no_such_type(btf, name);
}

static struct error *dump_layouts(struct out *out, const struct btf *btf, const char *name)
{
	struct btf_layouts *layouts = btf_layouts_create(btf);
	if (!layouts)
		return error_no_memory();
	struct error *error = render_layouts(out, layouts, btf, name);
	btf_layouts_destroy(layouts);
	return error;
}

/* --- a header --------------------------------------------------------------------------- */

static struct error *dump_header(struct out *out, const struct btf *btf, const char *name)
{
	struct strbuf text = { 0 };
	if (name)
		return error_create(ERROR_USAGE,
				    "a header is of all types, not of %s alone: see ptype", name);
	out_object_begin(out, NULL);
	struct error *error = btf_header(btf, &text);
	out_string_as(out, "btf", btf_name(btf), "");
	if (out_is_text(out))
		out_lines(out, text.data, text.size);
	else if (text.size)
		out_string_bytes(out, "header", text.data, text.size);
	out_object_end(out);
	strbuf_deinit(&text);
	return error;
}

/* --- searching ----------------------------------------------------------------------------- */

/* "struct mutex", or "mutex" for it. */
static struct error *parse_contained(struct target *target, const char *text, struct type *ret)
{
	char tagged[256];
	struct error *error = declare_parse_type(target, NULL, text, NULL, ret);
	if (!error)
		return NULL;
	snprintf(tagged, sizeof(tagged), "struct %s", text);
	struct error *second = declare_parse_type(target, NULL, tagged, NULL, ret);
	error_free(second ? second : error);
	return second ? error : NULL;
}

static struct error *parse_search(struct target *target, const struct arguments *arguments,
				  struct types_search *ret)
{
	const char *size = arguments->options[OPTION_SIZE];
	const char *contains = arguments->options[OPTION_CONTAINS];
	*ret = (struct types_search){
		.pattern = arguments->operand_count ? arguments->operands[0] : NULL,
		.member = arguments->options[OPTION_MEMBER],
		.has_size = size,
	};
	if (size)
		TRY(argument_number(size, "a size in bytes", 0, UINT64_MAX, &ret->size));
	return contains ? parse_contained(target, contains, &ret->contains) : NULL;
}

static struct error *search_all(struct session *session, const struct types_search *search)
{
	const struct module *modules = NULL;
	TRY(types_search_in(session->out, session->target->btf, search));
	size_t count = target_modules(session->target, &modules);
	for (size_t i = 0; i < count; i++) {
		const struct btf *btf = target_module_btf(session->target, &modules[i]);
		if (btf)
			TRY(types_search_in(session->out, btf, search));
	}
	for (size_t i = 0; i < target_btf_file_count(session->target); i++)
		TRY(types_search_in(session->out, target_btf_file(session->target, i)->btf,
				    search));
	return NULL;
}

/* The rest of the line comes with the quotes that keep a pattern from other shells. */
static const char *unquoted(const char *text, char *buffer, size_t size)
{
	size_t length = strlen(text);
	if (length < 2 || (*text != '\'' && *text != '"') || text[length - 1] != *text)
		return text;
	snprintf(buffer, size, "%.*s", (int)(length - 2), text + 1);
	return buffer;
}

static struct error *search(struct session *session, const struct arguments *arguments)
{
	struct types_search search;
	char pattern[256];
	const struct btf *btf = NULL;
	TRY(parse_search(session->target, arguments, &search));
	if (search.pattern)
		search.pattern = unquoted(search.pattern, pattern, sizeof(pattern));
	if (arguments->options[OPTION_MODULE])
		TRY(choose_btf(session->target, arguments->options[OPTION_MODULE], &btf));
	types_search_begin(session->out);
	struct error *error = btf ? types_search_in(session->out, btf, &search)
				  : search_all(session, &search);
	types_search_end(session->out);
	return error;
}

/* --- the line --------------------------------------------------------------------------------- */

static bool is_search(const struct arguments *arguments)
{
	return arguments->options[OPTION_MEMBER] || arguments->options[OPTION_CONTAINS] ||
	       arguments->options[OPTION_SIZE] ||
	       (arguments->operand_count && strpbrk(arguments->operands[0], "*?["));
}

static struct error *run(struct session *session, const struct arguments *arguments)
{
	static const struct {
		const char *name;
		struct error *(*dump)(struct out *out, const struct btf *btf, const char *name);
	} formats[] = { { "raw", dump_raw }, { "c", dump_header }, { "pahole", dump_layouts } };
	const char *format = arguments->options[OPTION_FORMAT];
	const struct btf *btf;
	if (is_search(arguments)) {
		if (format)
			return error_create(ERROR_USAGE, "a search has no --format");
		return search(session, arguments);
	}
	size_t i = 0;
	while (format && i < ARRAY_COUNT(formats) && strcmp(format, formats[i].name))
		i++;
	if (i == ARRAY_COUNT(formats))
		return error_create(ERROR_USAGE, "no format is called %s: raw, c or pahole",
				    format);
	TRY(choose_btf(session->target, arguments->options[OPTION_MODULE], &btf));
	return formats[i].dump(session->out, btf,
			       arguments->operand_count ? arguments->operands[0] : NULL);
}

extern const struct command command_types;
const struct command command_types = {
	.name = "types",
	.summary = "dump or search the types of the kernel and its modules (BTF)",
	.description =
		"Lists the BTF records as they are in the dump, in the text of\n"
		"`bpftool btf dump ... format raw`. With -m, those that the module adds to the "
		"kernel's;\n"
		"ids that are not listed there are the kernel's. With NAME (`foo` or `struct "
		"foo`), only\n"
		"the records of that name.\n"
		"A NAME with *, ? or [] searches names, and the options search what types hold: "
		"in the\n"
		"kernel, all modules and files of --btf, or with -m in one. Several conditions must all be met.",
	.options = {
		[OPTION_MODULE] = { 'm', "module", "MODULE", OPERAND_MODULE,
				    "types of this module instead of the kernel" },
		[OPTION_FORMAT] = { 0, "format", "FORMAT", OPERAND_WORD,
				    "raw: one record after the other (the default); c: a header to "
				    "compile; pahole: all layouts, as pahole prints them" },
		[OPTION_MEMBER] = { 0, "member", "NAME", OPERAND_WORD,
				    "those that have a member of this name, or pattern" },
		[OPTION_CONTAINS] = { 0, "contains", "TYPE", OPERAND_TYPE,
				      "those that this type is a part of" },
		[OPTION_SIZE] = { 0, "size", "BYTES", OPERAND_NUMBER, "those of this size" },
	},
	.operands = { { .name = "NAME", .kind = OPERAND_TYPE, .optional = true, .rest = true } },
	.examples = (const char *const[]){ "types task_struct", "types struct list_head",
					   "types --member i_ino", "types --size 4096",
					   "types --contains 'struct mutex' 'task_*'",
					   "types -m vmlinux 'hlist_*'", NULL },
	.needs = NEEDS_BTF,
	.run = run,
};
