// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Arguments that can be proved, over a made-up kernel: `outer` calls `inner`, which calls `leaf`,
 * which has just saved the registers that calls keep. The code of outer and inner, the stack and
 * what leaf saved differ by case.
 */
#include "tests/unit/test.h"

#include "base/array.h"
#include "debugger/arguments/arguments.h"
#include "debugger/arguments/symbolic.h"
#include "debugger/target/arch_x86_64.h"
#include "debugger/target/attached.h"
#include "tests/unit/kallsyms_image.h"

#define TEXT	  0xffffffff81000000u
#define INNER	  (TEXT + 0x100) /* int inner(struct foo *foo, unsigned long length, int flags) */
#define OUTER	  (TEXT + 0x200)
#define MIDDLE	  (TEXT + 0x300)
#define LEAF	  (TEXT + 0x400)
#define THUNK	  (TEXT + 0x500)
#define COLD	  (TEXT + 0x580) /* a part of inner */
#define TEXT_SIZE 0x700u
#define TABLES	  0xffffffff82000000u
#define STACK	  0xffffc90000010000u
#define HEAP	  0xffff888000001000u
#define PAGE	  4096u
#define CURRENT	  0x1000u
#define TASK	  0xffff888000004000u
#define FOO	  (HEAP + 0x80)

/* --- the machine ------------------------------------------------------------------------------ */

struct machine {
	struct memory memory;
	struct target target;
	struct vmcore_facts facts;
	struct image tables;
	uint8_t text[TEXT_SIZE];
	uint64_t stack[PAGE / 8], heap[PAGE / 8];
};

static struct error *machine_read(struct memory *memory, uint64_t address, void *buffer,
				  size_t size)
{
	struct machine *machine = (struct machine *)memory;
	const struct {
		uint64_t start, size;
		const void *bytes;
	} parts[] = { { TEXT, TEXT_SIZE, machine->text },
		      { STACK, PAGE, machine->stack },
		      { HEAP, PAGE, machine->heap },
		      { TABLES, machine->tables.size, machine->tables.data } };
	for (size_t i = 0; i < ARRAY_COUNT(parts); i++) {
		uint64_t offset = address - parts[i].start;
		if (offset >= parts[i].size || size > parts[i].size - offset)
			continue;
		memcpy(buffer, (const uint8_t *)parts[i].bytes + offset, size);
		return NULL;
	}
	return error_create_at(ERROR_FAULT, address, "nothing at 0x%" PRIx64, address);
}

static const uint32_t types[] = {
	1,  BTF_INT << 24,
	4,  BTF_INT_SIGNED << 24 | 32, /* 1 int */
	5,  BTF_INT << 24,
	8,  64, /* 2 unsigned long */
	19, BTF_STRUCT << 24 | 1,
	16, 23,
	2,  0, /* 3 struct foo { ... word; } */
	0,  BTF_PTR << 24,
	3, /* 4 struct foo * */
	0,  BTF_FUNC_PROTO << 24 | 3,
	1,  19,
	4,  28,
	2,  35,
	1, /* 5 */
	41, BTF_FUNC << 24,
	5, /* 6 inner */
	47, BTF_INT << 24,
	1,  8, /* 7 signed char, with no flag, as pahole 1.20 has it */
};
static const char strings[] = "\0int\0unsigned long\0foo\0word\0length\0flags\0inner\0signed char";
/* Of inner's third parameter among the words above. */
#define FLAGS_TYPE 25

static void load_types(struct machine *machine, bool flags_is_char)
{
	static uint8_t blob[24 + sizeof(types) + sizeof(strings)];
	const uint32_t header[6] = { 0xeb9f | 1u << 16, 24, 0, sizeof(types), sizeof(types),
				     sizeof(strings) };
	memcpy(blob, header, sizeof(header));
	memcpy(blob + 24, types, sizeof(types));
	memcpy(blob + 24 + sizeof(types), strings, sizeof(strings));
	if (flags_is_char)
		memcpy(blob + 24 + 4 * FLAGS_TYPE, &(uint32_t){ 7 }, 4);
	CHECK_OK(btf_open(blob, sizeof(blob), NULL, "test", &machine->target.btf));
}

