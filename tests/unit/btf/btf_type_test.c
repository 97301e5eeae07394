// SPDX-License-Identifier: GPL-3.0-or-later
/* Walking types: sizes, members, paths, bit-fields, spelling, derived types, equality. */
#include "tests/unit/btf_samples.h"

struct opened {
	struct libbpf_btf *sample;
	uint8_t *data;
	struct btf *btf;
};

static struct opened open_sample(bool big_endian)
{
	struct opened opened = { .sample = sample_create() };
	size_t size;
	opened.data = sample_bytes(opened.sample, big_endian, &size);
	CHECK_OK(btf_open(opened.data, size, NULL, "sample", &opened.btf));
	return opened;
}

static void close_sample(struct opened *opened)
{
	btf_close(opened->btf);
	free(opened->data);
	btf__free(opened->sample);
}

/* --- members and paths ------------------------------------------------------------- */

static void check_place(struct type type, const char *path, uint64_t bit_offset, uint64_t bit_size,
			const char *spelled)
{
	struct type_place place = { .bit_offset = 0 };
	char buffer[128];
	CHECK_OK(type_find_path(type, path, &place));
	CHECK_U64(place.bit_offset, bit_offset);
	CHECK_U64(place.bit_size, bit_size);
	type_spell(place.type, NULL, buffer, sizeof(buffer));
	CHECK_STRING(buffer, spelled);
}

static void test_paths(void)
{
	for (int big = 0; big < 2; big++) {
		struct opened opened = open_sample(big);
		struct type node = named(opened.btf, BTF_STRUCT, "node");
		struct type table = named(opened.btf, BTF_STRUCT, "table");
		check_place(node, "next", 0, 0, "struct node *");
		check_place(node, "a", 64, 3, "int");
		check_place(node, "b", 67, 5, "int");
		check_place(node, "x", 128, 0, "int");
		check_place(node, "y[3]", 152, 0, "char");
		check_place(table, "nodes[2].y", 2 * 192 + 128, 0, "char [8]");
		check_place(table, "nodes[0x3].b", 3 * 192 + 67, 5, "int");
		check_place(table, "grid[1][2]", 768 + 5 * 64, 0, "long unsigned int");
		check_place(table, "grid[1]", 768 + 3 * 64, 0, "long unsigned int [3]");
		/* A flexible array has no end, and its elements may be behind a typedef. */
		check_place(table, "flexible[1000].x", 1152 + 1000 * 192 + 128, 0, "int");
		close_sample(&opened);
	}
}

static void test_bad_paths(void)
{
	struct opened opened = open_sample(false);
	struct type node = named(opened.btf, BTF_STRUCT, "node");
	struct type table = named(opened.btf, BTF_STRUCT, "table");
	struct type_place place;
	CHECK_FAILS(type_find_path(node, "nothing", &place), "struct node has no member nothing");
	CHECK_FAILS(type_find_path(node, "next.next", &place), "it is a pointer");
	CHECK_FAILS(type_find_path(node, "a.x", &place), "has no member x");
	CHECK_FAILS(type_find_path(node, "", &place), "name should stand");
	CHECK_FAILS(type_find_path(node, "x.", &place), "name should stand");
	CHECK_FAILS(type_find_path(node, ".x", &place), "name should stand");
	CHECK_FAILS(type_find_path(node, "x..x", &place), "name should stand");
	CHECK_FAILS(type_find_path(node, "x[0]", &place), "not an array");
	CHECK_FAILS(type_find_path(node, "a[0]", &place), "not an array");
	CHECK_FAILS(type_find_path(table, "nodes[4]", &place), "past the end");
	CHECK_FAILS(type_find_path(table, "nodes[-1]", &place), "number in brackets");
	CHECK_FAILS(type_find_path(table, "nodes[]", &place), "number in brackets");
	CHECK_FAILS(type_find_path(table, "nodes[1", &place), "number in brackets");
	CHECK_FAILS(type_find_path(table, "nodes[1]x", &place), "'.'");
	CHECK_FAILS(type_find_path(table, "flexible[0xffffffffffffffff]", &place), "size");
	CHECK(!type_find_member(table, "x", &place));
	CHECK(!type_find_member(table, "", &place));
	CHECK(!type_find_member((struct type){ NULL, 0 }, "x", &place));
	close_sample(&opened);
}

