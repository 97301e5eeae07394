/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files of BTF that a line asks for: `btf --export` and `export btf` are two words for one thing.
 */
#ifndef DEBUGGER_COMMAND_BTF_OUTPUT_H
#define DEBUGGER_COMMAND_BTF_OUTPUT_H

#include "debugger/session.h"

/* Writes the BTF that is called `name`, "vmlinux" or a module, as it is, and an object about it. */
struct error *btf_output(struct session *session, const char *name, const char *path) MUST_CHECK;
/* A level on it: a variable for each global whose type is known beyond BTF. */
struct error *btf_output_variables(struct session *session, const char *name,
				   const char *path) MUST_CHECK;

#endif
