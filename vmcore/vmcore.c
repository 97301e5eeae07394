// SPDX-License-Identifier: GPL-3.0-or-later
/* Opening a dump: its files, what kind they are (kinds.c), VMCOREINFO, physical memory. */
#include "vmcore/vmcore_private.h"

#include "vmcore/machine.h"
#include "vmcore/physical.h"
#include "vmcore/search.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define PAGE_SIZE_DEFAULT 4096
#define PAGE_SIZE_MAX	  (256 << 10)
#define INFO_FILE_MAX	  (1 << 20)
#define LIVE_ATTEMPTS	  3

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

static struct error *read_info_file(const struct vmcore_options *options, struct vmcoreinfo **ret)
{
	struct dump_file file;
	const struct file_opening how = { .helper = options->helper };
	struct error *error = dump_file_init_through(&file, options->vmcoreinfo_path, &how);
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

/* A damaged VMCOREINFO of the dump is as good as none. */
static struct error *parse_own_info(struct vmcore *vmcore, struct vmcoreinfo **ret)
{
	const uint8_t *text = vmcore->notes->vmcoreinfo;
	size_t size = vmcore->notes->vmcoreinfo_size;
	if (!text && vmcore->dump) {
		text = vmcore->dump->info_bytes;
		size = vmcore->dump->info_size;
	}
	if (!text)
		return NULL;
	struct error *error = vmcoreinfo_parse((const char *)text, size, ret);
	if (error && error->kind == ERROR_FORMAT) {
		vmcore_add_warning(&vmcore->facts, "%s", error->message);
		error_free(error);
		return NULL;
	}
	return error;
}

static struct error *load_info(struct vmcore *vmcore)
{
	return vmcore->info ? NULL : parse_own_info(vmcore, &vmcore->info);
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
	if (!facts->machine[0]) {
		const char *name = machine_guess(info, vmcore->notes, facts->big_endian);
		snprintf(facts->machine, sizeof(facts->machine), "%s", name);
	}
}

/* --- the whole ---------------------------------------------------------------------- */

static struct error *open_files(struct vmcore *vmcore, const char *const *paths, size_t count,
				const struct vmcore_options *options)
{
	const struct file_opening how = { .helper = options ? options->helper : NULL,
					  .progress = options ? options->progress : NULL };
	vmcore->files = calloc(count ? count : 1, sizeof(*vmcore->files));
	if (!vmcore->files)
		return error_no_memory();
	if (!count)
		return error_create(ERROR_USAGE, "no dump given");
	for (size_t i = 0; i < count; i++) {
		struct error *error = dump_file_init_through(&vmcore->files[i], paths[i], &how);
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
		.avml = vmcore->avml,
		.library = vmcore->library,
		.page_size = facts->page_size,
		.word_size = vmcore->word_size,
		.big_endian = facts->big_endian,
	};
	return physical_memory_create(&source, &vmcore->physical);
}

/* One that the user gave and that cannot be read is an error. */
static struct error *read_given_info(struct vmcore *vmcore, const struct vmcore_options *options)
{
	if (!options || !options->vmcoreinfo_path)
		return NULL;
	return read_info_file(options, &vmcore->info);
}

/* Images have no note that could be missing: no warning of it. */
static struct error *search_image(struct vmcore *vmcore)
{
	struct error *error = vmcore_search_vmcoreinfo(vmcore);
	if (!error || error->kind != ERROR_NOT_FOUND)
		return error;
	error_free(error);
	return NULL;
}

struct error *vmcore_open(const char *const *paths, size_t count,
			  const struct vmcore_options *options, struct vmcore **ret)
{
	struct vmcore *vmcore = calloc(1, sizeof(*vmcore));
	if (!vmcore)
		return error_no_memory();
	vmcore->facts.dump_level = -1;
	struct error *error = open_files(vmcore, paths, count, options);
	if (!error)
		error = read_given_info(vmcore, options);
	if (!error)
		error = vmcore_open_by_kind(vmcore, options);
	if (!error)
		error = load_info(vmcore);
	if (!error) {
		take_info_facts(vmcore);
		error = create_physical(vmcore);
	}
	if (!error && vmcore->is_image && !vmcore->info)
		error = search_image(vmcore);
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
	avml_close(vmcore->avml);
	elf_core_close(vmcore->core);
	for (size_t i = 0; i < vmcore->file_count; i++)
		dump_file_deinit(&vmcore->files[i]);
	free(vmcore->files);
	free(vmcore);
}

/* --- the running kernel ------------------------------------------------------------- */

struct error *vmcore_read_live(struct vmcore *vmcore, uint64_t address, void *buffer, size_t size,
			       size_t *ret_size, bool *ret_sure)
{
	uint64_t offset = 0;
	if (!elf_core_find_virtual(vmcore->core, address, size, &offset, ret_size, ret_sure))
		return error_create(ERROR_NOT_FOUND, "not in %s", vmcore->files[0].path);
	struct error *error = NULL;
	for (unsigned int attempt = 0; attempt < LIVE_ATTEMPTS; attempt++) {
		error_free(error);
		error = dump_file_read(&vmcore->files[0], offset, buffer, *ret_size);
		if (!error || error->kind != ERROR_SYSTEM)
			return error;
	}
	/* As good as not there: the kernel does not want to give it. */
	struct error *fault = error_create_at(
		ERROR_FAULT, address, "kernel address 0x%" PRIx64 ": %s", address, error->message);
	error_free(error);
	return fault;
}

void vmcore_refresh(struct vmcore *vmcore)
{
	/* What cannot be read again stays as it was. */
	if (vmcore->facts.is_live)
		error_free(elf_core_refresh(vmcore->core));
}

struct memory *vmcore_physical(struct vmcore *vmcore)
{
	return vmcore->physical;
}

struct error *vmcore_reader_create(struct vmcore *vmcore, struct memory **ret)
{
	return physical_reader_create(vmcore->physical, ret);
}

void vmcore_reader_destroy(struct memory *reader)
{
	physical_reader_destroy(reader);
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
	/* /proc/kcore has one, of the process that reads it, without registers in it. */
	return vmcore->facts.is_live ? 0 : vmcore->notes->cpu_count;
}

const struct cpu_note *vmcore_cpu_note(const struct vmcore *vmcore, size_t index)
{
	return index < vmcore->notes->cpu_count ? &vmcore->notes->cpus[index] : NULL;
}

static struct error *search_info(struct vmcore *vmcore, struct vmcoreinfo **ret)
{
	if (vmcore->facts.is_live)
		return error_create(ERROR_NOT_FOUND,
				    "the running kernel offers none (CONFIG_VMCORE_INFO, and Linux "
				    "4.19 or later)");
	return search_vmcoreinfo(vmcore->physical, ret);
}

struct error *vmcore_own_vmcoreinfo(struct vmcore *vmcore, struct vmcoreinfo **ret)
{
	struct vmcoreinfo *info = NULL;
	struct error *error = parse_own_info(vmcore, &info);
	if (!error && !info)
		error = search_info(vmcore, &info);
	if (!error)
		*ret = info;
	return error;
}

struct error *vmcore_search_vmcoreinfo(struct vmcore *vmcore)
{
	struct vmcoreinfo *info = NULL;
	struct error *error = search_info(vmcore, &info);
	if (error)
		return error;
	vmcoreinfo_free(vmcore->info);
	vmcore->info = info;
	take_info_facts(vmcore);
	return NULL;
}
