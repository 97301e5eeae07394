// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Bodies of structs and unions, laid out as the compiler would, so that what it would do otherwise
 * is forced: by packing where members lie closer than they could, by unnamed bit-fields (which
 * nobody sees) or arrays where they lie further apart.
 */
#include "btf/header_private.h"

#include "btf/level.h"

/* Bytes of a hole that bit-fields fill; a larger one is an array, which has to have a name. */
#define HOLE_OF_FIELDS_MAX 32
#define ALIGNMENT_MAX	   16

static void plan(struct header *header, const struct btf_type *record);

/* --- alignment as the compiler sees it ------------------------------------------------ */

static uint32_t scalar_alignment(uint32_t size)
{
	uint32_t alignment = 1;
	while (alignment * 2 <= size && alignment < ALIGNMENT_MAX)
		alignment *= 2;
	return alignment;
}

static uint32_t alignment_of(struct header *header, uint32_t id)
{
	struct btf_type record;
	for (int steps = 0; steps < CHAIN_MAX; steps++) {
		if (!type_get_resolved(header_view(header, id), &record))
			return 1;
		switch (record.kind) {
		case BTF_INT:
		case BTF_FLOAT:
		case BTF_ENUM:
		case BTF_ENUM64:
			return scalar_alignment(record.size);
		case BTF_PTR:
			return btf_pointer_size(header->btf);
		case BTF_ARRAY:
			id = record.type;
			break;
		case BTF_STRUCT:
		case BTF_UNION:
			plan(header, &record);
			return header->types[record.id].alignment;
		default:
			return 1;
		}
	}
	return 1;
}

static uint64_t size_of(struct header *header, uint32_t id)
{
	uint64_t size;
	return type_size(header_view(header, id), &size) ? size : 0;
}

/* Whether a member lies where the compiler would never put it, unless the struct is packed. */
static bool needs_packing(struct header *header, const struct btf_member *member,
			  uint32_t alignment)
{
	if (!member->bit_size)
		return member->bit_offset % (alignment * 8);
	uint64_t unit = size_of(header, member->type) * 8;
	return unit && member->bit_offset % unit + member->bit_size > unit;
}

/* Decides on packing and alignment, once. */
static void plan(struct header *header, const struct btf_type *record)
{
	struct header_type *type = &header->types[record->id];
	struct btf_member member;
	uint32_t most = 1;
	bool is_packed = false;
	if (type->alignment)
		return;
	if (type->is_open || header->depth >= HEADER_DEPTH_MAX) {
		type->alignment = 1;
		return;
	}
	type->is_open = true;
	header->depth++;
	for (uint32_t i = 0; btf_member(record, i, &member); i++) {
		uint32_t own = alignment_of(header, member.type);
		is_packed |= needs_packing(header, &member, own);
		most = own > most ? own : most;
	}
	header->depth--;
	type->is_open = false;
	type->is_packed = is_packed || record->size % most;
	type->alignment = type->is_packed ? 1 : most;
}

/* --- holes ----------------------------------------------------------------------------- */

/* A body being written. */
struct body {
	struct header *header;
	struct strbuf *text;
	const struct btf_type *record;
	uint32_t alignment;
	bool is_packed;
	int indent;
	uint64_t at; /* bits: where the compiler is */
};

static void put_line_start(struct body *body)
{
	strbuf_repeat(body->text, '\t', (size_t)body->indent);
}

static void put_filler(struct body *body, const char *type, uint64_t bits)
{
	put_line_start(body);
	strbuf_put(body->text, type);
	strbuf_put(body->text, " : ");
	strbuf_u64(body->text, bits);
	strbuf_put(body->text, ";\n");
	body->at += bits;
}

static void put_array(struct body *body, const char *what, uint64_t bytes)
{
	put_line_start(body);
	strbuf_format(body->text, "char __%s_%u[", what, ++body->header->holes);
	strbuf_u64(body->text, bytes);
	strbuf_put(body->text, "];\n");
	body->at += bytes * 8;
}

/* Whole bytes, from a whole byte on. Units are not larger than what aligns the struct anyway. */
static void fill_bytes(struct body *body, uint64_t bytes)
{
	static const struct {
		uint32_t size;
		const char *type;
	} units[] = { { 8, "long long" }, { 4, "int" }, { 2, "short" }, { 1, "char" } };
	if (bytes > HOLE_OF_FIELDS_MAX) {
		put_array(body, "hole", bytes);
		return;
	}
	while (bytes) {
		size_t i = 0;
		while (units[i].size > bytes || units[i].size > body->alignment ||
		       body->at / 8 % units[i].size)
			i++;
		put_filler(body, units[i].type, (uint64_t)units[i].size * 8);
		bytes -= units[i].size;
	}
}

static void fill_to(struct body *body, uint64_t target)
{
	uint64_t rest = body->at % 8 ? 8 - body->at % 8 : 0;
	if (rest > target - body->at)
		rest = target - body->at;
	if (rest)
		put_filler(body, "unsigned char", rest);
	fill_bytes(body, (target - body->at) / 8);
	if (target > body->at)
		put_filler(body, "unsigned char", target - body->at);
}

