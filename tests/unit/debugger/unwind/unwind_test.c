// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/unit/unwind_machine.h"

#include <unistd.h>

/* --- tests ------------------------------------------------------------------------------------ */

static void test_calls(void)
{
	static struct machine machine;
	struct stack_trace trace;
	machine_init(&machine);
	uint64_t sp = STACK + 1024, start = sp;
	sp = push_frame(&machine, sp, function(2) + RETURN, 0x222);
	/* The call was its last instruction: the return address is f2's first byte. */
	sp = push_frame(&machine, sp, function(2), 0x111);
	sp = push_frame(&machine, sp, function(OUTER) + RETURN, 0x100);
	struct registers registers = start_at(function(3) + 100, start, 0x333);
	unwind_from(&machine, &registers, &trace);
	CHECK_U64(trace.count, 4);
	CHECK(!trace.end);
	check_frame(&trace, 0, 3, 100, FRAME_REGISTERS);
	check_frame(&trace, 1, 2, RETURN, FRAME_ORC);
	check_frame(&trace, 2, 1, FUNCTION_SIZE, FRAME_ORC);
	check_frame(&trace, 3, OUTER, RETURN, FRAME_ORC);
	CHECK(trace.frames[0].pc_is_exact && !trace.frames[1].pc_is_exact);
	CHECK_U64(trace.frames[1].registers.values[X86_64_RBP], 0x222);
	CHECK_U64(trace.frames[2].registers.values[X86_64_RBP], 0x111);
	CHECK_U64(trace.frames[3].sp, sp);
	CHECK(!registers_has(&trace.frames[1].registers, X86_64_CS));
	CHECK_U64(trace.frames[0].stack, STACK_TASK);
	stack_trace_deinit(&trace);
	machine_deinit(&machine);
}

/* The first byte of a function: nothing pushed yet; an exact pc is looked up as it is. */
static void test_exact(void)
{
	static struct machine machine;
	struct stack_trace trace;
	machine_init(&machine);
	push(&machine, STACK + 512, function(OUTER) + RETURN);
	struct registers registers = start_at(function(1), STACK + 512, 0);
	unwind_from(&machine, &registers, &trace);
	CHECK_U64(trace.count, 2);
	check_frame(&trace, 0, 1, 0, FRAME_REGISTERS);
	check_frame(&trace, 1, OUTER, RETURN, FRAME_ORC);
	CHECK_U64(trace.frames[1].sp, STACK + 520);
	stack_trace_deinit(&trace);
	machine_deinit(&machine);
}

static void test_exception(void)
{
	static struct machine machine;
	struct stack_trace trace;
	machine_init(&machine);
	uint64_t sp = STACK + 64, start = sp;
	sp = push_frame(&machine, sp, function(ENTRY) + RETURN, 0);
	struct registers interrupted = start_at(function(2) + 1, sp + 168 + 32, 0x7777);
	registers_set(&interrupted, X86_64_R12, 0x1212);
	push_pt_regs(&machine, sp, &interrupted);
	sp += 168 + 32;
	/* Interrupted with rbp just pushed: CFA is rsp + 16. */
	push(&machine, sp, 0x4444);
	push(&machine, sp + 8, function(ENTRY) + RETURN);
	struct registers user = start_at(0x401000, 0x7fff0000, 0x99);
	registers_set(&user, X86_64_CS, 0x33);
	registers_set(&user, X86_64_SS, 0x2b);
	push_pt_regs(&machine, sp + 16, &user);
	struct registers registers = start_at(function(8 + 1) + 40, start, 0);
	unwind_from(&machine, &registers, &trace);
	CHECK_U64(trace.count, 5);
	check_frame(&trace, 1, ENTRY, RETURN, FRAME_ORC);
	check_frame(&trace, 2, 2, 1, FRAME_EXCEPTION);
	CHECK(trace.frames[2].pc_is_exact);
	CHECK_U64(trace.frames[2].registers.values[X86_64_R12], 0x1212);
	CHECK_U64(trace.frames[2].registers.values[X86_64_RBP], 0x7777);
	check_frame(&trace, 3, ENTRY, RETURN, FRAME_ORC);
	CHECK_U64(trace.frames[4].kind, FRAME_USER);
	CHECK_U64(trace.frames[4].pc, 0x401000);
	CHECK(!trace.frames[4].has_symbol);
	CHECK(!trace.end);
	stack_trace_deinit(&trace);
	machine_deinit(&machine);
}

