/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The world of flow_test.c and callees_test.c: a BTF of a few types, tables of what lies at which
 * address, code by hand.
 */
#ifndef TESTS_UNIT_FLOW_WORLD_H
#define TESTS_UNIT_FLOW_WORLD_H

#include "base/array.h"
#include "debugger/infer/flow/flow.h"
#include "tests/unit/code_by_hand.h"
#include "tests/unit/test.h"

#define LIST_ADD (TEXT + 0x10000) /* void list_add(struct list_head *, struct list_head *) */
#define GET_FOO	 (TEXT + 0x10100) /* struct foo *get_foo(void) */
#define PUT_FOO	 (TEXT + 0x10200) /* void put_foo(struct foo *) */
#define UNTYPED	 (TEXT + 0x10300)
#define SET	 (TEXT + 0x10400) /* void set(int, enum color) */
#define ALLOCATE (TEXT + 0x10480) /* void *allocate(int) */
#define PRINT	 (TEXT + 0x104c0) /* void print(int, const char *, ...) */
#define THUNK	 (TEXT + 0x10500) /* __x86_indirect_thunk_rax */
#define RETURN	 (TEXT + 0x10600) /* __x86_return_thunk */
#define HOOK	 (TEXT + 0x10700) /* __fentry__ */
#define DATA	 0xffffffff82000000u
#define KNOWN	 0xffffffff82800000u /* struct foo known */
#define DATA_END 0xffffffff83000000u
#define FORMAT	 0xffffffff82f00000u /* what world_format points at */
#define CURRENT	 0x1000		     /* per-CPU: struct foo *current */

enum {
	INT = 1,
	LONG,
	LIST_HEAD, /* struct { struct list_head *next, *prev; } */
	LIST_HEAD_PTR,
	FOO, /* list 0, count 16, color 20, link 24, op 32, items 40 */
	FOO_PTR,
	COLOR,
	LIST_ADD_PROTO,
	GET_FOO_PROTO,
	PUT_FOO_PROTO,
	PUT_FOO_PTR,
	SET_PROTO,
	ITEM, /* struct { struct list_head *first; int n; } 16 bytes */
	ITEMS,
	FUNCTION_ONE,
	FUNCTION_TWO,
	FUNCTION_TWO_AGAIN,
	FUNCTION_CLONE,
	VOID_PTR,
	ALLOCATE_PROTO,
	ATOMIC,
	TRUTH,
	CHAR,
	CHAR_PTR,
	PRINT_PROTO,
	EITHER, /* union { struct list_head *list; struct foo *foo; } */
	BOX,	/* struct { union either either; int count; } */
	BOX_PTR,
	BOX_PROTO, /* void (struct box *) */
	UNSIGNED,
	TYPE_COUNT
};

/* --- BTF by hand ---------------------------------------------------------------------------- */

static uint8_t blob[8192];
static size_t blob_size;
static char strings[1024];
static size_t strings_size = 1;

static inline void put(uint32_t word)
{
	memcpy(blob + 24 + blob_size, &word, sizeof(word));
	blob_size += sizeof(word);
}

static inline uint32_t name_of(const char *name)
{
	uint32_t offset = (uint32_t)strings_size;
	if (!*name)
		return 0;
	memcpy(strings + strings_size, name, strlen(name) + 1);
	strings_size += strlen(name) + 1;
	return offset;
}

static inline void record(const char *name, enum btf_kind kind, uint32_t vlen,
			  uint32_t size_or_type)
{
	put(name_of(name));
	put((uint32_t)kind << 24 | vlen);
	put(size_or_type);
}

static inline void member(const char *name, uint32_t type, uint32_t offset)
{
	put(name_of(name));
	put(type);
	put(offset * 8);
}

static inline void param(const char *name, uint32_t type)
{
	put(name_of(name));
	put(type);
}

