/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A small machine for tests of debugger/eval: BTF written by libbpf, symbols in kallsyms tables,
 * memory in an array with one excluded page. Struct layouts are the compiler's own, so that no
 * offset is written down twice.
 */
#ifndef TESTS_UNIT_EVAL_FIXTURE_H
#define TESTS_UNIT_EVAL_FIXTURE_H

#include "debugger/declare/declare.h"
#include "debugger/eval/expression.h"
#include "debugger/eval/value.h"
#include "debugger/target/attached.h"
#include "tests/unit/chance.h"
#include "tests/unit/kallsyms_image.h"
#include "tests/unit/libbpf.h"
#include "tests/unit/test.h"
#include <stdbool.h>
#include <stddef.h>

#define TEXT_BASE 0xffffffff81000000ull
#define DATA_BASE 0xffffffff82000000ull
#define TABLES	  0xffffffff83000000ull
#define PAGE	  4096ull

struct point {
	int x, y;
};

struct thing {
	char name[16];
	union {
		int number;
		unsigned int bits;
	};
	unsigned int low : 3, middle : 7;
	int negative : 4;
	int color;
	bool flag;
	uint8_t bytes[6];
	struct point points[4];
	uint64_t function;
	uint64_t text;
	uint64_t next; /* struct thing * */
	uint64_t opaque;
	int64_t big;
	char tail[0]; /* a flexible one could not be a member of `contents` */
};

/* What lies at DATA_BASE. */
struct contents {
	struct thing thing;
	struct thing other;
	uint64_t pointer; /* to `other` */
	uint32_t untyped[4];
	uint64_t per_cpu[2];
	int matrix[2][3];
	char string[16];
	uint16_t halves[4];
};

struct ids {
	int int_, uint, char_, long_, ulong, bool_, u8, ushort, uchar, point, thing, matrix;
};

static inline int array_of(struct libbpf_btf *btf, const struct ids *ids, int element, int count)
{
	return btf__add_array(btf, ids->int_, element, count);
}

static inline void add_basic_types(struct libbpf_btf *btf, struct ids *ids)
{
	ids->int_ = btf__add_int(btf, "int", 4, 1);
	ids->uint = btf__add_int(btf, "unsigned int", 4, 0);
	ids->char_ = btf__add_int(btf, "char", 1, 1);
	ids->uchar = btf__add_int(btf, "unsigned char", 1, 0);
	btf__add_int(btf, "signed char", 1, 0); /* as pahole 1.20 has it */
	ids->ushort = btf__add_int(btf, "short unsigned int", 2, 0);
	ids->long_ = btf__add_int(btf, "long int", 8, 1);
	ids->ulong = btf__add_int(btf, "long unsigned int", 8, 0);
	ids->bool_ = btf__add_int(btf, "_Bool", 1, 4);
	ids->u8 = btf__add_typedef(btf, "u8", ids->uchar);
	btf__add_typedef(btf, "size_t", ids->ulong);
}

static inline int add_color(struct libbpf_btf *btf)
{
	int color = btf__add_enum(btf, "color", 4);
	btf__add_enum_value(btf, "RED", 0);
	btf__add_enum_value(btf, "GREEN", 1);
	btf__add_enum_value(btf, "BLUE", 7);
	return color;
}

static inline int add_function(struct libbpf_btf *btf, const struct ids *ids)
{
	int proto = btf__add_func_proto(btf, ids->int_);
	btf__add_func_param(btf, "count", ids->ulong);
	btf__add_func(btf, "some_function", BTF_FUNC_GLOBAL, proto);
	return proto;
}

