/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The second half of mkdump.c: from a parsed description to the bytes of a file. */
#ifndef TESTS_MKDUMP_IMAGE_H
#define TESTS_MKDUMP_IMAGE_H

#include "tests/mkdump.h"

#include <dlfcn.h>
#include <elf.h>
#include <lzo/lzo1x.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define IMAGE_MAX   (64u << 20)
#define FLAG_ZLIB   0x1
#define FLAG_LZO    0x2
#define FLAG_SNAPPY 0x4
#define FLAG_ZSTD   0x20

enum content { FILL, PATTERN, TEXT, EXCLUDED };

struct region {
	uint64_t start, size;
	enum content content;
	uint8_t fill;
	char *text; /* TEXT, with its length */
	size_t text_size;
	uint32_t compress; /* FLAG_* */
};

struct override {
	char name[48];
	uint64_t value;
};

struct poke {
	uint64_t offset;
	uint8_t byte;
};

struct buffer {
	uint8_t *data;
	size_t size, capacity;
};

/* The description, as parsed. */
struct mkdump {
	bool kdump, big, wide, qemu, xnum, split, one_bitmap;
	bool flattened, reverse, rewrite, gap, endless;
	uint64_t record_size;
	char machine[32];
	uint64_t page_size, split_first, split_end;
	int version, dump_level;
	uint32_t compress;
	struct region regions[128];
	size_t region_count;
	struct override overrides[128];
	size_t override_count;
	struct poke pokes[1024];
	size_t poke_count;
	struct buffer notes, info;
	int64_t truncate;
	int truncate_percent;
	struct buffer image;
	char *message;
	size_t message_size;
	int line;
	bool failed;
};

