// SPDX-License-Identifier: GPL-3.0-or-later
/* Dumps of all formats, whole and damaged, from the descriptions in tests/dumps. */
#include "tests/unit/test.h"

#include "base/interrupt.h"

#include "tests/unit/dump_image.h"

#include "vmcore/elf_core.h"
#include "vmcore/file.h"
#include "vmcore/vmcore.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES_MAX 3

/* Opens tests/dumps/NAME.txt; NULL (and a failed check) when that fails. */
static struct vmcore *open_named(const char *name)
{
	struct image image;
	struct vmcore *vmcore = NULL;
	image_load(&image, name);
	CHECK_OK(open_image(&image, &vmcore));
	image_free(&image);
	return vmcore;
}

static void check_open_fails(const char *name, const char *part)
{
	struct image image;
	struct vmcore *vmcore = NULL;
	image_load(&image, name);
	CHECK_FAILS(open_image(&image, &vmcore), part);
	image_free(&image);
}

/* A thread's own reader gives what all share, and the same error. */
static void check_reader(struct vmcore *vmcore, uint64_t start, size_t size)
{
	struct memory *reader = NULL;
	uint8_t *shared = calloc(1, size), *own = calloc(1, size);
	CHECK_OK(vmcore_reader_create(vmcore, &reader));
	struct error *wanted = memory_read(vmcore_physical(vmcore), start, shared, size);
	struct error *error = memory_read(reader, start, own, size);
	CHECK(!error == !wanted);
	CHECK(!error || !wanted || error_is_equal(error, wanted));
	CHECK(error || !memcmp(shared, own, size));
	error_free(error);
	error_free(wanted);
	vmcore_reader_destroy(reader);
	free(shared);
	free(own);
}

/* Reads [start, start + size) whole and in small pieces; both must be mkdump's pattern. */
static void check_pattern(struct vmcore *vmcore, uint64_t start, size_t size)
{
	struct memory *memory = vmcore_physical(vmcore);
	uint8_t *whole = malloc(size), piece[7];
	size_t bad = 0;
	CHECK_OK(memory_read(memory, start, whole, size));
	for (size_t i = 0; i < size; i++)
		bad += whole[i] != mkdump_pattern(start + i);
	CHECK_U64(bad, 0);
	for (size_t at = 0; at + sizeof(piece) <= size; at += 509) {
		CHECK_OK(memory_read(memory, start + at, piece, sizeof(piece)));
		bad += memcmp(piece, whole + at, sizeof(piece)) != 0;
	}
	CHECK_U64(bad, 0);
	free(whole);
	check_reader(vmcore, start, size);
	check_reader(vmcore, start + 3, size - 3);
}

static void check_fill(struct vmcore *vmcore, uint64_t start, size_t size, uint8_t byte)
{
	uint8_t *data = malloc(size);
	size_t bad = 0;
	CHECK_OK(memory_read(vmcore_physical(vmcore), start, data, size));
	for (size_t i = 0; i < size; i++)
		bad += data[i] != byte;
	CHECK_U64(bad, 0);
	free(data);
}

static void check_missing(struct vmcore *vmcore, uint64_t start, size_t size, enum error_kind kind,
			  uint64_t address)
{
	uint8_t *data = malloc(size);
	struct error *error = memory_read(vmcore_physical(vmcore), start, data, size);
	CHECK(error);
	if (error) {
		CHECK_U64(error->kind, kind);
		CHECK_U64(error->address, address);
	}
	error_free(error);
	free(data);
	check_reader(vmcore, start, size);
}

static void check_notes(struct vmcore *vmcore)
{
	CHECK_U64(vmcore_cpu_note_count(vmcore), 4);
	for (size_t i = 0; i < vmcore_cpu_note_count(vmcore); i++) {
		const struct cpu_note *note = vmcore_cpu_note(vmcore, i);
		CHECK_U64(note->kind, i < 2 ? CPU_NOTE_PRSTATUS : CPU_NOTE_QEMU);
		CHECK_U64(note->order, i % 2);
		CHECK_U64(note->size, i < 2 ? 336 : 440);
		CHECK_U64(note->data[0], 0x11 * (i + 1));
		CHECK_U64(note->data[note->size - 1], 0x11 * (i + 1));
	}
	CHECK(!vmcore_cpu_note(vmcore, 4));
}

