// SPDX-License-Identifier: GPL-3.0-or-later
/* Names on a stack: which mean nothing, what a function runs in, and the signature of a crash. */
#include "tests/unit/test.h"

#include "debugger/analysis/signature.h"
#include "debugger/analysis/stack_words.h"

#define FRAMES_MAX 16

struct stack {
	struct frame frames[FRAMES_MAX];
	struct stack_trace trace;
};

/* One function a word, innermost first; "*" in front: an exception came upon it, "m:": of a module.
 */
static void make(struct stack *stack, const char *const *names)
{
	*stack = (struct stack){ .trace = { .frames = stack->frames } };
	for (; names[stack->trace.count]; stack->trace.count++) {
		const char *name = names[stack->trace.count];
		struct frame *frame = &stack->frames[stack->trace.count];
		frame->has_symbol = true;
		frame->kind = *name == '*' ? FRAME_EXCEPTION : FRAME_ORC;
		name += *name == '*';
		if (!strncmp(name, "m:", 2)) {
			frame->symbol.module = "m";
			name += 2;
		}
		frame->symbol.name = name;
	}
}

static void test_is(void)
{
	struct stack stack;
	make(&stack,
	     (const char *const[]){ "do_exit.cold", "do_exits", "vfs_read.isra.0.cold", NULL });
	CHECK(frame_is(&stack.frames[0], "do_exit"));
	CHECK(!frame_is(&stack.frames[1], "do_exit"));
	CHECK(frame_is(&stack.frames[2], "vfs_read"));
	CHECK(!frame_is(&stack.frames[2], "vfs_rea"));
	CHECK_U64(trace_find(&stack.trace, 0, "vfs_read"), 2);
	CHECK_U64(trace_find(&stack.trace, 0, "nothing"), 3);
	stack.frames[0].has_symbol = false;
	CHECK(!frame_is(&stack.frames[0], "do_exit"));
}

static void test_generic(void)
{
	struct stack stack;
	make(&stack, (const char *const[]){ "memcpy_orig", "mutex_lock", "panic", "ext4_read",
					    "panics", "m:mutex_lock", NULL });
	CHECK(frame_is_generic(&stack.frames[0]));
	CHECK(frame_is_generic(&stack.frames[1]));
	CHECK(frame_is_generic(&stack.frames[2]));
	CHECK(!frame_is_generic(&stack.frames[3]));
	CHECK(!frame_is_generic(&stack.frames[4]));
	CHECK(!frame_is_generic(&stack.frames[5]));
}

/* Who called it; what an interrupt came upon did not. */
static void test_blame(void)
{
	struct stack stack;
	make(&stack, (const char *const[]){ "memcpy", "lab_read", "vfs_read", NULL });
	CHECK_U64(trace_blame(&stack.trace, 0), 1);
	make(&stack, (const char *const[]){ "__run_timers", "run_timer_softirq", "handle_softirqs",
					    "sysvec_apic_timer_interrupt",
					    "asm_sysvec_apic_timer_interrupt", "*lab_read",
					    "vfs_read", NULL });
	CHECK_U64(trace_blame(&stack.trace, 0), 7);
	CHECK_U64(trace_blame(&stack.trace, 5), 5);
	/* Whoever is kept from his CPU has been there since. */
	make(&stack, (const char *const[]){ "__schedule", "preempt_schedule_irq", "irqentry_exit",
					    "asm_sysvec_apic_timer_interrupt", "*lab_poll",
					    "kthread", NULL });
	stack.frames[2].symbol.name = "schedule";
	CHECK_U64(trace_blame(&stack.trace, 0), 4);
	/* A page fault is of the instruction that it came upon. */
	make(&stack, (const char *const[]){ "panic", "kfence_report_error", "exc_page_fault",
					    "asm_exc_page_fault", "*lab_first", NULL });
	CHECK_U64(trace_blame(&stack.trace, 0), 4);
}

static void test_circumstance(void)
{
	struct stack stack;
	struct circumstance found;
	make(&stack, (const char *const[]){ "lab_tick", "call_timer_fn", "handle_softirqs", NULL });
	CHECK(trace_circumstance(&stack.trace, 0, &found));
	CHECK_STRING(found.what, "a timer");
	CHECK_U64(found.frame, 1);
	/* What the exception interrupted runs in nothing of that. */
	make(&stack, (const char *const[]){ "lab", "*lab_other", "process_one_work", NULL });
	CHECK(!trace_circumstance(&stack.trace, 0, &found));
	CHECK(trace_circumstance(&stack.trace, 1, &found));
	CHECK_STRING(found.what, "a work item");
	CHECK(!found.is_borrowed && !found.is_deferred);
}

