/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an open dump is made of. Private to vmcore.c and kinds.c. */
#ifndef VMCORE_VMCORE_PRIVATE_H
#define VMCORE_VMCORE_PRIVATE_H

#include "vmcore/avml.h"
#include "vmcore/diskdump.h"
#include "vmcore/elf_core.h"
#include "vmcore/file.h"
#include "vmcore/library.h"
#include "vmcore/vmcore.h"

struct vmcore {
	struct dump_file *files;
	size_t file_count;
	struct elf_core *core;
	struct diskdump *dump;
	struct avml *avml;
	struct library *library;
	struct notes library_notes;
	const struct notes *notes; /* of one of the above */
	struct vmcoreinfo *info;   /* NULL: none */
	struct memory *physical;
	uint8_t word_size;
	bool is_image; /* of memory: no notes */
	struct vmcore_facts facts;
};

/* Adds to what facts->warning says, and calls the dump incomplete. */
void vmcore_add_warning(struct vmcore_facts *facts, const char *format, ...) PRINTF_LIKE(2, 3);
/* Fills what the files' kind says; vmcore->files are open. */
struct error *vmcore_open_by_kind(struct vmcore *vmcore,
				  const struct vmcore_options *options) MUST_CHECK;

#endif
