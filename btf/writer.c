// SPDX-License-Identifier: GPL-3.0-or-later
#include "btf/writer.h"

#include "base/array.h"
#include "btf/level.h"
#include <stdlib.h>
#include <string.h>

#define BLOB_MAX (1u << 30) /* bytes */

/* A type of the new level: its id is the first one and its number. */
struct item {
	const struct btf *level; /* copied from there; NULL: in `records` */
	uint32_t id;
	uint32_t offset, size; /* in `records` */
};

struct buffer {
	uint8_t *bytes;
	size_t size, capacity;
};

struct btf_writer {
	const struct btf *base;
	struct item *items;
	size_t count, capacity;
	struct hash_index copied; /* of items, by where they are from */
	struct buffer records, strings, output;
	struct hash_index names; /* offsets in `strings` */
	bool no_memory;
};

struct btf_writer *btf_writer_create(const struct btf *base)
{
	struct btf_writer *writer = calloc(1, sizeof(*writer));
	if (writer)
		writer->base = base;
	return writer;
}

void btf_writer_destroy(struct btf_writer *writer)
{
	if (!writer)
		return;
	hash_index_deinit(&writer->copied);
	hash_index_deinit(&writer->names);
	free(writer->items);
	free(writer->records.bytes);
	free(writer->strings.bytes);
	free(writer->output.bytes);
	free(writer);
}

/* --- bytes -------------------------------------------------------------------------------------
 */

/* Room for bytes at the end of a buffer; NULL without memory. */
static uint8_t *grow(struct btf_writer *writer, struct buffer *buffer, size_t size)
{
	if (buffer->size + size > BLOB_MAX ||
	    !array_reserve(&buffer->bytes, &buffer->capacity, buffer->size + size)) {
		writer->no_memory = true;
		return NULL;
	}
	uint8_t *at = buffer->bytes + buffer->size;
	buffer->size += size;
	return at;
}

static void put_u32(const struct btf_writer *writer, uint8_t *to, uint32_t value)
{
	value = load_u32(&value, writer->base->big_endian);
	memcpy(to, &value, sizeof(value));
}

/* The offset of a string, in the joint numbers. */
static uint32_t put_string(struct btf_writer *writer, const char *string)
{
	uint32_t start = writer->base->string_start + writer->base->string_size, found;
	uint32_t hash = hash_string(string);
	size_t position = hash_index_first(&writer->names, hash), size = strlen(string) + 1;
	if (!*string)
		return 0;
	while ((found = hash_index_next(&writer->names, hash, &position)) != HASH_NONE)
		if (!strcmp((const char *)writer->strings.bytes + found, string))
			return start + found;
	uint32_t offset = (uint32_t)writer->strings.size;
	uint8_t *at = grow(writer, &writer->strings, size);
	if (!at || !hash_index_add(&writer->names, hash, offset)) {
		writer->no_memory = true;
		return 0;
	}
	memcpy(at, string, size);
	return start + offset;
}

/* --- types that are mentioned
 * --------------------------------------------------------------------- */

static uint32_t add_item(struct btf_writer *writer, struct item item)
{
	if (!array_reserve(&writer->items, &writer->capacity, writer->count + 1)) {
		writer->no_memory = true;
		return 0;
	}
	writer->items[writer->count++] = item;
	return writer->base->end_id + (uint32_t)writer->count - 1;
}

static bool is_of_base(const struct btf_writer *writer, const struct btf *level)
{
	for (const struct btf *base = writer->base; base; base = base->base)
		if (base == level)
			return true;
	return false;
}

/* The same type in the base; 0: it has none. */
static uint32_t find_equal(const struct btf_writer *writer, const struct btf_type *type)
{
	uint64_t cursor = 0;
	uint32_t id;
	if (!type->name[0] || type->kind == BTF_VAR || type->kind == BTF_FUNC)
		return 0;
	while ((id = btf_find(writer->base, type->kind, type->name, &cursor)))
		if (type_equal((struct type){ writer->base, id },
			       (struct type){ type->btf, type->id }))
			return id;
	return 0;
}

static uint32_t hash_place(const struct btf *level, uint32_t id)
{
	struct {
		const struct btf *level;
		uint64_t id;
	} place = { level, id };
	return hash_bytes(&place, sizeof(place));
}

/* The id in the new level of a type of any other; 0: void, or what cannot be said. */
static uint32_t mention(struct btf_writer *writer, const struct btf *btf, uint32_t id)
{
	struct btf_type type;
	if (!id || !btf_get(btf, id, &type) || type.kind >= BTF_KIND_COUNT ||
	    btf->big_endian != writer->base->big_endian)
		return 0;
	if (is_of_base(writer, type.btf))
		return id;
	uint32_t hash = hash_place(type.btf, id), number;
	size_t position = hash_index_first(&writer->copied, hash);
	while ((number = hash_index_next(&writer->copied, hash, &position)) != HASH_NONE)
		if (writer->items[number].level == type.btf && writer->items[number].id == id)
			return writer->base->end_id + number;
	uint32_t equal = find_equal(writer, &type);
	if (equal)
		return equal;
	number = (uint32_t)writer->count;
	if (!hash_index_add(&writer->copied, hash, number))
		writer->no_memory = true;
	return add_item(writer, (struct item){ .level = type.btf, .id = id });
}

/* --- records of our own
 * ------------------------------------------------------------------------------ */

