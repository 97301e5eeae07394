// SPDX-License-Identifier: GPL-3.0-or-later
/* What is used as an address is a pointer. */
#include "tests/unit/flow_world.h"

static void test_addresses(void)
{
	relative("48 8b 05", DATA); /* mov DATA(%rip), %rax */
	bytes("8b 48 10");	    /* mov 16(%rax), %ecx */
	run(0);
	CHECK(found(CLUE_VALUE, 0, VOID_PTR, false));
	relative("48 8b 05", DATA);
	bytes("ff d0"); /* call *%rax */
	run(0);
	CHECK(found(CLUE_VALUE, 0, VOID_PTR, false));
	/* The offset of something, and an index. */
	relative("48 8b 05", DATA);
	bytes("8b 0c 03"); /* mov (%rbx,%rax), %ecx */
	bytes("8b 0c 83"); /* mov (%rbx,%rax,4), %ecx */
	run(0);
	CHECK_U64(count(CLUE_VALUE), 0);
	/* Four bytes are no address. */
	relative("8b 05", DATA); /* mov DATA(%rip), %eax */
	bytes("8b 48 10");
	run(0);
	CHECK(!found(CLUE_VALUE, 0, VOID_PTR, false));
}

/* A pointer to numbers, which are indexed by their size; a member may be an array, too. */
static void test_pointers_to_numbers(void)
{
	relative("48 8b 05", DATA); /* mov DATA(%rip), %rax */
	bytes("8b 0c b8");	    /* mov (%rax,%rdi,4), %ecx */
	run(0);
	CHECK(found(CLUE_VALUE, 0, UNSIGNED, true));
	relative("48 8b 05", DATA);
	bytes("48 63 0c b8"); /* movslq (%rax,%rdi,4), %rcx */
	run(0);
	CHECK(found(CLUE_VALUE, 0, INT, true));
	relative("48 8b 05", DATA);
	bytes("8b 4c b8 10"); /* mov 16(%rax,%rdi,4), %ecx */
	bytes("8b 0c f8");    /* mov (%rax,%rdi,8), %ecx: one of two */
	run(0);
	CHECK(!found(CLUE_VALUE, 0, UNSIGNED, true) && !found(CLUE_VALUE, 0, INT, true));
	CHECK(found(CLUE_VALUE, 0, VOID_PTR, false));
}

int main(void)
{
	struct btf *btf = make_btf();
	levels_items[0] = btf;
	RUN(test_addresses);
	RUN(test_pointers_to_numbers);
	btf_close(btf);
	return test_finish();
}
