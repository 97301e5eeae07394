// SPDX-License-Identifier: GPL-3.0-or-later
/* The instructions on which releases of Capstone differ: lengths, effects, and as text. */
#include "debugger/code/odd_x86_64.h"
#include "debugger/disassembly/decode.h"
#include "tests/unit/test.h"
#include <stdlib.h>

static const struct {
	const char *bytes;
	uint8_t size, length; /* length 0: none of them */
	enum odd_effect effect;
	const char *mnemonic;
} cases[] = {
	{ "\x0f\x01\xee", 3, 3, ODD_EAX_EDX, "rdpkru" },
	{ "\x0f\x01\xef", 3, 3, ODD_NOTHING, "wrpkru" },
	{ "\x0f\x01\xfa", 3, 3, ODD_NOTHING, "monitorx" },
	{ "\x0f\x01\xfb", 3, 3, ODD_NOTHING, "mwaitx" },
	{ "\x0f\x01", 2, 0, 0, NULL },
	{ "\x0f\x01\xf8", 3, 0, 0, NULL }, /* swapgs, Capstone's */
	/* ud1 %esp, %ecx; ud1 0x10(%eax), %eax of a sanitizer */
	{ "\x0f\xb9\xcc\x90", 4, 3, ODD_EXCEPTION, "ud1" },
	{ "\x67\x0f\xb9\x40\x10\x90", 6, 5, ODD_EXCEPTION, "ud1" },
	{ "\x0f\xb9\x05\x01\x02\x03\x04\x90", 8, 7, ODD_EXCEPTION, "ud1" },
	{ "\x0f\xb9\x04\x25\x01\x02\x03\x04\x90", 9, 8, ODD_EXCEPTION, "ud1" },
	{ "\x0f\xb9\x40", 3, 0, 0, NULL },
	/* wrussq %rax, -8(%rbp); (%rbx); wrssq %rax, (%rdx); tpause %ecx */
	{ "\x66\x48\x0f\x38\xf5\x45\xf8\x90", 8, 7, ODD_UNKNOWN, NULL },
	{ "\x66\x48\x0f\x38\xf5\x2b\x90", 7, 6, ODD_UNKNOWN, NULL },
	{ "\x48\x0f\x38\xf6\x02\x90", 6, 5, ODD_UNKNOWN, NULL },
	{ "\x66\x0f\xae\xf1\xc3", 5, 4, ODD_UNKNOWN, NULL },
	{ "\x66\x0f\xae\x38\xc3", 5, 0, 0, NULL },     /* clflushopt (%rax) */
	{ "\x66\x0f\x38\xf6\xc1\xc3", 6, 0, 0, NULL }, /* adcx */
	/* vprord $0x10, %xmm3, %xmm3; vpermi2d %ymm7, %ymm6, %ymm9; vmovdqu32 0x40(%rsi), %zmm0 */
	{ "\x62\xf1\x65\x08\x72\xc3\x10\xc5", 8, 7, ODD_UNKNOWN, NULL },
	{ "\x62\x72\x4d\x28\x76\xcf\xc5", 7, 6, ODD_UNKNOWN, NULL },
	{ "\x62\xf1\x7e\x48\x6f\x46\x01\xc5", 8, 7, ODD_UNKNOWN, NULL },
	{ "\x62\xf1\x65\x08\x72\xc3", 6, 0, 0, NULL },
	{ "\x62", 1, 0, 0, NULL },
	/* movsxd %eax, %edi; 0x36(%rbp), %esp, with 0x66; movslq */
	{ "\x63\xf8\x90", 3, 2, ODD_UNKNOWN, "movsxd" },
	{ "\x66\x63\x65\x36\x90", 5, 4, ODD_UNKNOWN, "movsxd" },
	{ "\x48\x63\xf8\x90", 4, 0, 0, NULL },
	/* vpclmulqdq $0x11, %ymm7, %ymm0, %ymm5; of 16 bytes; vbroadcasti128 -0x50(%rcx), %ymm6 */
	{ "\xc4\xe3\x7d\x44\xef\x11\x90", 7, 6, ODD_NOTHING, NULL },
	{ "\xc4\xe3\x79\x44\xef\x11\x90", 7, 0, 0, NULL },
	{ "\xc4\xe2\x7d\x5a\x71\xb0\x90", 7, 6, ODD_NOTHING, NULL },
	{ "\x90", 1, 0, 0, NULL },
};

static void test_lengths(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct odd_instruction odd = { 0 };
		bool found = odd_x86_64((const uint8_t *)cases[i].bytes, cases[i].size, &odd);
		CHECK(found == (cases[i].length != 0));
		if (!found)
			continue;
		CHECK_U64(odd.size, cases[i].length);
		CHECK_U64(odd.effect, cases[i].effect);
		CHECK(!odd.mnemonic == !cases[i].mnemonic);
		if (odd.mnemonic && cases[i].mnemonic)
			CHECK_STRING(odd.mnemonic, cases[i].mnemonic);
	}
}

