// SPDX-License-Identifier: GPL-3.0-or-later
/* Images of memory: LiME, whole and damaged; raw memory and the layouts that maps make possible. */
#include "tests/unit/test.h"

#include "vmcore/lime.h"
#include "vmcore/raw.h"
#include "vmcore/vmcore.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096u

struct made {
	uint8_t data[8 * PAGE];
	size_t size;
	int fd;
	char path[64];
};

static void put_header(struct made *made, const char *magic, uint32_t version, uint64_t start,
		       uint64_t last)
{
	uint64_t words[3] = { start, last, 0 };
	memcpy(made->data + made->size, magic, 4);
	memcpy(made->data + made->size + 4, &version, 4);
	memcpy(made->data + made->size + 8, words, sizeof(words));
	made->size += LIME_HEADER_SIZE;
}

static void put_fill(struct made *made, size_t size, uint8_t byte)
{
	memset(made->data + made->size, byte, size);
	made->size += size;
}

static const char *made_path(struct made *made)
{
	made->fd = memfd_create("image", MFD_CLOEXEC);
	CHECK(pwrite(made->fd, made->data, made->size, 0) == (ssize_t)made->size);
	snprintf(made->path, sizeof(made->path), "/proc/self/fd/%d", made->fd);
	return made->path;
}

static struct vmcore *open_made(struct made *made)
{
	const char *path = made_path(made);
	struct vmcore *vmcore = NULL;
	CHECK_OK(vmcore_open(&path, 1, NULL, &vmcore));
	return vmcore;
}

static void check_byte(struct vmcore *vmcore, uint64_t address, uint8_t expected)
{
	uint8_t byte = 0;
	CHECK_OK(memory_read(vmcore_physical(vmcore), address, &byte, 1));
	CHECK_U64(byte, expected);
}

static void check_none(struct vmcore *vmcore, uint64_t address, enum error_kind kind)
{
	uint8_t byte;
	struct error *error = memory_read(vmcore_physical(vmcore), address, &byte, 1);
	CHECK(error && error->kind == kind);
	error_free(error);
}

static void test_lime(void)
{
	struct made made = { .size = 0 };
	put_header(&made, LIME_MAGIC, 1, 0x1000, 0x1fff);
	put_fill(&made, PAGE, 0x11);
	put_header(&made, LIME_MAGIC, 1, 0x100000000, 0x100000bff);
	put_fill(&made, 0xc00, 0x22);
	struct vmcore *vmcore = open_made(&made);
	CHECK_STRING(vmcore_facts(vmcore)->format, "LiME");
	CHECK(!vmcore_facts(vmcore)->incomplete);
	CHECK_U64(vmcore_facts(vmcore)->memory_size, PAGE + 0xc00);
	CHECK_U64(vmcore_facts(vmcore)->max_physical, 0x100000c00);
	check_byte(vmcore, 0x1fff, 0x11);
	check_byte(vmcore, 0x100000000, 0x22);
	check_byte(vmcore, 0x100000bff, 0x22);
	check_none(vmcore, 0xfff, ERROR_FAULT);
	check_none(vmcore, 0x2000, ERROR_FAULT);
	check_none(vmcore, 0x100000c00, ERROR_FAULT);
	vmcore_close(vmcore);
	close(made.fd);
}

/* A range of 2^63 bytes in a small file; a second header that is none. */
static void test_lime_damaged(void)
{
	struct made made = { .size = 0 };
	put_header(&made, LIME_MAGIC, 1, 0x1000, UINT64_MAX / 2);
	put_fill(&made, PAGE, 0x11);
	struct vmcore *vmcore = open_made(&made);
	CHECK(vmcore_facts(vmcore)->incomplete);
	check_byte(vmcore, 0x1fff, 0x11);
	check_none(vmcore, 0x2000, ERROR_TRUNCATED);
	vmcore_close(vmcore);
	close(made.fd);

	made.size = 0;
	put_header(&made, LIME_MAGIC, 1, 0x1000, 0x1fff);
	put_fill(&made, PAGE, 0x11);
	put_header(&made, "LiME", 1, 0x8000, 0x8fff);
	put_fill(&made, PAGE, 0x22);
	vmcore = open_made(&made);
	CHECK(vmcore_facts(vmcore)->incomplete);
	check_byte(vmcore, 0x1000, 0x11);
	check_none(vmcore, 0x8000, ERROR_FAULT);
	vmcore_close(vmcore);
	close(made.fd);
}

/* --- AVML ------------------------------------------------------------------------------ */

