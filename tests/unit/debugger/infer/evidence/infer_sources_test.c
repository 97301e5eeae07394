// SPDX-License-Identifier: GPL-3.0-or-later
/* The sources of evidence of debugger/infer that need no code, on a small machine. */
#include "debugger/infer/evidence/pointers.h"
#include "tests/unit/eval_fixture.h"
#include "tests/unit/infer_asked.h"

static struct fixture *fixture; /* of the test that runs */

static struct asked *create(void)
{
	fixture = fixture_create("");
	return asked_create(&fixture->target);
}

static void destroy(struct asked *asked)
{
	asked_destroy(asked);
	fixture_destroy(fixture);
}

static void test_functions(void)
{
	struct asked *asked = create();
	const struct function_entry *function =
		knowledge_function(asked->knowledge, TEXT_BASE + 0x100);
	CHECK(function->is_function && function->prototype.btf);
	/* Not its beginning; one that BTF does not have; no text. */
	CHECK(!knowledge_function(asked->knowledge, TEXT_BASE + 0x104)->is_function);
	function = knowledge_function(asked->knowledge, TEXT_BASE + 0x200);
	CHECK(function->is_function && !function->prototype.btf);
	CHECK(!knowledge_function(asked->knowledge, AT(thing))->is_function);
	CHECK(!knowledge_function(asked->knowledge, 0)->is_function);
	ask(asked, "thing", 0);
	CHECK_OK(own_data_collect(&asked->question, &asked->clues));
	const struct clue *clue = find_clue(asked, CLUE_SHAPE, offsetof(struct thing, function));
	CHECK(clue && clue->source == SOURCE_DATA && clue->where == TEXT_BASE + 0x100);
	destroy(asked);
}

static int judge(struct asked *asked, const char *name, const char **ret_why)
{
	uint64_t cursor = 0;
	uint32_t type = btf_find(fixture->btf, BTF_STRUCT, "thing", &cursor);
	ask(asked, name, 0);
	*ret_why = NULL;
	return own_data_judge(&asked->question, layout_resolve(asked->layout, type), 0, ret_why);
}

static void test_judge(void)
{
	const char *why;
	struct asked *asked = create();
	struct thing *thing = &fixture->contents->thing;
	CHECK(judge(asked, "thing", &why) > 0);
	CHECK(!why);
	memset(&thing->flag, 7, 1);
	CHECK(judge(asked, "thing", &why) < 0);
	CHECK_STRING(why, "a bool is neither 0 nor 1");
	memset(&thing->flag, 1, 1);
	thing->function = TEXT_BASE + 0x104;
	CHECK(judge(asked, "thing", &why) < 0);
	CHECK_STRING(why, "a function pointer points at none");
	thing->function = 0;
	thing->next = 0x1234567;
	CHECK(judge(asked, "thing", &why) < 0);
	CHECK_STRING(why, "a pointer holds no address");
	/* An error code and a poisoned pointer are not addresses either, but meant. */
	thing->next = (uint64_t)-12;
	CHECK(judge(asked, "thing", &why) >= 0);
	destroy(asked);
}

static void test_padding(void)
{
	const char *why = NULL;
	struct asked *asked = create();
	uint64_t cursor = 0;
	uint32_t point = btf_find(fixture->btf, BTF_STRUCT, "point", &cursor);
	ask(asked, "matrix", 0);
	CHECK(own_data_judge(&asked->question, point, 0, &why) < 0);
	CHECK_STRING(why, "bytes behind its end are in use");
	CHECK(own_data_judge(&asked->question, point, 3, &why) >= 0);
	destroy(asked);
}

static void test_text(void)
{
	struct asked *asked = create();
	strcpy(fixture->contents->string, "some text");
	ask(asked, "string", 0);
	CHECK_OK(own_data_collect(&asked->question, &asked->clues));
	CHECK(find_clue(asked, CLUE_STRIDE, 0) && find_clue(asked, CLUE_STRIDE, 0)->size == 1);
	/* A byte that no text has, and what follows an end. */
	fixture->contents->string[2] = 1;
	ask(asked, "string", 0);
	CHECK_OK(own_data_collect(&asked->question, &asked->clues));
	CHECK(!find_clue(asked, CLUE_STRIDE, 0));
	destroy(asked);
}

