// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/kernel/bpf.h"
#include "base/array.h"
#include "debugger/command/arguments.h"
#include "debugger/command/command.h"
#include "debugger/kernel/bpf_objects.h"
#include <inttypes.h>
#include <string.h>

struct pass {
	struct session *session;
	bool wants_one; /* program `id`, with its functions and lines */
	uint32_t id;
	bool found;
	struct error *problem; /* the first */
};

static struct error *note_broken(void *context, struct error *problem)
{
	struct pass *pass = context;
	if (pass->problem)
		error_free(problem);
	else
		pass->problem = problem;
	return NULL;
}

/* --- lists ----------------------------------------------------------------------------------- */

static const struct column program_columns[] = {
	{ "address", "PROGRAM", 16 }, { "id", "ID", 5 },
	{ "type", "TYPE", -16 },      { "name", "NAME", -16 },
	{ "tag", "TAG", -16 },	      { "functions", "FUNCTIONS", 9 },
	{ "jited", "JITED", 7 },      { "instructions", NULL, 0 },
	{ "uid", "UID", 6 },	      { "loaded", "LOADED", 12 },
	{ "maps", "MAPS", -8 },	      { "attach_type", NULL, 0 },
	{ "target", "TARGET", 0 },    { "target_program", NULL, 0 },
};

static const struct column map_columns[] = {
	{ "address", "MAP", 16 },    { "id", "ID", 5 },	  { "type", "TYPE", -16 },
	{ "name", "NAME", -16 },     { "key", "KEY", 7 }, { "value", "VALUE", 7 },
	{ "entries", "ENTRIES", 0 },
};

/* "1,2", the ids of the maps. */
static void spell_maps(const struct bpf_program *program, char *buffer, size_t size)
{
	size_t used = 0;
	buffer[0] = 0;
	for (size_t i = 0; i < program->map_count && used < size; i++)
		used += (size_t)snprintf(buffer + used, size - used, "%s%" PRIu32, i ? "," : "",
					 program->maps[i]);
}

static double seconds(uint64_t nanoseconds)
{
	return (double)nanoseconds / 1e9;
}

static void write_target(struct out *out, const struct bpf_program *program)
{
	char text[BPF_TARGET_SIZE + 32];
	if (program->target_id)
		snprintf(text, sizeof(text), "%s of program %" PRIu32, program->target,
			 program->target_id);
	else
		snprintf(text, sizeof(text), "%s", program->target);
	out_string_as(out, "target", program->target, text);
	out_u64_as(out, "target_program", program->target_id, "");
}

/* Of a running kernel the address may be 0: a program that it listed is gone meanwhile. */
static void write_place(struct out *out, uint64_t address, const char *type_name)
{
	if (address)
		out_item_named(out, address, type_name);
	out_row_begin(out);
	if (address)
		out_address(out, "address", address);
	else
		out_null_as(out, "address", "?");
}

static void write_program_row(struct out *out, const struct bpf_program *program)
{
	char maps[12 * BPF_MAPS_MAX];
	spell_maps(program, maps, sizeof(maps));
	write_place(out, program->address, "struct bpf_prog");
	out_u64(out, "id", program->id);
	out_string(out, "type", program->type);
	out_string(out, "name", program->name);
	out_string(out, "tag", program->tag);
	out_u64(out, "functions", program->function_count);
	out_u64(out, "jited", program->jited_bytes);
	out_u64(out, "instructions", program->instruction_bytes);
	out_u64(out, "uid", program->uid);
	out_double(out, "loaded", seconds(program->load_time));
	out_string(out, "maps", maps);
	out_string(out, "attach_type", program->attach_type);
	write_target(out, program);
	out_row_end(out);
}

static struct error *write_map_row(void *context, const struct bpf_map *map)
{
	struct out *out = ((struct pass *)context)->session->out;
	write_place(out, map->address, "struct bpf_map");
	out_u64(out, "id", map->id);
	out_string(out, "type", map->type);
	out_string(out, "name", map->name);
	out_u64(out, "key", map->key_size);
	out_u64(out, "value", map->value_size);
	out_u64(out, "entries", map->max_entries);
	out_row_end(out);
	return NULL;
}

/* --- one program ----------------------------------------------------------------------------- */

static struct error *write_line(void *context, uint64_t address, const struct bpf_line *line)
{
	struct out *out = context;
	out_object_begin(out, NULL);
	out_text(out, "  ");
	out_address(out, "address", address);
	out_text(out, " ");
	out_string(out, "file", line->file);
	out_text(out, ":");
	out_u64(out, "line", line->line);
	out_u64_as(out, "column", line->column, "");
	out_text(out, ": ");
	out_string(out, "source", line->source);
	out_text(out, "\n");
	out_object_end(out);
	return NULL;
}

