// SPDX-License-Identifier: GPL-3.0-or-later
#include "vmcore/decompress.h"

#include <dlfcn.h>
#include <lzo/lzo1x.h>
#include <string.h>

/* All interfaces are stable C: libdeflate.h, snappy-c.h and zstd.h. */
typedef void *deflate_create_function(void);
typedef void deflate_free_function(void *context);
typedef int deflate_decompress_function(void *context, const void *from, size_t from_size, void *to,
					size_t to_size, size_t *ret_size);
typedef int snappy_uncompress_function(const char *from, size_t from_size, char *to,
				       size_t *to_size);
typedef void *zstd_create_function(void);
typedef size_t zstd_free_function(void *context);
typedef size_t zstd_decompress_function(void *context, void *to, size_t to_size, const void *from,
					size_t from_size);

const char *compression_name(uint32_t flags)
{
	if (flags & COMPRESSION_ZLIB)
		return "zlib";
	if (flags & COMPRESSION_LZO)
		return "lzo";
	if (flags & COMPRESSION_SNAPPY)
		return "snappy";
	if (flags & COMPRESSION_ZSTD)
		return "zstd";
	return "uncompressed";
}

void decompressor_deinit(struct decompressor *decompressor)
{
	if (decompressor->zlib_ready)
		inflateEnd(&decompressor->zlib);
	if (decompressor->deflate_context)
		((deflate_free_function *)decompressor->deflate_free)(
			decompressor->deflate_context);
	if (decompressor->deflate)
		dlclose(decompressor->deflate);
	if (decompressor->snappy)
		dlclose(decompressor->snappy);
	if (decompressor->zstd_context)
		((zstd_free_function *)decompressor->zstd_free)(decompressor->zstd_context);
	if (decompressor->zstd)
		dlclose(decompressor->zstd);
	*decompressor = (struct decompressor){ 0 };
}

/* None is linked: they are wanted for few dumps, and not everywhere installed. */
static struct error *load_function(const char *object, const char *name, void **handle,
				   void (**ret)(void))
{
	if (*ret)
		return NULL;
	if (!*handle)
		*handle = dlopen(object, RTLD_NOW | RTLD_LOCAL);
	void *symbol = *handle ? dlsym(*handle, name) : NULL;
	if (!symbol)
		return error_create(ERROR_UNSUPPORTED,
				    "it is compressed and needs %s, which is not installed",
				    object);
	memcpy(ret, &symbol, sizeof(symbol));
	return NULL;
}

#define DEFLATE_LIBRARY "libdeflate.so.0"
#define SNAPPY_LIBRARY	"libsnappy.so.1"
#define ZSTD_LIBRARY	"libzstd.so.1"

