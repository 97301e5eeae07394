// SPDX-License-Identifier: GPL-3.0-or-later
/* x86-64 instructions as operations: what is modelled, and that the rest forgets what it writes. */
#include "debugger/code/lower.h"
#include "tests/unit/test.h"

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8 };

#define HERE 0xffffffff81000000u
#define T0   LOWER_TEMPORARY
#define T1   (LOWER_TEMPORARY + 1)

static struct ops ops;

/* The operations of bytes written in hexadecimal. */
static void lower(const char *text)
{
	uint8_t bytes[64];
	size_t size = 0;
	for (const char *at = text; *at && size < sizeof(bytes);) {
		unsigned int byte;
		int length;
		if (sscanf(at, " %2x%n", &byte, &length) != 1)
			break;
		bytes[size++] = (uint8_t)byte;
		at += length;
	}
	struct code code = { bytes, size, HERE };
	struct decoder *decoder = lowering_x86_64.create();
	free(ops.items);
	ops = (struct ops){ .items = NULL };
	lowering_x86_64.lower(decoder, &code, &ops);
	lowering_x86_64.destroy(decoder);
}

static const struct op *op(size_t number)
{
	static const struct op none = { .kind = 0xff };
	return number < ops.count ? &ops.items[number] : &none;
}

/* All registers that the operations write. */
static uint64_t written(void)
{
	uint64_t mask = 0;
	for (size_t i = 0; i < ops.count; i++) {
		switch (ops.items[i].kind) {
		case OP_CONSTANT:
		case OP_MOVE:
		case OP_CHOOSE:
		case OP_ADDRESS:
		case OP_SCALE:
		case OP_NUMBER:
		case OP_LOAD:
			mask |= (uint64_t)1 << ops.items[i].to;
			break;
		case OP_CLOBBER:
			mask |= (uint64_t)ops.items[i].constant;
		}
	}
	return mask & 0xffff;
}

static bool has(enum op_kind kind)
{
	for (size_t i = 0; i < ops.count; i++)
		if (ops.items[i].kind == kind)
			return true;
	return false;
}

static void test_addresses(void)
{
	lower("48 8d 3d 10 00 00 00"); /* lea 0x10(%rip), %rdi */
	CHECK_U64(op(0)->kind, OP_ADDRESS);
	CHECK_U64(op(0)->to, RDI);
	CHECK_U64(op(0)->displacement, HERE + 7 + 0x10);
	CHECK_U64(op(0)->base, LOWER_NONE);
	lower("48 c7 c7 00 10 00 82"); /* mov $0xffffffff82001000, %rdi */
	CHECK_U64(op(0)->kind, OP_CONSTANT);
	CHECK_U64(op(0)->constant, 0xffffffff82001000u);
	lower("bf 00 10 00 82"); /* mov $0x82001000, %edi: no sign */
	CHECK_U64(op(0)->constant, 0x82001000u);
	lower("48 8b 04 c5 00 10 00 82"); /* mov -0x7dfff000(,%rax,8), %rax */
	CHECK_U64(op(0)->kind, OP_LOAD);
	CHECK_U64(op(0)->index, RAX);
	CHECK_U64(op(0)->scale, 8);
	CHECK_U64(op(0)->base, LOWER_NONE);
	CHECK_U64(op(0)->displacement, 0xffffffff82001000u);
	lower("65 48 8b 04 25 40 bd 01 00"); /* mov %gs:0x1bd40, %rax */
	CHECK(op(0)->per_cpu);
	CHECK_U64(op(0)->displacement, 0x1bd40);
	lower("64 48 8b 04 25 40 bd 01 00"); /* %fs: is nowhere */
	CHECK_U64(op(0)->base, LOWER_SOMEWHERE);
	CHECK_U64(op(0)->displacement, 0);
	lower("67 8b 07"); /* mov (%edi), %eax */
	CHECK_U64(op(0)->base, LOWER_SOMEWHERE);
}