static void check_info(struct vmcore *vmcore)
{
	const struct vmcoreinfo *info = vmcore_vmcoreinfo(vmcore);
	int64_t number = 0;
	CHECK(info);
	if (!info)
		return;
	CHECK_STRING(vmcoreinfo_get(info, "OSRELEASE"), "6.0.0-test");
	CHECK(vmcoreinfo_number(info, "NUMBER(phys_base)", &number));
	CHECK_U64(number, -16777216);
}

/* --- VMCOREINFO ------------------------------------------------------------------- */

static void test_vmcoreinfo(void)
{
	static const char text[] = "OSRELEASE=6.1\nSYMBOL(a)=ffffffff81000000\nNUMBER(b)=-12\n"
				   "NUMBER(c)=0x10\nNUMBER(d)=0xffff80007a000000\nno line\n"
				   "EMPTY=\nBAD=12x\nSPACE= 12\nEQUALS=a=b\nCUT(e)=12\0\0\0\0";
	struct vmcoreinfo *info = NULL;
	uint64_t hex = 0;
	int64_t number = 0;
	CHECK_OK(vmcoreinfo_parse(text, sizeof(text), &info));
	CHECK_STRING(vmcoreinfo_get(info, "OSRELEASE"), "6.1");
	CHECK(vmcoreinfo_hex(info, "SYMBOL(a)", &hex));
	CHECK_U64(hex, 0xffffffff81000000);
	CHECK(vmcoreinfo_number(info, "NUMBER(b)", &number));
	CHECK_U64(number, -12);
	CHECK(vmcoreinfo_number(info, "NUMBER(c)", &number));
	CHECK_U64(number, 16);
	CHECK(vmcoreinfo_number(info, "NUMBER(d)", &number));
	CHECK_U64(number, 0xffff80007a000000);
	CHECK(vmcoreinfo_number(info, "CUT(e)", &number));
	CHECK_U64(number, 12);
	CHECK_STRING(vmcoreinfo_get(info, "EMPTY"), "");
	CHECK_STRING(vmcoreinfo_get(info, "EQUALS"), "a=b");
	CHECK(!vmcoreinfo_hex(info, "EMPTY", &hex));
	CHECK(!vmcoreinfo_number(info, "BAD", &number));
	CHECK(!vmcoreinfo_number(info, "SPACE", &number));
	CHECK(!vmcoreinfo_get(info, "no line"));
	CHECK(!vmcoreinfo_get(info, "OSREL"));
	size_t size;
	CHECK(!memcmp(vmcoreinfo_text(info, &size), text, strlen(text)));
	CHECK_U64(size, strlen(text));
	vmcoreinfo_free(info);
	CHECK_FAILS(vmcoreinfo_parse("A=1\n", 4, &info), "OSRELEASE");
	CHECK_FAILS(vmcoreinfo_parse("", 0, &info), "OSRELEASE");
}

static void test_vmcoreinfo_file(void)
{
	struct image image;
	image_load(&image, "search");
	char path[] = "/tmp/vmcore_test_XXXXXX";
	int fd = mkstemp(path);
	static const char text[] = "OSRELEASE=from-a-file\n";
	CHECK(write(fd, text, sizeof(text) - 1) == sizeof(text) - 1);
	struct vmcore_options options = { .vmcoreinfo_path = path };
	struct vmcore *vmcore = NULL;
	const char *dump = image.path;
	CHECK_OK(vmcore_open(&dump, 1, &options, &vmcore));
	CHECK_STRING(vmcoreinfo_get(vmcore_vmcoreinfo(vmcore), "OSRELEASE"), "from-a-file");
	vmcore_close(vmcore);

	static const char note[] = "\x0b\0\0\0\x10\0\0\0\0\0\0\0VMCOREINFO\0\0OSRELEASE=noted\n";
	CHECK(!ftruncate(fd, 0) && pwrite(fd, note, sizeof(note) - 1, 0) == sizeof(note) - 1);
	CHECK_OK(vmcore_open(&dump, 1, &options, &vmcore));
	CHECK_STRING(vmcoreinfo_get(vmcore_vmcoreinfo(vmcore), "OSRELEASE"), "noted");
	vmcore_close(vmcore);

	CHECK(!ftruncate(fd, 0) && pwrite(fd, "x", 1, 0) == 1);
	CHECK_FAILS(vmcore_open(&dump, 1, &options, &vmcore), "no OSRELEASE");
	unlink(path);
	CHECK_FAILS(vmcore_open(&dump, 1, &options, &vmcore), "no such file");
	close(fd);
	image_free(&image);
}

