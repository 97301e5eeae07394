// SPDX-License-Identifier: GPL-3.0-or-later
/* The kernel's BTF found by its looks, among things that look alike. */
#include "tests/unit/btf_samples.h"

#include "base/bytes.h"
#include "debugger/target/btf_search.h"
#include <stdlib.h>

#define STEXT	   0xffffffff81000000u
#define IMAGE_SIZE (5u << 20)

struct image {
	uint8_t *bytes;
	struct memory_array memory;
	uint8_t *btf;
	size_t size;
};

/* BTF of some size, with tasks or without. */
static uint8_t *make_btf(const char *last, size_t *ret_size)
{
	struct libbpf_btf *sample = btf__new_empty();
	int number = btf__add_int(sample, "int", 4, BTF_INT_SIGNED);
	for (int i = 0; i < 3000; i++) {
		char name[32];
		snprintf(name, sizeof(name), "filler_%d", i);
		btf__add_struct(sample, name, 4);
		btf__add_field(sample, "member", number, 0, 0);
	}
	btf__add_struct(sample, last, 4);
	btf__add_field(sample, "pid", number, 0, 0);
	uint8_t *data = sample_bytes(sample, false, ret_size);
	btf__free(sample);
	return data;
}

static void create(struct image *image)
{
	image->bytes = calloc(1, IMAGE_SIZE);
	image->btf = make_btf("task_struct", &image->size);
	memory_array_init(&image->memory, STEXT, image->bytes, IMAGE_SIZE);
}

static void destroy(struct image *image)
{
	free(image->bytes);
	free(image->btf);
}

static void check_found(struct image *image, uint64_t place)
{
	uint64_t address = 0, size = 0;
	CHECK_OK(btf_search(&image->memory.memory, STEXT, &address, &size));
	CHECK_U64(address, STEXT + place);
	CHECK_U64(size, image->size);
}

/* Anywhere: at the start, across the edges of what is read at once, at the very end. */
static void test_places(void)
{
	struct image image;
	create(&image);
	const uint64_t places[] = { 0,
				    4,
				    0x2eb80,
				    (1 << 20) - 4,
				    (1 << 20) - 4096,
				    (1 << 20) - 4096 - 12,
				    (2 << 20) - 4100,
				    IMAGE_SIZE - image.size / 4 * 4 - 4 };
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		memcpy(image.bytes + places[i], image.btf, image.size);
		check_found(&image, places[i]);
		memset(image.bytes + places[i], 0, image.size);
	}
	uint64_t address = 0, size = 0;
	CHECK_FAILS(btf_search(&image.memory.memory, STEXT, &address, &size),
		    "no BTF within 64 MiB");
	destroy(&image);
}

/* The magic alone, headers that promise too much, BTF that is of no kernel. */
static void test_lookalikes(void)
{
	struct image image;
	create(&image);
	size_t other_size;
	uint8_t *other = make_btf("something_else", &other_size);
	memcpy(image.bytes + 0x1000, other, other_size);
	uint64_t place = 0x200000;
	for (unsigned int at = 0; at < 24; at += 4) {
		/* One word of the header is wrong, and once each it is huge, or zero. */
		uint8_t *fake = image.bytes + 0x100000 + (size_t)at * 4096;
		memcpy(fake, image.btf, 4096);
		memset(fake + at, at % 8 ? 0xff : 0, 4);
	}
	memcpy(image.bytes + place, image.btf, image.size);
	check_found(&image, place);
	free(other);
	destroy(&image);
}

/* Memory full of headers that promise much: a few are looked at. */
static void test_many_lookalikes(void)
{
	struct image image;
	create(&image);
	for (size_t at = 0; at + 24 <= IMAGE_SIZE; at += 24) {
		memcpy(image.bytes + at, image.btf, 24);
		memset(image.bytes + at + 15, 1, 1); /* 16 MiB of types */
		memset(image.bytes + at + 19, 1, 1);
	}
	uint64_t address = 0, size = 0;
	CHECK_FAILS(btf_search(&image.memory.memory, STEXT, &address, &size),
		    "what looks like BTF at 0xffffffff81000000");
	destroy(&image);
}

int main(void)
{
	RUN(test_places);
	RUN(test_lookalikes);
	RUN(test_many_lookalikes);
	return test_finish();
}
