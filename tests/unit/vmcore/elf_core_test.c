// SPDX-License-Identifier: GPL-3.0-or-later
/* Memory that is in several segments of an ELF core, of which the end may be missing. */
#include "tests/unit/test.h"

#include "tests/unit/elf_header.h"
#include "vmcore/elf_core.h"
#include "vmcore/file.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAGE 4096u

struct image {
	char path[40];
	struct dump_file file;
	struct elf_core *core;
};

/* Page N of the file has bytes N. */
static void image_open(struct image *image, const Elf64_Phdr *segments, uint16_t count,
		       unsigned int pages)
{
	*image = (struct image){ .path = "/tmp/btfcrash-elf-core-XXXXXX" };
	int fd = mkstemp(image->path);
	uint8_t page[PAGE];
	const Elf64_Ehdr header = elf_core_header(count);
	CHECK(fd >= 0);
	for (unsigned int i = 0; i < pages; i++) {
		memset(page, (int)i, sizeof(page));
		CHECK(pwrite(fd, page, sizeof(page), (off_t)i * PAGE) == PAGE);
	}
	CHECK(pwrite(fd, &header, sizeof(header), 0) == sizeof(header));
	CHECK(pwrite(fd, segments, count * sizeof(*segments), sizeof(header)) ==
	      (ssize_t)(count * sizeof(*segments)));
	close(fd);
	CHECK_OK(dump_file_init(&image->file, image->path));
	CHECK_OK(elf_core_open(&image->file, &image->core));
}

static void image_close(struct image *image)
{
	elf_core_close(image->core);
	dump_file_deinit(&image->file);
	unlink(image->path);
}

static void check_page(const struct image *image, uint64_t physical, unsigned int wanted)
{
	uint8_t bytes[PAGE], same[PAGE];
	memset(same, (int)wanted, sizeof(same));
	CHECK_OK(elf_core_read(image->core, physical, bytes, sizeof(bytes)));
	CHECK(!memcmp(bytes, same, sizeof(bytes)));
}

static void check_fails_at(const struct image *image, uint64_t physical, size_t size,
			   enum error_kind kind, uint64_t wanted)
{
	uint8_t bytes[4 * PAGE];
	struct error *error = elf_core_read(image->core, physical, bytes, size);
	CHECK(error && error->kind == kind);
	CHECK_U64(error ? error->address : 0, wanted);
	error_free(error);
}

static Elf64_Phdr segment(uint64_t physical, uint64_t pages, uint64_t offset)
{
	return (Elf64_Phdr){ .p_type = PT_LOAD,
			     .p_offset = offset * PAGE,
			     .p_paddr = physical,
			     .p_filesz = pages * PAGE,
			     .p_memsz = pages * PAGE };
}

/* All of the memory lies beyond the end of the file; what is in it once more, does not. */
static void check_image_first(const struct image *image)
{
	uint64_t start = 0, size = 0;
	check_page(image, 0x3000, 1);
	check_page(image, 0x4000, 2);
	check_fails_at(image, 0x2000, PAGE, ERROR_TRUNCATED, 0x2000);
	check_fails_at(image, 0x2ff8, 16, ERROR_TRUNCATED, 0x2ff8);
	check_fails_at(image, 0x4ff8, 16, ERROR_TRUNCATED, 0x5000);
	check_fails_at(image, 0x3000, 3 * PAGE, ERROR_TRUNCATED, 0x5000);
	check_fails_at(image, 0x9000, 8, ERROR_FAULT, 0x9000);
	CHECK(elf_core_next(image->core, 0, &start, &size));
	CHECK_U64(start, 0x3000);
	CHECK_U64(size, 2 * PAGE);
	CHECK(!elf_core_next(image->core, 0x5000, &start, &size));
}

static void test_other_segment_is_cut(void)
{
	const Elf64_Phdr kernel = segment(0x3000, 2, 1), memory = segment(0x1000, 8, 100);
	struct image image;
	image_open(&image, (Elf64_Phdr[]){ kernel, memory }, 2, 3);
	check_image_first(&image);
	image_close(&image);
	image_open(&image, (Elf64_Phdr[]){ memory, kernel }, 2, 3);
	check_image_first(&image);
	image_close(&image);
}

/* The file ends within a segment, behind which lies one page of another. */
static void test_cut_within(void)
{
	const Elf64_Phdr segments[] = { segment(0x1000, 4, 2), segment(0x3000, 1, 1) };
	struct image image;
	image_open(&image, segments, 2, 4);
	check_page(&image, 0x1000, 2);
	check_page(&image, 0x2000, 3);
	check_page(&image, 0x3000, 1);
	check_fails_at(&image, 0x1000, 4 * PAGE, ERROR_TRUNCATED, 0x4000);
	image_close(&image);
}

int main(void)
{
	RUN(test_other_segment_is_cut);
	RUN(test_cut_within);
	return test_finish();
}
