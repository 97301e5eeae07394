/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Memory that a tool inside the machine saved: LiME's files, where a header of 32 bytes is before
 * the bytes of each range (github.com/504ensicsLabs/LiME, doc/README.md), and AVML's without
 * compression, which are the same.
 */
#ifndef VMCORE_LIME_H
#define VMCORE_LIME_H

#include "vmcore/elf_core.h"
#include "vmcore/window.h"

#define LIME_MAGIC	 "EMiL"
#define AVML_MAGIC	 "AVML"
#define LIME_HEADER_SIZE 32

struct lime_header {
	uint64_t start, size; /* physical, bytes */
};

/* The header at `offset`, which has to have this magic and version. */
struct error *lime_header_read(struct file_window *window, uint64_t offset, const char *magic,
			       uint32_t version, struct lime_header *ret) MUST_CHECK;
/* Borrows `file`. A file that is cut off has `promised_size` beyond its end. */
struct error *lime_open(const struct dump_file *file, struct elf_core **ret) MUST_CHECK;

#endif
