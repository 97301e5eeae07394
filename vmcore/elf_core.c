// SPDX-License-Identifier: GPL-3.0-or-later
#include "vmcore/elf_core.h"

#include "base/array.h"
#include "vmcore/window.h"
#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The fields of both classes' headers that matter. */
struct header {
	uint16_t type, phentsize;
	uint64_t phoff, shoff;
	uint32_t phnum;
};

struct segment {
	uint32_t type;
	uint64_t offset, vaddr, paddr, filesz, memsz;
};

/* A field of a header whose place differs between the classes. */
static uint64_t field(const struct elf_core *core, const uint8_t *base, size_t at32, size_t at64)
{
	if (core->word_size == 4)
		return load_u32(base + at32, core->big_endian);
	return load_u64(base + at64, core->big_endian);
}

#define FIELD(core, base, kind, name)                                                              \
	field(core, base, offsetof(Elf32_##kind, name), offsetof(Elf64_##kind, name))

static struct error *check_type(const struct elf_core *core, uint16_t type)
{
	const char *path = core->file->path;
	switch (type) {
	case ET_CORE:
		return NULL;
	case ET_EXEC:
	case ET_DYN:
		return error_create(ERROR_FORMAT,
				    "%s: an ELF program (a vmlinux?), not a dump; btfcrash needs "
				    "no vmlinux, give it the dump alone",
				    path);
	case ET_REL:
		return error_create(ERROR_FORMAT,
				    "%s: an ELF object (a kernel module?), not a dump", path);
	}
	return error_create(ERROR_FORMAT, "%s: an ELF file of unknown type %u, not a dump", path,
			    type);
}

/* With 65535 and more segments their number is in the first section header. */
static struct error *read_extended_count(const struct elf_core *core, struct header *header)
{
	uint8_t raw[sizeof(Elf64_Shdr)] = { 0 };
	size_t size = core->word_size == 4 ? sizeof(Elf32_Shdr) : sizeof(Elf64_Shdr);
	struct error *error = dump_file_read(core->file, header->shoff, raw, size);
	if (error)
		return error_prefix(error, "ELF: cannot read the number of segments");
	size_t at = core->word_size == 4 ? offsetof(Elf32_Shdr, sh_info)
					 : offsetof(Elf64_Shdr, sh_info);
	header->phnum = load_u32(raw + at, core->big_endian);
	return NULL;
}

static struct error *read_header(struct elf_core *core, struct header *ret)
{
	const struct dump_file *file = core->file;
	uint8_t raw[sizeof(Elf64_Ehdr)] = { 0 };
	size_t size = sizeof(raw) < file->size ? sizeof(raw) : (size_t)file->size;
	struct error *error = dump_file_read(file, 0, raw, size);
	if (error)
		return error;
	core->big_endian = raw[EI_DATA] == ELFDATA2MSB;
	core->word_size = raw[EI_CLASS] == ELFCLASS32 ? 4 : 8;
	bool wide = core->word_size == 8;
	if (size < (wide ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr)))
		return error_create(ERROR_TRUNCATED, "%s: the file ends within its ELF header",
				    file->path);
	if ((raw[EI_CLASS] != ELFCLASS32 && raw[EI_CLASS] != ELFCLASS64) ||
	    (raw[EI_DATA] != ELFDATA2LSB && raw[EI_DATA] != ELFDATA2MSB))
		return error_create(ERROR_FORMAT, "%s: ELF of unknown class %u or byte order %u",
				    file->path, raw[EI_CLASS], raw[EI_DATA]);
	ret->type = load_u16(raw + offsetof(Elf64_Ehdr, e_type), core->big_endian);
	core->machine = load_u16(raw + offsetof(Elf64_Ehdr, e_machine), core->big_endian);
	ret->phoff = FIELD(core, raw, Ehdr, e_phoff);
	ret->shoff = FIELD(core, raw, Ehdr, e_shoff);
	const uint8_t *tail = raw + (wide ? offsetof(Elf64_Ehdr, e_phentsize)
					  : offsetof(Elf32_Ehdr, e_phentsize));
	ret->phentsize = load_u16(tail, core->big_endian);
	ret->phnum = load_u16(tail + 2, core->big_endian);
	error = check_type(core, ret->type);
	if (!error && ret->phnum == PN_XNUM)
		error = read_extended_count(core, ret);
	return error;
}

/* Whether the table of segments is there. */
static struct error *check_table(const struct elf_core *core, const struct header *header)
{
	const struct dump_file *file = core->file;
	size_t least = core->word_size == 4 ? sizeof(Elf32_Phdr) : sizeof(Elf64_Phdr);
	if (!header->phnum || header->phentsize < least)
		return error_create(ERROR_FORMAT, "%s: an ELF core without memory in it",
				    file->path);
	uint64_t size = (uint64_t)header->phnum * header->phentsize;
	if (!dump_file_has(file, header->phoff, size))
		return error_create(ERROR_TRUNCATED,
				    "%s: the file ends within its %" PRIu32 " ELF program headers",
				    file->path, header->phnum);
	if (!dump_file_is_dense(file, header->phoff, size))
		return error_create(ERROR_FORMAT,
				    "%s: damaged: most of its %" PRIu32
				    " ELF program headers lie in a hole of the file",
				    file->path, header->phnum);
	return NULL;
}

static struct segment load_segment(const struct elf_core *core, const uint8_t *raw)
{
	return (struct segment){
		.type = load_u32(raw, core->big_endian),
		.offset = FIELD(core, raw, Phdr, p_offset),
		.vaddr = FIELD(core, raw, Phdr, p_vaddr),
		.paddr = FIELD(core, raw, Phdr, p_paddr),
		.filesz = FIELD(core, raw, Phdr, p_filesz),
		.memsz = FIELD(core, raw, Phdr, p_memsz),
	};
}

bool elf_runs_add(struct elf_runs *runs, uint64_t physical, uint64_t size, uint64_t offset)
{
	if (!size || size > UINT64_MAX - physical || size > UINT64_MAX - offset)
		return true;
	if (!array_reserve(&runs->items, &runs->capacity, runs->count + 1))
		return false;
	runs->items[runs->count++] = (struct elf_run){ physical, size, offset };
	return true;
}

/* /proc/kcore marks what is not RAM with p_paddr -1. */
static bool has_physical(const struct elf_core *core, const struct segment *segment)
{
	return segment->paddr != (core->word_size == 4 ? UINT32_MAX : UINT64_MAX);
}

static struct error *add_segment(struct elf_core *core, const struct segment *segment)
{
	if (segment->type != PT_LOAD && segment->type != PT_NOTE)
		return NULL;
	if (segment->filesz && segment->filesz <= UINT64_MAX - segment->offset &&
	    segment->offset + segment->filesz > core->promised_size)
		core->promised_size = segment->offset + segment->filesz;
	if (segment->type != PT_LOAD)
		return NULL;
	if (core->file->is_proc &&
	    !elf_runs_add(&core->addresses, segment->vaddr, segment->filesz, segment->offset))
		return error_no_memory();
	if (!has_physical(core, segment))
		return NULL;
	if (core->file->is_proc &&
	    !elf_runs_add(&core->direct_map, segment->vaddr, segment->filesz, segment->offset))
		return error_no_memory();
	uint64_t memory = segment->memsz > segment->filesz ? segment->memsz : segment->filesz;
	if (!elf_runs_add(&core->data, segment->paddr, segment->filesz, segment->offset) ||
	    !elf_runs_add(&core->memory, segment->paddr, memory, 0))
		return error_no_memory();
	return NULL;
}

static int compare_runs(const void *left, const void *right)
{
	const struct elf_run *a = left, *b = right;
	if (a->physical != b->physical)
		return a->physical < b->physical ? -1 : 1;
	return a->size > b->size ? -1 : a->size < b->size;
}

/* Sorts, cuts overlaps (QEMU's paging=true maps one page several times), joins neighbours. */
static void normalise(struct elf_runs *runs, bool in_file)
{
	if (!runs->count)
		return;
	array_sort(runs->items, runs->count, sizeof(*runs->items), compare_runs);
	size_t kept = 0;
	uint64_t end = 0;
	for (size_t i = 0; i < runs->count; i++) {
		struct elf_run run = runs->items[i];
		uint64_t run_end = run.physical + run.size;
		if (kept && run_end <= end)
			continue;
		if (kept && run.physical < end) {
			run.offset += in_file ? end - run.physical : 0;
			run.size = run_end - end;
			run.physical = end;
		}
		struct elf_run *last = kept ? &runs->items[kept - 1] : NULL;
		if (last && run.physical == end &&
		    (!in_file || last->offset + last->size == run.offset))
			last->size += run.size;
		else
			runs->items[kept++] = run;
		end = run_end;
	}
	runs->count = kept;
}

/*
 * Sets apart what lies beyond the end of a file that was cut off: a page in several segments
 * (/proc/vmcore has the kernel's image twice) is there as long as one of them is.
 */
static struct error *split_cut(struct elf_core *core)
{
	struct elf_runs *data = &core->data;
	uint64_t end = core->file->is_proc ? UINT64_MAX : core->file->size;
	size_t kept = 0;
	for (size_t i = 0; i < data->count; i++) {
		struct elf_run run = data->items[i];
		uint64_t there = run.offset < end ? end - run.offset : 0;
		there = run.size < there ? run.size : there;
		if (!elf_runs_add(&core->cut, run.physical + there, run.size - there,
				  run.offset + there))
			return error_no_memory();
		run.size = there;
		if (there)
			data->items[kept++] = run;
	}
	data->count = kept;
	return NULL;
}

/* Notes the place of a PT_NOTE that fits; one that is cut off or absurd counts as not there. */
static struct error *add_note(const struct elf_core *core, const struct segment *segment,
			      struct elf_runs *notes, uint64_t *total)
{
	if (segment->type != PT_NOTE || segment->filesz > NOTES_SIZE_LIMIT - *total ||
	    !dump_file_has(core->file, segment->offset, segment->filesz))
		return NULL;
	*total += segment->filesz;
	return elf_runs_add(notes, 0, segment->filesz, segment->offset) ? NULL : error_no_memory();
}

/* Reads them into one block of so many bytes, which the parsed notes borrow from. */
static struct error *read_notes(struct elf_core *core, const struct elf_runs *notes, uint64_t total)
{
	core->note_bytes = malloc(total ? total : 1);
	if (!core->note_bytes)
		return error_no_memory();
	uint8_t *to = core->note_bytes;
	struct error *error = NULL;
	for (size_t i = 0; !error && i < notes->count; i++) {
		struct bytes bytes = { to, (size_t)notes->items[i].size, core->big_endian };
		error = dump_file_read(core->file, notes->items[i].offset, to, bytes.size);
		if (!error)
			error = notes_parse(&core->notes, &bytes);
		to += bytes.size;
	}
	return error;
}

static struct error *read_table(struct elf_core *core, const struct header *header)
{
	struct file_window window = { .file = core->file };
	struct elf_runs notes = { 0 };
	uint64_t total = 0;
	size_t size = core->word_size == 4 ? sizeof(Elf32_Phdr) : sizeof(Elf64_Phdr);
	struct error *error = NULL;
	for (uint32_t i = 0; !error && i < header->phnum; i++) {
		const uint8_t *raw = NULL;
		error = file_window_read(&window, header->phoff + (uint64_t)i * header->phentsize,
					 size, &raw);
		if (error)
			break;
		struct segment segment = load_segment(core, raw);
		error = add_segment(core, &segment);
		if (!error)
			error = add_note(core, &segment, &notes, &total);
	}
	if (!error)
		error = read_notes(core, &notes, total);
	free(notes.items);
	return error;
}

/*
 * Bytes of the file that are several pieces of memory at once: kilobytes would be searched as
 * terabytes. No tool writes that, but where the file is cut off.
 */
static struct error *check_overlaps(const struct elf_core *core)
{
	uint64_t left = core->file->size;
	for (size_t i = 0; i < core->data.count && !core->file->is_proc; i++) {
		const struct elf_run *run = &core->data.items[i];
		uint64_t there = run->offset < core->file->size ? core->file->size - run->offset
								: 0;
		there = run->size < there ? run->size : there;
		if (there > left)
			return error_create(ERROR_FORMAT,
					    "%s: damaged: its ELF segments overlap in the file",
					    core->file->path);
		left -= there;
	}
	return NULL;
}

static struct error *check_memory(const struct elf_core *core)
{
	const char *path = core->file->path;
	if (core->notes.has_process_info && !core->notes.vmcoreinfo)
		return error_create(ERROR_FORMAT, "%s: the core of a user process, not of a kernel",
				    path);
	if (!core->memory.count && core->file->cut)
		return error_create(ERROR_TRUNCATED,
				    "%s: the flattened stream breaks off before the ELF program "
				    "headers, which come last in it; nothing can be read from it",
				    path);
	if (!core->memory.count)
		return error_create(ERROR_FORMAT, "%s: a dump without physical memory in it", path);
	return NULL;
}

static struct error *read_segments(struct elf_core *core)
{
	struct header header = { 0 };
	struct error *error = read_header(core, &header);
	if (!error)
		error = check_table(core, &header);
	if (!error)
		error = read_table(core, &header);
	if (error)
		return error;
	core->segment_count = header.phnum;
	normalise(&core->addresses, true);
	normalise(&core->direct_map, true);
	/* The highest one is the kernel's image, parts of which are unmapped after booting. */
	if (core->direct_map.count)
		core->direct_map.count--;
	error = split_cut(core);
	if (error)
		return error;
	normalise(&core->data, true);
	normalise(&core->cut, false);
	normalise(&core->memory, false);
	/* /proc/kcore speaks of the process that reads it, /proc/vmcore of no process. */
	core->is_live = core->file->is_proc && core->notes.has_process_info;
	error = check_overlaps(core);
	return error ? error : check_memory(core);
}

struct error *elf_core_open(const struct dump_file *file, struct elf_core **ret)
{
	struct elf_core *core = calloc(1, sizeof(*core));
	if (!core)
		return error_no_memory();
	core->file = file;
	struct error *error = read_segments(core);
	if (error) {
		elf_core_close(core);
		return error;
	}
	*ret = core;
	return NULL;
}

/* Copies; what the file holds is all that there is. */
static bool copy_runs(const struct elf_runs *from, struct elf_runs *to)
{
	for (size_t i = 0; i < from->count; i++)
		if (!elf_runs_add(to, from->items[i].physical, from->items[i].size,
				  from->items[i].offset))
			return false;
	return true;
}

struct error *elf_core_of_runs(const struct dump_file *file, const struct elf_runs *runs,
			       struct elf_core **ret)
{
	struct elf_core *core = calloc(1, sizeof(*core));
	if (!core)
		return error_no_memory();
	core->file = file;
	core->word_size = 8;
	core->promised_size = file->size;
	struct error *error = copy_runs(runs, &core->data) && copy_runs(runs, &core->memory)
				      ? split_cut(core)
				      : error_no_memory();
	if (!error) {
		normalise(&core->data, true);
		normalise(&core->cut, false);
		normalise(&core->memory, false);
		error = check_memory(core);
	}
	if (error) {
		elf_core_close(core);
		return error;
	}
	*ret = core;
	return NULL;
}

void elf_core_close(struct elf_core *core)
{
	if (!core)
		return;
	for (size_t i = 0; i < core->lent_count; i++)
		dump_map_deinit(&core->lent[i]);
	free(core->lent);
	notes_deinit(&core->notes);
	free(core->note_bytes);
	free(core->addresses.items);
	free(core->direct_map.items);
	free(core->data.items);
	free(core->cut.items);
	free(core->memory.items);
	free(core);
}

/* The run that holds `physical`, or the first one above; NULL: none. */
static const struct elf_run *find_run(const struct elf_runs *runs, uint64_t physical)
{
	size_t first = array_bound(runs->count, i,
				   runs->items[i].physical + runs->items[i].size <= physical);
	return first < runs->count ? &runs->items[first] : NULL;
}

static struct error *ends_before(uint64_t physical)
{
	return error_create_at(ERROR_TRUNCATED, physical,
			       "the file ends before physical address 0x%" PRIx64, physical);
}

static struct error *missing(const struct elf_core *core, uint64_t physical)
{
	const struct elf_run *run = find_run(&core->cut, physical);
	if (run && run->physical <= physical)
		return ends_before(physical);
	run = find_run(&core->memory, physical);
	if (run && run->physical <= physical)
		return error_create_at(ERROR_EXCLUDED, physical,
				       "the page at physical address 0x%" PRIx64
				       " was left out of the dump (filtered, or all zeros)",
				       physical);
	return error_create_at(ERROR_FAULT, physical,
			       "there is no memory at physical address 0x%" PRIx64, physical);
}

/* Where in [offset, offset + size) a flattened stream breaks off, as a physical address. */
static struct error *cut_off(const struct elf_core *core, const struct elf_run *run,
			     uint64_t physical, uint64_t size)
{
	uint64_t readable = array_bound(
		size, i,
		dump_file_has(core->file, run->offset + (physical - run->physical), i + 1));
	return ends_before(physical + readable);
}

static struct error *read_part(const struct elf_core *core, const struct elf_run *run,
			       uint64_t physical, uint8_t *buffer, size_t size)
{
	uint64_t offset = run->offset + (physical - run->physical);
	if (!dump_file_has(core->file, offset, size))
		return cut_off(core, run, physical, size);
	struct error *error = dump_file_read(core->file, offset, buffer, size);
	if (error && error->kind != ERROR_NO_MEMORY)
		error->address = physical;
	return error;
}

struct error *elf_core_read(const struct elf_core *core, uint64_t physical, void *buffer,
			    size_t size)
{
	uint8_t *to = buffer;
	while (size) {
		const struct elf_run *run = find_run(&core->data, physical);
		if (!run || run->physical > physical)
			return missing(core, physical);
		uint64_t rest = run->size - (physical - run->physical);
		size_t part = rest < size ? (size_t)rest : size;
		struct error *error = read_part(core, run, physical, to, part);
		if (error)
			return error;
		to += part;
		physical += part;
		size -= part;
	}
	return NULL;
}

const void *elf_core_lend(struct elf_core *core, uint64_t physical, size_t size)
{
	const struct elf_run *run = find_run(&core->data, physical);
	if (!run || run->physical > physical || run->size - (physical - run->physical) < size ||
	    !array_reserve(&core->lent, &core->lent_capacity, core->lent_count + 1))
		return NULL;
	struct dump_map *map = &core->lent[core->lent_count];
	uint64_t offset = run->offset + (physical - run->physical);
	if (!dump_file_map(core->file, offset, size, map))
		return NULL;
	core->lent_count++;
	return map->bytes;
}

bool elf_core_next(const struct elf_core *core, uint64_t physical, uint64_t *ret_start,
		   uint64_t *ret_size)
{
	const struct elf_run *run;
	while ((run = find_run(&core->data, physical))) {
		uint64_t start = run->physical > physical ? run->physical : physical;
		uint64_t offset = run->offset + (start - run->physical);
		uint64_t rest = run->size - (start - run->physical);
		/* Headers may promise exabytes of a cut file, or of one with holes. */
		uint64_t data, size;
		if (dump_file_next_data(core->file, offset, rest, &data, &size)) {
			*ret_start = start + (data - offset);
			*ret_size = size;
			return true;
		}
		if (start + rest <= physical)
			return false;
		physical = start + rest;
	}
	return false;
}

/* --- the running kernel ------------------------------------------------------------- */

bool elf_core_find_virtual(const struct elf_core *core, uint64_t address, size_t size,
			   uint64_t *ret_offset, size_t *ret_size, bool *ret_sure)
{
	const struct elf_run *run = find_run(&core->addresses, address);
	if (!run || run->physical > address)
		return false;
	uint64_t skip = address - run->physical;
	uint64_t rest = run->size - skip;
	*ret_offset = run->offset + skip;
	*ret_size = rest < size ? (size_t)rest : size;
	/* Elsewhere the kernel gives zeros for what is not mapped (fs/proc/kcore.c). */
	const struct elf_run *ram = find_run(&core->direct_map, address);
	*ret_sure = ram && ram->physical <= address;
	return true;
}

/* The number of segments, on which the offsets of all depend. */
static struct error *count_segments(const struct elf_core *core, uint32_t *ret)
{
	struct elf_core look = { .file = core->file };
	struct header header = { 0 };
	struct error *error = read_header(&look, &header);
	if (!error)
		*ret = header.phnum;
	return error;
}

struct error *elf_core_refresh(struct elf_core *core)
{
	uint32_t count = 0;
	struct elf_core *fresh = NULL;
	struct error *error = count_segments(core, &count);
	if (error || count == core->segment_count)
		return error;
	error = elf_core_open(core->file, &fresh);
	if (error)
		return error;
	struct elf_core old = *core;
	*core = *fresh;
	/* What others have borrowed. */
	core->notes = old.notes;
	core->note_bytes = old.note_bytes;
	old.notes = fresh->notes;
	old.note_bytes = fresh->note_bytes;
	*fresh = old;
	elf_core_close(fresh);
	return NULL;
}
