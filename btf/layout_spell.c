// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Type names as pahole spells them: qualifiers where they apply, a blank behind each ("const char
 *", with two), and before every star.
 */
#include "btf/layout.h"

#include "btf/level.h"

/* Records that one name may go through: hostile types nest without end. */
#define NAME_VISITS_MAX 1024

struct naming {
	struct strbuf *text;
	int depth;
	uint32_t visits; /* left */
};

static void put_name(struct naming *naming, struct type type);

static void put_words(struct naming *naming, const char *word, const char *name)
{
	strbuf_put(naming->text, word);
	strbuf_name(naming->text, name);
}

bool btf_layout_is_function_pointer(struct type type, struct type *ret)
{
	struct record pointer, target;
	if (!record_get(type.btf, type.id, &pointer) || pointer.kind != BTF_PTR ||
	    !record_get(type.btf, pointer.type, &target) || target.kind != BTF_FUNC_PROTO)
		return false;
	*ret = (struct type){ type.btf, pointer.type };
	return true;
}

static void put_function(struct naming *naming, struct type type, const char *name, bool is_pointer,
			 int width);

static void put_params(struct naming *naming, const struct btf_type *proto, const struct btf *btf)
{
	struct btf_param param;
	struct type function;
	bool any = false, more = false;
	strbuf_char(naming->text, '(');
	for (uint32_t i = 0; naming->visits && btf_param(proto, i, &param); i++) {
		struct type type = { btf, param.type };
		if (!param.type) {
			more = true;
			continue;
		}
		if (any)
			strbuf_put(naming->text, ", ");
		any = true;
		if (btf_layout_is_function_pointer(type, &function)) {
			put_function(naming, function, param.name, true, 0);
			continue;
		}
		put_name(naming, type);
		if (*param.name)
			put_words(naming, " ", param.name);
	}
	if (!any)
		strbuf_put(naming->text, more ? "..." : "void");
	else if (more)
		strbuf_put(naming->text, ", ...");
	strbuf_char(naming->text, ')');
}

static void put_function(struct naming *naming, struct type type, const char *name, bool is_pointer,
			 int width)
{
	struct btf_type proto = { 0 };
	size_t from = naming->text->size;
	if (!type_get(type, &proto))
		return;
	put_name(naming, (struct type){ type.btf, proto.type });
	strbuf_pad(naming->text, from, width < 0 ? -width : width);
	put_words(naming, is_pointer ? " (*" : " (", name);
	strbuf_char(naming->text, ')');
	if (naming->depth < CHAIN_MAX) {
		naming->depth++;
		put_params(naming, &proto, type.btf);
		naming->depth--;
	}
}

static void put_pointer(struct naming *naming, const struct btf *btf, uint32_t id)
{
	struct record target, inner;
	bool is_const = record_get(btf, id, &target) && target.kind == BTF_CONST &&
			record_get(btf, target.type, &inner) && inner.kind == BTF_PTR;
	put_name(naming, (struct type){ btf, is_const ? target.type : id });
	strbuf_put(naming->text, is_const ? " const *" : " *");
}

static void put_record(struct naming *naming, const struct btf *btf, const struct btf_type *record)
{
	struct type inner = { btf, record->type };
	switch (record->kind) {
	case BTF_PTR:
		put_pointer(naming, btf, record->type);
		return;
	case BTF_CONST:
	case BTF_VOLATILE:
		strbuf_put(naming->text, record->kind == BTF_CONST ? "const " : "volatile ");
		put_name(naming, inner);
		strbuf_char(naming->text, ' ');
		return;
	case BTF_RESTRICT:
		put_name(naming, inner);
		strbuf_put(naming->text, " restrict ");
		return;
	case BTF_ARRAY:
	case BTF_TYPE_TAG:
		put_name(naming, inner);
		return;
	case BTF_FUNC_PROTO:
		put_function(naming, (struct type){ btf, record->id }, "", false, 0);
		return;
	case BTF_STRUCT:
		put_words(naming, "struct ", record->name);
		return;
	case BTF_UNION:
		put_words(naming, "union ", record->name);
		return;
	case BTF_ENUM:
	case BTF_ENUM64:
		put_words(naming, "enum ", record->name);
		return;
	case BTF_FWD:
		put_words(naming, record->kind_flag ? "union " : "struct ", record->name);
		return;
	case BTF_VOID:
		strbuf_put(naming->text, "void");
		return;
	default:
		put_words(naming, "", *record->name ? record->name : "...");
	}
}

static void put_name(struct naming *naming, struct type type)
{
	struct btf_type record = { 0 };
	if (naming->depth >= CHAIN_MAX || !naming->visits || !type_get(type, &record)) {
		strbuf_put(naming->text, "...");
		return;
	}
	naming->depth++;
	naming->visits--;
	put_record(naming, type.btf, &record);
	naming->depth--;
}

void btf_layout_spell(struct strbuf *text, struct type type)
{
	struct naming naming = { .text = text, .visits = NAME_VISITS_MAX };
	put_name(&naming, type);
}

void btf_layout_spell_function(struct strbuf *text, struct type type, const char *name,
			       bool is_pointer, int width)
{
	struct naming naming = { .text = text, .visits = NAME_VISITS_MAX };
	put_function(&naming, type, name, is_pointer, width);
}
