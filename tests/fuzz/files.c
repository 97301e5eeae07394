// SPDX-License-Identifier: GPL-3.0-or-later
/* Files: dumps of our own formats, VMCOREINFO, the shipped table, the cache. */
#include "tests/fuzz/targets.h"

#include "debugger/infer/hints/hints.h"
#include "debugger/infer/store/cache.h"
#include "vmcore/search.h"
#include "vmcore/vmcore.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

/* The input as a file that has a path. */
static int memory_file(const uint8_t *data, size_t size, char path[64])
{
	static int fd = -1;
	if (fd < 0)
		fd = memfd_create("dump", MFD_CLOEXEC);
	EXPECT(fd >= 0 && !ftruncate(fd, 0));
	EXPECT(pwrite(fd, data, size, 0) == (ssize_t)size);
	snprintf(path, 64, "/proc/self/fd/%d", fd);
	return fd;
}

static void read_at(struct memory *memory, uint64_t address)
{
	uint8_t buffer[4096 + 16];
	struct error *why = NULL;
	size_t got = memory_read_some(memory, address, buffer, sizeof(buffer), &why);
	EXPECT((got == sizeof(buffer)) == !why && got <= sizeof(buffer));
	fuzz_done(why);
}

/* Everything that is asked of a dump file. */
static void ask_dump(struct vmcore *vmcore)
{
	const struct vmcore_facts *facts = vmcore_facts(vmcore);
	EXPECT(memchr(facts->format, 0, sizeof(facts->format)));
	EXPECT(memchr(facts->machine, 0, sizeof(facts->machine)));
	EXPECT(memchr(facts->warning, 0, sizeof(facts->warning)));
	uint8_t sum = 0;
	for (size_t i = 0; i < vmcore_cpu_note_count(vmcore); i++) {
		const struct cpu_note *note = vmcore_cpu_note(vmcore, i);
		for (size_t at = 0; at < note->size; at++)
			sum ^= note->data[at];
	}
	struct memory *physical = vmcore_physical(vmcore);
	const uint64_t places[] = { 0,		0x1000,	   0xfff8,    0x100000, facts->max_physical,
				    UINT64_MAX, sum << 12, 1ull << 40 };
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		for (int before = 0; before < 2; before++)
			read_at(physical, places[i] - (before ? 4100 : 0));
	const struct vmcoreinfo *info = vmcore_vmcoreinfo(vmcore);
	size_t size;
	if (info)
		EXPECT(vmcoreinfo_text(info, &size));
	if (facts->memory_size < 1 << 20)
		fuzz_done(vmcore_search_vmcoreinfo(vmcore));
}

static void open_dump(const uint8_t *data, size_t size, bool raw)
{
	char path[64];
	const char *paths[1] = { path };
	struct vmcore *vmcore = NULL;
	struct vmcore_options options = { .raw = raw };
	memory_file(data, size, path);
	struct error *error = vmcore_open(paths, 1, &options, &vmcore);
	EXPECT(!error == !!vmcore);
	if (vmcore)
		ask_dump(vmcore);
	vmcore_close(vmcore);
	fuzz_done(error);
}

/* libkdumpfile, which reads what is of neither format, is another project's to fuzz. */
static void open_dump_like(const char *magic, const uint8_t *data, size_t size)
{
	size_t length = strlen(magic);
	if (size >= length && !memcmp(data, magic, length))
		open_dump(data, size, false);
}

void fuzz_elf(const uint8_t *data, size_t size)
{
	open_dump_like("\177ELF", data, size);
}

void fuzz_diskdump(const uint8_t *data, size_t size)
{
	open_dump_like("KDUMP   ", data, size);
}

void fuzz_flattened(const uint8_t *data, size_t size)
{
	open_dump_like("makedumpfile", data, size);
}

void fuzz_lime(const uint8_t *data, size_t size)
{
	open_dump_like("EMiL", data, size);
}

void fuzz_avml(const uint8_t *data, size_t size)
{
	open_dump_like("AVML", data, size);
}

void fuzz_raw(const uint8_t *data, size_t size)
{
	if (size)
		open_dump(data, size, true);
}

