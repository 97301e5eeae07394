// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Types through hand-made functions: each kind of evidence, and each trap that must give none.
 */
#include "tests/unit/flow_world.h"

/* --- evidence
 * ------------------------------------------------------------------------------------- */

static void test_argument(void)
{
	absolute("48 c7 c6", DATA + 8); /* mov $DATA+8, %rsi */
	call(LIST_ADD);
	run(0);
	CHECK(found(CLUE_OBJECT, 8, LIST_HEAD, false));
	CHECK_U64(finding_count, 1);
	relative("48 8d 3d", DATA); /* lea DATA(%rip), %rdi */
	relative("e9", PUT_FOO);    /* jmp: a call from the tail */
	run(0);
	CHECK(found(CLUE_OBJECT, 0, FOO, false));
	/* A jump with something on the stack is none. */
	relative("48 8d 3d", DATA);
	bytes("53"); /* push %rbx */
	relative("e9", PUT_FOO);
	run(0);
	CHECK_U64(finding_count, 0);
}

static void test_value(void)
{
	relative("48 8b 3d", DATA + 16); /* mov DATA+16(%rip), %rdi */
	call(PUT_FOO);
	run(0);
	CHECK(found(CLUE_VALUE, 16, FOO_PTR, false));
	CHECK(found_size(CLUE_ACCESS, 16, 8));
	/* What is read is no object of that type. */
	CHECK_U64(count(CLUE_OBJECT), 0);
	relative("8b 35", DATA + 4); /* mov DATA+4(%rip), %esi */
	call(SET);
	run(0);
	CHECK(found(CLUE_VALUE, 4, COLOR, false));
}

static void test_results(void)
{
	call(GET_FOO);
	relative("48 89 05", DATA); /* mov %rax, DATA(%rip) */
	run(0);
	CHECK(found(CLUE_VALUE, 0, FOO, true));
	/* The first member's address is that of the whole: nothing else can be said. */
	call(GET_FOO);
	bytes("48 83 c0 18");	    /* add $24, %rax */
	relative("48 89 05", DATA); /* &foo->link */
	run(0);
	CHECK(found(CLUE_VALUE, 0, LIST_HEAD_PTR, true));
	/* Returned by a function that returns a type. */
	relative("48 8d 05", DATA);
	relative("e9", RETURN);
	run(GET_FOO_PROTO);
	CHECK(found(CLUE_OBJECT, 0, FOO, false));
	relative("48 8b 05", DATA);
	bytes("c3");
	run(GET_FOO_PROTO);
	CHECK(found(CLUE_VALUE, 0, FOO_PTR, false));
}

static void test_members(void)
{
	/* foo->link = &data; */
	absolute("48 c7 47 18", DATA); /* movq $DATA, 24(%rdi) */
	bytes("c3");
	run(PUT_FOO_PROTO);
	CHECK(found(CLUE_OBJECT, 0, LIST_HEAD, false));
	/* data = foo->link */
	bytes("48 8b 47 18");
	relative("48 89 05", DATA);
	run(PUT_FOO_PROTO);
	CHECK(found(CLUE_VALUE, 0, LIST_HEAD, true));
	/* data = foo->items[i].first, i computed */
	bytes("48 63 c6");	 /* movslq %esi, %rax */
	bytes("48 c1 e0 04");	 /* shl $4, %rax */
	bytes("48 8b 44 07 28"); /* mov 40(%rdi,%rax), %rax */
	relative("48 89 05", DATA);
	run(PUT_FOO_PROTO);
	CHECK(found(CLUE_VALUE, 0, LIST_HEAD, true));
	/* data = foo->count */
	bytes("8b 47 10");
	relative("89 05", DATA);
	run(PUT_FOO_PROTO);
	CHECK(found(CLUE_VALUE, 0, INT, false));
	/* Inside a scalar, past the end: nothing. */
	bytes("48 8b 47 1c");
	relative("48 89 05", DATA);
	bytes("48 8b 87 00 01 00 00");
	relative("48 89 05", DATA);
	run(PUT_FOO_PROTO);
	CHECK_U64(count(CLUE_VALUE), 0);
}

