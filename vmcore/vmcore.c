// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Opening a dump. Three kinds of files, told apart by their first bytes: ELF (elf_core.c),
 * kdump-compressed (diskdump.c), and what libkdumpfile knows besides (library.c).
 */
#include "vmcore/vmcore.h"

#include "base/array.h"
#include "vmcore/diskdump.h"
#include "vmcore/elf_core.h"
#include "vmcore/file.h"
#include "vmcore/library.h"
#include "vmcore/machine.h"
#include "vmcore/physical.h"
#include "vmcore/search.h"
#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD_SIZE	  512
#define PAGE_SIZE_DEFAULT 4096
#define PAGE_SIZE_MAX	  (256 << 10)
#define INFO_FILE_MAX	  (1 << 20)

struct vmcore {
	struct dump_file *files;
	size_t file_count;
	struct elf_core *core;
	struct diskdump *dump;
	struct library *library;
	struct notes library_notes;
	const struct notes *notes; /* of one of the above */
	struct vmcoreinfo *info;   /* NULL: none */
	struct memory *physical;
	uint8_t word_size;
	struct vmcore_facts facts;
};

static void add_warning(struct vmcore_facts *facts, const char *format, ...) PRINTF_LIKE(2, 3);
static void add_warning(struct vmcore_facts *facts, const char *format, ...)
{
	size_t length = strlen(facts->warning);
	if (length)
		length += (size_t)snprintf(facts->warning + length, sizeof(facts->warning) - length,
					   "; ");
	if (length >= sizeof(facts->warning))
		return;
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(facts->warning + length, sizeof(facts->warning) - length, format, arguments);
	va_end(arguments);
	facts->incomplete = true;
}

static void warn_cut(struct vmcore *vmcore, uint64_t promised)
{
	uint64_t size = 0;
	for (size_t i = 0; i < vmcore->file_count; i++)
		size += vmcore->files[i].size;
	if (promised >> 20 > size >> 20)
		add_warning(&vmcore->facts,
			    "the dump is cut off: %" PRIu64 " of at least %" PRIu64
			    " MiB are there",
			    size >> 20, promised >> 20);
	else
		add_warning(&vmcore->facts, "the dump is cut off: pages are missing");
}

static const char *flattened_word(const struct vmcore *vmcore)
{
	return vmcore->files[0].extents ? "flattened " : "";
}

/* --- kinds of files ----------------------------------------------------------- */

static struct error *open_elf(struct vmcore *vmcore)
{
	if (vmcore->file_count > 1)
		return error_create(ERROR_USAGE,
				    "%s: an ELF dump is one file; several files belong together "
				    "only when `makedumpfile --split` made them",
				    vmcore->files[0].path);
	struct error *error = elf_core_open(&vmcore->files[0], &vmcore->core);
	if (error)
		return error;
	const struct elf_core *core = vmcore->core;
	struct vmcore_facts *facts = &vmcore->facts;
	vmcore->notes = &core->notes;
	vmcore->word_size = core->word_size;
	snprintf(facts->format, sizeof(facts->format), "%sELF", flattened_word(vmcore));
	const char *name = elf_machine_name(core->machine, core->word_size, core->big_endian);
	if (name)
		snprintf(facts->machine, sizeof(facts->machine), "%s", name);
	else
		snprintf(facts->machine, sizeof(facts->machine), "ELF %u", core->machine);
	facts->big_endian = core->big_endian;
	for (size_t i = 0; i < core->memory.count; i++)
		facts->memory_size += core->memory.items[i].size;
	const struct elf_run *last = &core->memory.items[core->memory.count - 1];
	facts->max_physical = last->physical + last->size;
	if (!dump_file_has(&vmcore->files[0], 0, core->promised_size))
		warn_cut(vmcore, core->promised_size);
	return NULL;
}

