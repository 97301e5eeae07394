// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A layout as text: the columns, comments and trailer of pahole (dwarves 1.24, format of
 * dwarves_fprintf.c). With layout_style.as_pahole the types are spelled as there too.
 */
#include "btf/layout.h"

#include "btf/layout_writer.h"
#include "btf/level.h"
#include <inttypes.h>

#define TYPE_WIDTH   26
#define NAME_WIDTH   23 /* of a struct's members, with the ';' */
#define UNION_WIDTH  21
#define EXPAND_WIDTH 55

#define PACKED "__attribute__((__packed__))"

/* --- pieces -------------------------------------------------------------------- */

static void put_tabs(struct layout_writer *writer, int count)
{
	strbuf_repeat(writer->text, '\t', count > 0 ? (size_t)count : 0);
}

static void put_count(struct strbuf *text, uint64_t count, const char *what)
{
	strbuf_u64(text, count);
	strbuf_char(text, ' ');
	strbuf_put(text, what);
	if (count != 1)
		strbuf_char(text, 's');
}

static void put_aligned(struct strbuf *text, uint32_t alignment)
{
	strbuf_put(text, " __attribute__((__aligned__(");
	strbuf_u64(text, alignment);
	strbuf_put(text, ")))");
}

/* Says that the member at `offset` begins, or lies in, another cache line than the one before. */
static void put_cache_line(struct layout_writer *writer, const struct layout_frame *frame,
			   uint32_t offset)
{
	uint32_t line = offset / CACHE_LINE, ago = offset % CACHE_LINE;
	if (line <= *frame->cache_line)
		return;
	*frame->cache_line = line;
	strbuf_put(writer->text, "/* --- cacheline ");
	strbuf_u64(writer->text, line);
	strbuf_put(writer->text, " boundary (");
	strbuf_u64(writer->text, (uint64_t)line * CACHE_LINE);
	strbuf_put(writer->text, " bytes)");
	if (ago) {
		strbuf_put(writer->text, " was ");
		put_count(writer->text, ago, "byte");
		strbuf_put(writer->text, " ago");
	}
	strbuf_put(writer->text, " --- */\n");
	put_tabs(writer, frame->indent);
}

static void put_place(struct layout_writer *writer, const struct btf_layout_member *member,
		      uint32_t offset)
{
	strbuf_put(writer->text, "/* ");
	strbuf_u64_padded(writer->text, offset, 5);
	if (member->bit_size) {
		strbuf_char(writer->text, ':');
		strbuf_u64_padded(writer->text, member->first_bit, 2);
	}
	strbuf_char(writer->text, ' ');
	strbuf_u64_padded(writer->text, member->size, member->bit_size ? 2 : 5);
	strbuf_put(writer->text, " */");
}

/* --- a member ------------------------------------------------------------------ */

/* The blanks before the comment, behind what began at `from`. */
static void pad_member(struct layout_writer *writer, const struct layout_frame *frame, size_t from)
{
	int width = frame->type_width + frame->name_width - (int)(writer->text->size - from);
	strbuf_repeat(writer->text, ' ', width > 1 ? (size_t)width : 1);
}

/* The same behind a type in braces: what its last line holds besides the name is not counted. */
static void pad_inline(struct layout_writer *writer, const struct layout_frame *frame,
		       const struct btf_layout_member *member, int alignment_width,
		       const struct btf_type *record)
{
	int width = frame->type_width + frame->name_width - alignment_width - 3;
	width -= *member->name ? (int)strlen(member->name) : -1;
	if (record->kind == BTF_STRUCT && btf_layout_is_packed(writer->layouts, record))
		width -= (int)sizeof(PACKED);
	width = width < 0 ? -width : width;
	strbuf_repeat(writer->text, ' ', width > 1 ? (size_t)width : 1);
}

static void put_member(struct layout_writer *writer, struct layout_frame frame,
		       const struct btf_layout_member *member, const struct btf_type *record,
		       bool in_union)
{
	struct strbuf *text = writer->text;
	uint32_t offset = member->offset;
	if (!frame.relative) {
		offset += frame.base;
		frame.base = in_union ? frame.base : offset;
	}
	put_cache_line(writer, &frame, offset);
	size_t from = text->size;
	bool is_inline = layout_put_type(writer, frame, member->type, member->name);
	if (member->bit_size) {
		strbuf_char(text, ':');
		strbuf_u64(text, member->bit_size);
	}
	size_t before = text->size;
	if (member->alignment)
		put_aligned(text, member->alignment);
	int alignment_width = (int)(text->size - before);
	strbuf_char(text, ';');
	if (is_inline)
		pad_inline(writer, &frame, member, alignment_width, record);
	else
		pad_member(writer, &frame, from);
	put_place(writer, member, offset);
}

