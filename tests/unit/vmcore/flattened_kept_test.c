// SPDX-License-Identifier: GPL-3.0-or-later
/* The index of a flattened stream as bytes: there and back, and bytes that are none. */
#include "tests/unit/test.h"

#include "base/array.h"
#include "vmcore/flattened_kept.h"
#include <stdlib.h>
#include <string.h>

#define STREAM ((uint64_t)1 << 40)

/* Two rising sequences of positions, a gap, and one that lies far away. */
static struct extent extents[] = {
	{ 0, 4096, 4112 },	     { 4096, 100, 50000 },	     { 4196, 15360, 8300 },
	{ 19556, 1, 60000 },	     { 1 << 20, 15360, 23676 },	     { 1 << 30, 1 << 20, 1 << 21 },
	{ 1ull << 61, 77, 1 << 25 }, { (1ull << 61) + 77, 1, 4112 },
};

static struct dump_file made(bool cut)
{
	return (struct dump_file){ .stream_size = STREAM,
				   .extents = extents,
				   .extent_count = ARRAY_COUNT(extents),
				   .cut = cut };
}

static bool is_sane(const struct dump_file *file)
{
	uint64_t end = 0;
	for (size_t i = 0; i < file->extent_count; i++) {
		const struct extent *extent = &file->extents[i];
		bool is_in = extent->position >= FLATTENED_HEADER_SIZE &&
			     extent->position + extent->size <= file->stream_size;
		if (!is_in || !extent->size || extent->offset < end ||
		    extent->offset + extent->size > INT64_MAX / 2)
			return false;
		end = extent->offset + extent->size;
	}
	return file->extent_count;
}

static void test_there_and_back(void)
{
	for (int cut = 0; cut < 2; cut++) {
		struct dump_file file = made(cut), back = { .stream_size = STREAM };
		size_t size;
		uint8_t *bytes = flattened_pack(&file, &size);
		CHECK(bytes && size < sizeof(extents));
		CHECK(flattened_unpack(&back, bytes, size));
		CHECK_U64(back.extent_count, file.extent_count);
		CHECK(back.cut == file.cut);
		CHECK(!memcmp(back.extents, extents, sizeof(extents)));
		CHECK(is_sane(&back));
		free(back.extents);
		free(bytes);
	}
}

/* What is taken is an index of a stream; what is not leaves the file as it was. */
static void try(const uint8_t *bytes, size_t size, uint64_t stream)
{
	struct dump_file back = { .stream_size = stream };
	uint8_t *copy = malloc(size + 1);
	CHECK(copy != NULL);
	memcpy(copy, bytes, size);
	if (flattened_unpack(&back, copy, size))
		CHECK(is_sane(&back));
	else
		CHECK(!back.extents && !back.extent_count && !back.cut);
	free(back.extents);
	free(copy);
}

static void test_damage(void)
{
	struct dump_file file = made(true);
	size_t size;
	uint8_t *bytes = flattened_pack(&file, &size);
	CHECK(bytes != NULL);
	for (size_t cut = 0; cut <= size; cut++)
		try(bytes, cut, STREAM);
	for (size_t i = 0; i < size; i++)
		for (unsigned int change = 1; change < 256; change++) {
			bytes[i] ^= (uint8_t)change;
			try(bytes, size, STREAM);
			bytes[i] ^= (uint8_t)change;
		}
	/* Of a stream that is shorter, or empty. */
	struct dump_file back = { .stream_size = 1 << 20 };
	CHECK(!flattened_unpack(&back, bytes, size));
	back.stream_size = 0;
	CHECK(!flattened_unpack(&back, bytes, size));
	CHECK(!flattened_unpack(&back, bytes, 0));
	memset(bytes, 0xff, size);
	try(bytes, size, STREAM);
	free(bytes);
}

int main(void)
{
	RUN(test_there_and_back);
	RUN(test_damage);
	return test_finish();
}
