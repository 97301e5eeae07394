/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Address pipes: `ps | bt`, `ps | print {comm, pid}`. The command before names objects
 * (out_item()), the one behind runs once for each.
 *
 * An expression has the object as `$_`, a pointer of the type that is known. Without `$_`, a path
 * (`comm`, `->mm.pgd`) is one of its members, no expression the object itself, and {A, B} of
 * `print` a table of members; "(struct foo)" in front says which type it has. Others get the
 * address as their last operand, or where the line has `$_`.
 */
#ifndef DEBUGGER_COMMAND_PIPE_H
#define DEBUGGER_COMMAND_PIPE_H

#include "debugger/session.h"

/* Runs one command for all items; writes one array to session->out. */
struct error *pipe_run(struct session *session, const char *text, const struct out_item *items,
		       size_t count) MUST_CHECK;
/* It is a `print` that makes a table of members. */
bool pipe_is_table(const char *text);
/* The command with the address in its place; caller frees. Errors: it takes none. */
struct error *pipe_command(const char *text, uint64_t address, char **ret) MUST_CHECK;

#endif
