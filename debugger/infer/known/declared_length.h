/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Arrays that the kernel's sources declare with an enumerator as their length, or fill up to the
 * last one: BTF has its value in this very kernel, where other kernels' lengths are others.
 */
#ifndef DEBUGGER_INFER_KNOWN_DECLARED_LENGTH_H
#define DEBUGGER_INFER_KNOWN_DECLARED_LENGTH_H

#include "btf/btf.h"

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

#endif
