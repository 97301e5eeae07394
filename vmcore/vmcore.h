/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The dump file: physical memory, notes, VMCOREINFO, whatever the format. ELF and kdump-compressed
 * files, whole, cut, split or flattened, are read here (elf_core.h and diskdump.h say why);
 * everything else by libkdumpfile. Images of memory (LiME, raw) have neither notes nor a header of
 * their machine: what they are of is found in the memory.
 */
#ifndef VMCORE_VMCORE_H
#define VMCORE_VMCORE_H

#include "base/memory.h"
#include "vmcore/vmcoreinfo.h"

struct helper_link;
struct progress;
struct vmcore;

struct vmcore_options {
	const char *vmcoreinfo_path; /* --vmcoreinfo FILE: used instead of the dump's; NULL */
	struct helper_link *helper;  /* opens the files where this process may not; NULL */
	struct progress *progress;   /* of what takes long while it is opened; NULL */
	bool raw; /* the file is memory and nothing else, whatever it begins with */
};

struct vmcore_facts {
	char format[64];  /* "ELF", "kdump-compressed (lzo)", "flattened kdump-compressed (zlib)",
			     ... */
	char machine[16]; /* "x86_64", "aarch64", "s390x", ...; "" when nothing says */
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
	bool is_raw;	    /* memory and nothing else, whether or not the user said so */
	bool is_live;	    /* no dump: the running kernel, which changes while it is read */
	bool is_capture; /* /proc/vmcore: we run in the capture kernel, which has little memory */
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
/* The same for one thread's large reads, beside those of others where the format allows it. */
struct error *vmcore_reader_create(struct vmcore *vmcore, struct memory **ret) MUST_CHECK;
void vmcore_reader_destroy(struct memory *reader);
/* The first run of bytes in the dump at or above `physical`; false: none, or not known. */
bool vmcore_next_run(const struct vmcore *vmcore, uint64_t physical, uint64_t *ret_start,
		     uint64_t *ret_size);
/*
 * Kernel virtual memory of a live machine by the machine's own page tables: ERROR_NOT_FOUND where
 * it has none to offer. *ret_sure false: zeros may stand for a hole. `*ret_size`: of `size` bytes,
 * how many were read.
 */
struct error *vmcore_read_live(struct vmcore *vmcore, uint64_t address, void *buffer, size_t size,
			       size_t *ret_size, bool *ret_sure) MUST_CHECK;
/* Between two questions to a live machine: memory may have been plugged in or out. */
void vmcore_refresh(struct vmcore *vmcore);
const struct vmcore_facts *vmcore_facts(const struct vmcore *vmcore);
/* NULL when the dump has none. */
const struct vmcoreinfo *vmcore_vmcoreinfo(const struct vmcore *vmcore);
size_t vmcore_cpu_note_count(const struct vmcore *vmcore);
const struct cpu_note *vmcore_cpu_note(const struct vmcore *vmcore, size_t index);
/* What the dump itself has, whatever the user gave: its note, else what is found in its memory.
 * Caller frees *ret. */
struct error *vmcore_own_vmcoreinfo(struct vmcore *vmcore, struct vmcoreinfo **ret) MUST_CHECK;
/* For a dump without a note: finds VMCOREINFO in its memory, which is then as if it were the
 * note's.
 */
struct error *vmcore_search_vmcoreinfo(struct vmcore *vmcore) MUST_CHECK;

#endif