static void test_sums(void)
{
	lower("48 83 c0 18"); /* add $0x18, %rax */
	CHECK_U64(op(0)->kind, OP_ADDRESS);
	CHECK_U64(op(0)->displacement, 0x18);
	lower("48 83 e8 18"); /* sub $0x18, %rax */
	CHECK_U64(op(0)->displacement, (uint64_t)-0x18);
	lower("48 01 d0"); /* add %rdx, %rax */
	CHECK_U64(op(0)->base, RAX);
	CHECK_U64(op(0)->index, RDX);
	lower("48 69 c0 b0 00 00 00"); /* imul $0xb0, %rax, %rax */
	CHECK_U64(op(0)->kind, OP_SCALE);
	CHECK_U64(op(0)->constant, 0xb0);
	lower("48 c1 e0 04"); /* shl $4, %rax */
	CHECK_U64(op(0)->kind, OP_SCALE);
	CHECK_U64(op(0)->constant, 16);
	lower("31 c0"); /* xor %eax, %eax */
	CHECK_U64(op(0)->kind, OP_CONSTANT);
	CHECK_U64(op(0)->constant, 0);
	/* 32-bit sums are no addresses. */
	lower("83 c0 18");
	CHECK_U64(written(), 1 << RAX);
	CHECK(!has(OP_ADDRESS));
	lower("48 29 d0"); /* sub %rdx, %rax */
	CHECK_U64(written(), 1 << RAX);
	CHECK(!has(OP_ADDRESS));
}

static void test_parts_of_registers(void)
{
	lower("8a 07"); /* mov (%rdi), %al: the rest of rax stays */
	CHECK_U64(written(), 1 << RAX);
	CHECK(!has(OP_LOAD));
	lower("88 f8"); /* mov %bh... %al */
	CHECK_U64(written(), 1 << RAX);
	lower("b4 01"); /* mov $1, %ah */
	CHECK_U64(written(), 1 << RAX);
	lower("0f b6 c4"); /* movzbl %ah, %eax */
	CHECK_U64(written(), 1 << RAX);
	CHECK(!has(OP_MOVE));
	lower("0f b6 07"); /* movzbl (%rdi), %eax */
	CHECK_U64(op(0)->kind, OP_LOAD);
	CHECK_U64(op(0)->size, 1);
	lower("48 63 07"); /* movslq (%rdi), %rax */
	CHECK_U64(op(0)->size, 4);
	CHECK_U64(op(0)->sign, SIGN_SIGNED);
	lower("88 27"); /* mov %ah, (%rdi) */
	CHECK_U64(op(0)->kind, OP_STORE);
	CHECK_U64(op(0)->from, LOWER_NONE);
}

static void test_implied_writes(void)
{
	static const struct {
		const char *bytes;
		uint64_t mask;
	} cases[] = {
		{ "0f a2", 1 << RAX | 1 << RBX | 1 << RCX | 1 << RDX }, /* cpuid */
		{ "0f 32", 1 << RAX | 1 << RDX },			/* rdmsr */
		{ "0f 31", 1 << RAX | 1 << RDX },			/* rdtsc */
		{ "0f 01 f9", 1 << RAX | 1 << RDX | 1 << RCX },		/* rdtscp */
		{ "48 f7 e3", 1 << RAX | 1 << RDX },			/* mul %rbx */
		{ "48 f7 eb", 1 << RAX | 1 << RDX },			/* imul %rbx */
		{ "48 f7 f3", 1 << RAX | 1 << RDX },			/* div %rbx */
		{ "48 99", 1 << RDX },					/* cqo */
		{ "48 98", 1 << RAX },					/* cdqe */
		{ "f3 48 a5", 1 << RSI | 1 << RDI | 1 << RCX },		/* rep movsq */
		{ "f3 48 ab", 1 << RDI | 1 << RCX },			/* rep stosq */
		{ "ac", 1 << RAX | 1 << RSI | 1 << RCX },		/* lodsb */
		{ "f0 48 0f c7 0f", 1 << RAX | 1 << RDX },		/* lock cmpxchg16b (%rdi) */
		{ "f0 48 0f c1 07", 1 << RAX },				/* lock xadd %rax, (%rdi) */
		{ "48 0f c1 d8", 1 << RAX | 1 << RBX },			/* xadd %rbx, %rax */
		{ "48 87 d8", 1 << RAX | 1 << RBX },			/* xchg %rbx, %rax */
		{ "0f 94 c1", 1 << RCX },				/* sete %cl */
		{ "48 0f c9", 1 << RCX },				/* bswap %rcx */
		{ "48 0f bc c1", 1 << RAX },				/* bsf %rcx, %rax */
		{ "f3 48 0f b8 c1", 1 << RAX },				/* popcnt */
		{ "48 0f c7 f0", 1 << RAX },				/* rdrand %rax */
		{ "66 48 0f 7e c0", 1 << RAX },				/* movq %xmm0, %rax */
		{ "0f 20 d8", 1 << RAX },				/* mov %cr3, %rax */
		{ "c4 e2 e3 f6 c8", 0xffff },				/* mulx: anything */
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		lower(cases[i].bytes);
		if ((written() & cases[i].mask) != cases[i].mask)
			printf("%s: written are %#" PRIx64 "\n", cases[i].bytes, written());
		CHECK_U64(written() & cases[i].mask, cases[i].mask);
	}
}

