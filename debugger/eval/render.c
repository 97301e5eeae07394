// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Values as text and JSON. The object is copied out of the dump in one go; what follows walks its
 * type over the copy. Equal neighbours in arrays are written once in text, and all in JSON: the
 * repetitions are rendered "quiet", with empty texts.
 */
#include "debugger/eval/render_private.h"

#include "base/interrupt.h"
#include "debugger/target/object.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NESTING_MAX	48
#define ANONYMOUS_MAX	16
#define NODES_MAX	(1u << 22)
#define OBJECT_SIZE_MAX (64u << 20)
#define LINE_WIDTH	96
#define RAW_SIZE_MAX	64
#define BITS_MAX	64 /* of a bit-field */
/* Shorter runs of equal scalars are as quick to read one by one. */
#define SCALAR_RUN_MIN	  5
#define AGGREGATE_RUN_MIN 2

static void render_slot(struct renderer *renderer, const char *key, const struct slot *slot);

/* --- text between the values -------------------------------------------------------------- */

static void new_line(struct renderer *renderer)
{
	if (renderer->quiet)
		return;
	if (renderer->options->one_line) {
		out_text(renderer->out, " ");
		return;
	}
	out_text(renderer->out, "\n");
	for (unsigned int i = 0; i < renderer->indent; i++)
		out_text(renderer->out, "\t");
	renderer->column = renderer->indent * 8;
}

static void text(struct renderer *renderer, const char *literal)
{
	if (renderer->quiet)
		return;
	out_text(renderer->out, "%s", literal);
	renderer->column += strlen(literal);
}

static bool exhausted(const struct renderer *renderer)
{
	return renderer->nodes > NODES_MAX || interrupt_flag;
}

/* --- structs and unions --------------------------------------------------------------------- */

static struct slot member_slot(const struct slot *whole, const struct btf_member *member)
{
	return (struct slot){ .type = { whole->type.btf, member->type },
			      .offset = whole->offset + member->bit_offset / 8,
			      .bit_offset = member->bit_size ? member->bit_offset % 8 : 0,
			      .bit_size = member->bit_size };
}

static bool is_aggregate_kind(enum btf_kind kind)
{
	return kind == BTF_STRUCT || kind == BTF_UNION;
}

static bool lies_within(const struct renderer *renderer, const struct slot *slot, uint64_t size)
{
	return slot->offset <= renderer->image.size &&
	       size <= renderer->image.size - slot->offset && slot->bit_size <= BITS_MAX;
}

static bool all_zero(const struct renderer *renderer, const struct slot *slot)
{
	uint64_t size;
	const struct image *image = &renderer->image;
	if (slot->bit_size)
		return lies_within(renderer, slot, (slot->bit_offset + slot->bit_size + 7) / 8) &&
		       !load_bits(image->data + slot->offset, slot->bit_offset, slot->bit_size,
				  image->big_endian);
	if (!type_size(slot->type, &size) || !lies_within(renderer, slot, size) ||
	    image_missing(image, slot->offset, size))
		return false;
	for (uint64_t i = 0; i < size; i++)
		if (image->data[slot->offset + i])
			return false;
	return true;
}

/* ".comm = ", with what the options put around it. */
static void member_prefix(struct renderer *renderer, const char *name, const struct slot *slot)
{
	char spelled[512];
	if (renderer->quiet)
		return;
	new_line(renderer);
	if (renderer->options->show_offsets && slot->bit_size)
		snprintf(spelled, sizeof(spelled), "/* %" PRIu64 ":%u */ ", slot->offset,
			 slot->bit_offset);
	else
		snprintf(spelled, sizeof(spelled), "/* %" PRIu64 " */ ", slot->offset);
	if (renderer->options->show_offsets)
		text(renderer, spelled);
	text(renderer, ".");
	text(renderer, name);
	text(renderer, " = ");
	if (renderer->options->show_types) {
		type_spell(slot->type, NULL, spelled, sizeof(spelled));
		text(renderer, "(");
		text(renderer, spelled);
		text(renderer, ")");
	}
}

/* The members in order; those of anonymous structs and unions as if they were its own. */
static void render_members(struct renderer *renderer, const struct slot *slot,
			   const struct btf_type *record, unsigned int anonymous)
{
	struct btf_member member;
	for (uint32_t i = 0; btf_member(record, i, &member) && !exhausted(renderer); i++) {
		struct slot part = member_slot(slot, &member);
		struct btf_type inner;
		if (*member.name) {
			if (renderer->options->hide_zero && all_zero(renderer, &part))
				continue;
			part.flags = flag_names_of_member(renderer->whole, member.name);
			member_prefix(renderer, member.name, &part);
			render_slot(renderer, member.name, &part);
			text(renderer, ",");
			renderer->members++;
		} else if (anonymous < ANONYMOUS_MAX && type_get_resolved(part.type, &inner) &&
			   is_aggregate_kind(inner.kind)) {
			/* Other members without a name are unnamed bit-fields, which in C are
			 * padding. */
			render_members(renderer, &part, &inner, anonymous + 1);
		}
	}
}

