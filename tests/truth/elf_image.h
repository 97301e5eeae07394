/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A vmlinux or a module's .ko as the truth scripts see it: DWARF, and symbols by address. */
#ifndef TESTS_TRUTH_ELF_IMAGE_H
#define TESTS_TRUTH_ELF_IMAGE_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Addresses are those of the link; in a module, whose sections have none yet, the number of the
 * section in the upper 32 bits and the offset in it in the lower.
 */
struct image_symbol {
	uint64_t address, size;
	const char *name;
	uint8_t type, bind; /* STT_, STB_ */
	uint32_t section;
	bool is_taken; /* for the caller */
};

struct image_section {
	const char *name;
	uint64_t address, size, flags;
};

struct image {
	int file;
	Elf *elf;
	Dwarf *dwarf;
	bool is_module; /* relocatable */
	struct image_section *sections;
	size_t section_count;
	struct image_symbol *symbols; /* by address */
	size_t symbol_count;
	struct image_symbol **by_name;
};

/* Prints what is wrong and gives false. Call image_close() in any case. */
bool image_open(struct image *image, const char *path);
void image_close(struct image *image);

/* Index of the first symbol at or above the address, symbol_count: none. */
size_t image_symbol_at(const struct image *image, uint64_t address);
/* The global symbol of a name, NULL. */
struct image_symbol *image_global(const struct image *image, const char *name);
/* The section around the address, NULL. */
const struct image_section *image_section_of(const struct image *image, uint64_t address);
/* Bytes from the address to the next symbol or the end of its section. */
uint64_t image_room(const struct image *image, uint64_t address);

#endif
