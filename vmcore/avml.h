/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Compressed files of AVML: LiME's header with another magic before each block of at most 16 MiB
 * (github.com/microsoft/avml, src/image.rs), which is a stream of google/snappy
 * (framing_format.txt), and its size behind it. Blocks that are all zeros are left out.
 */
#ifndef VMCORE_AVML_H
#define VMCORE_AVML_H

#include "vmcore/decompress.h"
#include "vmcore/file.h"

/* The most that a chunk has when it is unpacked. */
#define AVML_CHUNK_SIZE	 65536u
#define AVML_CACHE_COUNT 8u

/* Bytes that are packed together; their checksum is before them in the file. */
struct avml_chunk {
	uint64_t physical, offset;
	uint32_t size, packed_size; /* bytes */
	bool is_packed;
};

struct avml {
	const struct dump_file *file;
	struct avml_chunk *chunks; /* by address, disjoint */
	size_t count, capacity;
	uint64_t promised_size; /* bytes the file would have if it were whole */
	struct decompressor decompressor;
	uint32_t checksums[8][256];
	uint8_t *packed;
	/* Unpacked chunks; the oldest gives way. */
	uint8_t *cached;
	size_t cached_chunks[AVML_CACHE_COUNT]; /* SIZE_MAX: none */
	unsigned int next;
};

/* Borrows `file`. What is behind a damaged block is lost, what is before it is not. */
struct error *avml_open(const struct dump_file *file, struct avml **ret) MUST_CHECK;
void avml_close(struct avml *avml);
/* ERROR_EXCLUDED, ERROR_DAMAGED with the first bad physical address. One thread at a time. */
struct error *avml_read(struct avml *avml, uint64_t physical, void *buffer, size_t size) MUST_CHECK;
/* The first bytes that the file holds at or above `physical`; false: none. */
bool avml_next(const struct avml *avml, uint64_t physical, uint64_t *ret_start, uint64_t *ret_size);

#endif
