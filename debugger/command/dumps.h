/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which files the DUMPs of the command line are, before any of them is opened as a dump. */
#ifndef DEBUGGER_COMMAND_DUMPS_H
#define DEBUGGER_COMMAND_DUMPS_H

#include <stdbool.h>
#include <stddef.h>

struct dumps {
	const char **paths; /* borrowed, or of the next one */
	size_t count;
	const char *chosen; /* by dumps_choose(): it is not to be moved after that */
};

/* crash is called with a vmlinux and a vmcore, in any order. Only a file that is an ELF program,
 * which no dump is, is left aside, and only beside another one; said on standard error unless
 * `quiet`. */
void dumps_leave_vmlinux_aside(struct dumps *dumps, bool quiet);
/* Where none is given: the running kernel, or that which crashed before this one. */
void dumps_choose(struct dumps *dumps, bool live);
/* There is a kernel that crashed before this one. */
bool dumps_has_default(void);
/* As target_is_live() will have it, before anything of the kernel's was read. */
bool dumps_are_live(const struct dumps *dumps);

#endif