static void put(struct made *made, const void *bytes, size_t size)
{
	memcpy(made->data + made->size, bytes, size);
	made->size += size;
}

/* Of `byte` 4096 times. */
static uint32_t page_checksum(uint8_t byte)
{
	uint32_t crc = ~0u;
	for (unsigned int i = 0; i < PAGE; i++) {
		crc ^= byte;
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
	}
	crc = ~crc;
	return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

/* A byte, 65 times the 63 before again; 4096 of them. */
static void put_packed_page(struct made *made, uint8_t byte)
{
	const uint8_t start[] = { 0x80, 0x20, 0, byte };
	uint32_t head = (uint32_t)(4 + sizeof(start) + 65 * 3) << 8, crc = page_checksum(byte);
	put(made, &head, 4);
	put(made, &crc, 4);
	put(made, start, sizeof(start));
	for (int i = 0; i < 65; i++)
		put(made, "\xfa\x01", 3);
}

static void put_plain_page(struct made *made, uint8_t byte)
{
	uint32_t head = (4 + PAGE) << 8 | 1, crc = page_checksum(byte);
	put(made, &head, 4);
	put(made, &crc, 4);
	put_fill(made, PAGE, byte);
}

/* Two pages, one of them packed, and what is to be skipped; then its size. */
static void put_block(struct made *made, uint64_t address, uint8_t byte)
{
	put_header(made, AVML_MAGIC, 2, address, address + 2 * PAGE - 1);
	size_t start = made->size;
	put(made, "\xff\x06\0\0sNaPpY", 10);
	put_packed_page(made, byte);
	put(made, "\xfe\x02\0\0xx", 6);
	put_plain_page(made, byte + 1);
	uint64_t size = made->size - start;
	put(made, &size, sizeof(size));
}

static void test_avml(void)
{
	struct made made = { .size = 0 };
	uint8_t bytes[4];
	put_block(&made, 0x100000000, 0x21);
	put_block(&made, 0x1000, 0x11);
	struct vmcore *vmcore = open_made(&made);
	CHECK_STRING(vmcore_facts(vmcore)->format, "AVML (snappy)");
	CHECK(!vmcore_facts(vmcore)->incomplete);
	CHECK_U64(vmcore_facts(vmcore)->memory_size, 4 * PAGE);
	CHECK_U64(vmcore_facts(vmcore)->max_physical, 0x100002000);
	check_byte(vmcore, 0x1000, 0x11);
	check_byte(vmcore, 0x2fff, 0x12);
	check_byte(vmcore, 0x100000fff, 0x21);
	check_byte(vmcore, 0x100001000, 0x22);
	CHECK_OK(memory_read(vmcore_physical(vmcore), 0x1ffe, bytes, sizeof(bytes)));
	CHECK(!memcmp(bytes, "\x11\x11\x12\x12", 4));
	check_none(vmcore, 0xfff, ERROR_EXCLUDED);
	check_none(vmcore, 0x3000, ERROR_EXCLUDED);
	check_none(vmcore, UINT64_MAX, ERROR_EXCLUDED);
	vmcore_close(vmcore);
	close(made.fd);
}

/* Another byte in a page; a block cut off, whose first page is there; a wrong size behind one. */
static void test_avml_damaged(void)
{
	struct made made = { .size = 0 };
	put_block(&made, 0x1000, 0x11);
	size_t size = made.size;
	made.data[size - 100] ^= 1;
	struct vmcore *vmcore = open_made(&made);
	check_byte(vmcore, 0x1000, 0x11);
	check_none(vmcore, 0x2000, ERROR_DAMAGED);
	vmcore_close(vmcore);
	close(made.fd);

	made.data[size - 100] ^= 1;
	made.size = size - 200;
	vmcore = open_made(&made);
	CHECK(vmcore_facts(vmcore)->incomplete);
	check_byte(vmcore, 0x1fff, 0x11);
	check_none(vmcore, 0x2000, ERROR_EXCLUDED);
	vmcore_close(vmcore);
	close(made.fd);

	made.size = size;
	made.data[size - 8] ^= 1;
	put_block(&made, 0x8000, 0x31);
	vmcore = open_made(&made);
	CHECK(vmcore_facts(vmcore)->incomplete);
	check_byte(vmcore, 0x2000, 0x12);
	check_none(vmcore, 0x8000, ERROR_EXCLUDED);
	vmcore_close(vmcore);
	close(made.fd);
}

/* --- refused --------------------------------------------------------------------------- */

static void check_refused(const char *magic, uint32_t version, uint64_t start, uint64_t last,
			  const char *part)
{
	struct made made = { .size = 0 };
	struct vmcore *vmcore = NULL;
	put_header(&made, magic, version, start, last);
	put_fill(&made, PAGE, 0);
	const char *path = made_path(&made);
	CHECK_FAILS(vmcore_open(&path, 1, NULL, &vmcore), part);
	close(made.fd);
}

static void test_refused(void)
{
	check_refused(LIME_MAGIC, 2, 0, 0xfff, "only 1 is known");
	check_refused(LIME_MAGIC, 1, 0x1000, 0xfff, "ends before its start");
	check_refused(LIME_MAGIC, 1, 0, UINT64_MAX, "ends before its start");
	check_refused(AVML_MAGIC, 1, 0, 0xfff, "only 2 is known");
	/* No chunk is of no bytes: zeros are no stream. */
	check_refused(AVML_MAGIC, 2, 0, 0xfff, "AVML block at offset 36 is damaged");
	check_refused(AVML_MAGIC, 2, UINT64_MAX - 0xfff, UINT64_MAX, "block at offset 32");
	check_refused("\xd1\xba\xd1\xba", 0, 0, 0, "give the .vmem");
	check_refused("\0\0\0\0", 0, 0, 0, "--format raw");
}

/* A memory map behind rubbish, in a file of which only the size matters else. */
static void find_layouts(uint64_t file_size, const uint64_t (*rows)[3], size_t count,
			 struct raw_layouts *ret)
{
	struct made made = { .size = 0 };
	struct dump_file file;
	put_fill(&made, 77, 0xee);
	for (size_t i = 0; i < count; i++) {
		uint32_t type = (uint32_t)rows[i][2];
		memcpy(made.data + made.size, rows[i], 16);
		memcpy(made.data + made.size + 16, &type, 4);
		made.size += 20;
	}
	made_path(&made);
	CHECK(!ftruncate(made.fd, (off_t)file_size));
	*ret = (struct raw_layouts){ .count = 0 };
	CHECK_OK(dump_file_init(&file, made.path));
	CHECK_OK(raw_find_layouts(&file, 0, file_size, ret));
	dump_file_deinit(&file);
	close(made.fd);
}

static void test_layouts(void)
{
	static const uint64_t rows[][3] = { { 0, 0x9fc00, 1 },
					    { 0x9fc00, 0x400, 2 },
					    { 0x100000, 0x7eed000, 1 },
					    { 0x7fed000, 0x13000, 2 },
					    { 0x100000000, 0x18000000, 1 } };
	struct raw_layouts layouts;
	/* Without the hole: the low part takes what the high one leaves. */
	find_layouts(0x20000000, rows, 5, &layouts);
	CHECK_U64(layouts.count, 1);
	CHECK(layouts.count && layouts.items[0].count == 2 &&
	      layouts.items[0].items[0].size == 0x8000000 &&
	      layouts.items[0].items[1].physical == 0x100000000 &&
	      layouts.items[0].items[1].offset == 0x8000000);
	raw_layouts_deinit(&layouts);
	/* Only RAM, without the first page, too. */
	find_layouts(0x9fc00 + 0x7eed000 + 0x18000000 - 0x1000, rows, 5, &layouts);
	CHECK_U64(layouts.count, 1);
	CHECK(layouts.count && layouts.items[0].count == 3 &&
	      layouts.items[0].items[0].physical == 0x1000 &&
	      layouts.items[0].items[2].offset == 0x9ec00 + 0x7eed000);
	raw_layouts_deinit(&layouts);
	/* With the hole, and with less than what is high: the file is as it is. */
	find_layouts(0x118000000, rows, 5, &layouts);
	CHECK_U64(layouts.count, 0);
	CHECK_U64(layouts.maps, 1);
	find_layouts(0x10000000, rows, 5, &layouts);
	CHECK_U64(layouts.count, 0);
	/* Terabytes of nothing are not read. */
	find_layouts((uint64_t)1 << 42, rows, 5, &layouts);
	CHECK_U64(layouts.maps, 1);
	/* Rows that overlap are no map. */
	static const uint64_t overlap[][3] = { { 0, 0x100001, 1 }, { 0x100000, 0x7eed000, 1 } };
	find_layouts(0x20000000, overlap, 2, &layouts);
	CHECK_U64(layouts.maps, 0);
}

int main(void)
{
	RUN(test_lime);
	RUN(test_lime_damaged);
	RUN(test_avml);
	RUN(test_avml_damaged);
	RUN(test_refused);
	RUN(test_layouts);
	return test_finish();
}
