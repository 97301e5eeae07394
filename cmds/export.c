// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/export/export.h"

#include "debugger/command/btf_output.h"
#include "debugger/command/command.h"
#include "debugger/shell/child.h"
#include "debugger/tables/database.h"
#include <string.h>

extern const struct command command_export;

enum { OPTION_MODULE, OPTION_NO_MODULES, OPTION_GUESSES, OPTION_TIERS };

static void count(struct out *out, const char *key, uint64_t number, const char *text)
{
	out_u64(out, key, number);
	out_text(out, "%s", text);
}

static void report(struct out *out, const char *path, const struct export_summary *summary)
{
	out_object_begin(out, NULL);
	out_string(out, "file", path);
	out_text(out, ": ");
	count(out, "bytes", summary->bytes, " bytes, ");
	count(out, "symbols", summary->symbols, " symbols, ");
	count(out, "types", summary->types, " types, ");
	count(out, "variables", summary->variables, " variables, ");
	count(out, "functions", summary->functions, " functions, ");
	count(out, "modules", summary->modules, " modules");
	if (summary->without_btf) {
		out_text(out, "; ");
		count(out, "without_btf", summary->without_btf, " modules without BTF");
	} else {
		out_u64_as(out, "without_btf", 0, "");
	}
	out_text(out, "\n");
	out_object_end(out);
}

static struct error *write_vmlinux(struct session *session, const struct arguments *arguments,
				   const char *path)
{
	const char *tiers = arguments->options[OPTION_TIERS];
	struct export_options options = {
		.no_modules = arguments->options[OPTION_NO_MODULES] != NULL,
		.guesses = arguments->options[OPTION_GUESSES] != NULL,
		.progress = session->progress,
	};
	struct export_summary summary;
	FILE *file;
	TRY(output_open(session->helper, path, false, &file));
	struct error *error = tiers ? output_open(session->helper, tiers, false, &options.tiers)
				    : NULL;
	if (!error)
		error = export_vmlinux(session->target, &options, file, &summary);
	error = output_close(session->helper, file, path, error);
	error = output_close(session->helper, options.tiers, tiers, error);
	if (!error)
		report(session->out, path, &summary);
	return error;
}

static struct error *write_module(struct session *session, const struct arguments *arguments,
				  const char *name, const char *path)
{
	struct export_options options = {
		.guesses = arguments->options[OPTION_GUESSES] != NULL,
		.progress = session->progress,
	};
	struct export_summary summary;
	FILE *file;
	TRY(output_open(session->helper, path, false, &file));
	struct error *error = export_module(session->target, name, &options, file, &summary);
	error = output_close(session->helper, file, path, error);
	if (!error)
		report(session->out, path, &summary);
	return error;
}

/* --- a database ---------------------------------------------------------------------------------
 */

static const struct table *table_named(const char *name)
{
	for (size_t i = 0; commands[i]; i++)
		if (commands[i]->table && !strcmp(commands[i]->table->name, name))
			return commands[i]->table;
	return NULL;
}

static struct error *add_table(struct session *session, struct database *database,
			       const struct table *table, struct error **problem)
{
	struct out *out = session->out;
	uint64_t rows, missing;
	struct error *broken = NULL;
	TRY(database_add(database, session->target, table, &rows, &missing, &broken));
	if (*problem)
		error_free(broken);
	else
		*problem = broken;
	out_object_begin(out, NULL);
	out_text(out, "    ");
	out_string(out, "table", table->name);
	out_text(out, ": ");
	count(out, "rows", rows, " rows");
	if (missing) {
		out_text(out, ", ");
		count(out, "missing", missing, " values are not in the dump");
	} else {
		out_u64_as(out, "missing", 0, "");
	}
	out_text(out, "\n");
	out_object_end(out);
	return NULL;
}

/* The tables of these names, or all. */
static struct error *add_tables(struct session *session, struct database *database,
				const char *const *names, size_t name_count, struct error **problem)
{
	for (size_t i = 0; i < name_count; i++)
		TRY(add_table(session, database, table_named(names[i]), problem));
	for (size_t i = 0; commands[i] && !name_count; i++)
		if (commands[i]->table)
			TRY(add_table(session, database, commands[i]->table, problem));
	return NULL;
}

static struct error *check_tables(const char *const *names, size_t name_count)
{
	for (size_t i = 0; i < name_count; i++) {
		if (!table_named(names[i]))
			return error_create(ERROR_USAGE, "no table \"%s\"; `sql` lists them",
					    names[i]);
		for (size_t k = 0; k < i; k++)
			if (!strcmp(names[i], names[k]))
				return error_create(ERROR_USAGE, "table %s is named twice",
						    names[i]);
	}
	return NULL;
}

static struct error *write_database(struct session *session, const char *const *names,
				    size_t name_count, const char *path)
{
	struct out *out = session->out;
	struct database *database = NULL;
	struct error *problem = NULL;
	uint64_t size = 0;
	FILE *file;
	TRY(check_tables(names, name_count));
	TRY(output_open(session->helper, path, false, &file));
	struct error *error = database_create(file, &database);
	out_object_begin(out, NULL);
	out_string(out, "file", path);
	out_text(out, ":\n");
	out_array_begin(out, "tables");
	if (!error)
		error = add_tables(session, database, names, name_count, &problem);
	out_array_end(out);
	if (!error)
		error = error_prefix(database_finish(database, &size), "%s", path);
	database_destroy(database);
	error = output_close(session->helper, file, path, error);
	if (!error) {
		out_text(out, "    ");
		count(out, "bytes", size, " bytes");
		out_text(out, "\n");
	}
	out_object_end(out);
	if (!error)
		return problem;
	error_free(problem);
	return error;
}

