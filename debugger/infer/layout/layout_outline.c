// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/infer/layout/layout_outline.h"

#include "base/array.h"
#include "base/hash.h"
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX    12
#define ELEMENTS_MAX 128
#define STEM_MIN     2 /* letters before a number */

/* --- words of names --------------------------------------------------------------------- */

static bool is_digit(char byte)
{
	return byte >= '0' && byte <= '9';
}

static bool is_word_byte(char byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || is_digit(byte);
}

static uint32_t hash_word(const char *start, size_t length)
{
	uint32_t hash = 2166136261u;
	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (uint8_t)start[i]) * 16777619u;
	return hash ^ hash >> 15;
}

/* Abbreviations in names, and the words that they stand for. */
static const struct {
	const char *written, *meant;
} short_forms[] = {
	{ "mask", "cpumask" },	  { "attribute", "attr" }, { "operation", "op" },
	{ "tbl", "table" },	  { "tv", "testvec" },	   { "desc", "descriptor" },
	{ "grp", "group" },	  { "evt", "event" },	   { "drv", "driver" },
	{ "device", "dev" },	  { "cfg", "config" },	   { "conf", "config" },
	{ "parameter", "param" }, { "resource", "res" },   { "header", "hdr" },
	{ "address", "addr" },	  { "buffer", "buf" },	   { "command", "cmd" },
	{ "message", "msg" },	  { "context", "ctx" },	   { "control", "ctl" },
	{ "function", "func" },	  { "protocol", "proto" }, { "format", "fmt" },
	{ "callback", "cb" },	  { "vector", "vec" },	   { "interface", "iface" },
	{ "register", "reg" },
};

size_t name_words(const char *name, struct name_word *ret)
{
	size_t count = 0;
	while (*name && *name != '.' && count < NAME_WORDS_MAX) {
		size_t length = 0;
		while (is_word_byte(name[length]))
			length++;
		struct name_word word = { .start = name, .length = (uint32_t)length };
		name += length ? length : 1;
		if (!length)
			continue;
		if (word.length > 2 && word.start[word.length - 1] == 's' &&
		    word.start[word.length - 2] != 's') {
			word.length--;
			word.is_plural = true;
		}
		for (size_t i = 0; i < sizeof(short_forms) / sizeof(*short_forms); i++) {
			if (strlen(short_forms[i].written) != word.length ||
			    strncmp(short_forms[i].written, word.start, word.length))
				continue;
			word.start = short_forms[i].meant;
			word.length = (uint32_t)strlen(word.start);
		}
		word.hash = hash_word(word.start, word.length);
		ret[count++] = word;
	}
	return count;
}

size_t name_words_numbered(struct name_word *words, size_t count)
{
	for (size_t i = 0; i < count && count < NAME_WORDS_MAX; i++) {
		struct name_word word = words[i];
		while (word.length && is_digit(word.start[word.length - 1]))
			word.length--;
		if (word.length < STEM_MIN || word.length == words[i].length)
			continue;
		word.hash = hash_word(word.start, word.length);
		memmove(&words[i + 1], &words[i], (count++ - i) * sizeof(*words));
		words[i++] = word;
	}
	return count;
}

uint64_t name_bits(const struct name_word *words, size_t count)
{
	uint64_t bits = 0;
	for (size_t i = 0; i < count; i++)
		bits |= (uint64_t)1 << words[i].hash % 64;
	return bits;
}

/* --- outlines --------------------------------------------------------------------------- */

struct drawing {
	const struct layout *layout;
	struct outlines *outlines;
	struct outline *outline;
	uint64_t covered;
	unsigned int left;	  /* members near the start that may still be visited */
	unsigned int leaves_left; /* the same of all */
	bool is_list;		  /* its members are no leaves */
};

static void cover(struct drawing *drawing, uint64_t offset, uint64_t size)
{
	for (uint64_t i = offset; i < offset + size && i < OUTLINE_BYTES; i++)
		drawing->covered |= (uint64_t)1 << i;
}