/* --- unions -------------------------------------------------------------------- */

static bool may_go_on(struct layout_writer *writer)
{
	return !writer->error && ++writer->members <= LAYOUT_MEMBERS_MAX && !writer->text->failed;
}

static void put_head(struct layout_writer *writer, const struct btf_type *record)
{
	strbuf_put(writer->text, record->kind == BTF_UNION ? "union" : "struct");
	if (*record->name) {
		strbuf_char(writer->text, ' ');
		strbuf_name(writer->text, record->name);
	}
	strbuf_put(writer->text, " {\n");
}

static bool find_layout(struct layout_writer *writer, const struct btf_type *record,
			struct btf_record_layout *ret)
{
	if (!writer->error)
		writer->error = btf_layout_find(writer->layouts, record, ret);
	return !writer->error;
}

static void put_union(struct layout_writer *writer, struct layout_frame frame,
		      const struct btf_type *record, const char *suffix)
{
	struct btf_record_layout layout;
	struct btf_type inner = { 0 };
	uint32_t own_line = 0;
	if (!find_layout(writer, record, &layout))
		return;
	put_head(writer, record);
	frame.indent++;
	btf_layout_note_union(writer->layouts, record);
	if (!frame.cache_line)
		frame.cache_line = &own_line;
	/* Each member begins where the union does. */
	uint32_t first_line = *frame.cache_line;
	frame.in_union = true;
	for (uint32_t i = 0; i < layout.count && may_go_on(writer); i++) {
		type_get(layout.members[i].type, &inner);
		put_tabs(writer, frame.indent);
		put_member(writer, frame, &layout.members[i], &inner, true);
		strbuf_char(writer->text, '\n');
		*frame.cache_line = first_line;
	}
	put_tabs(writer, frame.indent - 1);
	strbuf_char(writer->text, '}');
	strbuf_put(writer->text, suffix);
	btf_layout_deinit(&layout);
}

/* --- structs ------------------------------------------------------------------- */

struct sums {
	uint64_t bytes, bits, holes, bit_holes, paddings;
	uint32_t padding_count, alignments, alignment_holes;
	uint64_t alignment_hole_bytes;
};

/* A struct being written. */
struct progress {
	const struct btf_record_layout *layout;
	struct sums sums;
	bool in_comments;		      /* of a paragraph that a blank line goes before */
	const struct btf_layout_member *last; /* member before */
	uint64_t last_size; /* of the first member at the offset that `last` has */
};

/* A line of a paragraph behind a member, whose own line has not ended. */
static void begin_note(struct layout_writer *writer, const struct layout_frame *frame,
		       struct progress *progress)
{
	if (!progress->in_comments)
		strbuf_char(writer->text, '\n');
	progress->in_comments = true;
	strbuf_char(writer->text, '\n');
	put_tabs(writer, frame->indent);
	strbuf_put(writer->text, "/* ");
}

/* A line of a paragraph before a member. */
static void put_remark(struct layout_writer *writer, const struct layout_frame *frame,
		       struct progress *progress, const char *remark)
{
	if (!progress->in_comments)
		strbuf_char(writer->text, '\n');
	progress->in_comments = true;
	put_tabs(writer, frame->indent);
	strbuf_put(writer->text, "/* ");
	strbuf_put(writer->text, remark);
	strbuf_put(writer->text, " */\n");
}

static void put_first_holes(struct layout_writer *writer, const struct layout_frame *frame,
			    struct progress *progress)
{
	char remark[80];
	const struct btf_record_layout *layout = progress->layout;
	if (layout->bit_hole) {
		snprintf(remark, sizeof(remark), "XXX %u bit%s hole, try to pack", layout->bit_hole,
			 layout->bit_hole == 1 ? "" : "s");
		put_remark(writer, frame, progress, remark);
	}
	if (layout->hole) {
		snprintf(remark, sizeof(remark), "XXX %" PRIu64 " byte%s hole, try to pack",
			 layout->hole, layout->hole == 1 ? "" : "s");
		put_remark(writer, frame, progress, remark);
	}
	progress->sums.bit_holes += layout->bit_hole;
	progress->sums.holes += layout->hole;
}

