// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * In the place of vmcore/library.c: for the static program (libkdumpfile has no static library, and
 * /proc/vmcore is ELF), and for `make KDUMPFILE=no`.
 */
#include "vmcore/library.h"

struct error *library_open(const struct dump_file *files, size_t count, struct library **ret)
{
	(void)count;
	(void)ret;
	return error_create(ERROR_UNSUPPORTED,
			    "%s: neither ELF nor kdump-compressed, and this program was built "
			    "without libkdumpfile, which has the rest",
			    files[0].path);
}

void library_close(struct library *library)
{
	(void)library;
}

struct error *library_read(struct library *library, uint64_t physical, void *buffer, size_t size)
{
	(void)library;
	(void)buffer;
	(void)size;
	return error_create_at(ERROR_UNSUPPORTED, physical, "built without libkdumpfile");
}

bool library_is_ram(struct library *library, uint64_t physical)
{
	(void)library;
	(void)physical;
	return true;
}

const char *library_string(struct library *library, const char *key)
{
	(void)library;
	(void)key;
	return NULL;
}

uint64_t library_number(struct library *library, const char *key)
{
	(void)library;
	(void)key;
	return 0;
}

struct error *library_notes(struct library *library, struct notes *notes)
{
	(void)library;
	(void)notes;
	return NULL;
}
