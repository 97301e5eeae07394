// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/array.h"
#include "base/interrupt.h"
#include "debugger/command/command.h"
#include "debugger/kernel/module.h"
#include "debugger/kernel/parameter.h"
#include "debugger/target/object.h"
#include <inttypes.h>
#include <string.h>

#define USERS_SIZE 4096
#define LABEL	   12 /* places for the names on the left */

/* enum module_state, in the words of /proc/modules. */
static const char *state_name(uint32_t state)
{
	static const char *const names[] = { "Live", "Loading", "Unloading" };
	return state < ARRAY_COUNT(names) ? names[state] : "?";
}

/* --- all modules ----------------------------------------------------------------------------- */

static void write_users(struct out *out, struct target *target, const struct module *module,
			const char *nobody)
{
	char users[USERS_SIZE];
	struct error *error = module_users(target, module, users, sizeof(users));
	if (error)
		out_missing(out, "used_by", error);
	else
		out_string_as(out, "used_by", users, *users ? users : nobody);
	error_free(error);
}

static void write_references(struct out *out, const struct module_facts *facts)
{
	if (facts->has_references)
		out_i64(out, "references", facts->references);
	else
		out_null_as(out, "references", "-");
}

static void write_module(struct session *session, const struct module *module)
{
	struct out *out = session->out;
	struct module_facts facts;
	struct error *error = module_facts_read(session->target, module, &facts);
	out_item_named(out, module->address, "struct module");
	out_row_begin(out);
	out_address(out, "address", module->base);
	out_string(out, "name", module->name);
	out_u64(out, "size", module->size);
	out_string(out, "state", state_name(module->state));
	write_references(out, &facts);
	out_string(out, "taint", facts.letters);
	write_users(out, session->target, module, "");
	out_row_end(out);
	error_free(error);
}

static struct error *list_modules(struct session *session)
{
	static const struct column columns[] = {
		{ "address", "ADDRESS", 16 }, { "name", "NAME", -24 },	   { "size", "SIZE", 9 },
		{ "state", "STATE", -8 },     { "references", "REFS", 4 }, { "taint", "TAINT", -5 },
		{ "used_by", "USED BY", -1 },
	};
	const struct module *modules;
	size_t count = target_modules(session->target, &modules);
	out_table_begin(session->out, NULL, columns, ARRAY_COUNT(columns));
	for (size_t i = 0; i < count; i++) {
		TRY(interrupt_check());
		write_module(session, &modules[i]);
	}
	out_table_end(session->out);
	return target_part_problem(session->target, PART_MODULES);
}

/* --- parameters ------------------------------------------------------------------------------ */

static void write_value(struct session *session, const struct parameter *parameter)
{
	struct out *out = session->out;
	struct value value = { .target = session->target,
			       .type = parameter->type,
			       .in_memory = true,
			       .address = parameter->variable,
			       .origin = ORIGIN_CERTAIN };
	struct render_options options = session->render;
	options.one_line = true;
	/* A parameter that was only a name for a function to call. */
	if (!parameter->type.btf || !parameter->variable) {
		out_null_as(out, "value", "?");
		return;
	}
	struct error *error = value_render(out, "value", &value, &options);
	if (error)
		out_missing(out, "value", error);
	error_free(error);
}

/* Who sets and shows it, where the kernel's own operations do not. */
static void write_operations(struct session *session, const struct parameter *parameter)
{
	char text[SYMBOL_NAME_SIZE + 80];
	bool is_named = target_describe(session->target, parameter->operations, text, sizeof(text));
	if (!is_named)
		snprintf(text, sizeof(text), "0x%" PRIx64, parameter->operations);
	const char *shown = parameter->type.btf ? "" : text;
	if (is_named)
		out_string_as(session->out, "operations", text, shown);
	else
		out_address_as(session->out, "operations", parameter->operations, shown);
}