static void test_old_bit_fields(void)
{
	struct opened opened = open_sample(false);
	struct type old = named(opened.btf, BTF_STRUCT, "old");
	check_place(old, "plain", 0, 0, "int");
	/* The integer's own offset of 2 comes on top. */
	check_place(old, "field", 34, 4, "narrow");
	struct btf_type record;
	struct btf_member member;
	CHECK(type_get(old, &record));
	CHECK(btf_member_as_stored(&record, 1, &member));
	CHECK_U64(member.bit_offset, 32);
	CHECK_U64(member.bit_size, 0);
	close_sample(&opened);
}

static void test_load_bits(void)
{
	struct {
		unsigned int a : 3, b : 5, c : 24;
	} fields = { .a = 5, .b = 19, .c = 0xabcdef };
	uint8_t little[8] = { 0 };
	memcpy(little, &fields, sizeof(fields));
	CHECK_U64(btf_load_bits(little, 0, 3, false), 5);
	CHECK_U64(btf_load_bits(little, 3, 5, false), 19);
	CHECK_U64(btf_load_bits(little, 8, 24, false), 0xabcdef);
	/* What a big-endian compiler makes of the same: from the top down. */
	uint32_t value = 5u << 29 | 19u << 24 | 0xabcdef;
	uint8_t big[4] = { value >> 24, value >> 16 & 0xff, value >> 8 & 0xff, value & 0xff };
	CHECK_U64(btf_load_bits(big, 0, 3, true), 5);
	CHECK_U64(btf_load_bits(big, 3, 5, true), 19);
	CHECK_U64(btf_load_bits(big, 8, 24, true), 0xabcdef);
	uint8_t all[9] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
	CHECK_U64(btf_load_bits(all, 3, 64, false), UINT64_MAX);
	CHECK_U64(btf_load_bits(all, 3, 64, true), UINT64_MAX);
}

/* --- sizes --------------------------------------------------------------------------- */

static void test_alignment(void)
{
	struct libbpf_btf *sample = btf__new_empty();
	int char_id = btf__add_int(sample, "char", 1, 0);
	int int_id = btf__add_int(sample, "int", 4, 0);
	int long_id = btf__add_int(sample, "long int", 8, 0);
	int plain = btf__add_struct(sample, "plain", 16);
	btf__add_field(sample, "c", char_id, 0, 0);
	btf__add_field(sample, "l", long_id, 64, 0);
	int packed = btf__add_struct(sample, "packed", 9);
	btf__add_field(sample, "c", char_id, 0, 0);
	btf__add_field(sample, "l", long_id, 8, 0);
	int fields = btf__add_struct(sample, "fields", 4);
	btf__add_field(sample, "f", int_id, 3, 4);
	int outer = btf__add_struct(sample, "outer", 32);
	btf__add_field(sample, "p", btf__type_cnt(sample), 0, 0);
	btf__add_array(sample, int_id, plain, 2);
	size_t size;
	uint8_t *data = sample_bytes(sample, false, &size);
	struct btf *btf;
	CHECK_OK(btf_open(data, size, NULL, "sample", &btf));
	CHECK_U64(type_alignment((struct type){ btf, plain }), 8);
	CHECK_U64(type_alignment((struct type){ btf, packed }), 1);
	CHECK_U64(type_alignment((struct type){ btf, fields }), 4);
	CHECK_U64(type_alignment((struct type){ btf, outer }), 8);
	CHECK_U64(type_alignment((struct type){ btf, 0 }), 1);
	btf_close(btf);
	free(data);
	btf__free(sample);
}

static void test_pointer_size(void)
{
	struct libbpf_btf *sample = btf__new_empty();
	btf__add_int(sample, "long unsigned int", 4, 0);
	int pointer = btf__add_ptr(sample, 0);
	size_t size;
	uint64_t bytes = 0;
	uint8_t *data = sample_bytes(sample, false, &size);
	struct btf *btf;
	CHECK_OK(btf_open(data, size, NULL, "sample", &btf));
	CHECK_U64(btf_pointer_size(btf), 4);
	CHECK(type_size((struct type){ btf, pointer }, &bytes));
	CHECK_U64(bytes, 4);
	btf_close(btf);
	free(data);
	btf__free(sample);
}

/* --- spelling -------------------------------------------------------------------------- */

