// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * BTF that no compiler makes: cut off, mutated, nested without end, of kinds to come. To be run
 * under ASan and UBSan; each blob lies in a block of its own size, so that a byte too many is seen.
 */
#include "tests/unit/btf_blob.h"
#include "tests/unit/btf_samples.h"

#include "btf/dump_raw.h"
#include "btf/header.h"
#include "btf/layout.h"

/* --- damage -------------------------------------------------------------------------------- */

static void test_cut_off_at_every_byte(void)
{
	struct libbpf_btf *sample = sample_create();
	size_t size;
	uint8_t *data = sample_bytes(sample, false, &size);
	for (size_t length = 0; length < size; length++) {
		uint8_t *copy = malloc(length ? length : 1);
		struct btf *btf = NULL;
		memcpy(copy, data, length);
		CHECK_FAILS(btf_open(copy, length, NULL, "cut", &btf), "BTF of cut: header");
		free(copy);
	}
	free(data);
	btf__free(sample);
}

static void test_mutated_at_every_byte(void)
{
	static const uint8_t values[] = { 0x00, 0x01, 0x7f, 0x80, 0xff };
	struct libbpf_btf *sample = sample_create();
	int opened = 0, refused = 0;
	for (int big = 0; big < 2; big++) {
		size_t size;
		uint8_t *data = sample_bytes(sample, big, &size);
		for (size_t i = 0; i < size * sizeof(values); i++) {
			uint8_t *at = &data[i / sizeof(values)], before = *at;
			struct btf *btf = NULL;
			*at = values[i % sizeof(values)];
			struct error *error = btf_open(data, size, NULL, "mutant", &btf);
			if (error)
				refused++;
			else
				ask_everything(btf), opened++;
			error_free(error);
			btf_close(btf);
			*at = before;
		}
		free(data);
	}
	printf("%d mutants opened, %d refused\n", opened, refused);
	CHECK(opened > 1000 && refused > 100);
	btf__free(sample);
}

static void test_bad_records(void)
{
	struct blob blob;
	blob_init(&blob, 24);
	add_int(&blob, "before", 4);
	add_record(&blob, 0, BTF_PTR, 0, 9);
	add_int(&blob, "after", 4);
	check_mended(&blob, "type 2 (PTR) mentions a type that does not exist");
	blob_init(&blob, 24);
	add_int(&blob, "before", 4);
	add_record(&blob, 0x10000, BTF_STRUCT, 1, 4);
	add_word(&blob, 0x10000);
	add_word(&blob, 1);
	add_word(&blob, 0);
	add_int(&blob, "after", 4);
	check_mended(&blob, "type 2 (STRUCT) has a name beyond the strings");
	blob_init(&blob, 24);
	add_int(&blob, "before", 4);
	add_int(&blob, "x", 17);
	add_int(&blob, "after", 4);
	check_mended(&blob, "type 2 (INT) has more bits than bytes for them");
}

/* What begins to be read at a wrong place is not shown. */
static void check_cut(struct blob *blob, uint32_t left, const char *why)
{
	uint8_t *data;
	struct btf *btf = open_blob(blob, NULL, &data), *split = NULL;
	CHECK(btf_is_cut(btf));
	CHECK_U64(btf_end_id(btf), left + 1);
	CHECK_STRING(btf_warning(btf), why);
	ask_everything(btf);
	CHECK_FAILS(btf_open(data, 24, btf, "split", &split), "base blob is incomplete");
	btf_close(btf);
	free(data);
}

