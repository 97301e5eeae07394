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

#include "debugger/command/arguments.h"

/* A word of the command where each item stands: "$_", "$_+8". */
struct piped_place {
	const char **word; /* in the call's options or operands */
	const char *form;  /* as it was written */
	char *filled;	   /* with the item that was put there last, NULL */
};

/* A command behind a pipe: its text is read once, for all items. */
struct piped {
	struct call call;
	char *text;    /* that the call was parsed from: with "$_" where the item stands */
	bool is_table; /* a `print` that makes a table of members: no item stands in its text */
	struct piped_place *places;
	size_t place_count, place_capacity;
};

/* Errors: ERROR_USAGE, also where the command takes no address. piped_deinit() in any case. */
struct error *piped_parse(const char *text, struct piped *ret) MUST_CHECK;
/*
 * Puts an item's address into piped->call, where it stays until the next is put. Expressions have
 * the item as a variable instead (`$_`), which is not set here.
 */
struct error *piped_put(struct piped *piped, uint64_t address) MUST_CHECK;
void piped_deinit(struct piped *piped);
/* Whether it is a `print` that makes a table of members. */
bool pipe_is_table(const char *text);
/* Runs one command for all items; writes one array to session->out. */
struct error *pipe_run(struct session *session, const char *text, const struct out_item *items,
		       size_t count) MUST_CHECK;

#endif
