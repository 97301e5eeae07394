// SPDX-License-Identifier: GPL-3.0-or-later
/* The table's word alone, and bytes that bear it out; prototypes of names that several have. */
#include "tests/unit/eval_fixture.h"

#include "debugger/infer/hints/hints.h"
#include "debugger/infer/solve/agree.h"

struct asked {
	struct fixture *fixture;
	struct knowledge *knowledge;
	const struct layout *layout;
	struct subject subject;
	struct question question;
};

/* The functions called `twin` are of two prototypes. */
static void add_twins(struct fixture *fixture)
{
	uint32_t size = 0;
	int first = btf__add_func_proto(fixture->source, fixture->ids.long_);
	btf__add_func(fixture->source, "twin", BTF_FUNC_STATIC, first);
	int second = btf__add_func_proto(fixture->source, fixture->ids.int_);
	btf__add_func_param(fixture->source, "count", fixture->ids.ulong);
	btf__add_func(fixture->source, "twin", BTF_FUNC_STATIC, second);
	add_list_head(fixture->source);
	btf_close(fixture->btf);
	const void *raw = btf__raw_data(fixture->source, &size);
	CHECK_OK(btf_open(raw, size, NULL, "vmlinux", &fixture->btf));
	fixture->target.btf = fixture->btf;
}

static struct asked *create(void)
{
	struct asked *asked = calloc(1, sizeof(*asked));
	if (!asked)
		abort();
	asked->fixture = fixture_create("");
	add_twins(asked->fixture);
	CHECK_OK(knowledge_create(&asked->fixture->target, &asked->knowledge));
	CHECK_OK(knowledge_layout(asked->knowledge, NULL, &asked->layout));
	return asked;
}

static void destroy(struct asked *asked)
{
	knowledge_destroy(asked->knowledge);
	fixture_destroy(asked->fixture);
	free(asked);
}

/* What an answer that only the table gives becomes. */
static enum confidence agree(struct asked *asked, uint64_t address, void *bytes, uint32_t size,
			     struct answer answer)
{
	asked->subject = (struct subject){ .address = address, .room = size };
	asked->question = (struct question){ .knowledge = asked->knowledge,
					     .subject = &asked->subject,
					     .layout = asked->layout,
					     .bytes = bytes,
					     .size = size };
	answer.confidence = CONFIDENCE_INFERRED;
	agree_with_bytes(&asked->question, &answer);
	return answer.confidence;
}

static enum confidence agree_thing(struct asked *asked, bool is_open)
{
	struct thing *thing = &asked->fixture->contents->thing;
	uint32_t type = layout_find(asked->layout, BTF_STRUCT, "thing");
	return agree(asked, AT(thing), thing, sizeof(*thing),
		     (struct answer){ .type = type, .is_open = is_open });
}

static void test_function_and_text(void)
{
	struct asked *asked = create();
	struct thing *thing = &asked->fixture->contents->thing;
	CHECK(agree_thing(asked, true) == CONFIDENCE_CERTAIN);
	CHECK(agree_thing(asked, false) == CONFIDENCE_INFERRED);
	thing->function = thing->next = thing->text = 0;
	CHECK(agree_thing(asked, true) == CONFIDENCE_INFERRED);
	thing->next = 0x1234567;
	CHECK(agree_thing(asked, true) == CONFIDENCE_INFERRED);
	destroy(asked);
}

static void test_pointer_to_typed(void)
{
	struct asked *asked = create();
	struct thing *thing = &asked->fixture->contents->thing;
	struct typed typed = { AT(other), asked->layout,
			       layout_find(asked->layout, BTF_STRUCT, "thing"), 0 };
	thing->function = thing->text = 0;
	CHECK(agree_thing(asked, true) == CONFIDENCE_INFERRED);
	CHECK_OK(knowledge_set_type(asked->knowledge, &typed));
	CHECK(agree_thing(asked, true) == CONFIDENCE_CERTAIN);
	typed.type = layout_find(asked->layout, BTF_STRUCT, "point");
	CHECK_OK(knowledge_set_type(asked->knowledge, &typed));
	CHECK(agree_thing(asked, true) == CONFIDENCE_INFERRED);
	destroy(asked);
}

static enum confidence agree_text(struct asked *asked, const char *text)
{
	char *string = asked->fixture->contents->string;
	uint32_t size = sizeof(asked->fixture->contents->string);
	struct answer answer = { .type = layout_find(asked->layout, BTF_INT, "char"),
				 .count = size,
				 .is_open = true };
	memset(string, 0, size);
	strcpy(string, text);
	return agree(asked, AT(string), string, size, answer);
}