static void test_cut_records(void)
{
	struct blob blob;
	/* One member too many: the next record is taken for it. */
	blob_init(&blob, 24);
	add_int(&blob, "x", 4);
	add_record(&blob, 0, BTF_PTR, 0, 3);
	add_record(&blob, 0, BTF_STRUCT, 1, 4);
	add_record(&blob, 0, BTF_PTR, 0, 1);
	add_record(&blob, 0, BTF_PTR, 0, 1);
	check_cut(&blob, 2, "type 3 (STRUCT) runs into the next, it and all that follow are lost");
	blob_init(&blob, 24);
	add_int(&blob, "x", 4);
	add_record(&blob, 0, BTF_STRUCT, 0xffffff, 4);
	check_cut(&blob, 1,
		  "type 2 runs past the end of the types, it and all that follow are lost");
	blob_init(&blob, 24);
	add_int(&blob, "x", 4);
	add_word(&blob, 0);
	check_cut(&blob, 1,
		  "type 2 is cut off by the end of the types, it and all that follow are lost");
	/* Kind 0: the one before is longer or shorter than it says. */
	blob_init(&blob, 24);
	add_int(&blob, "x", 4);
	add_record(&blob, 0, BTF_PTR, 0, 0);
	add_record(&blob, 0, 0, 0, 0);
	check_cut(&blob, 1,
		  "type 2 does not end where the next begins, it and all that follow are lost");
}

static void test_refused(void)
{
	struct blob blob;
	blob_init(&blob, 24);
	add_record(&blob, 0, BTF_STRUCT, 0xffffff, 4);
	check_refused(&blob, "type 1 (STRUCT) runs past the end");
	blob_init(&blob, 20);
	check_refused(&blob, "header");
	blob_init(&blob, 24);
	blob.strings[blob.strings_size++] = 'x';
	check_refused(&blob, "last string does not end");
	blob_init(&blob, 24);
	blob.strings[0] = 'x';
	check_refused(&blob, "last string does not end");
}

/* --- kinds to come ---------------------------------------------------------------------------- */

static void test_unknown_kind_with_layout(void)
{
	struct blob blob;
	blob_init(&blob, 32);
	blob.layout_size = 25 * 4;
	blob.layout[24 * 4] = 8;     /* what follows the record */
	blob.layout[24 * 4 + 1] = 4; /* and each of vlen */
	add_int(&blob, "int", 4);
	add_record(&blob, 0xffffff, 24, 3, 0xffffffff);
	for (int i = 0; i < 5; i++)
		add_word(&blob, 0xffffffff);
	add_record(&blob, 0, BTF_PTR, 0, 1);
	uint8_t *data, *split_data;
	struct btf *btf = open_blob(&blob, NULL, &data);
	struct btf_type type;
	CHECK_U64(btf_end_id(btf), 4);
	CHECK(!btf_warning(btf));
	CHECK(btf_get(btf, 2, &type));
	CHECK_U64(type.kind, 24);
	CHECK_STRING(type.name, "");
	CHECK(btf_get(btf, 3, &type));
	CHECK_U64(type.kind, BTF_PTR);
	ask_everything(btf);
	/* A split level has no layout of its own and uses the base's. */
	blob_init(&blob, 24);
	add_record(&blob, 0, 24, 0, 0);
	add_word(&blob, 7);
	add_word(&blob, 7);
	add_record(&blob, 0, BTF_PTR, 0, 4);
	struct btf *split = open_blob(&blob, btf, &split_data);
	CHECK_U64(btf_end_id(split), 6);
	ask_everything(split);
	btf_close(split);
	btf_close(btf);
	free(split_data);
	free(data);
}

static void test_unknown_kind_without_layout(void)
{
	struct blob blob;
	blob_init(&blob, 24);
	add_int(&blob, "int", 4);
	add_record(&blob, 0, BTF_PTR, 0, 5); /* beyond what can be read: void */
	add_record(&blob, 0, 33, 0, 0);
	add_record(&blob, 0, BTF_PTR, 0, 1);
	uint8_t *data;
	struct btf *btf = open_blob(&blob, NULL, &data), *split = NULL;
	struct btf_type type;
	struct type target;
	CHECK_U64(btf_end_id(btf), 3);
	CHECK_STRING(btf_warning(btf),
		     "type 3 is of the unknown kind 33, it and all that follow are lost");
	CHECK(type_target((struct type){ btf, 2 }, &target));
	CHECK(!type_get(target, &type));
	ask_everything(btf);
	CHECK_FAILS(btf_open(data, 24, btf, "split", &split), "base blob is incomplete");
	btf_close(btf);
	free(data);
	blob_init(&blob, 24);
	add_record(&blob, 0, 33, 0, 0);
	check_refused(&blob, "is of the unknown kind 33");
}

