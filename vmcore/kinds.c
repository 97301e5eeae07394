// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Kinds of files are told apart by their first bytes: ELF (elf_core.c), kdump-compressed
 * (diskdump.c), images of memory (lime.c, avml.c; raw.c, which begins with nothing of its own), and
 * what libkdumpfile knows besides (library.c). Each fills its part of struct vmcore.
 */
#include "vmcore/vmcore_private.h"

#include "base/array.h"
#include "vmcore/lime.h"
#include "vmcore/machine.h"
#include "vmcore/raw.h"
#include <elf.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define HEAD_SIZE 512

void vmcore_add_warning(struct vmcore_facts *facts, const char *format, ...)
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
		vmcore_add_warning(&vmcore->facts,
				   "the dump is cut off: %" PRIu64 " of at least %" PRIu64
				   " MiB are there",
				   size >> 20, promised >> 20);
	else
		vmcore_add_warning(&vmcore->facts, "the dump is cut off: pages are missing");
}

static const char *flattened_word(const struct vmcore *vmcore)
{
	return vmcore->files[0].extents ? "flattened " : "";
}

static void take_runs(struct vmcore *vmcore, const struct elf_core *core)
{
	struct vmcore_facts *facts = &vmcore->facts;
	vmcore->word_size = core->word_size;
	for (size_t i = 0; i < core->memory.count; i++)
		facts->memory_size += core->memory.items[i].size;
	const struct elf_run *last = &core->memory.items[core->memory.count - 1];
	facts->max_physical = last->physical + last->size;
	if (!dump_file_has(&vmcore->files[0], 0, core->promised_size))
		warn_cut(vmcore, core->promised_size);
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
	snprintf(facts->format, sizeof(facts->format), "%sELF", flattened_word(vmcore));
	machine_of_elf(core->machine, core->word_size, core->big_endian, facts->machine);
	facts->big_endian = core->big_endian;
	facts->is_capture = core->file->is_proc && !core->is_live;
	if (core->is_live) {
		vmcore->files[0].is_live = facts->is_live = true;
		snprintf(facts->format, sizeof(facts->format), "live");
		/* Addresses, not bytes that anybody could read. */
		facts->file_size = 0;
	}
	take_runs(vmcore, core);
	return NULL;
}

/* --- images of memory: no notes in them, so all is searched for -------------------- */

static struct error *check_single(const struct vmcore *vmcore)
{
	if (vmcore->file_count == 1)
		return NULL;
	return error_create(ERROR_USAGE, "%s: an image of memory is one file",
			    vmcore->files[0].path);
}

static struct error *open_lime(struct vmcore *vmcore)
{
	struct error *error = check_single(vmcore);
	if (!error)
		error = lime_open(&vmcore->files[0], &vmcore->core);
	if (error)
		return error;
	snprintf(vmcore->facts.format, sizeof(vmcore->facts.format), "LiME");
	vmcore->is_image = true;
	vmcore->notes = &vmcore->core->notes;
	take_runs(vmcore, vmcore->core);
	return NULL;
}

static struct error *open_avml(struct vmcore *vmcore)
{
	struct vmcore_facts *facts = &vmcore->facts;
	struct error *error = check_single(vmcore);
	if (!error)
		error = avml_open(&vmcore->files[0], &vmcore->avml);
	if (error)
		return error;
	const struct avml *avml = vmcore->avml;
	snprintf(facts->format, sizeof(facts->format), "AVML (snappy)");
	vmcore->is_image = true;
	vmcore->notes = &vmcore->library_notes;
	vmcore->word_size = 8;
	for (size_t i = 0; i < avml->count; i++)
		facts->memory_size += avml->chunks[i].size;
	facts->max_physical =
		avml->chunks[avml->count - 1].physical + avml->chunks[avml->count - 1].size;
	if (avml->promised_size > vmcore->files[0].size)
		vmcore_add_warning(facts, "the dump is damaged or cut off: blocks are missing");
	return NULL;
}