static void test_memory_writes(void)
{
	lower("48 01 07"); /* add %rax, (%rdi) */
	CHECK_U64(op(0)->kind, OP_COUNT_WITH);
	CHECK_U64(op(1)->kind, OP_CHANGE);
	CHECK_U64(op(1)->size, 8);
	lower("f3 48 ab"); /* rep stosq: how much, nobody knows */
	CHECK(has(OP_CHANGE));
	CHECK_U64(op(0)->size, 0);
	lower("0f ae 07"); /* fxsave (%rdi): 512 bytes */
	CHECK(has(OP_CHANGE));
	CHECK_U64(op(0)->size, 0);
	lower("0f 11 07"); /* movups %xmm0, (%rdi) */
	CHECK_U64(op(0)->kind, OP_CHANGE);
	lower("0f 1f 40 00"); /* nopl 0(%rax): no access at all */
	CHECK_U64(ops.count, 0);
	lower("0f 18 08"); /* prefetcht0 (%rax) */
	CHECK_U64(ops.count, 0);
}

/* Also where a release of Capstone has them in no group. */
static void test_vectors_keep_the_rest(void)
{
	lower("66 0f 3a 0f c1 08"); /* palignr $8, %xmm1, %xmm0 */
	CHECK_U64(written(), 0);
	lower("c4 e3 71 0f c2 08"); /* vpalignr $8, %xmm2, %xmm1, %xmm0 */
	CHECK_U64(written(), 0);
	lower("66 0f c5 c0 00"); /* pextrw $0, %xmm0, %eax */
	CHECK_U64(written(), 1 << RAX);
	lower("c5 f9 c5 c0 00"); /* vpextrw $0, %xmm0, %eax */
	CHECK_U64(written(), 1 << RAX);
}

static void test_unknown_forgets_all(void)
{
	lower("66 0f 3a 63 c1 00"); /* pcmpistri writes ecx, unseen in the kernel */
	CHECK_U64(written(), 0xffff);
	lower("06"); /* no instruction in 64-bit mode */
	CHECK_U64(op(0)->kind, OP_STOP);
	lower("48 8b"); /* cut off */
	CHECK_U64(op(0)->kind, OP_STOP);
}

static void test_stack(void)
{
	lower("53"); /* push %rbx */
	CHECK_U64(op(0)->kind, OP_ADDRESS);
	CHECK_U64(op(0)->displacement, (uint64_t)-8);
	CHECK_U64(op(1)->kind, OP_STORE);
	CHECK_U64(op(1)->from, RBX);
	lower("5b"); /* pop %rbx */
	CHECK_U64(op(0)->kind, OP_LOAD);
	CHECK_U64(op(0)->to, RBX);
	CHECK_U64(op(1)->displacement, 8);
	lower("54"); /* push %rsp: the value before */
	CHECK_U64(op(0)->kind, OP_MOVE);
	CHECK_U64(op(2)->from, T0);
	lower("9c"); /* pushf */
	CHECK_U64(op(0)->displacement, (uint64_t)-8);
	lower("c9"); /* leave */
	CHECK_U64(written(), 1 << RSP | 1 << RBP);
}

