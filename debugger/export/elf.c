// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/export/elf.h"

#include "base/array.h"
#include <elf.h>

#define PAGE 4096

void elf_init(struct elf *elf, uint16_t machine)
{
	*elf = (struct elf){ .machine = machine, .count = 1 };
	strbuf_char(&elf->names, 0);
}

void elf_deinit(struct elf *elf)
{
	strbuf_deinit(&elf->locals);
	strbuf_deinit(&elf->globals);
	strbuf_deinit(&elf->names);
}

struct elf_section *elf_add(struct elf *elf, const struct elf_section *section)
{
	if (elf->count >= ELF_SECTIONS_MAX) {
		elf->failed = true;
		return NULL;
	}
	elf->is_full |= section->size > ELF_SECTION_MAX;
	elf->sections[elf->count] = *section;
	return &elf->sections[elf->count++];
}

void elf_symbol(struct elf *elf, const char *name, uint64_t value, uint64_t size, uint8_t binding,
		uint8_t type, unsigned int section)
{
	/* Those of sections are named by their section. */
	Elf64_Sym symbol = { .st_name = *name ? (uint32_t)elf->names.size : 0,
			     .st_info = (uint8_t)ELF64_ST_INFO(binding, type),
			     .st_shndx = (uint16_t)section,
			     .st_value = value,
			     .st_size = size };
	elf->is_full |= elf->names.size > ELF_NAMES_MAX;
	if (elf->is_full)
		return;
	if (*name)
		strbuf_bytes(&elf->names, name, strlen(name) + 1);
	strbuf_bytes(binding == STB_LOCAL ? &elf->locals : &elf->globals, (const char *)&symbol,
		     sizeof(symbol));
}

/* --- the file ------------------------------------------------------------------------------ */

struct output {
	FILE *file;
	uint64_t at;
	bool no_seek, failed;
};

static void put(struct output *output, const void *data, uint64_t size)
{
	output->failed |= size && fwrite(data, 1, size, output->file) != size;
	output->at += size;
}

static void move_to(struct output *output, uint64_t offset)
{
	static const char zeros[PAGE];
	uint64_t gap = offset - output->at;
	/* A short one is not worth a hole. */
	if (gap >= PAGE && !output->no_seek) {
		output->no_seek = fseeko(output->file, (off_t)gap, SEEK_CUR) != 0;
		if (!output->no_seek)
			output->at = offset;
	}
	while (output->at < offset && !output->failed) {
		uint64_t left = offset - output->at;
		put(output, zeros, left < PAGE ? left : PAGE);
	}
}

static bool has_bytes(const struct elf_section *section)
{
	return section->type != SHT_NOBITS && section->type != SHT_NULL;
}

/* Of zeros alone. */
static bool is_hole(const struct elf_section *section)
{
	return has_bytes(section) && !section->data && !section->patch;
}

static bool is_loaded(const struct elf_section *section)
{
	return (section->flags & SHF_ALLOC) && section->size;
}

static bool is_note(const struct elf_section *section)
{
	return section->type == SHT_NOTE && section->size;
}

/* Where a section with contents begins. `zeros`: bytes before `offset` that are, and stay, zero. */
static uint64_t place_contents(const struct elf_section *section, uint64_t offset, uint64_t zeros)
{
	uint64_t alignment = section->alignment ? section->alignment : 1;
	if (section->patch && !section->data)
		offset -= section->patch_offset < zeros ? section->patch_offset : zeros;
	return (offset + alignment - 1) / alignment * alignment;
}

/*
 * Holes share one place in the file, as long as the longest, with what comes before the first
 * patch. Returns the end of the last section.
 */