static void load_symbols(struct machine *machine)
{
	static const struct test_symbol symbols[] = {
		{ CURRENT, 'A', "current_task" },
		{ TEXT, 'T', "_stext" },
		{ INNER, 'T', "inner" },
		{ OUTER, 'T', "outer" },
		{ MIDDLE, 'T', "middle" },
		{ LEAF, 'T', "leaf" },
		{ THUNK, 'T', "__x86_indirect_thunk_rax" },
		{ COLD, 't', "inner.cold" },
		{ TEXT + 0x600, 'T', "behind" },
		{ TEXT + TEXT_SIZE, 'T', "_etext" },
		{ TABLES + 0x100000, 'D', "_end" },
	};
	image_symbols(&machine->tables, TABLES, symbols, ARRAY_COUNT(symbols),
		      &machine->target.symbols);
}

static void machine_init(struct machine *machine, bool flags_is_char)
{
	memset(machine, 0, sizeof(*machine));
	machine->memory =
		(struct memory){ .read = machine_read, .name = "made-up", .word_size = 8 };
	memset(machine->text, 0xcc, sizeof(machine->text));
	machine->target.memory = &machine->memory;
	machine->target.arch = &arch_x86_64;
	machine->target.facts = &machine->facts;
	machine->target.cpus_loaded = machine->target.modules_loaded = true;
	load_types(machine, flags_is_char);
	load_symbols(machine);
}

static void machine_deinit(struct machine *machine)
{
	target_detach_all(&machine->target);
	symtab_destroy(machine->target.symbols);
	btf_close(machine->target.btf);
	image_destroy(&machine->tables);
}

/* --- one case --------------------------------------------------------------------------------- */

/*
 * Code in hexadecimal. "e800000000" is the call whose return address is on the stack: of inner by
 * outer, of leaf by inner; where there is none, the code ends with an indirect call. `depth`: words
 * between the stack pointer at that call and the return address.
 */
struct scenario {
	const char *inner, *outer;
	unsigned int inner_depth;
	uint64_t called;	 /* by outer; 0: inner */
	uint64_t rbx, rbp, r12;	 /* inner's, saved by leaf */
	uint64_t words[4];	 /* inner's stack from the stack pointer up */
	uint64_t outer_words[2]; /* the same of outer */
	bool flags_is_char;	 /* a signed one */
	bool is_cold;		 /* inner's code is that of its part */
	bool is_searched;	 /* leaf may have returned to inner, which has not */
};

#define SAVES_NOTHING "4883ec08e800000000" /* sub rsp, 8; call */
#define UNRELATED     "4883ec08e800000000"

/* Returns the offset behind the call. */
static uint64_t assemble(struct machine *machine, uint64_t address, const char *hex,
			 uint64_t called)
{
	uint8_t *code = machine->text + (address - TEXT);
	size_t size = strlen(hex) / 2, end = size;
	for (size_t i = 0; i < size; i++) {
		unsigned int byte;
		if (sscanf(hex + 2 * i, "%2x", &byte) != 1)
			abort();
		code[i] = (uint8_t)byte;
	}
	for (size_t i = 0; i + 5 <= size; i++) {
		if (memcmp(code + i, "\xe8\0\0\0\0", 5))
			continue;
		end = i + 5;
		uint32_t distance = (uint32_t)(called - (address + end));
		memcpy(code + i + 1, &distance, 4);
	}
	return end;
}

static void make_frame(struct machine *machine, struct frame *frame, uint64_t pc, uint64_t sp)
{
	*frame = (struct frame){ .kind = FRAME_ORC, .stack = STACK_TASK, .pc = pc, .sp = sp };
	frame->has_symbol =
		target_symbol_at(&machine->target, pc - 1, &frame->symbol, &frame->offset);
	frame->offset++;
	CHECK(frame->has_symbol);
	registers_set(&frame->registers, X86_64_RIP, pc);
	registers_set(&frame->registers, X86_64_RSP, sp);
}

#define LEAF_SAVED 4 /* offset behind its pushes */