static void test_comparisons(void)
{
	absolute("48 81 ff", DATA); /* cmp $DATA, %rdi: foo, or the list it begins with? */
	run(PUT_FOO_PROTO);
	CHECK(found(CLUE_OBJECT, 0, LIST_HEAD, false));
	CHECK(!found(CLUE_OBJECT, 0, FOO, false));
	relative("48 39 3d", DATA); /* cmp %rdi, DATA(%rip) */
	run(PUT_FOO_PROTO);
	CHECK(found(CLUE_VALUE, 0, FOO, true));
	relative("83 3d", DATA - 1); /* cmpl $5, DATA(%rip) */
	bytes("05");
	bytes("7f 00"); /* jg */
	bytes("c3");
	run(0);
	CHECK(found(CLUE_VALUE, 0, INT, false));
}

/* An enum is compared with its like; what extends a number by its sign says that it has one. */
static void test_numbers(void)
{
	bytes("8b 47 14");	 /* mov 20(%rdi), %eax: foo->color */
	relative("39 05", DATA); /* cmp %eax, DATA(%rip) */
	relative("3b 05", DATA + 8);
	run(PUT_FOO_PROTO);
	CHECK(found(CLUE_VALUE, 0, COLOR, false));
	CHECK(found(CLUE_VALUE, 8, COLOR, false));
	relative("48 63 05", DATA); /* movslq DATA(%rip), %rax */
	run(0);
	CHECK(found(CLUE_VALUE, 0, INT, false));
	relative("8b 05", DATA); /* mov DATA(%rip), %eax */
	bytes("48 63 c8");	 /* movslq %eax, %rcx */
	run(0);
	CHECK(found(CLUE_VALUE, 0, INT, false));
	relative("0f b7 05", DATA); /* movzwl DATA(%rip), %eax */
	run(0);
	CHECK_U64(count(CLUE_VALUE), 0);
}

/* What is used as 8 bytes with no sign extended has none; so has what a shift fills up with 0. */
static void test_signs(void)
{
	static const struct {
		const char *bytes;
		uint32_t type; /* 0: nothing is said */
	} uses[] = {
		{ "48 39 c3", UNSIGNED },	 /* cmp %rax, %rbx */
		{ "48 09 c3", UNSIGNED },	 /* or %rax, %rbx */
		{ "48 89 43 08", UNSIGNED },	 /* mov %rax, 8(%rbx) */
		{ "48 8b 1c c3", UNSIGNED },	 /* mov (%rbx,%rax,8), %rbx */
		{ "48 c1 e0 03", UNSIGNED },	 /* shl $3, %rax */
		{ "c1 e8 03", UNSIGNED },	 /* shr $3, %eax */
		{ "c1 f8 03", INT },		 /* sar $3, %eax */
		{ "99 f7 f9", INT },		 /* cltd; idiv %ecx */
		{ "48 98 48 39 c3", INT },	 /* cltq; cmp %rax, %rbx */
		{ "48 63 d0 48 89 53 08", INT }, /* movslq %eax, %rdx; mov %rdx, 8(%rbx) */
		{ "39 c3", 0 },			 /* cmp %eax, %ebx */
		{ "50", 0 },			 /* push %rax */
		{ "83 c0 01 48 39 c3", 0 },	 /* add $1, %eax; cmp %rax, %rbx */
	};
	for (size_t i = 0; i < ARRAY_COUNT(uses); i++) {
		relative("8b 05", DATA); /* mov DATA(%rip), %eax */
		bytes(uses[i].bytes);
		run(0);
		CHECK_U64(found(CLUE_VALUE, 0, UNSIGNED, false), uses[i].type == UNSIGNED);
		CHECK_U64(found(CLUE_VALUE, 0, INT, false), uses[i].type == INT);
	}
}

static void test_lists(void)
{
	/* if (data.next == &data) */
	absolute("48 c7 c0", DATA);
	relative("48 39 05", DATA); /* cmp %rax, DATA(%rip) */
	run(0);
	CHECK(found(CLUE_OBJECT, 0, LIST_HEAD, false));
	/* data.prev */
	absolute("48 c7 c0", DATA);
	relative("48 39 05", DATA + 8);
	run(0);
	CHECK(found(CLUE_OBJECT, 0, LIST_HEAD, false));
	/* A pointer to its neighbour is no list. */
	absolute("48 c7 c0", DATA + 64);
	relative("48 39 05", DATA);
	absolute("48 c7 c0", DATA);
	relative("48 39 05", DATA + 16);
	run(0);
	CHECK_U64(count(CLUE_OBJECT), 0);
}

