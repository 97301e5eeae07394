// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/array.h"
#include "cmds/command.h"

static const struct column columns[] = {
	{ "address", "ADDRESS", 16 },
	{ "name", "NAME", -24 },
	{ "size", "SIZE", 9 },
	{ "state", "STATE", -8 },
};

/* enum module_state, in the words of /proc/modules. */
static const char *state_name(uint32_t state)
{
	static const char *const names[] = { "Live", "Loading", "Unloading" };
	return state < ARRAY_COUNT(names) ? names[state] : "?";
}

static void write_module(struct out *out, const struct module *module)
{
	out_item(out, module->address, "struct module");
	out_row_begin(out);
	out_address(out, "address", module->base);
	out_string(out, "name", module->name);
	out_u64(out, "size", module->size);
	out_string(out, "state", state_name(module->state));
	out_row_end(out);
}

static struct error *mod_run(struct session *session, const struct arguments *arguments)
{
	const struct module *modules;
	size_t count = target_modules(session->target, &modules);
	if (arguments->operand_count) {
		modules = target_module(session->target, arguments->operands[0]);
		count = 1;
		if (!modules)
			return error_create(ERROR_NOT_FOUND, "no module %s is loaded",
					    arguments->operands[0]);
	}
	out_table_begin(session->out, NULL, columns, ARRAY_COUNT(columns));
	for (size_t i = 0; i < count; i++)
		write_module(session->out, &modules[i]);
	out_table_end(session->out);
	return NULL;
}

static const char *const examples[] = { "mod", "mod | print {name, refcnt.counter}", NULL };

const struct command command_mod = {
	.name = "mod",
	.alias = "lsmod",
	.summary = "loaded modules",
	.description = "Lists the loaded modules: where the text begins, and the size in bytes, as "
		       "/proc/modules has them. Behind a pipe, each is `$_`, a struct module *.",
	.operands = { { .name = "MODULE", .kind = OPERAND_MODULE, .optional = true } },
	.examples = examples,
	.needs = NEEDS_MEMORY | NEEDS_SYMBOLS | NEEDS_BTF,
	.run = mod_run,
};
