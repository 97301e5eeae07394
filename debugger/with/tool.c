// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/with/tool.h"

#include "base/array.h"
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SEGMENTS_MAX 64 /* of an ELF dump that are looked at */

/* --- the tools ----------------------------------------------------------------------------- */

static bool crash_reads(enum dump_format format)
{
	return format != DUMP_IMAGE;
}

static bool drgn_reads(enum dump_format format)
{
	return format == DUMP_ELF || format == DUMP_ELF_PHYSICAL || format == DUMP_KDUMP;
}

static bool gdb_reads(enum dump_format format)
{
	return format == DUMP_ELF;
}

static void add_dumps(const struct tool_files *files, const char **words, size_t *count)
{
	for (size_t i = 0; i < files->dump_count; i++)
		words[(*count)++] = files->dumps[i];
}

static void add_crash_words(const struct tool_files *files, const char **words, size_t *count)
{
	words[(*count)++] = files->vmlinux;
	add_dumps(files, words, count);
}

/*
 * Symbols alone, and no program: gdb would call that newer than the dump, and read what the dump
 * lacks from it, as zeros.
 */
static void add_gdb_words(const struct tool_files *files, const char **words, size_t *count)
{
	words[(*count)++] = "-s";
	words[(*count)++] = files->vmlinux;
	words[(*count)++] = "-c";
	add_dumps(files, words, count);
}

/* The file has the types of modules: drgn need not look for theirs, on disks and in the network. */
static void add_drgn_words(const struct tool_files *files, const char **words, size_t *count)
{
	words[(*count)++] = "-c";
	add_dumps(files, words, count);
	words[(*count)++] = "--main-symbols";
	words[(*count)++] = "-s";
	words[(*count)++] = files->vmlinux;
}

/*
 * The symbols of modules are not in the file: drgn finds them in the dump, once types are there,
 * which is after this hook ran.
 */
static const char drgn_plugin[] =
	"import drgn\n"
	"\n"
	"\n"
	"def drgn_prog_set(prog):\n"
	"    if not prog.flags & drgn.ProgramFlags.IS_LINUX_KERNEL:\n"
	"        return\n"
	"    known = []\n"
	"\n"
	"    def find(prog, name, address, one):\n"
	"        if not known:\n"
	"            known.append(None)\n"
	"            try:\n"
	"                from drgn.helpers.linux.kallsyms import load_module_kallsyms\n"
	"                known[0] = load_module_kallsyms(prog)\n"
	"            except Exception as error:\n"
	"                drgn_log(error)\n"
	"        return known[0](prog, name, address, one) if known[0] else []\n"
	"\n"
	"    prog.register_symbol_finder(\"btfcrash modules\", find, enable_index=-1)\n"
	"\n"
	"\n"
	"def drgn_log(error):\n"
	"    import logging\n"
	"    logging.getLogger(\"drgn\").warning(\"no symbols of modules: %r\", error)\n";

static const struct tool tools[] = {
	{ .name = "crash",
	  .package = "crash",
	  .reads = crash_reads,
	  .others = "neither do drgn and gdb",
	  .reads_split = true,
	  .add_words = add_crash_words },
	{ .name = "drgn",
	  .package = "python3-drgn",
	  .reads = drgn_reads,
	  .others = "it reads ELF and kdump-compressed dumps (`makedumpfile -R` unflattens)",
	  .plugin = drgn_plugin,
	  .plugin_name = "btfcrash_modules.py",
	  .plugin_variable = "DRGN_PLUGINS",
	  .add_words = add_drgn_words },
	{ .name = "gdb",
	  .package = "gdb",
	  .reads = gdb_reads,
	  .others = "it reads ELF dumps that have virtual addresses, as /proc/vmcore does; "
		    "--with crash and --with drgn read more",
	  .wants_moved = true,
	  .limits = "gdb reads no vmalloc memory of a dump: no modules' data, few stacks",
	  .add_words = add_gdb_words },
};

const struct tool *tool_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_COUNT(tools); i++)
		if (!strcmp(tools[i].name, name))
			return &tools[i];
	return NULL;
}

char *tool_program(const struct tool *tool)
{
	const char *path = getenv("PATH");
	for (path = path ? path : "/usr/bin:/bin"; *path;) {
		size_t length = strcspn(path, ":");
		char *program;
		struct stat status;
		if (asprintf(&program, "%.*s/%s", length ? (int)length : 1, length ? path : ".",
			     tool->name) < 0)
			return NULL;
		if (!access(program, X_OK) && !stat(program, &status) && S_ISREG(status.st_mode))
			return program;
		free(program);
		path += length + (path[length] == ':');
	}
	return NULL;
}

/* --- formats of dumps ------------------------------------------------------------------------ */

static const struct {
	const char *bytes;
	size_t size;
	enum dump_format format;
} beginnings[] = {
	{ "KDUMP   ", 8, DUMP_KDUMP },
	{ "DISKDUMP", 8, DUMP_KDUMP },
	{ "makedumpfile", 12, DUMP_FLATTENED },
	{ "EMiL", 4, DUMP_IMAGE },
	{ "AVML", 4, DUMP_IMAGE },
};

/* A kernel's own dump says where its memory lay; QEMU and makedumpfile -E do not. */
static enum dump_format format_of_elf(int fd, const Elf64_Ehdr *header)
{
	Elf64_Phdr segment;
	if (header->e_ident[EI_CLASS] != ELFCLASS64)
		return DUMP_ELF;
	for (unsigned int i = 0; i < header->e_phnum && i < SEGMENTS_MAX; i++) {
		off_t at = (off_t)(header->e_phoff & INT64_MAX >> 1) + i * (off_t)sizeof(segment);
		if (pread(fd, &segment, sizeof(segment), at) != sizeof(segment))
			break;
		if (segment.p_type == PT_LOAD && segment.p_vaddr >> 63)
			return DUMP_ELF;
	}
	return DUMP_ELF_PHYSICAL;
}

static enum dump_format format_of_file(int fd)
{
	Elf64_Ehdr header = { 0 };
	if (pread(fd, &header, sizeof(header), 0) < 12)
		return DUMP_OTHER;
	if (!memcmp(header.e_ident, ELFMAG, SELFMAG))
		return format_of_elf(fd, &header);
	for (size_t i = 0; i < ARRAY_COUNT(beginnings); i++)
		if (!memcmp(&header, beginnings[i].bytes, beginnings[i].size))
			return beginnings[i].format;
	return DUMP_OTHER;
}

bool dump_format_of(const char *path, enum dump_format *ret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return false;
	*ret = format_of_file(fd);
	close(fd);
	return true;
}

const char *dump_format_name(enum dump_format format)
{
	static const char *const names[] = {
		"an ELF dump",	      "an ELF dump without virtual addresses",
		"kdump-compressed",   "flattened",
		"an image of memory", "of a format of its own"
	};
	return names[format];
}