static void test_indirect_calls(void)
{
	relative("48 8d 35", DATA); /* lea DATA, %rsi */
	bytes("48 89 f8");	    /* mov %rdi, %rax */
	bytes("48 89 f7");	    /* mov %rsi, %rdi */
	bytes("ff 50 20");	    /* call *32(%rax): foo->op */
	run(PUT_FOO_PROTO);
	CHECK(found(CLUE_OBJECT, 0, FOO, false));
	bytes("48 8b 47 20");	    /* mov 32(%rdi), %rax */
	relative("48 8d 3d", DATA); /* lea DATA, %rdi */
	call(THUNK);
	run(PUT_FOO_PROTO);
	CHECK(found(CLUE_OBJECT, 0, FOO, false));
	/* A function's address in a global. */
	absolute("48 c7 c0", PUT_FOO);
	relative("48 89 05", DATA);
	run(0);
	CHECK(found(CLUE_VALUE, 0, PUT_FOO_PROTO, true));
}

static void test_known_globals(void)
{
	/* known.link = &data; data = known.link */
	absolute("48 c7 c0", DATA);
	relative("48 89 05", KNOWN + 24);
	relative("48 8b 05", KNOWN + 24);
	relative("48 89 05", DATA + 64);
	absolute("48 c7 c0", KNOWN);
	relative("48 89 05", DATA + 128);
	run(0);
	CHECK(found(CLUE_OBJECT, 0, LIST_HEAD, false));
	CHECK(found(CLUE_VALUE, 64, LIST_HEAD, true));
	CHECK(found(CLUE_VALUE, 128, FOO, true));
	/* What a known global held still tells of that global, unless something was added to it. */
	relative("48 8b 3d", KNOWN + 24); /* mov known.link, %rdi */
	call(LIST_ADD);
	run(0);
	CHECK(found(CLUE_VALUE, KNOWN + 24 - DATA, LIST_HEAD_PTR, false));
	relative("48 8b 3d", KNOWN + 24);
	bytes("48 83 c7 10");
	call(LIST_ADD);
	run(0);
	CHECK_U64(count(CLUE_VALUE), 0);
}

/* What comes without a type has the one of where it goes, before and after. */
static void test_objects(void)
{
	call(ALLOCATE);
	absolute("48 c7 40 18", DATA);	/* movq $DATA, 24(%rax) */
	relative("48 89 05", DATA + 8); /* mov %rax, DATA+8(%rip) */
	bytes("48 89 c7");		/* mov %rax, %rdi */
	call(PUT_FOO);
	run(0);
	CHECK(found(CLUE_OBJECT, 0, LIST_HEAD, false));
	CHECK(found(CLUE_VALUE, 8, FOO, true));
	/* Nobody says what it is: a pointer all the same. */
	call(ALLOCATE);
	absolute("48 c7 40 18", DATA);
	relative("48 89 05", DATA + 8);
	run(0);
	CHECK_U64(count(CLUE_OBJECT), 0);
	CHECK(found(CLUE_VALUE, 8, VOID_PTR, false));
	/* Larger than what it is handed on as: that is a member at its start. */
	call(ALLOCATE);
	absolute("48 c7 40 18", DATA);
	bytes("c7 80 00 01 00 00 00 00 00 00"); /* movl $0, 256(%rax) */
	bytes("48 89 c7");
	call(PUT_FOO);
	run(0);
	CHECK_U64(count(CLUE_OBJECT), 0);
	/* A list in one place, a foo in another: foo begins with one. */
	call(ALLOCATE);
	absolute("48 c7 40 18", DATA);
	bytes("48 89 c3 48 89 c7"); /* mov %rax, %rbx; mov %rax, %rdi */
	bytes("48 89 c6");	    /* mov %rax, %rsi */
	call(LIST_ADD);
	bytes("48 89 df"); /* mov %rbx, %rdi */
	call(PUT_FOO);
	run(0);
	CHECK(found(CLUE_OBJECT, 0, LIST_HEAD, false));
}

