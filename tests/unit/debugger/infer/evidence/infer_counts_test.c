// SPDX-License-Identifier: GPL-3.0-or-later
/* A number behind a pointer that says how many elements the room has that is pointed at. */
#include "base/array.h"
#include "debugger/infer/evidence/own_data_fit.h"
#include "tests/unit/infer_pass.h"

#include <stddef.h>

#define AT(member) (DATA + offsetof(struct contents, member))

/* struct group { const unsigned int *pins; unsigned int count; } */
struct group {
	uint64_t pins, count;
};

struct contents {
	struct group group;
	uint32_t pins[32], others[32];
	uint64_t end;
};

static struct contents contents;
static struct pass pass;

static void begin(void)
{
	static const struct test_symbol symbols[] = {
		{ TEXT, 'T', "_text" },		 { TEXT, 'T', "_stext" },
		{ TEXT + 0x600, 'T', "_etext" }, { AT(group), 'd', "group" },
		{ AT(pins), 'd', "pins" },	 { AT(others), 'd', "others" },
		{ AT(end), 'D', "_edata" },	 { AT(end) + 8, 'D', "_end" },
	};
	pass_init(&pass, &contents, sizeof(contents));
	struct libbpf_btf *source = pass.machine.source;
	int number = btf__add_int(source, "unsigned int", 4, 0);
	int pins = btf__add_ptr(source, btf__add_const(source, number));
	btf__add_struct(source, "group", sizeof(struct group));
	add_member(source, "pins", pins, 0);
	add_member(source, "count", number, 8);
	pass_begin(&pass, symbols, ARRAY_COUNT(symbols));
}

/* The bits of the group with that in it. */
static int cost(uint64_t pins, uint64_t count)
{
	char name[SYMBOL_NAME_SIZE];
	struct symbol symbol;
	contents.group = (struct group){ pins, count };
	const struct subject *subject = &pass.subjects.items[pass_number(&pass, AT(group))];
	symtab_get_into(pass.machine.target.symbols, subject->symbol, name, &symbol);
	one_begin(&pass.one, subject, &symbol);
	CHECK_OK(names_prepare(&pass.one.question));
	struct fit *fit = fit_create(&pass.one.question);
	CHECK(fit);
	uint32_t group = layout_find(pass.layout, BTF_STRUCT, "group");
	int bits = fit ? fit_cost(fit, group, 0, 1 << 24) : 0;
	fit_destroy(fit);
	return bits;
}

static void check_counts(bool has_list)
{
	begin();
	pass.knowledge->subjects = has_list ? &pass.subjects : NULL;
	int right = cost(AT(pins), 32);
	CHECK(right + 4 * FIT_BIT < cost(AT(pins), 33));
	/* So few leave more of the room than padding. */
	CHECK(right < cost(AT(pins), 1));
	/* Not of what it points into, and not of what has no room at all. */
	CHECK(right < cost(AT(pins) + 4, 32));
	CHECK(right < cost(TEXT, 32));
	CHECK(cost(AT(others), 32) == right);
	pass_end(&pass);
}

static void test_counts(void)
{
	check_counts(true);
}

/* One question has no list of all symbols, and the same answer. */
static void test_one_question(void)
{
	check_counts(false);
}

int main(void)
{
	RUN(test_counts);
	RUN(test_one_question);
	return test_finish();
}
