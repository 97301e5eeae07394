/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pages of kdump-compressed files: zlib, LZO, Snappy, Zstandard. */
#ifndef VMCORE_DECOMPRESS_H
#define VMCORE_DECOMPRESS_H

#include "base/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zlib.h>

/* Flags of a page descriptor, and of the header's status (makedumpfile diskdump_mod.h). */
enum compression {
	COMPRESSION_ZLIB = 0x1,
	COMPRESSION_LZO = 0x2,
	COMPRESSION_SNAPPY = 0x4,
	COMPRESSION_ZSTD = 0x20
};

/* Zeroed storage is a decompressor; what it needs it gets when it needs it. */
struct decompressor {
	z_stream zlib;
	int zlib_ready;
	/* Shared objects, opened when a page asks for one: few dumps do. */
	void *deflate, *snappy, *zstd;
	void (*deflate_function)(void), (*snappy_function)(void), (*zstd_function)(void);
	void *deflate_context, *zstd_context; /* one for all pages, as `zlib` is */
	void (*deflate_free)(void), (*zstd_free)(void);
	bool no_deflate; /* zlib alone: libdeflate is not installed */
};

/*
 * Loads libdeflate and the libraries for Snappy and Zstandard while files may still be opened:
 * another dump may need what the first did not. They stay. That one of the latter is not installed
 * is said when a page needs it.
 */
void decompress_keep_libraries(void);
void decompressor_deinit(struct decompressor *decompressor);
/*
 * Fills `to` with exactly `to_size` bytes. ERROR_FORMAT when the data is damaged,
 * ERROR_UNSUPPORTED when the library for it is not installed.
 */
struct error *decompress(struct decompressor *decompressor, uint32_t flags, const uint8_t *from,
			 size_t from_size, uint8_t *to, size_t to_size) MUST_CHECK;
/* "zlib", "lzo", "snappy", "zstd"; "uncompressed". */
const char *compression_name(uint32_t flags);

#endif