static inline void add_thing(struct libbpf_btf *btf, struct ids *ids)
{
	int color = add_color(btf);
	int proto = add_function(btf, ids);
	int function = btf__add_ptr(btf, proto);
	int text = btf__add_ptr(btf, btf__add_const(btf, ids->char_));
	ids->point = btf__add_struct(btf, "point", sizeof(struct point));
	add_member(btf, "x", ids->int_, offsetof(struct point, x));
	add_member(btf, "y", ids->int_, offsetof(struct point, y));
	int name = array_of(btf, ids, ids->char_, 16), tail = array_of(btf, ids, ids->char_, 0);
	int bytes = array_of(btf, ids, ids->u8, 6), points = array_of(btf, ids, ids->point, 4);
	int opaque = btf__add_ptr(btf, btf__add_fwd(btf, "opaque", BTF_FWD_STRUCT));
	int both = btf__add_union(btf, NULL, 4);
	add_member(btf, "number", ids->int_, 0);
	add_member(btf, "bits", ids->uint, 0);
	int next = btf__add_ptr(btf, both + 2);
	ids->thing = btf__add_struct(btf, "thing", sizeof(struct thing));
	add_member(btf, "name", name, offsetof(struct thing, name));
	add_member(btf, NULL, both, offsetof(struct thing, number));
	size_t field = (offsetof(struct thing, number) + 4) * 8;
	btf__add_field(btf, "low", ids->uint, field, 3);
	btf__add_field(btf, "middle", ids->uint, field + 3, 7);
	btf__add_field(btf, "negative", ids->int_, field + 10, 4);
	add_member(btf, "color", color, offsetof(struct thing, color));
	add_member(btf, "flag", ids->bool_, offsetof(struct thing, flag));
	add_member(btf, "bytes", bytes, offsetof(struct thing, bytes));
	add_member(btf, "points", points, offsetof(struct thing, points));
	add_member(btf, "function", function, offsetof(struct thing, function));
	add_member(btf, "text", text, offsetof(struct thing, text));
	add_member(btf, "next", next, offsetof(struct thing, next));
	add_member(btf, "opaque", opaque, offsetof(struct thing, opaque));
	add_member(btf, "big", ids->long_, offsetof(struct thing, big));
	add_member(btf, "tail", tail, offsetof(struct thing, tail));
}

/* Typedefs that share a name with a symbol or with nothing. */
static inline void add_rest(struct libbpf_btf *btf, const struct ids *ids)
{
	btf__add_typedef(btf, "thing_t", ids->thing);
	btf__add_typedef(btf, "matrix", ids->int_);
	int per_cpu = btf__add_var(btf, "cpu_number", BTF_VAR_GLOBAL_ALLOCATED, ids->ulong);
	btf__add_datasec(btf, ".data..percpu", 256);
	btf__add_datasec_var_info(btf, per_cpu, 64, 8);
}

/* Memory whose last page was filtered out. */
struct test_memory {
	struct memory memory;
	struct memory_array array;
	uint64_t excluded; /* start of the page */
};

static inline struct error *test_memory_read(struct memory *memory, uint64_t address, void *buffer,
					     size_t size)
{
	struct test_memory *test = (struct test_memory *)memory;
	uint64_t end = address + size;
	if (size && address < test->excluded + PAGE && end > test->excluded) {
		uint64_t first = address > test->excluded ? address : test->excluded;
		if (first == address || first - address <= test->array.size)
			return error_create_at(ERROR_EXCLUDED, first,
					       "kernel address 0x%" PRIx64 " is excluded", first);
	}
	return test->array.memory.read(&test->array.memory, address, buffer, size);
}

struct fixture {
	struct target target;
	struct scope scope;
	struct test_memory memory;
	struct image tables;
	struct libbpf_btf *source;
	struct btf *btf;
	uint8_t page[PAGE];
	struct contents *contents; /* in page */
	struct cpu cpus[2];
	struct vmcore_facts facts;
	struct ids ids;
};

#define AT(member) (DATA_BASE + offsetof(struct contents, member))

static inline void fill_contents(struct contents *contents)
{
	struct thing *thing = &contents->thing, *other = &contents->other;
	strcpy(thing->name, "first \"one\"");
	thing->number = -2;
	thing->low = 5;
	thing->middle = 100;
	thing->negative = -3;
	thing->color = 7;
	thing->flag = true;
	memcpy(thing->bytes, "\1\2\3\3\3\3", 6);
	for (int i = 0; i < 4; i++)
		thing->points[i] = (struct point){ i ? 1 : -1, 9 };
	thing->function = TEXT_BASE + 0x100;
	thing->text = AT(string);
	thing->next = AT(other);
	thing->big = INT64_MIN;
	strcpy(other->name, "second");
	other->next = AT(thing);
	other->color = 3;
	contents->pointer = AT(other);
	for (int i = 0; i < 4; i++)
		contents->untyped[i] = 0x11111111u * (i + 1);
	contents->per_cpu[0] = 1000;
	contents->per_cpu[1] = 1001;
	for (int i = 0; i < 6; i++)
		contents->matrix[i / 3][i % 3] = i * 10;
	strcpy(contents->string, "hi\n\\there");
	for (int i = 0; i < 4; i++)
		contents->halves[i] = 65535 - i;
}