static void test_control(void)
{
	lower("e8 00 01 00 00"); /* call */
	CHECK_U64(op(0)->kind, OP_CALL);
	CHECK_U64(op(0)->constant, HERE + 5 + 0x100);
	lower("ff 50 18"); /* call *0x18(%rax) */
	CHECK_U64(op(0)->kind, OP_LOAD);
	CHECK_U64(op(1)->kind, OP_CALL_REGISTER);
	CHECK_U64(op(1)->from, T0);
	lower("ff e0"); /* jmp *%rax */
	CHECK_U64(op(0)->kind, OP_JUMP_REGISTER);
	lower("7e 10"); /* jle */
	CHECK_U64(op(1)->kind, OP_BRANCH);
	CHECK_U64(op(0)->sign, SIGN_SIGNED);
	lower("76 10"); /* jbe */
	CHECK_U64(op(0)->sign, SIGN_UNSIGNED);
	lower("0f 9f c0"); /* setg %al */
	CHECK_U64(op(0)->kind, OP_CONDITION);
	CHECK_U64(op(0)->sign, SIGN_SIGNED);
	lower("48 63 c7"); /* movslq %edi, %rax */
	CHECK_U64(op(0)->kind, OP_MOVE);
	CHECK_U64(op(0)->sign, SIGN_SIGNED);
	lower("48 98"); /* cltq */
	CHECK_U64(op(0)->kind, OP_MOVE);
	CHECK_U64(op(0)->size, 4);
	CHECK_U64(op(0)->sign, SIGN_SIGNED);
	lower("e2 10"); /* loop */
	CHECK_U64(written(), 1 << RCX);
	CHECK(has(OP_BRANCH));
	lower("c3");
	CHECK_U64(op(0)->kind, OP_RETURN);
	lower("0f 0b"); /* ud2 */
	CHECK_U64(op(0)->kind, OP_STOP);
	lower("cc");
	CHECK_U64(op(0)->kind, OP_STOP);
}

/* What arithmetic takes, and whether it takes it for a number with a sign. */
static void test_counting(void)
{
	static const struct {
		const char *bytes;
		uint8_t from, size, sign;
	} cases[] = {
		{ "c1 e9 03", RCX, 4, SIGN_UNSIGNED },	 /* shr $3, %ecx */
		{ "c1 f9 03", RCX, 4, SIGN_SIGNED },	 /* sar $3, %ecx */
		{ "f7 f1", RCX, 4, SIGN_UNSIGNED },	 /* div %ecx */
		{ "f7 f9", RCX, 4, SIGN_SIGNED },	 /* idiv %ecx */
		{ "99", RAX, 4, SIGN_SIGNED },		 /* cltd */
		{ "48 09 c8", RAX, 8, SIGN_UNKNOWN },	 /* or %rcx, %rax */
		{ "48 0f af c1", RAX, 8, SIGN_UNKNOWN }, /* imul %rcx, %rax */
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		lower(cases[i].bytes);
		CHECK_U64(op(0)->kind, OP_COUNT_WITH);
		CHECK_U64(op(0)->from, cases[i].from);
		CHECK_U64(op(0)->size, cases[i].size);
		CHECK_U64(op(0)->sign, cases[i].sign);
	}
	lower("f7 35 00 00 00 00"); /* divl 0(%rip) */
	CHECK_U64(op(0)->kind, OP_LOAD);
	CHECK_U64(op(1)->kind, OP_COUNT_WITH);
	CHECK_U64(op(1)->from, T0);
	CHECK_U64(op(2)->from, RAX);
	/* Of fewer bits nothing is known, and a zero takes nothing. */
	lower("d0 e9"); /* shr %cl */
	CHECK(!has(OP_COUNT_WITH));
	lower("48 31 c0"); /* xor %rax, %rax */
	CHECK(!has(OP_COUNT_WITH));
}