static void test_text(void)
{
	struct asked *asked = create();
	CHECK(agree_text(asked, "some text") == CONFIDENCE_CERTAIN);
	CHECK(agree_text(asked, "no text\001") == CONFIDENCE_INFERRED);
	CHECK(agree_text(asked, "no") == CONFIDENCE_INFERRED);
	CHECK(agree_text(asked, "") == CONFIDENCE_INFERRED);
	destroy(asked);
}

static uint32_t prototype(const struct asked *asked, const char *name, int number)
{
	struct btf_type record;
	uint64_t cursor = 0;
	uint32_t id = 0;
	while (number--)
		id = btf_find(asked->fixture->btf, BTF_FUNC, name, &cursor);
	CHECK(btf_get(asked->fixture->btf, id, &record));
	return layout_resolve(asked->layout, record.type);
}

static void test_prototypes(void)
{
	bool is_proved;
	struct asked *asked = create();
	uint32_t first = prototype(asked, "twin", 1), second = prototype(asked, "twin", 2);
	uint32_t proved = prototype(asked, "some_function", 1);
	const struct function_entry *function =
		knowledge_function(asked->knowledge, TEXT_BASE + 0x100);
	CHECK(function_compare(function, asked->layout, proved, &is_proved) == LIKE_EXACTLY &&
	      is_proved);
	CHECK(function_compare(function, asked->layout, first, &is_proved) == LIKE_NOT);
	function = knowledge_function(asked->knowledge, TEXT_BASE + 0x200);
	CHECK(!function->prototype.btf);
	CHECK(function_compare(function, asked->layout, first, &is_proved) == LIKE_WEAKLY &&
	      !is_proved);
	CHECK(function_compare(function, asked->layout, second, &is_proved) == LIKE_WEAKLY);
	destroy(asked);
}

/* --- what the symbol's pointers point at ------------------------------------------------------ */

/* The table has `slab_caches`, a struct list_head: it lies at `other` here. */
static void name_pointee(struct fixture *fixture, uint64_t room)
{
	const struct test_symbol symbols[] = {
		{ TEXT_BASE, 'T', "_text" },	       { TEXT_BASE, 'T', "_stext" },
		{ TEXT_BASE + 0x300, 'T', "_etext" },  { AT(thing), 'D', "thing" },
		{ AT(other), 'D', "slab_caches" },     { AT(other) + room, 'D', "next" },
		{ DATA_BASE + 2 * PAGE, 'D', "_end" },
	};
	symtab_destroy(fixture->target.symbols);
	image_destroy(&fixture->tables);
	image_symbols(&fixture->tables, TABLES, symbols, sizeof(symbols) / sizeof(symbols[0]),
		      &fixture->target.symbols);
}

/* The type that `other` has when `thing`, which points at it, was asked about; 0: none. */
static uint32_t pointee_of(struct asked *asked)
{
	struct thing *thing = &asked->fixture->contents->thing;
	asked->subject = (struct subject){ .address = AT(thing), .room = sizeof(*thing) };
	asked->question = (struct question){ .knowledge = asked->knowledge,
					     .subject = &asked->subject,
					     .layout = asked->layout,
					     .bytes = (uint8_t *)thing,
					     .size = sizeof(*thing) };
	CHECK_OK(agree_on_pointees(&asked->question));
	const struct typed *typed = knowledge_type_at(asked->knowledge, AT(other));
	return typed ? typed->type : 0;
}

static void test_pointees(void)
{
	struct asked *asked = create();
	uint32_t list = layout_find(asked->layout, BTF_STRUCT, "list_head");
	name_pointee(asked->fixture, 16);
	CHECK_U64(pointee_of(asked), 0);
	CHECK_OK(hints_create(&asked->knowledge->hints));
	asked->knowledge->hint_kernels = HINTS_ALL;
	/* The whole pass types them better, and threads must not. */
	asked->knowledge->is_shared = true;
	CHECK_U64(pointee_of(asked), 0);
	asked->knowledge->is_shared = false;
	CHECK(list && pointee_of(asked) == list);
	destroy(asked);
}

/* More room than the table's type needs: it may be another one here. */
static void test_loose_pointee(void)
{
	struct asked *asked = create();
	name_pointee(asked->fixture, 256);
	CHECK_OK(hints_create(&asked->knowledge->hints));
	asked->knowledge->hint_kernels = HINTS_ALL;
	CHECK_U64(pointee_of(asked), 0);
	destroy(asked);
}

int main(void)
{
	RUN(test_function_and_text);
	RUN(test_pointer_to_typed);
	RUN(test_text);
	RUN(test_prototypes);
	RUN(test_pointees);
	RUN(test_loose_pointee);
	return test_finish();
}
