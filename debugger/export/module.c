// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A module as an object file. crash and gdb place its sections by the names and addresses in
 * module.sect_attrs, drgn too, which takes it for the module of its build ID; all three then
 * relocate what DWARF says. Names of sections come from the dump: one that would mean something to
 * a reader of ELF files is left out, with what is in it.
 */
#include "debugger/kernel/module.h"
#include "base/array.h"
#include "debugger/export/exporting.h"
#include "debugger/target/object.h"
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>

#define PLACES_MAX  48	       /* modules have some forty */
#define PER_CPU_MAX (1u << 20) /* bytes; the kernel's allocator has less for one module */
#define NOTE_SIZE   (16 + MODULE_BUILD_ID_SIZE)
#define PER_CPU	    ".data..percpu"
#define BUILD_ID    ".note.gnu.build-id"

/* A section; its symbol has the number of its place, from 1 on, and so has the section. */
struct place {
	char name[32];
	uint64_t address, size;
};

struct module_file {
	struct exporting *exporting;
	const struct module *module;
	struct place places[PLACES_MAX];
	size_t count;
	struct needed_types needed;
	struct strbuf relocations[3];
	uint8_t note[NOTE_SIZE];
};

/* --- sections ------------------------------------------------------------------------------- */

static bool begins_with(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

/* What a linker or a debugger would read as something of its own. */
static bool is_reserved(const char *name)
{
	static const char *const starts[] = { ".debug",	    ".zdebug",	".rel",	   ".symtab",
					      ".strtab",    ".shstr",	".gdb",	   ".gnu_debug",
					      ".gnu.debug", ".dynamic", ".dynsym", ".dynstr",
					      ".stab" };
	for (size_t i = 0; i < ARRAY_COUNT(starts); i++)
		if (begins_with(name, starts[i]))
			return true;
	return false;
}

static bool is_plain(const char *name)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789_.-";
	size_t length = strlen(name);
	return length > 1 && length < sizeof(((struct place *)NULL)->name) &&
	       strspn(name, allowed) == length && *name != '-' && !is_reserved(name);
}

static const struct place *place_named(const struct module_file *made, const char *name)
{
	for (size_t i = 0; i < made->count; i++)
		if (!strcmp(made->places[i].name, name))
			return &made->places[i];
	return NULL;
}

/* Up to the end of the memory around it; 0: of none, as of what was freed after the module began.
 */
static uint64_t room_of(const struct module *module, uint64_t address)
{
	for (size_t i = 0; i < module->region_count; i++) {
		uint64_t offset = address - module->regions[i].start;
		if (offset < module->regions[i].size)
			return module->regions[i].size - offset;
	}
	return 0;
}

static struct error *add_place(void *context, const struct module_section *section)
{
	struct module_file *made = context;
	uint64_t room = room_of(made->module, section->address);
	if (!room || made->count == PLACES_MAX - 1 || !is_plain(section->name) ||
	    place_named(made, section->name) || !strcmp(section->name, PER_CPU))
		return NULL;
	struct place *place = &made->places[made->count++];
	snprintf(place->name, sizeof(place->name), "%s", section->name);
	place->address = section->address;
	place->size = room;
	return NULL;
}

static int compare_places(const void *a, const void *b)
{
	const struct place *left = a, *right = b;
	if (left->address != right->address)
		return left->address < right->address ? -1 : 1;
	return strcmp(left->name, right->name);
}

/* Each ends where the next one begins. */
static struct error *find_places(struct module_file *made)
{
	const struct module *module = made->module;
	TRY(module_for_each_section(made->exporting->target, module, add_place, made));
	array_sort(made->places, made->count, sizeof(*made->places), compare_places);
	for (size_t i = 0; i + 1 < made->count; i++) {
		struct place *place = &made->places[i];
		uint64_t distance = place[1].address - place->address;
		if (distance < place->size)
			place->size = distance;
	}
	/* Not among what the kernel keeps. */
	if (module->percpu && module->percpu_size && module->percpu_size <= PER_CPU_MAX)
		made->places[made->count++] =
			(struct place){ PER_CPU, module->percpu, module->percpu_size };
	return made->count ? NULL
			   : error_create(ERROR_NOT_FOUND, "no section of the module is known");
}

static uint64_t flags_of(const char *name)
{
	if (strstr(name, "text"))
		return SHF_ALLOC | SHF_EXECINSTR;
	if (begins_with(name, ".data") || begins_with(name, ".bss") ||
	    begins_with(name, ".gnu.linkonce"))
		return SHF_ALLOC | SHF_WRITE;
	return SHF_ALLOC;
}