static void build(struct machine *machine, const struct scenario *scenario, struct frame frames[3])
{
	uint64_t *stack = machine->stack;
	unsigned int at = 16;
	assemble(machine, LEAF, "5355415431c0c3",
		 0); /* push rbx; push rbp; push r12; xor eax, eax */
	uint64_t inner = scenario->is_cold ? COLD : INNER;
	uint64_t inner_end = assemble(machine, inner, scenario->inner, LEAF);
	uint64_t outer_end = assemble(machine, OUTER, scenario->outer,
				      scenario->called ? scenario->called : INNER);
	make_frame(machine, &frames[0], LEAF + LEAF_SAVED + 1, STACK + 8 * at);
	frames[0].pc--, frames[0].offset--;
	frames[0].pc_is_exact = true;
	frames[0].kind = FRAME_REGISTERS;
	stack[at++] = scenario->r12;
	stack[at++] = scenario->rbp;
	stack[at++] = scenario->rbx;
	stack[at++] = inner + inner_end;
	make_frame(machine, &frames[1], inner + inner_end, STACK + 8 * at);
	for (unsigned int i = 0; i < scenario->inner_depth; i++)
		stack[at++] = scenario->words[i];
	stack[at++] = OUTER + outer_end;
	make_frame(machine, &frames[2], OUTER + outer_end, STACK + 8 * at);
	memcpy(&stack[at], scenario->outer_words, sizeof(scenario->outer_words));
}

/* What is known of inner's arguments: a string "foo=... length=... flags=...", ? for unknown. */
static const char *prove(const struct scenario *scenario, uint64_t heap_word)
{
	static struct machine machine;
	static char text[256];
	struct frame frames[3];
	struct stack_trace trace = { .frames = frames, .count = 3 };
	struct task task = { .address = TASK };
	struct frame_arguments *arguments = NULL;
	machine_init(&machine, scenario->flags_is_char);
	machine.heap[(FOO - HEAP) / 8 + 1] = heap_word;
	build(&machine, scenario, frames);
	if (scenario->is_searched) {
		trace.unproved = 1;
		frames[0].is_unproved = true;
		frames[1].kind = FRAME_SEARCH;
	}
	CHECK_OK(arguments_of(&machine.target, &task, &trace, &arguments));
	size_t used = 0;
	*text = 0;
	CHECK(arguments && arguments[1].has_prototype && arguments[1].count == 3);
	CHECK(arguments && !arguments[0].has_prototype && !arguments[2].has_prototype);
	for (size_t i = 0; arguments && i < arguments[1].count; i++) {
		const struct argument *argument = &arguments[1].items[i];
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s=", i ? " " : "",
					 argument->name);
		if (argument->is_known)
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%" PRIx64,
						 argument->value);
		else
			used += (size_t)snprintf(text + used, sizeof(text) - used, "?");
	}
	free(arguments);
	machine_deinit(&machine);
	return text;
}

#define CHECK_PROOF(scenario, expected) CHECK_STRING(prove(&(scenario), 0), expected)
#define NOTHING				"foo=? length=? flags=?"

/* --- what the callee holds ----------------------------------------------------------------------
 */

static void test_parked(void)
{
	/* push rbx; mov rbx, rdi */
	struct scenario scenario = {
		.inner = "534889fbe800000000", .inner_depth = 1, .outer = UNRELATED, .rbx = 0xabc0
	};
	CHECK_PROOF(scenario, "foo=abc0 length=? flags=?");
	/* mov rbx, rdi; push rbx: the saved word is not the caller's rbx, but the argument too */
	scenario.inner = "4889fb53e800000000";
	scenario.words[0] = 0xabc0;
	CHECK_PROOF(scenario, "foo=abc0 length=? flags=?");
}

/* A part that lies elsewhere: its caller called the whole, whose registers it may have changed. */
static void test_part(void)
{
	/* push rbx; mov rbx, rdi; outer: mov edi, 0x2a */
	struct scenario scenario = { .inner = "534889fbe800000000",
				     .inner_depth = 1,
				     .outer = "bf2a000000e800000000",
				     .rbx = 0xabc0,
				     .is_cold = true };
	CHECK_PROOF(scenario, "foo=2a length=? flags=?");
	scenario.called = MIDDLE;
	CHECK_PROOF(scenario, NOTHING);
}

static void test_spilled(void)
{
	/* sub rsp, 24; mov [rsp + 8], rsi */
	struct scenario scenario = { .inner = "4883ec184889742408e800000000",
				     .inner_depth = 3,
				     .outer = UNRELATED,
				     .words = { 1, 0x77, 3 } };
	CHECK_PROOF(scenario, "foo=? length=77 flags=?");
	/* ... mov rdi, rsp: leaf may have written from there on upward */
	scenario.inner = "4883ec1848897424084889e7e800000000";
	CHECK_PROOF(scenario, NOTHING);
	/* mov [rsp], rsi; lea rdi, [rsp + 8]: what lies below is ours */
	scenario.inner = "4883ec1848893424488d7c2408e800000000";
	CHECK_PROOF(scenario, "foo=? length=1 flags=?");
	/* mov [rsp + 8], rdi; mov dword [rsp + 8], 1: half of it is gone */
	scenario.inner = "4883ec1848897c2408c744240801000000e800000000";
	CHECK_PROOF(scenario, NOTHING);
	/* mov [rsp + 8], rdi; mov [rsp + rdx * 8], rsi: nobody knows where */
	scenario.inner = "4883ec1848897c2408488934d4e800000000";
	CHECK_PROOF(scenario, NOTHING);
}