static uint64_t place(struct elf *elf, uint64_t offset)
{
	uint64_t hole = (offset + PAGE - 1) / PAGE * PAGE, longest = 0;
	for (unsigned int i = 1; i < elf->count; i++)
		if (is_hole(&elf->sections[i]) && elf->sections[i].size > longest)
			longest = elf->sections[i].size;
	offset = hole + longest;
	uint64_t zeros = longest;
	for (unsigned int i = 1; i < elf->count; i++) {
		struct elf_section *section = &elf->sections[i];
		section->offset = hole;
		if (is_hole(section))
			continue;
		section->offset = place_contents(section, offset, zeros);
		if (!has_bytes(section))
			continue;
		offset = section->offset + section->size;
		zeros = 0;
	}
	return (offset + 7) / 8 * 8;
}

static void put_header(struct output *output, const struct elf *elf, unsigned int segments,
		       uint64_t sections_at)
{
	Elf64_Ehdr header = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
					   ELFDATA2LSB, EV_CURRENT },
			      .e_type = elf->is_relocatable ? ET_REL : ET_EXEC,
			      .e_machine = elf->machine,
			      .e_version = EV_CURRENT,
			      .e_phoff = segments ? sizeof(header) : 0,
			      .e_shoff = sections_at,
			      .e_ehsize = sizeof(header),
			      .e_phentsize = segments ? sizeof(Elf64_Phdr) : 0,
			      .e_phnum = (uint16_t)segments,
			      .e_shentsize = sizeof(Elf64_Shdr),
			      .e_shnum = (uint16_t)elf->count,
			      .e_shstrndx = (uint16_t)(elf->count - 1) };
	put(output, &header, sizeof(header));
}

static void put_segment(struct output *output, const struct elf_section *section, uint32_t type)
{
	uint32_t flags = PF_R | (section->flags & SHF_WRITE ? PF_W : 0) |
			 (section->flags & SHF_EXECINSTR ? PF_X : 0);
	Elf64_Phdr segment = { .p_type = type,
			       .p_flags = flags,
			       .p_offset = section->offset,
			       .p_vaddr = section->address,
			       .p_paddr = section->address,
			       .p_filesz = has_bytes(section) ? section->size : 0,
			       .p_memsz = section->size,
			       .p_align = type == PT_LOAD ? 1 : 4 };
	put(output, &segment, sizeof(segment));
}

static int compare_addresses(const void *a, const void *b)
{
	uint64_t left = (*(const struct elf_section *const *)a)->address;
	uint64_t right = (*(const struct elf_section *const *)b)->address;
	return left < right ? -1 : left > right;
}

/*
 * Segments ascend. What lies at 0, per-CPU variables, comes before the last one, as in a real
 * vmlinux: the first and the last say where the kernel lies. Returns how many sections are loaded.
 */
static unsigned int sort_loaded(const struct elf *elf, const struct elf_section *ret[])
{
	unsigned int count = 0, at_zero = 0;
	for (unsigned int i = 1; i < elf->count; i++)
		if (is_loaded(&elf->sections[i]))
			ret[count++] = &elf->sections[i];
	array_sort(ret, count, sizeof(*ret), compare_addresses);
	while (at_zero < count && !ret[at_zero]->address)
		at_zero++;
	for (; at_zero && at_zero + 1 < count; at_zero--) {
		const struct elf_section *first = ret[0];
		memmove(ret, ret + 1, (count - 2) * sizeof(*ret));
		ret[count - 2] = first;
	}
	return count;
}

/* Returns how many they are; `output` NULL: counts them only. */
static unsigned int put_segments(struct output *output, const struct elf *elf)
{
	const struct elf_section *loaded[ELF_SECTIONS_MAX];
	if (elf->is_relocatable)
		return 0;
	unsigned int count = sort_loaded(elf, loaded);
	for (unsigned int i = 0; output && i < count; i++)
		put_segment(output, loaded[i], PT_LOAD);
	for (unsigned int i = 1; i < elf->count; i++)
		if (is_note(&elf->sections[i])) {
			count++;
			if (output)
				put_segment(output, &elf->sections[i], PT_NOTE);
		}
	return count;
}