static void draw(struct drawing *drawing, uint32_t type, uint64_t offset, int depth);

/* What there is no memory for is not told. */
static void add_leaf(struct drawing *drawing, enum leaf_kind kind, uint64_t offset)
{
	struct outlines *outlines = drawing->outlines;
	if (kind == LEAF_KINDS || drawing->is_list || offset >= OUTLINE_LEAVES_END ||
	    drawing->outline->leaf_count == OUTLINE_LEAVES_END ||
	    !array_reserve(&outlines->leaves, &outlines->leaf_capacity, outlines->leaf_count + 1))
		return;
	outlines->leaves[outlines->leaf_count++] =
		(struct leaf){ (uint16_t)kind & 15, (uint16_t)offset & 4095 };
	drawing->outline->leaf_count++;
}

static void add_bytes(struct drawing *drawing, enum leaf_kind kind, uint64_t start, uint64_t end)
{
	for (; start < end && start < OUTLINE_LEAVES_END; start++)
		add_leaf(drawing, kind, start);
}

/* Bytes as own_data_fit.c counts them. */
static void draw_members(struct drawing *drawing, uint32_t type, uint64_t offset, int depth)
{
	const struct field *field;
	uint64_t end = offset;
	for (uint32_t i = 0; (field = layout_field(drawing->layout, type, i)); i++) {
		uint64_t start = offset + field->offset, stop;
		if (field->bit_size) {
			stop = start + 1 + (field->bit_size + 6) / 8;
			/* Where exactly it lies in its unit is not kept. */
			cover(drawing, start, stop - start);
			add_bytes(drawing, LEAF_INT8, end > start ? end : start, stop);
		} else {
			stop = start + layout_size(drawing->layout, field->type);
			add_bytes(drawing, LEAF_HOLE, end, start);
			draw(drawing, field->type, start, depth + 1);
		}
		end = stop > end ? stop : end;
	}
	add_bytes(drawing, LEAF_HOLE, end, offset + layout_size(drawing->layout, type));
}

/* LEAF_KINDS: none that is watched. */
static enum leaf_kind leaf_of(const struct layout *layout, uint32_t type)
{
	const struct layout_record *record = &layout->records[type];
	uint32_t target = layout_target(layout, type);
	if (record->kind == BTF_PTR)
		/* A void * may hold any number, a long a pointer. */
		return !target					       ? LEAF_KINDS
		       : layout_kind(layout, target) == BTF_FUNC_PROTO ? LEAF_FUNCTION
								       : LEAF_POINTER;
	if (record->kind != BTF_INT)
		return LEAF_KINDS;
	if (record->encoding & BTF_INT_BOOL)
		return record->size == 1 ? LEAF_BOOL : LEAF_KINDS;
	return record->size == 1   ? LEAF_INT8
	       : record->size == 2 ? LEAF_INT16
	       : record->size == 4 ? LEAF_INT32
	       : record->size == 8 ? LEAF_INT64
				   : LEAF_KINDS;
}

static void draw_leaf(struct drawing *drawing, uint32_t type, uint64_t offset, bool is_near)
{
	const struct layout *layout = drawing->layout;
	uint16_t bit = is_near ? (uint16_t)(1u << offset / 8) : 0;
	enum leaf_kind kind = leaf_of(layout, type);
	bool is_pointer = kind == LEAF_POINTER || kind == LEAF_FUNCTION;
	add_leaf(drawing, kind, offset);
	if (is_near && is_pointer && offset % 8 == 0)
		drawing->outline->pointers |= bit;
	else if (is_near && layout_kind(layout, type) != BTF_PTR && layout_size(layout, type) == 4)
		drawing->outline->numbers |= bit;
}

