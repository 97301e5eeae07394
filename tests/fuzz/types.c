// SPDX-License-Identifier: GPL-3.0-or-later
/* BTF: opened, every record asked all that can be asked, layouts and the header made of it. */
#include "tests/fuzz/targets.h"

#include "base/array.h"
#include "btf/btf.h"
#include "btf/header.h"
#include "btf/layout.h"
#include "debugger/target/btf_search.h"
#include <string.h>

/* Each question ends after so many steps; so many questions must not be asked all the same. */
#define RECORDS_MAX  300
#define LAYOUTS_MAX  16
#define EXPANDED_MAX 2

static void ask_parts(const struct btf_type *record)
{
	struct btf_member member;
	struct btf_enumerator enumerator;
	struct btf_param param;
	struct btf_section_entry entry;
	for (uint32_t i = 0; i < 64 && btf_member(record, i, &member); i++) {
		struct type_place place;
		type_find_member((struct type){ record->btf, record->id }, member.name, &place);
		btf_member_as_stored(record, i, &member);
	}
	for (uint32_t i = 0; i < 64 && btf_enumerator(record, i, &enumerator); i++)
		EXPECT(enumerator.name);
	for (uint32_t i = 0; i < 64 && btf_param(record, i, &param); i++)
		EXPECT(param.name);
	for (uint32_t i = 0; i < 64 && btf_section_entry(record, i, &entry); i++)
		/* What is cut off keeps its ids, which nobody finds. */
		EXPECT(entry.type < btf_end_id(record->btf) || btf_is_cut(record->btf));
	btf_enum_is_signed(record);
}

static void ask_type(struct type type, struct type other)
{
	char text[80];
	uint64_t size;
	struct type answer;
	struct type_place place;
	type_size(type, &size);
	EXPECT(type_alignment(type) >= 1);
	type_target(type, &answer);
	type_is_pointer(type);
	type_equal(type, other);
	type_resolve(type);
	type_unqualified(type);
	type_spell(type, "name", text, sizeof(text));
	EXPECT(memchr(text, 0, sizeof(text)));
	fuzz_done(type_find_path(type, "a.b[1].c", &place));
	if (type.id % 7 == 0) {
		fuzz_done(type_pointer_to(type, &answer));
		fuzz_done(type_array_of(type, type.id, &answer));
	}
}

static void ask_layout(struct btf_layouts *layouts, const struct btf_type *record, bool expand)
{
	struct btf_record_layout layout;
	struct strbuf text = { 0 };
	struct error *error = btf_layout_find(layouts, record, &layout);
	if (!error) {
		EXPECT(layout.count <= LAYOUT_MEMBERS_MAX);
		btf_layout_deinit(&layout);
	}
	fuzz_done(error);
	for (int style = 0; style < (expand ? 4 : 2); style++) {
		struct btf_layout_style how = { .as_pahole = style & 1, .expand = style & 2 };
		text.size = 0;
		fuzz_done(btf_layout_text(layouts, &how, record, &text));
	}
	strbuf_deinit(&text);
}

static void ask_btf(const struct btf *btf)
{
	struct btf_layouts *layouts = btf_layouts_create(btf);
	uint32_t end = btf_end_id(btf), aggregates = 0;
	if (end - btf_start_id(btf) > RECORDS_MAX)
		end = btf_start_id(btf) + RECORDS_MAX;
	btf_pointer_size(btf);
	btf_warning(btf);
	for (uint32_t id = 0; id < end; id++) {
		struct btf_type record;
		uint64_t cursor = 0;
		if (!btf_get(btf, id, &record))
			continue;
		EXPECT(record.name);
		ask_parts(&record);
		ask_type((struct type){ btf, id }, (struct type){ btf, end - id });
		if (*record.name && record.kind != BTF_VOID)
			EXPECT(btf_find(btf, record.kind, record.name, &cursor));
		bool is_aggregate = record.kind == BTF_STRUCT || record.kind == BTF_UNION;
		if (is_aggregate && ++aggregates <= LAYOUTS_MAX)
			ask_layout(layouts, &record, aggregates <= EXPANDED_MAX);
	}
	btf_layouts_destroy(layouts);
	struct btf_enumerator enumerator;
	uint32_t id;
	btf_find_enumerator(btf, "RED", &id, &enumerator);
	struct strbuf header = { 0 };
	fuzz_done(btf_header(btf, &header));
	strbuf_deinit(&header);
}

void fuzz_btf(const uint8_t *data, size_t size)
{
	struct btf *btf = NULL;
	fuzz_done(btf_open(data, size, NULL, "fuzz", &btf));
	if (btf)
		ask_btf(btf);
	btf_close(btf);
}

/* Input: length of the base, base, split BTF. */
void fuzz_btf_split(const uint8_t *data, size_t size)
{
	struct fuzz_input input = { data, size };
	size_t length = fuzz_take(&input, 2);
	struct btf *base = NULL, *split = NULL;
	if (length > input.size)
		length = input.size;
	fuzz_done(btf_open(input.data, length, NULL, "base", &base));
	if (base)
		fuzz_done(
			btf_open(input.data + length, input.size - length, base, "split", &split));
	if (split)
		ask_btf(split);
	btf_close(split);
	btf_close(base);
}

/* --- sizes and nesting ------------------------------------------------------------------ */

#define SIZES_MAX  200	 /* records */
#define NESTED_MAX 16384 /* as btf/nesting.c has it */
#define CHAIN	   16

struct words {
	uint32_t items[6 + SIZES_MAX * 12];
	size_t count;
};

