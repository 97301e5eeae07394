/* SPDX-License-Identifier: GPL-3.0-or-later */
/* libbpf as a writer of BTF, its names moved out of the way of ours. */
#ifndef TESTS_UNIT_LIBBPF_H
#define TESTS_UNIT_LIBBPF_H

/* Ours, if they are there by now. */
#pragma push_macro("BTF_INT_SIGNED")
#pragma push_macro("BTF_INT_CHAR")
#pragma push_macro("BTF_INT_BOOL")
#undef BTF_INT_SIGNED
#undef BTF_INT_CHAR
#undef BTF_INT_BOOL
#define btf	   libbpf_btf
#define btf_type   libbpf_type
#define btf_member libbpf_member
#define btf_param  libbpf_param
#include <bpf/btf.h>
#include <linux/btf.h>
#undef btf
#undef btf_type
#undef btf_member
#undef btf_param
#pragma pop_macro("BTF_INT_SIGNED")
#pragma pop_macro("BTF_INT_CHAR")
#pragma pop_macro("BTF_INT_BOOL")
#include <stddef.h>

/* Of the struct that was added last; `offset` in bytes. */
static inline void add_member(struct libbpf_btf *btf, const char *name, int type, size_t offset)
{
	btf__add_field(btf, name, type, offset * 8, 0);
}

/* struct list_head; the type before it is the pointer to it. */
static inline int add_list_head(struct libbpf_btf *btf)
{
	int pointer = btf__add_ptr(btf, (int)btf__type_cnt(btf) + 1);
	int list = btf__add_struct(btf, "list_head", 16);
	add_member(btf, "next", pointer, 0);
	add_member(btf, "prev", pointer, 8);
	return list;
}

#endif