/* A clone's arguments are what it does with them; a proved prototype needs no guess. */
static void test_arguments_of_clones(void)
{
	absolute("48 c7 47 18", DATA); /* movq $DATA, 24(%rdi) */
	call(PUT_FOO);
	run(0);
	CHECK(found(CLUE_OBJECT, 0, LIST_HEAD, false));
	absolute("48 c7 47 18", DATA);
	call(PUT_FOO);
	run(SET_PROTO); /* an int, whatever it is used as */
	CHECK_U64(count(CLUE_OBJECT), 0);
	/* A number that indexes is no object. */
	absolute("8b 04 bd", DATA); /* mov DATA(,%rdi,4), %eax */
	run(0);
	CHECK(found_size(CLUE_ACCESS, 0, 4));
	CHECK_U64(count(CLUE_VALUE), 0);
}

static void test_arguments_on_the_stack(void)
{
	bytes("48 83 ec 70");		  /* sub $112, %rsp */
	absolute("48 c7 44 24 18", DATA); /* movq $DATA, 24(%rsp) */
	bytes("48 8d 3c 24");		  /* lea (%rsp), %rdi */
	call(PUT_FOO);
	run(0);
	CHECK(found(CLUE_OBJECT, 0, LIST_HEAD, false));
	/* A list that points at itself is followed once. */
	bytes("48 83 ec 70");
	bytes("48 89 24 24"); /* mov %rsp, (%rsp) */
	bytes("48 8d 3c 24");
	call(LIST_ADD);
	run(0);
	CHECK_U64(finding_count, 0);
}

static void test_changes(void)
{
	relative("f0 ff 05", DATA); /* lock incl DATA(%rip) */
	run(0);
	CHECK(found(CLUE_OBJECT, 0, ATOMIC, false));
	/* As it is patched where there is one processor. */
	relative("3e ff 05", DATA);
	run(0);
	CHECK_U64(count(CLUE_VALUE), 0);
	relative("ff 05", DATA); /* incl DATA(%rip) */
	run(0);
	CHECK_U64(count(CLUE_VALUE), 0); /* either sign */
	CHECK_U64(count(CLUE_OBJECT), 0);
	relative("48 ff 05", DATA); /* incq DATA(%rip) */
	run(0);
	CHECK(found(CLUE_VALUE, 0, LONG, false));
	relative("0f 94 05", DATA); /* sete DATA(%rip) */
	run(0);
	CHECK(found(CLUE_VALUE, 0, TRUTH, false));
	bytes("c6 05"); /* movb $1, DATA(%rip) */
	word(DATA - (TEXT + code_size + 5));
	bytes("01");
	run(0);
	CHECK(found(CLUE_VALUE, 0, TRUTH, false));
	bytes("c6 05"); /* movb $0: of a lock, too */
	word(DATA - (TEXT + code_size + 5));
	bytes("00");
	run(0);
	CHECK_U64(count(CLUE_VALUE), 0);
	/* One byte of flags, however many they are. */
	bytes("80 0d"); /* orb $16, DATA(%rip) */
	word(DATA - (TEXT + code_size + 5));
	bytes("10");
	bytes("f6 05"); /* testb $16, DATA(%rip) */
	word(DATA - (TEXT + code_size + 5));
	bytes("10");
	run(0);
	CHECK_U64(finding_count, 0);
}

/* print(0, format, DATA, DATA + 8 of 8 bytes, &DATA + 16) */
static void print(const char *format)
{
	world_format = format;
	relative("8b 15", DATA);		/* mov DATA(%rip), %edx */
	relative("48 8b 0d", DATA + 8);		/* mov DATA+8(%rip), %rcx */
	absolute("49 c7 c0", DATA + 16);	/* mov $DATA+16, %r8 */
	absolute("48 c7 c6", (uint32_t)FORMAT); /* mov $FORMAT, %rsi */
	call(PRINT);
	run(0);
}

static void test_formats(void)
{
	print("\0016a %% b %-3d: %lu %s\n");
	CHECK(found(CLUE_VALUE, 0, INT, false));
	CHECK(found(CLUE_VALUE, 8, LONG, false));
	CHECK(found(CLUE_OBJECT, 16, CHAR, false));
	print("%pUb%s%d"); /* what follows %p belongs to it; a number is filled in */
	CHECK(!found(CLUE_VALUE, 0, INT, false));
	CHECK(found(CLUE_VALUE, 8, CHAR_PTR, false));
	CHECK(found(CLUE_OBJECT, 16, INT, false));
	print("%*.*s"); /* widths are arguments, too */
	CHECK(found(CLUE_OBJECT, 16, CHAR, false));
	CHECK_U64(count(CLUE_VALUE), 0);
	print("%s%d%x"); /* of another size, or of no sign */
	CHECK_U64(count(CLUE_VALUE), 0);
	CHECK_U64(count(CLUE_OBJECT), 1); /* the format */
	print("%d%d%d%d%d%d%d%d%");	  /* more than there are registers, and none */
	CHECK(found(CLUE_VALUE, 0, INT, false));
	print("%hhhhh");
	print("");
	CHECK_U64(count(CLUE_VALUE), 0);
}

