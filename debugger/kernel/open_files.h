/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The files that a task has open (kernel include/linux/fdtable.h). */
#ifndef DEBUGGER_KERNEL_OPEN_FILES_H
#define DEBUGGER_KERNEL_OPEN_FILES_H

#include "debugger/target/object.h"

struct open_file {
	uint32_t fd;
	uint64_t file; /* address of its struct file */
	bool close_on_exec;
};

/*
 * Visits them in the order of their descriptors; a task that is exiting has none. The visitor
 * returns an error to end the walk.
 */
typedef struct error *open_file_visitor(void *context, const struct open_file *file);
struct error *open_files_for_each(struct target *target, uint64_t task, open_file_visitor *visit,
				  void *context) MUST_CHECK;

#endif