/* --- members ----------------------------------------------------------------------------- */

static uint64_t round_up(uint64_t value, uint64_t step)
{
	return (value + step - 1) / step * step;
}

/* An array without a length, where C allows one: the last of several members of a struct. */
static bool is_flexible(const struct body *body, const struct btf_member *member, uint32_t index)
{
	struct btf_type record;
	return body->record->kind == BTF_STRUCT && index && index + 1 == body->record->vlen &&
	       btf_get(body->header->btf, member->type, &record) && record.kind == BTF_ARRAY &&
	       !record.array_count &&
	       round_up(member->bit_offset, (uint64_t)body->alignment * 8) >=
		       (uint64_t)body->record->size * 8;
}

/*
 * Members of a struct with a tag that are the outer one's too need -fms-extensions in C. Without
 * the tag every compiler takes them.
 */
static bool put_nameless(struct body *body, const struct btf_member *member)
{
	struct btf_type record;
	if (*member->name || !btf_get(body->header->btf, member->type, &record) ||
	    (record.kind != BTF_STRUCT && record.kind != BTF_UNION) || !*record.name)
		return false;
	record.name = "";
	if (++body->header->depth < HEADER_DEPTH_MAX)
		header_put_record(body->header, body->text, &record, body->indent);
	body->header->depth--;
	strbuf_put(body->text, ";\n");
	return true;
}

static void put_member(struct body *body, const struct btf_member *member, uint32_t index)
{
	struct strbuf name = { 0 };
	struct btf_type array;
	uint32_t id = member->type;
	put_line_start(body);
	if (put_nameless(body, member))
		return;
	header_put_identifier(&name, member->name, 0);
	if (is_flexible(body, member, index) && btf_get(body->header->btf, id, &array)) {
		strbuf_put(&name, "[]");
		id = array.type;
	}
	header_put_declaration(body->header, body->text, id, &name, body->indent);
	if (member->bit_size) {
		strbuf_put(body->text, " : ");
		strbuf_u64(body->text, member->bit_size);
	}
	strbuf_put(body->text, ";\n");
	strbuf_deinit(&name);
}

/* False: it lies in front of where the compiler is. */
static bool place_member(struct body *body, const struct btf_member *member, uint32_t index)
{
	uint64_t alignment = body->is_packed ? 1 : alignment_of(body->header, member->type);
	uint64_t next = member->bit_size ? body->at : round_up(body->at, alignment * 8);
	if (member->bit_offset < next)
		return false;
	if (member->bit_offset > next)
		fill_to(body, member->bit_offset);
	put_member(body, member, index);
	body->at = member->bit_offset +
		   (member->bit_size ? member->bit_size : size_of(body->header, member->type) * 8);
	return true;
}

static bool put_struct(struct body *body)
{
	struct btf_member member;
	uint64_t size = (uint64_t)body->record->size * 8;
	for (uint32_t i = 0; btf_member(body->record, i, &member) && header_may_go_on(body->header);
	     i++)
		if (!place_member(body, &member, i))
			return false;
	uint64_t end = round_up(body->at, (uint64_t)body->alignment * 8);
	if (end < size)
		fill_to(body, size);
	return end <= size;
}

static bool put_union(struct body *body)
{
	struct btf_member member;
	uint64_t end = 0, size = body->record->size;
	for (uint32_t i = 0; btf_member(body->record, i, &member) && header_may_go_on(body->header);
	     i++) {
		uint64_t own = member.bit_size ? (member.bit_size + 7) / 8
					       : size_of(body->header, member.type);
		if (member.bit_offset)
			return false;
		put_member(body, &member, i);
		end = own > end ? own : end;
	}
	if (round_up(end, body->alignment) < size)
		put_array(body, "size", size);
	return round_up(end, body->alignment) <= size;
}

void header_put_record(struct header *header, struct strbuf *text, const struct btf_type *record,
		       int indent)
{
	plan(header, record);
	const struct header_type *type = &header->types[record->id];
	struct body body = {
		.header = header,
		.text = text,
		.record = record,
		.alignment = type->alignment,
		.is_packed = type->is_packed,
		.indent = indent + 1,
	};
	strbuf_put(text, record->kind == BTF_UNION ? "union " : "struct ");
	if (*record->name) {
		header_put_identifier(text, record->name, type->suffix);
		strbuf_char(text, ' ');
	}
	strbuf_put(text, "{\n");
	size_t from = text->size;
	if (!(record->kind == BTF_UNION ? put_union(&body) : put_struct(&body))) {
		/* Members that overlap: no compiler's. What is left is the size. */
		text->size = from;
		put_array(&body, "opaque", record->size);
	}
	strbuf_repeat(text, '\t', (size_t)indent);
	strbuf_char(text, '}');
	if (type->is_packed)
		strbuf_put(text, " __attribute__((packed))");
}
