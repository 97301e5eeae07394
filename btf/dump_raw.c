// SPDX-License-Identifier: GPL-3.0-or-later
#include "btf/dump_raw.h"

#include "base/interrupt.h"
#include <inttypes.h>
#include <stdio.h>

/* Types between two looks at Ctrl-C and the output. */
#define CHECK_EVERY 1024

static void put_name(struct out *out, const char *name)
{
	out_text(out, "'");
	out_string(out, "name", name[0] ? name : "(anon)");
	out_text(out, "'");
}

/* " label=value" */
static void put_u32(struct out *out, const char *label, uint32_t value)
{
	out_text(out, " %s=", label);
	out_u64(out, label, value);
}

static void put_word(struct out *out, const char *label, const char *word)
{
	out_text(out, " %s=", label);
	out_string(out, label, word);
}

static const char *int_encoding_name(uint8_t encoding)
{
	switch (encoding) {
	case 0:
		return "(none)";
	case BTF_INT_SIGNED:
		return "SIGNED";
	case BTF_INT_CHAR:
		return "CHAR";
	case BTF_INT_BOOL:
		return "BOOL";
	}
	return "UNKN";
}

static const char *linkage_name(uint32_t linkage)
{
	static const char *const names[] = { "static", "global", "extern" };
	return linkage < 3 ? names[linkage] : "(unknown)";
}

static void dump_int(struct out *out, const struct btf_type *type)
{
	put_u32(out, "size", type->size);
	put_u32(out, "bits_offset", type->int_offset);
	put_u32(out, "nr_bits", type->int_bits);
	put_word(out, "encoding", int_encoding_name(type->int_encoding));
}

static void dump_array(struct out *out, const struct btf_type *type)
{
	put_u32(out, "type_id", type->type);
	put_u32(out, "index_type_id", type->array_index_type);
	put_u32(out, "nr_elems", type->array_count);
}

/* As stored: neither old bit-fields nor old enums are made over, as bpftool does not either. */
static void dump_members(struct out *out, const struct btf_type *type)
{
	struct btf_member member;
	put_u32(out, "size", type->size);
	put_u32(out, "vlen", type->vlen);
	out_array_begin(out, "members");
	for (uint32_t i = 0; btf_member_as_stored(type, i, &member); i++) {
		out_object_begin(out, NULL);
		out_text(out, "\n\t");
		put_name(out, member.name);
		put_u32(out, "type_id", member.type);
		put_u32(out, "bits_offset", member.bit_offset);
		if (member.bit_size)
			put_u32(out, "bitfield_size", member.bit_size);
		out_object_end(out);
	}
	out_array_end(out);
}

static void dump_value(struct out *out, const struct btf_type *type,
		       const struct btf_enumerator *enumerator)
{
	bool wide = type->kind == BTF_ENUM64;
	struct out_integer value = { (uint64_t)enumerator->value, wide ? 64 : 32, type->kind_flag };
	char text[32];
	if (!value.is_signed && !wide)
		value.value &= UINT32_MAX;
	if (value.is_signed)
		snprintf(text, sizeof(text), "%" PRId64 "%s", enumerator->value, wide ? "LL" : "");
	else
		snprintf(text, sizeof(text), "%" PRIu64 "%s", value.value, wide ? "ULL" : "");
	out_integer_as(out, "val", &value, text);
}

static void dump_enum(struct out *out, const struct btf_type *type)
{
	struct btf_enumerator enumerator;
	put_word(out, "encoding", type->kind_flag ? "SIGNED" : "UNSIGNED");
	put_u32(out, "size", type->size);
	put_u32(out, "vlen", type->vlen);
	out_array_begin(out, "values");
	for (uint32_t i = 0; btf_enumerator(type, i, &enumerator); i++) {
		out_object_begin(out, NULL);
		out_text(out, "\n\t");
		put_name(out, enumerator.name);
		out_text(out, " val=");
		dump_value(out, type, &enumerator);
		out_object_end(out);
	}
	out_array_end(out);
}

