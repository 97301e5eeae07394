// SPDX-License-Identifier: GPL-3.0-or-later
/* crash's word for several tables of memory. */
#include "base/array.h"
#include "debugger/command/arguments.h"
#include "debugger/command/command.h"
#include "debugger/command/run.h"

enum { OPTION_INFORMATION, OPTION_PAGES, OPTION_SLABS, OPTION_VMALLOC, OPTION_ZONES };

static const char *const lines[] = { [OPTION_INFORMATION] = "memory",
				     [OPTION_PAGES] = "pages",
				     [OPTION_SLABS] = "slabs",
				     [OPTION_VMALLOC] = "vmallocs",
				     [OPTION_ZONES] = "zones" };

extern const struct command command_whattype;

static struct error *run_line(struct session *session, const char *line)
{
	struct call call;
	struct error *error = call_parse(line, &call);
	if (!error)
		error = run_call(session, &call);
	call_deinit(&call);
	return error;
}

static struct error *kmem_run(struct session *session, const struct arguments *arguments)
{
	const char *line = NULL;
	for (size_t i = 0; i < ARRAY_COUNT(lines); i++) {
		if (!arguments->options[i])
			continue;
		if (line || arguments->operand_count)
			return error_create(ERROR_USAGE, "one option, or an ADDRESS");
		line = lines[i];
	}
	if (line)
		return run_line(session, line);
	if (!arguments->operand_count)
		return error_create(ERROR_USAGE, "one of -i, -p, -s, -v, -z, or an ADDRESS");
	return command_whattype.run(session, arguments);
}

extern const struct command command_kmem;
const struct command command_kmem = {
	.name = "kmem",
	.options = { [OPTION_INFORMATION] = { 'i', "information", NULL, 0,
					      "who has the memory, by kind: `memory`" },
		     [OPTION_PAGES] = { 'p', "pages", NULL, 0, "each page: `pages`" },
		     [OPTION_SLABS] = { 's', "slabs", NULL, 0, "slab caches: `slabs`" },
		     [OPTION_VMALLOC] = { 'v', "vmalloc", NULL, 0, "areas: `vmallocs`" },
		     [OPTION_ZONES] = { 'z', "zones", NULL, 0, "zones: `zones`" } },
	.operands = { { .name = "ADDRESS",
			.kind = OPERAND_ADDRESS,
			.repeated = true,
			.optional = true } },
	.summary = "memory, by crash's options",
	.description = "The tables of memory by crash's letters; of an ADDRESS, what `whattype` "
		       "says.\n"
		       "The tables themselves take -o, --where and --sort.",
	.examples = (const char *const[]){ "kmem -i", "kmem -s", "kmem init_task", NULL },
	.needs = NEEDS_MEMORY | NEEDS_SYMBOLS | NEEDS_BTF,
	.run = kmem_run,
};
