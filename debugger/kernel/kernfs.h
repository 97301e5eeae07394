/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef DEBUGGER_KERNEL_KERNFS_H
#define DEBUGGER_KERNEL_KERNFS_H

#include "debugger/target/object.h"

/*
 * The path of a struct kernfs_node below its root, "/devices/pci0000:00/uevent" (kernel
 * include/linux/kernfs.h): of a directory or a file. Raw bytes of the dump. Errors: a member or a
 * page is missing, or the path does not fit.
 */
struct error *kernfs_path(const struct object *node, char *buffer, size_t size) MUST_CHECK;

#endif