static void test_long_header_and_wide_vlen(void)
{
	static struct {
		uint32_t header[10];
		uint32_t types[3 + 2 * 70000];
		char strings[8];
	} wide;
	uint32_t header[] = {
		0x1eb9f, 40, 0, sizeof(wide.types), sizeof(wide.types), 8, 0, 0, 9, 9
	};
	memcpy(wide.header, header, sizeof(header));
	wide.types[1] = (uint32_t)BTF_ENUM << 24 | 70000;
	wide.types[2] = 4;
	memcpy(wide.strings, "\0vlen\0\0", 8);
	for (uint32_t i = 0; i < 70000; i++) {
		wide.types[3 + 2 * i] = 1;
		wide.types[4 + 2 * i] = i;
	}
	struct btf *btf;
	struct btf_type type;
	struct btf_enumerator enumerator = { "", 0 };
	CHECK_OK(btf_open(&wide, sizeof(wide), NULL, "wide", &btf));
	CHECK(btf_get(btf, 1, &type));
	CHECK_U64(type.vlen, 70000);
	CHECK(btf_enumerator(&type, 69999, &enumerator));
	CHECK_U64(enumerator.value, 69999);
	CHECK_STRING(enumerator.name, "vlen");
	btf_close(btf);
}

/* --- strings that share, levels on levels ------------------------------------------------------
 */

static void test_shared_tails(void)
{
	struct blob blob;
	blob_init(&blob, 24);
	uint32_t whole = add_string(&blob, "task_struct"), again = add_string(&blob, "struct");
	add_record(&blob, whole, BTF_STRUCT, 0, 1);
	add_record(&blob, whole + 5, BTF_STRUCT, 0, 2);
	add_record(&blob, again, BTF_STRUCT, 0, 3);
	add_record(&blob, whole + 11, BTF_STRUCT, 0, 4);
	uint8_t *data;
	struct btf *btf = open_blob(&blob, NULL, &data);
	for (int round = 0; round < 12; round++) {
		uint64_t cursor = 0;
		CHECK_U64(btf_find(btf, BTF_STRUCT, "struct", &cursor), 2);
		CHECK_U64(btf_find(btf, BTF_STRUCT, "struct", &cursor), 3);
		CHECK_U64(btf_find(btf, BTF_STRUCT, "struct", &cursor), 0);
		cursor = 0;
		CHECK_U64(btf_find(btf, BTF_STRUCT, "task_struct", &cursor), 1);
		CHECK_U64(btf_find(btf, BTF_STRUCT, "task_struct", &cursor), 0);
	}
	struct btf_type type;
	CHECK(btf_get(btf, 4, &type));
	CHECK_STRING(type.name, "");
	btf_close(btf);
	free(data);
}

static void test_three_levels(void)
{
	struct blob blob;
	struct btf *levels[3];
	uint8_t *data[3];
	struct btf_type type;
	struct btf_member member;
	blob_init(&blob, 24);
	add_int(&blob, "int", 4);
	levels[0] = open_blob(&blob, NULL, &data[0]);
	uint32_t below = btf_string_size(levels[0]);
	blob_init(&blob, 24);
	add_record(&blob, below + add_string(&blob, "middle"), BTF_STRUCT, 1, 4);
	add_word(&blob, below + add_string(&blob, "count"));
	add_word(&blob, 1);
	add_word(&blob, 0);
	levels[1] = open_blob(&blob, levels[0], &data[1]);
	below += btf_string_size(levels[1]);
	blob_init(&blob, 24);
	add_record(&blob, below + add_string(&blob, "top"), BTF_STRUCT, 1, 4);
	add_word(&blob, btf_string_start(levels[1]) + 8); /* "count", of the level below */
	add_word(&blob, 2);
	add_word(&blob, 0);
	levels[2] = open_blob(&blob, levels[1], &data[2]);
	CHECK_U64(btf_start_id(levels[2]), 3);
	CHECK_U64(btf_string_start(levels[2]), below);
	CHECK(btf_get(levels[2], 3, &type));
	CHECK_STRING(type.name, "top");
	CHECK(btf_member(&type, 0, &member));
	CHECK_STRING(member.name, "count");
	struct type_place place;
	CHECK_OK(type_find_path((struct type){ levels[2], 3 }, "count.count", &place));
	CHECK_U64(place.type.id, 1);
	CHECK_U64(id_of(levels[2], BTF_STRUCT, "middle"), 2);
	CHECK_U64(id_of(levels[2], BTF_INT, "int"), 1);
	for (int i = 2; i >= 0; i--) {
		ask_everything(levels[i]);
		btf_close(levels[i]);
		free(data[i]);
	}
}

