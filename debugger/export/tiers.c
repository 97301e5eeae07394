// SPDX-License-Identifier: GPL-3.0-or-later
/* How sure the types of variables are, which DWARF has no word for, in a list beside the file. */
#include "debugger/export/exporting.h"
#include "debugger/infer/symbol_type.h"
#include <inttypes.h>

#define TYPE_MAX DWARF_NAME_MAX

static void write_row(const struct exported_variable *variable, const struct symbol *symbol,
		      FILE *file)
{
	char name[DWARF_NAME_MAX + 1], spelled[TYPE_MAX + 1] = "", type[DWARF_NAME_MAX + 1];
	char module[DWARF_NAME_MAX + 1];
	const char *confidence = NULL;
	if (variable->type.btf) {
		type_spell(variable->type, NULL, spelled, sizeof(spelled));
		confidence = origin_confidence_name(variable->origin);
	}
	/* Names of the dump's: no tab and no end of line is left in them. */
	(void)dwarf_clean_name(symbol->name, name);
	(void)dwarf_clean_name(symbol->module ? symbol->module : "vmlinux", module);
	(void)dwarf_clean_name(spelled, type);
	fprintf(file, "%s\t%s\t0x%" PRIx64 "\t%s\t%s\t%s\t%s\n", name, module, symbol->address,
		type, confidence ? confidence : "unknown",
		variable->type.btf ? origin_data_name(variable->origin) : "",
		variable->is_written ? "yes" : "no");
}

struct error *export_tiers(const struct exporting *exporting)
{
	FILE *file = exporting->options->tiers;
	char buffer[SYMBOL_NAME_SIZE];
	struct symbol symbol;
	uint32_t last = HASH_NONE;
	fputs("name\tmodule\taddress\ttype\tconfidence\torigin\tin_file\n", file);
	for (size_t i = 0; i < exporting->variable_count; i++) {
		const struct exported_variable *variable = &exporting->variables[i];
		if (variable->symbol == last)
			continue;
		last = variable->symbol;
		symtab_get_into(exporting->target->symbols, variable->symbol, buffer, &symbol);
		write_row(variable, &symbol, file);
	}
	return fflush(file) ? error_system("the list of tiers") : NULL;
}
