// SPDX-License-Identifier: GPL-3.0-or-later
#include "vmcore/elf_core.h"

#include "base/array.h"
#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#ifndef EM_LOONGARCH
#define EM_LOONGARCH 258
#endif

/* The fields of both classes' headers that matter. */
struct header {
	uint16_t type, phentsize;
	uint64_t phoff, shoff;
	uint32_t phnum;
};

struct segment {
	uint32_t type;
	uint64_t offset, paddr, filesz, memsz;
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

const char *elf_machine_name(uint16_t machine, uint8_t word_size, bool big_endian)
{
	switch (machine) {
	case EM_X86_64:
		return "x86_64";
	case EM_AARCH64:
		return "aarch64";
	case EM_S390:
		return word_size == 8 ? "s390x" : "s390";
	case EM_PPC64:
		return big_endian ? "ppc64" : "ppc64le";
	case EM_RISCV:
		return word_size == 8 ? "riscv64" : "riscv32";
	case EM_LOONGARCH:
		return word_size == 8 ? "loongarch64" : "loongarch32";
	case EM_386:
		return "i386";
	case EM_ARM:
		return "arm";
	case EM_PPC:
		return "ppc";
	case EM_MIPS:
		return word_size == 8 ? "mips64" : "mips";
	case EM_IA_64:
		return "ia64";
	case EM_SPARCV9:
		return "sparc64";
	}
	return NULL;
}

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

/* Reads the table of segments; caller frees *ret. */
static struct error *read_table(const struct elf_core *core, const struct header *header,
				uint8_t **ret)
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
	uint8_t *table = malloc(size);
	if (!table)
		return error_no_memory();
	struct error *error = dump_file_read(file, header->phoff, table, size);
	if (error) {
		free(table);
		return error;
	}
	*ret = table;
	return NULL;
}

static struct segment load_segment(const struct elf_core *core, const uint8_t *raw)
{
	return (struct segment){
		.type = load_u32(raw, core->big_endian),
		.offset = FIELD(core, raw, Phdr, p_offset),
		.paddr = FIELD(core, raw, Phdr, p_paddr),
		.filesz = FIELD(core, raw, Phdr, p_filesz),
		.memsz = FIELD(core, raw, Phdr, p_memsz),
	};
}

static bool add_run(struct elf_runs *runs, uint64_t physical, uint64_t size, uint64_t offset)
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
	if (segment->type != PT_LOAD || !has_physical(core, segment))
		return NULL;
	uint64_t memory = segment->memsz > segment->filesz ? segment->memsz : segment->filesz;
	if (!add_run(&core->data, segment->paddr, segment->filesz, segment->offset) ||
	    !add_run(&core->memory, segment->paddr, memory, 0))
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

/* A PT_NOTE that fits; one that is cut off or absurd counts as not there. */
static bool usable_note(const struct elf_core *core, const struct segment *segment, uint64_t used)
{
	return segment->type == PT_NOTE && segment->filesz <= NOTES_SIZE_LIMIT - used &&
	       dump_file_has(core->file, segment->offset, segment->filesz);
}

static struct error *read_note(struct elf_core *core, const struct segment *segment, uint8_t *to)
{
	struct bytes bytes = { to, (size_t)segment->filesz, core->big_endian };
	struct error *error = dump_file_read(core->file, segment->offset, to, bytes.size);
	return error ? error : notes_parse(&core->notes, &bytes);
}

/* Reads all PT_NOTEs into one block, which the parsed notes borrow from. */
static struct error *read_notes(struct elf_core *core, const struct header *header,
				const uint8_t *table)
{
	uint64_t size = 0, used = 0;
	for (uint32_t i = 0; i < header->phnum; i++) {
		struct segment segment = load_segment(core, table + (size_t)i * header->phentsize);
		if (usable_note(core, &segment, size))
			size += segment.filesz;
	}
	core->note_bytes = malloc(size ? size : 1);
	if (!core->note_bytes)
		return error_no_memory();
	struct error *error = NULL;
	for (uint32_t i = 0; !error && i < header->phnum; i++) {
		struct segment segment = load_segment(core, table + (size_t)i * header->phentsize);
		if (!usable_note(core, &segment, used))
			continue;
		error = read_note(core, &segment, core->note_bytes + used);
		used += segment.filesz;
	}
	return error;
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
		return error_create(ERROR_FORMAT, "%s: an ELF core without physical memory in it",
				    path);
	return NULL;
}

static struct error *read_segments(struct elf_core *core)
{
	struct header header = { 0 };
	uint8_t *table = NULL;
	struct error *error = read_header(core, &header);
	if (!error)
		error = read_table(core, &header, &table);
	if (error)
		return error;
	for (uint32_t i = 0; !error && i < header.phnum; i++) {
		struct segment segment = load_segment(core, table + (size_t)i * header.phentsize);
		error = add_segment(core, &segment);
	}
	normalise(&core->data, true);
	normalise(&core->memory, false);
	if (!error)
		error = read_notes(core, &header, table);
	free(table);
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

void elf_core_close(struct elf_core *core)
{
	if (!core)
		return;
	for (size_t i = 0; i < core->lent_count; i++)
		dump_map_deinit(&core->lent[i]);
	free(core->lent);
	notes_deinit(&core->notes);
	free(core->note_bytes);
	free(core->data.items);
	free(core->memory.items);
	free(core);
}

/* The run that holds `physical`, or the first one above; NULL: none. */
static const struct elf_run *find_run(const struct elf_runs *runs, uint64_t physical)
{
	size_t low = 0, high = runs->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (runs->items[middle].physical + runs->items[middle].size <= physical)
			low = middle + 1;
		else
			high = middle;
	}
	return low < runs->count ? &runs->items[low] : NULL;
}

static struct error *missing(const struct elf_core *core, uint64_t physical)
{
	const struct elf_run *run = find_run(&core->memory, physical);
	if (run && run->physical <= physical)
		return error_create_at(ERROR_EXCLUDED, physical,
				       "the page at physical address 0x%" PRIx64
				       " was left out of the dump (filtered, or all zeros)",
				       physical);
	return error_create_at(ERROR_FAULT, physical,
			       "there is no memory at physical address 0x%" PRIx64, physical);
}

/* Where in [offset, offset + size) the file ends, as a physical address. */
static struct error *cut_off(const struct elf_core *core, const struct elf_run *run,
			     uint64_t physical, uint64_t size)
{
	uint64_t low = 0, high = size;
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;
		if (dump_file_has(core->file, run->offset + (physical - run->physical), middle + 1))
			low = middle + 1;
		else
			high = middle;
	}
	return error_create_at(ERROR_TRUNCATED, physical + low,
			       "the file ends before physical address 0x%" PRIx64, physical + low);
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
		/* Headers may promise exabytes of a cut file. */
		uint64_t held = offset < core->file->size ? core->file->size - offset : 0;
		if (held) {
			*ret_start = start;
			*ret_size = rest < held ? rest : held;
			return true;
		}
		if (start + rest <= physical)
			return false;
		physical = start + rest;
	}
	return false;
}