static struct error *export_run(struct session *session, const struct arguments *arguments)
{
	const char *const *options = arguments->options;
	const char *what = arguments->operands[0];
	const char *path = arguments->operands[arguments->operand_count - 1];
	const char *module = options[OPTION_MODULE] ? options[OPTION_MODULE] : "vmlinux";
	bool is_vmlinux = !strcmp(what, "vmlinux"), is_module = !strcmp(what, "module");
	if (!strcmp(what, "sqlite")) {
		for (size_t i = 0; i < OPTIONS_MAX; i++)
			if (options[i])
				return command_usage_error(&command_export,
							   "a database has no options");
		if (arguments->operand_count < 2)
			return command_usage_error(&command_export, "one FILE");
		return write_database(session, arguments->operands + 1,
				      arguments->operand_count - 2, path);
	}
	if (arguments->operand_count != (is_module ? 3 : 2))
		return command_usage_error(&command_export,
					   is_module ? "a module's name and a FILE" : "one FILE");
	if ((is_vmlinux || is_module) && options[OPTION_MODULE])
		return command_usage_error(&command_export, "-m is for btf and variables");
	if (!is_vmlinux && (options[OPTION_NO_MODULES] || options[OPTION_TIERS]))
		return command_usage_error(&command_export,
					   "--no-modules and --tiers are for vmlinux");
	if (options[OPTION_TIERS] && !strcmp(options[OPTION_TIERS], path))
		return command_usage_error(&command_export, "--tiers and FILE are the same file");
	if (!is_vmlinux && !is_module && options[OPTION_GUESSES])
		return command_usage_error(&command_export, "--guesses is for vmlinux and module");
	if (is_vmlinux)
		return write_vmlinux(session, arguments, path);
	if (is_module)
		return write_module(session, arguments, arguments->operands[1], path);
	if (!strcmp(what, "btf"))
		return btf_output(session, module, path);
	if (!strcmp(what, "variables"))
		return btf_output_variables(session, module, path);
	return command_usage_error(
		&command_export, "no form \"%s\": vmlinux, module, btf, variables or sqlite", what);
}

static const char *const examples[] = { "export vmlinux /dev/null", "export btf /dev/null",
					"export sqlite /dev/null",
					"export sqlite tasks slabs /dev/null", NULL };

const struct command command_export = {
	.name = "export",
	.summary = "writes files for other tools: a vmlinux, BTF, a database",
	.description =
		"`export vmlinux FILE` writes an ELF file that crash, drgn, gdb and pahole take in "
		"the place of the vmlinux with debuginfo: the kernel's symbols, DWARF of all types "
		"of the kernel and its modules, of the functions whose prototype nothing disputes, "
		"and of the variables whose type is certain, inferred or declared (--guesses: of "
		"all); build ID and ORC tables. It has no local variables, and of lines of source "
		"those that the kernel keeps itself, of each BUG() and WARN(). The types of "
		"variables are what `globals` says, without its marks of how sure "
		"that is: DW_AT_producer says where they come from. Code and data are holes, which "
		"read as zeros: their contents are in the dump. Without --no-modules it is of this "
		"boot alone, for modules lie elsewhere in the next one. --tiers LIST writes what "
		"the "
		"file itself cannot say: a line for each variable, with tabs between name, module, "
		"address, type, confidence, origin, and whether it is in the file.\n\n"
		"`export module NAME FILE` writes an object file for one module, which crash's "
		"`mod -s NAME FILE`, drgn's -s and gdb's add-symbol-file read beside that of the "
		"kernel: sections by the names that the kernel keeps, symbols, types, variables, "
		"functions.\n\n"
		"`export btf FILE` writes the kernel's BTF, or a module's (-m). `export variables "
		"FILE` writes a split BTF that continues it, with VAR and DATASEC for the globals "
		"whose types BTF does not have and that are declared, or inferred without being a "
		"guess; a declaration tag says which: \"btfcrash:declared\", \"btfcrash:certain\", "
		"\"btfcrash:inferred\". bpftool (-B), libbpf and --btf read it.\n\n"
		"`export sqlite [TABLE...] FILE` writes the tables that `sql` asks, or only these, "
		"into a SQLite database, row by row; `btfcrash DUMP --sqlite FILE [TABLE...]` is "
		"the same. Addresses are integers there, texts have what a terminal must not see "
		"escaped, and what the dump lacks is NULL.",
	.options = { [OPTION_MODULE] = { 'm', "module", "MODULE", OPERAND_MODULE,
					 "BTF or variables of this module" },
		     [OPTION_NO_MODULES] = { 0, "no-modules", NULL, OPERAND_WORD,
					     "of the kernel alone: for all boots of this build" },
		     [OPTION_GUESSES] = { 0, "guesses", NULL, OPERAND_WORD,
					  "variables whose type is a guess, too" },
		     [OPTION_TIERS] = { 0, "tiers", "LIST", OPERAND_FILE,
					"how sure the type of each variable is, into this file" } },
	.operands = { { .name = "vmlinux|module NAME|btf|variables|sqlite [TABLE...]",
			.kind = OPERAND_WORD },
		      { .name = "FILE", .kind = OPERAND_OUTPUT, .repeated = true } },
	.examples = examples,
	.needs = NEEDS_MEMORY | NEEDS_SYMBOLS | NEEDS_BTF,
	.run = export_run,
};