/* Whose stack it is on: an interrupt's victim, or a thread that is there for it. */
static void test_circumstance_of_whom(void)
{
	struct stack stack;
	struct circumstance found;
	make(&stack, (const char *const[]){ "lab_tick", "call_timer_fn", "handle_softirqs",
					    "run_ksoftirqd", "kthread", NULL });
	CHECK(trace_circumstance(&stack.trace, 0, &found));
	CHECK(!found.is_borrowed && found.is_deferred);
	make(&stack, (const char *const[]){ "lab_tick", "call_timer_fn", "handle_softirqs",
					    "run_ktimerd", "kthread", NULL });
	CHECK(trace_circumstance(&stack.trace, 0, &found));
	CHECK(!found.is_borrowed && found.is_deferred);
	/* The thread can be interrupted itself. */
	make(&stack,
	     (const char *const[]){ "lab_irq", "__handle_irq_event_percpu", "asm_common_interrupt",
				    "*lab", "handle_softirqs", "run_ksoftirqd", NULL });
	CHECK(trace_circumstance(&stack.trace, 0, &found));
	CHECK(found.is_borrowed && !found.is_deferred);
	/* A task that enables softirqs again runs those that wait. */
	make(&stack, (const char *const[]){ "lab_tick", "call_timer_fn", "handle_softirqs",
					    "do_softirq", "lab_send", NULL });
	CHECK(trace_circumstance(&stack.trace, 0, &found));
	CHECK(!found.is_borrowed && !found.is_deferred);
}

static void check_signature(const char *kind, size_t blamed, const char *const *names,
			    const char *expected)
{
	struct stack stack;
	char signature[SIGNATURE_SIZE];
	struct finding finding = { .kind = kind };
	make(&stack, names);
	struct analysis analysis = { .trace = stack.trace,
				     .findings = kind ? &finding : NULL,
				     .count = kind ? 1 : 0,
				     .blamed = blamed };
	CHECK_OK(signature_make(&analysis, signature));
	CHECK_STRING(signature, expected);
}

static void test_signature(void)
{
	static const char *const plain[] = { "panic",	 "*lab_read.isra.0",
					     "lab_open", "mutex_lock",
					     "vfs_read", "ksys_read",
					     "more",	 NULL };
	check_signature("bug", 1, plain, "1 bug lab_read/lab_open/vfs_read/ksys_read");
	check_signature(NULL, 1, plain, "");
	/* Nothing to blame. */
	check_signature("nmi", 7, plain, "1 nmi");
	static const char *const recursion[] = { "m:turn.0", "m:turn.0", "m:turn", "outer", NULL };
	check_signature("stack-overflow", 0, recursion, "1 stack-overflow turn/outer");
	static const char *const interrupted[] = { "m:tick", "call_timer_fn", "*innocent",
						   "vfs_read", NULL };
	check_signature("null-pointer", 0, interrupted, "1 null-pointer tick");
	/* A timer of a CPU that sleeps, which another one runs. */
	static const char *const remote[] = { "m:tick",
					      "call_timer_fn",
					      "__run_timers",
					      "timer_expire_remote",
					      "tmigr_handle_remote",
					      "handle_softirqs",
					      NULL };
	check_signature("null-pointer", 0, remote, "1 null-pointer tick");
}

/* Names as long as a symbol table allows: what does not fit is left out whole. */
static void test_long_signature(void)
{
	char name[SYMBOL_NAME_SIZE];
	memset(name, 'a', sizeof(name));
	name[300] = 0;
	const char *const names[] = { "first", name, name + 1, "last", NULL };
	struct stack stack;
	char signature[SIGNATURE_SIZE];
	struct finding finding = { .kind = "bug" };
	make(&stack, names);
	struct analysis analysis = { .trace = stack.trace, .findings = &finding, .count = 1 };
	CHECK_OK(signature_make(&analysis, signature));
	CHECK_U64(strlen(signature), strlen("1 bug first/") + 300);
}

int main(void)
{
	RUN(test_is);
	RUN(test_generic);
	RUN(test_blame);
	RUN(test_circumstance);
	RUN(test_circumstance_of_whom);
	RUN(test_signature);
	RUN(test_long_signature);
	return test_finish();
}