/* drgn reads a module's ORC tables from its memory, unless the file has them. */
static uint32_t type_of(const char *name)
{
	return begins_with(name, ".bss") || begins_with(name, ".orc") ? SHT_NOBITS : SHT_PROGBITS;
}

static void put_u32(uint8_t *to, uint32_t value)
{
	for (unsigned int i = 0; i < 4; i++)
		to[i] = (uint8_t)(value >> (8 * i));
}

/* By this drgn knows it. */
static struct error *add_build_id(struct module_file *made, struct elf_section *section)
{
	size_t size;
	struct error *error =
		module_build_id(made->exporting->target, made->module, made->note + 16, &size);
	if (error || !size)
		return error_only_fatal(error);
	put_u32(made->note, 4);
	put_u32(made->note + 4, (uint32_t)size);
	put_u32(made->note + 8, NT_GNU_BUILD_ID);
	memcpy(made->note + 12, "GNU", 4);
	section->type = SHT_NOTE;
	section->data = made->note;
	section->size = 16 + size;
	section->alignment = 4;
	return NULL;
}

/* By the name in its struct module older drgns know it. */
static void add_name(const struct module_file *made, struct elf_section *section)
{
	uint64_t offset;
	size_t length = strlen(made->module->name);
	struct error *error =
		object_offset(made->exporting->target, "struct module", "name", &offset);
	if (!error && offset < section->size && section->size - offset >= length) {
		section->patch = made->module->name;
		section->patch_offset = offset;
		section->patch_size = length;
	}
	error_free(error);
}

static struct error *add_sections(struct module_file *made)
{
	struct elf *elf = &made->exporting->elf;
	for (size_t i = 0; i < made->count; i++) {
		const struct place *place = &made->places[i];
		struct elf_section section = { .type = type_of(place->name),
					       .flags = flags_of(place->name),
					       .size = place->size,
					       .alignment = 1 };
		memcpy(section.name, place->name, sizeof(section.name));
		if (!strcmp(place->name, BUILD_ID))
			TRY(add_build_id(made, &section));
		if (!strcmp(place->name, ".gnu.linkonce.this_module"))
			add_name(made, &section);
		elf_add(elf, &section);
		elf_symbol(elf, "", 0, 0, STB_LOCAL, STT_SECTION, (unsigned int)i + 1);
	}
	return NULL;
}

/* --- symbols -------------------------------------------------------------------------------- */

/* The number of a place's section; 0: it is in none. */
static unsigned int section_at(const struct module_file *made, uint64_t address)
{
	for (size_t i = 0; i < made->count; i++)
		if (address - made->places[i].address < made->places[i].size)
			return (unsigned int)i + 1;
	return 0;
}

static void add_symbol(struct module_file *made, const struct symbol *symbol)
{
	char name[DWARF_NAME_MAX + 1];
	unsigned int section = section_at(made, symbol->address);
	if (!section || !dwarf_clean_name(symbol->name, name))
		return;
	const struct place *place = &made->places[section - 1];
	uint64_t size = symbol->number < made->exporting->size_count
				? made->exporting->sizes[symbol->number]
				: 0;
	uint64_t offset = symbol->address - place->address;
	bool is_code = flags_of(place->name) & SHF_EXECINSTR;
	elf_symbol(&made->exporting->elf, name, offset, size ? size : symbol->size,
		   exported_binding(made->exporting, symbol), is_code ? STT_FUNC : STT_OBJECT,
		   section);
	made->exporting->summary.symbols++;
}

static struct error *add_symbols(struct module_file *made)
{
	const struct symtab *symbols = made->exporting->target->symbols;
	struct symbol symbol;
	uint32_t count = symtab_count(symbols);
	for (uint32_t i = symtab_kernel_count(symbols); i < count; i++) {
		symtab_get(symbols, i, &symbol);
		if (export_is_of(made->module, &symbol))
			add_symbol(made, &symbol);
	}
	return made->exporting->elf.failed ? error_no_memory() : NULL;
}

/* --- DWARF ---------------------------------------------------------------------------------- */

