/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A solver of debugger/infer with hand-made types and clues. */
#ifndef TESTS_UNIT_SOLVE_BENCH_H
#define TESTS_UNIT_SOLVE_BENCH_H

#include "tests/unit/eval_fixture.h"

#include "base/array.h"
#include "debugger/infer/layout/layout.h"
#include "debugger/infer/solve/solve.h"

#define PLACE 0xffffffff82000040ull

struct types {
	int int_, uint, long_, ulong, char_, list, list_pointer, raw, spin, mutex, attribute,
		device;
	int show, show_named, other_proto, text, const_text, outer, choice, byte, loop;
	int key, key_true, base, base_pointer, disk_pointer, counted, entry_pointer;
	int words_pointer, untyped, cpumask_pointer, probe;
};

struct bench {
	struct libbpf_btf *writer;
	struct types types;
	void *data; /* a copy: more types may be written, of a module */
	struct btf *btf;
	struct layout *layout;
	struct solver solver;
	struct subject subject;
	struct clues clues;
	struct solver_input input;
};

static inline void add_scalars(struct libbpf_btf *btf, struct types *types)
{
	types->int_ = btf__add_int(btf, "int", 4, 1);
	types->uint = btf__add_int(btf, "unsigned int", 4, 0);
	types->long_ = btf__add_int(btf, "long int", 8, 1);
	types->ulong = btf__add_int(btf, "long unsigned int", 8, 0);
	types->char_ = btf__add_int(btf, "char", 1, 1);
	types->byte = btf__add_int(btf, "_Bool", 1, 4);
	types->text = btf__add_ptr(btf, types->char_);
	types->const_text = btf__add_ptr(btf, btf__add_const(btf, types->char_));
	types->list = add_list_head(btf);
	types->list_pointer = types->list - 1;
}

/* struct attribute is what struct device_attribute begins with. */
static inline void add_attributes(struct libbpf_btf *btf, struct types *types)
{
	types->attribute = btf__add_struct(btf, "attribute", 16);
	add_member(btf, "name", types->const_text, 0);
	add_member(btf, "mode", types->int_, 8);
	types->show = btf__add_func_proto(btf, types->long_);
	btf__add_func_param(btf, "attr", types->text);
	types->show_named = btf__add_func_proto(btf, types->long_);
	btf__add_func_param(btf, "another_name", types->const_text);
	types->other_proto = btf__add_func_proto(btf, types->int_);
	btf__add_func_param(btf, "attr", types->text);
	int show = btf__add_ptr(btf, types->show), other = btf__add_ptr(btf, types->other_proto);
	types->device = btf__add_struct(btf, "device_attribute", 32);
	add_member(btf, "attr", types->attribute, 0);
	add_member(btf, "show", show, 16);
	add_member(btf, "store", show, 24);
	int kobj = btf__add_struct(btf, "kobj_attribute", 32);
	add_member(btf, "attr", types->attribute, 0);
	add_member(btf, "show", other, 16);
	add_member(btf, "store", other, 24);
	(void)kobj;
}

static inline void add_compounds(struct libbpf_btf *btf, struct types *types)
{
	types->raw = btf__add_struct(btf, "raw_spinlock", 4);
	add_member(btf, "raw_lock", types->uint, 0);
	types->spin = btf__add_struct(btf, "spinlock", 4);
	add_member(btf, "rlock", types->raw, 0);
	types->mutex = btf__add_struct(btf, "mutex", 32);
	add_member(btf, "owner", types->long_, 0);
	add_member(btf, "wait_lock", types->raw, 8);
	add_member(btf, "wait_list", types->list, 16);
	types->outer = btf__add_struct(btf, "outer", 64);
	add_member(btf, "mutex", types->mutex, 0);
	add_member(btf, "list", types->list, 32);
	add_member(btf, "count", types->int_, 48);
	types->choice = btf__add_union(btf, "choice", 8);
	add_member(btf, "number", types->ulong, 0);
	add_member(btf, "text", types->text, 0);
	/* A struct that holds itself: no compiler writes it. */
	types->loop = btf__add_struct(btf, "loop", 8);
	add_member(btf, "self", types->loop, 0);
}

