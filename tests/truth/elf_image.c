// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/truth/elf_image.h"
#include "base/array.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECTION_SHIFT 32

static bool complain(const char *path, const char *what)
{
	fprintf(stderr, "%s: %s\n", path, what);
	return false;
}

static bool read_sections(struct image *image)
{
	size_t names;
	if (elf_getshdrnum(image->elf, &image->section_count) ||
	    elf_getshdrstrndx(image->elf, &names))
		return false;
	image->sections = calloc(image->section_count + 1, sizeof(*image->sections));
	if (!image->sections)
		return false;
	for (size_t i = 1; i < image->section_count; i++) {
		GElf_Shdr header;
		if (!gelf_getshdr(elf_getscn(image->elf, i), &header))
			return false;
		const char *name = elf_strptr(image->elf, names, header.sh_name);
		image->sections[i] = (struct image_section){
			.name = name ? name : "",
			.address = image->is_module ? (uint64_t)i << SECTION_SHIFT : header.sh_addr,
			.size = header.sh_size,
			.flags = header.sh_flags,
		};
	}
	return true;
}

/* Relocated values of what is in memory; an offset into its section for the rest. */
static uint64_t symbol_value(const struct image *image, const GElf_Sym *symbol)
{
	if (!image->is_module || symbol->st_shndx >= image->section_count ||
	    !(image->sections[symbol->st_shndx].flags & SHF_ALLOC))
		return symbol->st_value;
	/* Alignment of .data in some modules' sh_addr is of no meaning: they load by section. */
	return image->sections[symbol->st_shndx].address + symbol->st_value;
}

/* Bytes that a relocation of a debug section stores as symbol + addend; 0: unknown. */
static size_t relocation_width(int machine, uint32_t type)
{
	if (machine == EM_X86_64)
		return type == R_X86_64_64 ? 8 : type == R_X86_64_32 ? 4 : 0;
	if (machine == EM_AARCH64)
		return type == R_AARCH64_ABS64 ? 8 : type == R_AARCH64_ABS32 ? 4 : 0;
	return 0;
}

static void relocate_section(struct image *image, int machine, Elf_Scn *section,
			     const GElf_Shdr *header)
{
	Elf_Data *entries = elf_getdata(section, NULL);
	Elf_Data *symbols = elf_getdata(elf_getscn(image->elf, header->sh_link), NULL);
	Elf_Data *target = elf_getdata(elf_getscn(image->elf, header->sh_info), NULL);
	GElf_Rela entry;
	GElf_Sym symbol;
	if (!entries || !symbols || !target || !target->d_buf)
		return;
	for (int i = 0; gelf_getrela(entries, i, &entry); i++) {
		size_t width = relocation_width(machine, GELF_R_TYPE(entry.r_info));
		if (!gelf_getsym(symbols, GELF_R_SYM(entry.r_info), &symbol) || !width ||
		    entry.r_offset > target->d_size || target->d_size - entry.r_offset < width)
			continue;
		uint64_t value = symbol_value(image, &symbol) + entry.r_addend;
		memcpy((char *)target->d_buf + entry.r_offset, &value, width);
	}
}

/* libdw reads what is in memory; so the relocations of a module are done there. */
static void relocate_debug_sections(struct image *image, int machine)
{
	Elf_Scn *section = NULL;
	while ((section = elf_nextscn(image->elf, section))) {
		GElf_Shdr header;
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_RELA &&
		    header.sh_info < image->section_count &&
		    !strncmp(image->sections[header.sh_info].name, ".debug_", 7))
			relocate_section(image, machine, section, &header);
	}
}

static int compare_addresses(const void *left, const void *right)
{
	const struct image_symbol *a = left, *b = right;
	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return strcmp(a->name, b->name);
}

static int compare_names(const void *left, const void *right)
{
	const struct image_symbol *const *a = left, *const *b = right;
	return strcmp((*a)->name, (*b)->name);
}

/* What kallsyms would show: not what scripts/mksysmap drops. */
static bool is_shown(const struct image *image, const GElf_Sym *symbol, const char *name)
{
	int type = GELF_ST_TYPE(symbol->st_info);
	return type != STT_SECTION && type != STT_FILE && symbol->st_shndx &&
	       symbol->st_shndx < image->section_count && name && *name && strncmp(name, ".L", 2) &&
	       strncmp(name, "__crc_", 6) && strncmp(name, "__kstrtab", 9) &&
	       image->sections[symbol->st_shndx].flags & SHF_ALLOC;
}