/* Where they are cut off there is none, and nothing behind the end is read. */
static void test_cut_off(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (size_t size = 0; size < cases[i].length; size++) {
			struct odd_instruction odd;
			uint8_t *bytes = malloc(size + !size);
			memcpy(bytes, cases[i].bytes, size);
			CHECK(!odd_x86_64(bytes, size, &odd));
			free(bytes);
		}
	}
}

static void check_text(const char *bytes, size_t size, uint8_t length, const char *mnemonic,
		       const char *operands)
{
	struct disassembler *disassembler;
	struct instruction instruction;
	CHECK_OK(disassembler_create("x86_64", &disassembler));
	disassemble(disassembler, (const uint8_t *)bytes, size, 0xffffffff81000000, &instruction);
	CHECK_U64(instruction.size, length);
	CHECK_STRING(instruction.mnemonic, mnemonic);
	CHECK_STRING(instruction.operands, operands);
	disassembler_destroy(disassembler);
}

/* The same with all releases. */
static void test_text(void)
{
	check_text("\x0f\x01\xee", 3, 3, "rdpkru", "");
	check_text("\x0f\xb9\xcc\x90", 4, 3, "ud1", "");
	check_text("\x0f\xb9", 2, 2, "ud1", "");
	check_text("\xd1\xc1", 2, 2, "roll", "$1, %ecx");
	check_text("\x66\xf3\xab", 3, 3, "rep stosw", "%ax, (%rdi)");
	check_text("\xf3\xab", 2, 2, "rep stosl", "%eax, (%rdi)");
	check_text("\x48\xc7\xc0\xf0\xff\xff\xff", 7, 7, "movq", "$-0x10, %rax");
	check_text("\x48\xc7\xc0\xf7\xff\xff\xff", 7, 7, "movq", "$-9, %rax");
	check_text("\x48\xc7\xc7\x40\x55\x97\xae", 7, 7, "movq", "$-0x5168aac0, %rdi");
	check_text("\x48\xc7\x45\x08\x20\x00\x00\x00", 8, 8, "movq", "$0x20, 8(%rbp)");
	check_text("\x48\xb8\x00\x01\x00\x00\x00\x00\xad\xde", 10, 10, "movabsq",
		   "$0xdead000000000100, %rax");
	check_text("\x48\x83\xc0\xff", 4, 4, "addq", "$-1, %rax");
	check_text("\x63\xf8", 2, 2, "movsxd", "");
	check_text("\xd0\x6a\x62", 3, 3, "shrb", "$1, 0x62(%rdx)");
	check_text("\xd1\x24\x9a", 3, 3, "shll", "$1, (%rdx, %rbx, 4)");
	check_text("\xd1\xe1", 2, 2, "shll", "$1, %ecx");
	check_text("\xd3\x21", 2, 2, "shll", "%cl, (%rcx)");
	check_text("\xc1\x21\x03", 3, 3, "shll", "$3, (%rcx)");
	check_text("\x00\x4c\x62\x8c", 4, 4, "addb", "%cl, -0x74(%rdx)");
	check_text("\x03\x74\xa6\x83", 4, 4, "addl", "-0x7d(%rsi), %esi");
	check_text("\x03\x74\x9e\x83", 4, 4, "addl", "-0x7d(%rsi, %rbx, 4), %esi");
	check_text("\x91", 1, 1, "xchgl", "%eax, %ecx");
	check_text("\x41\x95", 2, 2, "xchgl", "%eax, %r13d");
	check_text("\x66\x95", 2, 2, "xchgw", "%ax, %bp");
	check_text("\x48\x92", 2, 2, "xchgq", "%rax, %rdx");
	check_text("\x87\xc1", 2, 2, "xchgl", "%eax, %ecx");
	check_text("\x0f\x38\xcb\xd1", 4, 4, "sha256rnds2", "%xmm0, %xmm1, %xmm2");
	check_text("\x0f\x38\xcb\x14\x91", 5, 5, "sha256rnds2", "%xmm0, (%rcx, %rdx, 4), %xmm2");
	check_text("\x66\x0f\x38\x10\xca", 5, 5, "pblendvb", "%xmm0, %xmm2, %xmm1");
	check_text("\x66\x48\x0f\x6e\xcf", 5, 5, "movq", "%rdi, %xmm1");
	check_text("\x66\x0f\x6e\xcf", 4, 4, "movd", "%edi, %xmm1");
}

int main(void)
{
	RUN(test_lengths);
	RUN(test_cut_off);
	RUN(test_text);
	return test_finish();
}
