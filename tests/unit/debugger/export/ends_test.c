// SPDX-License-Identifier: GPL-3.0-or-later
/* Where code ends that somebody else jumps behind: not where nothing was done before. */
#include "tests/unit/libbpf.h"
#include "tests/unit/test.h"

#include "base/array.h"
#include "debugger/export/ends.h"
#include "debugger/target/arch_x86_64.h"
#include "debugger/target/attached.h"

#define BASE 0xffffffff81000000u
#define SIZE 16

static const struct {
	uint8_t code[SIZE];
	uint64_t jump, size; /* from the start */
} cases[] = {
	/* movq %rdi, %rax; ret; then what another function jumps to. */
	{ { 0x48, 0x89, 0xf8, 0xc3, 0x48, 0x89, 0xf8, 0xc3 }, 4, 4 },
	/* The code in front runs on into that. */
	{ { 0x48, 0x89, 0xf8, 0x48, 0x89, 0xf8, 0xc3 }, 3, SIZE },
	/* endbr64 does nothing. */
	{ { 0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x89, 0xf8, 0xc3 }, 4, SIZE },
};

static void check_case(size_t number)
{
	struct memory_array memory;
	struct target target = { .arch = &arch_x86_64 };
	struct exporting exporting = { .target = &target };
	struct code_jump jump = { BASE + 64, BASE + cases[number].jump };
	struct symbol symbol = { .name = "lab", .address = BASE, .size = SIZE };
	struct libbpf_btf *written = btf__new_empty();
	struct symtab *symbols;
	struct code_ends ends;
	uint8_t code[SIZE];
	const void *data;
	uint32_t size;
	/* Nothing of it is padding. */
	memset(code, 0x58, sizeof(code));
	memcpy(code, cases[number].code, 8);
	memory_array_init(&memory, BASE, code, SIZE);
	target.memory = &memory.memory;
	CHECK_OK(symtab_create(&symbols));
	CHECK_OK(symtab_add(symbols, "lab", "other", 't', BASE + 64, 16));
	target.symbols = symbols;
	data = btf__raw_data(written, &size);
	CHECK_OK(btf_open(data, size, NULL, "vmlinux", &target.btf));
	CHECK_OK(code_ends_init(&ends, &exporting));
	free(ends.jumps);
	ends.jumps = &jump;
	ends.count = 1;
	CHECK_U64(code_ends_size(&ends, &symbol), cases[number].size);
	ends.jumps = NULL;
	code_ends_deinit(&ends);
	target_detach_all(&target);
	btf_close(target.btf);
	btf__free(written);
	symtab_destroy(symbols);
}

static void test_code_in_front(void)
{
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
		check_case(i);
}

int main(void)
{
	RUN(test_code_in_front);
	return test_finish();
}