/* Twins, a bitmap, and what several structs begin with. */
static inline void add_traps(struct libbpf_btf *btf, struct types *types)
{
	static const char *const derived[] = { "disk", "tape", "card", "line", "lamp" };
	types->key = btf__add_struct(btf, "static_key", 16);
	add_member(btf, "enabled", types->int_, 0);
	add_member(btf, "entries", types->ulong, 8);
	types->key_true = btf__add_struct(btf, "static_key_true", 16);
	add_member(btf, "key", types->key, 0);
	btf__add_struct(btf, "static_key_false", 16);
	add_member(btf, "key", types->key, 0);
	int bits = btf__add_array(btf, types->int_, types->ulong, 128);
	int cpumask = btf__add_struct(btf, "cpumask", 1024);
	add_member(btf, "bits", bits, 0);
	types->words_pointer = btf__add_ptr(btf, types->ulong);
	types->cpumask_pointer = btf__add_ptr(btf, cpumask);
	types->base = btf__add_struct(btf, "base", 24);
	add_member(btf, "name", types->const_text, 0);
	add_member(btf, "list", types->list, 8);
	types->base_pointer = btf__add_ptr(btf, types->base);
	for (size_t i = 0; i < sizeof(derived) / sizeof(derived[0]); i++) {
		btf__add_struct(btf, derived[i], 64);
		add_member(btf, "base", types->base, 0);
	}
	types->disk_pointer = btf__add_ptr(btf, types->base_pointer + 1);
	types->entry_pointer = btf__add_ptr(btf, types->disk_pointer + 2);
	btf__add_struct(btf, "entry", 24);
	add_member(btf, "list", types->list, 0);
	add_member(btf, "count", types->int_, 16);
	int show = btf__add_ptr(btf, types->show);
	btf__add_struct(btf, "operation", 8);
	add_member(btf, "show", show, 0);
	int untyped = types->untyped = btf__add_ptr(btf, 0);
	types->probe = btf__add_struct(btf, "probe", 24);
	add_member(btf, "name", types->const_text, 0);
	add_member(btf, "function", untyped, 8);
	add_member(btf, "show", show, 16);
	types->counted = btf__add_struct(btf, "counted", 24);
	add_member(btf, "count", types->int_, 0);
	add_member(btf, "list", types->list, 8);
	btf__add_struct(btf, "hlist_head", 8);
	add_member(btf, "first", untyped, 0);
}

static inline void init(struct bench *bench, uint64_t room)
{
	uint32_t size;
	*bench = (struct bench){ .writer = btf__new_empty() };
	add_scalars(bench->writer, &bench->types);
	add_attributes(bench->writer, &bench->types);
	add_compounds(bench->writer, &bench->types);
	add_traps(bench->writer, &bench->types);
	const void *data = btf__raw_data(bench->writer, &size);
	bench->data = malloc(size);
	CHECK(bench->data);
	memcpy(bench->data, data, size);
	CHECK_OK(btf_open(bench->data, size, NULL, "test", &bench->btf));
	CHECK_OK(layout_create(bench->btf, NULL, &bench->layout));
	CHECK_OK(solver_init(&bench->solver, bench->layout));
	bench->subject = (struct subject){ .address = PLACE, .room = room };
	bench->input = (struct solver_input){ .subject = &bench->subject,
					      .clues = &bench->clues,
					      .place = PLACE_DATA };
}

static inline void deinit(struct bench *bench)
{
	clues_deinit(&bench->clues);
	solver_deinit(&bench->solver);
	layout_destroy(bench->layout);
	btf_close(bench->btf);
	btf__free(bench->writer);
	free(bench->data);
}

static inline void clue(struct bench *bench, enum clue_kind kind, uint32_t offset, int type,
			uint32_t size)
{
	struct clue clue = { .kind = kind,
			     .source = SOURCE_CODE,
			     .offset = offset,
			     .size = size,
			     .type = { type ? bench->btf : NULL, (uint32_t)type },
			     .where = 0x1000 + bench->clues.count };
	if (kind == CLUE_WHOLE)
		clue.source = SOURCE_TABLE;
	CHECK(clues_add(&bench->clues, &clue));
}

/* The best candidate's spelling. */
static inline const char *best(struct bench *bench, char *buffer, size_t size)
{
	struct type type;
	CHECK_OK(solve(&bench->solver, &bench->input));
	*buffer = 0;
	if (!bench->solver.count)
		return "";
	CHECK_OK(scored_type(bench->layout, bench->solver.items, &type));
	type_spell(type, NULL, buffer, size);
	return buffer;
}

#define CHECK_BEST(fixture, expected, tier)                                                        \
	do {                                                                                       \
		char spelled[128];                                                                 \
		CHECK_STRING(best(fixture, spelled, sizeof(spelled)), expected);                   \
		CHECK_STRING(confidence_name(solver_confidence(&(fixture)->solver)), tier);        \
	} while (0)

#endif