static void check_spelling(struct type type, const char *name, const char *expected)
{
	char buffer[256];
	CHECK_U64(type_spell(type, name, buffer, sizeof(buffer)), strlen(expected));
	CHECK_STRING(buffer, expected);
	/* Cut off at every length: terminated, and the full length is still told. */
	for (size_t size = 1; size <= strlen(expected); size++) {
		memset(buffer, 'x', sizeof(buffer));
		CHECK_U64(type_spell(type, name, buffer, size), strlen(expected));
		CHECK_U64(strlen(buffer), size - 1);
		CHECK(!strncmp(buffer, expected, size - 1));
	}
	CHECK_U64(type_spell(type, name, NULL, 0), strlen(expected));
}

static struct type pointer_to(struct type type)
{
	struct type pointer = { NULL, 0 };
	CHECK_OK(type_pointer_to(type, &pointer));
	return pointer;
}

static struct type array_of(struct type type, uint32_t count)
{
	struct type array = { NULL, 0 };
	CHECK_OK(type_array_of(type, count, &array));
	return array;
}

static struct type constant(struct type type)
{
	struct type made = { NULL, 0 };
	CHECK_OK(type_qualified(type, BTF_CONST, &made));
	return made;
}

static struct type function(struct type result, struct type param)
{
	struct type made = { NULL, 0 };
	CHECK_OK(type_function(result, &param, 1, false, &made));
	return made;
}

static void test_spelling_objects(void)
{
	struct opened opened = open_sample(false);
	struct btf *btf = opened.btf;
	struct type integer = named(btf, BTF_INT, "int");
	struct type node = named(btf, BTF_STRUCT, "node");
	check_spelling(integer, NULL, "int");
	check_spelling(integer, "x", "int x");
	check_spelling(pointer_to(node), NULL, "struct node *");
	check_spelling(pointer_to(node), "next", "struct node *next");
	check_spelling(pointer_to(pointer_to(node)), "p", "struct node **p");
	check_spelling(array_of(integer, 16), NULL, "int [16]");
	check_spelling(array_of(integer, 16), "a", "int a[16]");
	check_spelling(array_of(array_of(integer, 3), 2), "a", "int a[2][3]");
	check_spelling(array_of(array_of(integer, 3), 2), NULL, "int [2][3]");
	check_spelling(array_of(integer, 0), "a", "int a[]");
	check_spelling(array_of(pointer_to(node), 4), "a", "struct node *a[4]");
	check_spelling(pointer_to(array_of(integer, 4)), "p", "int (*p)[4]");
	check_spelling(pointer_to(array_of(integer, 4)), NULL, "int (*)[4]");
	check_spelling(pointer_to(constant(integer)), "p", "const int *p");
	check_spelling(constant(pointer_to(integer)), "p", "int *const p");
	check_spelling(constant(pointer_to(constant(integer))), NULL, "const int *const");
	check_spelling(pointer_to(constant(pointer_to(integer))), "p", "int *const *p");
	check_spelling(constant(array_of(integer, 2)), "a", "const int a[2]");
	check_spelling((struct type){ btf, 0 }, NULL, "void");
	check_spelling(pointer_to((struct type){ btf, 0 }), "p", "void *p");
	check_spelling(named(btf, BTF_ENUM, "color"), "c", "enum color c");
	check_spelling(named(btf, BTF_ENUM, "wide"), "c", "enum wide c");
	check_spelling(named(btf, BTF_FWD, "absent"), NULL, "struct absent");
	check_spelling(named(btf, BTF_FWD, "absentu"), NULL, "union absentu");
	check_spelling(named(btf, BTF_TYPEDEF, "node_t"), "n", "node_t n");
	check_spelling(named(btf, BTF_VAR, "counter"), NULL, "int counter");
	close_sample(&opened);
}

static void test_spelling_functions(void)
{
	struct opened opened = open_sample(false);
	struct btf *btf = opened.btf;
	struct type integer = named(btf, BTF_INT, "int"), nothing = { btf, 0 };
	struct type plain = function(integer, pointer_to(nothing));
	check_spelling(plain, "f", "int f(void *)");
	check_spelling(plain, NULL, "int (void *)");
	check_spelling(pointer_to(plain), "f", "int (*f)(void *)");
	check_spelling(pointer_to(plain), NULL, "int (*)(void *)");
	check_spelling(array_of(pointer_to(plain), 3), "f", "int (*f[3])(void *)");
	check_spelling(pointer_to(pointer_to(plain)), "f", "int (**f)(void *)");
	check_spelling(constant(pointer_to(plain)), "f", "int (*const f)(void *)");
	check_spelling(pointer_to(constant(plain)), "f", "int (*f)(void *)");
	/* A function that returns a pointer to one. */
	check_spelling(function(pointer_to(plain), integer), "f", "int (*f(int))(void *)");
	check_spelling(function(integer, pointer_to(plain)), "f", "int f(int (*)(void *))");
	check_spelling(named(btf, BTF_FUNC, "work"), NULL, "int work(void *first, int, ...)");
	check_spelling(named(btf, BTF_FUNC, "rest"), NULL, "void rest(void)");
	check_spelling(named(btf, BTF_VAR, "hook"), NULL, "int (*hook)(void *first, int, ...)");
	close_sample(&opened);
}

