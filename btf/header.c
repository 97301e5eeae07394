// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The order of the header: tags of all structs and unions, enums, then each struct and typedef
 * behind what it needs. A mention (through a pointer) needs typedefs, a use by value needs whole
 * structs too.
 */
#include "btf/header.h"

#include "base/interrupt.h"
#include "btf/header_private.h"
#include "btf/level.h"
#include <stdlib.h>

#define CHECK_EVERY   1024 /* types between two looks at Ctrl-C */
#define FWD_NAMESAKES 8	   /* of a forward declaration, that are compared */

struct type header_view(const struct header *header, uint32_t id)
{
	return (struct type){ header->btf, id };
}

bool header_may_go_on(struct header *header)
{
	if (++header->parts > HEADER_PARTS_MAX && !header->error)
		header->error = error_create(ERROR_FORMAT, "the types nest without end");
	return !header->error;
}

static bool is_aggregate(const struct btf_type *record)
{
	return record->kind == BTF_STRUCT || record->kind == BTF_UNION;
}

static bool is_enum(const struct btf_type *record)
{
	return record->kind == BTF_ENUM || record->kind == BTF_ENUM64;
}

/* --- names -------------------------------------------------------------------------- */

static void claim(struct header *header, struct header_names *names, const struct btf_type *record)
{
	if (!header->error && !header_claim(names, record->name, &header->types[record->id].suffix))
		header->error = error_no_memory();
}

/* A forward declaration is of the type that has its name, if any. */
static bool adopt_name(struct header *header, const struct btf_type *fwd)
{
	struct btf_type other;
	uint64_t cursor = 0;
	uint32_t id =
		btf_find(header->btf, fwd->kind_flag ? BTF_UNION : BTF_STRUCT, fwd->name, &cursor);
	if (!id) {
		cursor = 0;
		for (int i = 0; i < FWD_NAMESAKES; i++) {
			id = btf_find(header->btf, BTF_FWD, fwd->name, &cursor);
			if (!id || (id < fwd->id && btf_get(header->btf, id, &other) &&
				    other.kind_flag == fwd->kind_flag))
				break;
			id = 0;
		}
	}
	if (id)
		header->types[fwd->id].suffix = header->types[id].suffix;
	return id;
}

static void put_tag(struct header *header, const struct btf_type *record, bool is_union)
{
	strbuf_put(header->text, is_union ? "union " : "struct ");
	header_put_identifier(header->text, record->name, header->types[record->id].suffix);
	strbuf_put(header->text, ";\n");
}

static void put_tags(struct header *header)
{
	struct btf_type record;
	for (uint32_t id = 1; !header->error && btf_get(header->btf, id, &record); id++) {
		if (!*record.name)
			continue;
		if (is_aggregate(&record) || is_enum(&record))
			claim(header, &header->tags, &record);
		if (is_aggregate(&record))
			put_tag(header, &record, record.kind == BTF_UNION);
		if (record.kind == BTF_TYPEDEF)
			claim(header, &header->ordinary, &record);
	}
	for (uint32_t id = 1; !header->error && btf_get(header->btf, id, &record); id++) {
		if (record.kind != BTF_FWD || adopt_name(header, &record))
			continue;
		claim(header, &header->tags, &record);
		put_tag(header, &record, record.kind_flag);
	}
}

/* --- what a type needs before it ------------------------------------------------------ */

static void define_record(struct header *header, const struct btf_type *record);
static void define_typedef(struct header *header, const struct btf_type *record);

static void require(struct header *header, uint32_t id, bool by_value);

static void require_members(struct header *header, const struct btf_type *record)
{
	struct btf_member member;
	for (uint32_t i = 0; !header->error && btf_member(record, i, &member); i++)
		require(header, member.type, true);
}

static void require_params(struct header *header, const struct btf_type *proto)
{
	struct btf_param param;
	require(header, proto->type, false);
	for (uint32_t i = 0; !header->error && btf_param(proto, i, &param); i++)
		require(header, param.type, false);
}

static void require_record(struct header *header, const struct btf_type *record, bool by_value)
{
	switch (record->kind) {
	case BTF_PTR:
		require(header, record->type, false);
		return;
	case BTF_CONST:
	case BTF_VOLATILE:
	case BTF_RESTRICT:
	case BTF_TYPE_TAG:
		require(header, record->type, by_value);
		return;
	case BTF_ARRAY: /* its elements are whole even behind a pointer */
		require(header, record->type, true);
		return;
	case BTF_FUNC_PROTO:
		require_params(header, record);
		return;
	case BTF_STRUCT:
	case BTF_UNION:
		if (!*record->name)
			require_members(header, record);
		else if (by_value)
			define_record(header, record);
		return;
	case BTF_TYPEDEF:
		define_typedef(header, record);
		if (by_value)
			require(header, record->type, true);
		return;
	default:
		return;
	}
}

