/* SPDX-License-Identifier: GPL-3.0-or-later */
/* BTF made by libbpf, which is also the oracle. */
#ifndef TESTS_UNIT_BTF_SAMPLES_H
#define TESTS_UNIT_BTF_SAMPLES_H

#include "btf/btf.h"
#include "tests/unit/libbpf.h"
#include "tests/unit/test.h"

/* Id of a type in a sample, by kind and name. */
static inline uint32_t id_of(const struct btf *btf, enum btf_kind kind, const char *name)
{
	uint64_t cursor = 0;
	uint32_t id = btf_find(btf, kind, name, &cursor);
	if (!id) {
		printf("no %s %s\n", btf_kind_name(kind), name);
		test_bad = 1;
	}
	return id;
}

static inline struct type named(const struct btf *btf, enum btf_kind kind, const char *name)
{
	return (struct type){ btf, id_of(btf, kind, name) };
}

/* The words of a record that libbpf's functions do not let one set. */
static inline uint32_t *sample_words(struct libbpf_btf *sample, int id)
{
	return (uint32_t *)btf__type_by_id(sample, (uint32_t)id);
}

static inline void sample_set_flag(struct libbpf_btf *sample, int id)
{
	sample_words(sample, id)[1] |= 1u << 31;
}

static inline void sample_add_enums(struct libbpf_btf *sample)
{
	btf__add_enum(sample, "color", 4);
	btf__add_enum_value(sample, "RED", 0);
	btf__add_enum_value(sample, "BLUE", 4000000000ll);
	btf__add_enum(sample, "sign", 4);
	btf__add_enum_value(sample, "MINUS", -1);
	btf__add_enum64(sample, "wide", 8, true);
	btf__add_enum64_value(sample, "WIDE_MINUS", (uint64_t)-5);
	btf__add_enum64(sample, "wideu", 8, false);
	btf__add_enum64_value(sample, "WIDE_ALL", UINT64_MAX);
	btf__add_enum(sample, NULL, 4);
	btf__add_enum_value(sample, "LONE", 7);
}

/* Ids below: libbpf counts from 1 in the order of the calls. */
static inline void sample_add_structs(struct libbpf_btf *sample, int int_id, int long_id)
{
	/* struct node { struct node *next; int a : 3, b : 5; union { int x; char y[8]; }; } */
	int array = btf__add_array(sample, long_id, 3, 8);
	int either = btf__add_union(sample, NULL, 8);
	btf__add_field(sample, "x", int_id, 0, 0);
	btf__add_field(sample, "y", array, 0, 0);
	int node = btf__add_struct(sample, "node", 24);
	btf__add_field(sample, "next", node + 1, 0, 0);
	btf__add_field(sample, "a", int_id, 64, 3);
	btf__add_field(sample, "b", int_id, 67, 5);
	btf__add_field(sample, NULL, either, 128, 0);
	btf__add_ptr(sample, node);
	/* struct table { struct node nodes[4]; long grid[2][3]; node_t flexible[]; } */
	int nodes = btf__add_array(sample, long_id, node, 4);
	int row = btf__add_array(sample, long_id, long_id, 3);
	int grid = btf__add_array(sample, long_id, row, 2);
	int alias = btf__add_typedef(sample, "node_t", node);
	int flexible = btf__add_array(sample, long_id, alias, 0);
	btf__add_struct(sample, "table", 144);
	btf__add_field(sample, "nodes", nodes, 0, 0);
	btf__add_field(sample, "grid", grid, 768, 0);
	btf__add_field(sample, "flexible", flexible, 1152, 0);
	/* A bit-field of before Linux 5.0: a narrow integer, shifted by its own offset. */
	int narrow = btf__add_int(sample, "narrow", 4, 0);
	sample_words(sample, narrow)[3] = 2 << 16 | 4;
	btf__add_struct(sample, "old", 16);
	btf__add_field(sample, "plain", int_id, 0, 0);
	btf__add_field(sample, "field", narrow, 32, 0);
}

static inline void sample_add_functions(struct libbpf_btf *sample, int int_id, int void_pointer)
{
	int proto = btf__add_func_proto(sample, int_id);
	btf__add_func_param(sample, "first", void_pointer);
	btf__add_func_param(sample, NULL, int_id);
	btf__add_func_param(sample, NULL, 0);
	int empty = btf__add_func_proto(sample, 0);
	int function = btf__add_func(sample, "work", BTF_FUNC_STATIC, proto);
	btf__add_func(sample, "rest", BTF_FUNC_GLOBAL, empty);
	btf__add_func(sample, "outside", BTF_FUNC_EXTERN, empty);
	int callback = btf__add_ptr(sample, proto);
	btf__add_typedef(sample, "callback_t", callback);
	/* The section first: its variables may come later. */
	int section = btf__add_datasec(sample, ".data..percpu", 16);
	btf__add_datasec_var_info(sample, section + 1, 0, 4);
	btf__add_datasec_var_info(sample, section + 2, 8, 8);
	btf__add_var(sample, "counter", BTF_VAR_STATIC, int_id);
	btf__add_var(sample, "hook", BTF_VAR_GLOBAL_ALLOCATED, callback);
	btf__add_decl_tag(sample, "kfunc", function, -1);
	btf__add_decl_tag(sample, "kfunc", function, 1);
}

/* One of every kind. Caller frees with btf__free(). */
static inline struct libbpf_btf *sample_create(void)
{
	struct libbpf_btf *sample = btf__new_empty();
	int int_id = btf__add_int(sample, "int", 4, BTF_INT_SIGNED);
	int long_id = btf__add_int(sample, "long unsigned int", 8, 0);
	int char_id = btf__add_int(sample, "char", 1, BTF_INT_CHAR);
	btf__add_int(sample, "_Bool", 1, BTF_INT_BOOL);
	btf__add_int(sample, "__int128", 16, BTF_INT_SIGNED);
	int void_pointer = btf__add_ptr(sample, 0);
	btf__add_float(sample, "float", 4);
	sample_add_enums(sample);
	btf__add_fwd(sample, "absent", BTF_FWD_STRUCT);
	btf__add_fwd(sample, "absentu", BTF_FWD_UNION);
	sample_add_structs(sample, int_id, long_id);
	sample_add_functions(sample, int_id, void_pointer);
	int constant = btf__add_const(sample, char_id);
	btf__add_volatile(sample, constant);
	int string = btf__add_ptr(sample, constant);
	int tag = btf__add_type_tag(sample, "user", char_id);
	sample_set_flag(sample, tag);
	btf__add_ptr(sample, tag);
	btf__add_restrict(sample, string);
	btf__add_typedef(sample, "string_t", string);
	return sample;
}

/* A copy of the bytes; caller frees. */
static inline uint8_t *sample_bytes(struct libbpf_btf *sample, bool big_endian, size_t *ret_size)
{
	uint32_t size;
	btf__set_endianness(sample, big_endian ? BTF_BIG_ENDIAN : BTF_LITTLE_ENDIAN);
	const void *data = btf__raw_data(sample, &size);
	uint8_t *copy = malloc(size);
	memcpy(copy, data, size);
	*ret_size = size;
	return copy;
}

#endif