static void test_search(void)
{
	struct vmcore *vmcore = open_named("search");
	CHECK(!vmcore_vmcoreinfo(vmcore));
	CHECK_OK(vmcore_search_vmcoreinfo(vmcore));
	CHECK_STRING(vmcoreinfo_get(vmcore_vmcoreinfo(vmcore), "OSRELEASE"), "6.0.0-test");
	vmcore_close(vmcore);
	vmcore = open_named("elf-xnum");
	CHECK_FAILS(vmcore_search_vmcoreinfo(vmcore), "no VMCOREINFO");
	vmcore_close(vmcore);
}

/* --- ELF -------------------------------------------------------------------------- */

static void test_elf64(void)
{
	struct vmcore *vmcore = open_named("elf64");
	const struct vmcore_facts *facts = vmcore_facts(vmcore);
	char text[13] = "";
	CHECK_STRING(facts->format, "ELF");
	CHECK_STRING(facts->machine, "x86_64");
	CHECK(facts->from_kexec && !facts->incomplete && !facts->big_endian);
	CHECK_U64(facts->crash_time, 1700000000);
	CHECK_U64(facts->page_size, 4096);
	CHECK_U64(facts->max_physical, 0x201000);
	CHECK_U64(facts->memory_size, 0x1c00 + 0x5000 + 0x1000);
	check_notes(vmcore);
	check_info(vmcore);
	check_pattern(vmcore, 0x1000, 0x1c00);
	check_pattern(vmcore, 0x100000, 0x4000);
	check_fill(vmcore, 0x104000, 0x1000, 0x5a);
	CHECK_OK(memory_read(vmcore_physical(vmcore), 0x200000, text, 12));
	CHECK_STRING(text, "hello memory");
	check_missing(vmcore, 0, 8, ERROR_FAULT, 0);
	check_missing(vmcore, 0x2bf8, 16, ERROR_FAULT, 0x2c00);
	check_missing(vmcore, 0x1000, 0x200000, ERROR_FAULT, 0x2c00);
	check_missing(vmcore, 0x300000, 8, ERROR_FAULT, 0x300000);
	check_missing(vmcore, UINT64_MAX - 7, 8, ERROR_FAULT, UINT64_MAX - 7);
	vmcore_close(vmcore);
}

/* As of /proc/vmcore: what is mapped, and lent, is what is read. Other files are not mapped. */
static void test_mapped(void)
{
	struct image image;
	struct dump_file file;
	struct elf_core *core = NULL;
	struct dump_map map;
	uint8_t read[0x5000];
	image_load(&image, "elf64");
	CHECK_OK(dump_file_init(&file, image.path));
	CHECK(!file.is_proc && !dump_file_map(&file, 0, 16, &map));
	CHECK_OK(elf_core_open(&file, &core));
	CHECK(!elf_core_lend(core, 0x100000, 0x4000));
	CHECK_OK(elf_core_read(core, 0x100000, read, sizeof(read)));
	file.is_proc = true;
	const uint8_t *lent = elf_core_lend(core, 0x100000, sizeof(read));
	CHECK(lent && !memcmp(lent, read, sizeof(read)));
	/* Not in one piece, not in the file. */
	CHECK(!elf_core_lend(core, 0x1000, 0x2000) && !elf_core_lend(core, 0x300000, 8));
	CHECK(!dump_file_map(&file, file.size - 8, 16, &map));
	memset(read, 0, sizeof(read));
	CHECK_OK(elf_core_read(core, 0x100000, read, sizeof(read)));
	CHECK(lent && !memcmp(lent, read, sizeof(read)));
	elf_core_close(core);
	dump_file_deinit(&file);
	image_free(&image);
}