static struct error *write_parameter(void *context, const struct parameter *parameter)
{
	struct session *session = context;
	struct out *out = session->out;
	char type[256] = "", mode[16];
	TRY(interrupt_check());
	if (parameter->type.btf)
		type_spell(parameter->type, NULL, type, sizeof(type));
	snprintf(mode, sizeof(mode), "%04o", parameter->permissions);
	out_item_named(out, parameter->address, "struct kernel_param");
	out_row_begin(out);
	out_string(out, "name", *parameter->name ? parameter->name : "?");
	out_u64_as(out, "mode", parameter->permissions, mode);
	out_string_as(out, "type", type, *type ? type : "?");
	write_value(session, parameter);
	write_operations(session, parameter);
	out_address(out, "argument", parameter->argument);
	out_bool(out, "inverted", parameter->is_inverted);
	out_row_end(out);
	return NULL;
}

static struct error *show_parameters(struct session *session, const char *key,
				     const struct module *module)
{
	static const struct column columns[] = {
		{ "name", "PARAMETER", -32 }, { "mode", "MODE", 5 },	{ "type", "TYPE", -16 },
		{ "value", "VALUE", -16 },    { "operations", "", -1 }, { "argument", NULL, 0 },
		{ "inverted", NULL, 0 },
	};
	const struct parameter_visitor visitor = { write_parameter, session };
	out_table_begin(session->out, key, columns, ARRAY_COUNT(columns));
	struct error *error = parameter_for_each(session->target, module, &visitor);
	out_table_end(session->out);
	return error_prefix(error, "parameters");
}

/* --- one module ------------------------------------------------------------------------------ */

static void label(struct out *out, const char *name)
{
	out_text(out, "%*s: ", LABEL, name);
}

static void field(struct out *out, const char *name, const char *key, const char *value)
{
	if (*value)
		label(out, name);
	out_string(out, key, value);
	if (*value)
		out_text(out, "\n");
}