static void take_diskdump_facts(struct vmcore *vmcore)
{
	const struct diskdump *dump = vmcore->dump;
	struct vmcore_facts *facts = &vmcore->facts;
	snprintf(facts->format, sizeof(facts->format), "%s%skdump-compressed (%s)",
		 vmcore->file_count > 1 ? "split " : "", flattened_word(vmcore),
		 compression_name(dump->status));
	snprintf(facts->machine, sizeof(facts->machine), "%.15s", dump->machine);
	facts->big_endian = dump->big_endian;
	facts->page_size = dump->page_size;
	facts->dump_level = dump->dump_level;
	facts->memory_size = dump->ram_pages * dump->page_size;
	facts->max_physical = dump->page_count * dump->page_size;
	facts->crash_time = dump->time;
	if (dump->parts_missing)
		add_warning(facts, "files of this split dump are missing");
	if (dump->cut)
		warn_cut(vmcore, dump->promised_size);
	else if (dump->status & DISKDUMP_INCOMPLETE)
		add_warning(facts, "its maker ran out of space: pages are missing");
}

static struct error *open_diskdump(struct vmcore *vmcore)
{
	struct error *error = diskdump_open(vmcore->files, vmcore->file_count, &vmcore->dump);
	if (error)
		return error;
	vmcore->notes = &vmcore->dump->notes;
	vmcore->word_size = vmcore->dump->word_size;
	take_diskdump_facts(vmcore);
	return NULL;
}

static struct error *open_other(struct vmcore *vmcore)
{
	struct vmcore_facts *facts = &vmcore->facts;
	struct error *error = library_open(vmcore->files, vmcore->file_count, &vmcore->library);
	if (error)
		return error;
	error = library_notes(vmcore->library, &vmcore->library_notes);
	vmcore->notes = &vmcore->library_notes;
	const char *format = library_string(vmcore->library, "file.format");
	snprintf(facts->format, sizeof(facts->format), "%s", format ? format : "unknown");
	const char *machine = library_string(vmcore->library, "arch.name");
	snprintf(facts->machine, sizeof(facts->machine), "%s", machine ? machine : "");
	facts->big_endian = library_number(vmcore->library, "arch.byte_order") == 0;
	facts->page_size = (uint32_t)library_number(vmcore->library, "arch.page_size");
	facts->max_physical = library_number(vmcore->library, "max_pfn") * facts->page_size;
	vmcore->word_size = library_number(vmcore->library, "arch.ptr_size") == 4 ? 4 : 8;
	return error;
}

/* --- which kind ----------------------------------------------------------------- */

struct signature {
	const char *bytes;
	size_t size;
	struct error *(*open)(struct vmcore *vmcore); /* NULL: `name` cannot be read */
	const char *name;
};

#define SIGNATURE(bytes, open, name)                                                               \
	{                                                                                          \
		bytes, sizeof(bytes) - 1, open, name                                               \
	}

static const struct signature signatures[] = {
	SIGNATURE(ELFMAG, open_elf, "ELF"),
	SIGNATURE("KDUMP   ", open_diskdump, "kdump-compressed"),
	SIGNATURE("DISKDUMP", open_diskdump, "diskdump"),
	SIGNATURE("\xed\x23\x8f\x61\x73\x01\x19\xa8", open_other, "LKCD"),
	SIGNATURE("\xa8\x19\x01\x73\x61\x8f\x23\xed", open_other, "LKCD"),
	SIGNATURE("\xa8\x19\x01\x73\x61\x8f\x23\xfd", open_other, "s390 dump"),
	SIGNATURE("sadump", open_other, "SADUMP"),
	SIGNATURE("QEVM", NULL,
		  "a QEMU migration stream; dump with `dump-guest-memory` or "
		  "`virsh dump --memory-only`"),
	SIGNATURE("LibvirtQemudSave", NULL,
		  "a libvirt save image; dump with `virsh dump --memory-only`"),
	SIGNATURE("LinuxGuestRecord", NULL, "a Xen save image"),
	SIGNATURE("\x1f\x8b", NULL, "compressed with gzip; unpack it first (gunzip)"),
	SIGNATURE("BZh", NULL, "compressed with bzip2; unpack it first (bunzip2)"),
	SIGNATURE("\xfd"
		  "7zXZ",
		  NULL, "compressed with xz; unpack it first (unxz)"),
	SIGNATURE("\x28\xb5\x2f\xfd", NULL, "compressed with zstd; unpack it first (unzstd)"),
};

static bool is_text(const uint8_t *head, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (head[i] >= 0x7f || (head[i] < ' ' && (head[i] < '\t' || head[i] > '\r')))
			return false;
	return true;
}