static void put_contents(struct output *output, const struct elf_section *section)
{
	if (!has_bytes(section) || is_hole(section))
		return;
	if (section->data) {
		move_to(output, section->offset);
		put(output, section->data, section->size);
		return;
	}
	if (section->patch) {
		move_to(output, section->offset + section->patch_offset);
		put(output, section->patch, section->patch_size);
	}
	move_to(output, section->offset + section->size);
}

static void put_section(struct output *output, const struct elf_section *section, uint32_t name)
{
	Elf64_Shdr header = { .sh_name = name,
			      .sh_type = section->type,
			      .sh_flags = section->flags,
			      .sh_addr = section->address,
			      .sh_offset = section->offset,
			      .sh_size = section->size,
			      .sh_link = section->link,
			      .sh_info = section->info,
			      .sh_addralign = section->alignment,
			      .sh_entsize = section->entry_size };
	put(output, &header, sizeof(header));
}

/* Local symbols come before global ones; the first one is the null symbol. */
static void add_tables(struct elf *elf, struct strbuf *symbols, struct strbuf *section_names)
{
	static const Elf64_Sym none;
	strbuf_bytes(symbols, (const char *)&none, sizeof(none));
	strbuf_bytes(symbols, elf->locals.data, elf->locals.size);
	uint32_t first_global = (uint32_t)(symbols->size / sizeof(none));
	for (unsigned int i = 1; i < elf->count; i++)
		if (elf->sections[i].type == SHT_RELA)
			elf->sections[i].link = elf->count;
	strbuf_bytes(symbols, elf->globals.data, elf->globals.size);
	elf_add(elf, &(struct elf_section){ .name = ".symtab",
					    .type = SHT_SYMTAB,
					    .data = symbols->data,
					    .size = symbols->size,
					    .link = elf->count + 1,
					    .info = first_global,
					    .alignment = 8,
					    .entry_size = sizeof(none) });
	elf_add(elf, &(struct elf_section){ .name = ".strtab",
					    .type = SHT_STRTAB,
					    .data = elf->names.data,
					    .size = elf->names.size,
					    .alignment = 1 });
	elf_add(elf,
		&(struct elf_section){ .name = ".shstrtab", .type = SHT_STRTAB, .alignment = 1 });
	for (unsigned int i = 0; i < elf->count; i++)
		strbuf_bytes(section_names, elf->sections[i].name,
			     strlen(elf->sections[i].name) + 1);
	elf->sections[elf->count - 1].data = section_names->data;
	elf->sections[elf->count - 1].size = section_names->size;
	elf->failed |= symbols->failed || section_names->failed || elf->locals.failed ||
		       elf->globals.failed || elf->names.failed;
}

static struct error *write_file(struct elf *elf, FILE *file, uint64_t *ret_size)
{
	struct output output = { .file = file };
	unsigned int segments = put_segments(NULL, elf);
	uint64_t end = place(elf, sizeof(Elf64_Ehdr) + segments * sizeof(Elf64_Phdr));
	put_header(&output, elf, segments, end);
	put_segments(&output, elf);
	for (unsigned int i = 1; i < elf->count; i++)
		put_contents(&output, &elf->sections[i]);
	move_to(&output, end);
	uint32_t name = 0;
	for (unsigned int i = 0; i < elf->count; i++) {
		put_section(&output, &elf->sections[i], name);
		name += (uint32_t)strlen(elf->sections[i].name) + 1;
	}
	if (output.failed || fflush(file))
		return error_system("the ELF file");
	*ret_size = output.at;
	return NULL;
}

struct error *elf_write(struct elf *elf, FILE *file, uint64_t *ret_size)
{
	struct strbuf symbols = { 0 }, section_names = { 0 };
	if (elf->is_full)
		return error_create(
			ERROR_FORMAT,
			"a section, or the names of symbols, are larger than any kernel's");
	add_tables(elf, &symbols, &section_names);
	struct error *error = elf->failed ? error_no_memory() : write_file(elf, file, ret_size);
	strbuf_deinit(&symbols);
	strbuf_deinit(&section_names);
	return error;
}
