// SPDX-License-Identifier: GPL-3.0-or-later
#include "btf/elf.h"

#include <elf.h>
#include <string.h>

struct elf {
	struct bytes file;
	bool is_wide; /* 64 bits */
	uint64_t headers;
	uint32_t header_size, count;
	struct bytes names;
};

struct section {
	const char *name; /* "" when it has none */
	uint32_t type;
	uint64_t flags;
	struct bytes bytes;
};

bool elf_is(const struct bytes *file)
{
	return file->size >= EI_NIDENT && !memcmp(file->data, ELFMAG, SELFMAG);
}

/* A field of the file by its offsets in the narrow and the wide form. */
static bool read_field(const struct elf *elf, uint64_t at, uint32_t narrow, uint32_t wide,
		       uint64_t *ret)
{
	uint32_t word;
	if (elf->is_wide)
		return bytes_u64(&elf->file, at + wide, ret);
	if (!bytes_u32(&elf->file, at + narrow, &word))
		return false;
	*ret = word;
	return true;
}

static bool read_section(const struct elf *elf, uint32_t number, struct section *ret)
{
	uint64_t at = elf->headers + (uint64_t)number * elf->header_size, offset, size;
	uint32_t name;
	if (at < elf->headers || !bytes_u32(&elf->file, at, &name) ||
	    !bytes_u32(&elf->file, at + 4, &ret->type) || !read_field(elf, at, 8, 8, &ret->flags) ||
	    !read_field(elf, at, 16, 24, &offset) || !read_field(elf, at, 20, 32, &size))
		return false;
	const char *string = bytes_string(&elf->names, name);
	ret->name = string ? string : "";
	ret->bytes = (struct bytes){ NULL, 0, elf->file.big_endian };
	if (ret->type == SHT_NOBITS)
		return true;
	if (!bytes_has(&elf->file, offset, size))
		return false;
	ret->bytes.data = elf->file.data + offset;
	ret->bytes.size = (size_t)size;
	return true;
}

static struct error *open_elf(const struct bytes *file, struct elf *ret)
{
	struct elf elf = { .file = *file };
	uint16_t header_size, count, names;
	struct section section;
	if (!elf_is(file))
		return error_create(ERROR_FORMAT, "no ELF file");
	elf.is_wide = file->data[EI_CLASS] == ELFCLASS64;
	elf.file.big_endian = file->data[EI_DATA] == ELFDATA2MSB;
	uint64_t tail = elf.is_wide ? 58 : 46; /* e_shentsize, e_shnum, e_shstrndx */
	if (!read_field(&elf, 0, 32, 40, &elf.headers) ||
	    !bytes_u16(&elf.file, tail, &header_size) || !bytes_u16(&elf.file, tail + 2, &count) ||
	    !bytes_u16(&elf.file, tail + 4, &names))
		return error_create(ERROR_FORMAT, "the ELF header is cut off");
	elf.header_size = header_size;
	elf.count = count;
	if (!elf.headers || !elf.count || !read_section(&elf, names, &section))
		return error_create(ERROR_FORMAT, "the ELF file has no sections");
	elf.names = section.bytes;
	*ret = elf;
	return NULL;
}

/* The descriptor of the first note of GNU's build id. */
static void find_build_id(const struct bytes *notes, struct bytes *ret)
{
	uint64_t at = 0;
	uint32_t name_size, size, type;
	while (bytes_u32(notes, at, &name_size) && bytes_u32(notes, at + 4, &size) &&
	       bytes_u32(notes, at + 8, &type)) {
		uint64_t name = at + 12, descriptor = name + ((name_size + 3ull) & ~3ull);
		if (!bytes_has(notes, name, name_size) || !bytes_has(notes, descriptor, size))
			return;
		if (type == NT_GNU_BUILD_ID && name_size == 4 &&
		    !memcmp(notes->data + name, "GNU", 4) && size && size <= BUILD_ID_MAX) {
			*ret = (struct bytes){ notes->data + descriptor, size, notes->big_endian };
			return;
		}
		at = descriptor + ((size + 3ull) & ~3ull);
	}
}

/* "name=xfs" among the strings of .modinfo. */
static const char *module_name(const struct bytes *strings)
{
	const char *string;
	for (uint64_t at = 0; (string = bytes_string(strings, at)); at += strlen(string) + 1)
		if (!strncmp(string, "name=", 5))
			return string + 5;
	return NULL;
}

struct error *elf_find_btf(const struct bytes *file, struct elf_btf *ret)
{
	struct elf elf;
	struct section section;
	struct error *error = open_elf(file, &elf);
	if (error)
		return error;
	*ret = (struct elf_btf){ .module = NULL };
	for (uint32_t i = 0; i < elf.count; i++) {
		if (!read_section(&elf, i, &section) || !section.bytes.data)
			continue;
		bool is_btf = !strcmp(section.name, ".BTF");
		bool is_base = !strcmp(section.name, ".BTF.base");
		if ((is_btf || is_base) && section.flags & SHF_COMPRESSED)
			return error_create(ERROR_UNSUPPORTED, "its section %s is compressed",
					    section.name);
		if (is_btf)
			ret->btf = section.bytes;
		else if (is_base)
			ret->base = section.bytes;
		else if (!strcmp(section.name, ".modinfo"))
			ret->module = module_name(&section.bytes);
		else if (section.type == SHT_NOTE && !ret->build_id.data)
			find_build_id(&section.bytes, &ret->build_id);
	}
	return NULL;
}
