// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * BTF ids that the kernel's code asks for (include/linux/btf_ids.h): words that resolve_btfids
 * wrote after the linker, at symbols called __BTF_ID__KIND__NAME__NUMBER. That such a word is the
 * id of a type of that kind proves what it is; nothing else of the kernel says it, for they are
 * made in assembler. The type may have another name: in a set the ids are sorted, the symbols stay.
 */
#include "debugger/infer/known/knowledge.h"

#include "base/array.h"
#include "base/bytes.h"
#include <string.h>

#define PREFIX	"__BTF_ID__"
#define ID_SIZE 4

static bool find_kind(const char *name, enum btf_kind *ret)
{
	static const struct {
		const char *word;
		enum btf_kind kind;
	} kinds[] = { { "func__", BTF_FUNC },
		      { "struct__", BTF_STRUCT },
		      { "union__", BTF_UNION },
		      { "typedef__", BTF_TYPEDEF } };
	for (size_t i = 0; i < ARRAY_COUNT(kinds); i++) {
		if (strncmp(name, kinds[i].word, strlen(kinds[i].word)))
			continue;
		*ret = kinds[i].kind;
		return true;
	}
	return false;
}

struct error *btf_ids_collect(const struct question *question, struct clues *clues)
{
	const struct layout *layout = question->layout;
	const char *name = question->symbol->name;
	enum btf_kind kind;
	struct btf_type type;
	if (strncmp(name, PREFIX, strlen(PREFIX)) || question->size < ID_SIZE)
		return NULL;
	uint32_t number = layout_find(layout, BTF_INT, "unsigned int");
	uint32_t id = (uint32_t)load_unsigned(question->bytes, ID_SIZE,
					      question->knowledge->target->facts->big_endian);
	if (!number || !find_kind(name + strlen(PREFIX), &kind) ||
	    !btf_get(layout->btf, id, &type) || type.kind != kind)
		return NULL;
	/* In a set of kfuncs the flags of each follow its id, without a symbol. */
	struct clue clue = { .kind = question->subject->room == ID_SIZE ? CLUE_WHOLE : CLUE_OBJECT,
			     .source = SOURCE_TABLE,
			     .type = { layout->btf, number },
			     .where = question->subject->address,
			     .shows_sign = true,
			     .how = "holds the id of a BTF type of that kind" };
	return clues_add(clues, &clue) ? NULL : error_no_memory();
}