static inline void fixture_symbols(struct fixture *fixture)
{
	static const struct test_symbol symbols[] = {
		{ 0, 'A', "__per_cpu_start" },
		{ 64, 'A', "cpu_number" },
		{ 4096, 'A', "__per_cpu_end" },
		{ TEXT_BASE, 'T', "_text" },
		{ TEXT_BASE, 'T', "_stext" },
		{ TEXT_BASE + 0x100, 'T', "some_function" },
		{ TEXT_BASE + 0x200, 't', "twin" },
		{ TEXT_BASE + 0x300, 'T', "_etext" },
		{ AT(thing), 'D', "thing" },
		{ AT(other), 'd', "twin" },
		{ AT(pointer), 'D', "pointer" },
		{ AT(untyped), 'b', "untyped" },
		{ AT(per_cpu), 'd', "per_cpu_copies" },
		{ AT(matrix), 'D', "matrix" },
		{ AT(string), 'D', "string" },
		{ AT(halves), 'D', "halves" },
		{ DATA_BASE + PAGE - 8, 'D', "straddling" },
		{ DATA_BASE + PAGE, 'D', "filtered" },
		{ DATA_BASE + 2 * PAGE, 'D', "_end" },
	};
	image_symbols(&fixture->tables, TABLES, symbols, sizeof(symbols) / sizeof(symbols[0]),
		      &fixture->target.symbols);
}

static inline void fixture_btf(struct fixture *fixture)
{
	fixture->source = btf__new_empty();
	add_basic_types(fixture->source, &fixture->ids);
	add_thing(fixture->source, &fixture->ids);
	add_rest(fixture->source, &fixture->ids);
	uint32_t size = 0;
	const void *raw = btf__raw_data(fixture->source, &size);
	CHECK_OK(btf_open(raw, size, NULL, "vmlinux", &fixture->btf));
	fixture->target.btf = fixture->btf;
}

static inline struct fixture *fixture_create(const char *declarations)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	if (!fixture)
		abort();
	struct target *target = &fixture->target;
	fixture->contents = (struct contents *)fixture->page;
	fill_contents(fixture->contents);
	memory_array_init(&fixture->memory.array, DATA_BASE, fixture->page, PAGE);
	fixture->memory.memory = fixture->memory.array.memory;
	fixture->memory.memory.read = test_memory_read;
	fixture->memory.memory.word_size = 8;
	fixture->memory.excluded = DATA_BASE + PAGE;
	target->memory = &fixture->memory.memory;
	target->facts = &fixture->facts;
	fixture_symbols(fixture);
	fixture_btf(fixture);
	for (int i = 0; i < 2; i++)
		fixture->cpus[i] =
			(struct cpu){ .number = i, .per_cpu_offset = AT(per_cpu[i]) - 64 };
	target->cpus = fixture->cpus;
	target->cpu_count = 2;
	target->cpus_loaded = target->modules_loaded = true;
	struct declarations *declared = declarations_create();
	CHECK_OK(declarations_add(declared, declarations, "test.decl"));
	CHECK_OK(declarations_keep(target, declared));
	CHECK_OK(scope_init(&fixture->scope, target));
	return fixture;
}

#define FIXTURE_DECLARATIONS                                                                       \
	"struct thing thing, twin, *pointer; int matrix[2][3]; char string[16];\n"                 \
	"unsigned short halves[]; struct point straddling[2]; struct thing filtered;\n"

/* The declarations are these ones for a while. Takes them; returns what fixture_lend_back() wants.
 */
static inline struct attached *fixture_lend(struct fixture *fixture,
					    struct declarations *declarations)
{
	struct attached *own = fixture->target.attached;
	fixture->target.attached = NULL;
	CHECK_OK(declarations_keep(&fixture->target, declarations));
	return own;
}

static inline void fixture_lend_back(struct fixture *fixture, struct attached *own)
{
	target_detach_all(&fixture->target);
	fixture->target.attached = own;
}

static inline void fixture_destroy(struct fixture *fixture)
{
	scope_deinit(&fixture->scope);
	target_detach_all(&fixture->target);
	symtab_destroy(fixture->target.symbols);
	btf_close(fixture->btf);
	btf__free(fixture->source);
	image_destroy(&fixture->tables);
	free(fixture);
}

/* Changes up to three characters of a C text into others that C knows. */
static inline void mutate(char *text, uint64_t *state)
{
	static const char letters[] = "()[]{}.->&*+~!<>=|^%?:,;@'\"\\ \t\n09axXuLz_$#\001\377";
	size_t length = strlen(text);
	for (uint32_t i = next_random(state) % 3 + 1; i && length; i--) {
		size_t at = next_random(state) % length;
		switch (next_random(state) % 3) {
		case 0:
			text[at] = letters[next_random(state) % (sizeof(letters) - 1)];
			break;
		case 1:
			memmove(text + at, text + at + 1, length - at);
			length--;
			break;
		default:
			text[at] = text[next_random(state) % length];
		}
	}
}

#endif
