/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kdump-compressed files (makedumpfile, QEMU): header, sub header, two page bitmaps, a table of
 * page descriptors, notes, page data; all in blocks of the page size (makedumpfile diskdump_mod.h).
 *
 * They are read without libkdumpfile, because 0.5.1 is no match for damaged ones: past the end of
 * a cut file it takes zeros for bytes or dies of SIGBUS; a note that it dislikes makes it refuse
 * the whole dump, and kdump_free() then dies of SIGSEGV; wild sizes in a header keep it busy for
 * minutes. It does not say which pages exist and were filtered, and reads no flattened stream.
 */
#ifndef VMCORE_DISKDUMP_H
#define VMCORE_DISKDUMP_H

#include "vmcore/decompress.h"
#include "vmcore/file.h"
#include "vmcore/notes.h"

#define DISKDUMP_INCOMPLETE 0x8 /* of the header's status: the disk was full */

/* One file: all of the dump, or its share of page numbers. */
struct diskdump_part {
	struct dump_file *file;
	uint64_t start, end;	    /* page frame numbers [start, end) */
	uint64_t bitmap_offset;	    /* of the first bitmap: RAM */
	uint64_t dumped_offset;	    /* of the second: pages in the dump */
	uint64_t bitmap_bits;	    /* in one bitmap */
	uint64_t descriptor_offset; /* of the first page descriptor */
	uint64_t descriptor_count;
	uint8_t *dumped; /* the second bitmap from page `first` on */
	uint64_t first;
	uint64_t *ranks; /* set bits before each RANK_BITS, from `start` on */
};

struct diskdump {
	struct diskdump_part *parts; /* by page number, disjoint */
	size_t part_count;
	uint32_t page_size;
	uint8_t word_size;
	bool big_endian;
	int32_t version;
	uint32_t status;     /* DISKDUMP_INCOMPLETE and enum compression */
	int32_t dump_level;  /* -1: does not say */
	int64_t time;	     /* seconds since 1970, 0: does not say */
	char machine[66];    /* utsname, "" with QEMU */
	uint64_t page_count; /* of the address space: one past the highest page number */
	uint64_t ram_pages;  /* that exist */
	uint64_t promised_size;
	bool cut;	    /* descriptors or data are missing at the end */
	bool parts_missing; /* not all files of a split dump were given */
	uint8_t *note_bytes;
	struct notes notes;
	uint8_t *info_bytes; /* VMCOREINFO outside the notes (header version 3), else NULL */
	size_t info_size;
	struct decompressor decompressor;
	/* Bytes of a file that were read last: the data of neighbouring pages lies together. */
	uint8_t *ahead;
	const struct dump_file *ahead_file;
	uint64_t ahead_offset, ahead_size;
	uint8_t *page; /* one, for reads of a part of it */
};

/* Borrows `files`. Errors: damaged or cut header, files of different dumps. */
struct error *diskdump_open(struct dump_file *files, size_t count,
			    struct diskdump **ret) MUST_CHECK;
void diskdump_close(struct diskdump *dump);
/*
 * The same dump for the reads of one more thread: with buffers of its own, all else is borrowed,
 * and the files are those of `dump`, which must outlive it.
 */
struct error *diskdump_share(const struct diskdump *dump, struct diskdump **ret) MUST_CHECK;
void diskdump_unshare(struct diskdump *shared);
/* Whether its pages are, as its header says. */
bool diskdump_is_compressed(const struct diskdump *dump);
/*
 * Reads physical memory. Errors carry the first bad address: ERROR_FAULT, ERROR_EXCLUDED,
 * ERROR_TRUNCATED; ERROR_FORMAT for a damaged page, ERROR_UNSUPPORTED for its compression.
 */
struct error *diskdump_read(struct diskdump *dump, uint64_t physical, void *buffer,
			    size_t size) MUST_CHECK;
/* The first run of dumped pages at or above `physical`; false: none. */
bool diskdump_next(const struct diskdump *dump, uint64_t physical, uint64_t *ret_start,
		   uint64_t *ret_size);

#endif
