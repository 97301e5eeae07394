// SPDX-License-Identifier: GPL-3.0-or-later
/* The stack of a task that ran, without registers: debugger/unwind/search.h. */
#include "tests/unit/unwind_machine.h"

#define TOP    (STACK + STACK_SIZE - 168) /* pt_regs of user mode */
#define ENTERS 40u			  /* a call in ENTRY of its own, to f9 */

/*
 * From user mode: ENTRY, f9, f10 ... up to `last`, each of which has called the next one. The
 * task runs, and no registers say where.
 */
static void fill_chain(struct machine *machine, unsigned int last, uint16_t cs)
{
	struct registers user = start_at(0x401000, 0x7fff0000, 0x99);
	registers_set(&user, X86_64_CS, cs);
	registers_set(&user, X86_64_SS, 0x2b);
	push_pt_regs(machine, TOP, &user);
	write_call(machine, function(ENTRY) + ENTERS, function(9));
	push(machine, TOP - 8, function(ENTRY) + ENTERS + 5);
	for (unsigned int i = 9; i <= last; i++)
		push(machine, TOP - 8 - (i - 8) * FRAME, function(i) + RETURN);
}

static void check_search(struct machine *machine, size_t frames, size_t unproved)
{
	struct stack_trace trace;
	CHECK_OK(unwind_task(&machine->target, &machine->task, &trace));
	CHECK_U64(trace.start, START_SEARCH);
	CHECK_U64(trace.count, frames);
	CHECK_U64(trace.unproved, unproved);
	CHECK((trace.end == NULL) == (frames > 0));
	for (size_t i = 0; i < trace.count; i++) {
		const struct frame *frame = &trace.frames[i];
		bool is_user = i == trace.count - 1;
		CHECK(frame->is_unproved == (i < unproved));
		CHECK((frame->kind == FRAME_USER) == is_user);
		CHECK((frame->kind == FRAME_SEARCH) == (i == 0 || (i == unproved && !is_user)));
		/* The innermost function is the highest one. */
		if (!is_user)
			CHECK_U64(frame->pc,
				  i + 2 == trace.count
					  ? function(ENTRY) + ENTERS + 5
					  : function(8 + (unsigned int)(frames - 2 - i)) + RETURN);
	}
	stack_trace_deinit(&trace);
}

/* The deepest chain that leads to the entry, whatever else lies about. */
static void test_search(void)
{
	static struct machine machine;
	machine_init(&machine);
	fill_chain(&machine, 12, 0x33);
	check_search(&machine, 6, 6);
	/* Return addresses that lead nowhere, below and between. */
	push(&machine, STACK + 512, function(12) + RETURN);
	push(&machine, STACK + 520, function(3) + RETURN);
	push(&machine, TOP - 8 - 3 * FRAME + 8, function(2) + RETURN);
	/* f2 has not called f12, though it lies where that one's caller would. */
	push(&machine, TOP - 8 - 5 * FRAME, function(1) + RETURN);
	check_search(&machine, 6, 6);
	/* A call that is over: f13's is as good as any. */
	push(&machine, TOP - 8 - 5 * FRAME, function(13) + RETURN);
	check_search(&machine, 7, 7);
	machine_deinit(&machine);
}

/* No chain, no frames: a broken link, and registers that no processor saves. */
static void test_search_nothing(void)
{
	static struct machine machine;
	static const uint16_t impossible[] = { 0, 3, 0x10, 0x11, 0x32 };
	machine_init(&machine);
	check_search(&machine, 0, 0);
	for (size_t i = 0; i < ARRAY_COUNT(impossible); i++) {
		fill_chain(&machine, 12, impossible[i]);
		check_search(&machine, 0, 0);
	}
	fill_chain(&machine, 12, 0x33);
	push(&machine, TOP - 8, function(ENTRY) + ENTERS + 6);
	check_search(&machine, 0, 0);
	machine_deinit(&machine);
}

/* A tail call to a neighbour has one byte of distance: the entry calls f8, which jumps to f9. */
static void test_search_short_jump(void)
{
	static struct machine machine;
	machine_init(&machine);
	fill_chain(&machine, 12, 0x33);
	write_call(&machine, function(ENTRY) + ENTERS, function(8));
	check_search(&machine, 2, 2);
	uint8_t *jump = machine.text + (function(9) - 10 - TEXT);
	jump[0] = 0xeb;
	jump[1] = 8;
	check_search(&machine, 6, 6);
	jump[0] = 0x74;
	check_search(&machine, 6, 6);
	jump[1] = 7;
	check_search(&machine, 2, 2);
	machine_deinit(&machine);
}

/* A function that never returns: it and its callers are sure, what it called is not. */
static void test_search_proof(void)
{
	static struct machine machine;
	struct stack_trace trace;
	machine_init_with(&machine, 10);
	machine.task.has_mm = true;
	fill_chain(&machine, 12, 0x33);
	check_search(&machine, 6, 2);
	CHECK_OK(unwind_task(&machine.target, &machine.task, &trace));
	CHECK_STRING(trace.proof, "panic");
	CHECK(!trace.may_be_user);
	stack_trace_deinit(&trace);
	/* Without its frame nothing is, and the task may not even be in the kernel. */
	fill_chain(&machine, 9, 0x33);
	push(&machine, TOP - 8 - 2 * FRAME, 0);
	check_search(&machine, 3, 3);
	CHECK_OK(unwind_task(&machine.target, &machine.task, &trace));
	CHECK(!trace.proof && trace.may_be_user);
	stack_trace_deinit(&trace);
	machine_deinit(&machine);
}

int main(void)
{
	RUN(test_search);
	RUN(test_search_nothing);
	RUN(test_search_short_jump);
	RUN(test_search_proof);
	return test_finish();
}