static void test_strides(void)
{
	bytes("48 63 ff");	       /* movslq %edi, %rdi */
	absolute("48 8b 04 fd", DATA); /* mov DATA(,%rdi,8), %rax */
	absolute("48 69 c7", 0xb0);    /* imul $0xb0, %rdi, %rax */
	absolute("8b 80", DATA + 4);   /* mov DATA+4(%rax), %eax */
	run(SET_PROTO);
	CHECK(found_size(CLUE_STRIDE, 0, 8));
	CHECK(found_size(CLUE_STRIDE, 4, 0xb0));
	CHECK(found_size(CLUE_ACCESS, 4, 4));
	/* An index that may be a multiple itself. */
	bytes("48 29 f7"); /* sub %rsi, %rdi */
	absolute("48 8b 04 fd", DATA);
	run(0);
	CHECK_U64(count(CLUE_STRIDE), 0);
	/* i * 24 as lea and shift */
	bytes("48 63 ff");
	bytes("48 8d 04 7f"); /* lea (%rdi,%rdi,2), %rax */
	bytes("48 c1 e0 03");
	absolute("48 05", DATA); /* add $DATA, %rax */
	bytes("48 89 c7");
	call(PUT_FOO);
	run(0);
	CHECK(found(CLUE_OBJECT, 0, FOO, false));
	/* data[i - 2] is no element of what lies in front of the data. */
	bytes("48 63 ff");
	bytes("48 8d 04 fd f0 ff ff ff"); /* lea -16(,%rdi,8), %rax */
	absolute("48 05", DATA);	  /* add $DATA, %rax */
	bytes("48 8b 00");		  /* mov (%rax), %rax */
	run(SET_PROTO);
	CHECK(found_size(CLUE_STRIDE, 0, 8));
	CHECK(found_size(CLUE_ACCESS, 0, 8));
}

static void test_loops(void)
{
	/* for (p = data; ...; p += 24) put_foo(p); */
	absolute("48 c7 c3", DATA); /* mov $DATA, %rbx */
	size_t head = code_size;
	bytes("48 89 df"); /* mov %rbx, %rdi */
	call(PUT_FOO);
	bytes("48 83 c3 18"); /* add $24, %rbx */
	bytes("85 c0 75");    /* test %eax, %eax; jne head */
	machine_code[code_size] = (uint8_t)(head - code_size - 1);
	code_size++;
	run(0);
	CHECK(found(CLUE_OBJECT, 0, FOO, false));
	CHECK(found_size(CLUE_STRIDE, 0, 24));
	CHECK(!found(CLUE_OBJECT, 24, FOO, false));
	/* What a loop changes is not what it was before. */
	absolute("48 c7 c3", DATA);
	head = code_size;
	bytes("48 89 df");
	call(PUT_FOO);
	bytes("48 0f b6 1b"); /* movzbq (%rbx), %rbx */
	bytes("85 c0 75");
	machine_code[code_size] = (uint8_t)(head - code_size - 1);
	code_size++;
	run(0);
	CHECK_U64(count(CLUE_OBJECT), 0);
}

/* An index of a loop that is also set to a number which four times as much does not fit in 64 bits.
 */
static void test_far_index(void)
{
	bytes("31 db"); /* xor %ebx, %ebx */
	size_t head = code_size;
	bytes("48 89 d8 48 c1 e0 02"); /* mov %rbx, %rax; shl $2, %rax */
	call(PUT_FOO);
	bytes("48 83 c3 08 85 c0 75"); /* add $8, %rbx; test %eax, %eax; jne head */
	machine_code[code_size] = (uint8_t)(head - code_size - 1);
	code_size++;
	bytes("48 bb 00 00 00 00 00 00 83 c5 eb"); /* movabs $0xc583000000000000, %rbx; jmp head */
	machine_code[code_size] = (uint8_t)(head - code_size - 1);
	code_size++;
	run(0);
	CHECK_U64(count(CLUE_OBJECT), 0);
	CHECK_U64(count(CLUE_STRIDE), 0);
}

