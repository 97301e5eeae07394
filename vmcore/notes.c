// SPDX-License-Identifier: GPL-3.0-or-later
#include "vmcore/notes.h"

#include "base/array.h"
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define NOTE_HEADER_SIZE 12
/* Linux knows 8192 CPUs, and a CPU has two at most. Others are passed over. */
#define CPU_NOTES_MAX 32768

struct note {
	const char *name; /* not terminated */
	uint32_t name_size, type;
	const uint8_t *data;
	uint32_t size;
};

static uint64_t padded(uint32_t size)
{
	return ((uint64_t)size + 3) & ~(uint64_t)3;
}

/* The note at *offset, which moves behind it; false at the end or where it is damaged. */
static bool next_note(const struct bytes *bytes, uint64_t *offset, struct note *ret)
{
	if (!bytes_has(bytes, *offset, NOTE_HEADER_SIZE))
		return false;
	const uint8_t *header = bytes->data + *offset;
	ret->name_size = load_u32(header, bytes->big_endian);
	ret->size = load_u32(header + 4, bytes->big_endian);
	ret->type = load_u32(header + 8, bytes->big_endian);
	uint64_t name = *offset + NOTE_HEADER_SIZE;
	uint64_t data = name + padded(ret->name_size);
	if (!bytes_has(bytes, name, ret->name_size) || !bytes_has(bytes, data, ret->size))
		return false;
	ret->name = (const char *)bytes->data + name;
	ret->data = bytes->data + data;
	*offset = data + padded(ret->size);
	return true;
}

/* Some writers count the NUL in the name's size, some do not. */
static bool is_named(const struct note *note, const char *name)
{
	size_t length = strlen(name);
	return (note->name_size == length || note->name_size == length + 1) &&
	       !memcmp(note->name, name, note->name_size);
}

static bool add_cpu_note(struct notes *notes, const struct note *note, enum cpu_note_kind kind)
{
	if (notes->cpu_count == CPU_NOTES_MAX)
		return true;
	if (!array_reserve(&notes->cpus, &notes->cpu_capacity, notes->cpu_count + 1))
		return false;
	uint32_t order = 0;
	for (size_t i = notes->cpu_count; i && !order; i--)
		if (notes->cpus[i - 1].kind == kind)
			order = notes->cpus[i - 1].order + 1;
	notes->cpus[notes->cpu_count++] = (struct cpu_note){ kind, order, note->data, note->size };
	return true;
}

static bool add_note(struct notes *notes, const struct note *note)
{
	if (is_named(note, "CORE") && note->type == NT_PRSTATUS)
		return add_cpu_note(notes, note, CPU_NOTE_PRSTATUS);
	if (is_named(note, "QEMU") && note->type == 0)
		return add_cpu_note(notes, note, CPU_NOTE_QEMU);
	if (is_named(note, "CORE") && note->type == NT_PRPSINFO)
		notes->has_process_info = true;
	/* The capture kernel's /proc/vmcore can carry one of its own behind the first kernel's. */
	if (is_named(note, "VMCOREINFO") && !notes->vmcoreinfo) {
		notes->vmcoreinfo = note->data;
		notes->vmcoreinfo_size = note->size;
	}
	return true;
}

struct error *notes_parse(struct notes *notes, const struct bytes *bytes)
{
	struct note note;
	uint64_t offset = 0;
	while (next_note(bytes, &offset, &note))
		if (!add_note(notes, &note))
			return error_no_memory();
	return NULL;
}

void notes_deinit(struct notes *notes)
{
	free(notes->cpus);
	*notes = (struct notes){ 0 };
}
