// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What the static program of a capture kernel does without. Linked before the archive and the C
 * library, these are what the linker takes.
 */
#include "vmcore/library.h"
#include <pwd.h>

/* --- libkdumpfile: has no static library, and /proc/vmcore is ELF -------------- */

struct error *library_open(const struct dump_file *files, size_t count, struct library **ret)
{
	(void)count;
	(void)ret;
	return error_create(ERROR_UNSUPPORTED,
			    "%s: neither ELF nor kdump-compressed, and the static program has no "
			    "libkdumpfile for the rest",
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

/* --- shared objects (libsnappy, libzstd): another C library would come with them - */

void *__wrap_dlopen(const char *file, int mode);

/* The linker's --wrap=dlopen makes this of it. */
void *__wrap_dlopen(const char *file, int mode)
{
	(void)file;
	(void)mode;
	return NULL;
}

/* --- users: readline asks for ~NAME, which loads shared objects ----------------- */

struct passwd *getpwnam(const char *name)
{
	(void)name;
	return NULL;
}

struct passwd *getpwuid(uid_t uid)
{
	(void)uid;
	return NULL;
}

struct passwd *getpwent(void)
{
	return NULL;
}

void setpwent(void)
{
}

void endpwent(void)
{
}
