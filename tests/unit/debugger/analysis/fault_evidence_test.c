// SPDX-License-Identifier: GPL-3.0-or-later
/* What a fault is said to rest on: a list that leads to the bad pointer, and what is none. */
#include "tests/unit/libbpf.h"
#include "tests/unit/test.h"

#include "base/array.h"
#include "debugger/analysis/fault.h"
#include "debugger/target/arch_x86_64.h"
#include <string.h>

#define BASE  0xffff888000100000u
#define NODES 4u
/* Of struct registers; which ones is no matter. */
#define HEAD_REGISTER 2u
#define BAD_REGISTER  0u

struct fixture {
	uint64_t nodes[NODES][2]; /* next, prev; the last one's next is the bad pointer */
	struct memory_array memory;
	struct libbpf_btf *written;
	struct symtab *symbols;
	struct target target;
	struct frame frame;
	struct access access;
	struct analysis analysis;
	struct fault fault;
	struct finding finding;
};

static uint64_t node_at(size_t number)
{
	return BASE + 16 * number;
}

/* A read through `bad`, whose origin the code does not say, with a register at the first node. */
static void build(struct fixture *fixture, uint64_t bad, bool points_back)
{
	const void *data;
	uint32_t size;
	*fixture = (struct fixture){ 0 };
	for (size_t i = 0; i < NODES; i++) {
		fixture->nodes[i][0] = i + 1 < NODES ? node_at(i + 1) : bad;
		fixture->nodes[i][1] = points_back && i ? node_at(i - 1) : 0;
	}
	memory_array_init(&fixture->memory, BASE, fixture->nodes, sizeof(fixture->nodes));
	fixture->written = btf__new_empty();
	data = btf__raw_data(fixture->written, &size);
	CHECK_OK(btf_open(data, size, NULL, "vmlinux", &fixture->target.btf));
	CHECK_OK(symtab_create(&fixture->symbols));
	fixture->target.symbols = fixture->symbols;
	fixture->target.memory = &fixture->memory.memory;
	fixture->target.arch = &arch_x86_64;
	fixture->target.modules_loaded = true;
	registers_set(&fixture->frame.registers, HEAD_REGISTER, BASE);
	registers_set(&fixture->frame.registers, BAD_REGISTER, bad);
	fixture->analysis = (struct analysis){ .target = &fixture->target };
	fixture->analysis.trace = (struct stack_trace){ .frames = &fixture->frame, .count = 1 };
	fixture->access = (struct access){ .address = bad + 8,
					   .size = 8,
					   .has_base = true,
					   .base = BAD_REGISTER,
					   .base_value = bad,
					   .displacement = 8 };
	fixture->fault = (struct fault){ .analysis = &fixture->analysis,
					 .frame = &fixture->frame,
					 .is_page_fault = true,
					 .access = &fixture->access,
					 .pointer_name = "rax",
					 .pointer = bad };
	bad_address_find(&fixture->target, NULL, bad + 8, &fixture->fault.bad);
	fixture->finding = (struct finding){ .kind = "bad-pointer" };
}

/* Whether a list is said to lead to the bad pointer, and at which of its entries. */
static bool leads(struct fixture *fixture, uint64_t *ret_entry)
{
	bool found = false;
	CHECK_OK(fault_show(&fixture->fault, &fixture->finding));
	for (size_t i = 0; i < fixture->finding.count; i++) {
		const char *at = strstr(fixture->finding.evidence[i].text, "its entry ");
		if (!at)
			continue;
		found = true;
		*ret_entry = strtoull(at + strlen("its entry "), NULL, 10);
	}
	return found;
}

static void finish(struct fixture *fixture)
{
	finding_deinit(&fixture->finding);
	btf_close(fixture->target.btf);
	btf__free(fixture->written);
	symtab_destroy(fixture->symbols);
}

static void test_list_that_leads_there(void)
{
	static const uint64_t bad[] = { 0x4747474747474747, 0xdead000000000100, 0x6b6b6b6b6b6b6b6b,
					0x7f0012345678 };
	for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
		struct fixture fixture;
		uint64_t entry = 0;
		build(&fixture, bad[i], true);
		CHECK(leads(&fixture, &entry));
		CHECK_U64(entry, NODES - 1);
		finish(&fixture);
	}
}

/* Lists of one direction end in NULL, and memory is full of pointers at pointers at zero. */
static void test_end_of_a_chain(void)
{
	static const uint64_t ends[] = { 0, 0x50, (uint64_t)-12 };
	for (size_t i = 0; i < ARRAY_COUNT(ends); i++)
		for (int points_back = 0; points_back < 2; points_back++) {
			struct fixture fixture;
			uint64_t entry;
			build(&fixture, ends[i], points_back);
			CHECK(!leads(&fixture, &entry));
			CHECK_STRING(fixture.finding.kind, "bad-pointer");
			finish(&fixture);
		}
}

