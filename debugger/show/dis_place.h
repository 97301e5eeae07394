/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the operand of `dis` means. */
#ifndef DEBUGGER_SHOW_DIS_PLACE_H
#define DEBUGGER_SHOW_DIS_PLACE_H

#include "debugger/session.h"

struct dis_place {
	uint64_t address;
	bool is_name;	 /* a function was named, not a place in it */
	bool has_symbol; /* of the function around it */
	struct symbol symbol;
	uint64_t offset; /* in it */
};

/*
 * A function's name, also one of the kernel's own making ("foo.isra.0") or of a BPF program;
 * name+0x10; any address. ERROR_USAGE: several functions have the name.
 */
struct error *dis_place_find(struct session *session, const char *text,
			     struct dis_place *ret) MUST_CHECK;
/* The same, for an address. */
void dis_place_at(struct target *target, uint64_t address, struct dis_place *ret);

#endif