static void put_word(struct words *words, uint32_t word)
{
	words->items[words->count++] = word;
}

/* A small number mostly, now and then one that does not fit. */
static uint32_t take_number(struct fuzz_input *input)
{
	uint32_t number = (uint32_t)fuzz_take(input, 1);
	return number < 0xf8 ? number : number < 0xfc ? UINT32_MAX >> (number & 3) : 1u << 31;
}

/* A record of one of six kinds, which mentions others by their numbers. */
static void put_record(struct words *words, struct fuzz_input *input)
{
	static const enum btf_kind kinds[] = { BTF_INT,	  BTF_ARRAY,   BTF_STRUCT,
					       BTF_UNION, BTF_TYPEDEF, BTF_FLOAT };
	uint32_t choice = (uint32_t)fuzz_take(input, 1), size = take_number(input);
	enum btf_kind kind = kinds[choice % 6];
	bool is_record = kind == BTF_STRUCT || kind == BTF_UNION;
	uint32_t members = is_record ? choice / 6 % 4 : 0;
	bool has_bits = is_record && choice & 0x80;
	put_word(words, 0);
	put_word(words, (uint32_t)has_bits << 31 | (uint32_t)kind << 24 | members);
	put_word(words, kind == BTF_ARRAY ? 0 : size);
	if (kind == BTF_INT)
		put_word(words, size * 8 & 0xff);
	if (kind == BTF_ARRAY) {
		put_word(words, take_number(input));
		put_word(words, 0);
		put_word(words, size);
	}
	for (uint32_t i = 0; i < members; i++) {
		put_word(words, 0);
		put_word(words, take_number(input));
		put_word(words, take_number(input) * (has_bits ? 0x10001 : 8));
	}
}

/* The struct that a member is, or that the elements of an array are: who walks in visits it. */
static struct type innermost(struct type type)
{
	struct btf_type record;
	struct type element;
	for (int steps = 0; steps < CHAIN && type_get_resolved(type, &record) &&
			    record.kind == BTF_ARRAY && type_target(type, &element);
	     steps++)
		type = element;
	return type_resolve(type);
}

/* Walks into a struct; members lie within it, and all of them are not too many. */
static void walk_in(struct type type, uint64_t *visits)
{
	struct btf_type record;
	struct btf_member member;
	if (!type_get(type, &record))
		return;
	for (uint32_t i = 0; btf_member(&record, i, &member); i++) {
		struct type of = { type.btf, member.type };
		uint64_t size;
		if (member.bit_size)
			EXPECT(member.bit_offset + member.bit_size <= (uint64_t)record.size * 8);
		else if (type_size(of, &size))
			EXPECT(member.bit_offset + size * 8 <= (uint64_t)record.size * 8);
		EXPECT(++*visits <= NESTED_MAX);
		walk_in(innermost(of), visits);
	}
}

/* Input: a few bytes for each record, so that most of what is said is nearly right. */
void fuzz_btf_sizes(const uint8_t *data, size_t size)
{
	static struct words words;
	struct fuzz_input input = { data, size };
	struct btf *btf = NULL;
	words.count = 6;
	for (uint32_t i = 0; i < SIZES_MAX && input.size; i++)
		put_record(&words, &input);
	uint32_t bytes = (uint32_t)(words.count - 6) * 4;
	const uint32_t header[6] = { 0x1eb9f, 24, 0, bytes, bytes, 1 };
	memcpy(words.items, header, sizeof(header));
	if (words.count == ARRAY_COUNT(words.items))
		return;
	words.items[words.count] = 0; /* the empty string */
	fuzz_done(btf_open(words.items, words.count * 4 + 1, NULL, "fuzz", &btf));
	for (uint32_t id = 1; btf && id < btf_end_id(btf); id++) {
		uint64_t visits = 0, bytes_of;
		walk_in((struct type){ btf, id }, &visits);
		type_size((struct type){ btf, id }, &bytes_of);
	}
	btf_close(btf);
}

/*
 * Where the search looks: as much as holds the smallest BTF that it takes, near the top of the
 * address space, where it ends soon.
 */
#define IMAGE_SIZE ((size_t)160 << 10)
#define IMAGE_BASE (UINT64_MAX - IMAGE_SIZE - 4095)

/*
 * Input: length of the beginning, place of the rest in 16 bytes, both. Between them there are
 * records of integers of 4 bytes without a name.
 */
void fuzz_btf_search(const uint8_t *data, size_t size)
{
	static uint8_t image[IMAGE_SIZE];
	static const uint8_t record[16] = { [7] = 1, [8] = 4, [12] = 32 };
	struct fuzz_input input = { data, size };
	size_t length = fuzz_take(&input, 2), place = fuzz_take(&input, 2) * sizeof(record);
	for (size_t at = 0; at < sizeof(image); at += sizeof(record))
		memcpy(image + at, record, sizeof(record));
	if (length > input.size)
		length = input.size;
	if (!length || place > sizeof(image) - (input.size - length))
		return;
	memcpy(image, input.data, length);
	memcpy(image + place, input.data + length, input.size - length);
	struct memory_array array;
	uint64_t address = 0, found = 0;
	memory_array_init(&array, IMAGE_BASE, image, sizeof(image));
	fuzz_done(btf_search(&array.memory, IMAGE_BASE, &address, &found));
	if (!found)
		return;
	struct btf *btf = NULL;
	EXPECT(address >= IMAGE_BASE && found <= IMAGE_SIZE - (address - IMAGE_BASE));
	EXPECT(!btf_open(image + (address - IMAGE_BASE), found, NULL, "found", &btf));
	btf_close(btf);
}