static void show_build_id(struct session *session, const struct module *module)
{
	uint8_t bytes[MODULE_BUILD_ID_SIZE];
	char text[2 * MODULE_BUILD_ID_SIZE + 1] = "";
	size_t size = 0;
	struct error *error = module_build_id(session->target, module, bytes, &size);
	for (size_t i = 0; !error && i < size; i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
	field(session->out, "BUILD ID", "build_id", text);
	error_free(error);
}

/* Its own BTF; what it rests on is the kernel's. */
static void show_btf(struct session *session, const struct module *module)
{
	struct out *out = session->out;
	const struct btf *btf = target_module_btf(session->target, module);
	label(out, "BTF");
	out_object_begin(out, "btf");
	if (btf) {
		out_text(out, "ids ");
		out_u64(out, "first_id", btf_start_id(btf));
		out_text(out, " to ");
		out_u64(out, "last_id", btf_end_id(btf) - 1);
		const struct btf *base = btf_base(btf);
		out_text(out, ", on top of ");
		out_string(out, "base", base ? btf_name(base) : "nothing");
	} else {
		out_text(out, "none");
	}
	out_object_end(out);
	out_text(out, "\n");
}

static void show_sizes(struct session *session, const struct module *module,
		       const struct module_facts *facts)
{
	struct out *out = session->out;
	label(out, "SIZE");
	out_u64(out, "size", module->size);
	out_text(out, " bytes, of them ");
	out_u64(out, "init_size", facts->init_size);
	out_text(out, " for initialization\n");
	if (module->percpu_size)
		label(out, "PER CPU");
	out_u64_as(out, "percpu_size", module->percpu_size, "");
	if (module->percpu_size)
		out_text(out, "%" PRIu64 " bytes at %" PRIx64 "\n", module->percpu_size,
			 module->percpu);
	out_address_as(out, "percpu", module->percpu, "");
}

static void show_usage(struct session *session, const struct module *module,
		       const struct module_facts *facts)
{
	struct out *out = session->out;
	label(out, "STATE");
	out_string(out, "state", state_name(module->state));
	out_text(out, ", references ");
	write_references(out, facts);
	out_text(out, ", used by ");
	write_users(out, session->target, module, "nobody");
	out_text(out, "\n");
	if (*facts->letters)
		label(out, "TAINT");
	out_string(out, "taint", facts->letters);
	if (*facts->letters)
		out_text(out, "\n");
}

/* Why a part of it is missing. */
static void show_problem(struct out *out, const char *message)
{
	label(out, "PROBLEM");
	out_string(out, NULL, message);
	out_text(out, "\n");
}

static void show_head(struct session *session, const struct module *module)
{
	struct out *out = session->out;
	struct module_facts facts;
	struct error *error = module_facts_read(session->target, module, &facts);
	field(out, "MODULE", "name", module->name);
	label(out, "ADDRESS");
	out_address(out, "address", module->base);
	out_text(out, ", struct module ");
	out_address(out, "struct_module", module->address);
	out_text(out, "\n");
	show_sizes(session, module, &facts);
	show_usage(session, module, &facts);
	field(out, "VERSION", "version", facts.version);
	field(out, "SRCVERSION", "srcversion", facts.source_version);
	show_build_id(session, module);
	show_btf(session, module);
	out_array_begin(out, "problems");
	if (module->problem)
		show_problem(out, module->problem->message);
	if (error)
		show_problem(out, error->message);
	out_array_end(out);
	error_free(error);
}

static struct error *write_section(void *context, const struct module_section *section)
{
	struct out *out = context;
	out_row_begin(out);
	out_address(out, "address", section->address);
	out_string(out, "name", section->name);
	out_row_end(out);
	return NULL;
}

static struct error *show_sections(struct session *session, const struct module *module)
{
	static const struct column columns[] = { { "address", "ADDRESS", 16 },
						 { "name", "SECTION", -1 } };
	out_table_begin(session->out, "sections", columns, ARRAY_COUNT(columns));
	struct error *error =
		module_for_each_section(session->target, module, write_section, session->out);
	out_table_end(session->out);
	return error;
}

static struct error *show_module(struct session *session, const struct module *module)
{
	struct out *out = session->out;
	out_item_named(out, module->address, "struct module");
	out_object_begin(out, NULL);
	show_head(session, module);
	out_text(out, "\n");
	struct error *error = show_parameters(session, "parameters", module);
	out_text(out, "\n");
	struct error *second = show_sections(session, module);
	out_object_end(out);
	if (!error)
		return second;
	error_free(second);
	return error;
}

/* --- the command ----------------------------------------------------------------------------- */

static struct error *mod_run(struct session *session, const struct arguments *arguments)
{
	if (arguments->options[0]) {
		if (arguments->operand_count)
			return error_create(ERROR_USAGE,
					    "what is built in is no module of its own");
		return show_parameters(session, NULL, NULL);
	}
	if (!arguments->operand_count)
		return list_modules(session);
	const char *name = arguments->operands[0];
	const struct module *module = target_module(session->target, name);
	if (!module)
		return error_create(ERROR_NOT_FOUND, "no module %s is loaded", name);
	return show_module(session, module);
}

static const char *const examples[] = { "mod", "mod -b", "mod | print {name, refcnt.counter}",
					NULL };

const struct command command_mod = {
	.name = "mod",
	.alias = "lsmod",
	.summary = "loaded modules",
	.description =
		"Lists the loaded modules: where the text begins, the size in bytes, the state, "
		"how "
		"often it is used, what it tainted the kernel with and who uses it, as "
		"/proc/modules "
		"has them. Behind a pipe, each is `$_`, a struct module *.\n"
		"\n"
		"Of one module: its versions, build id and BTF, its parameters with their values, "
		"and where its sections are. The type of a parameter is what the kernel's "
		"operations "
		"for it take; of operations that are a driver's own, only their name is shown.",
	.options = { { 'b', "builtin", NULL, 0, "parameters of what is built into the kernel" } },
	.operands = { { .name = "MODULE", .kind = OPERAND_MODULE, .optional = true } },
	.examples = examples,
	.needs = NEEDS_MEMORY | NEEDS_SYMBOLS | NEEDS_BTF,
	.run = mod_run,
};
