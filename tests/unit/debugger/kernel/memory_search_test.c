// SPDX-License-Identifier: GPL-3.0-or-later
/* Words and texts in physical memory of small dumps, with holes, against a plain loop. */
#include "tests/unit/test.h"

#include "debugger/kernel/memory_search.h"
#include "tests/unit/dump_image.h"

#define FOUND_MAX 65536

static struct {
	struct search_hit hits[FOUND_MAX];
	size_t count, end_at; /* 0: never */
} found;

static struct error *hit(void *context, const struct search_hit *one)
{
	(void)context;
	if (found.count < FOUND_MAX)
		found.hits[found.count] = *one;
	found.count++;
	return found.count == found.end_at ? error_create(ERROR_OTHER, "enough") : NULL;
}

/* A dump that is searched, by the name of its description. */
struct dump {
	struct vmcore *vmcore;
	struct target target;
};

static void dump_open(struct dump *dump, const char *name)
{
	struct image image;
	image_load(&image, name);
	*dump = (struct dump){ 0 };
	CHECK_OK(open_image(&image, &dump->vmcore));
	dump->target = (struct target){ .vmcore = dump->vmcore,
					.facts = vmcore_facts(dump->vmcore),
					.physical = vmcore_physical(dump->vmcore) };
	image_free(&image);
}

static struct memory_search search_of(struct dump *dump, const struct search_pattern *pattern,
				      unsigned int width)
{
	memset(&found, 0, sizeof(found));
	return (struct memory_search){ .target = &dump->target,
				       .space = SPACE_PHYSICAL,
				       .last = UINT64_MAX,
				       .width = width,
				       .patterns = pattern,
				       .pattern_count = 1,
				       .hit = hit };
}

/* What a plain loop over one run of memory finds has to be there, and in that order. */
static size_t check_words(struct dump *dump, uint64_t start, size_t size, unsigned int width,
			  const struct search_pattern *pattern, size_t from)
{
	uint8_t *bytes = calloc(1, size);
	CHECK_OK(memory_read(vmcore_physical(dump->vmcore), start, bytes, size));
	for (size_t at = 0; at + width <= size; at += width) {
		uint64_t value = 0;
		memcpy(&value, bytes + at, width);
		uint64_t mask = width == 8 ? UINT64_MAX : (UINT64_C(1) << width * 8) - 1;
		if ((((value & pattern->keep) - pattern->first) & mask) > (pattern->span & mask))
			continue;
		CHECK_U64(found.hits[from].address, start + at);
		CHECK_U64(found.hits[from].physical, start + at);
		CHECK_U64(found.hits[from].value, value);
		from++;
	}
	free(bytes);
	return from;
}

static void test_words(void)
{
	struct dump dump;
	const struct search_pattern ranges[] = {
		{ .first = 0x10, .span = 0x7fffffffffffffff, .keep = UINT64_MAX },
		{ .first = 0, .span = 0, .keep = 0xf0 },
	};
	dump_open(&dump, "elf-excluded");
	for (size_t i = 0; i < 2; i++)
		for (unsigned int width = 2; width <= 8; width *= 2) {
			struct memory_search search = search_of(&dump, &ranges[i], width);
			CHECK_OK(memory_search_run(&search));
			size_t count = check_words(&dump, 0, 0x3000, width, &ranges[i], 0);
			count = check_words(&dump, 0x103000, 0x1000, width, &ranges[i], count);
			CHECK(count > 16);
			CHECK_U64(found.count, count);
			CHECK_U64(search.searched, 0x4000);
		}
	vmcore_close(dump.vmcore);
}

/* Only within the bounds, which need not be those of words. */
static void test_bounds(void)
{
	struct dump dump;
	const struct search_pattern any = { .span = UINT64_MAX, .keep = UINT64_MAX };
	dump_open(&dump, "elf64");
	struct memory_search search = search_of(&dump, &any, 8);
	search.first = 0x1001;
	search.last = 0x101e;
	CHECK_OK(memory_search_run(&search));
	CHECK_U64(found.count, 2);
	CHECK_U64(found.hits[0].address, 0x1008);
	CHECK_U64(found.hits[1].address, 0x1010);
	search = search_of(&dump, &any, 8);
	search.first = 0x1bf8;
	search.limit = 3;
	CHECK_OK(memory_search_run(&search));
	CHECK_U64(found.count, 3);
	search = search_of(&dump, &any, 8);
	found.end_at = 5;
	CHECK_FAILS(memory_search_run(&search), "enough");
	CHECK_U64(found.count, 5);
	vmcore_close(dump.vmcore);
}

static void test_texts(void)
{
	static const char *const names[] = { "elf64", "kdump-zlib" };
	for (size_t i = 0; i < 2; i++) {
		struct dump dump;
		char text[16];
		uint64_t start = i ? 0x10000 : 0x100000;
		dump_open(&dump, names[i]);
		/* Across two pages, and at the last bytes that there are. */
		for (size_t at = 0xff9; at <= 0x1ff0; at += 0xff7) {
			for (size_t k = 0; k < sizeof(text); k++)
				text[k] = (char)mkdump_pattern(start + at + k);
			const struct search_pattern pattern = { .text = text,
								.size = sizeof(text) };
			struct memory_search search = search_of(&dump, &pattern, 1);
			CHECK_OK(memory_search_run(&search));
			size_t hits = 0;
			for (size_t k = 0; k < found.count; k++)
				hits += found.hits[k].address == start + at;
			CHECK_U64(hits, 1);
		}
		vmcore_close(dump.vmcore);
	}
}

/* Two patterns at one place come in their order; all in that of the addresses. */
static void test_several(void)
{
	struct dump dump;
	const struct search_pattern patterns[] = { { .text = "memory", .size = 6 },
						   { .text = "hello", .size = 5 },
						   { .text = "hello m", .size = 7 } };
	dump_open(&dump, "elf64");
	struct memory_search search = search_of(&dump, patterns, 1);
	search.pattern_count = 3;
	CHECK_OK(memory_search_run(&search));
	CHECK_U64(found.count, 3);
	CHECK_U64(found.hits[0].pattern, 1);
	CHECK_U64(found.hits[1].pattern, 2);
	CHECK_U64(found.hits[2].pattern, 0);
	CHECK_U64(found.hits[2].address, 0x200006);
	vmcore_close(dump.vmcore);
}

int main(void)
{
	RUN(test_words);
	RUN(test_bounds);
	RUN(test_texts);
	RUN(test_several);
	return test_finish();
}