void fuzz_vmcoreinfo(const uint8_t *data, size_t size)
{
	static const char *const keys[] = { "OSRELEASE",	 "BUILD-ID",
					    "PAGESIZE",		 "SYMBOL(_stext)",
					    "NUMBER(phys_base)", "KERNELOFFSET",
					    "CRASHTIME",	 "OFFSET(prb_desc.state_var)" };
	struct vmcoreinfo *info = NULL;
	struct error *error = vmcoreinfo_parse((const char *)data, size, &info);
	for (size_t i = 0; info && i < sizeof(keys) / sizeof(keys[0]); i++) {
		uint64_t hex;
		int64_t number;
		const char *text = vmcoreinfo_get(info, keys[i]);
		EXPECT(!text || strlen(text) <= size);
		vmcoreinfo_hex(info, keys[i], &hex);
		vmcoreinfo_number(info, keys[i], &number);
	}
	vmcoreinfo_free(info);
	fuzz_done(error);
}

#define HINTS_HEADER 24
#define HINTS_MAX    65536

static size_t pack_hints(uint8_t *to, const uint8_t *data, size_t size, uint8_t *header)
{
	uLongf packed = compressBound(HINTS_MAX);
	uint32_t sizes[2] = { 0, (uint32_t)size };
	EXPECT(compress2(to, &packed, data, size, 0) == Z_OK);
	sizes[0] = (uint32_t)packed;
	memcpy(header, sizes, sizeof(sizes));
	return packed;
}

static void ask_hints(struct hints *hints, size_t size)
{
	static const char *const names[] = { "init_task", "runqueues", "x", "", "jiffies" };
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct hint found[HINTS_A_NAME];
		hints_kernel(hints, names[i]);
		for (int part = 0; part < 4; part++) {
			struct symbol symbol = { .module = part & 1 ? "ext4" : NULL,
						 .per_cpu = part & 2 };
			symbol.name = names[i];
			size_t count = hints_find(hints, &symbol, HINTS_ALL, found);
			EXPECT(count <= HINTS_A_NAME);
			for (size_t k = 0; k < count; k++)
				EXPECT(strlen(found[k].type) <= size);
		}
	}
}

/* Input: length of the kernel's part, that, and the modules', both as they are before packing. */
void fuzz_hints(const uint8_t *data, size_t size)
{
	static uint8_t table[HINTS_HEADER + 4 * HINTS_MAX];
	struct fuzz_input input = { data, size };
	struct hints *hints = NULL;
	size_t kernel = fuzz_take(&input, 2);
	kernel = kernel < input.size ? kernel : input.size;
	if (input.size > HINTS_MAX)
		return;
	memcpy(table, "BTFHINT2", 8);
	size_t end = HINTS_HEADER;
	end += pack_hints(table + end, input.data, kernel, table + 8);
	end += pack_hints(table + end, input.data + kernel, input.size - kernel, table + 16);
	uint8_t *exact = malloc(end);
	memcpy(exact, table, end);
	fuzz_done(hints_open(exact, end, &hints));
	if (hints)
		ask_hints(hints, size);
	hints_destroy(hints);
	free(exact);
}

void fuzz_cache(const uint8_t *data, size_t size)
{
	struct cache_rows rows;
	uint8_t *copy = malloc(size ? size : 1);
	if (size)
		memcpy(copy, data, size);
	if (cache_rows_open(&rows, copy, size)) {
		struct cache_module module;
		struct cache_type type;
		struct cache_row row;
		for (uint32_t i = 0; i < rows.module_count; i++)
			EXPECT(!cache_rows_module(&rows, i, &module) || strlen(module.name) < size);
		for (uint32_t i = 0; i < rows.type_count; i++)
			EXPECT(!cache_rows_type(&rows, i, &type) || strlen(type.text) < size);
		for (uint32_t i = 0; i < rows.row_count; i++)
			cache_rows_row(&rows, i, &row);
		cache_rows_close(&rows);
	}
	char path[64];
	struct cache_key key = { { 1, 2 } };
	size_t length;
	memory_file(data, size, path);
	/* Opened anew, as it closes what it reads. */
	int file = open(path, O_RDONLY | O_CLOEXEC);
	EXPECT(file >= 0);
	free(cache_file_read(file, &key, &length));
}
