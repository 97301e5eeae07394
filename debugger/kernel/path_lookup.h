/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From a path to a file, through the names that the kernel has in memory (kernel fs/namei.c). */
#ifndef DEBUGGER_KERNEL_PATH_LOOKUP_H
#define DEBUGGER_KERNEL_PATH_LOOKUP_H

#include "debugger/target/object.h"

/*
 * The struct inode of a path as the first process sees it, or of "/proc/PID/exe" and
 * "/proc/PID/fd/N", which need not have a name any more. Symbolic links are not followed.
 * ERROR_NOT_FOUND: the kernel has no such name in memory: that does not mean that there is no such
 * file.
 */
struct error *path_lookup(struct target *target, const char *path, struct object *ret) MUST_CHECK;

#endif