static void test_elf_variants(void)
{
	struct vmcore *vmcore = open_named("elf64-qemu");
	CHECK(!vmcore_facts(vmcore)->from_kexec);
	check_notes(vmcore);
	check_pattern(vmcore, 0, 0x5000);
	check_pattern(vmcore, 0xfffc0000, 0x2000);
	vmcore_close(vmcore);

	vmcore = open_named("elf32-be");
	CHECK_STRING(vmcore_facts(vmcore)->machine, "ppc");
	CHECK(vmcore_facts(vmcore)->big_endian && vmcore_physical(vmcore)->big_endian);
	CHECK_U64(vmcore_physical(vmcore)->word_size, 4);
	CHECK_U64(vmcore_cpu_note_count(vmcore), 1);
	check_info(vmcore);
	check_pattern(vmcore, 0, 0x2000);
	check_fill(vmcore, 0x10000, 0x1000, 0xee);
	vmcore_close(vmcore);

	vmcore = open_named("elf-xnum");
	check_pattern(vmcore, 0x10000, 0x2000);
	vmcore_close(vmcore);

	vmcore = open_named("elf-overlap");
	check_pattern(vmcore, 0x1000, 0x6000);
	check_pattern(vmcore, 0x8000, 0x2000);
	check_missing(vmcore, 0x1000, 0x8000, ERROR_FAULT, 0x7000);
	CHECK_U64(vmcore_facts(vmcore)->memory_size, 0x8000);
	vmcore_close(vmcore);
}

static void test_elf_missing(void)
{
	struct vmcore *vmcore = open_named("elf-excluded");
	check_pattern(vmcore, 0, 0x3000);
	check_pattern(vmcore, 0x103000, 0x1000);
	check_missing(vmcore, 0x2ff8, 16, ERROR_EXCLUDED, 0x3000);
	check_missing(vmcore, 0x105123, 8, ERROR_EXCLUDED, 0x105123);
	check_missing(vmcore, 0x800000, 0x1000, ERROR_EXCLUDED, 0x800000);
	check_missing(vmcore, 0x106000, 8, ERROR_FAULT, 0x106000);
	vmcore_close(vmcore);

	vmcore = open_named("elf-cut");
	CHECK(vmcore_facts(vmcore)->incomplete);
	CHECK(strstr(vmcore_facts(vmcore)->warning, "cut off"));
	check_pattern(vmcore, 0, 0x2000);
	check_pattern(vmcore, 0x10000, 0x1800);
	check_missing(vmcore, 0x10000, 0x4000, ERROR_TRUNCATED, 0x11800);
	check_missing(vmcore, 0x13000, 8, ERROR_TRUNCATED, 0x13000);
	vmcore_close(vmcore);

	check_open_fails("elf-program", "vmlinux");
	check_open_fails("elf-module", "module");
	check_open_fails("elf-user", "user process");
	check_open_fails("elf-many-segments", "60000 ELF program headers");
}

static void test_elf_flattened(void)
{
	struct vmcore *vmcore = open_named("elf-flat");
	CHECK_STRING(vmcore_facts(vmcore)->format, "flattened ELF");
	CHECK(!vmcore_facts(vmcore)->incomplete);
	check_notes(vmcore);
	check_pattern(vmcore, 0, 0x3000);
	check_pattern(vmcore, 0x10000, 0x2000);
	vmcore_close(vmcore);

	vmcore = open_named("elf-flat-rewrite");
	CHECK(!vmcore_facts(vmcore)->incomplete);
	check_info(vmcore);
	check_pattern(vmcore, 0, 0x3000);
	vmcore_close(vmcore);

	vmcore = open_named("elf-flat-cut");
	CHECK(vmcore_facts(vmcore)->incomplete);
	check_pattern(vmcore, 0, 0x1000);
	check_missing(vmcore, 0x2ff0, 8, ERROR_TRUNCATED, 0x2ff0);
	vmcore_close(vmcore);
	check_open_fails("elf-flat-headless", "breaks off before the ELF program headers");
}

/* --- kdump-compressed ----------------------------------------------------------------- */

static void check_kdump(const char *name, const char *format)
{
	struct vmcore *vmcore = open_named(name);
	const struct vmcore_facts *facts = vmcore_facts(vmcore);
	CHECK_STRING(facts->format, format);
	CHECK_STRING(facts->machine, "x86_64");
	CHECK_U64(facts->dump_level, 31);
	CHECK_U64(facts->memory_size, 0x8000 + 0x3000 + 0x1000);
	CHECK_U64(facts->max_physical, 0x15000);
	check_notes(vmcore);
	check_info(vmcore);
	check_fill(vmcore, 0, 0x3000, 0x21);
	check_pattern(vmcore, 0x10000, 0x3000);
	check_missing(vmcore, 0x2ff8, 16, ERROR_EXCLUDED, 0x3000);
	check_missing(vmcore, 0x14008, 8, ERROR_EXCLUDED, 0x14008);
	check_missing(vmcore, 0x9000, 8, ERROR_FAULT, 0x9000);
	check_missing(vmcore, 0x13000, 0x3000, ERROR_FAULT, 0x13000);
	check_missing(vmcore, 0x15000, 8, ERROR_FAULT, 0x15000);
	check_missing(vmcore, 0, 0x15000, ERROR_EXCLUDED, 0x3000);
	vmcore_close(vmcore);
}

