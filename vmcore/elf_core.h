/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ELF dumps: /proc/vmcore and its copies, QEMU's dump-guest-memory, makedumpfile -E.
 *
 * They are read without libkdumpfile: 0.5.1 gives zeros for what a cut file lacks (or dies of
 * SIGBUS on its mmap), searches thousands of PT_LOADs one by one, trips over overlapping ones, and
 * copies page by page where one pread() brings megabytes.
 */
#ifndef VMCORE_ELF_CORE_H
#define VMCORE_ELF_CORE_H

#include "vmcore/file.h"
#include "vmcore/notes.h"

/* Physical memory that the file describes. */
struct elf_run {
	uint64_t physical, size; /* bytes */
	uint64_t offset;	 /* in the file */
};

struct elf_runs {
	struct elf_run *items; /* by address, disjoint */
	size_t count, capacity;
};

struct elf_core {
	const struct dump_file *file;
	uint8_t word_size;
	bool big_endian;
	uint16_t machine;     /* EM_* */
	struct elf_runs data; /* what the file holds */
	struct elf_runs cut;  /* what it would hold if it were whole; parts may be in `data`, too */
	/*
	 * What the machine has: p_memsz. Only makedumpfile -E writes p_filesz < p_memsz into a
	 * dump of Linux: it leaves out runs of 256 and more filtered pages that way (shorter ones
	 * it writes as zeros). So the difference counts as excluded; it may also have been zeros
	 * that -d 1 dropped, the file does not tell.
	 */
	struct elf_runs memory;
	/*
	 * /proc/kcore only: where the running kernel's memory is in the file, by virtual address
	 * (in `physical`), and what of that is the direct map of RAM, where there are no holes.
	 */
	bool is_live;
	struct elf_runs addresses, direct_map;
	uint32_t segment_count;
	uint64_t promised_size; /* bytes the file would have if it were whole */
	uint8_t *note_bytes;
	struct notes notes;
	struct dump_map *lent; /* stay until the end */
	size_t lent_count, lent_capacity;
};

/* Borrows `file`. Errors: not a kernel's core, headers cut off. */
struct error *elf_core_open(const struct dump_file *file, struct elf_core **ret) MUST_CHECK;
/* The same reads for memory that lies in pieces in a file of another format: no notes. Copies. */
struct error *elf_core_of_runs(const struct dump_file *file, const struct elf_runs *runs,
			       struct elf_core **ret) MUST_CHECK;
/* False: no memory. Empty and overflowing runs are passed over. */
bool elf_runs_add(struct elf_runs *runs, uint64_t physical, uint64_t size,
		  uint64_t offset) MUST_CHECK;
void elf_core_close(struct elf_core *core);
/* ERROR_FAULT, ERROR_EXCLUDED, ERROR_TRUNCATED with the first bad physical address. */
struct error *elf_core_read(const struct elf_core *core, uint64_t physical, void *buffer,
			    size_t size) MUST_CHECK;
/*
 * The same bytes where they lie, until the core is closed; NULL: they have to be read, as in all
 * files but /proc/vmcore itself.
 */
const void *elf_core_lend(struct elf_core *core, uint64_t physical, size_t size);
/* The first run that the file holds at or above `physical`; false: none. */
bool elf_core_next(const struct elf_core *core, uint64_t physical, uint64_t *ret_start,
		   uint64_t *ret_size);
/*
 * Live memory at a virtual address: where in the file it is. False: the file does not have it.
 * *ret_size: at most `size`. *ret_sure: bytes are there; else zeros may stand for a hole.
 */
bool elf_core_find_virtual(const struct elf_core *core, uint64_t address, size_t size,
			   uint64_t *ret_offset, size_t *ret_size, bool *ret_sure);
/* Takes in what a live machine has become: memory that was plugged in or out. */
struct error *elf_core_refresh(struct elf_core *core) MUST_CHECK;

#endif