static void test_push_and_pop(void)
{
	/* push rbx; mov rbx, rdi; pop rbx: the caller's again */
	struct scenario scenario = { .inner = "534889fb5b4883ec08e800000000",
				     .inner_depth = 1,
				     .outer = UNRELATED,
				     .rbx = 0xabc0 };
	CHECK_PROOF(scenario, NOTHING);
	/* push rbx; push rbp; mov rbx, rdi; mov rbp, rsi; pop rbp; push rbp */
	scenario.inner = "53554889fb4889f55d55e800000000";
	scenario.inner_depth = 2;
	scenario.rbp = scenario.words[0] = 0x1234; /* pushed a moment ago */
	CHECK_PROOF(scenario, "foo=abc0 length=? flags=?");
}

static void test_loops(void)
{
	/* push rbx; push rbp; mov rbx, rdi; 1: mov rbp, rbx; mov rbx, [rbx]; until it is 0 */
	struct scenario scenario = { .inner = "53554889fb4889dd488b1b4885db75f5e800000000",
				     .inner_depth = 2,
				     .outer = UNRELATED,
				     .rbx = 0,
				     .rbp = 0xabc0 };
	CHECK_PROOF(scenario, NOTHING);
	/* 1: mov rbp, [rbx]; until it is 0: rbx stays */
	scenario.inner = "53554889fb488b2b4885ed75f8e800000000";
	scenario.rbx = 0xdef0;
	scenario.rbp = 0;
	CHECK_PROOF(scenario, "foo=def0 length=? flags=?");
}

static void test_joins(void)
{
	/* push rbx; mov rbx, rdi; where edx is not 0: mov rbx, rsi */
	struct scenario scenario = { .inner = "534889fb85d274034889f3e800000000",
				     .inner_depth = 1,
				     .outer = UNRELATED,
				     .rbx = 0xabc0 };
	CHECK_PROOF(scenario, NOTHING);
	/* The same thing on both sides. */
	scenario.inner = "5385d274054889fbeb034889fbe800000000";
	CHECK_PROOF(scenario, "foo=abc0 length=? flags=?");
	/* mov rbx, rdi; cmove rbx, rsi */
	scenario.inner = "534889fb4885d2480f44dee800000000";
	CHECK_PROOF(scenario, NOTHING);
}

/* mov ebx, esi; mov ebp, edx: four bytes are all of `flags`, and half of `length`. */
static void test_narrow(void)
{
	struct scenario scenario = { .inner = "535589f389d5e800000000",
				     .inner_depth = 2,
				     .outer = UNRELATED,
				     .rbx = 0x80000000,
				     .rbp = 0xfffffffe };
	CHECK_PROOF(scenario, "foo=? length=? flags=fffffffffffffffe");
	scenario.flags_is_char = true;
	CHECK_PROOF(scenario, "foo=? length=? flags=fffffffffffffffe");
}

static void test_tables(void)
{
	/* push rbx; mov rbx, rdi; jmp [rsi * 8 + 0x1000]: anything may happen before the call */
	struct scenario scenario = { .inner = "534889fbff24f500100000e800000000",
				     .inner_depth = 1,
				     .outer = UNRELATED,
				     .rbx = 0xabc0 };
	CHECK_PROOF(scenario, NOTHING);
	/* ... test rsi, rsi; je 1f; jmp rsi; 1: */
	scenario.inner = "534889fb4885f67402ffe6e800000000";
	CHECK_PROOF(scenario, NOTHING);
}

/* push rbx; push rbp; mov ebx, 5; mov rbp, rdi: when rbx is not 5, the frame is not what it seems.
 */
