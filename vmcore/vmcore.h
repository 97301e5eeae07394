/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The dump file: physical memory, notes, VMCOREINFO, whatever the format. ELF and kdump-compressed
 * files, whole, cut, split or flattened, are read here (elf_core.h and diskdump.h say why);
 * everything else by libkdumpfile.
 */
#ifndef VMCORE_VMCORE_H
#define VMCORE_VMCORE_H

#include "base/memory.h"
#include "vmcore/vmcoreinfo.h"

struct vmcore;

struct vmcore_options {
	const char *vmcoreinfo_path; /* --vmcoreinfo FILE: used instead of the dump's; NULL */
};

struct vmcore_facts {
	char format[64];  /* "ELF", "kdump-compressed (lzo)", "flattened kdump-compressed (zlib)",
			     ... */
	char machine[16]; /* "x86_64", "aarch64", "s390x", ... */
	bool big_endian;
	uint32_t page_size;    /* bytes */
	int dump_level;	       /* makedumpfile's -d, -1 when the file does not say */
	uint64_t memory_size;  /* bytes of RAM the dump describes */
	uint64_t max_physical; /* one past the highest physical address */
	uint64_t file_size;    /* bytes, of all files */
	bool incomplete;    /* the maker says so, or the file is shorter than its headers promise */
	char warning[256];  /* what to tell the user when incomplete, "" otherwise */
	int64_t crash_time; /* seconds since 1970 from CRASHTIME or the header, 0 unknown */
	bool from_kexec;    /* CRASHTIME is there: a true kdump, else a hypervisor's dump */
};

enum cpu_note_kind {
	CPU_NOTE_PRSTATUS, /* Linux elf_prstatus of the machine */
	CPU_NOTE_QEMU	   /* QEMU's "QEMU" note */
};

/* Registers as the file gives them; which CPU they belong to is for debugger/target to say. */
struct cpu_note {
	enum cpu_note_kind kind;
	uint32_t order; /* among the notes of its kind, from 0 */
	const uint8_t *data;
	size_t size;
};

/*
 * Opens the files of one dump (several: a split dump). Errors are one line that says which file,
 * what and, where something can be done, what. A file cut short still opens: facts say so.
 */
struct error *vmcore_open(const char *const *paths, size_t count,
			  const struct vmcore_options *options, struct vmcore **ret) MUST_CHECK;
void vmcore_close(struct vmcore *vmcore);

/* Physical memory. Missing pages: ERROR_EXCLUDED (filtered), ERROR_TRUNCATED, ERROR_FAULT. */
struct memory *vmcore_physical(struct vmcore *vmcore);
/* The first run of bytes in the dump at or above `physical`; false: none, or not known. */
bool vmcore_next_run(const struct vmcore *vmcore, uint64_t physical, uint64_t *ret_start,
		     uint64_t *ret_size);
const struct vmcore_facts *vmcore_facts(const struct vmcore *vmcore);
/* NULL when the dump has none. */
const struct vmcoreinfo *vmcore_vmcoreinfo(const struct vmcore *vmcore);
size_t vmcore_cpu_note_count(const struct vmcore *vmcore);
const struct cpu_note *vmcore_cpu_note(const struct vmcore *vmcore, size_t index);
/* The bytes of a dump's raw vmcoreinfo may lie elsewhere; this one searches physical memory (no
 * note). */
struct error *vmcore_search_vmcoreinfo(struct vmcore *vmcore, struct vmcoreinfo **ret) MUST_CHECK;

#endif
