// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What the static program of a capture kernel does without. Linked before the archive and the C
 * library, these are what the linker takes;
 * libkdumpfile is left out by no-libkdumpfile.c.
 */
#include <pwd.h>
#include <stddef.h>

/* --- shared objects (libdeflate, libsnappy, libzstd): another C library would come with them - */

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