static struct error *write_types(struct module_file *made, const struct btf *btf)
{
	struct exporting *exporting = made->exporting;
	TRY(needed_types_init(&made->needed, exporting->target->btf, btf));
	for (size_t i = 0; i < exporting->variable_count; i++)
		needed_types_add(&made->needed, exporting->variables[i].type);
	if (made->needed.failed)
		return error_no_memory();
	TRY(exported_types_write_needed(exporting->target->btf, made->needed.how, "vmlinux",
					&exporting->dwarf, &exporting->kernel));
	dwarf_unit_end(&exporting->dwarf);
	struct exported_types *types = &exporting->modules[0];
	TRY(exported_types_write(btf, &exporting->kernel, made->module->name, &exporting->dwarf,
				 types));
	export_variables(exporting, types, made->module->name);
	dwarf_unit_end(&exporting->dwarf);
	exporting->summary.types = types->end - types->start;
	exporting->summary.modules = 1;
	return NULL;
}

static void relocate(const struct module_file *made, const struct strbuf *places,
		     struct strbuf *ret)
{
	for (size_t at = 0; at < places->size; at += sizeof(struct dwarf_place)) {
		struct dwarf_place place;
		memcpy(&place, places->data + at, sizeof(place));
		unsigned int section = section_at(made, place.address);
		if (!section)
			continue;
		uint64_t addend = place.address - made->places[section - 1].address;
		Elf64_Rela relocation = { .r_offset = place.offset,
					  .r_info = ELF64_R_INFO((uint64_t)section, R_X86_64_64),
					  .r_addend = (int64_t)addend };
		strbuf_bytes(ret, (const char *)&relocation, sizeof(relocation));
	}
}

static struct error *add_relocations(struct module_file *made, const char *of,
				     const struct strbuf *places, struct strbuf *relocations)
{
	struct elf *elf = &made->exporting->elf;
	unsigned int number = 1;
	while (number < elf->count && strcmp(elf->sections[number].name, of) != 0)
		number++;
	relocate(made, places, relocations);
	if (relocations->failed)
		return error_no_memory();
	struct elf_section section = { .type = SHT_RELA,
				       .flags = SHF_INFO_LINK,
				       .data = relocations->data,
				       .size = relocations->size,
				       .info = number,
				       .alignment = 8,
				       .entry_size = sizeof(Elf64_Rela) };
	snprintf(section.name, sizeof(section.name), ".rela%s", of);
	elf_add(elf, &section);
	return NULL;
}

static struct error *write_dwarf(struct module_file *made)
{
	struct exporting *exporting = made->exporting;
	const struct btf *btf = target_module_btf(exporting->target, made->module);
	if (!btf || btf_base(btf) != exporting->target->btf) {
		exporting->summary.without_btf = 1;
		return NULL;
	}
	TRY(write_types(made, btf));
	TRY(export_functions(exporting));
	TRY(export_dwarf(exporting));
	TRY(add_relocations(made, ".debug_info", &exporting->dwarf.info_places,
			    &made->relocations[0]));
	TRY(add_relocations(made, ".debug_aranges", &exporting->dwarf.range_places,
			    &made->relocations[1]));
	if (!exporting->dwarf.lines.size)
		return NULL;
	return add_relocations(made, ".debug_line", &exporting->dwarf.line_places,
			       &made->relocations[2]);
}

/* --- the file ------------------------------------------------------------------------------- */

static struct error *write_all(struct module_file *made, FILE *file)
{
	struct exporting *exporting = made->exporting;
	exporting->only = exporting->module_list = made->module;
	exporting->elf.is_relocatable = exporting->dwarf.is_relocatable = true;
	exporting->modules = calloc(1, sizeof(*exporting->modules));
	if (!exporting->modules)
		return error_no_memory();
	exporting->module_count = 1;
	TRY(export_collect_variables(exporting));
	TRY(find_places(made));
	TRY(add_sections(made));
	TRY(add_symbols(made));
	TRY(write_dwarf(made));
	return elf_write(&exporting->elf, file, &exporting->summary.bytes);
}

struct error *export_module(struct target *target, const char *name,
			    const struct export_options *options, FILE *file,
			    struct export_summary *ret)
{
	struct exporting exporting;
	struct module_file made = { .exporting = &exporting,
				    .module = target_module(target, name) };
	if (!made.module)
		return error_create(ERROR_NOT_FOUND, "no module %s is loaded", name);
	TRY(exporting_init(&exporting, target, options));
	struct error *error = write_all(&made, file);
	if (!error)
		*ret = exporting.summary;
	exporting_deinit(&exporting);
	needed_types_deinit(&made.needed);
	for (size_t i = 0; i < ARRAY_COUNT(made.relocations); i++)
		strbuf_deinit(&made.relocations[i]);
	return error_prefix(error, "module %s", name);
}