static bool read_symbols(struct image *image, Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t count = header->sh_entsize ? header->sh_size / header->sh_entsize : 0;
	image->symbols = calloc(count + 1, sizeof(*image->symbols));
	image->by_name = calloc(count + 1, sizeof(*image->by_name));
	if (!data || !image->symbols || !image->by_name)
		return false;
	GElf_Sym symbol;
	for (size_t i = 0; i < count && gelf_getsym(data, i, &symbol); i++) {
		const char *name = elf_strptr(image->elf, header->sh_link, symbol.st_name);
		if (!is_shown(image, &symbol, name))
			continue;
		image->symbols[image->symbol_count++] = (struct image_symbol){
			.address = symbol_value(image, &symbol),
			.size = symbol.st_size,
			.name = name,
			.type = GELF_ST_TYPE(symbol.st_info),
			.bind = GELF_ST_BIND(symbol.st_info),
			.section = symbol.st_shndx,
		};
	}
	array_sort(image->symbols, image->symbol_count, sizeof(*image->symbols), compare_addresses);
	for (size_t i = 0; i < image->symbol_count; i++)
		image->by_name[i] = &image->symbols[i];
	array_sort(image->by_name, image->symbol_count, sizeof(*image->by_name), compare_names);
	return true;
}

static bool find_symbols(struct image *image)
{
	Elf_Scn *section = NULL;
	while ((section = elf_nextscn(image->elf, section))) {
		GElf_Shdr header;
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_SYMTAB)
			return read_symbols(image, section, &header);
	}
	return false;
}

bool image_open(struct image *image, const char *path)
{
	*image = (struct image){ .file = open(path, O_RDONLY) };
	if (image->file < 0)
		return complain(path, strerror(errno));
	/* Private: relocations are written into the mapping. */
	image->elf = elf_begin(image->file, ELF_C_READ_MMAP_PRIVATE, NULL);
	GElf_Ehdr header;
	if (!image->elf || !gelf_getehdr(image->elf, &header))
		return complain(path, elf_errmsg(-1));
	image->is_module = header.e_type == ET_REL;
	if (!read_sections(image))
		return complain(path, "bad section headers");
	if (image->is_module)
		relocate_debug_sections(image, header.e_machine);
	if (!find_symbols(image))
		return complain(path, "no symbols");
	image->dwarf = dwarf_begin_elf(image->elf, DWARF_C_READ, NULL);
	if (!image->dwarf)
		return complain(path, dwarf_errmsg(-1));
	return true;
}

void image_close(struct image *image)
{
	dwarf_end(image->dwarf);
	elf_end(image->elf);
	if (image->file >= 0)
		close(image->file);
	free(image->sections);
	free(image->symbols);
	free(image->by_name);
}

size_t image_symbol_at(const struct image *image, uint64_t address)
{
	size_t low = 0, high = image->symbol_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (image->symbols[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct image_symbol *image_global(const struct image *image, const char *name)
{
	struct image_symbol key = { .name = name }, *wanted = &key;
	struct image_symbol **found = array_search(&wanted, image->by_name, image->symbol_count,
						   sizeof(*image->by_name), compare_names);
	if (!found)
		return NULL;
	struct image_symbol **end = image->by_name + image->symbol_count;
	while (found > image->by_name && !strcmp(found[-1]->name, name))
		found--;
	for (; found < end && !strcmp((*found)->name, name); found++)
		if ((*found)->bind != STB_LOCAL)
			return *found;
	return NULL;
}

const struct image_section *image_section_of(const struct image *image, uint64_t address)
{
	for (size_t i = 1; i < image->section_count; i++) {
		const struct image_section *section = &image->sections[i];
		if (section->flags & SHF_ALLOC && address >= section->address &&
		    address - section->address < section->size)
			return section;
	}
	return NULL;
}

uint64_t image_room(const struct image *image, uint64_t address)
{
	const struct image_section *section = image_section_of(image, address);
	if (!section)
		return 0;
	uint64_t end = section->address + section->size;
	size_t next = image_symbol_at(image, address + 1);
	if (next < image->symbol_count && image->symbols[next].address < end)
		end = image->symbols[next].address;
	return end - address;
}
