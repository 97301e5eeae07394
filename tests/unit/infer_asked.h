/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A question about one symbol of a made-up target, as debugger/infer puts it to its sources. */
#ifndef TESTS_UNIT_INFER_ASKED_H
#define TESTS_UNIT_INFER_ASKED_H

#include "debugger/infer/known/knowledge.h"
#include "tests/unit/test.h"

struct asked {
	struct target *target;
	struct knowledge *knowledge;
	const struct layout *layout;
	struct subject subject;
	struct symbol symbol;
	struct question question;
	struct clues clues;
	uint8_t bytes[4096];
};

static inline struct asked *asked_create(struct target *target)
{
	struct asked *asked = calloc(1, sizeof(*asked));
	if (!asked)
		abort();
	asked->target = target;
	CHECK_OK(knowledge_create(target, &asked->knowledge));
	CHECK_OK(knowledge_layout(asked->knowledge, NULL, &asked->layout));
	return asked;
}

static inline void asked_destroy(struct asked *asked)
{
	knowledge_destroy(asked->knowledge);
	clues_deinit(&asked->clues);
	free(asked);
}

/* About `room` bytes from where the symbol is, as they are now; 0: as many as it has. */
static inline void ask(struct asked *asked, const char *name, uint64_t room)
{
	uint64_t cursor = 0;
	struct error *why;
	CHECK(symtab_find(asked->target->symbols, NULL, name, &cursor, &asked->symbol));
	asked->subject = (struct subject){ .address = asked->symbol.address,
					   .room = room ? room : asked->symbol.size,
					   .symbol = asked->symbol.number };
	asked->question = (struct question){ .knowledge = asked->knowledge,
					     .subject = &asked->subject,
					     .symbol = &asked->symbol,
					     .layout = asked->layout,
					     .bytes = asked->bytes };
	size_t size = asked->subject.room < sizeof(asked->bytes) ? (size_t)asked->subject.room
								 : sizeof(asked->bytes);
	asked->question.size = (uint32_t)memory_read_some(
		asked->target->memory, asked->subject.address, asked->bytes, size, &why);
	error_free(why);
	CHECK_OK(names_prepare(&asked->question));
	asked->clues.count = 0;
}

/* The same, put to one source. */
static inline void ask_source(struct asked *asked, source_collect *collect, const char *name)
{
	ask(asked, name, 0);
	CHECK_OK(collect(&asked->question, &asked->clues));
}

static inline uint32_t struct_named(const struct asked *asked, const char *name)
{
	uint32_t type = layout_find(asked->layout, BTF_STRUCT, name);
	CHECK(type);
	return type;
}

static inline const struct clue *find_clue(const struct asked *asked, enum clue_kind kind,
					   uint64_t offset)
{
	for (size_t i = 0; i < asked->clues.count; i++)
		if (asked->clues.items[i].kind == kind && asked->clues.items[i].offset == offset)
			return &asked->clues.items[i];
	return NULL;
}

/* Is there a fact about the range that came after the first `known` ones? */
static inline bool has_news(struct asked *asked, uint64_t address, uint64_t size, size_t known)
{
	size_t cursor = 0;
	return knowledge_news(asked->knowledge, address, size, known, &cursor);
}

/* The type that a clue names, in C; "": there is no such clue. */
static inline const char *clue_type(const struct clue *clue)
{
	static char spelled[128];
	*spelled = 0;
	if (clue && clue->type.btf)
		type_spell(clue->type, NULL, spelled, sizeof(spelled));
	return spelled;
}

static inline bool has_clue(const struct asked *asked, const char *how, const char *type)
{
	for (size_t i = 0; i < asked->clues.count; i++)
		if (!strcmp(asked->clues.items[i].how, how) &&
		    !strcmp(clue_type(&asked->clues.items[i]), type))
			return true;
	return false;
}

#endif
