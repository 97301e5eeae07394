// SPDX-License-Identifier: GPL-3.0-or-later
#include "cmds/command.h"

#include "base/array.h"
#include "base/interrupt.h"
#include "debugger/infer/instances.h"
#include "debugger/kernel/module.h"
#include "debugger/target/object.h"
#include <inttypes.h>
#include <string.h>

extern const struct command command_sym;

/* --- what tells equal names apart ------------------------------------------------ */

/* Where the linker put it, as far as symbols of the kernel say. */
static const char *kernel_section(const struct symtab *symtab, uint64_t address)
{
	static const char *const sections[][3] = {
		{ ".text", "_stext", "_etext" },
		{ ".init.text", "_sinittext", "_einittext" },
		{ ".init", "__init_begin", "__init_end" },
		{ ".rodata", "__start_rodata", "__end_rodata" },
		{ ".data", "_sdata", "_edata" },
		{ ".bss", "__bss_start", "__bss_stop" },
		{ ".brk", "__brk_base", "__brk_limit" },
	};
	uint64_t start, end;
	for (size_t i = 0; i < ARRAY_COUNT(sections); i++)
		if (symtab_address(symtab, sections[i][1], &start) &&
		    symtab_address(symtab, sections[i][2], &end) && address - start < end - start)
			return sections[i][0];
	return "";
}

struct nearest_section {
	uint64_t address; /* of the symbol */
	struct module_section section;
};

static struct error *take_nearer(void *context, const struct module_section *section)
{
	struct nearest_section *nearest = context;
	if (section->address <= nearest->address && section->address >= nearest->section.address &&
	    section->address)
		nearest->section = *section;
	return NULL;
}

static void find_section(struct target *target, const struct symbol *symbol,
			 struct nearest_section *ret)
{
	*ret = (struct nearest_section){ .address = symbol->address };
	const struct module *module = symbol->module ? target_module(target, symbol->module) : NULL;
	if (symbol->per_cpu)
		snprintf(ret->section.name, sizeof(ret->section.name), ".data..percpu");
	else if (!symbol->module)
		snprintf(ret->section.name, sizeof(ret->section.name), "%s",
			 kernel_section(target->symbols, symbol->address));
	else if (module && target->memory && target->btf)
		error_free(module_for_each_section(target, module, take_nearer, ret));
}

/* Section and size. */
static void show_place(struct session *session, const struct symbol *symbol)
{
	struct nearest_section nearest;
	struct out *out = session->out;
	find_section(session->target, symbol, &nearest);
	if (*nearest.section.name) {
		out_text(out, "  ");
		out_string(out, "section", nearest.section.name);
	} else {
		out_null_as(out, "section", "");
	}
	if (symbol->size)
		out_text(out,
			 symbol->size_exact ? ", %" PRIu64 " bytes"
					    : ", %" PRIu64 " bytes to the next symbol",
			 symbol->size);
	out_u64_as(out, "size", symbol->size, "");
}

/* --- one symbol ------------------------------------------------------------------ */

/* `has_place`: with section and size. */
static void show_symbol(struct session *session, const struct symbol *symbol, uint64_t offset,
			bool has_place)
{
	struct out *out = session->out;
	out_item(out, symbol->address + offset, NULL);
	out_object_begin(out, NULL);
	out_address(out, "address", symbol->address + offset);
	out_text(out, " (");
	out_string_bytes(out, "kind", &symbol->kind, 1);
	out_text(out, ") ");
	out_string(out, "name", symbol->name);
	if (offset) {
		out_text(out, "+0x%" PRIx64, offset);
		out_u64_as(out, "offset", offset, "");
	}
	if (symbol->module) {
		out_text(out, " [");
		out_string(out, "module", symbol->module);
		out_text(out, "]");
	} else {
		out_null_as(out, "module", "");
	}
	if (symbol->per_cpu)
		out_bool_as(out, "per_cpu", true, "");
	if (has_place)
		show_place(session, symbol);
	out_object_end(out);
	out_text(out, "\n");
}

/* --- lists ---------------------------------------------------------------------- */

/* `module` NULL: of any; `part` NULL: with any name. */
static struct error *list_symbols(struct session *session, const char *module, const char *part)
{
	const struct symtab *symtab = session->target->symbols;
	uint32_t count = symtab_count(symtab);
	struct symbol symbol;
	for (uint32_t i = module ? symtab_kernel_count(symtab) : 0; i < count; i++) {
		symtab_get(symtab, i, &symbol);
		/* A symbol whose name was lost to damage has none to show. */
		if (*symbol.name && (!module || !strcmp(symbol.module, module)) &&
		    (!part || strstr(symbol.name, part)))
			show_symbol(session, &symbol, 0, false);
		if (i & 4095)
			continue;
		TRY(interrupt_check());
		progress_report(session->progress, "symbols", i, count);
	}
	return NULL;
}

static struct error *run_list(struct session *session, const char *module, const char *part)
{
	const struct module *modules;
	target_modules(session->target, &modules);
	if (module && !target_module(session->target, module))
		return error_create(ERROR_NOT_FOUND, "no module %s is loaded", module);
	out_array_begin(session->out, NULL);
	struct error *error = list_symbols(session, module, part);
	out_array_end(session->out);
	return error;
}

/* --- which of several functions has which prototype ---------------------------------- */

static void show_prototype(struct out *out, const struct function_instance *instance)
{
	struct btf_type function;
	char text[1024] = "";
	if (instance->function.btf && type_get(instance->function, &function))
		type_spell((struct type){ instance->function.btf, function.type }, function.name,
			   text, sizeof(text));
	out_string_as(out, "prototype", text, *text ? text : "?");
	out_u64_as(out, "btf_id", instance->function.id, "");
}