static void draw(struct drawing *drawing, uint32_t type, uint64_t offset, int depth)
{
	const struct layout *layout = drawing->layout;
	uint32_t size = layout_size(layout, type);
	if (depth > DEPTH_MAX || offset >= OUTLINE_LEAVES_END || !drawing->leaves_left)
		return;
	drawing->leaves_left--;
	bool is_near = offset < OUTLINE_WORDS * 8 && drawing->left;
	drawing->left -= is_near;
	if (type && is_near &&
	    (type == layout->raw_spinlock || type == layout->rwlock || type == layout->list_head))
		drawing->outline->is_written = true;
	switch (layout_kind(layout, type)) {
	case BTF_STRUCT: {
		bool is_list = type && type == layout->list_head;
		if (is_list)
			add_leaf(drawing, LEAF_LIST, offset);
		drawing->is_list |= is_list;
		draw_members(drawing, type, offset, depth);
		drawing->is_list &= !is_list;
		return;
	}
	case BTF_ARRAY: {
		uint32_t element = layout_target(layout, type);
		uint32_t step = layout_size(layout, element);
		uint32_t count = layout_array_count(layout, type);
		if (step == 1) {
			cover(drawing, offset, size);
			return;
		}
		for (uint32_t i = 0; i < count && i < ELEMENTS_MAX; i++)
			draw(drawing, element, offset + (uint64_t)i * step, depth + 1);
		return;
	}
	case BTF_UNION:
		cover(drawing, offset, size);
		return;
	default:
		cover(drawing, offset, size);
		draw_leaf(drawing, type, offset, is_near);
	}
}

static void count_words(struct outlines *outlines, const char *name, struct outline_name *ret)
{
	struct name_word words[NAME_WORDS_MAX];
	size_t count = name_words(name, words);
	*ret = (struct outline_name){ .bits = name_bits(words, count) };
	for (size_t i = 0; i < count; i++) {
		if (i < OUTLINE_NAME_WORDS)
			ret->words[i] = words[i].hash;
		uint16_t *slot = &outlines->counts[words[i].hash & (WORD_COUNTS - 1)];
		*slot = (uint16_t)(*slot + (*slot < UINT16_MAX));
	}
}

static void outline(const struct layout *layout, struct outlines *outlines, uint32_t type,
		    struct outline *ret)
{
	struct drawing drawing = { .layout = layout,
				   .outlines = outlines,
				   .outline = ret,
				   .left = 256,
				   .leaves_left = 512 };
	*ret = (struct outline){ .type = type,
				 .first_leaf = (uint32_t)outlines->leaf_count,
				 .size = layout_size(layout, type),
				 .is_union = layout_kind(layout, type) == BTF_UNION };
	draw(&drawing, type, 0, 0);
	uint32_t watched = ret->size < OUTLINE_BYTES ? ret->size : OUTLINE_BYTES;
	uint64_t all = watched == OUTLINE_BYTES ? ~(uint64_t)0 : ((uint64_t)1 << watched) - 1;
	/* Not all was visited: then nothing is known to be a hole. */
	ret->holes = drawing.left ? all & ~drawing.covered : 0;
}

/* Records of the trace buffer and what belongs to them: a third of all structs, no variable. */
static bool is_trace_record(const char *name)
{
	return !strncmp(name, "trace_event_raw_", 16) ||
	       !strncmp(name, "trace_event_data_offsets_", 25);
}

static void outline_all(const struct layout *layout, struct outlines *outlines, size_t room)
{
	struct btf_type record;
	memset(outlines->rarity, 0, sizeof(outlines->rarity));
	for (uint32_t id = layout->first; id < layout->end && outlines->count < room; id++) {
		if (!layout_is_compound(layout, id) || !layout_size(layout, id) ||
		    layout_resolve(layout, id) != id ||
		    !btf_get(layout->btf, layout_shown(layout, id), &record) || !*record.name ||
		    is_trace_record(record.name))
			continue;
		outline(layout, outlines, id, &outlines->items[outlines->count]);
		count_words(outlines, record.name, &outlines->names[outlines->count]);
		outlines->count++;
	}
	for (size_t i = 0; i < WORD_COUNTS; i++)
		for (size_t left = outlines->counts[i] ? outlines->count / outlines->counts[i] : 0;
		     left > 1; left /= 2)
			outlines->rarity[i]++;
}

