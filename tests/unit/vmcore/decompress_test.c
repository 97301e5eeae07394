// SPDX-License-Identifier: GPL-3.0-or-later
/* A page that zlib packed, whole and damaged, is the same with libdeflate and without it. */
#include "tests/unit/test.h"

#include "vmcore/decompress.h"
#include <string.h>
#include <zlib.h>

#define PAGE 4096u

struct pair {
	struct decompressor fast, plain;
	size_t refused, taken; /* by both */
};

static void pair_init(struct pair *pair)
{
	*pair = (struct pair){ .plain = { .no_deflate = true } };
}

static void pair_deinit(struct pair *pair)
{
	decompressor_deinit(&pair->fast);
	decompressor_deinit(&pair->plain);
}

/* By both, which agree. */
static void check_same(struct pair *pair, const uint8_t *packed, size_t size)
{
	uint8_t fast[PAGE] = { 0 }, plain[PAGE] = { 0 };
	struct error *one =
		decompress(&pair->fast, COMPRESSION_ZLIB, packed, size, fast, sizeof(fast));
	struct error *other =
		decompress(&pair->plain, COMPRESSION_ZLIB, packed, size, plain, sizeof(plain));
	CHECK(!one == !other);
	if (one && other)
		CHECK_STRING(one->message, other->message);
	else
		CHECK(!memcmp(fast, plain, sizeof(fast)));
	if (one)
		pair->refused++;
	else
		pair->taken++;
	error_free(one);
	error_free(other);
}

static size_t pack(const uint8_t *page, size_t page_size, int level, uint8_t *packed)
{
	uLongf size = 2 * PAGE;
	CHECK(compress2(packed, &size, page, page_size, level) == Z_OK);
	return size;
}

/* Words that come again, small numbers, noise: what pages are made of. */
static void fill(uint8_t *page, unsigned int kind)
{
	uint32_t state = 12345;
	for (size_t i = 0; i < PAGE; i++) {
		state = state * 1103515245 + 12345;
		uint8_t noise = (uint8_t)(state >> 16);
		page[i] = kind == 0   ? 0
			  : kind == 1 ? (uint8_t) "struct task_struct "[i % 19]
			  : kind == 2 ? (i % 8 < 2   ? noise
					 : i % 8 < 5 ? 0
						     : 0xff)
				      : noise;
	}
}

static void test_whole(void)
{
	static const int levels[] = { 0, 1, 6, 9 };
	uint8_t page[PAGE], packed[2 * PAGE], got[PAGE];
	struct pair pair;
	pair_init(&pair);
	for (unsigned int kind = 0; kind < 4; kind++)
		for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
			fill(page, kind);
			size_t size = pack(page, PAGE, levels[i], packed);
			CHECK_OK(decompress(&pair.fast, COMPRESSION_ZLIB, packed, size, got, PAGE));
			CHECK(!memcmp(page, got, PAGE));
			/* What follows in the file is not the page's. */
			memset(packed + size, 0xa5, 8);
			check_same(&pair, packed, size + 8);
		}
	CHECK_U64(pair.taken, 16);
	/* Else all of this compares zlib with itself; tests/packages has the library. */
	CHECK(pair.fast.deflate_context && !pair.plain.deflate_context);
	pair_deinit(&pair);
}

static void test_of_another_size(void)
{
	uint8_t page[2 * PAGE], packed[4 * PAGE];
	struct pair pair;
	pair_init(&pair);
	fill(page, 2);
	fill(page + PAGE, 1);
	check_same(&pair, packed, pack(page, PAGE - 1, 6, packed));
	check_same(&pair, packed, pack(page, PAGE + 1, 6, packed));
	check_same(&pair, packed, pack(page, 2 * PAGE, 6, packed));
	check_same(&pair, packed, 0);
	CHECK_U64(pair.refused, 4);
	pair_deinit(&pair);
}

static void test_damaged(void)
{
	uint8_t page[PAGE], packed[2 * PAGE];
	struct pair pair;
	pair_init(&pair);
	for (unsigned int kind = 0; kind < 3; kind++) {
		fill(page, kind);
		size_t size = pack(page, PAGE, 6, packed);
		for (size_t i = 0; i < size; i++)
			check_same(&pair, packed, i);
		for (size_t i = 0; i < size * 8; i++) {
			packed[i / 8] ^= (uint8_t)(1 << i % 8);
			check_same(&pair, packed, size);
			packed[i / 8] ^= (uint8_t)(1 << i % 8);
		}
	}
	CHECK(pair.refused > 1000);
	pair_deinit(&pair);
}

int main(void)
{
	RUN(test_whole);
	RUN(test_of_another_size);
	RUN(test_damaged);
	return test_finish();
}
