// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/command/command.h"
#include "debugger/show/function_instance.h"

#include "base/interrupt.h"
#include "debugger/functions/instances.h"
#include <inttypes.h>
#include <string.h>

extern const struct command command_sym;

/* --- one symbol ------------------------------------------------------------------ */

/* Section and size. */
static void show_place(struct session *session, const struct symbol *symbol)
{
	struct module_section section;
	struct out *out = session->out;
	symbol_section(session->target, symbol, &section);
	if (*section.name) {
		out_text(out, "  ");
		out_string(out, "section", section.name);
	} else {
		out_null_as(out, "section", "");
	}
	if (symbol->size)
		out_text(out,
			 symbol->size_exact ? ", %" PRIu64 " bytes"
					    : ", %" PRIu64 " bytes to the next symbol",
			 symbol->size);
	out_u64_as(out, "size", symbol->size, "");
	if (symbol->evidence) {
		out_text(out, "  (found: ");
		out_string(out, "evidence", symbol->evidence);
		out_text(out, ")");
	}
}

/* `has_place`: with section and size. */
static void show_symbol(struct session *session, const struct symbol *symbol, uint64_t offset,
			bool has_place)
{
	struct out *out = session->out;
	out_item_named(out, symbol->address + offset, NULL);
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
	char buffer[SYMBOL_NAME_SIZE];
	struct symbol symbol;
	for (uint32_t i = module ? symtab_kernel_count(symtab) : 0; i < count; i++) {
		symtab_get_into(symtab, i, buffer, &symbol);
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

/* --- functions ------------------------------------------------------------------- */

/* `names` none: of all that are not the only ones of their names. */
static struct error *run_functions(struct session *session, const struct arguments *arguments)
{
	struct error *error = NULL;
	TRY(target_need_btf(session->target));
	out_array_begin(session->out, NULL);
	if (!arguments->operand_count)
		error = function_instances(session->target, NULL, function_instance_show, session);
	for (size_t i = 0; !error && i < arguments->operand_count; i++)
		error = function_instances(session->target, arguments->operands[i],
					   function_instance_show, session);
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

/* A name that is none may be a part of one. */
static struct error *name_the_list(struct error *error, const char *operand)
{
	if (!error || error->kind != ERROR_NOT_FOUND || !*operand ||
	    operand[strspn(operand, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")])
		return error;
	const char *message = error->message;
	bool asks = *message && message[strlen(message) - 1] == '?';
	struct error *more = error_create(ERROR_NOT_FOUND,
					  "%s%s `sym -q %s` lists the names with it in them",
					  message, asks ? "" : ";", operand);
	error_free(error);
	return more;
}

static struct error *show_operand(struct session *session, const char *operand)
{
	if (show_named(session, operand))
		return NULL;
	uint64_t address, offset;
	TRY(name_the_list(expression_address(&session->scope, operand, &address), operand));
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
		"/proc/kallsyms has it; the brackets name the module. Where the kernel's table has\n"
		"functions only (built without CONFIG_KALLSYMS_ALL), `(found: ...)` says how the\n"
		"address of data is known.\n"
		"\n"
		"-l lists all symbols in the order of /proc/kallsyms.\n"
		"\n"
		"-f says which prototype the functions of a name have, and whether that is proved: "
		"static\n"
		"functions of one name have nothing to do with one another, and BTF does not say "
		"which of\n"
		"its prototypes belongs to which address. Proved is what the code does with its "
		"arguments,\n"
		"or what a table of pointers says, where it fits one prototype and no other; refuted, "
		"where\n"
		"it fits none, for BTF may have that of an inlined function. Clones of the compiler "
		"(.isra,\n"
		".constprop, .part, .cold) may have other parameters than the function that they were "
		"made\n"
		"of. SYMBOL may be a pattern. Without names: all functions of names that are not "
		"unique.",
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
	.per_task = true,
	.run = run,
};
