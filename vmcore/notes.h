/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ELF notes of a dump: { u32 name size, u32 descriptor size, u32 type, name, descriptor }, name and
 * descriptor padded to 4 bytes (include/uapi/linux/elf.h; kernel/crash_core.c writes them).
 */
#ifndef VMCORE_NOTES_H
#define VMCORE_NOTES_H

#include "base/bytes.h"
#include "base/error.h"
#include "vmcore/vmcore.h"

#define NOTES_SIZE_LIMIT (64u << 20) /* bytes; 8192 CPUs need 8 MiB */

struct notes {
	struct cpu_note *cpus; /* borrow the bytes that were parsed */
	size_t cpu_count, cpu_capacity;
	const uint8_t *vmcoreinfo; /* the text, NULL: none */
	size_t vmcoreinfo_size;
	bool has_process_info; /* NT_PRPSINFO: a user process' core */
};

/* Adds the notes in `bytes`, which must outlive `notes`. Stops quietly at the first damaged one. */
struct error *notes_parse(struct notes *notes, const struct bytes *bytes) MUST_CHECK;
void notes_deinit(struct notes *notes);

#endif