const struct outline *outlines_find(const struct outlines *outlines, uint32_t type)
{
	size_t first = array_bound(outlines->count, i, outlines->items[i].type < type);
	return first < outlines->count && outlines->items[first].type == type
		       ? &outlines->items[first]
		       : NULL;
}

/* The bits that the words of a struct's name tell, those in `words` and all. */
static unsigned int outlines_match_name(const struct outlines *outlines,
					const struct outline_name *name,
					const struct name_word *words, size_t count,
					unsigned int *ret_all)
{
	unsigned int common = 0, all = 0;
	for (size_t i = 0; i < OUTLINE_NAME_WORDS && name->words[i]; i++) {
		unsigned int bits = outlines->rarity[name->words[i] & (WORD_COUNTS - 1)];
		all += bits;
		for (size_t k = 0; k < count; k++) {
			if (words[k].hash != name->words[i])
				continue;
			common += bits;
			break;
		}
	}
	*ret_all = all;
	return common;
}

/* Do both names end in the same word? */
static bool outline_ends_name(const struct outline_name *name, const struct name_word *words,
			      size_t count)
{
	uint32_t last = 0;
	for (size_t i = 0; i < OUTLINE_NAME_WORDS && name->words[i]; i++)
		last = name->words[i];
	return count && words[count - 1].hash == last;
}

int outlines_name_points(const struct outlines *outlines, const struct outline *outline,
			 const struct name_word *words, size_t count, uint64_t bits)
{
	const struct outline_name *name = &outlines->names[outline - outlines->items];
	unsigned int all, common;
	if (!(name->bits & bits))
		return 0;
	common = outlines_match_name(outlines, name, words, count, &all);
	int points = all ? (int)(common * common / all) : 0;
	/* Names end in what a thing is, and begin with what it belongs to. */
	if (all && common == all)
		points *= outline_ends_name(name, words, count) ? 3 : 2;
	return points;
}

/* What a level begins with. */
static bool copy_base(struct outlines *outlines, const struct outlines *base)
{
	size_t count = base->count, leaves = base->leaf_count;
	if (!array_reserve(&outlines->leaves, &outlines->leaf_capacity, leaves + 1))
		return false;
	/* Else it is there from the level before. */
	if (!outlines->count) {
		memcpy(outlines->items, base->items, count * sizeof(*base->items));
		memcpy(outlines->names, base->names, count * sizeof(*base->names));
		memcpy(outlines->leaves, base->leaves, leaves * sizeof(*base->leaves));
	}
	outlines->count = count;
	outlines->leaf_count = leaves;
	memcpy(outlines->counts, base->counts, sizeof(base->counts));
	return true;
}

struct error *outlines_create(const struct layout *layout, const struct outlines *base,
			      struct outlines **ret)
{
	size_t count = base ? base->count : 0;
	if (!*ret)
		*ret = calloc(1, sizeof(**ret));
	struct outlines *outlines = *ret;
	for (uint32_t id = layout->first; id < layout->end; id++)
		count += layout_is_compound(layout, id);
	if (!outlines || !array_reserve(&outlines->items, &outlines->capacity, count + 1) ||
	    !array_reserve(&outlines->names, &outlines->name_capacity, count + 1) ||
	    (base && !copy_base(outlines, base)))
		return error_no_memory();
	outline_all(layout, outlines, count);
	return NULL;
}

void outlines_destroy(struct outlines *outlines)
{
	if (!outlines)
		return;
	free(outlines->items);
	free(outlines->names);
	free(outlines->leaves);
	free(outlines);
}