static void test_static_branch(void)
{
	/* nop; ret; and out of line, where only the branch leads: put_foo(rbx) */
	absolute("48 c7 c3", DATA);
	uint64_t from = TEXT + code_size;
	bytes("0f 1f 44 00 00 c3");
	uint64_t to = TEXT + code_size;
	bytes("48 89 df");
	call(PUT_FOO);
	struct code_edge edge = { from, to };
	struct flow *flow = flow_create(&world, NULL);
	struct flow_function function = { .code = { machine_code, code_size, TEXT } };
	finding_count = 0;
	CHECK_OK(flow_run(flow, &function));
	CHECK_U64(count(CLUE_OBJECT), 0);
	function.edges = &edge;
	function.edge_count = 1;
	CHECK_OK(flow_run(flow, &function));
	CHECK(found(CLUE_OBJECT, 0, FOO, false));
	flow_destroy(flow);
	code_size = 0;
}

/* --- traps
 * ------------------------------------------------------------------------------------------ */

static void test_writes_forget(void)
{
	static const char *const writers[] = {
		"0f c7 f7",	     /* rdrand %edi */
		"48 0f cf",	     /* bswap %rdi */
		"f3 48 ab",	     /* rep stosq */
		"40 0f 94 c7",	     /* sete %dil */
		"83 c7 01",	     /* add $1, %edi */
		"66 0f 3a 63 c1 00", /* pcmpistri: unknown, anything */
		"48 87 df",	     /* xchg %rbx, %rdi */
		"66 48 0f 7e c7",    /* movq %xmm0, %rdi */
		"48 f7 d7",	     /* not %rdi */
		"48 0f 45 fb",	     /* cmovne %rbx, %rdi */
	};
	for (size_t i = 0; i < ARRAY_COUNT(writers); i++) {
		relative("48 8d 3d", DATA);
		bytes(writers[i]);
		call(PUT_FOO);
		run(0);
		if (count(CLUE_OBJECT))
			printf("after %s\n", writers[i]);
		CHECK_U64(count(CLUE_OBJECT), 0);
	}
	/* And one that writes something else does not. */
	relative("48 8d 3d", DATA);
	bytes("0f c7 f6"); /* rdrand %esi */
	call(PUT_FOO);
	run(0);
	CHECK_U64(count(CLUE_OBJECT), 1);
}

static void test_calls_forget(void)
{
	relative("48 8d 3d", DATA);
	call(UNTYPED);
	call(PUT_FOO); /* with whatever is left in rdi */
	run(0);
	CHECK_U64(finding_count, 0);
	relative("48 8d 1d", DATA); /* rbx is kept */
	call(UNTYPED);
	bytes("48 89 df");
	call(PUT_FOO);
	run(0);
	CHECK(found(CLUE_OBJECT, 0, FOO, false));
}

static void test_stack(void)
{
	bytes("48 83 ec 20"); /* sub $32, %rsp */
	relative("48 8d 05", DATA);
	bytes("48 89 44 24 08"); /* mov %rax, 8(%rsp) */
	call(UNTYPED);
	bytes("48 8b 7c 24 08");
	call(PUT_FOO);
	run(0);
	CHECK(found(CLUE_OBJECT, 0, FOO, false));
	/* The callee has its address. */
	bytes("48 83 ec 20");
	relative("48 8d 05", DATA);
	bytes("48 89 44 24 08");
	bytes("48 8d 7c 24 08"); /* lea 8(%rsp), %rdi */
	call(UNTYPED);
	bytes("48 8b 7c 24 08");
	call(PUT_FOO);
	run(0);
	CHECK_U64(count(CLUE_OBJECT), 0);
	/* Half of it is overwritten. */
	bytes("48 83 ec 20");
	relative("48 8d 05", DATA);
	bytes("48 89 44 24 08 89 5c 24 0c"); /* mov %ebx, 12(%rsp) */
	bytes("48 8b 7c 24 08");
	call(PUT_FOO);
	run(0);
	CHECK_U64(count(CLUE_OBJECT), 0);
}

