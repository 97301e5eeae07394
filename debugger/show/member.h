/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Chosen members of objects, for print, list and tree. */
#ifndef DEBUGGER_SHOW_MEMBER_H
#define DEBUGGER_SHOW_MEMBER_H

#include "debugger/eval/selection.h"
#include "debugger/session.h"

/*
 * Writes the chosen member of `base` as the field `key`. What is not in the dump is shown in
 * its place, behind a NULL pointer as <null>. `is_cell`: in a table, where a struct or an array is
 * one text. Errors: there is no such member; Ctrl-C.
 */
struct error *member_show(struct session *session, const struct value *base,
			  struct selection *selection, size_t index, const char *key,
			  const struct render_options *options, bool is_cell) MUST_CHECK;

#endif