static void test_contradiction(void)
{
	struct scenario scenario = { .inner = "5355bb050000004889fde800000000",
				     .inner_depth = 2,
				     .outer = UNRELATED,
				     .rbx = 5,
				     .rbp = 0xabc0 };
	CHECK_PROOF(scenario, "foo=abc0 length=? flags=?");
	scenario.rbx = 6;
	CHECK_PROOF(scenario, NOTHING);
	/* The same argument twice: mov rbx, rdi; mov rbp, rdi */
	scenario.inner = "53554889fb4889fde800000000";
	CHECK_PROOF(scenario, NOTHING);
	scenario.rbx = 0xabc0;
	CHECK_PROOF(scenario, "foo=abc0 length=? flags=?");
}

/* --- what the caller says -----------------------------------------------------------------------
 */

/* mov edi, 0; mov rsi, 0xffffffff81000640; mov edx, -3 */
#define CONSTANTS "4883ec08bf0000000048c7c640060081bafdffffffe800000000"

static void test_constants(void)
{
	struct scenario scenario = { .inner = SAVES_NOTHING, .inner_depth = 1, .outer = CONSTANTS };
	CHECK_PROOF(scenario, "foo=0 length=ffffffff81000640 flags=fffffffffffffffd");
	/* inner has it too, and has another value: neither is believed */
	scenario.inner = "534889fbe800000000";
	scenario.rbx = 0xabc0;
	CHECK_PROOF(scenario, "foo=? length=ffffffff81000640 flags=fffffffffffffffd");
	scenario.rbx = 0;
	CHECK_PROOF(scenario, "foo=0 length=ffffffff81000640 flags=fffffffffffffffd");
}

/* sub rsp, 24; lea rdi, [rsp + 8]; mov esi, 24 */
static void test_locals(void)
{
	struct scenario scenario = { .inner = SAVES_NOTHING,
				     .inner_depth = 1,
				     .outer = "4883ec18488d7c2408be18000000e800000000" };
	char expected[64];
	/* 16 words below leaf, 3 of its own, 3 return addresses and inner's word. */
	uint64_t outer_sp = STACK + 8 * (16 + 3 + 1 + 1 + 1);
	snprintf(expected, sizeof(expected), "foo=%" PRIx64 " length=18 flags=?", outer_sp + 8);
	CHECK_PROOF(scenario, expected);
}

/* push rbx; push rbp; mov rdi, rbx; lea rsi, [rbp + 16]; found where leaf and inner saved them. */
static void test_caller_registers(void)
{
	struct scenario scenario = { .inner = SAVES_NOTHING,
				     .inner_depth = 1,
				     .outer = "53554889df488d7510e800000000",
				     .rbx = 0xb0,
				     .rbp = 0x100,
				     .outer_words = { 0x100, 0xb0 } };
	CHECK_PROOF(scenario, "foo=b0 length=110 flags=?");
	/* inner: push rbx; mov rbx, rdi: outer's rbx is on the stack, its rbp with leaf */
	scenario.inner = "534889fbe800000000";
	scenario.words[0] = 0xb0;
	CHECK_PROOF(scenario, "foo=b0 length=110 flags=?");
	/* outer saved another rbx than it had: there is no telling which is wrong */
	scenario.outer_words[1] = 0xb8;
	CHECK_PROOF(scenario, "foo=b0 length=? flags=?");
}

/* The function on the stack is not the one that was called: it was jumped to, with other arguments.
 */
/* Leaf may be over, and inner further on: only its caller, which waits for it, can be believed. */
static void test_searched(void)
{
	struct scenario scenario = { .inner = "534889fbe800000000",
				     .inner_depth = 1,
				     .outer = UNRELATED,
				     .rbx = 0xabc0,
				     .is_searched = true };
	CHECK_PROOF(scenario, NOTHING);
	scenario.outer = CONSTANTS;
	const char *by_caller = "foo=";
	CHECK(!strncmp(prove(&scenario, 0), by_caller, strlen(by_caller)));
	CHECK(!strstr(prove(&scenario, 0), "abc0"));
	scenario.inner = SAVES_NOTHING;
	scenario.is_searched = false;
	static char without[256];
	snprintf(without, sizeof(without), "%s", prove(&scenario, 0));
	scenario.is_searched = true;
	CHECK_STRING(prove(&scenario, 0), without);
	CHECK(strcmp(without, NOTHING));
	/* Outer's own stack tells what was in its registers, what leaf saved of them does not. */
	scenario.outer = "53554889df488d7510e800000000";
	scenario.rbx = 0xdead;
	scenario.rbp = 0xdead;
	scenario.outer_words[0] = 0x100;
	scenario.outer_words[1] = 0xb0;
	CHECK_PROOF(scenario, "foo=b0 length=110 flags=?");
}