/* As ftrace leaves the start of a function: a nop, or a call that changes nothing. */
static void test_tracing_hook(void)
{
	static const char *const starts[] = { "0f 1f 44 00 00", NULL };
	for (size_t i = 0; i < ARRAY_COUNT(starts); i++) {
		if (starts[i])
			bytes(starts[i]);
		else
			call(HOOK);
		bytes("48 8b 47 18"); /* mov 24(%rdi), %rax: foo->link */
		relative("48 89 05", DATA);
		run(PUT_FOO_PROTO);
		CHECK(found(CLUE_VALUE, 0, LIST_HEAD, true));
	}
}

/* Where the arms of a union differ, what was read is of neither. */
static void test_unions(void)
{
	bytes("48 8b 07"); /* mov (%rdi), %rax: box->either */
	relative("48 89 05", DATA);
	bytes("8b 4f 08"); /* mov 8(%rdi), %ecx: box->count */
	relative("89 0d", DATA + 8);
	run(BOX_PROTO);
	CHECK_U64(count(CLUE_VALUE), 1);
	CHECK(found(CLUE_VALUE, 8, INT, false));
	absolute("48 c7 07", DATA); /* movq $DATA, (%rdi) */
	run(BOX_PROTO);
	CHECK_U64(count(CLUE_OBJECT), 0);
}

static void test_numbers_are_no_addresses(void)
{
	absolute("48 c7 c7", TEXT + 0x999);
	call(PUT_FOO);
	absolute("48 c7 c7", 0x1000);
	call(PUT_FOO);
	absolute("bf", DATA); /* mov $DATA, %edi: 32 bits, another number */
	call(PUT_FOO);
	run(0);
	CHECK_U64(finding_count, 0);
}

static void test_path_ends(void)
{
	relative("48 8d 3d", DATA);
	bytes("0f 0b"); /* ud2 */
	call(PUT_FOO);
	relative("48 8d 3d", DATA);
	bytes("06"); /* no instruction */
	call(PUT_FOO);
	relative("48 8d 3d", DATA);
	bytes("c3");
	call(PUT_FOO);
	run(0);
	CHECK_U64(count(CLUE_OBJECT), 0);
}

/* --- damage
 * ---------------------------------------------------------------------------------------------------
 */

static void test_damaged_code(void)
{
	struct flow *flow = flow_create(&world, NULL);
	uint64_t seed = 88172645463325252u;
	uint8_t whole[200];
	for (int round = 0; round < 3000; round++) {
		for (size_t i = 0; i < sizeof(whole); i++) {
			seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
			whole[i] = (uint8_t)(seed >> 24);
			/* Short jumps and calls make it more of a maze. */
			if (seed % 23 == 0)
				whole[i] = 0xeb;
			if (seed % 29 == 0)
				whole[i] = 0x48;
		}
		struct flow_function function = { .code = { whole, 1 + seed % sizeof(whole),
							    TEXT } };
		function.self =
			(struct callee){ .kind = CALLEE_TYPED, .prototype = { 0, LIST_ADD_PROTO } };
		struct code_edge edge = { TEXT + seed % 250, TEXT + seed % 241 };
		function.edges = &edge;
		function.edge_count = 1;
		CHECK_OK(flow_run(flow, &function));
	}
	struct flow_function nothing = { .code = { whole, 0, TEXT } };
	CHECK_OK(flow_run(flow, &nothing));
	flow_destroy(flow);
}

int main(void)
{
	struct btf *btf = make_btf();
	levels_items[0] = btf;
	RUN(test_argument);
	RUN(test_value);
	RUN(test_results);
	RUN(test_members);
	RUN(test_comparisons);
	RUN(test_numbers);
	RUN(test_signs);
	RUN(test_lists);
	RUN(test_indirect_calls);
	RUN(test_known_globals);
	RUN(test_objects);
	RUN(test_arguments_of_clones);
	RUN(test_arguments_on_the_stack);
	RUN(test_changes);
	RUN(test_formats);
	RUN(test_strides);
	RUN(test_loops);
	RUN(test_far_index);
	RUN(test_static_branch);
	RUN(test_writes_forget);
	RUN(test_calls_forget);
	RUN(test_stack);
	RUN(test_tracing_hook);
	RUN(test_unions);
	RUN(test_numbers_are_no_addresses);
	RUN(test_path_ends);
	RUN(test_damaged_code);
	btf_close(btf);
	return test_finish();
}
