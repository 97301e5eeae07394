/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What lies at an offset of a type, as C says it: "tasks.next", "mem[1].base". */
#ifndef BTF_MEMBER_PATH_H
#define BTF_MEMBER_PATH_H

#include "btf/btf.h"

#define MEMBER_PATH_SIZE 384

struct member_place {
	char path[MEMBER_PATH_SIZE]; /* "": the type itself; else begins with a name or with "[" */
	struct type type;	     /* of the innermost member */
	uint64_t start;		     /* of that, bytes from the start of the outermost */
	bool in_union;		     /* one of several that lie there */
	bool is_padding;	     /* of the innermost: no member covers the byte */
};

/*
 * The innermost member around an offset. At offset 0 of structs this is their first scalar. Of a
 * union the first member that covers it; cut off where it gets too long.
 */
void member_path_at(struct type type, uint64_t offset, struct member_place *ret);
/*
 * The same, but of nested structs that begin at the offset the outermost: the lock, and not the
 * integer within. Where the offset is 0, that is a member, not the type itself.
 */
void member_path_whole_at(struct type type, uint64_t offset, struct member_place *ret);
/*
 * The member of a `wanted` at exactly this offset, however deep, in any arm of a union and any
 * element of an array; false: none.
 */
bool member_is_at(struct type type, uint64_t offset, struct type wanted);
/*
 * The least size an object of the type can have: some structs end in a buffer that is allocated
 * only as far as the machine needs it (task_struct in its FPU state).
 */
uint64_t member_least_size(struct type type);
/* Does it end in an array without a length, so that objects are larger than the type? */
bool member_is_open_ended(struct type type);

#endif
