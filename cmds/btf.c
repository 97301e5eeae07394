// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/array.h"
#include "debugger/command/btf_output.h"
#include "debugger/command/command.h"
#include "debugger/show/btf_diff.h"
#include "debugger/target/btf_files.h"

extern const struct command command_btf;

enum { OPTION_DIFF, OPTION_EXPORT, OPTION_VARIABLES, OPTION_MODULE };

static const struct column columns[] = {
	{ "name", "NAME", -20 },     { "level", "LEVEL", 5 },	  { "base", NULL, 0 },
	{ "types", "TYPES", 7 },     { "struct", "STRUCT", 6 },	  { "union", "UNION", 5 },
	{ "enum", "ENUM", 5 },	     { "typedef", "TYPEDEF", 7 }, { "func", "FUNC", 6 },
	{ "var", "VAR", 5 },	     { "datasec", NULL, 0 },	  { "int", NULL, 0 },
	{ "ptr", NULL, 0 },	     { "array", NULL, 0 },	  { "fwd", NULL, 0 },
	{ "volatile", NULL, 0 },     { "const", NULL, 0 },	  { "restrict", NULL, 0 },
	{ "func_proto", NULL, 0 },   { "float", NULL, 0 },	  { "decl_tag", NULL, 0 },
	{ "type_tag", NULL, 0 },     { "unknown", NULL, 0 },	  { "type_bytes", NULL, 0 },
	{ "string_bytes", NULL, 0 }, { "bytes", "BYTES", 8 },	  { "first_id", NULL, 0 },
	{ "module", NULL, 0 },	     { "from", "FROM", -1 },	  { "problem", NULL, 0 },
};

/* One of the BTFs there are; a module may have none. */
struct entry {
	const char *name, *module, *from;
	const struct btf *btf;
	const char *problem; /* NULL: none */
};

static void count_kinds(const struct btf *btf, uint32_t *ret)
{
	struct btf_type type;
	for (uint32_t id = btf_start_id(btf); id < btf_end_id(btf); id++)
		if (btf_get(btf, id, &type))
			ret[type.kind < BTF_KIND_COUNT ? type.kind : BTF_VOID]++;
}

static unsigned int level_number(const struct btf *btf)
{
	unsigned int number = 1;
	while ((btf = btf_base(btf)))
		number++;
	return number;
}

static void write_kinds(struct out *out, const struct btf *btf)
{
	uint32_t kinds[BTF_KIND_COUNT] = { 0 };
	count_kinds(btf, kinds);
	out_u64(out, "struct", kinds[BTF_STRUCT]);
	out_u64(out, "union", kinds[BTF_UNION]);
	out_u64(out, "enum", kinds[BTF_ENUM] + kinds[BTF_ENUM64]);
	out_u64(out, "typedef", kinds[BTF_TYPEDEF]);
	out_u64(out, "func", kinds[BTF_FUNC]);
	out_u64(out, "var", kinds[BTF_VAR]);
	out_u64(out, "datasec", kinds[BTF_DATASEC]);
	out_u64(out, "int", kinds[BTF_INT]);
	out_u64(out, "ptr", kinds[BTF_PTR]);
	out_u64(out, "array", kinds[BTF_ARRAY]);
	out_u64(out, "fwd", kinds[BTF_FWD]);
	out_u64(out, "volatile", kinds[BTF_VOLATILE]);
	out_u64(out, "const", kinds[BTF_CONST]);
	out_u64(out, "restrict", kinds[BTF_RESTRICT]);
	out_u64(out, "func_proto", kinds[BTF_FUNC_PROTO]);
	out_u64(out, "float", kinds[BTF_FLOAT]);
	out_u64(out, "decl_tag", kinds[BTF_DECL_TAG]);
	out_u64(out, "type_tag", kinds[BTF_TYPE_TAG]);
	out_u64(out, "unknown", kinds[BTF_VOID]);
}

static void write_btf(struct out *out, const struct btf *btf)
{
	const struct btf *base = btf_base(btf);
	out_u64(out, "level", level_number(btf));
	if (base)
		out_string(out, "base", btf_name(base));
	else
		out_null_as(out, "base", "");
	out_u64(out, "types", btf_end_id(btf) - btf_start_id(btf));
	write_kinds(out, btf);
	out_u64(out, "type_bytes", btf_type_bytes(btf));
	out_u64(out, "string_bytes", btf_string_size(btf));
	out_u64(out, "bytes", (uint64_t)btf_type_bytes(btf) + btf_string_size(btf));
	out_u64(out, "first_id", btf_start_id(btf));
}

