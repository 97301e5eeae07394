/* SPDX-License-Identifier: GPL-3.0-or-later */
/* BTF that no compiler makes, word by word; and all that can be asked of it. */
#ifndef TESTS_UNIT_BTF_BLOB_H
#define TESTS_UNIT_BTF_BLOB_H

#include "btf/dump_raw.h"
#include "btf/header.h"
#include "btf/layout.h"
#include "tests/unit/test.h"
#include <inttypes.h>
#include <string.h>

/* --- blobs by hand -------------------------------------------------------------------- */

struct blob {
	uint8_t bytes[4096];
	uint32_t header_size, types_size, strings_size;
	uint8_t types[2048];
	char strings[512];
	uint8_t layout[32 * 4];
	uint32_t layout_size;
};

static inline uint32_t add_string(struct blob *blob, const char *string)
{
	uint32_t offset = blob->strings_size;
	strcpy(blob->strings + offset, string);
	blob->strings_size += (uint32_t)strlen(string) + 1;
	return offset;
}

static inline void blob_init(struct blob *blob, uint32_t header_size)
{
	memset(blob, 0, sizeof(*blob));
	blob->header_size = header_size;
	add_string(blob, "");
}

static inline void add_word(struct blob *blob, uint32_t word)
{
	memcpy(blob->types + blob->types_size, &word, 4);
	blob->types_size += 4;
}

static inline void add_record(struct blob *blob, uint32_t name, uint32_t kind, uint32_t vlen,
			      uint32_t type)
{
	add_word(blob, name);
	add_word(blob, kind << 24 | vlen);
	add_word(blob, type);
}

static inline void add_int(struct blob *blob, const char *name, uint32_t size)
{
	add_record(blob, add_string(blob, name), BTF_INT, 0, size);
	add_word(blob, size * 8);
}

/* The blob in a block of exactly its size. Caller frees. */
static inline uint8_t *assemble(struct blob *blob, size_t *ret_size)
{
	uint32_t header[8] = { 0x1eb9f,
			       blob->header_size,
			       0,
			       blob->types_size,
			       blob->types_size,
			       blob->strings_size,
			       blob->types_size + blob->strings_size,
			       blob->layout_size };
	uint32_t at = blob->header_size;
	*ret_size = at + blob->types_size + blob->strings_size + blob->layout_size;
	uint8_t *data = calloc(1, *ret_size);
	memcpy(data, header, at < sizeof(header) ? at : sizeof(header));
	memcpy(data + at, blob->types, blob->types_size);
	memcpy(data + at + blob->types_size, blob->strings, blob->strings_size);
	memcpy(data + at + blob->types_size + blob->strings_size, blob->layout, blob->layout_size);
	return data;
}

static inline struct btf *open_blob(struct blob *blob, const struct btf *base, uint8_t **ret_data)
{
	size_t size;
	struct btf *btf = NULL;
	*ret_data = assemble(blob, &size);
	CHECK_OK(btf_open(*ret_data, size, base, "blob", &btf));
	return btf;
}

static inline void check_refused(struct blob *blob, const char *why)
{
	size_t size;
	struct btf *btf = NULL;
	uint8_t *data = assemble(blob, &size);
	CHECK_FAILS(btf_open(data, size, NULL, "blob", &btf), why);
	free(data);
}

/* --- everything there is to ask --------------------------------------------------------- */

static inline void ask_type(const struct btf *btf, uint32_t id, FILE *sink)
{
	struct type type = { btf, id }, made;
	struct btf_type record;
	struct type_place place;
	char spelled[300];
	uint64_t size;
	type_spell(type, "declared", spelled, sizeof(spelled));
	fprintf(sink, "%zu", strlen(spelled));
	if (type_size(type, &size))
		fprintf(sink, "%" PRIu64, size);
	fprintf(sink, "%u", type_alignment(type));
	type_find_member(type, "y", &place);
	error_free(type_find_path(type, "nodes[1].y[2]", &place));
	type_target(type, &made);
	type_equal(type, (struct type){ btf, id / 2 });
	if (!type_pointer_to(type, &made))
		type_spell(made, NULL, spelled, sizeof(spelled));
	CHECK(btf_get(btf, id, &record));
	uint64_t cursor = 0;
	if (record.name[0])
		btf_find(btf, record.kind, record.name, &cursor);
	struct btf_member member;
	for (uint32_t i = 0; btf_member(&record, i, &member); i++)
		fprintf(sink, "%zu%u", strlen(member.name), member.bit_size);
}

/* Layouts in all styles, and as data. */
static inline void ask_layouts(const struct btf *btf, struct out *json)
{
	struct btf_layouts *layouts = btf_layouts_create(btf);
	struct strbuf text = { 0 };
	struct btf_type record;
	size_t longest = 0;
	/* One that nests without end is enough. */
	for (uint32_t id = 1; longest < 1 << 20 && btf_get(btf, id, &record); id++) {
		if (record.kind != BTF_STRUCT && record.kind != BTF_UNION)
			continue;
		for (int i = 0; i < 4; i++) {
			struct btf_layout_style style = { .as_pahole = i & 1, .expand = i & 2 };
			error_free(btf_layout_text(layouts, &style, &record, &text));
			longest = text.size > longest ? text.size : longest;
			text.size = 0;
			out_object_begin(json, NULL);
			error_free(btf_layout_fields(layouts, &style, &record, json));
			out_object_end(json);
		}
	}
	strbuf_deinit(&text);
	btf_layouts_destroy(layouts);
}

static inline void ask_header(const struct btf *btf)
{
	struct strbuf text = { 0 };
	error_free(btf_header(btf, &text));
	strbuf_deinit(&text);
}

static inline void ask_everything(const struct btf *btf)
{
	FILE *sink = fopen("/dev/null", "w");
	struct out *out = out_text_create(sink);
	struct btf_enumerator enumerator;
	struct type made;
	uint32_t id;
	for (id = 0; id < btf_end_id(btf); id++)
		ask_type(btf, id, sink);
	CHECK_OK(btf_dump_raw(out, NULL, btf));
	btf_find_enumerator(btf, "nothing", &id, &enumerator);
	CHECK_OK(type_integer(btf, "int", 4, 1, &made));
	struct out *json = out_json_create(sink);
	ask_layouts(btf, json);
	ask_header(btf);
	out_destroy(json);
	out_destroy(out);
	fclose(sink);
}

/* Of three types the second is bad: the others stay what they are. */
static inline void check_mended(struct blob *blob, const char *why)
{
	uint8_t *data;
	struct btf *btf = open_blob(blob, NULL, &data);
	struct btf_type type;
	CHECK_U64(btf_end_id(btf), 4);
	CHECK(!btf_is_cut(btf));
	CHECK_STRING(btf_warning(btf), why);
	CHECK(btf_get(btf, 1, &type));
	CHECK_STRING(type.name, "before");
	CHECK(btf_get(btf, 3, &type));
	CHECK_STRING(type.name, "after");
	ask_everything(btf);
	/* Ids are as many as ever: it still is a base. */
	struct blob above;
	uint8_t *split_data;
	blob_init(&above, 24);
	add_record(&above, 0, BTF_PTR, 0, 3);
	struct btf *split = open_blob(&above, btf, &split_data);
	ask_everything(split);
	btf_close(split);
	btf_close(btf);
	free(split_data);
	free(data);
}

#endif