/* What does not point back is no list, whatever it ends in. */
static void test_chain_that_is_no_list(void)
{
	struct fixture fixture;
	uint64_t entry;
	build(&fixture, 0x4747474747474747, false);
	CHECK(!leads(&fixture, &entry));
	finish(&fixture);
}

/* Pages that are there and must not be used so, by the processor's word; others say no more. */
static void test_pages_that_are_there(void)
{
	static const struct {
		uint64_t error_code;
		bool has_code, is_page_fault;
		enum fault_place_kind kind;
	} cases[] = {
		{ FAULT_PROTECTION | FAULT_WRITE, true, true, PLACE_READ_ONLY },
		{ FAULT_PROTECTION | FAULT_FETCH, true, true, PLACE_NO_CODE },
		{ FAULT_PROTECTION, true, true, PLACE_NOTHING },
		{ FAULT_WRITE, true, true, PLACE_NOTHING },
		{ FAULT_PROTECTION | FAULT_WRITE, false, true, PLACE_NOTHING },
		{ FAULT_PROTECTION | FAULT_WRITE, true, false, PLACE_NOTHING },
	};
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct fixture fixture;
		build(&fixture, node_at(1), true);
		CHECK_OK(symtab_add(fixture.symbols, "lab", "table", 'r', BASE,
				    sizeof(fixture.nodes)));
		fixture.fault.is_page_fault = cases[i].is_page_fault;
		fixture.fault.has_error_code = cases[i].has_code;
		fixture.fault.error_code = cases[i].error_code;
		CHECK_OK(fault_find_place(&fixture.fault, node_at(1) + 8));
		CHECK_U64(fixture.fault.place.kind, cases[i].kind);
		CHECK_STRING(fixture.fault.place.text,
			     cases[i].is_page_fault ? "table+0x18 [lab]" : "");
		CHECK_OK(fault_show_place(&fixture.fault, &fixture.finding));
		CHECK_U64(fixture.finding.count, cases[i].kind == PLACE_NOTHING ? 0 : 1);
		finish(&fixture);
	}
}

/* endbr64; nopl 0(%rax,%rax,1); movaps (%rdi),%xmm0; bytes that are no instruction; ret */
static const uint8_t code[] = { 0xf3, 0x0f, 0x1e, 0xfa, 0x0f, 0x1f, 0x44, 0x00,
				0x00, 0x0f, 0x28, 0x07, 0x06, 0x06, 0xc3 };

static void put_code(struct fixture *fixture, uint64_t offset)
{
	memcpy(fixture->nodes, code, sizeof(code));
	fixture->frame.has_symbol = true;
	fixture->frame.symbol = (struct symbol){ .address = BASE, .name = "lab", .size = 64 };
	fixture->frame.offset = offset;
	fixture->frame.pc = BASE + offset;
	fixture->fault.frame = &fixture->frame;
}

static void test_middle_of_an_instruction(void)
{
	/* Behind what is no instruction nothing is known. */
	static const size_t before[] = { 0, 1, 2, 3, 0, 1, 2, 3, 4, 0, 1, 2, 0, 0, 0 };
	for (size_t i = 0; i < ARRAY_COUNT(before); i++) {
		struct fixture fixture;
		build(&fixture, 0, false);
		put_code(&fixture, i);
		CHECK_OK(fault_find_midway(&fixture.fault));
		CHECK_U64(fixture.fault.midway, before[i]);
		CHECK_U64(fault_is_jump(&fixture.fault), before[i] != 0);
		/* A function whose code is gone. */
		fixture.fault.is_page_fault = fixture.fault.has_error_code = true;
		fixture.fault.error_code = FAULT_FETCH;
		CHECK_OK(fault_find_midway(&fixture.fault));
		CHECK_U64(fixture.fault.midway, 0);
		CHECK_U64(fault_is_jump(&fixture.fault), true);
		finish(&fixture);
	}
}

static void test_alignment(void)
{
	static const struct {
		uint64_t offset, address;
		bool is_wrong;
	} cases[] = {
		{ 9, BASE + 1, true }, /* movaps */
		{ 9, BASE + 16, false },
		{ 4, BASE + 1, false }, /* nopl */
	};
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct fixture fixture;
		build(&fixture, 0, false);
		put_code(&fixture, cases[i].offset);
		fixture.fault.access = NULL;
		fixture.fault.accesses =
			(struct accesses){ .items = { { .address = cases[i].address, .size = 16 } },
					   .count = 1 };
		CHECK_OK(fault_find_misaligned(&fixture.fault));
		CHECK_U64(fixture.fault.bad.kind == BAD_MISALIGNED, cases[i].is_wrong);
		CHECK_U64(fixture.fault.access != NULL, cases[i].is_wrong);
		finish(&fixture);
	}
}

int main(void)
{
	RUN(test_list_that_leads_there);
	RUN(test_end_of_a_chain);
	RUN(test_chain_that_is_no_list);
	RUN(test_pages_that_are_there);
	RUN(test_middle_of_an_instruction);
	RUN(test_alignment);
	return test_finish();
}