static void test_spelling_tags_and_anonymous(void)
{
	struct opened opened = open_sample(false);
	struct btf_type type;
	int seen = 0;
	for (uint32_t id = 1; btf_get(opened.btf, id, &type); id++) {
		struct type it = { opened.btf, id };
		if (type.kind == BTF_UNION && !type.name[0] && ++seen)
			check_spelling(it, "u", "union {...} u");
		if (type.kind == BTF_ENUM && !type.name[0] && ++seen)
			check_spelling(it, NULL, "enum {...}");
		if (type.kind == BTF_TYPE_TAG && ++seen)
			check_spelling(it, NULL, "char");
		if (type.kind == BTF_VOLATILE && ++seen)
			check_spelling(it, "v", "const volatile char v");
		if (type.kind == BTF_RESTRICT && ++seen)
			check_spelling(it, "p", "const char *restrict p");
	}
	CHECK_U64(seen, 5);
	close_sample(&opened);
}

/* --- derived types ------------------------------------------------------------------------ */

static void test_scratch_is_interned(void)
{
	for (int big = 0; big < 2; big++) {
		struct opened opened = open_sample(big);
		struct type integer = named(opened.btf, BTF_INT, "int"), made, again;
		uint64_t size = 0;
		struct type first = pointer_to(integer);
		CHECK_U64(first.id, pointer_to(integer).id);
		CHECK(first.btf == pointer_to(integer).btf);
		CHECK(first.id >= btf_end_id(opened.btf));
		CHECK(first.id != pointer_to(first).id);
		CHECK(array_of(integer, 3).id != array_of(integer, 4).id);
		CHECK(type_size(array_of(first, 5), &size));
		CHECK_U64(size, 40);
		CHECK(type_is_pointer(first));
		CHECK(type_target(first, &made));
		CHECK_U64(made.id, integer.id);
		CHECK_OK(type_integer(opened.btf, "int", 4, BTF_INT_SIGNED, &made));
		CHECK_U64(made.id, integer.id);
		CHECK_OK(type_integer(opened.btf, "strange", 2, BTF_INT_SIGNED, &made));
		CHECK_OK(type_integer(made.btf, "strange", 2, BTF_INT_SIGNED, &again));
		CHECK_U64(made.id, again.id);
		CHECK_OK(type_integer(opened.btf, "odd", 2, BTF_INT_SIGNED, &again));
		CHECK(made.id != again.id);
		struct btf_type record;
		CHECK(type_get(again, &record));
		CHECK_STRING(record.name, "odd");
		CHECK_U64(record.int_bits, 16);
		CHECK_U64(btf_is_big_endian(record.btf), big);
		CHECK_FAILS(type_integer(opened.btf, "huge", 17, 0, &made), "17 bytes");
		CHECK_FAILS(type_qualified(integer, BTF_PTR, &made), "no qualifier");
		CHECK_FAILS(type_pointer_to((struct type){ NULL, 0 }, &made), "no type");
		close_sample(&opened);
	}
}

/* What was decoded stays valid while the level grows. */
static void test_scratch_grows(void)
{
	struct opened opened = open_sample(false);
	struct type integer = named(opened.btf, BTF_INT, "int");
	struct type first = array_of(integer, 1), last = first;
	struct btf_type record, later;
	CHECK(type_get(first, &record));
	for (uint32_t i = 1; i < 20000; i++) {
		last = array_of(integer, i);
		CHECK_U64(last.id, first.id + i - 1);
	}
	CHECK(type_get(first, &later));
	CHECK(record.payload == later.payload);
	CHECK(type_get(last, &later));
	CHECK_U64(later.array_count, 19999);
	CHECK_U64(array_of(integer, 700).id, first.id + 699);
	close_sample(&opened);
}

