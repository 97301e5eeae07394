// SPDX-License-Identifier: GPL-3.0-or-later
/* BTF whose records say more than their sizes hold, and structs in structs without end. */
#include "tests/unit/btf_blob.h"

/* `struct s` of `size` bytes with one member of `type` at so many bits. */
static void check_member(uint32_t size, uint32_t type, uint32_t bits, bool has_bits, bool is_good)
{
	struct blob blob;
	uint8_t *data;
	uint64_t member_size;
	struct btf_type record;
	struct btf_member member;
	blob_init(&blob, 24);
	add_int(&blob, "before", 4);
	add_record(&blob, add_string(&blob, "s"), BTF_STRUCT | (has_bits ? 0x80 : 0), 1, size);
	add_word(&blob, add_string(&blob, "m"));
	add_word(&blob, type);
	add_word(&blob, bits);
	add_int(&blob, "after", 4);
	add_record(&blob, 0, BTF_ARRAY, 0, 0); /* 4: no elements, as at the end of a struct */
	add_word(&blob, 1);
	add_word(&blob, 1);
	add_word(&blob, 0);
	add_record(&blob, add_string(&blob, "unknown"), BTF_FWD, 0, 0); /* 5 */
	add_record(&blob, 0, BTF_ARRAY, 0, 0); /* 6: a size of more than 32 bits */
	add_word(&blob, 1);
	add_word(&blob, 1);
	add_word(&blob, 0x40000001);
	struct btf *btf = open_blob(&blob, NULL, &data);
	CHECK(btf_get(btf, 2, &record) && btf_member(&record, 0, &member));
	CHECK(!!btf_warning(btf) == !is_good);
	if (!is_good)
		CHECK_STRING(btf_warning(btf), "type 2 (STRUCT) has a member beyond its end");
	/* Whatever it says: a reader of the struct's bytes reads no further. */
	if (!type_size((struct type){ btf, member.type }, &member_size))
		member_size = 0;
	uint64_t end = member.bit_size ? member.bit_size : member_size * 8;
	CHECK(member.bit_offset + end <= (uint64_t)size * 8);
	CHECK_STRING(member.name, "m");
	ask_everything(btf);
	btf_close(btf);
	free(data);
}

static void test_members_beyond(void)
{
	check_member(8, 1, 32, false, true);
	check_member(8, 1, 33, false, false);
	check_member(3, 1, 0, false, false);
	check_member(8, 1, 0xffffffff, false, false);
	check_member(0x20000000, 1, 0xffffffe0, false, true);
	check_member(0, 0, 0, false, true);
	check_member(8, 4, 64, false, true);
	check_member(8, 4, 65, false, false);
	check_member(8, 5, 64, false, true);
	check_member(8, 5, 72, false, false);
	check_member(8, 6, 0, false, false);
	check_member(4, 1, 31 | 1u << 24, true, true);
	check_member(4, 1, 31 | 2u << 24, true, false);
	check_member(4, 1, 0, true, true);
	check_member(4, 1, 0xffffff, true, false);
}

/* 20 structs of 40 members, each the next struct: 40^20 of them for who walks in. */
static void test_nesting(void)
{
	enum { LEVELS = 20, MEMBERS = 40, WORDS = 3 + MEMBERS * 3 };
	uint32_t words[LEVELS * WORDS] = { 0 },
				header[6] = { 0x1eb9f, 24, 0, sizeof(words), sizeof(words), 1 };
	uint8_t data[sizeof(header) + sizeof(words) + 1] = { 0 };
	struct btf *btf;
	for (uint32_t i = 0; i < LEVELS; i++) {
		uint32_t *record = &words[i * WORDS];
		record[1] = (uint32_t)BTF_UNION << 24 | MEMBERS;
		record[2] = 8;
		for (uint32_t k = 0; k < MEMBERS; k++)
			record[3 + k * 3 + 1] = i ? i : 0;
	}
	memcpy(data, header, sizeof(header));
	memcpy(data + sizeof(header), words, sizeof(words));
	CHECK_OK(btf_open(data, sizeof(data), NULL, "blob", &btf));
	CHECK(btf_warning(btf) && strstr(btf_warning(btf), "members within members without end"));
	ask_everything(btf);
	btf_close(btf);
	/* The last holds the first: all do. */
	words[4] = LEVELS;
	memcpy(data + sizeof(header), words, sizeof(words));
	CHECK_OK(btf_open(data, sizeof(data), NULL, "blob", &btf));
	CHECK(btf_warning(btf) && strstr(btf_warning(btf), "holds itself"));
	ask_everything(btf);
	btf_close(btf);
}