static void test_kdump(void)
{
	check_kdump("kdump-zlib", "kdump-compressed (uncompressed)");
	check_kdump("kdump-lzo", "kdump-compressed (uncompressed)");
}

static void test_kdump_variants(void)
{
	struct vmcore *vmcore = open_named("kdump32-be");
	CHECK(vmcore_facts(vmcore)->big_endian);
	CHECK_U64(vmcore_physical(vmcore)->word_size, 4);
	CHECK_STRING(vmcore_facts(vmcore)->machine, "s390");
	CHECK_STRING(vmcore_facts(vmcore)->format, "kdump-compressed (zlib)");
	check_info(vmcore);
	check_pattern(vmcore, 0, 0x2000);
	check_fill(vmcore, 0x8000, 0x1000, 0xee);
	vmcore_close(vmcore);

	vmcore = open_named("kdump-v3");
	CHECK_U64(vmcore_cpu_note_count(vmcore), 0);
	CHECK_U64(vmcore_facts(vmcore)->dump_level, 1);
	check_info(vmcore);
	check_pattern(vmcore, 0, 0x2000);
	vmcore_close(vmcore);

	vmcore = open_named("kdump-64k");
	CHECK_STRING(vmcore_facts(vmcore)->machine, "aarch64");
	CHECK_U64(vmcore_facts(vmcore)->page_size, 65536);
	check_pattern(vmcore, 0, 0x20000);
	check_pattern(vmcore, 0x40000, 0x10000);
	check_missing(vmcore, 0x1fff8, 16, ERROR_FAULT, 0x20000);
	vmcore_close(vmcore);
}

/* These two libraries need not be there; then the message says which is missing. */
static void test_kdump_optional(void)
{
	struct vmcore *vmcore = open_named("kdump-optional");
	uint8_t page[4096];
	CHECK_STRING(vmcore_facts(vmcore)->format, "kdump-compressed (zstd)");
	for (uint64_t address = 0; address < 0x4000; address += 0x2000) {
		struct error *error =
			memory_read(vmcore_physical(vmcore), address, page, sizeof(page));
		if (!error)
			check_pattern(vmcore, address, 0x2000);
		else
			CHECK(error->kind == ERROR_UNSUPPORTED &&
			      strstr(error->message, address ? "libzstd" : "libsnappy"));
		error_free(error);
	}
	vmcore_close(vmcore);
}

static void test_kdump_damaged(void)
{
	struct vmcore *vmcore = open_named("kdump-cut");
	CHECK(vmcore_facts(vmcore)->incomplete);
	check_pattern(vmcore, 0, 0x1000);
	check_missing(vmcore, 0x3000, 8, ERROR_TRUNCATED, 0x3000);
	vmcore_close(vmcore);

	vmcore = open_named("kdump-cut-table");
	CHECK(vmcore_facts(vmcore)->incomplete);
	check_missing(vmcore, 0, 0x4000, ERROR_TRUNCATED, 0);
	vmcore_close(vmcore);

	vmcore = open_named("kdump-descriptor");
	check_pattern(vmcore, 0, 0x1000);
	check_missing(vmcore, 0x1000, 8, ERROR_TRUNCATED, 0x1000);
	check_missing(vmcore, 0x2000, 8, ERROR_DAMAGED, 0x2000);
	check_pattern(vmcore, 0x3000, 0x1000);
	vmcore_close(vmcore);

	check_open_fails("kdump-cut-header", "ends within its page bitmaps");
	check_open_fails("kdump-block-size", "no sane page size");
	check_open_fails("kdump-bitmap", "ends within its page bitmaps");
}

/* By two threads as by one. */
static void test_kdump_large(void)
{
	struct vmcore *vmcore = open_named("kdump-large");
	for (int interrupted = 0; interrupted < 2; interrupted++) {
		interrupt_flag = interrupted;
		check_pattern(vmcore, 0, 300 * 0x1000);
		check_pattern(vmcore, 0x1234, 290 * 0x1000);
		check_missing(vmcore, 0, 0x200000, ERROR_DAMAGED, 300 * 0x1000);
		check_missing(vmcore, 0x1234, 450 * 0x1000, ERROR_DAMAGED, 300 * 0x1000);
		check_missing(vmcore, 310 * 0x1000, 100 * 0x1000, ERROR_DAMAGED, 400 * 0x1000);
	}
	interrupt_clear();
	vmcore_close(vmcore);
}