/* Ids of different scratch levels and views come together in one function. */
static void test_function_over_levels(void)
{
	struct opened opened = open_sample(false);
	struct libbpf_btf *split = btf__new_empty_split(opened.sample), *other;
	btf__add_struct(split, "own", 8);
	other = btf__new_empty_split(opened.sample);
	btf__add_struct(other, "foreign", 8);
	size_t size, other_size;
	uint8_t *data = sample_bytes(split, false, &size);
	uint8_t *other_data = sample_bytes(other, false, &other_size);
	struct btf *module, *second;
	CHECK_OK(btf_open(data, size, opened.btf, "module", &module));
	CHECK_OK(btf_open(other_data, other_size, opened.btf, "second", &second));
	struct type integer = named(opened.btf, BTF_INT, "int"), made;
	struct type own = pointer_to(named(module, BTF_STRUCT, "own"));
	struct type below = pointer_to(array_of(constant(integer), 2));
	struct type callback = pointer_to(function(integer, below));
	struct type params[] = { own, below, callback, integer };
	CHECK_OK(type_function(pointer_to(integer), params, 4, true, &made));
	check_spelling(
		made, "f",
		"int *f(struct own *, const int (*)[2], int (*)(const int (*)[2]), int, ...)");
	struct type mixed[] = { own, pointer_to(named(second, BTF_STRUCT, "foreign")) };
	CHECK_FAILS(type_function(integer, mixed, 2, false, &made), "");
	btf_close(second);
	btf_close(module);
	free(other_data);
	free(data);
	btf__free(other);
	btf__free(split);
	close_sample(&opened);
}

/* --- equality ------------------------------------------------------------------------------- */

/* A module that repeats the base's struct node, `wrong` telling what to spoil. */
static bool repeats_node(struct opened *opened, const char *wrong)
{
	struct libbpf_btf *split = btf__new_empty_split(opened->sample);
	int int_id = btf__add_int(split, "int", 4, BTF_INT_SIGNED);
	int char_id = btf__add_int(split, "char", 1, BTF_INT_CHAR);
	int array = btf__add_array(split, 2, char_id, strcmp(wrong, "count") ? 8 : 7);
	int either = btf__add_union(split, NULL, 8);
	btf__add_field(split, strcmp(wrong, "name") ? "x" : "z", int_id, 0, 0);
	btf__add_field(split, "y", array, 0, 0);
	int node = btf__add_struct(split, "node", 24);
	btf__add_field(split, "next", node + 1, 0, 0);
	btf__add_field(split, "a", int_id, 64, strcmp(wrong, "bits") ? 3 : 2);
	btf__add_field(split, "b", strcmp(wrong, "type") ? int_id : 2, 67, 5);
	btf__add_field(split, NULL, either, 128, 0);
	/* Behind the pointer the name is enough. */
	btf__add_ptr(split, strcmp(wrong, "target") ? node + 2 : int_id);
	btf__add_fwd(split, "node", BTF_FWD_STRUCT);
	size_t size;
	uint8_t *data = sample_bytes(split, false, &size);
	struct btf *module = NULL;
	CHECK_OK(btf_open(data, size, opened->btf, "module", &module));
	bool same = type_equal((struct type){ module, (uint32_t)node },
			       named(opened->btf, BTF_STRUCT, "node"));
	btf_close(module);
	free(data);
	btf__free(split);
	return same;
}

static void test_equality(void)
{
	struct opened opened = open_sample(false);
	CHECK(repeats_node(&opened, ""));
	static const char *const spoiled[] = { "count", "name", "bits", "type", "target" };
	for (size_t i = 0; i < sizeof(spoiled) / sizeof(spoiled[0]); i++)
		CHECK(!repeats_node(&opened, spoiled[i]));
	struct btf_type record;
	for (uint32_t id = 0; btf_get(opened.btf, id, &record); id++)
		CHECK(type_equal((struct type){ opened.btf, id }, (struct type){ opened.btf, id }));
	CHECK(!type_equal(named(opened.btf, BTF_ENUM, "color"),
			  named(opened.btf, BTF_ENUM, "sign")));
	close_sample(&opened);
}

int main(void)
{
	RUN(test_paths);
	RUN(test_bad_paths);
	RUN(test_old_bit_fields);
	RUN(test_load_bits);
	RUN(test_alignment);
	RUN(test_pointer_size);
	RUN(test_spelling_objects);
	RUN(test_spelling_functions);
	RUN(test_spelling_tags_and_anonymous);
	RUN(test_scratch_is_interned);
	RUN(test_scratch_grows);
	RUN(test_function_over_levels);
	RUN(test_equality);
	return test_finish();
}