static void require(struct header *header, uint32_t id, bool by_value)
{
	struct btf_type record;
	if (header->error || !id || !btf_get(header->btf, id, &record))
		return;
	struct header_type *type = &header->types[id];
	bool *done = by_value ? &type->is_usable : &type->is_mentionable;
	if (*done)
		return;
	/* Before it is so: what leads back here is on its way. */
	*done = true;
	if (++header->depth > HEADER_DEPTH_MAX)
		header->error = error_create(ERROR_FORMAT, "type %u nests without end", id);
	else
		require_record(header, &record, by_value);
	header->depth--;
}

/* --- definitions ------------------------------------------------------------------------ */

/* False: it is done, or is being done further up: then it needs itself. */
static bool open_definition(struct header *header, const struct btf_type *record)
{
	struct header_type *type = &header->types[record->id];
	if (type->state == HEADER_OPEN && !header->error)
		header->error = error_create(ERROR_FORMAT, "type %u (%s) needs itself", record->id,
					     record->name);
	if (header->error || type->state != HEADER_WAITING)
		return false;
	type->state = HEADER_OPEN;
	return true;
}

static void define_record(struct header *header, const struct btf_type *record)
{
	if (!open_definition(header, record))
		return;
	require_members(header, record);
	if (!header->error) {
		header_put_record(header, header->text, record, 0);
		strbuf_put(header->text, ";\n\n");
	}
	header->types[record->id].state = HEADER_DONE;
}

/* Words that C23 made its own: what defines them stands only where they are free. */
static bool is_new_keyword(const char *name)
{
	static const char *const words[] = { "bool", "true", "false", "nullptr", "constexpr" };
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(words[i], name))
			return true;
	return false;
}

static void guard(struct header *header, bool needed, bool begins)
{
	if (needed)
		strbuf_put(header->text, begins ? "#if __STDC_VERSION__ < 202311L\n" : "#endif\n");
}

static void define_typedef(struct header *header, const struct btf_type *record)
{
	struct strbuf name = { 0 };
	if (!open_definition(header, record))
		return;
	require(header, record->type, false);
	/* The compiler has its own. */
	if (!header->error && strcmp(record->name, "__builtin_va_list")) {
		bool is_new = is_new_keyword(record->name);
		guard(header, is_new, true);
		strbuf_put(header->text, "typedef ");
		header_put_identifier(&name, record->name, header->types[record->id].suffix);
		header_put_declaration(header, header->text, record->type, &name, 0);
		strbuf_put(header->text, ";\n");
		guard(header, is_new, false);
		strbuf_char(header->text, '\n');
	}
	strbuf_deinit(&name);
	header->types[record->id].state = HEADER_DONE;
}

static void put_enums(struct header *header, bool with_name)
{
	struct btf_type record;
	struct btf_enumerator first;
	for (uint32_t id = 1; !header->error && btf_get(header->btf, id, &record); id++) {
		if (!is_enum(&record) || !*record.name == with_name ||
		    header->types[id].state == HEADER_DONE)
			continue;
		bool is_new = btf_enumerator(&record, 0, &first) && is_new_keyword(first.name);
		guard(header, is_new, true);
		header_put_enum(header, header->text, &record, 0);
		strbuf_put(header->text, ";\n");
		guard(header, is_new, false);
		strbuf_char(header->text, '\n');
	}
}

static void put_definitions(struct header *header)
{
	struct btf_type record;
	for (uint32_t id = 1; !header->error && btf_get(header->btf, id, &record); id++) {
		if (is_aggregate(&record) && *record.name)
			define_record(header, &record);
		else if (record.kind == BTF_TYPEDEF)
			define_typedef(header, &record);
		if (id % CHECK_EVERY == 0 && !header->error)
			header->error = interrupt_check();
	}
}

static void put_all(struct header *header)
{
	strbuf_put(header->text,
		   "/* Types of a kernel, from its BTF, by btfcrash types --format c. */\n"
		   "#ifndef __VMLINUX_H__\n#define __VMLINUX_H__\n\n"
		   "#ifdef __clang__\n#pragma clang diagnostic push\n"
		   "#pragma clang diagnostic ignored "
		   "\"-Wgnu-variable-sized-type-not-at-end\"\n#endif\n"
		   "#if defined(__bpf__) && !defined(BPF_NO_PRESERVE_ACCESS_INDEX)\n"
		   "#pragma clang attribute push(__attribute__((preserve_access_index)), "
		   "apply_to = record)\n#endif\n\n");
	put_tags(header);
	strbuf_char(header->text, '\n');
	put_enums(header, true);
	put_definitions(header);
	put_enums(header, false);
	strbuf_put(header->text, "#if defined(__bpf__) && !defined(BPF_NO_PRESERVE_ACCESS_INDEX)\n"
				 "#pragma clang attribute pop\n#endif\n\n#endif\n");
}

struct error *btf_header(const struct btf *btf, struct strbuf *ret)
{
	struct header header = { .btf = btf, .text = ret };
	header.types = calloc(btf_end_id(btf), sizeof(*header.types));
	if (!header.types)
		return error_no_memory();
	put_all(&header);
	if (ret->failed && !header.error)
		header.error = error_no_memory();
	header_names_deinit(&header.tags);
	header_names_deinit(&header.ordinary);
	free(header.types);
	return header.error;
}
