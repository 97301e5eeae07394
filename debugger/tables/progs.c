// SPDX-License-Identifier: GPL-3.0-or-later
/* BPF programs. */
#include "debugger/kernel/bpf_objects.h"

#include "base/array.h"
#include "debugger/tables/table.h"

enum {
	COLUMN_PROG,
	COLUMN_ID,
	COLUMN_TYPE,
	COLUMN_ATTACH,
	COLUMN_TAG,
	COLUMN_UID,
	COLUMN_LOADED,
	COLUMN_BPF,
	COLUMN_JITED,
	COLUMN_FUNCTIONS,
	COLUMN_MAPS,
	COLUMN_NAME,
	COLUMN_TARGET,
};

static const struct table_column columns[] = {
	[COLUMN_PROG] = { "prog", COLUMN_ADDRESS, 16, "its struct bpf_prog", "struct bpf_prog" },
	[COLUMN_ID] = { "id", COLUMN_INTEGER, 5, "its number", NULL },
	[COLUMN_TYPE] = { "type", COLUMN_TEXT, -14, "as bpftool says it: tracing, kprobe, ...",
			  NULL },
	[COLUMN_ATTACH] = { "attach_type", COLUMN_TEXT, 0, "trace_fentry, ...", NULL },
	[COLUMN_TAG] = { "tag", COLUMN_TEXT, -16, "a sum of its instructions", NULL },
	[COLUMN_UID] = { "uid", COLUMN_INTEGER, 0, "who loaded it", NULL },
	[COLUMN_LOADED] = { "load_time", COLUMN_DURATION, 0, "when, since the start", NULL },
	[COLUMN_BPF] = { "size", COLUMN_BYTES, 6, "of its instructions", NULL },
	[COLUMN_JITED] = { "jited", COLUMN_BYTES, 6, "of the machine code made of them", NULL },
	[COLUMN_FUNCTIONS] = { "functions", COLUMN_INTEGER, 0, "that it has", NULL },
	[COLUMN_MAPS] = { "maps", COLUMN_INTEGER, 4, "that it uses", NULL },
	[COLUMN_NAME] = { "name", COLUMN_TEXT, -16, "the program's", NULL },
	[COLUMN_TARGET] = { "target", COLUMN_TEXT, -20, "the function that it is attached to",
			    NULL },
};

static void set_known(struct table_scan *scan, unsigned int column, const char *text)
{
	if (*text)
		table_set_text(scan, column, text);
}

static struct error *visit_program(void *context, const struct bpf_program *program)
{
	struct table_scan *scan = context;
	if (program->address)
		table_set(scan, COLUMN_PROG, program->address);
	table_set(scan, COLUMN_ID, program->id);
	set_known(scan, COLUMN_TYPE, program->type);
	set_known(scan, COLUMN_ATTACH, program->attach_type);
	set_known(scan, COLUMN_TAG, program->tag);
	table_set(scan, COLUMN_UID, program->uid);
	table_set(scan, COLUMN_LOADED, program->load_time);
	table_set(scan, COLUMN_BPF, program->instruction_bytes);
	table_set(scan, COLUMN_JITED, program->jited_bytes);
	table_set(scan, COLUMN_FUNCTIONS, program->function_count);
	table_set(scan, COLUMN_MAPS, program->map_count);
	set_known(scan, COLUMN_NAME, program->name);
	set_known(scan, COLUMN_TARGET, program->target);
	return table_emit(scan);
}

static struct error *broken(void *context, struct error *problem)
{
	return table_broken(context, problem);
}

static struct error *visit(struct table_scan *scan)
{
	const struct bpf_visitor visitor = { .program = visit_program,
					     .broken = broken,
					     .context = scan };
	return bpf_for_each_program(scan->target, &visitor);
}

static const char *const examples[] = { "progs", "progs --where \"type = 'tracing'\"", NULL };

const struct table table_progs = {
	.name = "progs",
	.summary = "BPF programs",
	.description = "A row is a BPF program that is loaded; bpf shows one with its code.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit = visit,
	.item = COLUMN_PROG,
	.is_object = true,
};