/* The unnamed bit-field that a hole between two others stands for. */
static void put_filler(struct layout_writer *writer, const struct layout_frame *frame,
		       struct progress *progress, const struct btf_layout_member *member)
{
	uint32_t bits = progress->last->bit_hole;
	if (progress->last->offset != member->offset) {
		strbuf_char(writer->text, '\n');
		put_tabs(writer, frame->indent);
		strbuf_put(writer->text, "/* Force alignment to the next boundary: */\n");
		bits = 0;
	}
	put_tabs(writer, frame->indent);
	layout_put_type(writer, *frame, member->type, "");
	strbuf_char(writer->text, ':');
	strbuf_u64(writer->text, bits);
	strbuf_put(writer->text, ";\n");
}

/* Members that share bytes with the one before. */
static void put_transition(struct layout_writer *writer, const struct layout_frame *frame,
			   struct progress *progress, const struct btf_layout_member *member)
{
	const struct btf_layout_member *last = progress->last;
	if (!last || !progress->last_size)
		return;
	if (last->bit_hole && member->bit_size)
		put_filler(writer, frame, progress, member);
	if (member->offset < last->offset ||
	    (member->offset == last->offset && !last->bit_size && member->bit_size))
		put_remark(writer, frame, progress, "Bitfield combined with previous fields");
	else if (member->offset > last->offset &&
		 member->offset - last->offset < progress->last_size)
		put_remark(writer, frame, progress, "Bitfield combined with next fields");
}

static void put_hole(struct layout_writer *writer, const struct layout_frame *frame,
		     struct progress *progress, uint64_t count, const char *what)
{
	if (!count)
		return;
	begin_note(writer, frame, progress);
	strbuf_put(writer->text, "XXX ");
	put_count(writer->text, count, what);
	strbuf_put(writer->text, " hole, try to pack */");
}

static void put_notes(struct layout_writer *writer, const struct layout_frame *frame,
		      struct progress *progress, const struct btf_layout_member *member,
		      const struct btf_type *record)
{
	uint64_t padding = 0;
	if (record->kind == BTF_STRUCT) {
		padding = btf_layout_padding(writer->layouts, member->type);
		btf_layout_is_packed(writer->layouts, record);
	}
	if (padding) {
		progress->sums.padding_count++;
		progress->sums.paddings += padding;
		begin_note(writer, frame, progress);
		strbuf_put(writer->text, "XXX last struct has ");
		put_count(writer->text, padding, "byte");
		strbuf_put(writer->text, " of padding */");
	}
	put_hole(writer, frame, progress, member->bit_hole, "bit");
	put_hole(writer, frame, progress, member->hole, "byte");
	progress->sums.bit_holes += member->bit_hole;
	progress->sums.holes += member->hole;
}

static void count_alignment(struct progress *progress, const struct btf_layout_member *member)
{
	uint64_t hole = progress->last ? progress->last->hole : progress->layout->hole;
	if (!member->alignment)
		return;
	progress->sums.alignments++;
	progress->sums.alignment_holes += hole != 0;
	progress->sums.alignment_hole_bytes += hole;
}

static void put_struct_member(struct layout_writer *writer, struct layout_frame *frame,
			      struct progress *progress, const struct btf_layout_member *member)
{
	const struct btf_layout_member *last = progress->last;
	struct btf_type record = { 0 };
	type_get(member->type, &record);
	count_alignment(progress, member);
	put_transition(writer, frame, progress, member);
	if (progress->in_comments)
		strbuf_char(writer->text, '\n');
	progress->in_comments = false;
	frame->is_last = member + 1 == progress->layout->members + progress->layout->count;
	frame->is_first = !last;
	put_tabs(writer, frame->indent);
	put_member(writer, *frame, member, &record, false);
	put_notes(writer, frame, progress, member, &record);
	strbuf_char(writer->text, '\n');
	if (member->bit_size)
		progress->sums.bits += member->bit_size;
	else
		progress->sums.bytes += member->size;
	if (!last || !progress->last_size || last->offset != member->offset ||
	    (!last->bit_size && member->bit_size))
		progress->last_size = member->size;
	progress->last = member;
}