static void test_missing_bytes(void)
{
	const char *why;
	struct asked *asked = create();
	CHECK_U64(judge(asked, "filtered", &why), 0);
	CHECK_U64(asked->question.size, 0);
	CHECK_OK(own_data_collect(&asked->question, &asked->clues));
	CHECK_OK(tables_collect(&asked->question, &asked->clues));
	CHECK_U64(asked->clues.count, 0);
	destroy(asked);
}

/* thing.next points at `other`, and is a struct thing *. */
static void test_pointers(void)
{
	struct asked *asked = create();
	struct pointer_walk *walk;
	uint64_t cursor = 0;
	size_t found;
	uint32_t type = btf_find(fixture->btf, BTF_STRUCT, "thing", &cursor);
	CHECK_OK(pointer_walk_create(asked->knowledge, &walk));
	CHECK_OK(pointer_walk_add(walk, asked->layout, AT(thing), type, 0));
	CHECK_OK(pointer_walk_run(walk, &found));
	CHECK_U64(found, 1);
	/* The same again is no news. */
	CHECK_OK(pointer_walk_add(walk, asked->layout, AT(thing), type, 0));
	CHECK_OK(pointer_walk_run(walk, &found));
	CHECK_U64(found, 0);
	pointer_walk_destroy(walk);
	CHECK(has_news(asked, AT(other), 8, 0));
	CHECK(!has_news(asked, AT(other), 8, 1));
	asked->subject = (struct subject){ .address = AT(other), .room = sizeof(struct thing) };
	asked->question = (struct question){ .knowledge = asked->knowledge,
					     .subject = &asked->subject,
					     .layout = asked->layout };
	CHECK_OK(tables_collect(&asked->question, &asked->clues));
	const struct clue *clue = find_clue(asked, CLUE_OBJECT, 0);
	CHECK(clue && clue->source == SOURCE_POINTER && clue->type.id == type &&
	      clue->where == AT(thing.next));
	destroy(asked);
}

static void test_typed(void)
{
	struct asked *asked = create();
	struct typed typed = { AT(other), asked->layout, 1, 0 };
	CHECK(!knowledge_type_at(asked->knowledge, AT(other)));
	CHECK_OK(knowledge_set_type(asked->knowledge, &typed));
	typed.type = 2;
	CHECK_OK(knowledge_set_type(asked->knowledge, &typed));
	CHECK(knowledge_type_at(asked->knowledge, AT(other))->type == 2);
	CHECK(!knowledge_type_at(asked->knowledge, AT(thing)));
	for (uint64_t i = 1; i < 10000; i++) {
		typed.address = i * 8;
		CHECK_OK(knowledge_set_type(asked->knowledge, &typed));
	}
	CHECK(knowledge_type_at(asked->knowledge, 8 * 9999)->address == 8 * 9999);
	CHECK(!knowledge_type_at(asked->knowledge, 8 * 10000));
	destroy(asked);
}

static void test_names(void)
{
	struct asked *asked = create();
	ask(asked, "thing", 0);
	uint64_t cursor = 0;
	uint32_t type = btf_find(fixture->btf, BTF_STRUCT, "thing", &cursor);
	CHECK_U64(names_judge(&asked->question, type, 0), NAMES_MOST);
	CHECK_U64(names_judge(&asked->question, asked->layout->records[type].pointer, 0), 2);
	asked->symbol.name = "my_thing.3";
	CHECK_OK(names_prepare(&asked->question));
	CHECK_U64(names_judge(&asked->question, type, 0), 2);
	asked->symbol.name = "other";
	CHECK_OK(names_prepare(&asked->question));
	CHECK_U64(names_judge(&asked->question, type, 0), 0);
	destroy(asked);
}

int main(void)
{
	RUN(test_functions);
	RUN(test_judge);
	RUN(test_padding);
	RUN(test_text);
	RUN(test_missing_bytes);
	RUN(test_pointers);
	RUN(test_typed);
	RUN(test_names);
	return test_finish();
}
