/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What differs between two BTFs. */
#ifndef DEBUGGER_SHOW_BTF_DIFF_H
#define DEBUGGER_SHOW_BTF_DIFF_H

#include "debugger/session.h"

/*
 * A table of the named types, functions and variables that differ. `a`, `b`: "vmlinux", a module,
 * the path of a file with BTF, or of another dump.
 */
struct error *btf_diff_write(struct session *session, const char *a, const char *b) MUST_CHECK;

#endif