static void render_struct(struct renderer *renderer, const char *key, const struct slot *slot,
			  const struct btf_type *record)
{
	out_object_begin(renderer->out, key);
	text(renderer, "{");
	uint64_t before = renderer->members;
	struct type outer = renderer->whole;
	renderer->whole = slot->type;
	renderer->indent++;
	render_members(renderer, slot, record, 0);
	renderer->indent--;
	renderer->whole = outer;
	if (renderer->members != before)
		new_line(renderer);
	text(renderer, "}");
	out_object_end(renderer->out);
}

/* --- arrays --------------------------------------------------------------------------------- */

struct elements {
	struct type type;
	uint64_t size;	/* of one, bytes */
	uint64_t start; /* offset of the first */
	uint64_t count;
	bool is_inline;	 /* several on a line */
	bool may_repeat; /* runs are written once */
};

static bool same_holes(const struct renderer *renderer, uint64_t a, uint64_t b, uint64_t size)
{
	const struct error *first = image_all_missing(&renderer->image, a, size);
	const struct error *second = image_all_missing(&renderer->image, b, size);
	if (first && second)
		return first->kind == second->kind;
	return !image_missing(&renderer->image, a, size) &&
	       !image_missing(&renderer->image, b, size);
}

/* How many elements from `index` on are equal. */
static uint64_t run_length(const struct renderer *renderer, const struct elements *elements,
			   uint64_t index)
{
	const uint8_t *data = renderer->image.data;
	uint64_t size = elements->size, first = elements->start + index * size;
	uint64_t length = 1;
	if (!elements->may_repeat)
		return 1;
	while (index + length < elements->count) {
		uint64_t next = first + length * size;
		if (memcmp(data + first, data + next, size) ||
		    !same_holes(renderer, first, next, size))
			break;
		length++;
	}
	return length;
}

static void render_element(struct renderer *renderer, const struct elements *elements,
			   uint64_t index)
{
	struct slot slot = { .type = elements->type,
			     .offset = elements->start + index * elements->size };
	render_slot(renderer, NULL, &slot);
}

/* A run of equal elements: shown once in text, `length` times in JSON. */
static void render_run(struct renderer *renderer, const struct elements *elements, uint64_t index,
		       uint64_t length)
{
	render_element(renderer, elements, index);
	if (length > 1 && !renderer->quiet) {
		char note[48];
		snprintf(note, sizeof(note), " <repeats %" PRIu64 " times>", length);
		text(renderer, note);
	}
	bool quiet = renderer->quiet;
	renderer->quiet = true;
	for (uint64_t i = 1; i < length && !exhausted(renderer); i++)
		render_element(renderer, elements, index + i);
	renderer->quiet = quiet;
}

static void between_elements(struct renderer *renderer, const struct elements *elements,
			     bool is_first)
{
	if (!is_first)
		text(renderer, ",");
	if (!elements->is_inline || renderer->column > LINE_WIDTH)
		new_line(renderer);
	else
		text(renderer, " ");
}

static void render_elements(struct renderer *renderer, const struct elements *elements)
{
	uint64_t limit = renderer->options->array_limit ? renderer->options->array_limit
							: UINT64_MAX;
	uint64_t least = elements->is_inline ? SCALAR_RUN_MIN : AGGREGATE_RUN_MIN;
	uint64_t run = 0, shown = 0;
	for (uint64_t i = 0; i < elements->count && !exhausted(renderer);) {
		if (!run)
			run = run_length(renderer, elements, i);
		uint64_t length = run >= least ? run : 1;
		between_elements(renderer, elements, i == 0);
		if (shown++ >= limit) {
			text(renderer, "...");
			renderer->cut = true;
			break;
		}
		render_run(renderer, elements, i, length);
		run -= length;
		i += length;
	}
}

static bool type_is_inline(struct type type)
{
	struct btf_type record;
	struct type element;
	if (!type_get_resolved(type, &record))
		return true;
	if (record.kind == BTF_ARRAY)
		return type_target(type, &element) && type_is_char(element);
	return !is_aggregate_kind(record.kind);
}