static void test_tail_call(void)
{
	struct scenario scenario = {
		.inner = SAVES_NOTHING, .inner_depth = 1, .outer = CONSTANTS, .called = MIDDLE
	};
	CHECK_PROOF(scenario, NOTHING);
}

static void test_pointers(void)
{
	/* mov rdi, rbx; mov rax, [rbx + 8]; call of the thunk */
	struct scenario scenario = { .inner = SAVES_NOTHING,
				     .inner_depth = 1,
				     .outer = "53554889df488b4308e800000000",
				     .called = THUNK,
				     .rbx = FOO,
				     .outer_words = { 0, FOO } };
	char expected[64];
	snprintf(expected, sizeof(expected), "foo=%" PRIx64 " length=? flags=?", FOO);
	CHECK_STRING(prove(&scenario, INNER), expected);
	CHECK_STRING(prove(&scenario, MIDDLE), NOTHING);
	/* ... call rax */
	scenario.outer = "53554889df488b4308ffd0";
	CHECK_STRING(prove(&scenario, INNER), expected);
	CHECK_STRING(prove(&scenario, MIDDLE), NOTHING);
	/* rbx leads to where nothing can be read */
	scenario.rbx = scenario.outer_words[1] = 0x10;
	CHECK_STRING(prove(&scenario, INNER), NOTHING);
}

static void test_current(void)
{
	/* mov rdi, gs:[current_task] */
	struct scenario scenario = { .inner = SAVES_NOTHING,
				     .inner_depth = 1,
				     .outer = "4883ec0865488b3c2500100000e800000000" };
	char expected[64];
	snprintf(expected, sizeof(expected), "foo=%" PRIx64 " length=? flags=?", TASK);
	CHECK_PROOF(scenario, expected);
	/* another variable */
	scenario.outer = "4883ec0865488b3c2508100000e800000000";
	CHECK_PROOF(scenario, NOTHING);
}

/* --- bad bytes ----------------------------------------------------------------------------------
 */

static enum helper no_helper(void *context, uint64_t address, uint8_t *ret_register)
{
	(void)context;
	(void)address;
	*ret_register = LOWER_NONE;
	return HELPER_NONE;
}

static uint64_t random_state = 11;

static uint32_t next_random(void)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(random_state >> 33);
}

/* Real code, some of whose bytes are others. */
static void fill(uint8_t *code, size_t size)
{
	static const uint8_t real[] = { 0x53, 0x55, 0x48, 0x89, 0xfb, 0x48, 0x8b, 0x2b,
					0x48, 0x85, 0xed, 0x75, 0xf8, 0x48, 0x89, 0x34,
					0xd4, 0xe8, 0x00, 0x00, 0x00, 0x00, 0x5d, 0x5b };
	for (size_t i = 0; i < size; i++)
		code[i] = next_random() % 8 ? real[i % sizeof(real)] : (uint8_t)next_random();
	if (!(next_random() % 4))
		for (size_t i = 0; i < size; i++)
			code[i] = (uint8_t)next_random();
}

static void test_random(void)
{
	static struct symbolic_place place;
	const struct symbolic_world world = { .lowering = &lowering_x86_64,
					      .helper = no_helper,
					      .current_task = { CURRENT } };
	uint8_t bytes[96];
	unsigned int proved = 0;
	for (int round = 0; round < 20000; round++) {
		struct code code = { bytes, next_random() % (sizeof(bytes) + 1), TEXT };
		fill(bytes, sizeof(bytes));
		struct error *error =
			symbolic_run(&world, &code, next_random() % 100, next_random() % 2, &place);
		proved += !error;
		CHECK(error || place.state.slot_count <= SYMBOLIC_SLOTS);
		error_free(error);
	}
	CHECK(proved > 1000 && proved < 19000);
}

int main(void)
{
	RUN(test_parked);
	RUN(test_part);
	RUN(test_spilled);
	RUN(test_push_and_pop);
	RUN(test_loops);
	RUN(test_joins);
	RUN(test_narrow);
	RUN(test_tables);
	RUN(test_contradiction);
	RUN(test_constants);
	RUN(test_locals);
	RUN(test_caller_registers);
	RUN(test_searched);
	RUN(test_tail_call);
	RUN(test_pointers);
	RUN(test_current);
	RUN(test_random);
	return test_finish();
}
