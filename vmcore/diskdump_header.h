/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Header and sub header of one kdump-compressed file, for diskdump.c. */
#ifndef VMCORE_DISKDUMP_HEADER_H
#define VMCORE_DISKDUMP_HEADER_H

#include "vmcore/file.h"

struct diskdump_header {
	uint8_t word_size;
	bool big_endian;
	int32_t version;
	char machine[66];
	int64_t time;
	uint32_t status, page_size;
	int32_t sub_blocks; /* of the sub header */
	uint64_t bitmap_blocks;
	uint64_t page_count;
	int32_t dump_level;
	bool is_split;
	uint64_t start, end; /* page numbers in this file */
	uint64_t info_offset, info_size, note_offset, note_size;
	/* Worked out: */
	uint64_t bitmap_offset, dumped_offset, descriptor_offset; /* in the file */
	uint64_t bitmap_bits;					  /* of one bitmap */
};

/* Errors: cut off, damaged; the bitmaps are within the file. */
struct error *diskdump_header_read(const struct dump_file *file,
				   struct diskdump_header *ret) MUST_CHECK;

#endif