/* A struct of `outer` structs of 100 members: so many for who walks in. */
static bool is_too_wide(uint32_t outer)
{
	enum { INNER = 100, WORDS = 6 + (INNER + 1000) * 3 };
	uint32_t words[WORDS] = { 0 }, header[6] = { 0x1eb9f, 24, 0, 0, 0, 1 },
		 *record = words + 3 + INNER * 3;
	uint8_t data[sizeof(header) + sizeof(words) + 1] = { 0 };
	struct btf *btf;
	words[1] = (uint32_t)BTF_UNION << 24 | INNER;
	record[1] = (uint32_t)BTF_UNION << 24 | outer;
	words[2] = record[2] = 8;
	for (uint32_t k = 0; k < outer; k++)
		record[3 + k * 3 + 1] = 1;
	header[3] = header[4] = (6 + (INNER + outer) * 3) * 4;
	memcpy(data, header, sizeof(header));
	memcpy(data + sizeof(header), words, header[3]);
	CHECK_OK(btf_open(data, sizeof(header) + header[3] + 1, NULL, "blob", &btf));
	bool is_told = btf_warning(btf) && strstr(btf_warning(btf), "without end");
	btf_close(btf);
	return is_told;
}

/* Three times the widest struct of a kernel passes, six times does not. */
static void test_width(void)
{
	CHECK(!is_too_wide(100));
	CHECK(is_too_wide(200));
}

/* Elements without a size, more than 64 bits can count: (2^32-1)^3 of them. */
static void test_endless_elements(void)
{
	struct blob blob;
	uint8_t *data;
	blob_init(&blob, 24);
	add_record(&blob, add_string(&blob, "empty"), BTF_STRUCT, 0, 0);
	for (uint32_t inner = 1; inner <= 3; inner++) {
		add_record(&blob, 0, BTF_ARRAY, 0, 0);
		add_word(&blob, inner);
		add_word(&blob, inner);
		add_word(&blob, UINT32_MAX);
	}
	add_record(&blob, add_string(&blob, "holder"), BTF_STRUCT, 1, 0);
	add_word(&blob, add_string(&blob, "m"));
	add_word(&blob, 4);
	add_word(&blob, 0);
	struct btf *btf = open_blob(&blob, NULL, &data);
	CHECK(btf_warning(btf) && strstr(btf_warning(btf), "members within members without end"));
	ask_everything(btf);
	btf_close(btf);
	free(data);
}

static void test_sizes(void)
{
	struct blob blob;
	blob_init(&blob, 24);
	add_int(&blob, "before", 4);
	add_record(&blob, 0, BTF_ENUM, 0, 3);
	add_int(&blob, "after", 4);
	check_mended(&blob, "type 2 (ENUM) has a size that no compiler gives it");
	blob_init(&blob, 24);
	add_int(&blob, "before", 4);
	add_record(&blob, 0, BTF_FLOAT, 0, 0xfffffff0);
	add_int(&blob, "after", 4);
	check_mended(&blob, "type 2 (FLOAT) has a size that no compiler gives it");
	/* Elements of 2^32-1 bytes each: the bits of 2^32-1 of them have no 64-bit number. */
	blob_init(&blob, 24);
	add_record(&blob, add_string(&blob, "before"), BTF_STRUCT, 0, UINT32_MAX);
	add_record(&blob, 0, BTF_ARRAY, 0, 0);
	add_word(&blob, 1);
	add_word(&blob, 1);
	add_word(&blob, UINT32_MAX);
	add_int(&blob, "after", 4);
	check_mended(&blob, "type 2 (ARRAY) has more elements than there are addresses");
	blob_init(&blob, 24);
	add_int(&blob, "before", 4);
	add_record(&blob, add_string(&blob, ".data"), BTF_DATASEC, 1, 8);
	add_word(&blob, 1);
	add_word(&blob, UINT32_MAX);
	add_word(&blob, 4);
	add_int(&blob, "after", 4);
	check_mended(&blob, "type 2 (DATASEC) has a variable beyond its end");
}

int main(void)
{
	RUN(test_members_beyond);
	RUN(test_sizes);
	RUN(test_nesting);
	RUN(test_width);
	RUN(test_endless_elements);
	return test_finish();
}
