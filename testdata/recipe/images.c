// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Writes the memory of an ELF dump of QEMU as the tools inside a guest would have saved it: by the
 * "System RAM" of /proc/iomem, as LiME does (format lime and raw) and as AVML does with --compress.
 *
 *   images lime|concatenated|avml ELF IOMEM >OUT
 *
 * LiME: github.com/504ensicsLabs/LiME, doc/README.md. AVML: github.com/microsoft/avml,
 * src/image.rs; its blocks are streams of google/snappy, framing_format.txt.
 */
#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* snappy-c.h of libsnappy-dev; makedumpfile brings the library without it. */
int snappy_compress(const char *input, size_t size, char *output, size_t *output_size);

#define LIME_MAGIC 0x4c694d45u /* "EMiL" */
#define AVML_MAGIC 0x4c4d5641u /* "AVML" */
#define AVML_BLOCK (16u << 20)
#define CHUNK	   65536u
#define CHUNK_MOST (CHUNK + CHUNK / 6 + 32)

enum form { LIME, CONCATENATED, AVML };

static uint8_t block[AVML_BLOCK];

static void fail(const char *what)
{
	fprintf(stderr, "images: %s\n", what);
	exit(1);
}

static void put(const void *bytes, size_t size)
{
	if (fwrite(bytes, 1, size, stdout) != size)
		fail("cannot write");
}

static void put_header(uint32_t magic, uint32_t version, uint64_t start, uint64_t size)
{
	uint64_t ends[3] = { start, start + size - 1, 0 };
	put(&magic, sizeof(magic));
	put(&version, sizeof(version));
	put(ends, sizeof(ends));
}

/* The masked CRC-32C of the framing format. */
static uint32_t checksum(const uint8_t *bytes, size_t size)
{
	uint32_t crc = ~0u;
	for (size_t i = 0; i < size; i++) {
		crc ^= bytes[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
	}
	crc = ~crc;
	return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

/* Returns the bytes written: a chunk that does not shrink by an eighth stays as it is. */
static size_t put_chunk(const uint8_t *bytes, size_t size)
{
	static char packed[CHUNK_MOST];
	size_t length = sizeof(packed);
	if (snappy_compress((const char *)bytes, size, packed, &length))
		fail("snappy");
	bool plain = length >= size - size / 8;
	if (plain)
		length = size;
	uint32_t head = (uint32_t)(length + 4) << 8 | plain, crc = checksum(bytes, size);
	put(&head, sizeof(head));
	put(&crc, sizeof(crc));
	put(plain ? (const void *)bytes : packed, length);
	return length + 8;
}

static bool is_zero(const uint8_t *bytes, size_t size)
{
	return !bytes[0] && !memcmp(bytes, bytes + 1, size - 1);
}

static void put_avml(uint64_t start, size_t size)
{
	static const uint8_t stream[] = { 0xff, 6, 0, 0, 's', 'N', 'a', 'P', 'p', 'Y' };
	if (is_zero(block, size))
		return;
	put_header(AVML_MAGIC, 2, start, size);
	put(stream, sizeof(stream));
	uint64_t written = sizeof(stream);
	for (size_t at = 0; at < size; at += CHUNK)
		written += put_chunk(block + at, size - at < CHUNK ? size - at : CHUNK);
	put(&written, sizeof(written));
}

/* Where the ELF file has the memory from `physical` on. */
static uint64_t find(FILE *elf, uint64_t physical, uint64_t size)
{
	Elf64_Ehdr header;
	rewind(elf);
	if (fread(&header, sizeof(header), 1, elf) != 1 ||
	    fseek(elf, (long)header.e_phoff, SEEK_SET))
		fail("cannot read the ELF header");
	for (int i = 0; i < header.e_phnum; i++) {
		Elf64_Phdr segment;
		if (fread(&segment, sizeof(segment), 1, elf) != 1)
			fail("cannot read the ELF program headers");
		if (segment.p_type == PT_LOAD && physical >= segment.p_paddr &&
		    physical + size <= segment.p_paddr + segment.p_filesz)
			return segment.p_offset + physical - segment.p_paddr;
	}
	fail("memory that is not in the ELF file");
	return 0;
}

static void put_range(enum form form, FILE *elf, uint64_t start, uint64_t end)
{
	uint64_t offset = find(elf, start, end - start);
	/* AVML takes whole pages. */
	if (form == AVML)
		end = start + ((end - start) & ~(uint64_t)4095);
	if (form == LIME)
		put_header(LIME_MAGIC, 1, start, end - start);
	if (fseek(elf, (long)offset, SEEK_SET))
		fail("cannot seek");
	while (start < end) {
		size_t size = end - start < AVML_BLOCK ? (size_t)(end - start) : AVML_BLOCK;
		if (fread(block, size, 1, elf) != 1)
			fail("the ELF file is cut off");
		if (form == AVML)
			put_avml(start, size);
		else
			put(block, size);
		start += size;
	}
}

int main(int argc, char **argv)
{
	static const char *const forms[] = { "lime", "concatenated", "avml" };
	int form = 0;
	while (argc == 4 && form < 3 && strcmp(argv[1], forms[form]))
		form++;
	if (argc != 4 || form == 3)
		fail("usage: images lime|concatenated|avml ELF IOMEM >OUT");
	FILE *elf = fopen(argv[2], "r"), *map = fopen(argv[3], "r");
	if (!elf || !map)
		fail("cannot open the files");
	char line[256];
	unsigned long long first, last;
	while (fgets(line, sizeof(line), map))
		if (*line != ' ' && sscanf(line, "%llx-%llx", &first, &last) == 2 &&
		    strstr(line, " : System RAM"))
			put_range((enum form)form, elf, first, last + 1);
	return fflush(stdout) != 0;
}