static inline void add_structs(void)
{
	record("int", BTF_INT, 0, 4);
	put(BTF_INT_SIGNED << 24 | 32);
	record("long unsigned int", BTF_INT, 0, 8);
	put(64);
	record("list_head", BTF_STRUCT, 2, 16);
	member("next", LIST_HEAD_PTR, 0);
	member("prev", LIST_HEAD_PTR, 8);
	record("", BTF_PTR, 0, LIST_HEAD);
	record("foo", BTF_STRUCT, 6, 104);
	member("list", LIST_HEAD, 0);
	member("count", INT, 16);
	member("color", COLOR, 20);
	member("link", LIST_HEAD_PTR, 24);
	member("op", PUT_FOO_PTR, 32);
	member("items", ITEMS, 40);
	record("", BTF_PTR, 0, FOO);
	record("color", BTF_ENUM, 0, 4);
}

static inline void add_prototypes(void)
{
	record("", BTF_FUNC_PROTO, 2, 0);
	param("new", LIST_HEAD_PTR);
	param("head", LIST_HEAD_PTR);
	record("", BTF_FUNC_PROTO, 0, FOO_PTR);
	record("", BTF_FUNC_PROTO, 1, 0);
	param("foo", FOO_PTR);
	record("", BTF_PTR, 0, PUT_FOO_PROTO);
	record("", BTF_FUNC_PROTO, 2, 0);
	param("number", INT);
	param("color", COLOR);
	record("item", BTF_STRUCT, 2, 16);
	member("first", LIST_HEAD_PTR, 0);
	member("n", INT, 8);
	record("", BTF_ARRAY, 0, 0);
	put(ITEM), put(INT), put(4);
	record("one", BTF_FUNC, 0, PUT_FOO_PROTO);
	record("two", BTF_FUNC, 0, PUT_FOO_PROTO);
	record("two", BTF_FUNC, 0, SET_PROTO);
	record("clone", BTF_FUNC, 0, PUT_FOO_PROTO);
	record("", BTF_PTR, 0, 0);
	record("", BTF_FUNC_PROTO, 1, VOID_PTR);
	param("size", INT);
	record("atomic", BTF_STRUCT, 1, 4);
	member("counter", INT, 0);
	record("_Bool", BTF_INT, 0, 1);
	put(BTF_INT_BOOL << 24 | 8);
	record("char", BTF_INT, 0, 1);
	put(BTF_INT_SIGNED << 24 | 8);
	record("", BTF_PTR, 0, CHAR);
	record("", BTF_FUNC_PROTO, 3, 0);
	param("level", INT);
	param("format", CHAR_PTR);
	param("", 0);
}

static inline void add_union(void)
{
	record("either", BTF_UNION, 2, 8);
	member("list", LIST_HEAD_PTR, 0);
	member("foo", FOO_PTR, 0);
	record("box", BTF_STRUCT, 2, 16);
	member("either", EITHER, 0);
	member("count", INT, 8);
	record("", BTF_PTR, 0, BOX);
	record("", BTF_FUNC_PROTO, 1, 0);
	param("box", BOX_PTR);
	record("unsigned int", BTF_INT, 0, 4);
	put(32);
}

static inline struct btf *make_btf(void)
{
	struct btf *btf = NULL;
	blob_size = 0, strings_size = 1;
	add_structs();
	add_prototypes();
	add_union();
	uint32_t header[6] = {
		0xeb9f | 1u << 16,     24, 0, (uint32_t)blob_size, (uint32_t)blob_size,
		(uint32_t)strings_size
	};
	memcpy(blob, header, sizeof(header));
	memcpy(blob + 24 + blob_size, strings, strings_size);
	CHECK_OK(btf_open(blob, 24 + blob_size + strings_size, NULL, "test", &btf));
	CHECK(btf && btf_end_id(btf) == TYPE_COUNT);
	return btf;
}

/* --- the world ------------------------------------------------------------------------------- */

static struct finding findings[64];
static size_t finding_count;