void decompress_keep_libraries(void)
{
	static const char *const objects[] = { DEFLATE_LIBRARY, SNAPPY_LIBRARY, ZSTD_LIBRARY };
	/* Who asks for the same name later gets what is loaded. */
	for (size_t i = 0; i < sizeof(objects) / sizeof(objects[0]); i++)
		(void)dlopen(objects[i], RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

/* One stream for all pages: setting up a new one costs as much as the page. */
static struct error *inflate_page(struct decompressor *decompressor, const uint8_t *from,
				  size_t from_size, uint8_t *to, size_t to_size, size_t *ret_size)
{
	z_stream *zlib = &decompressor->zlib;
	int status = decompressor->zlib_ready ? inflateReset(zlib) : inflateInit(zlib);
	if (status != Z_OK)
		return error_no_memory();
	decompressor->zlib_ready = 1;
	zlib->next_in = (Bytef *)from;
	zlib->avail_in = (uInt)from_size;
	zlib->next_out = to;
	zlib->avail_out = (uInt)to_size;
	*ret_size = inflate(zlib, Z_FINISH) == Z_STREAM_END ? to_size - zlib->avail_out : 0;
	return NULL;
}

static struct error *load_deflate(struct decompressor *decompressor)
{
	void (*create)(void) = NULL;
	TRY(load_function(DEFLATE_LIBRARY, "libdeflate_zlib_decompress", &decompressor->deflate,
			  &decompressor->deflate_function));
	TRY(load_function(DEFLATE_LIBRARY, "libdeflate_free_decompressor", &decompressor->deflate,
			  &decompressor->deflate_free));
	TRY(load_function(DEFLATE_LIBRARY, "libdeflate_alloc_decompressor", &decompressor->deflate,
			  &create));
	decompressor->deflate_context = ((deflate_create_function *)create)();
	return decompressor->deflate_context ? NULL : error_no_memory();
}

static bool has_deflate(struct decompressor *decompressor)
{
	if (!decompressor->deflate_context && !decompressor->no_deflate) {
		struct error *error = load_deflate(decompressor);
		decompressor->no_deflate = error;
		error_free(error);
	}
	return decompressor->deflate_context;
}

/*
 * libdeflate takes half of zlib's time. What it refuses is left to zlib: no page is lost by it. Of
 * pages that somebody made, and not damage, it takes some that zlib refuses.
 */
static struct error *unzip_page(struct decompressor *decompressor, const uint8_t *from,
				size_t from_size, uint8_t *to, size_t to_size, size_t *ret_size)
{
	deflate_decompress_function *decompress_page =
		has_deflate(decompressor)
			? (deflate_decompress_function *)decompressor->deflate_function
			: NULL;
	if (decompress_page &&
	    !decompress_page(decompressor->deflate_context, from, from_size, to, to_size, ret_size))
		return NULL;
	return inflate_page(decompressor, from, from_size, to, to_size, ret_size);
}

static struct error *unsnap_page(struct decompressor *decompressor, const uint8_t *from,
				 size_t from_size, uint8_t *to, size_t to_size, size_t *ret_size)
{
	struct error *error = load_function(SNAPPY_LIBRARY, "snappy_uncompress",
					    &decompressor->snappy, &decompressor->snappy_function);
	if (error)
		return error;
	size_t size = to_size;
	snappy_uncompress_function *uncompress =
		(snappy_uncompress_function *)decompressor->snappy_function;
	*ret_size = uncompress((const char *)from, from_size, (char *)to, &size) ? 0 : size;
	return NULL;
}

/* The context is 160 KiB, which the library would else set up for each page. */
static struct error *load_zstd(struct decompressor *decompressor)
{
	void (*create)(void) = NULL;
	if (decompressor->zstd_context)
		return NULL;
	TRY(load_function(ZSTD_LIBRARY, "ZSTD_decompressDCtx", &decompressor->zstd,
			  &decompressor->zstd_function));
	TRY(load_function(ZSTD_LIBRARY, "ZSTD_freeDCtx", &decompressor->zstd,
			  &decompressor->zstd_free));
	TRY(load_function(ZSTD_LIBRARY, "ZSTD_createDCtx", &decompressor->zstd, &create));
	decompressor->zstd_context = ((zstd_create_function *)create)();
	return decompressor->zstd_context ? NULL : error_no_memory();
}

static struct error *unzstd_page(struct decompressor *decompressor, const uint8_t *from,
				 size_t from_size, uint8_t *to, size_t to_size, size_t *ret_size)
{
	TRY(load_zstd(decompressor));
	zstd_decompress_function *decompress_page =
		(zstd_decompress_function *)decompressor->zstd_function;
	/* An error is a size far above any page's. */
	*ret_size = decompress_page(decompressor->zstd_context, to, to_size, from, from_size);
	return NULL;
}

struct error *decompress(struct decompressor *decompressor, uint32_t flags, const uint8_t *from,
			 size_t from_size, uint8_t *to, size_t to_size)
{
	size_t size = 0;
	struct error *error = NULL;
	if (flags & COMPRESSION_ZLIB) {
		error = unzip_page(decompressor, from, from_size, to, to_size, &size);
	} else if (flags & COMPRESSION_LZO) {
		lzo_uint lzo_size = to_size;
		int status = lzo1x_decompress_safe(from, from_size, to, &lzo_size, NULL);
		size = status == LZO_E_OK ? lzo_size : 0;
	} else if (flags & COMPRESSION_SNAPPY) {
		error = unsnap_page(decompressor, from, from_size, to, to_size, &size);
	} else if (flags & COMPRESSION_ZSTD) {
		error = unzstd_page(decompressor, from, from_size, to, to_size, &size);
	} else if (from_size == to_size) {
		memcpy(to, from, to_size);
		size = to_size;
	}
	if (!error && size != to_size)
		error = error_create(ERROR_DAMAGED, "its %s data is damaged",
				     compression_name(flags));
	return error;
}