static void render_array(struct renderer *renderer, const char *key, const struct slot *slot,
			 const struct btf_type *record)
{
	struct elements elements = { .start = slot->offset, .count = record->array_count };
	struct btf_type element;
	if (!type_target(slot->type, &elements.type) || !type_size(elements.type, &elements.size) ||
	    !type_get_resolved(elements.type, &element)) {
		render_note(renderer, key, "<elements of unknown size>");
		return;
	}
	if (elements.count && type_is_char(elements.type)) {
		render_string(renderer, key, slot, elements.count);
		return;
	}
	elements.is_inline = type_is_inline(elements.type);
	elements.may_repeat = elements.size && element.kind != BTF_FLOAT;
	if (!elements.size)
		elements.count = 0; /* as many as anybody likes */
	out_array_begin(renderer->out, key);
	text(renderer, "{");
	renderer->indent++;
	render_elements(renderer, &elements);
	renderer->indent--;
	if (elements.count && !elements.is_inline) {
		text(renderer, ",");
		new_line(renderer);
	}
	text(renderer, elements.count && elements.is_inline ? " }" : "}");
	out_array_end(renderer->out);
}

/* --- any value ------------------------------------------------------------------------------ */

/* Bytes the slot takes; false when its type has no size. */
static bool slot_size(const struct slot *slot, uint64_t *ret)
{
	if (!slot->bit_size)
		return type_size(slot->type, ret);
	*ret = (slot->bit_offset + slot->bit_size + 7) / 8;
	return true;
}

/* Structs and arrays, one level deeper. */
static void render_nested(struct renderer *renderer, const char *key, const struct slot *slot,
			  const struct btf_type *record)
{
	unsigned int limit = renderer->options->depth;
	if ((limit && renderer->depth >= limit) || renderer->depth >= NESTING_MAX) {
		render_note(renderer, key, "{...}");
		renderer->cut = true;
		return;
	}
	renderer->depth++;
	if (record->kind == BTF_ARRAY)
		render_array(renderer, key, slot, record);
	else
		render_struct(renderer, key, slot, record);
	renderer->depth--;
}

/* A few words in text; in JSON all of it, whatever the limits. False: it has no short form. */
static bool render_short(struct renderer *renderer, const char *key, const struct slot *slot,
			 const struct btf_type *record)
{
	char words[RENDER_TEXT_SIZE];
	const struct render_options *options = renderer->options;
	struct render_options whole = *options;
	bool quiet = renderer->quiet, is_quoted;
	bool is_limited = options->depth || options->array_limit || options->hide_zero;
	/* Where nothing is limited, JSON is the same with a short form and without. */
	if (options->raw || (quiet && !is_limited) ||
	    !render_short_text(renderer, slot, words, &is_quoted))
		return false;
	out_quoted(renderer->out, is_quoted ? OUT_QUOTED_TEXT : OUT_RAW);
	text(renderer, words);
	out_quoted(renderer->out, OUT_RAW);
	whole.depth = 0;
	whole.array_limit = 0;
	whole.hide_zero = false;
	renderer->options = &whole;
	renderer->quiet = true;
	render_nested(renderer, key, slot, record);
	renderer->quiet = quiet;
	renderer->options = options;
	return true;
}

static void render_slot(struct renderer *renderer, const char *key, const struct slot *slot)
{
	struct btf_type record;
	uint64_t size;
	renderer->nodes++;
	if (!type_get_resolved(slot->type, &record) || !slot_size(slot, &size)) {
		render_note(renderer, key, "<incomplete type>");
		return;
	}
	if (slot->bit_size > BITS_MAX) {
		render_note(renderer, key, "<a bit-field of more than 64 bits>");
		return;
	}
	/* btf_open() has seen to it that members lie in their struct. What follows reads there. */
	if (!lies_within(renderer, slot, size)) {
		render_note(renderer, key, "<outside of the object>");
		return;
	}
	const struct error *missing = image_all_missing(&renderer->image, slot->offset, size);
	bool nested = is_aggregate_kind(record.kind) || record.kind == BTF_ARRAY;
	if (!missing && !nested)
		missing = image_missing(&renderer->image, slot->offset, size);
	if (missing)
		render_missing(renderer, key, missing);
	else if (nested &&
		 !(is_aggregate_kind(record.kind) && render_short(renderer, key, slot, &record)))
		render_nested(renderer, key, slot, &record);
	else if (!nested)
		render_scalar(renderer, key, slot, &record);
}