static struct error *unknown_kind(const struct dump_file *file, const uint8_t *head, size_t size)
{
	if (is_text(head, size))
		return error_create(ERROR_FORMAT, "%s: a text file, not a dump", file->path);
	return error_create(ERROR_FORMAT,
			    "%s: not a dump: neither ELF nor kdump-compressed (is it damaged at "
			    "its start, or encrypted?)",
			    file->path);
}

static struct error *find_signature(const struct dump_file *file, const struct signature **ret)
{
	uint8_t head[HEAD_SIZE];
	size_t size = sizeof(head);
	while (size > 1 && !dump_file_has(file, 0, size))
		size--;
	struct error *error = dump_file_read(file, 0, head, size);
	if (error)
		return error;
	for (size_t i = 0; i < ARRAY_COUNT(signatures); i++)
		if (size >= signatures[i].size &&
		    !memcmp(head, signatures[i].bytes, signatures[i].size)) {
			*ret = &signatures[i];
			return NULL;
		}
	return unknown_kind(file, head, size);
}

static struct error *open_by_kind(struct vmcore *vmcore)
{
	const struct signature *first = NULL;
	struct error *error = find_signature(&vmcore->files[0], &first);
	for (size_t i = 1; !error && i < vmcore->file_count; i++) {
		const struct signature *other = NULL;
		error = find_signature(&vmcore->files[i], &other);
		if (!error && other->open != first->open)
			error = error_create(ERROR_USAGE, "%s is %s and %s is %s: not one dump",
					     vmcore->files[0].path, first->name,
					     vmcore->files[i].path, other->name);
	}
	if (error)
		return error;
	if (!first->open)
		return error_create(ERROR_UNSUPPORTED, "%s: %s", vmcore->files[0].path,
				    first->name);
	return first->open(vmcore);
}

/* --- VMCOREINFO ------------------------------------------------------------------- */

/* The file's text, or the text of the ELF note it is. */
static struct error *parse_info_file(const struct dump_file *file, const uint8_t *data, size_t size,
				     struct vmcoreinfo **ret)
{
	struct error *error = NULL;
	struct notes notes = { 0 };
	for (int big = 0; !error && !notes.vmcoreinfo && big < 2; big++) {
		struct bytes bytes = { data, size, big };
		error = notes_parse(&notes, &bytes);
	}
	if (!error && notes.vmcoreinfo)
		error = vmcoreinfo_parse((const char *)notes.vmcoreinfo, notes.vmcoreinfo_size,
					 ret);
	else if (!error)
		error = vmcoreinfo_parse((const char *)data, size, ret);
	notes_deinit(&notes);
	return error_prefix(error, "%s", file->path);
}

static struct error *read_info_file(const char *path, struct vmcoreinfo **ret)
{
	struct dump_file file;
	struct error *error = dump_file_init(&file, path);
	if (error)
		return error;
	size_t size = file.size < INFO_FILE_MAX ? (size_t)file.size : INFO_FILE_MAX;
	uint8_t *data = malloc(size);
	error = data ? dump_file_read(&file, 0, data, size) : error_no_memory();
	if (!error)
		error = parse_info_file(&file, data, size, ret);
	free(data);
	dump_file_deinit(&file);
	return error;
}

/* A damaged VMCOREINFO of the dump is as good as none; one that the user gave is an error. */
static struct error *load_info(struct vmcore *vmcore, const struct vmcore_options *options)
{
	if (options && options->vmcoreinfo_path)
		return read_info_file(options->vmcoreinfo_path, &vmcore->info);
	const uint8_t *text = vmcore->notes->vmcoreinfo;
	size_t size = vmcore->notes->vmcoreinfo_size;
	if (!text && vmcore->dump) {
		text = vmcore->dump->info_bytes;
		size = vmcore->dump->info_size;
	}
	if (!text)
		return NULL;
	struct error *error = vmcoreinfo_parse((const char *)text, size, &vmcore->info);
	if (error && error->kind == ERROR_FORMAT) {
		add_warning(&vmcore->facts, "%s", error->message);
		error_free(error);
		return NULL;
	}
	return error;
}