/* --- the trailer ---------------------------------------------------------------- */

/* What a line of the trailer begins with. */
static void begin_line(struct layout_writer *writer, int indent, const char *words, uint64_t count)
{
	put_tabs(writer, indent);
	strbuf_put(writer->text, "/* ");
	strbuf_put(writer->text, words);
	strbuf_u64(writer->text, count);
}

static void go_on(struct layout_writer *writer, const char *words, uint64_t count)
{
	strbuf_put(writer->text, words);
	strbuf_u64(writer->text, count);
}

static void put_sum_lines(struct layout_writer *writer, int indent,
			  const struct btf_record_layout *layout, const struct sums *sums)
{
	if (!sums->holes && !sums->bit_holes)
		return;
	if (sums->bytes) {
		begin_line(writer, indent, "sum members: ", sums->bytes);
		if (sums->holes) {
			go_on(writer, ", holes: ", layout->hole_count);
			go_on(writer, ", sum holes: ", sums->holes);
		}
		strbuf_put(writer->text, " */\n");
	}
	if (!sums->bits)
		return;
	begin_line(writer, indent, "sum bitfield members: ", sums->bits);
	if (sums->bit_holes) {
		go_on(writer, " bits, bit holes: ", layout->bit_hole_count);
		go_on(writer, ", sum bit holes: ", sums->bit_holes);
		strbuf_put(writer->text, " bits */\n");
	} else {
		go_on(writer, " bits (", sums->bits / 8);
		strbuf_put(writer->text, " bytes) */\n");
	}
}

static void put_padding_lines(struct layout_writer *writer, int indent,
			      const struct btf_record_layout *layout, const struct sums *sums)
{
	if (layout->padding) {
		begin_line(writer, indent, "padding: ", layout->padding);
		strbuf_put(writer->text, " */\n");
	}
	if (sums->padding_count) {
		begin_line(writer, indent, "paddings: ", sums->padding_count);
		go_on(writer, ", sum paddings: ", sums->paddings);
		strbuf_put(writer->text, " */\n");
	}
	if (layout->bit_padding) {
		begin_line(writer, indent, "bit_padding: ", layout->bit_padding);
		strbuf_put(writer->text, " bits */\n");
	}
	if (!sums->alignments)
		return;
	begin_line(writer, indent, "forced alignments: ", sums->alignments);
	if (sums->alignment_holes) {
		go_on(writer, ", forced holes: ", sums->alignment_holes);
		go_on(writer, ", sum forced holes: ", sums->alignment_hole_bytes);
	}
	strbuf_put(writer->text, " */\n");
}

/* Members that overlap, or lie outside: the sum is another than the size. */
static void put_mismatch(struct layout_writer *writer, int indent,
			 const struct btf_record_layout *layout, const struct sums *sums)
{
	int64_t found = (int64_t)(sums->bytes * 8 + sums->bits + sums->holes * 8 + sums->bit_holes +
				  layout->padding * 8 + layout->bit_padding);
	int64_t difference = (int64_t)layout->size * 8 - found;
	if (!difference || !layout->count)
		return;
	strbuf_char(writer->text, '\n');
	put_tabs(writer, indent);
	strbuf_format(writer->text,
		      "/* BRAIN FART ALERT! %" PRIu64 " bytes != %" PRIu64
		      " (member bytes) + %" PRIu64 " (member bits) + %" PRIu64
		      " (byte holes) + %" PRIu64 " (bit holes), diff = %" PRId64 " bits */\n",
		      layout->size, sums->bytes, sums->bits, sums->holes, sums->bit_holes,
		      difference);
}

static void put_trailer(struct layout_writer *writer, const struct layout_frame *frame,
			const struct btf_record_layout *layout, const struct sums *sums)
{
	int indent = frame->indent;
	uint64_t last = (frame->base + layout->size) % CACHE_LINE;
	strbuf_char(writer->text, '\n');
	begin_line(writer, indent, "size: ", layout->size);
	go_on(writer, ", cachelines: ", (layout->size + CACHE_LINE - 1) / CACHE_LINE);
	go_on(writer, ", members: ", layout->count);
	strbuf_put(writer->text, " */\n");
	put_sum_lines(writer, indent, layout, sums);
	put_padding_lines(writer, indent, layout, sums);
	if (last) {
		begin_line(writer, indent, "last cacheline: ", last);
		strbuf_put(writer->text, " bytes */\n");
	}
	put_mismatch(writer, indent, layout, sums);
}

