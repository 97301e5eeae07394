/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Physical memory of a dump: small reads through a hashed page cache, large ones straight from the
 * file.
 */
#ifndef VMCORE_PHYSICAL_H
#define VMCORE_PHYSICAL_H

#include "base/memory.h"
#include "vmcore/avml.h"
#include "vmcore/diskdump.h"
#include "vmcore/elf_core.h"
#include "vmcore/library.h"

/*
 * Where the pages come from, one of four, borrowed: ELF and other pieces of a file,
 * kdump-compressed, AVML, or what only libkdumpfile knows (LKCD, SADUMP, s390).
 */
struct physical_source {
	struct elf_core *core;
	struct diskdump *dump;
	struct avml *avml;
	struct library *library;
	uint32_t page_size;
	uint8_t word_size;
	bool big_endian;
};

struct error *physical_memory_create(const struct physical_source *source,
				     struct memory **ret) MUST_CHECK;
void physical_memory_destroy(struct memory *memory);
/*
 * The same memory for one thread's large reads: past the cache, and beside other threads where the
 * format allows it (ELF and kdump-compressed). Borrows `physical`.
 */
struct error *physical_reader_create(struct memory *physical, struct memory **ret) MUST_CHECK;
void physical_reader_destroy(struct memory *reader);
/* The first run of bytes in the dump at or above `physical`; false: none, or not known. */
bool physical_memory_next(const struct memory *memory, uint64_t physical, uint64_t *ret_start,
			  uint64_t *ret_size);

#endif