static void take_info_facts(struct vmcore *vmcore)
{
	struct vmcore_facts *facts = &vmcore->facts;
	const struct vmcoreinfo *info = vmcore->info;
	int64_t value;
	if (info && vmcoreinfo_number(info, "CRASHTIME", &value)) {
		facts->crash_time = value;
		facts->from_kexec = true;
	}
	if (!facts->page_size && info && vmcoreinfo_number(info, "PAGESIZE", &value) &&
	    value >= PAGE_SIZE_DEFAULT && value <= PAGE_SIZE_MAX && !(value & (value - 1)))
		facts->page_size = (uint32_t)value;
	/* QEMU's kdump headers name no machine. */
	if (!facts->machine[0]) {
		const char *name = machine_guess(info, vmcore->notes, facts->big_endian);
		snprintf(facts->machine, sizeof(facts->machine), "%s", name);
	}
}

/* --- the whole ---------------------------------------------------------------------- */

static struct error *open_files(struct vmcore *vmcore, const char *const *paths, size_t count)
{
	vmcore->files = calloc(count ? count : 1, sizeof(*vmcore->files));
	if (!vmcore->files)
		return error_no_memory();
	if (!count)
		return error_create(ERROR_USAGE, "no dump given");
	for (size_t i = 0; i < count; i++) {
		struct error *error = dump_file_init(&vmcore->files[i], paths[i]);
		if (error)
			return error;
		vmcore->file_count++;
		vmcore->facts.file_size += vmcore->files[i].stream_size;
	}
	return NULL;
}

static struct error *create_physical(struct vmcore *vmcore)
{
	struct vmcore_facts *facts = &vmcore->facts;
	if (facts->page_size < PAGE_SIZE_DEFAULT || facts->page_size > PAGE_SIZE_MAX ||
	    facts->page_size & (facts->page_size - 1))
		facts->page_size = PAGE_SIZE_DEFAULT;
	struct physical_source source = {
		.core = vmcore->core,
		.dump = vmcore->dump,
		.library = vmcore->library,
		.page_size = facts->page_size,
		.word_size = vmcore->word_size,
		.big_endian = facts->big_endian,
	};
	return physical_memory_create(&source, &vmcore->physical);
}

struct error *vmcore_open(const char *const *paths, size_t count,
			  const struct vmcore_options *options, struct vmcore **ret)
{
	struct vmcore *vmcore = calloc(1, sizeof(*vmcore));
	if (!vmcore)
		return error_no_memory();
	vmcore->facts.dump_level = -1;
	struct error *error = open_files(vmcore, paths, count);
	if (!error)
		error = open_by_kind(vmcore);
	if (!error)
		error = load_info(vmcore, options);
	if (!error) {
		take_info_facts(vmcore);
		error = create_physical(vmcore);
	}
	if (error) {
		vmcore_close(vmcore);
		return error;
	}
	*ret = vmcore;
	return NULL;
}

void vmcore_close(struct vmcore *vmcore)
{
	if (!vmcore)
		return;
	physical_memory_destroy(vmcore->physical);
	vmcoreinfo_free(vmcore->info);
	notes_deinit(&vmcore->library_notes);
	library_close(vmcore->library);
	diskdump_close(vmcore->dump);
	elf_core_close(vmcore->core);
	for (size_t i = 0; i < vmcore->file_count; i++)
		dump_file_deinit(&vmcore->files[i]);
	free(vmcore->files);
	free(vmcore);
}

struct memory *vmcore_physical(struct vmcore *vmcore)
{
	return vmcore->physical;
}

bool vmcore_next_run(const struct vmcore *vmcore, uint64_t physical, uint64_t *ret_start,
		     uint64_t *ret_size)
{
	return physical_memory_next(vmcore->physical, physical, ret_start, ret_size);
}

const struct vmcore_facts *vmcore_facts(const struct vmcore *vmcore)
{
	return &vmcore->facts;
}

const struct vmcoreinfo *vmcore_vmcoreinfo(const struct vmcore *vmcore)
{
	return vmcore->info;
}

size_t vmcore_cpu_note_count(const struct vmcore *vmcore)
{
	return vmcore->notes->cpu_count;
}

const struct cpu_note *vmcore_cpu_note(const struct vmcore *vmcore, size_t index)
{
	return index < vmcore->notes->cpu_count ? &vmcore->notes->cpus[index] : NULL;
}

struct error *vmcore_search_vmcoreinfo(struct vmcore *vmcore, struct vmcoreinfo **ret)
{
	return search_vmcoreinfo(vmcore->physical, ret);
}