/* The processor's frame alone: the other registers stay as they were. */
static void test_partial(void)
{
	static struct machine machine;
	struct stack_trace trace;
	machine_init(&machine);
	uint64_t sp = STACK + 256;
	const uint64_t frame[] = { function(OUTER) + 9, 0x10, 0x246, sp + 400, 0x18 };
	for (size_t i = 0; i < ARRAY_COUNT(frame); i++)
		push(&machine, sp + 8 * i, frame[i]);
	struct registers registers = start_at(function(PARTIAL), sp, 0x5555);
	registers_set(&registers, X86_64_R15, 0x1515);
	unwind_from(&machine, &registers, &trace);
	CHECK_U64(trace.count, 2);
	check_frame(&trace, 1, OUTER, 9, FRAME_EXCEPTION);
	CHECK_U64(trace.frames[1].registers.values[X86_64_R15], 0x1515);
	CHECK_U64(trace.frames[1].registers.values[X86_64_RBP], 0x5555);
	CHECK_U64(trace.frames[1].registers.values[X86_64_RFLAGS], 0x246);
	CHECK_U64(trace.frames[1].sp, sp + 400);
	stack_trace_deinit(&trace);
	machine_deinit(&machine);
}

/* No exception saved these. */
static void test_impossible(void)
{
	static struct machine machine;
	static const struct {
		unsigned int number;
		uint64_t value;
	} wrong[] = { { X86_64_CS, 0 },		{ X86_64_CS, 0x3 },
		      { X86_64_CS, 0x100 },	{ X86_64_SS, 0x9a60 },
		      { X86_64_RFLAGS, 0x244 }, { X86_64_RFLAGS, 0x7ffe0c9d1088 } };
	for (size_t i = 0; i < ARRAY_COUNT(wrong); i++) {
		struct stack_trace trace;
		machine_init(&machine);
		struct registers interrupted = start_at(function(OUTER) + 9, STACK + 2048, 0);
		registers_set(&interrupted, wrong[i].number, wrong[i].value);
		push_pt_regs(&machine, STACK + 1024, &interrupted);
		struct registers registers = start_at(function(ENTRY) + 30, STACK + 1024, 0);
		unwind_from(&machine, &registers, &trace);
		CHECK_U64(trace.count, 1);
		CHECK(trace.end && strstr(trace.end->message, "no saved registers"));
		stack_trace_deinit(&trace);
		machine_deinit(&machine);
	}
}

/* What a dump says is at 0 has nothing before it: the search for a rule ends there. */
static void test_symbol_at_zero(void)
{
	static struct machine machine;
	struct stack_trace trace;
	machine_init(&machine);
	CHECK_OK(symtab_add(machine.target.symbols, "bpf", "zero", 't', 0, 4096));
	push(&machine, STACK + 800, function(OUTER) + RETURN);
	struct registers registers = start_at(100, STACK + 800, 0x5555);
	alarm(600);
	unwind_from(&machine, &registers, &trace);
	alarm(0);
	CHECK_U64(trace.count, 2);
	CHECK_STRING(trace.frames[0].symbol.name, "zero");
	check_frame(&trace, 1, OUTER, RETURN, FRAME_CALL_SCAN);
	CHECK_U64(trace.frames[1].registers.values[X86_64_RBP], 0x5555);
	stack_trace_deinit(&trace);
	machine_deinit(&machine);
}

static void test_null_call(void)
{
	static struct machine machine;
	struct stack_trace trace;
	machine_init(&machine);
	push(&machine, STACK + 800, function(OUTER) + RETURN);
	struct registers registers = start_at(0, STACK + 800, 0);
	unwind_from(&machine, &registers, &trace);
	CHECK_U64(trace.count, 2);
	CHECK(!trace.frames[0].has_symbol);
	check_frame(&trace, 1, OUTER, RETURN, FRAME_ORC);
	stack_trace_deinit(&trace);
	machine_deinit(&machine);
}

/* Data was called: what is on top of the stack is where that returns to, unless no call is there.
 */