static void fail(struct mkdump *mk, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void fail(struct mkdump *mk, const char *format, ...)
{
	if (mk->failed)
		return;
	mk->failed = true;
	int length = snprintf(mk->message, mk->message_size, "line %d: ", mk->line);
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(mk->message + length, mk->message_size - (size_t)length, format, arguments);
	va_end(arguments);
}

/* --- bytes ------------------------------------------------------------------------ */

static bool grow(struct buffer *buffer, size_t size)
{
	if (size > IMAGE_MAX)
		return false;
	if (size > buffer->capacity) {
		size_t capacity = size * 2;
		uint8_t *data = realloc(buffer->data, capacity);
		if (!data)
			return false;
		memset(data + buffer->capacity, 0, capacity - buffer->capacity);
		buffer->data = data;
		buffer->capacity = capacity;
	}
	if (size > buffer->size)
		buffer->size = size;
	return true;
}

static void put_bytes(struct mkdump *mk, struct buffer *buffer, uint64_t offset, const void *data,
		      size_t size)
{
	if (offset > IMAGE_MAX || !grow(buffer, (size_t)offset + size))
		fail(mk, "the dump gets too large");
	else if (size)
		memcpy(buffer->data + offset, data, size);
}

static void store(uint8_t *to, uint64_t value, size_t size, bool big)
{
	for (size_t i = 0; i < size; i++)
		to[i] = (uint8_t)(value >> 8 * (big ? size - 1 - i : i));
}

static void put_number(struct mkdump *mk, struct buffer *buffer, uint64_t offset, uint64_t value,
		       size_t size)
{
	uint8_t raw[8];
	store(raw, value, size, mk->big);
	put_bytes(mk, buffer, offset, raw, size);
}

/* A header field that `set` can override by its name. */
static void put_field(struct mkdump *mk, const char *name, uint64_t offset, size_t size,
		      uint64_t value)
{
	for (size_t i = 0; i < mk->override_count; i++)
		if (!strcmp(mk->overrides[i].name, name))
			value = mk->overrides[i].value;
	put_number(mk, &mk->image, offset, value, size);
}

static void put_indexed(struct mkdump *mk, const char *format, size_t index, uint64_t offset,
			size_t size, uint64_t value)
{
	char name[48];
	snprintf(name, sizeof(name), format, index);
	put_field(mk, name, offset, size, value);
}

static void fill_region(const struct region *region, uint64_t address, uint8_t *to, size_t size)
{
	memset(to, region->content == FILL ? region->fill : 0, size);
	for (size_t i = 0; i < size; i++) {
		uint64_t offset = address + i - region->start;
		if (region->content == PATTERN)
			to[i] = mkdump_pattern(address + i);
		if (region->content == TEXT && offset < region->text_size)
			to[i] = (uint8_t)region->text[offset];
	}
}

static void add_note(struct mkdump *mk, struct buffer *to, const char *name, uint32_t type,
		     const void *data, size_t size)
{
	size_t at = to->size, name_size = strlen(name) + 1;
	put_number(mk, to, at, name_size, 4);
	put_number(mk, to, at + 4, size, 4);
	put_number(mk, to, at + 8, type, 4);
	put_bytes(mk, to, at + 12, name, name_size);
	at += 12 + (name_size + 3) / 4 * 4;
	put_bytes(mk, to, at, data, size);
	if (!grow(to, at + (size + 3) / 4 * 4))
		fail(mk, "the notes get too large");
}

/* --- ELF -------------------------------------------------------------------------- */

static uint64_t elf_machine(const struct mkdump *mk)
{
	static const struct {
		const char *name;
		int number;
	} machines[] = { { "x86_64", EM_X86_64 },
			 { "aarch64", EM_AARCH64 },
			 { "s390x", EM_S390 },
			 { "i386", EM_386 } };
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		if (!strcmp(mk->machine, machines[i].name))
			return (uint64_t)machines[i].number;
	return strtoull(mk->machine, NULL, 0);
}

#define AT(mk, kind, name)                                                                         \
	((mk)->wide ? offsetof(Elf64_##kind, name) : offsetof(Elf32_##kind, name))
#define WIDTH(mk) ((mk)->wide ? 8u : 4u)

static void put_elf_header(struct mkdump *mk, uint64_t phoff, uint64_t shoff, size_t count)
{
	static const uint8_t magic[] = ELFMAG;
	put_bytes(mk, &mk->image, 0, magic, 4);
	put_field(mk, "ei_class", EI_CLASS, 1, mk->wide ? ELFCLASS64 : ELFCLASS32);
	put_field(mk, "ei_data", EI_DATA, 1, mk->big ? ELFDATA2MSB : ELFDATA2LSB);
	put_field(mk, "ei_version", EI_VERSION, 1, EV_CURRENT);
	put_field(mk, "e_type", AT(mk, Ehdr, e_type), 2, ET_CORE);
	put_field(mk, "e_machine", AT(mk, Ehdr, e_machine), 2, elf_machine(mk));
	put_field(mk, "e_version", AT(mk, Ehdr, e_version), 4, EV_CURRENT);
	put_field(mk, "e_phoff", AT(mk, Ehdr, e_phoff), WIDTH(mk), phoff);
	put_field(mk, "e_shoff", AT(mk, Ehdr, e_shoff), WIDTH(mk), shoff);
	put_field(mk, "e_ehsize", AT(mk, Ehdr, e_ehsize), 2,
		  mk->wide ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr));
	put_field(mk, "e_phentsize", AT(mk, Ehdr, e_phentsize), 2,
		  mk->wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr));
	put_field(mk, "e_phnum", AT(mk, Ehdr, e_phnum), 2, mk->xnum ? PN_XNUM : count);
	put_field(mk, "e_shentsize", AT(mk, Ehdr, e_shentsize), 2,
		  mk->wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr));
	put_field(mk, "e_shnum", AT(mk, Ehdr, e_shnum), 2, shoff ? 1 : 0);
	if (shoff && mk->xnum)
		put_field(mk, "sh_info", shoff + AT(mk, Shdr, sh_info), 4, count);
}

