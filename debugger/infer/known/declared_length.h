/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Arrays that the kernel's sources declare with an enumerator as their length, or fill up to the
 * last one: BTF has its value in this very kernel, where other kernels' lengths are others.
 */
#ifndef DEBUGGER_INFER_KNOWN_DECLARED_LENGTH_H
#define DEBUGGER_INFER_KNOWN_DECLARED_LENGTH_H

#include "btf/btf.h"
#include "symbols/symtab.h"

struct declared_length {
	const char *enumerator; /* static */
	uint32_t more;		/* elements than its value */
};

/*
 * The elements of the kernel's (no module's) variable; 0: it is none of these, or BTF does not have
 * the enumerator. *ret_why (`ret_why` may be NULL): where they come from.
 */
uint32_t declared_length(const struct btf *btf, const char *variable,
			 struct declared_length *ret_why);
/*
 * An array that was taken to be as long as there is room for gets that length, if it ends where the
 * room does, but for what aligns the next symbol. Others stay as they are.
 */
struct error *declared_length_shorten(const struct btf *btf, const struct symbol *symbol,
				      struct type *type) MUST_CHECK;
/* Whether `used` bytes are all that was laid there: what is left aligns the next symbol. */
bool room_is_taken(uint64_t address, uint64_t room, uint64_t used);

#endif
