// SPDX-License-Identifier: GPL-3.0-or-later
/* Small files that promise much: opening costs what is in them. Who believes them meets alarm(). */
#include "tests/unit/test.h"

#include "tests/unit/elf_header.h"
#include "vmcore/vmcore.h"
#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECONDS 600 /* on a busy machine, with sanitizers */

struct sparse {
	char path[40];
	int fd;
};

static struct sparse sparse_create(void)
{
	struct sparse file = { .path = "/tmp/btfcrash-sparse-XXXXXX" };
	file.fd = mkstemp(file.path);
	CHECK(file.fd >= 0);
	return file;
}

static void put(const struct sparse *file, uint64_t offset, const void *data, size_t size)
{
	CHECK(pwrite(file->fd, data, size, (off_t)offset) == (ssize_t)size);
}

static Elf64_Ehdr elf_header(uint16_t segments)
{
	Elf64_Ehdr header = elf_core_header(segments);
	header.e_shentsize = sizeof(Elf64_Shdr);
	return header;
}

/* Opens it, looks for VMCOREINFO in it, and removes it. */
static struct error *try_file(struct sparse *file)
{
	const char *path = file->path;
	struct vmcore *vmcore = NULL;
	alarm(SECONDS);
	struct error *error = vmcore_open(&path, 1, NULL, &vmcore);
	if (!error)
		error = vmcore_search_vmcoreinfo(vmcore);
	alarm(0);
	vmcore_close(vmcore);
	close(file->fd);
	unlink(file->path);
	return error;
}

static void test_many_segments(void)
{
	struct sparse file = sparse_create();
	Elf64_Ehdr header = elf_header(PN_XNUM);
	Elf64_Shdr section = { .sh_info = 45000000 };
	header.e_shoff = sizeof(header);
	header.e_phoff = 4096;
	put(&file, 0, &header, sizeof(header));
	put(&file, header.e_shoff, &section, sizeof(section));
	CHECK(!ftruncate(file.fd, 4096 + (off_t)section.sh_info * (off_t)sizeof(Elf64_Phdr)));
	CHECK_FAILS(try_file(&file), "lie in a hole");
}

static void test_large_segment(void)
{
	struct sparse file = sparse_create();
	Elf64_Ehdr header = elf_header(1);
	Elf64_Phdr segment = { .p_type = PT_LOAD, .p_offset = 4096, .p_filesz = 4ull << 40 };
	put(&file, 0, &header, sizeof(header));
	put(&file, sizeof(header), &segment, sizeof(segment));
	CHECK(!ftruncate(file.fd, 4096 + (4ll << 40)));
	CHECK_FAILS(try_file(&file), "no VMCOREINFO");
}

/* Two pages of memory that are the same bytes of the file, as nothing writes it. */
static void test_overlapping_segments(void)
{
	struct sparse file = sparse_create();
	Elf64_Ehdr header = elf_header(2);
	put(&file, 0, &header, sizeof(header));
	for (uint64_t i = 0; i < 2; i++) {
		Elf64_Phdr segment = {
			.p_type = PT_LOAD, .p_offset = 4096, .p_paddr = i * 8192, .p_filesz = 8192
		};
		put(&file, sizeof(header) + i * sizeof(segment), &segment, sizeof(segment));
	}
	CHECK(!ftruncate(file.fd, 3 * 4096));
	CHECK_FAILS(try_file(&file), "segments overlap in the file");
}

/* A file of `head` and of so many times `one`. */
static struct sparse repeat(const void *head, size_t head_size, const void *one, size_t size,
			    size_t count)
{
	struct sparse file = sparse_create();
	uint8_t *all = malloc(head_size + size * count);
	CHECK(all);
	memcpy(all, head, head_size);
	for (size_t i = 0; i < count; i++)
		memcpy(all + head_size + i * size, one, size);
	put(&file, 0, all, head_size + size * count);
	free(all);
	return file;
}

#define MANY 300000u /* one of 33 bytes: no file of 10 MB may have so many */

/* Ranges of LiME, chunks of AVML and records of a stream, of a byte each. */
static void test_many_small_things(void)
{
	static const uint8_t plain[9] = { 1, 5 };
	uint8_t range[33] = "EMiL\1", block[32] = "AVML\2", record[17] = { [15] = 1 };
	uint8_t head[4096] = "makedumpfile";
	block[19] = 1; /* the last byte of its memory: 2^24 of them */
	struct sparse file = repeat("", 0, range, sizeof(range), MANY);
	CHECK_FAILS(try_file(&file), "ranges are too many");
	file = repeat(block, sizeof(block), plain, sizeof(plain), MANY);
	CHECK_FAILS(try_file(&file), "chunks are too many");
	file = repeat(head, sizeof(head), record, sizeof(record), MANY);
	CHECK_FAILS(try_file(&file), "records are too many");
}

static void put_record(const struct sparse *file, uint64_t *at, uint64_t offset, const void *data,
		       size_t size)
{
	uint64_t head[2] = { htobe64(offset), htobe64(size) };
	put(file, *at, head, sizeof(head));
	put(file, *at + sizeof(head), data, size);
	*at += sizeof(head) + size;
}

static void test_far_record(void)
{
	struct sparse file = sparse_create();
	struct {
		Elf64_Ehdr header;
		Elf64_Phdr segment;
	} elf = { elf_header(1), { .p_type = PT_LOAD, .p_offset = 4096, .p_filesz = 1ull << 61 } };
	uint64_t at = 4096, end[2] = { UINT64_MAX, UINT64_MAX };
	put(&file, 0, "makedumpfile\0\0\0", 16);
	put_record(&file, &at, 0, &elf, sizeof(elf));
	put_record(&file, &at, 1ull << 61, "far away", 8);
	put(&file, at, end, sizeof(end));
	CHECK_FAILS(try_file(&file), "no VMCOREINFO");
}

/* Bitmaps of 2^31 bytes in the gap of a stream. */
static void test_far_bitmap(void)
{
	struct sparse file = sparse_create();
	uint8_t header[4096] = "KDUMP   ";
	uint32_t words[5] = { 1, 4096, 1, 1u << 20, 0xfffffff0 };
	uint64_t at = 4096, end[2] = { UINT64_MAX, UINT64_MAX };
	header[8] = 6;
	memcpy(header + 424, words, sizeof(words));
	put(&file, 0, "makedumpfile\0\0\0", 16);
	put_record(&file, &at, 0, header, sizeof(header));
	put_record(&file, &at, 4096, header + 2048, 2048);
	put_record(&file, &at, 1ull << 61, "far away", 8);
	put(&file, at, end, sizeof(end));
	CHECK_FAILS(try_file(&file), "page bitmaps lie in a hole");
}

int main(void)
{
	RUN(test_many_segments);
	RUN(test_large_segment);
	RUN(test_overlapping_segments);
	RUN(test_many_small_things);
	RUN(test_far_record);
	RUN(test_far_bitmap);
	return test_finish();
}