/* `values`: offset, physical address, size in the file and in memory. */
static void put_segment(struct mkdump *mk, uint64_t at, uint32_t type, size_t number,
			const uint64_t values[4])
{
	put_indexed(mk, "p_type[%zu]", number, at + AT(mk, Phdr, p_type), 4, type);
	put_indexed(mk, "p_offset[%zu]", number, at + AT(mk, Phdr, p_offset), WIDTH(mk), values[0]);
	put_indexed(mk, "p_paddr[%zu]", number, at + AT(mk, Phdr, p_paddr), WIDTH(mk), values[1]);
	put_indexed(mk, "p_vaddr[%zu]", number, at + AT(mk, Phdr, p_vaddr), WIDTH(mk), values[1]);
	put_indexed(mk, "p_filesz[%zu]", number, at + AT(mk, Phdr, p_filesz), WIDTH(mk), values[2]);
	put_indexed(mk, "p_memsz[%zu]", number, at + AT(mk, Phdr, p_memsz), WIDTH(mk), values[3]);
}

/* Does this region only lengthen the PT_LOAD before it, as makedumpfile -E does? */
static bool is_hole(const struct mkdump *mk, size_t i)
{
	return i && mk->regions[i].content == EXCLUDED &&
	       mk->regions[i - 1].start + mk->regions[i - 1].size == mk->regions[i].start;
}

static void make_elf(struct mkdump *mk)
{
	size_t header = mk->wide ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr);
	size_t entry = mk->wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	uint64_t shoff = mk->qemu || mk->xnum ? header : 0;
	uint64_t phoff = shoff ? header + 2 * sizeof(Elf64_Shdr) : header;
	size_t count = 1;
	for (size_t i = 0; i < mk->region_count; i++)
		count += !is_hole(mk, i);
	uint64_t data = phoff + count * entry;
	put_elf_header(mk, phoff, shoff, count);
	put_segment(mk, phoff, PT_NOTE, 0, (uint64_t[]){ data, 0, mk->notes.size, mk->notes.size });
	put_bytes(mk, &mk->image, data, mk->notes.data, mk->notes.size);
	data += mk->notes.size;
	if (!mk->qemu)
		data = (data + mk->page_size - 1) / mk->page_size * mk->page_size;
	size_t number = 1;
	for (size_t i = 0; !mk->failed && i < mk->region_count; number++) {
		const struct region *region = &mk->regions[i++];
		uint64_t file_size = region->content == EXCLUDED ? 0 : region->size;
		uint64_t memory_size = region->size;
		if (!grow(&mk->image, (size_t)(data + file_size)))
			fail(mk, "the dump gets too large");
		else if (file_size)
			fill_region(region, region->start, mk->image.data + data, file_size);
		for (; i < mk->region_count && is_hole(mk, i); i++)
			memory_size += mk->regions[i].size;
		put_segment(mk, phoff + number * entry, PT_LOAD, number,
			    (uint64_t[]){ data, region->start, file_size, memory_size });
		data += file_size;
	}
}

/* --- kdump-compressed ---------------------------------------------------------------- */

static const struct region *find_region(const struct mkdump *mk, uint64_t address)
{
	for (size_t i = 0; i < mk->region_count; i++)
		if (address - mk->regions[i].start < mk->regions[i].size)
			return &mk->regions[i];
	return NULL;
}

/* A function of a library that tests can do without; NULL: not installed. Never closed. */
static void *optional_function(const char *object, const char *name)
{
	void *handle = dlopen(object, RTLD_NOW);
	return handle ? dlsym(handle, name) : NULL;
}

/* The size of the compressed page; 0: not compressed. */
static size_t compress_page(uint32_t flag, const uint8_t *from, size_t size, uint8_t *to,
			    size_t to_size, void *work)
{
	uLongf zlib_size = to_size;
	lzo_uint lzo_size = 0;
	size_t snappy_size = to_size;
	if (flag == FLAG_ZLIB && compress2(to, &zlib_size, from, size, 1) == Z_OK)
		return zlib_size;
	if (flag == FLAG_LZO && lzo1x_1_compress(from, size, to, &lzo_size, work) == LZO_E_OK)
		return lzo_size;
	if (flag == FLAG_SNAPPY) {
		int (*snappy)(const char *, size_t, char *, size_t *) =
			optional_function("libsnappy.so.1", "snappy_compress");
		if (snappy && !snappy((const char *)from, size, (char *)to, &snappy_size))
			return snappy_size;
	}
	if (flag == FLAG_ZSTD) {
		size_t (*zstd)(void *, size_t, const void *, size_t, int) =
			optional_function("libzstd.so.1", "ZSTD_compress");
		if (zstd)
			return zstd(to, to_size, from, size, 1);
	}
	return 0;
}

