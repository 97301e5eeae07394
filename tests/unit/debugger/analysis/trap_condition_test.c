// SPDX-License-Identifier: GPL-3.0-or-later
/* How code came to a trap: by a jump, past one, from the part that lies elsewhere, or always. */
#include "tests/unit/libbpf.h"
#include "tests/unit/test.h"

#include "base/array.h"
#include "debugger/analysis/trap_condition.h"
#include "debugger/target/arch_x86_64.h"
#include <string.h>

#define HOT  0xffffffffc0100000u
#define COLD (HOT + 64)
#define SIZE 128u

struct fixture {
	uint8_t code[SIZE];
	struct memory_array memory;
	struct libbpf_btf *written;
	struct symtab *symbols;
	struct target target;
	struct frame frame;
	struct finding finding;
};

/* `trap`: where the frame stands. */
static void build(struct fixture *fixture, const uint8_t *hot, size_t hot_size, const uint8_t *cold,
		  size_t cold_size, uint64_t trap)
{
	const void *data;
	uint32_t size;
	uint64_t offset;
	*fixture = (struct fixture){ 0 };
	memset(fixture->code, 0xcc, SIZE);
	memcpy(fixture->code, hot, hot_size);
	if (cold_size)
		memcpy(fixture->code + (COLD - HOT), cold, cold_size);
	memory_array_init(&fixture->memory, HOT, fixture->code, SIZE);
	fixture->written = btf__new_empty();
	data = btf__raw_data(fixture->written, &size);
	CHECK_OK(btf_open(data, size, NULL, "vmlinux", &fixture->target.btf));
	CHECK_OK(symtab_create(&fixture->symbols));
	CHECK_OK(symtab_add(fixture->symbols, "lab", "lab_put", 't', HOT, hot_size));
	if (cold_size)
		CHECK_OK(symtab_add(fixture->symbols, "lab", "lab_put.cold", 't', COLD, cold_size));
	fixture->target.symbols = fixture->symbols;
	fixture->target.memory = &fixture->memory.memory;
	fixture->target.arch = &arch_x86_64;
	fixture->target.modules_loaded = true;
	fixture->frame = (struct frame){ .pc = trap, .pc_is_exact = true };
	fixture->frame.has_symbol =
		symtab_by_address(fixture->symbols, trap, &fixture->frame.symbol, &offset);
	fixture->frame.offset = offset;
	registers_set(&fixture->frame.registers, X86_64_RAX, 0x2a);
}

/* What is said, "" nothing. */
static const char *ask(struct fixture *fixture)
{
	CHECK_OK(trap_condition_show(&fixture->target, &fixture->frame, &fixture->finding));
	return fixture->finding.count ? fixture->finding.evidence[0].text : "";
}

static void finish(struct fixture *fixture)
{
	finding_deinit(&fixture->finding);
	btf_close(fixture->target.btf);
	btf__free(fixture->written);
	symtab_destroy(fixture->symbols);
}

static void check(const uint8_t *hot, size_t hot_size, const uint8_t *cold, size_t cold_size,
		  uint64_t trap, const char *wanted)
{
	struct fixture fixture;
	build(&fixture, hot, hot_size, cold, cold_size, trap);
	CHECK_STRING(ask(&fixture), wanted);
	finish(&fixture);
}

static void test_jump(void)
{
	/* mov 0x50(%rdi),%eax; test %eax,%eax; jle 1f; sub $1,%eax; ret; 1: ud2 */
	static const uint8_t code[] = { 0x8b, 0x47, 0x50, 0x85, 0xc0, 0x7e, 0x04,
					0x83, 0xe8, 0x01, 0xc3, 0x0f, 0x0b };
	check(code, sizeof(code), NULL, 0, HOT + 11,
	      "the condition, as code: movl 0x50(%rdi), %eax; testl %eax, %eax; jle taken, "
	      "where rax is 0x2a");
}

static void test_past_a_jump(void)
{
	/* cmpl $0,8(%rdi); jne 1f; ud2; 1: ret */
	static const uint8_t code[] = { 0x83, 0x7f, 0x08, 0x00, 0x75, 0x02, 0x0f, 0x0b, 0xc3 };
	check(code, sizeof(code), NULL, 0, HOT + 6,
	      "the condition, as code: cmpl $0, 8(%rdi); jne not taken");
}

static void test_several(void)
{
	/* test %rdi,%rdi; je 1f; test %esi,%esi; je 1f; ret; 1: ud2 */
	static const uint8_t code[] = { 0x48, 0x85, 0xff, 0x74, 0x05, 0x85,
					0xf6, 0x74, 0x01, 0xc3, 0x0f, 0x0b };
	struct fixture fixture;
	build(&fixture, code, sizeof(code), NULL, 0, HOT + 10);
	CHECK_STRING(ask(&fixture), "one of the conditions, as code: testq %rdi, %rdi; je taken");
	CHECK(fixture.finding.count == 2);
	CHECK_STRING(fixture.finding.evidence[1].text,
		     "one of the conditions, as code: testl %esi, %esi; je taken");
	finish(&fixture);
}

/* What stands between the jump and the trap may have changed the register. */
static void test_register_that_is_old(void)
{
	/* test %eax,%eax; je 1f; ret; 1: mov %edi,%eax; ud2 */
	static const uint8_t code[] = { 0x85, 0xc0, 0x74, 0x01, 0xc3, 0x89, 0xf8, 0x0f, 0x0b };
	check(code, sizeof(code), NULL, 0, HOT + 7,
	      "the condition, as code: testl %eax, %eax; je taken");
}

static void test_always(void)
{
	static const uint8_t code[] = { 0x0f, 0x0b, 0xc3 };
	check(code, sizeof(code), NULL, 0, HOT,
	      "nothing leads past it: whoever calls the function gets there");
}

static void test_elsewhere(void)
{
	/* test %rdx,%rdx; je COLD; ret */
	static const uint8_t hot[] = { 0x48, 0x85, 0xd2, 0x0f, 0x84, 0x37, 0x00, 0x00, 0x00, 0xc3 };
	/* mov %rdi,%rsi; ud2 */
	static const uint8_t cold[] = { 0x48, 0x89, 0xfe, 0x0f, 0x0b };
	check(hot, sizeof(hot), cold, sizeof(cold), COLD + 3,
	      "the condition, as code: testq %rdx, %rdx; je taken");
}

/* Where nothing says how, that is no reason to make something up. */
static void test_unknown(void)
{
	/* ret; ud2 */
	static const uint8_t code[] = { 0xc3, 0x0f, 0x0b };
	check(code, sizeof(code), NULL, 0, HOT + 1, "the code in front of it has the condition");
	struct fixture fixture;
	build(&fixture, code, sizeof(code), NULL, 0, HOT + 1);
	fixture.frame.symbol.size = UINT64_MAX;
	CHECK_STRING(ask(&fixture), "");
	fixture.frame.symbol.size = SIZE * 2;
	CHECK_STRING(ask(&fixture), "");
	fixture.frame.offset = fixture.frame.symbol.size;
	CHECK_STRING(ask(&fixture), "");
	fixture.frame.has_symbol = false;
	CHECK_STRING(ask(&fixture), "");
	finish(&fixture);
}

int main(void)
{
	RUN(test_jump);
	RUN(test_past_a_jump);
	RUN(test_several);
	RUN(test_register_that_is_old);
	RUN(test_always);
	RUN(test_elsewhere);
	RUN(test_unknown);
	return test_finish();
}
