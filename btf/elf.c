// SPDX-License-Identifier: GPL-3.0-or-later
#include "btf/elf.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_MAX (16u << 20) /* bytes of all names of sections */
#define SMALL_MAX (1u << 20)  /* bytes of notes, of .modinfo */

struct elf {
	struct memory *file;
	bool is_wide; /* 64 bits */
	uint64_t headers;
	uint16_t header_size, count;
	struct bytes names; /* owned */
};

struct section {
	const char *name; /* "" when it has none */
	uint32_t type;
	uint64_t flags, offset, size;
};

bool elf_is(const struct bytes *head)
{
	return head->size >= EI_NIDENT && !memcmp(head->data, ELFMAG, SELFMAG);
}

/* A field of the file by its offsets in the narrow and the wide form. */
static struct error *read_field(const struct elf *elf, uint64_t at, uint32_t narrow, uint32_t wide,
				uint64_t *ret)
{
	return memory_read_unsigned(elf->file, at + (elf->is_wide ? wide : narrow),
				    elf->is_wide ? 8 : 4, ret);
}

static struct error *read_section(const struct elf *elf, uint32_t number, struct section *ret)
{
	uint64_t at = elf->headers + (uint64_t)number * elf->header_size;
	uint32_t name;
	TRY(memory_read_u32(elf->file, at, &name));
	TRY(memory_read_u32(elf->file, at + 4, &ret->type));
	TRY(read_field(elf, at, 8, 8, &ret->flags));
	TRY(read_field(elf, at, 16, 24, &ret->offset));
	TRY(read_field(elf, at, 20, 32, &ret->size));
	const char *string = bytes_string(&elf->names, name);
	ret->name = string ? string : "";
	return NULL;
}

/* Caller frees ret->data. */
static struct error *read_bytes(const struct elf *elf, const struct section *section,
				uint64_t limit, struct bytes *ret)
{
	void *data;
	TRY(error_prefix(memory_read_alloc(elf->file, section->offset, section->size, limit, &data),
			 "its section %s", section->name));
	*ret = (struct bytes){ data, (size_t)section->size, elf->file->big_endian };
	return NULL;
}

static struct error *read_header(struct elf *elf, uint16_t *ret_names)
{
	uint64_t tail = elf->is_wide ? 58 : 46; /* e_shentsize, e_shnum, e_shstrndx */
	TRY(read_field(elf, 0, 32, 40, &elf->headers));
	TRY(memory_read_u16(elf->file, tail, &elf->header_size));
	TRY(memory_read_u16(elf->file, tail + 2, &elf->count));
	return memory_read_u16(elf->file, tail + 4, ret_names);
}

static struct error *open_elf(struct memory *file, struct elf *ret)
{
	struct elf elf = { .file = file };
	uint8_t head[EI_NIDENT];
	uint16_t names;
	struct section section;
	TRY(memory_read(file, 0, head, sizeof(head)));
	if (!elf_is(&(struct bytes){ head, sizeof(head), false }))
		return error_create(ERROR_FORMAT, "no ELF file");
	elf.is_wide = head[EI_CLASS] == ELFCLASS64;
	file->big_endian = head[EI_DATA] == ELFDATA2MSB;
	TRY(error_prefix(read_header(&elf, &names), "its ELF header"));
	if (!elf.headers || !elf.count)
		return error_create(ERROR_FORMAT, "the ELF file has no sections");
	TRY(error_prefix(read_section(&elf, names, &section), "its sections"));
	section.name = "of names";
	if (section.type != SHT_NOBITS)
		TRY(read_bytes(&elf, &section, NAMES_MAX, &elf.names));
	*ret = elf;
	return NULL;
}

/* The descriptor of the first note of GNU's build id. */
static void take_build_id(const struct bytes *notes, struct elf_btf *found)
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
			memcpy(found->build_id, notes->data + descriptor, size);
			found->build_id_size = size;
			return;
		}
		at = descriptor + ((size + 3ull) & ~3ull);
	}
}

/* "name=xfs" among the strings of .modinfo. */
static void take_module(const struct bytes *strings, struct elf_btf *found)
{
	const char *string;
	for (uint64_t at = 0; (string = bytes_string(strings, at)); at += strlen(string) + 1) {
		if (strncmp(string, "name=", 5) != 0)
			continue;
		snprintf(found->module, sizeof(found->module), "%s", string + 5);
		return;
	}
}

static struct error *take_btf(const struct elf *elf, const struct section *section,
			      struct bytes *ret)
{
	if (section->flags & SHF_COMPRESSED)
		return error_create(ERROR_UNSUPPORTED, "its section %s is compressed",
				    section->name);
	/* Of two, the later one counts. */
	free((void *)ret->data);
	*ret = (struct bytes){ .data = NULL };
	return read_bytes(elf, section, BTF_FILE_MAX, ret);
}

static struct error *take_small(const struct elf *elf, const struct section *section,
				void (*take)(const struct bytes *, struct elf_btf *),
				struct elf_btf *found)
{
	struct bytes bytes;
	TRY(read_bytes(elf, section, SMALL_MAX, &bytes));
	take(&bytes, found);
	free((void *)bytes.data);
	return NULL;
}

static struct error *take_section(const struct elf *elf, uint32_t number, struct elf_btf *found)
{
	struct section section;
	TRY(error_prefix(read_section(elf, number, &section), "its sections"));
	if (section.type == SHT_NOBITS)
		return NULL;
	if (!strcmp(section.name, ".BTF"))
		return take_btf(elf, &section, &found->btf);
	if (!strcmp(section.name, ".BTF.base"))
		return take_btf(elf, &section, &found->base);
	if (!strcmp(section.name, ".modinfo"))
		return take_small(elf, &section, take_module, found);
	if (section.type == SHT_NOTE && !found->build_id_size)
		return take_small(elf, &section, take_build_id, found);
	return NULL;
}

struct error *elf_find_btf(struct memory *file, struct elf_btf *ret)
{
	struct elf elf;
	struct elf_btf found = { .module = "" };
	struct error *error = open_elf(file, &elf);
	if (error)
		return error;
	for (uint32_t i = 0; i < elf.count && !error; i++)
		error = take_section(&elf, i, &found);
	free((void *)elf.names.data);
	if (error)
		elf_btf_deinit(&found);
	else
		*ret = found;
	return error;
}

void elf_btf_deinit(struct elf_btf *found)
{
	free((void *)found->btf.data);
	free((void *)found->base.data);
	*found = (struct elf_btf){ .module = "" };
}
