// SPDX-License-Identifier: GPL-3.0-or-later
/* Each opcode with each second byte and prefix: what decode_x86_64() knows, Capstone agrees to. */
#include "tests/unit/same_decoding.h"
#include "tests/unit/test.h"

#define HERE 0xffffffff81000000u

static struct decodings decodings;
static unsigned long compared, different;

static void compare(const uint8_t *bytes, size_t size)
{
	bool own;
	const char *what = differs(&decodings, bytes, size, HERE, &own);
	compared += own;
	if (!what)
		return;
	if (different++ < 20) {
		printf("# %s:", what);
		for (size_t i = 0; i < size; i++)
			printf(" %02x", bytes[i]);
		printf(" (%s %s)\n", decodings.capstone->mnemonic, decodings.capstone->op_str);
	}
}

static void compare_opcodes(const char *prefix)
{
	static const uint8_t tail[] = { 0xa5, 0x81, 0x42, 0xf3, 0x14, 0x25,
					0x36, 0x47, 0x58, 0x69, 0x7a, 0x8b };
	uint8_t bytes[32];
	size_t start = strlen(prefix);
	memcpy(bytes, prefix, start);
	for (unsigned int opcode = 0; opcode < 512; opcode++) {
		size_t at = start;
		if (opcode >= 256)
			bytes[at++] = 0x0f;
		bytes[at++] = (uint8_t)opcode;
		for (unsigned int modrm = 0; modrm < 256; modrm++) {
			bytes[at] = (uint8_t)modrm;
			memcpy(bytes + at + 1, tail, sizeof(tail));
			bytes[at + 1] = (uint8_t)(modrm * 37 + opcode * 11);
			compare(bytes, at + 1 + sizeof(tail));
		}
	}
}

static void test_opcodes(void)
{
	static const char *const prefixes[] = { "",	    "\x66",	"\x41",	    "\x44",
						"\x48",	    "\x4f",	"\x66\x49", "\x65\x48",
						"\xf0",	    "\xf0\x48", "\x2e",	    "\x66\x2e",
						"\x66\xf0", "\x42",	"\x40",	    "\xf3",
						"\x48\x66", "\x65\x66", "\xf2\x48", "\x67" };
	compared = different = 0;
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		compare_opcodes(prefixes[i]);
	printf("# %lu compared\n", compared);
	CHECK(compared > 100000);
	CHECK(!different);
}

/* At the end of a function. */
static void test_truncated(void)
{
	static const uint8_t whole[] = { 0x65, 0x48, 0xc7, 0x84, 0x81, 1, 2, 3, 4, 5, 6, 7, 8 };
	bool own;
	CHECK(!differs(&decodings, whole, sizeof(whole), HERE, &own) && own);
	for (size_t size = 0; size < sizeof(whole); size++)
		CHECK(!decode_x86_64(whole, size, HERE, decodings.own));
}

/* Whatever bytes: no more than there are, and nothing that Capstone reads otherwise. */
static void test_random(void)
{
	uint64_t state = 88172645463325252u;
	compared = different = 0;
	for (int i = 0; i < 300000; i++) {
		uint8_t bytes[16];
		for (size_t k = 0; k < sizeof(bytes); k++) {
			state ^= state << 13, state ^= state >> 7, state ^= state << 17;
			bytes[k] = (uint8_t)(state >> 24);
		}
		compare(bytes, 1 + state % sizeof(bytes));
	}
	CHECK(compared > 50000);
	CHECK(!different);
}

int main(void)
{
	CHECK(decodings_init(&decodings));
	RUN(test_opcodes);
	RUN(test_truncated);
	RUN(test_random);
	decodings_deinit(&decodings);
	return test_finish();
}