static struct error *show_instance(void *context, const struct function_instance *instance)
{
	struct out *out = context;
	const struct symbol *symbol = &instance->symbol;
	bool is_proved = instance->proof != INSTANCE_UNPROVED;
	out_item(out, symbol->address, NULL);
	out_object_begin(out, NULL);
	out_address(out, "address", symbol->address);
	out_text(out, " ");
	out_string(out, "name", symbol->name);
	if (symbol->module) {
		out_text(out, " [");
		out_string(out, "module", symbol->module);
		out_text(out, "]");
	} else {
		out_null_as(out, "module", "");
	}
	out_text(out, ", ");
	out_u64(out, "size", symbol->size);
	out_text(out, " bytes: ");
	show_prototype(out, instance);
	out_text(out, "  // ");
	out_bool_as(out, "proved", is_proved, is_proved ? "proved" : "unproved");
	out_string_as(out, "proof", instance_proof_name(instance->proof), "");
	if (instance->proof != INSTANCE_ONLY && instance->why) {
		out_text(out, ": ");
		out_string(out, "why", instance->why);
	}
	out_u64_as(out, "candidates", instance->candidates, "");
	out_u64_as(out, "refuted", instance->refuted, "");
	if (instance->candidates > 1)
		out_text(out, " (%" PRIu32 " prototypes of that name, %" PRIu32 " refuted)",
			 instance->candidates, instance->refuted);
	out_object_end(out);
	out_text(out, "\n");
	return NULL;
}

/* `names` none: of all that are not the only ones of their names. */
static struct error *run_functions(struct session *session, const struct arguments *arguments)
{
	struct error *error = NULL;
	TRY(target_need_btf(session->target));
	out_array_begin(session->out, NULL);
	if (!arguments->operand_count)
		error = function_instances(session->target, NULL, show_instance, session->out);
	for (size_t i = 0; !error && i < arguments->operand_count; i++)
		error = function_instances(session->target, arguments->operands[i], show_instance,
					   session->out);
	out_array_end(session->out);
	return error;
}

/* --- look-ups -------------------------------------------------------------------- */

/* All symbols of that name; false: none. */
static bool show_named(struct session *session, const char *name)
{
	uint64_t cursor = 0;
	struct symbol symbol;
	bool any = false;
	while (target_find_symbol(session->target, NULL, name, &cursor, &symbol)) {
		show_symbol(session, &symbol, 0, true);
		any = true;
	}
	return any;
}

static struct error *show_operand(struct session *session, const char *operand)
{
	if (show_named(session, operand))
		return NULL;
	uint64_t address, offset;
	TRY(expression_address(&session->scope, operand, &address));
	struct symbol symbol;
	if (!target_symbol_at(session->target, address, &symbol, &offset))
		return error_create(ERROR_NOT_FOUND, "no symbol is near 0x%" PRIx64, address);
	show_symbol(session, &symbol, offset, true);
	return NULL;
}

static struct error *run(struct session *session, const struct arguments *arguments)
{
	const char *module = argument_option(&command_sym, arguments, 'm');
	const char *part = argument_option(&command_sym, arguments, 'q');
	if (argument_option(&command_sym, arguments, 'f'))
		return run_functions(session, arguments);
	if (argument_option(&command_sym, arguments, 'l') || module || part)
		return run_list(session, module, part);
	if (!arguments->operand_count)
		return error_create(ERROR_USAGE, "name a symbol or an address, or list with -l, "
						 "-m or -q");
	struct error *first = NULL;
	out_array_begin(session->out, NULL);
	for (size_t i = 0; i < arguments->operand_count; i++) {
		struct error *error = show_operand(session, arguments->operands[i]);
		if (first)
			error_free(error);
		else
			first = error;
	}
	out_array_end(session->out);
	return first;
}

const struct command command_sym = {
	.name = "sym",
	.summary = "find symbols by name or address, or list them",
	.description =
		"Of a name, shows every symbol that is called so, for names are not unique; of an\n"
		"address, the symbol that holds it, and how far inside. The letter is nm's, as\n"
		"/proc/kallsyms has it; the brackets name the module.\n"
		"\n"
		"-l lists all symbols in the order of /proc/kallsyms.\n"
		"\n"
		"-f says which prototype the functions of a name have, and whether that is proved: "
		"static\n"
		"functions of one name have nothing to do with one another, and BTF does not say "
		"which of\n"
		"its prototypes belongs to which address. Proved is what the code does with its "
		"arguments,\n"
		"where it fits one prototype and no other. Clones of the compiler (.isra, "
		".constprop, .part,\n"
		".cold) may have other parameters than the function that they were made of. Without "
		"names:\n"
		"all functions of names that are not unique.",
	.options = {
		{ 'l', "list", NULL, OPERAND_WORD, "list all symbols" },
		{ 'm', "module", "MODULE", OPERAND_MODULE, "list the symbols of one module" },
		{ 'f', "functions", NULL, OPERAND_WORD,
		  "which prototype each function of the name has" },
		{ 'q', "query", "STRING", OPERAND_WORD, "list the symbols whose name has STRING" },
	},
	.operands = { { .name = "SYMBOL|ADDRESS",
			.kind = OPERAND_SYMBOL,
			.optional = true,
			.repeated = true } },
	.examples = (const char *const[]){ "sym init_task", "sym -q init_task", "sym -l",
					     "sym -f schedule", NULL },
	.needs = NEEDS_SYMBOLS,
	.run = run,
};
