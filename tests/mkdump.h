/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Small dumps from readable text, for tests. One statement a line; '#' starts a comment; numbers as
 * in C; words are separated by blanks.
 *
 * What file:
 *	format elf | kdump		first of all
 *	bits 64 | 32			64
 *	endian little | big		little
 *	machine NAME			x86_64; ELF: x86_64, aarch64, s390x, i386 or a number
 *	page-size BYTES			4096
 *	header-version N		kdump: 6
 *	dump-level N			kdump: 31
 *	layout qemu			ELF: section headers first, data unaligned
 *	xnum				ELF: number of segments in a section header (PN_XNUM)
 *	split FIRST END			kdump: a file with page numbers [FIRST, END) only
 *	one-bitmap			kdump: without the bitmap of dumped pages
 *	flattened RECORD-BYTES [reverse | rewrite | gap | endless]
 *			a makedumpfile -F stream; records back to front; every record written twice,
 *			first with rubbish; without the zeros between headers; without the end mark
 *
 * What is in it, in any number:
 *	compress none | zlib | lzo | snappy | zstd
 *			kdump: of the memory that follows. Without libsnappy or libzstd only
 *			their flag is set.
 *	memory START SIZE CONTENT	physical memory; one PT_LOAD each
 *		fill BYTE		all the same
 *		pattern			mkdump_pattern() of each address
 *		text WORDS...		this text, then zeros
 *		excluded		RAM without bytes: a hole at the end of the PT_LOAD before
 *	note NAME TYPE SIZE BYTE	an ELF note, its descriptor filled with BYTE
 *	vmcoreinfo LINE			one line of the VMCOREINFO note
 *	vmcoreinfo-at START LINE...	a VMCOREINFO note in memory, lines separated by ';'
 *
 * What is wrong with it:
 *	set FIELD VALUE			instead of the right value: e_phnum, p_offset[0],
 *					block_size, pd[2].size, ... (the names of <elf.h> and
 *					makedumpfile's diskdump_mod.h)
 *	poke OFFSET BYTE...		bytes of the finished file
 *	truncate BYTES			cuts the finished file
 *	truncate-percent N
 */
#ifndef TESTS_MKDUMP_H
#define TESTS_MKDUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The byte of "pattern" memory at a physical address. */
static inline uint8_t mkdump_pattern(uint64_t address)
{
	return (uint8_t)(address * 7 + (address >> 12) * 13 + (address >> 20));
}

/* Makes the file's bytes; false with a message about a line of the text. Caller frees *ret. */
bool mkdump_make(const char *text, uint8_t **ret, size_t *ret_size, char *message,
		 size_t message_size);

#endif
