// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/export/export.h"

#include "base/array.h"
#include "base/interrupt.h"
#include "debugger/export/exporting.h"
#include <elf.h>
#include <stdlib.h>
#include <string.h>

static const char producer[] = "btfcrash " BTFCRASH_VERSION
			       ": no compiler, but what a dump says of itself; types of "
			       "variables that BTF leaves out are inferred";

/* --- types --------------------------------------------------------------------------------- */

static struct error *write_module(struct exporting *exporting, size_t number)
{
	struct exported_types *types = &exporting->modules[number];
	const struct module *module = &exporting->module_list[number];
	const struct btf *btf = target_module_btf(exporting->target, module);
	if (!btf || btf_base(btf) != exporting->kernel.btf) {
		exporting->summary.without_btf++;
		return NULL;
	}
	TRY(exported_types_write(btf, &exporting->kernel, module->name, &exporting->dwarf, types));
	exporting->summary.modules++;
	exporting->summary.types += types->end - types->start;
	export_variables(exporting, types, module->name);
	dwarf_unit_end(&exporting->dwarf);
	return NULL;
}

static struct error *write_types(struct exporting *exporting)
{
	struct target *target = exporting->target;
	TRY(exported_types_write(target->btf, NULL, "vmlinux", &exporting->dwarf,
				 &exporting->kernel));
	exporting->summary.types = exporting->kernel.end - exporting->kernel.start;
	export_variables(exporting, &exporting->kernel, NULL);
	dwarf_unit_end(&exporting->dwarf);
	if (exporting->options->no_modules)
		return NULL;
	exporting->module_count = target_modules(target, &exporting->module_list);
	exporting->modules = calloc(exporting->module_count + 1, sizeof(*exporting->modules));
	if (!exporting->modules)
		return error_no_memory();
	for (size_t i = 0; i < exporting->module_count; i++) {
		TRY(interrupt_check());
		TRY(write_module(exporting, i));
	}
	return NULL;
}

static void add_debug(struct exporting *exporting, const char *name, const struct strbuf *buffer)
{
	struct elf_section section = {
		.type = SHT_PROGBITS, .data = buffer->data, .size = buffer->size, .alignment = 1
	};
	strcpy(section.name, name);
	if (!strcmp(name, ".debug_str")) {
		section.flags = SHF_MERGE | SHF_STRINGS;
		section.entry_size = 1;
	}
	elf_add(&exporting->elf, &section);
}

struct error *export_dwarf(struct exporting *exporting)
{
	struct dwarf *dwarf = &exporting->dwarf;
	dwarf_abbreviations(dwarf, &exporting->abbreviations);
	if (dwarf->is_full)
		return error_create(
			ERROR_FORMAT,
			"export: types and names are more than %u MiB, as no kernel has",
			DWARF_INFO_MAX >> 20);
	if (dwarf->failed || exporting->abbreviations.failed)
		return error_no_memory();
	add_debug(exporting, ".debug_info", &dwarf->info);
	add_debug(exporting, ".debug_abbrev", &exporting->abbreviations);
	add_debug(exporting, ".debug_str", &dwarf->strings);
	add_debug(exporting, ".debug_aranges", &dwarf->ranges);
	if (dwarf->lines.size)
		add_debug(exporting, ".debug_line", &dwarf->lines);
	return NULL;
}

/* --- the file ------------------------------------------------------------------------------ */

static struct error *write_all(struct exporting *exporting, FILE *file)
{
	TRY(export_collect_variables(exporting));
	TRY(export_sections(exporting));
	TRY(export_symbols(exporting));
	TRY(interrupt_check());
	TRY(write_types(exporting));
	TRY(interrupt_check());
	TRY(export_functions(exporting));
	TRY(export_dwarf(exporting));
	if (exporting->options->tiers)
		TRY(export_tiers(exporting));
	TRY(elf_write(&exporting->elf, file, &exporting->summary.bytes));
	return interrupt_check();
}

struct error *exporting_init(struct exporting *exporting, struct target *target,
			     const struct export_options *options)
{
	*exporting = (struct exporting){ .target = target, .options = options };
	if (strcmp(target->facts->machine, "x86_64") != 0)
		return error_create(ERROR_UNSUPPORTED, "export: not of a dump of %s: of x86_64",
				    target->facts->machine);
	elf_init(&exporting->elf, EM_X86_64);
	dwarf_init(&exporting->dwarf, producer);
	return NULL;
}

void exporting_deinit(struct exporting *exporting)
{
	for (size_t i = 0; i < exporting->content_count; i++)
		free(exporting->contents[i]);
	for (size_t i = 0; exporting->modules && i < exporting->module_count; i++)
		exported_types_deinit(&exporting->modules[i]);
	exported_types_deinit(&exporting->kernel);
	exported_lines_deinit(&exporting->lines);
	strbuf_deinit(&exporting->abbreviations);
	dwarf_deinit(&exporting->dwarf);
	elf_deinit(&exporting->elf);
	free(exporting->modules);
	free(exporting->variables);
	free(exporting->sizes);
	free(exporting->code_sizes);
}

struct error *export_vmlinux(struct target *target, const struct export_options *options,
			     FILE *file, struct export_summary *ret)
{
	struct exporting exporting;
	TRY(exporting_init(&exporting, target, options));
	if (target->vmcoreinfo && !options->run_time)
		(void)vmcoreinfo_hex(target->vmcoreinfo, "KERNELOFFSET", &exporting.moved);
	struct error *error = write_all(&exporting, file);
	if (!error)
		*ret = exporting.summary;
	exporting_deinit(&exporting);
	return error;
}
