// SPDX-License-Identifier: GPL-3.0-or-later
/* The flow of types through per-CPU variables: those that BTF types, and those that it does not. */
#include "tests/unit/flow_world.h"

static void test_per_cpu(void)
{
	absolute("65 48 8b 04 25", CURRENT); /* mov %gs:current, %rax */
	relative("48 89 05", DATA);
	run(0);
	CHECK(found(CLUE_VALUE, 0, FOO, true));
	/* this_cpu_ptr(&current) */
	absolute("48 c7 c0", CURRENT);
	absolute("65 48 03 04 25", 0x2000); /* add %gs:this_cpu_off, %rax */
	bytes("48 8b 00");
	relative("48 89 05", DATA);
	run(0);
	CHECK(found(CLUE_VALUE, 0, FOO, true));
}

/* Variables that BTF leaves untyped, as the first CPU has them: 0x3000 to 0x4000 of its area. */
#define AREA  0xffff888007e00000u
#define COPY  (AREA - DATA + 0x3000) /* as found() counts */
#define TABLE (DATA + 0x1000)	     /* __per_cpu_offset[] */

static void run_untyped(bool emits)
{
	struct flow_world untyped = world;
	untyped.per_cpu_base = AREA;
	untyped.per_cpu_first = AREA + 0x3000;
	untyped.per_cpu_last = AREA + 0x4000;
	untyped.per_cpu_offsets = TABLE;
	untyped.emits_per_cpu = emits;
	run_in(&untyped, 0);
}

static void test_untyped_per_cpu(void)
{
	for (int emits = 0; emits < 2; emits++) {
		absolute("65 48 8b 3c 25", 0x3010); /* mov %gs:0x3010, %rdi */
		call(PUT_FOO);
		relative("65 48 8b 3d", 0x3018); /* mov %gs:0x3018(%rip), %rdi */
		call(PUT_FOO);
		absolute("65 ff 04 25", 0x3020);    /* incl %gs:0x3020 */
		relative("8b 05", DATA);	    /* mov data(%rip), %eax */
		absolute("65 48 8b 04 c5", 0x3040); /* mov %gs:0x3040(,%rax,8), %rax */
		absolute("65 48 8b 04 25", 0x28);   /* none of them */
		run_untyped(emits);
		CHECK_U64(found(CLUE_VALUE, COPY + 0x10, FOO_PTR, false), emits);
		CHECK_U64(found(CLUE_VALUE, COPY + 0x18, FOO_PTR, false), emits);
		CHECK_U64(found_size(CLUE_ACCESS, COPY + 0x20, 4), emits);
		CHECK_U64(found_size(CLUE_STRIDE, COPY + 0x40, 8), emits);
		for (size_t i = 0; i < finding_count; i++)
			CHECK(findings[i].address == DATA ||
			      (emits && findings[i].address - AREA >= 0x3000));
	}
	/* Where BTF types them all, what is not typed is not looked for. */
	absolute("65 48 8b 3c 25", 0x3010);
	call(PUT_FOO);
	run(0);
	CHECK_U64(finding_count, 0);
}

/* The address of some CPU's copy. */
static void test_untyped_per_cpu_pointers(void)
{
	absolute("48 c7 c7", 0x3010);	/* mov $0x3010, %rdi */
	absolute("48 03 3c c5", TABLE); /* add __per_cpu_offset(,%rax,8), %rdi */
	call(PUT_FOO);
	absolute("48 8b 04 c5", TABLE); /* mov __per_cpu_offset(,%rax,8), %rax */
	absolute("48 8d b8", 0x3080);	/* lea 0x3080(%rax), %rdi */
	call(PUT_FOO);
	absolute("48 8b 04 c5", TABLE);
	absolute("48 8b b8", 0x3100); /* mov 0x3100(%rax), %rdi */
	call(PUT_FOO);
	absolute("48 c7 c0", 0x3200);
	absolute("65 48 03 04 25", 0x2000); /* add %gs:this_cpu_off, %rax */
	bytes("8b 40 10");		    /* mov 16(%rax), %eax */
	run_untyped(true);
	CHECK(found(CLUE_OBJECT, COPY + 0x10, FOO, false));
	CHECK(found(CLUE_OBJECT, COPY + 0x80, FOO, false));
	CHECK(found(CLUE_VALUE, COPY + 0x100, FOO_PTR, false));
	CHECK(found_size(CLUE_ACCESS, COPY + 0x210, 4));
	/* The offset alone is a number. */
	absolute("48 c7 c7", 0x3010);
	call(PUT_FOO);
	relative("48 8b 05", DATA); /* a global, so that the function is looked at */
	run_untyped(true);
	CHECK(!count(CLUE_OBJECT));
	/* Typed ones are typed as ever. */
	absolute("65 48 8b 04 25", CURRENT);
	relative("48 89 05", DATA);
	run_untyped(true);
	CHECK(found(CLUE_VALUE, 0, FOO, true));
}

int main(void)
{
	struct btf *btf = make_btf();
	levels_items[0] = btf;
	RUN(test_per_cpu);
	RUN(test_untyped_per_cpu);
	RUN(test_untyped_per_cpu_pointers);
	btf_close(btf);
	return test_finish();
}