static void test_kdump_flattened(void)
{
	struct vmcore *vmcore = open_named("kdump-flat");
	CHECK_STRING(vmcore_facts(vmcore)->format, "flattened kdump-compressed (zlib)");
	CHECK_STRING(vmcore_facts(vmcore)->machine, "x86_64");
	CHECK(!vmcore_facts(vmcore)->incomplete);
	check_notes(vmcore);
	check_pattern(vmcore, 0, 0x3000);
	check_fill(vmcore, 0x4000, 0x1000, 1);
	check_missing(vmcore, 0x3000, 8, ERROR_EXCLUDED, 0x3000);
	vmcore_close(vmcore);

	vmcore = open_named("kdump-flat-cut");
	CHECK(vmcore_facts(vmcore)->incomplete);
	check_pattern(vmcore, 0, 0x1000);
	check_missing(vmcore, 0x3000, 8, ERROR_TRUNCATED, 0x3000);
	vmcore_close(vmcore);
}

static void test_split(void)
{
	struct image images[FILES_MAX];
	const char *paths[FILES_MAX];
	static const char *const names[] = { "kdump-split-1", "kdump-split-2", "kdump-split-3" };
	struct vmcore *vmcore = NULL;
	for (size_t i = 0; i < FILES_MAX; i++) {
		image_load(&images[i], names[i]);
		paths[FILES_MAX - 1 - i] = images[i].path;
	}
	CHECK_OK(vmcore_open(paths, FILES_MAX, NULL, &vmcore));
	CHECK_STRING(vmcore_facts(vmcore)->format, "split kdump-compressed (zlib)");
	CHECK(!vmcore_facts(vmcore)->incomplete);
	check_pattern(vmcore, 0, 0x8000);
	check_pattern(vmcore, 0x9000, 0x3000);
	check_missing(vmcore, 0x8000, 8, ERROR_EXCLUDED, 0x8000);
	check_notes(vmcore);
	vmcore_close(vmcore);

	const char *alone = images[1].path;
	CHECK_OK(vmcore_open(&alone, 1, NULL, &vmcore));
	CHECK(strstr(vmcore_facts(vmcore)->warning, "missing"));
	check_pattern(vmcore, 0x5000, 0x3000);
	check_missing(vmcore, 0x4ff8, 16, ERROR_TRUNCATED, 0x4ff8);
	vmcore_close(vmcore);

	const char *twice[] = { images[0].path, images[0].path };
	CHECK_FAILS(vmcore_open(twice, 2, NULL, &vmcore), "once");
	struct image other;
	image_load(&other, "kdump-zlib");
	const char *strangers[] = { images[0].path, other.path };
	CHECK_FAILS(vmcore_open(strangers, 2, NULL, &vmcore), "not of the same dump");
	image_free(&other);
	image_load(&other, "elf64");
	strangers[1] = other.path;
	CHECK_FAILS(vmcore_open(strangers, 2, NULL, &vmcore), "not one dump");
	image_free(&other);
	for (size_t i = 0; i < FILES_MAX; i++)
		image_free(&images[i]);
}

/* --- what is no dump --------------------------------------------------------------- */

static void check_bytes_fail(const void *data, size_t size, const char *part)
{
	struct image image = { .data = (uint8_t *)data, .size = size };
	struct vmcore *vmcore = NULL;
	image.fd = memfd_create("dump", MFD_CLOEXEC);
	snprintf(image.path, sizeof(image.path), "/proc/self/fd/%d", image.fd);
	image_write(&image);
	CHECK_FAILS(open_image(&image, &vmcore), part);
	close(image.fd);
}

static void check_path_fails(const char *path, const char *part)
{
	struct vmcore *vmcore = NULL;
	CHECK_FAILS(vmcore_open(&path, 1, NULL, &vmcore), part);
}