static uint32_t add_record(struct btf_writer *writer, const uint32_t *words, size_t count)
{
	struct item item = { .offset = (uint32_t)writer->records.size,
			     .size = (uint32_t)(count * 4) };
	uint8_t *at = grow(writer, &writer->records, item.size);
	for (size_t i = 0; at && i < count; i++)
		put_u32(writer, at + 4 * i, words[i]);
	return at ? add_item(writer, item) : 0;
}

uint32_t btf_writer_variable(struct btf_writer *writer, const char *name, struct type type,
			     uint32_t linkage)
{
	uint32_t id = mention(writer, type.btf, type.id);
	const uint32_t words[] = { put_string(writer, name), (uint32_t)BTF_VAR << 24, id, linkage };
	return add_record(writer, words, ARRAY_COUNT(words));
}

uint32_t btf_writer_tag(struct btf_writer *writer, const char *text, uint32_t id)
{
	const uint32_t words[] = { put_string(writer, text), (uint32_t)BTF_DECL_TAG << 24, id,
				   UINT32_MAX };
	return add_record(writer, words, ARRAY_COUNT(words));
}

void btf_writer_section(struct btf_writer *writer, const char *name, uint32_t size,
			const struct btf_section_entry *entries, uint32_t count)
{
	const uint32_t words[] = { put_string(writer, name), (uint32_t)BTF_DATASEC << 24 | count,
				   size };
	if (!add_record(writer, words, ARRAY_COUNT(words)))
		return;
	struct item *item = &writer->items[writer->count - 1];
	uint8_t *at = grow(writer, &writer->records, (size_t)count * ENTRY_SIZE);
	item->size += count * ENTRY_SIZE;
	for (uint32_t i = 0; at && i < count; i++, at += ENTRY_SIZE) {
		put_u32(writer, at, entries[i].type);
		put_u32(writer, at + 4, entries[i].offset);
		put_u32(writer, at + 8, entries[i].size);
	}
}

/* --- the blob
 * ------------------------------------------------------------------------------------------ */

struct copying {
	struct btf_writer *writer;
	const struct btf *level;
	const uint8_t *from;
	size_t to; /* in the output, which may move */
};

static void copy_word(void *context, const uint8_t *word, enum word_role role)
{
	struct copying *copying = context;
	struct btf_writer *writer = copying->writer;
	uint32_t value = level_u32(copying->level, word);
	if (role == WORD_NAME || role == WORD_ELEMENT_NAME)
		value = put_string(writer, btf_string(copying->level, value));
	else
		value = mention(writer, copying->level, value);
	put_u32(writer, writer->output.bytes + copying->to + (word - copying->from), value);
}

/* Derived arrays have no type for the index, which the kernel wants to see. */
static void give_index(struct btf_writer *writer, size_t to)
{
	static const char *const names[] = { "int", "unsigned int", "long unsigned int" };
	uint8_t *index = writer->output.bytes + to + RECORD_SIZE + 4;
	for (size_t i = 0; i < ARRAY_COUNT(names) && !level_u32(writer->base, index); i++) {
		uint64_t cursor = 0;
		put_u32(writer, index, btf_find(writer->base, BTF_INT, names[i], &cursor));
	}
}

static void copy_type(struct btf_writer *writer, const struct btf *level, uint32_t id)
{
	const uint8_t *record = level_record(level, id);
	uint32_t info = level_u32(level, record + 4);
	const struct shape *shape = &shapes[info_kind(info)];
	struct copying copying = { writer, level, record, writer->output.size };
	size_t size = RECORD_SIZE + shape->info_size +
		      (shape->element_size ? (size_t)info_vlen(info) * shape->element_size : 0);
	uint8_t *to = grow(writer, &writer->output, size);
	if (!to)
		return;
	memcpy(to, record, size);
	record_words(record, level->big_endian, copy_word, &copying);
	if (info_kind(info) == BTF_ARRAY)
		give_index(writer, copying.to);
}

static void write_header(struct btf_writer *writer, uint8_t *data)
{
	uint32_t types = (uint32_t)writer->output.size;
	const uint32_t words[] = { 0, 24, 0, types, types, (uint32_t)writer->strings.size };
	for (size_t i = 1; i < ARRAY_COUNT(words); i++)
		put_u32(writer, data + 4 * i, words[i]);
	memcpy(data, writer->base->big_endian ? "\xeb\x9f\x01" : "\x9f\xeb\x01", 4);
}

struct error *btf_writer_finish(struct btf_writer *writer, void **ret, size_t *ret_size)
{
	/* Copying one may find more to copy. */
	for (size_t i = 0; i < writer->count && !writer->no_memory; i++) {
		const struct item item = writer->items[i];
		if (item.level) {
			copy_type(writer, item.level, item.id);
			continue;
		}
		uint8_t *to = grow(writer, &writer->output, item.size);
		if (to)
			memcpy(to, writer->records.bytes + item.offset, item.size);
	}
	size_t types = writer->output.size, size = 24 + types + writer->strings.size;
	uint8_t *data = writer->no_memory ? NULL : malloc(size);
	if (!data)
		return error_no_memory();
	write_header(writer, data);
	if (types)
		memcpy(data + 24, writer->output.bytes, types);
	if (writer->strings.size)
		memcpy(data + 24 + types, writer->strings.bytes, writer->strings.size);
	*ret = data;
	*ret_size = size;
	return NULL;
}
