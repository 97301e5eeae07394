/* SPDX-License-Identifier: GPL-3.0-or-later */
/* libkdumpfile, with its answers in our words. */
#ifndef VMCORE_LIBRARY_H
#define VMCORE_LIBRARY_H

#include "vmcore/file.h"
#include "vmcore/notes.h"

struct library;

/*
 * Opens the files, whose descriptors are borrowed. The library reads no file through mmap() while
 * it opens: a file cut short would kill the program.
 */
struct error *library_open(const struct dump_file *files, size_t count,
			   struct library **ret) MUST_CHECK;
void library_close(struct library *library);
/*
 * Reads physical memory. Errors carry the first bad address: ERROR_EXCLUDED (the library cannot
 * tell it from a hole), ERROR_UNSUPPORTED, ERROR_FORMAT.
 */
struct error *library_read(struct library *library, uint64_t physical, void *buffer,
			   size_t size) MUST_CHECK;
/* Is there RAM at this address? True when the library does not know. */
bool library_is_ram(struct library *library, uint64_t physical);
/* An attribute by name, NULL or 0 when it is not set; strings are borrowed until the next call. */
const char *library_string(struct library *library, const char *key);
uint64_t library_number(struct library *library, const char *key);
/* PRSTATUS notes and VMCOREINFO, borrowed from the library. */
struct error *library_notes(struct library *library, struct notes *notes) MUST_CHECK;

#endif
