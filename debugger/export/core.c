// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/export/core.h"

#include "base/interrupt.h"
#include "debugger/export/core_private.h"
#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>

#define CHUNK_SIZE (64u << 10)
#define ALIGNMENT  4096u

struct writer {
	FILE *file;
	uint64_t offset;
	bool failed;
};

static void put(struct writer *writer, const void *data, size_t size)
{
	writer->failed |= size && fwrite(data, 1, size, writer->file) != size;
	writer->offset += size;
}

static void put_zeros_to(struct writer *writer, uint64_t offset)
{
	static const uint8_t zeros[ALIGNMENT];
	while (writer->offset < offset && !writer->failed) {
		uint64_t left = offset - writer->offset;
		put(writer, zeros, left < sizeof(zeros) ? (size_t)left : sizeof(zeros));
	}
}

/* More segments than the header can count are counted in a section's (the ELF's "extended
 * numbering"). */
static void put_header(struct writer *writer, size_t segments, bool is_extended)
{
	uint64_t table = sizeof(Elf64_Ehdr) + segments * sizeof(Elf64_Phdr);
	Elf64_Ehdr header = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
					   ELFDATA2LSB, EV_CURRENT },
			      .e_type = ET_CORE,
			      .e_machine = EM_X86_64,
			      .e_version = EV_CURRENT,
			      .e_phoff = sizeof(Elf64_Ehdr),
			      .e_shoff = is_extended ? table : 0,
			      .e_ehsize = sizeof(Elf64_Ehdr),
			      .e_phentsize = sizeof(Elf64_Phdr),
			      .e_phnum = is_extended ? PN_XNUM : (uint16_t)segments,
			      .e_shentsize = is_extended ? sizeof(Elf64_Shdr) : 0,
			      .e_shnum = is_extended };
	put(writer, &header, sizeof(header));
}

static void put_segments(struct writer *writer, const struct core *core, uint64_t notes,
			 uint64_t contents)
{
	Elf64_Phdr segment = {
		.p_type = PT_NOTE, .p_offset = notes, .p_filesz = core->notes.size, .p_align = 4
	};
	put(writer, &segment, sizeof(segment));
	for (size_t i = 0; i < core->run_count; i++) {
		const struct core_run *run = &core->runs[i];
		segment = (Elf64_Phdr){ .p_type = PT_LOAD,
					.p_flags = run->flags,
					.p_offset = contents,
					.p_vaddr = run->start,
					.p_filesz = run->has_bytes ? run->size : 0,
					.p_memsz = run->size,
					.p_align = ALIGNMENT };
		put(writer, &segment, sizeof(segment));
		contents += segment.p_filesz;
	}
}

static struct error *put_contents(struct writer *writer, const struct core *core)
{
	static const char what[] = "contents";
	struct memory *memory = user_space_memory(core->space);
	uint8_t *buffer = malloc(CHUNK_SIZE);
	struct error *error = buffer ? NULL : error_no_memory();
	uint64_t first = writer->offset;
	for (size_t i = 0; i < core->run_count && !error; i++) {
		const struct core_run *run = &core->runs[i];
		for (uint64_t at = 0; run->has_bytes && at < run->size && !error;) {
			uint64_t left = run->size - at;
			size_t size = left < CHUNK_SIZE ? (size_t)left : CHUNK_SIZE;
			progress_report(core->options->progress, what, writer->offset - first,
					core->run_bytes);
			error = memory_read(memory, run->start + at, buffer, size);
			if (!error)
				put(writer, buffer, size);
			if (!error && writer->failed)
				error = error_system("writing");
			at += size;
		}
	}
	progress_end(core->options->progress);
	free(buffer);
	return error;
}

static struct error *write_core(struct core *core, FILE *file)
{
	struct writer writer = { .file = file };
	size_t segments = core->run_count + 1;
	bool is_extended = segments >= PN_XNUM;
	uint64_t notes = sizeof(Elf64_Ehdr) + segments * sizeof(Elf64_Phdr) +
			 (is_extended ? sizeof(Elf64_Shdr) : 0);
	uint64_t contents = (notes + core->notes.size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	put_header(&writer, segments, is_extended);
	put_segments(&writer, core, notes, contents);
	if (is_extended) {
		const Elf64_Shdr section = { .sh_info = (uint32_t)segments };
		put(&writer, &section, sizeof(section));
	}
	put(&writer, core->notes.data, core->notes.size);
	put_zeros_to(&writer, contents);
	TRY(put_contents(&writer, core));
	if (writer.failed || fflush(file))
		return error_system("writing");
	core->summary.bytes = writer.offset;
	core->summary.segments = segments;
	return NULL;
}

static struct error *collect(struct core *core)
{
	const struct error *problem;
	struct object task;
	TRY(object_at(core->target, "struct task_struct", core->task->address, &task));
	TRY(object_follow(&task, "mm", &core->mm));
	TRY(user_space_mappings(core->space, &core->mappings, &core->mapping_count, &problem));
	/* Half of a process is none. */
	if (problem)
		return error_prefix(error_copy(problem), "its mappings");
	core->summary.mappings = core->mapping_count;
	TRY(core_find_runs(core));
	return core_add_notes(core);
}

struct error *export_core(struct target *target, const struct task *task,
			  const struct core_options *options, FILE *file, struct core_summary *ret)
{
	struct core core = { .target = target, .task = task, .options = options };
	core.page_size = target->facts->page_size;
	if (target->arch != &arch_x86_64)
		return error_create(ERROR_UNSUPPORTED, "cores of %s are not written",
				    target->arch->name);
	TRY(user_space_open_task(target, task, &core.space));
	struct error *error = collect(&core);
	if (!error)
		error = write_core(&core, file);
	if (!error)
		*ret = core.summary;
	user_space_close(core.space);
	strbuf_deinit(&core.notes);
	free(core.runs);
	return error;
}