static void test_data_call(void)
{
	static struct machine machine;
	struct stack_trace trace;
	for (unsigned int is_call = 0; is_call < 2; is_call++) {
		machine_init(&machine);
		push(&machine, STACK + 800, function(OUTER) + (is_call ? RETURN : 3));
		struct registers registers = start_at(STACK + 64, STACK + 800, 0);
		unwind_from(&machine, &registers, &trace);
		CHECK(!trace.frames[0].has_symbol);
		CHECK_U64(trace.count, is_call ? 2 : 1);
		if (is_call)
			check_frame(&trace, 1, OUTER, RETURN, FRAME_ORC);
		stack_trace_deinit(&trace);
		machine_deinit(&machine);
	}
}

/* No rule: the return address whose call leads to this function, not the ones before it. */
static void test_call_scan(void)
{
	static struct machine machine;
	struct stack_trace trace;
	machine_init(&machine);
	uint64_t sp = STACK + 2048;
	push(&machine, sp + 8, function(9) + RETURN);	       /* stale: calls f10 */
	push(&machine, sp + 16, function(EMPTY - 1) + 40);     /* no call precedes it */
	push(&machine, sp + 24, function(EMPTY - 1) + RETURN); /* this is it */
	push_frame(&machine, sp + 32, function(OUTER) + RETURN, 0);
	struct registers registers = start_at(function(EMPTY) + 30, sp, 0x123);
	unwind_from(&machine, &registers, &trace);
	CHECK_U64(trace.count, 3);
	check_frame(&trace, 1, EMPTY - 1, RETURN, FRAME_CALL_SCAN);
	CHECK_U64(trace.frames[1].sp, sp + 32);
	CHECK_U64(trace.frames[1].registers.values[X86_64_RBP], 0x123);
	check_frame(&trace, 2, OUTER, RETURN, FRAME_ORC);
	CHECK(!trace.end);
	stack_trace_deinit(&trace);
	machine_deinit(&machine);
}

static void test_frame_pointer(void)
{
	static struct machine machine;
	struct stack_trace trace;
	machine_init(&machine);
	uint64_t sp = STACK + 2048, fp = sp + 96;
	push(&machine, sp + 8, function(9) + RETURN);
	push(&machine, fp, 0x888);
	push(&machine, fp + 8, function(OUTER) + RETURN);
	struct registers registers = start_at(function(EMPTY) + 30, sp, fp);
	unwind_from(&machine, &registers, &trace);
	CHECK_U64(trace.count, 2);
	check_frame(&trace, 1, OUTER, RETURN, FRAME_POINTER);
	CHECK_U64(trace.frames[1].sp, fp + 16);
	CHECK_U64(trace.frames[1].registers.values[X86_64_RBP], 0x888);
	stack_trace_deinit(&trace);
	machine_deinit(&machine);
}

/* A rule that needs rbp after a guess that does not know it leads to a guess again. */
static void test_scan(void)
{
	static struct machine machine;
	struct stack_trace trace;
	machine_init(&machine);
	uint64_t sp = STACK + 2048;
	push(&machine, sp + 8, function(9) + 3);	     /* text, no call before */
	push(&machine, sp + 16, function(POINTER) + RETURN); /* calls f7 */
	push(&machine, sp + 40, function(OUTER) + RETURN);
	struct registers registers = start_at(function(EMPTY) + 30, sp, 1);
	unwind_from(&machine, &registers, &trace);
	CHECK_U64(trace.count, 3);
	check_frame(&trace, 1, POINTER, RETURN, FRAME_SCAN);
	check_frame(&trace, 2, OUTER, RETURN, FRAME_SCAN);
	stack_trace_deinit(&trace);
	machine_deinit(&machine);
}

static void test_nothing(void)
{
	static struct machine machine;
	struct stack_trace trace;
	machine_init(&machine);
	struct registers registers = start_at(function(EMPTY) + 30, STACK + 2048, 0);
	unwind_from(&machine, &registers, &trace);
	CHECK_U64(trace.count, 1);
	CHECK(trace.end && strstr(trace.end->message, "empty ORC entry at f5+0x1e"));
	stack_trace_deinit(&trace);
	registers = start_at(function(3) + 100, 0xdead0000, 0);
	unwind_from(&machine, &registers, &trace);
	CHECK_U64(trace.count, 1);
	CHECK(trace.end && strstr(trace.end->message, "return address"));
	stack_trace_deinit(&trace);
	machine_deinit(&machine);
}

/* --- damage -------------------------------------------------------------------------------------
 */

