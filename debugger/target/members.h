/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where members of the kernel's own types lie, remembered: a walk asks for the same few of every
 * task, and `struct task_struct` has hundreds of names to compare.
 */
#ifndef DEBUGGER_TARGET_MEMBERS_H
#define DEBUGGER_TARGET_MEMBERS_H

#include "btf/btf.h"

struct members;

struct member {
	struct type_place place;
	struct type pointed; /* what a pointer points at; btf NULL: it is none */
	uint8_t size;	     /* bytes, up to 8, and no bit-field; 0: something else */
	bool is_signed;
};

struct error *members_create(struct members **ret) MUST_CHECK;
/* NULL is allowed. */
void members_destroy(struct members *members);
/*
 * As type_find_path(). Threads may ask. `type.btf` must live as long as `members`, which may be
 * NULL: then nothing is remembered.
 */
struct error *members_find(struct members *members, struct type type, const char *path,
			   struct member *ret) MUST_CHECK;
/* True if there is one. */
bool members_has(struct members *members, struct type type, const char *path);

#endif