static inline void callee(void *context, uint64_t address, struct callee *ret)
{
	static const struct {
		uint64_t address;
		uint32_t prototype;
	} typed[] = { { LIST_ADD, LIST_ADD_PROTO }, { GET_FOO, GET_FOO_PROTO },
		      { PUT_FOO, PUT_FOO_PROTO },   { ALLOCATE, ALLOCATE_PROTO },
		      { PRINT, PRINT_PROTO },	    { SET, SET_PROTO } };
	(void)context;
	*ret = (struct callee){ .kind = CALLEE_UNKNOWN };
	for (size_t i = 0; i < ARRAY_COUNT(typed); i++)
		if (typed[i].address == address)
			*ret = (struct callee){ .kind = CALLEE_TYPED,
						.prototype = { 0, typed[i].prototype } };
	if (address == THUNK)
		*ret = (struct callee){ .kind = CALLEE_HELPER, .helper = HELPER_REGISTER };
	if (address == RETURN)
		*ret = (struct callee){ .kind = CALLEE_HELPER, .helper = HELPER_RETURN };
	if (address == HOOK)
		*ret = (struct callee){ .kind = CALLEE_HELPER, .helper = HELPER_NOTHING };
}

static inline bool known(void *context, uint64_t address, struct kind *ret, int64_t *ret_offset)
{
	(void)context;
	if (address - KNOWN >= 104)
		return false;
	*ret = (struct kind){ 0, FOO };
	*ret_offset = (int64_t)(address - KNOWN);
	return true;
}

static const char *world_format = "";

static inline bool string(void *context, uint64_t address, char *buffer, size_t size)
{
	(void)context;
	snprintf(buffer, size, "%s", world_format);
	return address == FORMAT;
}

static inline bool per_cpu(void *context, uint64_t offset, struct kind *ret, int64_t *ret_offset)
{
	(void)context;
	if (offset - CURRENT >= 8)
		return false;
	*ret = (struct kind){ 0, FOO_PTR };
	*ret_offset = (int64_t)(offset - CURRENT);
	return true;
}

static inline void emit(void *context, const struct finding *finding)
{
	(void)context;
	if (finding_count < ARRAY_COUNT(findings))
		findings[finding_count++] = *finding;
}

static const struct btf *levels_items[1];
static const struct levels levels = { levels_items, 1 };
static const struct flow_world world = {
	.levels = &levels,
	.lowering = &lowering_x86_64,
	.callee = callee,
	.known = known,
	.per_cpu = per_cpu,
	.string = string,
	.emit = emit,
	.first = DATA,
	.last = DATA_END,
	.data_first = DATA,
	.data_last = DATA_END,
	.this_cpu_offset = 0x2000,
	.list_head = { 0, LIST_HEAD },
	.atomics = { { 0, ATOMIC } },
	.truth = { 0, TRUTH },
	.pointer = { 0, VOID_PTR },
	.integers = { [2] = { { 0, UNSIGNED }, { 0, INT } }, [3] = { { 0, LONG }, { 0, LONG } } },
};

/* --- a function --------------------------------------------------------------------------- */

static inline void run_in(const struct flow_world *of, uint32_t prototype)
{
	struct flow *flow = flow_create(of, NULL);
	struct flow_function function = { .code = { machine_code, code_size, TEXT } };
	if (prototype)
		function.self =
			(struct callee){ .kind = CALLEE_TYPED, .prototype = { 0, prototype } };
	finding_count = 0;
	CHECK_OK(flow_run(flow, &function));
	flow_destroy(flow);
	code_size = 0;
}

static inline void run(uint32_t prototype)
{
	run_in(&world, prototype);
}

static inline size_t count(enum clue_kind kind)
{
	size_t found = 0;
	for (size_t i = 0; i < finding_count; i++)
		found += findings[i].kind == kind;
	return found;
}

/* A finding of the kind about DATA + offset with the type (of a pointer: to the type). */
static inline bool found(enum clue_kind kind, uint64_t offset, uint32_t type, bool points)
{
	for (size_t i = 0; i < finding_count; i++)
		if (findings[i].kind == kind && findings[i].address == DATA + offset &&
		    findings[i].type.id == type && findings[i].points == points)
			return true;
	return false;
}

static inline bool found_size(enum clue_kind kind, uint64_t offset, uint32_t size)
{
	for (size_t i = 0; i < finding_count; i++)
		if (findings[i].kind == kind && findings[i].address == DATA + offset &&
		    findings[i].size == size)
			return true;
	return false;
}

#endif