static uint64_t random_u64(void)
{
	return (uint64_t)rand() << 42 ^ (uint64_t)rand() << 21 ^ (uint64_t)rand();
}

/* Words as real stacks have them, in an order that none has. */
static uint64_t random_word(void)
{
	switch (rand() % 6) {
	case 0:
		return TEXT + random_u64() % TEXT_SIZE;
	case 1:
		return function((unsigned int)rand() % FUNCTIONS) + RETURN;
	case 2:
		return STACK + (random_u64() % STACK_SIZE & ~(uint64_t)7);
	case 3:
		return random_u64() % 0x100;
	case 4:
		return STACK + random_u64() % (STACK_SIZE + 4096);
	default:
		return random_u64();
	}
}

/* Whatever the stack holds, the walk ends, and its frames go up the stack. */
static void test_damaged(void)
{
	static struct machine machine;
	size_t frames = 0, longest = 0;
	machine_init(&machine);
	srand(7);
	for (int round = 0; round < 10000; round++) {
		struct stack_trace trace;
		for (size_t at = 0; at < STACK_SIZE; at += 8)
			store(machine.stack + at, random_word(), 8);
		struct registers registers =
			start_at(rand() % 8 ? TEXT + random_u64() % TEXT_SIZE : random_word(),
				 rand() % 8 ? STACK + (random_u64() % STACK_SIZE & ~(uint64_t)7)
					    : random_word(),
				 random_word());
		if (rand() % 2)
			registers_forget(&registers, X86_64_CS);
		unwind_from(&machine, &registers, &trace);
		frames += trace.count;
		longest = trace.count > longest ? trace.count : longest;
		for (size_t i = 1; i < trace.count; i++)
			if (trace.frames[i].stack == STACK_TASK &&
			    trace.frames[i - 1].stack == STACK_TASK)
				CHECK(trace.frames[i].sp > trace.frames[i - 1].sp);
		stack_trace_deinit(&trace);
		if (round % 10)
			continue;
		/* And without registers: nothing of it is sure. */
		CHECK_OK(unwind_task(&machine.target, &machine.task, &trace));
		CHECK(trace.start == START_SEARCH && trace.unproved == trace.count);
		stack_trace_deinit(&trace);
	}
	CHECK(frames > 20000);
	CHECK(longest > 20 && longest <= 2048);
	machine_deinit(&machine);
}

/* Frames that lead to each other: pt_regs whose rsp is its own address, or goes back and forth. */
static void test_cycle(void)
{
	static struct machine machine;
	struct stack_trace trace;
	machine_init(&machine);
	struct registers self = start_at(function(ENTRY) + RETURN, STACK + 1024, 0);
	push_pt_regs(&machine, STACK + 1024, &self);
	unwind_from(&machine, &self, &trace);
	/* The saved pc is still found, by looking for it: once. */
	CHECK_U64(trace.count, 2);
	check_frame(&trace, 1, ENTRY, RETURN, FRAME_SCAN);
	CHECK(trace.end);
	stack_trace_deinit(&trace);
	/* Two places, the second of which lies on no known stack. */
	struct registers other = start_at(function(ENTRY) + RETURN, TABLES + 16384, 0);
	push_pt_regs(&machine, STACK + 1024, &other);
	static const uint8_t order[] = { 16, 17, 18, 19, 20 }; /* rip to ss in pt_regs */
	const uint64_t back[] = { function(ENTRY) + RETURN, 0x10, 0x246, STACK + 1024, 0x18 };
	for (size_t i = 0; i < sizeof(order); i++)
		store(machine.tables + 16384 + 8 * order[i], back[i], 8);
	unwind_from(&machine, &self, &trace);
	CHECK(trace.count <= 4);
	CHECK(trace.end);
	stack_trace_deinit(&trace);
	machine_deinit(&machine);
}

int main(void)
{
	RUN(test_calls);
	RUN(test_exact);
	RUN(test_exception);
	RUN(test_partial);
	RUN(test_impossible);
	RUN(test_symbol_at_zero);
	RUN(test_null_call);
	RUN(test_data_call);
	RUN(test_call_scan);
	RUN(test_frame_pointer);
	RUN(test_scan);
	RUN(test_nothing);
	RUN(test_damaged);
	RUN(test_cycle);
	return test_finish();
}