static void put_struct(struct layout_writer *writer, struct layout_frame frame,
		       const struct btf_type *record, const char *suffix)
{
	struct btf_record_layout layout;
	uint32_t own_line = 0;
	bool with_trailer = frame.with_trailer;
	if (!find_layout(writer, record, &layout))
		return;
	struct progress progress = { .layout = &layout };
	bool is_packed = btf_layout_is_packed(writer->layouts, record);
	put_head(writer, record);
	frame.indent++;
	if (!frame.cache_line)
		frame.cache_line = &own_line;
	put_first_holes(writer, &frame, &progress);
	for (uint32_t i = 0; i < layout.count && may_go_on(writer); i++)
		put_struct_member(writer, &frame, &progress, &layout.members[i]);
	if (with_trailer)
		put_trailer(writer, &frame, &layout, &progress.sums);
	put_tabs(writer, frame.indent - 1);
	strbuf_char(writer->text, '}');
	/* Seen anew: a member may have told of it. */
	is_packed |= btf_layout_is_packed(writer->layouts, record);
	if (is_packed)
		strbuf_put(writer->text, " " PACKED);
	strbuf_put(writer->text, suffix);
	if (layout.alignment && !is_packed)
		put_aligned(writer->text, layout.alignment);
	btf_layout_deinit(&layout);
}

void layout_put_braces(struct layout_writer *writer, struct layout_frame frame,
		       const struct btf_type *record, const char *suffix)
{
	writer->depth++;
	if (record->kind == BTF_UNION)
		put_union(writer, frame, record, suffix);
	else
		put_struct(writer, frame, record, suffix);
	writer->depth--;
}

static struct layout_frame first_frame(const struct btf_layout_style *style,
				       const struct btf_type *record)
{
	return (struct layout_frame){
		.type_width = TYPE_WIDTH,
		.name_width = style->expand		  ? EXPAND_WIDTH
			      : record->kind == BTF_UNION ? UNION_WIDTH
							  : NAME_WIDTH,
		.with_trailer = true,
	};
}

static struct error *finish(struct layout_writer *writer)
{
	if (!writer->error && writer->members > LAYOUT_MEMBERS_MAX)
		writer->error = error_create(ERROR_FORMAT, "the type nests without end");
	if (!writer->error && writer->text->failed)
		writer->error = error_no_memory();
	return writer->error;
}

struct error *btf_layout_text(struct btf_layouts *layouts, const struct btf_layout_style *style,
			      const struct btf_type *record, struct strbuf *ret)
{
	struct layout_writer writer = { .layouts = layouts, .style = style, .text = ret };
	if (style->alias)
		strbuf_put(ret, "typedef ");
	layout_put_braces(&writer, first_frame(style, record), record, "");
	if (style->alias) {
		strbuf_char(ret, ' ');
		strbuf_name(ret, style->alias);
	}
	strbuf_put(ret, ";\n");
	return finish(&writer);
}

struct error *btf_layout_member_text(struct btf_layouts *layouts,
				     const struct btf_layout_style *style,
				     const struct type_place *place, const char *name,
				     struct strbuf *ret)
{
	struct layout_writer writer = { .layouts = layouts, .style = style, .text = ret };
	struct btf_type record = { 0 };
	struct layout_frame frame = first_frame(style, &record);
	struct btf_layout_member member = {
		.name = name,
		.type = place->type,
		.bit_size = place->bit_size,
		.offset = (uint32_t)(place->bit_offset / 8),
		.first_bit = place->bit_offset % 8,
	};
	uint32_t line = UINT32_MAX; /* says nothing of cache lines */
	frame.cache_line = &line;
	frame.indent = 1;
	frame.with_trailer = false;
	type_size(place->type, &member.size);
	type_get(place->type, &record);
	put_tabs(&writer, 1);
	put_member(&writer, frame, &member, &record, false);
	strbuf_char(ret, '\n');
	return finish(&writer);
}