static void test_no_dump(void)
{
	struct vmcore *vmcore = NULL;
	check_path_fails("/nonexistent/dump", "/nonexistent/dump: no such file");
	check_path_fails("/tmp", "/tmp: a directory");
	check_path_fails("/dev/null", "save the dump to a regular file");
	check_path_fails("/dev/zero", "save the dump to a regular file");
	CHECK_FAILS(vmcore_open(NULL, 0, NULL, &vmcore), "no dump given");
	check_bytes_fail("", 0, "empty");
	check_bytes_fail("just some text\n", 15, "a text file");
	check_bytes_fail("\x01\x02\x03\x04", 4, "not a dump");
	check_bytes_fail("\x7f"
			 "ELF",
			 4, "within its ELF header");
	check_bytes_fail("KDUMP   ", 8, "within its kdump-compressed header");
	check_bytes_fail("makedumpfile\0\0\0\0\0\0", 18, "flattened");
	check_bytes_fail("\x1f\x8b\x08\x00", 4, "gunzip");
	check_bytes_fail("QEVM\x00", 5, "dump-guest-memory");
	if (geteuid()) {
		char path[] = "/tmp/vmcore_test_XXXXXX";
		close(mkstemp(path));
		chmod(path, 0);
		check_path_fails(path, "permission denied");
		unlink(path);
	}
}

/* --- hostile bytes -------------------------------------------------------------------- */

/* Opens a damaged dump and reads all over it: any answer will do, a crash will not. */
static void exercise(const struct image *image)
{
	static const uint64_t places[] = { 0,	   0xff8,   0x1000,  0x2bf8,	 0x3000,    0x4ff8,
					   0x8000, 0x10000, 0x12000, 0xfffc0000, 1ull << 63 };
	struct vmcore *vmcore = NULL;
	uint8_t data[0x4000];
	struct error *error = open_image(image, &vmcore);
	if (error) {
		error_free(error);
		return;
	}
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		for (size_t size = 8; size <= sizeof(data); size *= 2048) {
			error = memory_read(vmcore_physical(vmcore), places[i], data, size);
			error_free(error);
		}
	for (size_t i = 0; i < vmcore_cpu_note_count(vmcore); i++) {
		const struct cpu_note *note = vmcore_cpu_note(vmcore, i);
		if (note->size)
			memcpy(data, note->data, note->size < 8 ? note->size : 8);
	}
	vmcore_close(vmcore);
}

static const char *const hostile[] = { "elf64",		 "elf32-be",	"elf-flat", "kdump-zlib",
				       "kdump-lzo",	 "kdump32-be",	"kdump-v3", "kdump-flat",
				       "kdump-optional", "elf-excluded" };

static void test_truncated(void)
{
	for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++) {
		struct image image;
		image_load(&image, hostile[i]);
		size_t whole = image.size;
		for (size_t size = 0; size < whole; size += size % 4096 < 256 ? 7 : 211) {
			image.size = size;
			image_write(&image);
			exercise(&image);
		}
		image_free(&image);
	}
}

/* Bytes of headers, tables and compressed data; runs of zeros and of pattern say little. */
static bool worth_mutating(const struct image *image, size_t at)
{
	return at % 4096 < 128 || (image->data[at] && at % 16 == 0);
}

static void test_mutated(void)
{
	static const uint8_t masks[] = { 0x01, 0x80, 0xff };
	for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++) {
		struct image image;
		image_load(&image, hostile[i]);
		for (size_t at = 0; at < image.size; at++) {
			if (!worth_mutating(&image, at))
				continue;
			for (size_t mask = 0; mask < sizeof(masks); mask++) {
				uint8_t byte = image.data[at] ^ masks[mask];
				CHECK(pwrite(image.fd, &byte, 1, (off_t)at) == 1);
				exercise(&image);
			}
			CHECK(pwrite(image.fd, &image.data[at], 1, (off_t)at) == 1);
		}
		image_free(&image);
	}
}

int main(void)
{
	RUN(test_vmcoreinfo);
	RUN(test_vmcoreinfo_file);
	RUN(test_search);
	RUN(test_elf64);
	RUN(test_mapped);
	RUN(test_elf_variants);
	RUN(test_elf_missing);
	RUN(test_elf_flattened);
	RUN(test_kdump);
	RUN(test_kdump_variants);
	RUN(test_kdump_optional);
	RUN(test_kdump_damaged);
	RUN(test_kdump_large);
	RUN(test_kdump_flattened);
	RUN(test_split);
	RUN(test_no_dump);
	RUN(test_truncated);
	RUN(test_mutated);
	return test_finish();
}
