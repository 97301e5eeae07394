// SPDX-License-Identifier: GPL-3.0-or-later
/* What is known of a variable where paths join. */
#include "tests/unit/flow_world.h"

/* rdi = cond ? &a : &b: it is used as one variable, so both are what it is used as. */
static void test_addresses(void)
{
	relative("48 8d 3d", DATA);
	bytes("85 c0 74 07"); /* je over the next */
	relative("48 8d 3d", DATA + 64);
	call(PUT_FOO);
	run(0);
	CHECK_U64(count(CLUE_OBJECT), 2);
	CHECK(found(CLUE_OBJECT, 0, FOO, false) && found(CLUE_OBJECT, 64, FOO, false));
}

/* rdi = cond ? a : b; of three, two are learned of. */
static void test_values(void)
{
	relative("48 8b 3d", DATA);
	bytes("85 c0 74 07");
	relative("48 8b 3d", DATA + 64);
	bytes("85 c9 74 07");
	relative("48 8b 3d", DATA + 128);
	call(PUT_FOO);
	run(0);
	CHECK(found(CLUE_VALUE, 0, FOO_PTR, false) && found(CLUE_VALUE, 64, FOO_PTR, false));
	CHECK_U64(count(CLUE_VALUE), 2);
}

/* Two addresses are no values, wherever they are asked for one. */
static void test_compared(void)
{
	relative("48 8d 05", DATA);
	bytes("85 c9 74 07");
	relative("48 8d 05", DATA + 64);
	bytes("48 39 f8"); /* cmp %rdi, %rax */
	run(PUT_FOO_PROTO);
	CHECK(found(CLUE_OBJECT, 0, LIST_HEAD, false));
	CHECK(found(CLUE_OBJECT, 64, LIST_HEAD, false));
	CHECK_U64(count(CLUE_VALUE), 0);
}

static void test_other_sizes(void)
{
	relative("48 8b 3d", DATA);
	bytes("85 c0 74 06");
	relative("8b 3d", DATA + 64);
	call(PUT_FOO);
	run(0);
	CHECK_U64(count(CLUE_VALUE), 0);
}

/* rdi = cond ? data : something else */
static void test_unknown(void)
{
	relative("48 8b 3d", DATA);
	bytes("85 c0 74 03");
	bytes("48 89 df"); /* mov %rbx, %rdi */
	call(PUT_FOO);
	run(0);
	CHECK_U64(count(CLUE_VALUE), 0);
}

/* rdi, a foo as the prototype says, or data: a join of what is typed and what is not is nothing. */
static void test_typed(void)
{
	bytes("85 c0 74 07");
	relative("48 8b 3d", DATA);
	bytes("48 8b 47 18"); /* mov 24(%rdi), %rax: foo->link, or not */
	relative("48 89 05", DATA + 64);
	call(PUT_FOO);
	run(PUT_FOO_PROTO);
	CHECK_U64(count(CLUE_VALUE), 0);
}

/* rdi = cond ? data : NULL */
static void test_null(void)
{
	relative("48 8b 3d", DATA);
	bytes("85 c0 74 02");
	bytes("31 ff");
	call(PUT_FOO);
	run(0);
	CHECK(found(CLUE_VALUE, 0, FOO_PTR, false));
}

int main(void)
{
	struct btf *btf = make_btf();
	levels_items[0] = btf;
	RUN(test_addresses);
	RUN(test_values);
	RUN(test_compared);
	RUN(test_other_sizes);
	RUN(test_unknown);
	RUN(test_typed);
	RUN(test_null);
	btf_close(btf);
	return test_finish();
}