/* Appends a page's data and fills its descriptor. */
static void put_page(struct mkdump *mk, const struct region *region, uint64_t page, size_t number,
		     uint64_t descriptor)
{
	size_t size = mk->page_size, packed_size = size * 2;
	uint8_t *plain = malloc(size), *packed = malloc(packed_size);
	void *work = malloc(LZO1X_1_MEM_COMPRESS);
	if (!plain || !packed || !work) {
		fail(mk, "no memory");
		goto out;
	}
	fill_region(region, page * size, plain, size);
	uint32_t flags = region->compress;
	packed_size = compress_page(flags, plain, size, packed, packed_size, work);
	if (!packed_size) {
		memcpy(packed, plain, size);
		packed_size = size;
	}
	uint64_t data = mk->image.size;
	put_bytes(mk, &mk->image, data, packed, packed_size);
	put_indexed(mk, "pd[%zu].offset", number, descriptor, 8, data);
	put_indexed(mk, "pd[%zu].size", number, descriptor + 8, 4, packed_size);
	put_indexed(mk, "pd[%zu].flags", number, descriptor + 12, 4, flags);
	put_indexed(mk, "pd[%zu].page_flags", number, descriptor + 16, 8, 0);
out:
	free(plain);
	free(packed);
	free(work);
}

static void put_kdump_header(struct mkdump *mk, uint64_t bitmap_blocks, uint64_t pages)
{
	size_t word = WIDTH(mk), time = mk->wide ? 408 : 404, at = time + 2 * word;
	put_bytes(mk, &mk->image, 0, "KDUMP   ", 8);
	put_field(mk, "header_version", 8, 4, (uint64_t)mk->version);
	put_bytes(mk, &mk->image, 12, "Linux", 6);
	put_bytes(mk, &mk->image, 12 + 2 * 65, "6.0.0-test", 11);
	put_bytes(mk, &mk->image, 12 + 4 * 65, mk->machine, strlen(mk->machine));
	put_field(mk, "timestamp", time, word, 0);
	put_field(mk, "status", at, 4, mk->compress);
	put_field(mk, "block_size", at + 4, 4, mk->page_size);
	put_field(mk, "sub_hdr_size", at + 8, 4, 1);
	put_field(mk, "bitmap_blocks", at + 12, 4, bitmap_blocks);
	put_field(mk, "max_mapnr", at + 16, 4, pages);
	put_field(mk, "nr_cpus", at + 36, 4, 1);
}

static void put_sub_header(struct mkdump *mk, uint64_t notes, uint64_t info, uint64_t pages)
{
	static const uint8_t wide[] = { 0, 8, 12, 16, 24, 32, 40, 48, 56, 80, 88, 96 };
	static const uint8_t narrow[] = { 0, 4, 8, 12, 16, 20, 28, 32, 40, 56, 64, 72 };
	const uint8_t *at = mk->wide ? wide : narrow;
	uint64_t base = mk->page_size;
	size_t word = WIDTH(mk);
	put_field(mk, "phys_base", base + at[0], word, 0);
	put_field(mk, "dump_level", base + at[1], 4, (uint64_t)mk->dump_level);
	put_field(mk, "split", base + at[2], 4, mk->split);
	put_field(mk, "start_pfn", base + at[3], word, mk->split_first);
	put_field(mk, "end_pfn", base + at[4], word, mk->split_end);
	put_field(mk, "offset_vmcoreinfo", base + at[5], 8, info);
	put_field(mk, "size_vmcoreinfo", base + at[6], word, mk->info.size);
	put_field(mk, "offset_note", base + at[7], 8, notes);
	put_field(mk, "size_note", base + at[8], word, mk->notes.size);
	put_field(mk, "start_pfn_64", base + at[9], 8, mk->split_first);
	put_field(mk, "end_pfn_64", base + at[10], 8, mk->split_end);
	put_field(mk, "max_mapnr_64", base + at[11], 8, pages);
}