/* Bytes whose type is not known, as words in the machine's byte order. */
static void render_raw(struct renderer *renderer, const char *key)
{
	const struct image *image = &renderer->image;
	uint64_t size = image->size;
	uint64_t word = size >= 8 ? 8 : size >= 4 ? 4 : size >= 2 ? 2 : 1;
	out_array_begin(renderer->out, key);
	text(renderer, "{");
	renderer->indent++;
	for (uint64_t i = 0; i + word <= size; i += word) {
		char number[24];
		if (i)
			text(renderer, ",");
		if (i && i % 32 == 0)
			new_line(renderer);
		else
			text(renderer, " ");
		const struct error *missing = image_missing(image, i, word);
		uint64_t value = load_unsigned(image->data + i, word, image->big_endian);
		snprintf(number, sizeof(number), "0x%0*" PRIx64, (int)word * 2, value);
		if (missing)
			render_missing(renderer, NULL, missing);
		else
			out_string(renderer->out, NULL, number);
	}
	renderer->indent--;
	text(renderer, " }");
	out_array_end(renderer->out);
}

/* --- the whole ------------------------------------------------------------------------------ */

static struct error *value_size(const struct value *value, uint64_t *ret)
{
	char name[128];
	if (!value->type.btf) {
		bool known = value->raw_size && value->raw_size < RAW_SIZE_MAX;
		*ret = !value->in_memory ? 8 : known ? value->raw_size : RAW_SIZE_MAX;
		return NULL;
	}
	if (value->bit_size) {
		*ret = (value->bit_offset % 8 + value->bit_size + 7) / 8;
		return NULL;
	}
	if (!type_size(value->type, ret))
		return error_create(ERROR_NOT_FOUND,
				    "%s has no known size, its bytes cannot be shown",
				    value_type_name(value, name, sizeof(name)));
	if (*ret > OBJECT_SIZE_MAX)
		return error_create(ERROR_UNSUPPORTED,
				    "%s takes more than %u MiB; print parts of it",
				    value_type_name(value, name, sizeof(name)),
				    OBJECT_SIZE_MAX >> 20);
	return NULL;
}

static struct error *read_image(const struct value *value, uint64_t size, struct image *ret)
{
	if (value->bytes)
		return image_of_bytes(value->bytes, size, ret);
	if (!value->in_memory)
		return image_of_scalar(value->scalar, size, ret);
	TRY(target_need_memory(value->target));
	TRY(image_read(value->target->memory, value->address + value->bit_offset / 8, size, ret));
	const struct error *missing = image_all_missing(ret, 0, size);
	if (!missing)
		return NULL;
	struct error *error =
		error_create_at(missing->kind, missing->address, "%s", missing->message);
	image_deinit(ret);
	return error;
}

static bool is_function(const struct value *value)
{
	struct btf_type record;
	return value->in_memory && value_record(value, &record) && record.kind == BTF_FUNC_PROTO;
}

static void render_whole(struct renderer *renderer, const char *key, const struct value *value)
{
	struct slot slot = { .type = value->type, .flags = value->flags };
	/* A computed scalar holds its bit-field already. */
	if (value->in_memory && value->bit_size) {
		slot.bit_size = value->bit_size;
		slot.bit_offset = value->bit_offset % 8;
	}
	if (!value->type.btf)
		render_raw(renderer, key);
	else
		render_slot(renderer, key, &slot);
}

/* For programs; people have seen the dots. */
static void say_cut(const struct renderer *renderer, const char *key)
{
	char name[128];
	if (!renderer->cut || !key)
		return;
	snprintf(name, sizeof(name), "%s_cut", key);
	out_bool_as(renderer->out, name, true, "");
}

struct error *value_render(struct out *out, const char *key, const struct value *value,
			   const struct render_options *options)
{
	struct renderer renderer = {
		.out = out, .options = options, .target = value->target, .indent = options->indent
	};
	struct value whole = *value;
	uint64_t size;
	whole.type = type_completed(value->target, value->type);
	renderer.text_start = target_text_start(value->target);
	if (is_function(&whole)) {
		render_function(&renderer, key, whole.address);
		return NULL;
	}
	if (!whole.in_memory)
		whole.bit_size = 0;
	TRY(value_size(&whole, &size));
	TRY(read_image(&whole, size, &renderer.image));
	if (whole.in_memory)
		renderer.address = whole.address + whole.bit_offset / 8;
	render_whole(&renderer, key, &whole);
	image_deinit(&renderer.image);
	say_cut(&renderer, key);
	TRY(interrupt_check());
	if (renderer.nodes > NODES_MAX)
		return error_create(ERROR_UNSUPPORTED, "more than %u values; print parts of it",
				    NODES_MAX);
	return NULL;
}