static struct error *write_function(struct session *session, const struct bpf_program *program,
				    uint32_t index)
{
	struct out *out = session->out;
	struct bpf_code code;
	struct bpf_function function;
	TRY(bpf_program_code(session->target, program, index, &code));
	TRY(bpf_function_read(session->target, code.aux, &function));
	out_object_begin(out, NULL);
	out_text(out, "  ");
	out_address(out, "address", code.start);
	out_text(out, " ");
	out_pad(out, 6);
	out_u64(out, "size", code.size);
	out_text(out, " ");
	out_string_as(out, "name", function.name,
		      *function.prototype ? function.prototype : function.name);
	out_string_as(out, "prototype", function.prototype, "");
	out_text(out, "\n");
	out_object_end(out);
	return NULL;
}

static struct error *write_details(struct session *session, const struct bpf_program *program)
{
	struct out *out = session->out;
	struct error *error = NULL;
	if (!program->address)
		return error_create(ERROR_NOT_FOUND, "BPF program %" PRIu32 " is not in memory",
				    program->id);
	out_text(out, "\nfunctions:\n");
	out_array_begin(out, "functions");
	for (uint32_t i = 0; !error && i < program->function_count; i++)
		error = write_function(session, program, i);
	out_array_end(out);
	if (error)
		return error;
	out_text(out, "\nlines:\n");
	out_array_begin(out, "lines");
	error = bpf_for_each_line(session->target, program->aux, write_line, out);
	out_array_end(out);
	return error;
}

static struct error *write_one(struct session *session, const struct bpf_program *program)
{
	struct out *out = session->out;
	out_object_begin(out, NULL);
	out_table_begin(out, "program", program_columns, ARRAY_COUNT(program_columns));
	write_program_row(out, program);
	out_table_end(out);
	struct error *error = write_details(session, program);
	out_object_end(out);
	return error;
}

static struct error *visit_program(void *context, const struct bpf_program *program)
{
	struct pass *pass = context;
	if (!pass->wants_one) {
		write_program_row(pass->session->out, program);
		return NULL;
	}
	if (program->id != pass->id)
		return NULL;
	pass->found = true;
	return write_one(pass->session, program);
}

/* --- the command ------------------------------------------------------------------------------ */

static struct error *write_lists(struct pass *pass, const struct bpf_visitor *visitor)
{
	struct out *out = pass->session->out;
	struct target *target = pass->session->target;
	out_object_begin(out, NULL);
	out_table_begin(out, "programs", program_columns, ARRAY_COUNT(program_columns));
	struct error *error = bpf_for_each_program(target, visitor);
	out_table_end(out);
	out_text(out, "\n");
	out_table_begin(out, "maps", map_columns, ARRAY_COUNT(map_columns));
	if (!error)
		error = bpf_for_each_map(target, visitor);
	out_table_end(out);
	out_object_end(out);
	return error;
}

static struct error *find_one(struct pass *pass, const struct bpf_visitor *visitor,
			      const char *operand)
{
	uint64_t id;
	TRY(argument_number(operand, "the id of a program", 0, UINT32_MAX, &id));
	pass->wants_one = true;
	pass->id = (uint32_t)id;
	TRY(bpf_for_each_program(pass->session->target, visitor));
	if (!pass->found && !pass->problem)
		return error_create(ERROR_NOT_FOUND, "no BPF program %" PRIu64 " is loaded", id);
	return NULL;
}

static struct error *bpf_run(struct session *session, const struct arguments *arguments)
{
	struct pass pass = { .session = session };
	const struct bpf_visitor visitor = { .program = visit_program,
					     .map = write_map_row,
					     .broken = note_broken,
					     .context = &pass };
	struct error *error = arguments->operand_count
				      ? find_one(&pass, &visitor, arguments->operands[0])
				      : write_lists(&pass, &visitor);
	if (!error)
		return pass.problem;
	error_free(pass.problem);
	return error;
}

static const char *const examples[] = { "bpf", NULL };

const struct command command_bpf = {
	.name = "bpf",
	.summary = "loaded BPF programs and maps",
	.description =
		"Lists the BPF programs and maps that the kernel has loaded, by id: sizes in bytes "
		"(of a program: of its JITed code), when a program was loaded, in seconds since "
		"boot, and by whom, the ids of the maps it uses, what it is attached to where the "
		"program itself knows (tracing programs do). Of a running kernel this is what it "
		"says itself; ? is the address of what memory does not have any more.\n"
		"\n"
		"With the id of a program shows its functions, where their code is, and its lines "
		"of source, as they are in the program's own BTF. `dis` shows the code.",
	.operands = { { .name = "ID", .kind = OPERAND_NUMBER, .optional = true } },
	.examples = examples,
	.needs = NEEDS_MEMORY | NEEDS_SYMBOLS | NEEDS_BTF,
	.run = bpf_run,
};