static void write_entry(struct out *out, const struct entry *entry)
{
	out_row_begin(out);
	out_string(out, "name", entry->name);
	if (entry->btf) {
		write_btf(out, entry->btf);
	} else {
		for (size_t i = 1; strcmp(columns[i].key, "module") != 0; i++)
			out_null_as(out, columns[i].key, columns[i].title ? "-" : "");
	}
	if (entry->module)
		out_string(out, "module", entry->module);
	else
		out_null_as(out, "module", "");
	if (entry->btf && !entry->problem)
		out_string(out, "from", entry->from);
	else
		out_string_as(out, "from", entry->btf ? entry->from : "",
			      entry->problem ? entry->problem : "none");
	if (entry->problem)
		out_string(out, "problem", entry->problem);
	else
		out_null_as(out, "problem", "");
	out_row_end(out);
}

static void list_modules(struct out *out, struct target *target)
{
	const struct module *modules;
	size_t count = target_modules(target, &modules);
	for (size_t i = 0; i < count; i++) {
		const struct btf *btf = target_module_btf(target, &modules[i]);
		const struct error *problem = modules[i].problem;
		if (modules[i].btf_is_of_file)
			continue;
		write_entry(out, &(struct entry){ .name = modules[i].name,
						  .module = modules[i].name,
						  .from = "dump",
						  .btf = btf,
						  .problem = problem ? problem->message : NULL });
	}
}

static struct error *list(struct session *session)
{
	struct target *target = session->target;
	struct out *out = session->out;
	out_table_begin(out, NULL, columns, ARRAY_COUNT(columns));
	if (!target->btf_is_of_file)
		write_entry(out, &(struct entry){ .name = "vmlinux",
						  .from = "dump",
						  .btf = target->btf,
						  .problem = btf_warning(target->btf) });
	list_modules(out, target);
	for (size_t i = 0; i < target_btf_file_count(target); i++) {
		const struct btf_file *file = target_btf_file(target, i);
		write_entry(out, &(struct entry){ .name = file->name,
						  .module = *file->module ? file->module : NULL,
						  .from = file->path,
						  .btf = file->btf });
	}
	out_table_end(out);
	return NULL;
}

static struct error *btf_run(struct session *session, const struct arguments *arguments)
{
	const char *const *options = arguments->options;
	const char *name = options[OPTION_MODULE] ? options[OPTION_MODULE] : "vmlinux";
	if (options[OPTION_DIFF]) {
		if (arguments->operand_count != 2)
			return command_usage_error(&command_btf, "--diff compares two");
		return btf_diff_write(session, arguments->operands[0], arguments->operands[1]);
	}
	if (arguments->operand_count)
		return command_usage_error(&command_btf, "names are for --diff");
	if (options[OPTION_EXPORT])
		return btf_output(session, name, options[OPTION_EXPORT]);
	if (options[OPTION_VARIABLES])
		return btf_output_variables(session, name, options[OPTION_VARIABLES]);
	return list(session);
}

static const char *const examples[] = { "btf", "btf --diff vmlinux vmlinux",
					"btf --export /dev/null", NULL };

const struct command command_btf = {
	.name = "btf",
	.summary = "which BTF there is; compares and exports it",
	.description =
		"Lists the BTF of the kernel, of its modules and of files (--btf): level (1 "
		"continues "
		"nothing), how many types of which kind, size in bytes, and where it is from.\n\n"
		"--diff shows which types, functions and variables differ between two: "
		"\"vmlinux\", a "
		"module, a file that was given, the path of a file, or another dump, whose kernel "
		"is "
		"meant. \"changed\": no definition of the name in one equals that in the other.\n\n"
		"--export writes the kernel's BTF, or a module's (-m). --export-variables writes a "
		"split "
		"BTF that continues it, with VAR and DATASEC for the globals whose types BTF does "
		"not "
		"have and that are declared, or inferred without being a guess; a declaration tag "
		"says "
		"which: \"btfcrash:declared\", \"btfcrash:certain\", \"btfcrash:inferred\". "
		"bpftool "
		"(-B), libbpf and --btf read it.",
	.options = { [OPTION_DIFF] = { 0, "diff", NULL, 0, "what differs between two" },
		     [OPTION_EXPORT] = { 0, "export", "FILE", OPERAND_FILE, "writes it as it is" },
		     [OPTION_VARIABLES] = { 0, "export-variables", "FILE", OPERAND_FILE,
					    "writes what is known of globals" },
		     [OPTION_MODULE] = { 'm', "module", "MODULE", OPERAND_MODULE,
					 "of this module" } },
	.operands = { { .name = "BTF", .kind = OPERAND_FILE, .optional = true, .repeated = true } },
	.examples = examples,
	.needs = NEEDS_MEMORY | NEEDS_SYMBOLS | NEEDS_BTF,
	.run = btf_run,
};
