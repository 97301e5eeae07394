// SPDX-License-Identifier: GPL-3.0-or-later
#include "btf/dump_raw.h"
#include "cmds/command.h"
#include <string.h>

enum { OPTION_MODULE, OPTION_FORMAT };

/* The BTF the line asks for: the kernel's or a module's. */
static struct error *choose_btf(struct target *target, const char *name, const struct btf **ret)
{
	*ret = target->btf;
	if (!name)
		return NULL;
	const struct module *module = target_module(target, name);
	if (!module)
		return error_create(ERROR_NOT_FOUND, "no module is called %s", name);
	*ret = target_module_btf(target, module);
	if (*ret)
		return NULL;
	return error_create(module->problem ? module->problem->kind : ERROR_NOT_FOUND,
			    "module %s has no BTF%s%s", name, module->problem ? ": " : "",
			    module->problem ? module->problem->message : "");
}

/* "struct x" names one of several types that are called x. */
struct wanted {
	const char *name;
	bool any;
	enum btf_kind kind;
};

static struct wanted parse_name(const char *text)
{
	static const struct {
		const char *word;
		enum btf_kind kind;
	} keywords[] = {
		{ "struct ", BTF_STRUCT },
		{ "union ", BTF_UNION },
		{ "enum ", BTF_ENUM },
	};
	for (size_t i = 0; i < sizeof(keywords) / sizeof(keywords[0]); i++) {
		size_t length = strlen(keywords[i].word);
		if (!strncmp(text, keywords[i].word, length))
			return (struct wanted){ text + length + strspn(text + length, " "), false,
						keywords[i].kind };
	}
	return (struct wanted){ text, true, BTF_VOID };
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
	return found ? NULL
		     : error_create(ERROR_NOT_FOUND, "no type of %s is called %s", btf_name(btf),
				    text);
}

static struct error *run(struct session *session, const struct arguments *arguments)
{
	const char *format = arguments->options[OPTION_FORMAT];
	if (format && strcmp(format, "raw"))
		return error_create(ERROR_USAGE, "no format is called %s, there is raw", format);
	const struct btf *btf;
	struct error *error = choose_btf(session->target, arguments->options[OPTION_MODULE], &btf);
	if (error)
		return error;
	if (arguments->operand_count)
		return dump_named(session->out, btf, arguments->operands[0]);
	return btf_dump_raw(session->out, NULL, btf);
}

extern const struct command command_types;
const struct command command_types = {
	.name = "types",
	.summary = "dump the kernel's or a module's type records (BTF)",
	.description =
		"Lists the BTF records as they are in the dump, in the text of\n"
		"`bpftool btf dump ... format raw`. With -m, those that the module adds to the "
		"kernel's;\n"
		"ids that are not listed there are the kernel's. With NAME (`foo` or `struct "
		"foo`), only\n"
		"the records of that name.",
	.options = {
		[OPTION_MODULE] = { 'm', "module", "MODULE", OPERAND_MODULE,
				    "types of this module instead of the kernel" },
		[OPTION_FORMAT] = { 0, "format", "FORMAT", OPERAND_WORD,
				    "raw: one record after the other (the default)" },
	},
	.operands = { { .name = "NAME", .kind = OPERAND_TYPE, .optional = true, .rest = true } },
	.examples = (const char *const[]){ "types task_struct", "types struct list_head", NULL },
	.needs = NEEDS_BTF,
	.run = run,
};