static void set_bit(struct mkdump *mk, uint64_t bitmap, uint64_t page)
{
	if (bitmap + page / 8 < mk->image.size)
		mk->image.data[bitmap + page / 8] |= (uint8_t)(1 << page % 8);
}

static void make_kdump(struct mkdump *mk)
{
	uint64_t pages = 0, block = mk->page_size;
	for (size_t i = 0; i < mk->region_count; i++) {
		uint64_t end = (mk->regions[i].start + mk->regions[i].size) / block;
		pages = end > pages ? end : pages;
	}
	uint64_t blocks = (pages + block * 8 - 1) / (block * 8); /* of one bitmap */
	uint64_t bitmaps = mk->one_bitmap ? blocks : 2 * blocks;
	uint64_t ram = 2 * block, dumped = mk->one_bitmap ? ram : ram + blocks * block;
	uint64_t table = ram + bitmaps * block;
	if (pages > 8 * IMAGE_MAX || !grow(&mk->image, (size_t)table)) {
		fail(mk, "the dump gets too large");
		return;
	}
	put_kdump_header(mk, bitmaps, pages);
	size_t count = 0;
	for (uint64_t page = 0; page < pages; page++) {
		const struct region *region = find_region(mk, page * block);
		if (!region)
			continue;
		set_bit(mk, ram, page);
		if (region->content == EXCLUDED)
			continue;
		set_bit(mk, dumped, page);
		count += !mk->split || (page >= mk->split_first && page < mk->split_end);
	}
	uint64_t notes = table + count * 24, info = notes + mk->notes.size;
	put_bytes(mk, &mk->image, notes, mk->notes.data, mk->notes.size);
	put_bytes(mk, &mk->image, info, mk->info.data, mk->info.size);
	put_sub_header(mk, notes, info, pages);
	size_t number = 0;
	for (uint64_t page = 0; !mk->failed && page < pages; page++) {
		const struct region *region = find_region(mk, page * block);
		bool here = !mk->split || (page >= mk->split_first && page < mk->split_end);
		if (region && region->content != EXCLUDED && here) {
			put_page(mk, region, page, number, table + number * 24);
			number++;
		}
	}
}

/* --- flattening -------------------------------------------------------------------------- */

static void put_record(struct mkdump *mk, struct buffer *to, uint64_t offset, uint64_t size,
		       bool rubbish)
{
	uint8_t header[16];
	store(header, offset, 8, true);
	store(header + 8, size, 8, true);
	put_bytes(mk, to, to->size, header, sizeof(header));
	size_t at = to->size;
	put_bytes(mk, to, at, mk->image.data + offset, size);
	if (rubbish && !mk->failed)
		memset(to->data + at, 0xa5, size);
}

static bool all_zeros(const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (bytes[i])
			return false;
	return true;
}

static void flatten(struct mkdump *mk)
{
	struct buffer stream = { 0 };
	uint8_t end[16];
	memset(end, 0xff, sizeof(end));
	put_bytes(mk, &stream, 0, "makedumpfile", 12);
	uint8_t ones[16] = { [7] = 1, [15] = 1 };
	put_bytes(mk, &stream, 16, ones, 16);
	if (!grow(&stream, 4096))
		fail(mk, "no memory");
	uint64_t count = (mk->image.size + mk->record_size - 1) / mk->record_size;
	for (uint64_t turn = 0; !mk->failed && turn < (mk->rewrite ? 2 * count : count); turn++) {
		uint64_t number = turn % count;
		uint64_t offset = (mk->reverse ? count - 1 - number : number) * mk->record_size;
		uint64_t left = mk->image.size - offset;
		uint64_t size = left < mk->record_size ? left : mk->record_size;
		/* Real writers leave out what is between the headers, nothing further on. */
		if (mk->gap && offset < mk->page_size && all_zeros(mk->image.data + offset, size))
			continue;
		put_record(mk, &stream, offset, size, mk->rewrite && turn < count);
	}
	if (!mk->endless)
		put_bytes(mk, &stream, stream.size, end, sizeof(end));
	free(mk->image.data);
	mk->image = stream;
}

#endif