static void dump_proto(struct out *out, const struct btf_type *type)
{
	struct btf_param param;
	put_u32(out, "ret_type_id", type->type);
	put_u32(out, "vlen", type->vlen);
	out_array_begin(out, "params");
	for (uint32_t i = 0; btf_param(type, i, &param); i++) {
		out_object_begin(out, NULL);
		out_text(out, "\n\t");
		put_name(out, param.name);
		put_u32(out, "type_id", param.type);
		out_object_end(out);
	}
	out_array_end(out);
}

static void dump_section(struct out *out, const struct btf *btf, const struct btf_type *type)
{
	struct btf_section_entry entry;
	struct btf_type variable;
	put_u32(out, "size", type->size);
	put_u32(out, "vlen", type->vlen);
	out_array_begin(out, "vars");
	for (uint32_t i = 0; btf_section_entry(type, i, &entry); i++) {
		out_object_begin(out, NULL);
		out_text(out, "\n\ttype_id=");
		out_u64(out, "type_id", entry.type);
		put_u32(out, "offset", entry.offset);
		put_u32(out, "size", entry.size);
		if (btf_get(btf, entry.type, &variable))
			out_text(out, " (%s '%s')", btf_kind_name(variable.kind),
				 variable.name[0] ? variable.name : "(anon)");
		out_object_end(out);
	}
	out_array_end(out);
}

static void dump_rest(struct out *out, const struct btf *btf, const struct btf_type *type)
{
	switch (type->kind) {
	case BTF_INT:
		dump_int(out, type);
		return;
	case BTF_ARRAY:
		dump_array(out, type);
		return;
	case BTF_STRUCT:
	case BTF_UNION:
		dump_members(out, type);
		return;
	case BTF_ENUM:
	case BTF_ENUM64:
		dump_enum(out, type);
		return;
	case BTF_FUNC_PROTO:
		dump_proto(out, type);
		return;
	case BTF_DATASEC:
		dump_section(out, btf, type);
		return;
	case BTF_FWD:
		put_word(out, "fwd_kind", type->kind_flag ? "union" : "struct");
		return;
	case BTF_FLOAT:
		put_u32(out, "size", type->size);
		return;
	case BTF_FUNC:
		put_u32(out, "type_id", type->type);
		put_word(out, "linkage", linkage_name(type->vlen));
		return;
	case BTF_VAR:
		put_u32(out, "type_id", type->type);
		out_text(out, ",");
		put_word(out, "linkage", linkage_name((uint32_t)type->extra));
		return;
	case BTF_DECL_TAG:
		put_u32(out, "type_id", type->type);
		out_text(out, " component_idx=");
		out_i64(out, "component_idx", type->extra);
		return;
	default:
		if (type->kind < BTF_KIND_COUNT)
			put_u32(out, "type_id", type->type);
		else
			put_u32(out, "kind_number", (uint32_t)type->kind);
	}
}

void btf_dump_raw_type(struct out *out, const struct btf *btf, uint32_t id)
{
	struct btf_type type;
	if (!id || !btf_get(btf, id, &type))
		return;
	out_object_begin(out, NULL);
	out_text(out, "[");
	out_u64(out, "id", id);
	out_text(out, "] ");
	out_string(out, "kind", btf_kind_name(type.kind));
	out_text(out, " ");
	put_name(out, type.name);
	dump_rest(out, btf, &type);
	out_text(out, "\n");
	out_object_end(out);
}

struct error *btf_dump_raw(struct out *out, const char *key, const struct btf *btf)
{
	struct error *error = NULL;
	out_array_begin(out, key);
	for (uint32_t id = btf_start_id(btf); id < btf_end_id(btf) && !error; id++) {
		if (id % CHECK_EVERY == 0) {
			error = interrupt_check();
			if (out_failed(out))
				break;
		}
		if (!error)
			btf_dump_raw_type(out, btf, id);
	}
	out_array_end(out);
	return error;
}
