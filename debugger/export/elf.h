/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writes an ELF64 executable, little-endian (System V ABI, chapters 4 and 5): sections with
 * contents, without, or with a hole for contents; symbols; a PT_LOAD for each section that memory
 * has, in ascending order, and a PT_NOTE; or else a relocatable object. Running out of memory
 * and going beyond a bound are remembered until the end.
 */
#ifndef DEBUGGER_EXPORT_ELF_H
#define DEBUGGER_EXPORT_ELF_H

#include "base/strbuf.h"
#include <stdio.h>

#define ELF_SECTIONS_MAX 96
/* Bytes. What has more comes of damage: no kernel's section, no kernel's names of symbols. */
#define ELF_SECTION_MAX (8ull << 30)
#define ELF_NAMES_MAX	(64u << 20)

struct elf_section {
	char name[32];
	uint32_t type;
	uint64_t flags;
	uint64_t address, size; /* bytes */
	const void *data;	/* borrowed; NULL: a hole, but for what is patched */
	uint32_t link, info;
	uint64_t alignment, entry_size;
	/* A piece of a hole that is not zero: borrowed, at an offset within. */
	const void *patch;
	uint64_t patch_offset, patch_size;
	uint64_t offset; /* in the file; set when it is written */
};

struct elf {
	uint16_t machine;    /* EM_... */
	bool is_relocatable; /* an object file: without segments, sections at no address */
	struct elf_section sections[ELF_SECTIONS_MAX];
	unsigned int count; /* the first one is the null section */
	struct strbuf locals, globals, names;
	bool failed;
	bool is_full; /* one of the bounds was reached */
};

void elf_init(struct elf *elf, uint16_t machine);
void elf_deinit(struct elf *elf);
/* Sections of relocations get the symbols as their link. Copied but for what it borrows. NULL:
 * there are too many. */
struct elf_section *elf_add(struct elf *elf, const struct elf_section *section);
/* STB_... and STT_...; a name without control characters. `section`: its number. */
void elf_symbol(struct elf *elf, const char *name, uint64_t value, uint64_t size, uint8_t binding,
		uint8_t type, unsigned int section);
/*
 * Writes all of it, and adds the tables of symbols and of names. Holes of a file that cannot be
 * positioned become zeros. `*ret_size`: bytes of the file. Errors: ERROR_NO_MEMORY, ERROR_SYSTEM,
 * ERROR_FORMAT beyond a bound.
 */
struct error *elf_write(struct elf *elf, FILE *file, uint64_t *ret_size) MUST_CHECK;

#endif