static void test_comparisons(void)
{
	lower("48 81 3d 00 00 00 00 00 10 00 82"); /* cmpq $0xffffffff82001000, 0(%rip) */
	CHECK_U64(op(0)->kind, OP_LOAD);
	CHECK_U64(op(0)->displacement, HERE + 11);
	CHECK_U64(op(1)->kind, OP_CONSTANT);
	CHECK_U64(op(1)->constant, 0xffffffff82001000u);
	CHECK_U64(op(2)->kind, OP_COMPARE);
	lower("f0 48 0f b1 37"); /* lock cmpxchg %rsi, (%rdi) */
	CHECK(has(OP_COMPARE));
	CHECK(has(OP_STORE));
	CHECK(written() & 1 << RAX);
}

static void test_helpers(void)
{
	uint8_t reg = 0xff;
	CHECK_U64(lowering_x86_64.helper("__x86_indirect_thunk_r11", &reg), HELPER_REGISTER);
	CHECK_U64(reg, 11);
	CHECK_U64(lowering_x86_64.helper("__x86_indirect_call_thunk_rax", &reg), HELPER_REGISTER);
	CHECK_U64(reg, RAX);
	CHECK_U64(lowering_x86_64.helper("__x86_return_thunk", &reg), HELPER_RETURN);
	CHECK_U64(lowering_x86_64.helper("__fentry__", &reg), HELPER_NOTHING);
	CHECK_U64(lowering_x86_64.helper("schedule", &reg), HELPER_NONE);
	CHECK(lowering_find("x86_64") == &lowering_x86_64);
	CHECK(!lowering_find("s390x"));
}

/* Whatever the bytes, it ends, and the operations stay within their registers. */
static void test_any_bytes(void)
{
	struct decoder *decoder = lowering_x86_64.create();
	uint64_t seed = 88172645463325252u;
	for (int round = 0; round < 20000; round++) {
		uint8_t bytes[24];
		for (size_t i = 0; i < sizeof(bytes); i++) {
			seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
			bytes[i] = (uint8_t)(seed >> 24);
		}
		struct code code = { bytes, sizeof(bytes), HERE };
		ops.count = 0;
		lowering_x86_64.lower(decoder, &code, &ops);
		for (size_t i = 0; i < ops.count; i++) {
			const struct op *one = &ops.items[i];
			bool fits = (one->to < LOWER_SOMEWHERE || one->to == LOWER_NONE) &&
				    (one->from < LOWER_SOMEWHERE || one->from == LOWER_NONE) &&
				    (one->base < LOWER_REGISTERS || one->base == LOWER_NONE) &&
				    (one->index < LOWER_REGISTERS || one->index == LOWER_NONE);
			bool writes = one->kind <= OP_SCALE || one->kind == OP_NUMBER ||
				      one->kind == OP_LOAD;
			if (!fits || one->at >= sizeof(bytes) || (writes && one->to == LOWER_NONE))
				printf("round %d, operation %zu, kind %d\n", round, i, one->kind);
			CHECK(fits && one->at < sizeof(bytes));
			CHECK(!writes || one->to != LOWER_NONE);
		}
	}
	lowering_x86_64.destroy(decoder);
}

int main(void)
{
	RUN(test_addresses);
	RUN(test_sums);
	RUN(test_parts_of_registers);
	RUN(test_implied_writes);
	RUN(test_memory_writes);
	RUN(test_vectors_keep_the_rest);
	RUN(test_unknown_forgets_all);
	RUN(test_stack);
	RUN(test_control);
	RUN(test_counting);
	RUN(test_comparisons);
	RUN(test_helpers);
	RUN(test_any_bytes);
	free(ops.items);
	return test_finish();
}
