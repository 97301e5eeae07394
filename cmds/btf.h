/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What `btf` does with one or two BTFs. */
#ifndef CMDS_BTF_H
#define CMDS_BTF_H

#include "base/error.h"
#include "debugger/session.h"

/* Which named types, functions and variables differ: a table. `a`, `b`: names or paths. */
struct error *btf_diff(struct session *session, const char *a, const char *b) MUST_CHECK;
/* Writes the BTF called `name` as it is. */
struct error *btf_export(struct session *session, const char *name, const char *path) MUST_CHECK;
/* Writes a level on it: a variable for each global whose type is known beyond BTF. */
struct error *btf_export_variables(struct session *session, const char *name,
				   const char *path) MUST_CHECK;

#endif