static struct error *open_raw(struct vmcore *vmcore, bool certain)
{
	bool has_hole = false;
	struct vmcoreinfo *found = NULL;
	struct error *error = check_single(vmcore);
	if (!error)
		error = raw_open(&vmcore->files[0], vmcore->info, certain, &vmcore->core, &found,
				 &has_hole);
	if (error)
		return error;
	vmcore->info = found ? found : vmcore->info;
	snprintf(vmcore->facts.format, sizeof(vmcore->facts.format), "raw memory%s",
		 has_hole ? " (in pieces, by the memory map in it)" : "");
	vmcore->is_image = vmcore->facts.is_raw = true;
	vmcore->notes = &vmcore->core->notes;
	take_runs(vmcore, vmcore->core);
	return NULL;
}

/* --- the other kinds --------------------------------------------------------------- */

static void take_diskdump_facts(struct vmcore *vmcore)
{
	const struct diskdump *dump = vmcore->dump;
	struct vmcore_facts *facts = &vmcore->facts;
	snprintf(facts->format, sizeof(facts->format), "%s%skdump-compressed (%s)",
		 vmcore->file_count > 1 ? "split " : "", flattened_word(vmcore),
		 compression_name(dump->status));
	machine_of_word(dump->machine, dump->big_endian, facts->machine);
	facts->big_endian = dump->big_endian;
	facts->page_size = dump->page_size;
	facts->dump_level = dump->dump_level;
	facts->memory_size = dump->ram_pages * dump->page_size;
	facts->max_physical = dump->page_count * dump->page_size;
	facts->crash_time = dump->time;
	if (dump->parts_missing)
		vmcore_add_warning(facts, "files of this split dump are missing");
	if (dump->cut)
		warn_cut(vmcore, dump->promised_size);
	else if (dump->status & DISKDUMP_INCOMPLETE)
		vmcore_add_warning(facts, "its maker ran out of space: pages are missing");
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
	facts->big_endian = library_number(vmcore->library, "arch.byte_order") == 0;
	machine_of_word(machine ? machine : "", facts->big_endian, facts->machine);
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
	SIGNATURE(LIME_MAGIC, open_lime, "LiME"),
	SIGNATURE(AVML_MAGIC, open_avml, "AVML"),
	SIGNATURE("\xd0\xbe\xd2\xbe", NULL, "VMware's state; give the .vmem beside it"),
	SIGNATURE("\xd1\xba\xd1\xba", NULL, "VMware's state; give the .vmem beside it"),
	SIGNATURE("\xd2\xbe\xd2\xbe", NULL, "VMware's state; give the .vmem beside it"),
	SIGNATURE("\xd3\xbe\xd3\xbe", NULL, "VMware's state; give the .vmem beside it"),
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
			    "%s: not a dump: neither ELF nor kdump-compressed, and no kernel is "
			    "found in it as raw memory (is it damaged at its start, or encrypted? "
			    "--format raw takes it for memory)",
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

/* A file that begins like none may be memory, if a kernel is found in it. */
static struct error *open_unknown(struct vmcore *vmcore, struct error *why)
{
	struct stat status;
	/* All that is in it is read: of a disk only when the user says so. */
	if (why->kind != ERROR_FORMAT || vmcore->file_count > 1 || vmcore->files[0].extents ||
	    fstat(vmcore->files[0].fd, &status) || !S_ISREG(status.st_mode))
		return why;
	struct error *error = open_raw(vmcore, false);
	if (error && error->kind == ERROR_NOT_FOUND) {
		error_free(error);
		return why;
	}
	error_free(why);
	return error;
}

struct error *vmcore_open_by_kind(struct vmcore *vmcore, const struct vmcore_options *options)
{
	const struct signature *first = NULL;
	if (options && options->raw)
		return open_raw(vmcore, true);
	struct error *error = find_signature(&vmcore->files[0], &first);
	if (error)
		return open_unknown(vmcore, error);
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
