// SPDX-License-Identifier: GPL-3.0-or-later
/* crash's word for several tables of memory. */
#include "base/array.h"
#include "base/strbuf.h"
#include "debugger/command/arguments.h"
#include "debugger/command/command.h"
#include "debugger/command/run.h"
#include <string.h>

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

/* crash's -s NAME: names of caches have no quotes. */
static struct error *run_cache(struct session *session, const char *name)
{
	struct strbuf line = { 0 };
	if (strpbrk(name, "'\"\\"))
		return error_create(ERROR_USAGE, "no slab cache is called %s", name);
	strbuf_format(&line, "slabs --where \"name = '%s'\"", name);
	struct error *error = line.failed ? error_no_memory() : run_line(session, line.data);
	strbuf_deinit(&line);
	return error;
}

static struct error *kmem_run(struct session *session, const struct arguments *arguments)
{
	size_t chosen = ARRAY_COUNT(lines);
	for (size_t i = 0; i < ARRAY_COUNT(lines); i++) {
		if (!arguments->options[i])
			continue;
		if (chosen < ARRAY_COUNT(lines))
			return error_create(ERROR_USAGE, "one option at a time");
		chosen = i;
	}
	if (chosen == OPTION_SLABS && arguments->operand_count == 1)
		return run_cache(session, arguments->operands[0]);
	if (chosen < ARRAY_COUNT(lines) && arguments->operand_count)
		return error_create(ERROR_USAGE, "which of them says `%s --where CONDITION`",
				    lines[chosen]);
	if (chosen < ARRAY_COUNT(lines))
		return run_line(session, lines[chosen]);
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
		     [OPTION_SLABS] = { 's', "slabs", NULL, 0,
					"slab caches: `slabs`; with a name that one" },
		     [OPTION_VMALLOC] = { 'v', "vmalloc", NULL, 0, "areas: `vmallocs`" },
		     [OPTION_ZONES] = { 'z', "zones", NULL, 0, "zones: `zones`" } },
	.operands = { { .name = "ADDRESS",
			.kind = OPERAND_ADDRESS,
			.repeated = true,
			.optional = true } },
	.summary = "memory, by crash's options",
	.description = "The tables of memory by crash's letters; of an ADDRESS, what `whattype` "
		       "says.\n"
		       "The tables themselves take -o, -n, --where and --sort.",
	.examples = (const char *const[]){ "kmem -i", "kmem -s dentry", "kmem init_task", NULL },
	.needs = NEEDS_MEMORY | NEEDS_SYMBOLS | NEEDS_BTF,
	.run = kmem_run,
};