/* --- nesting without end ------------------------------------------------------------------------
 */

static void test_cycles(void)
{
	struct blob blob;
	blob_init(&blob, 24);
	add_record(&blob, add_string(&blob, "t"), BTF_TYPEDEF, 0, 1);
	add_record(&blob, 0, BTF_PTR, 0, 2);
	add_record(&blob, 0, BTF_CONST, 0, 4);
	add_record(&blob, 0, BTF_VOLATILE, 0, 3);
	add_record(&blob, 0, BTF_ARRAY, 0, 0);
	add_word(&blob, 5);
	add_word(&blob, 5);
	add_word(&blob, 2);
	add_record(&blob, 0, BTF_FUNC_PROTO, 2, 6);
	for (int i = 0; i < 4; i++)
		add_word(&blob, i % 2 ? 6 : 0);
	add_record(&blob, add_string(&blob, "v"), BTF_VAR, 0, 7);
	add_word(&blob, 0);
	uint8_t *data;
	struct btf *btf = open_blob(&blob, NULL, &data);
	uint64_t size;
	for (uint32_t id = 1; id < btf_end_id(btf); id++)
		CHECK_U64(type_size((struct type){ btf, id }, &size), id == 2);
	CHECK_U64(type_resolve((struct type){ btf, 1 }).id, 0);
	CHECK_U64(type_resolve((struct type){ btf, 3 }).id, 0);
	ask_everything(btf);
	btf_close(btf);
	free(data);
}

/* Each holds two of the next: 2^40 members, if one counts them. */
static void test_branching_structs(void)
{
	struct blob blob;
	blob_init(&blob, 24);
	for (uint32_t i = 1; i <= 40; i++) {
		add_record(&blob, 0, BTF_STRUCT, 2, 8);
		for (uint32_t k = 0; k < 2; k++) {
			add_word(&blob, 0);
			add_word(&blob, i < 40 ? i + 1 : 1);
			add_word(&blob, k * 32);
		}
	}
	uint8_t *data;
	struct btf *btf = open_blob(&blob, NULL, &data);
	ask_everything(btf);
	btf_close(btf);
	free(data);
}

static void test_empty(void)
{
	struct blob blob;
	uint8_t *data;
	blob_init(&blob, 24);
	struct btf *btf = open_blob(&blob, NULL, &data);
	struct type made;
	CHECK_U64(btf_end_id(btf), 1);
	CHECK_U64(btf_pointer_size(btf), 8);
	ask_everything(btf);
	CHECK_OK(type_integer(btf, "int", 4, BTF_INT_SIGNED, &made));
	CHECK_OK(type_pointer_to(made, &made));
	char spelled[16];
	type_spell(made, NULL, spelled, sizeof(spelled));
	CHECK_STRING(spelled, "int *");
	btf_close(btf);
	free(data);
	blob_init(&blob, 24);
	blob.strings_size = 0;
	btf = open_blob(&blob, NULL, &data);
	ask_everything(btf);
	btf_close(btf);
	free(data);
}

int main(void)
{
	RUN(test_cut_off_at_every_byte);
	RUN(test_mutated_at_every_byte);
	RUN(test_bad_records);
	RUN(test_cut_records);
	RUN(test_refused);
	RUN(test_unknown_kind_with_layout);
	RUN(test_unknown_kind_without_layout);
	RUN(test_long_header_and_wide_vlen);
	RUN(test_shared_tails);
	RUN(test_three_levels);
	RUN(test_cycles);
	RUN(test_branching_structs);
	RUN(test_empty);
	return test_finish();
}
