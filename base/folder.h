/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The files in a folder and in those below it. */
#ifndef BASE_FOLDER_H
#define BASE_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

#define FOLDER_ENTRIES_MAX 200000 /* that are looked at */

/*
 * Appends to an open file the paths, relative to the folder, of all files in and below it: a NUL
 * behind each, in the order of names. Left out are hidden ones, and folders that links lead to. An
 * empty path at the end: there are more entries than FOLDER_ENTRIES_MAX. False, with errno: the
 * folder cannot be read, or the file not be written.
 */
bool folder_list(const char *folder, int file);
/*
 * The file that a path leads to, without links, if that lies in or below one of the folders; owned.
 * NULL, with errno: EACCES where it leads elsewhere.
 */
char *folder_resolve(const char *const *folders, size_t count, const char *path);

#endif
