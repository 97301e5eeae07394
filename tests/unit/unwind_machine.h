/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A made-up kernel to unwind: sixteen functions of 256 bytes, each with a call to the next one,
 * ORC tables (v3) that say how they use the stack, and a stack that the tests fill.
 */
#ifndef TESTS_UNIT_UNWIND_MACHINE_H
#define TESTS_UNIT_UNWIND_MACHINE_H

#include "tests/unit/test.h"

#include "base/array.h"
#include "base/bytes.h"
#include "debugger/target/arch_x86_64.h"
#include "debugger/target/attached.h"
#include "debugger/unwind/unwind.h"

#define TEXT	      0xffffffff81000000u
#define FUNCTION_SIZE 256u
#define FUNCTIONS     16u
#define TEXT_SIZE     ((FUNCTIONS + 1) * FUNCTION_SIZE)
#define TABLES	      0xffffffff82000000u
#define STACK	      0xffffc90000010000u
#define STACK_SIZE    (16u << 10)

/* In each function: pushes rbp at 1, takes 32 bytes more at 8, calls at 16, calls at its end. */
#define BODY	8u
#define CALL	16u
#define RETURN	(CALL + 5)
#define LAST	(FUNCTION_SIZE - 5)
#define FRAME	48u /* bytes from a function's rsp to its CFA */
#define EMPTY	5u  /* this function has no rule at all */
#define POINTER 6u  /* this one's CFA is rbp + 16 */
#define ENTRY	7u  /* an exception entry: pt_regs at rsp */
#define PARTIAL 8u  /* the same with the processor's frame only */
#define OUTER	0u  /* the end of the stack */

/* --- memory and symbols ------------------------------------------------------------------ */

struct segment {
	uint64_t start;
	uint8_t *data;
	size_t size;
};

struct machine {
	struct memory memory;
	struct target target;
	struct vmcore_facts facts;
	struct task task;
	uint8_t text[TEXT_SIZE], tables[32 << 10], stack[STACK_SIZE];
	struct segment segments[3];
	size_t tables_used;
};

static inline struct error *machine_read(struct memory *memory, uint64_t address, void *buffer,
					 size_t size)
{
	struct machine *machine = (struct machine *)memory;
	for (size_t i = 0; i < ARRAY_COUNT(machine->segments); i++) {
		const struct segment *segment = &machine->segments[i];
		uint64_t offset = address - segment->start;
		if (offset >= segment->size || size > segment->size - offset)
			continue;
		memcpy(buffer, segment->data + offset, size);
		return NULL;
	}
	return error_create_at(ERROR_FAULT, address, "no memory at 0x%" PRIx64, address);
}

static inline void store(uint8_t *to, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		to[i] = (uint8_t)(value >> 8 * i);
}

/* Space in the tables segment; returns its address. */
static inline uint64_t take(struct machine *machine, size_t size, uint8_t **ret)
{
	size_t at = (machine->tables_used + 7) & ~(size_t)7;
	if (at + size > sizeof(machine->tables))
		abort();
	machine->tables_used = at + size;
	*ret = machine->tables + at;
	return TABLES + at;
}

struct named {
	uint64_t address;
	char name[32];
};

/* The kernel's own tables of names, with one token a character and absolute addresses. */
static inline void load_symbols(struct machine *machine, const struct named *symbols,
				uint32_t count)
{
	struct kallsyms_tables tables = { .stext = TEXT };
	uint8_t *to, *index;
	size_t names_size = 0;
	tables.num_syms = take(machine, 4, &to);
	store(to, count, 4);
	for (uint32_t i = 0; i < count; i++)
		names_size += 2 + strlen(symbols[i].name);
	tables.names = take(machine, names_size, &to);
	for (uint32_t i = 0; i < count; i++) {
		size_t length = strlen(symbols[i].name);
		*to++ = (uint8_t)(length + 1);
		*to++ = 't';
		memcpy(to, symbols[i].name, length);
		to += length;
	}
	tables.token_table = take(machine, 511, &to);
	tables.token_index = take(machine, 512, &index);
	for (unsigned int i = 0, at = 0; i < 256; i++) {
		store(index + 2 * i, at, 2);
		to[at++] = (uint8_t)i;
		if (i)
			to[at++] = 0;
	}
	tables.addresses = take(machine, 8 * count, &to);
	for (uint32_t i = 0; i < count; i++)
		store(to + 8 * i, symbols[i].address, 8);
	CHECK_OK(symtab_create(&machine->target.symbols));
	CHECK_OK(kallsyms_load(machine->target.symbols, &machine->memory, &tables));
}

/* --- text and rules ----------------------------------------------------------------------- */

static inline uint64_t function(unsigned int number)
{
	return TEXT + (number + 1) * FUNCTION_SIZE;
}

static inline void write_call(struct machine *machine, uint64_t at, uint64_t to)
{
	uint8_t *code = machine->text + (at - TEXT);
	code[0] = 0xe8;
	store(code + 1, to - (at + 5), 4);
}

struct rule {
	uint64_t address;
	int16_t sp_offset, bp_offset;
	uint16_t word;
};

#define WORD_SP	     0x0205 /* CALL, CFA from rsp, rbp as it is */
#define WORD_SP_BP   0x0215 /* the same, rbp saved below the CFA */
#define WORD_BP_BP   0x0214 /* CFA from rbp */
#define WORD_REGS    0x0b05
#define WORD_PARTIAL 0x0c05
#define WORD_END     0x0100

static inline size_t write_rules(unsigned int number, struct rule *rules)
{
	uint64_t start = function(number);
	switch (number) {
	case OUTER:
		rules[0] = (struct rule){ start, 0, 0, WORD_END };
		return 1;
	case EMPTY:
		rules[0] = (struct rule){ start, 0, 0, 0 };
		return 1;
	case POINTER:
		rules[0] = (struct rule){ start, 16, -16, WORD_BP_BP };
		return 1;
	case ENTRY:
		rules[0] = (struct rule){ start, 0, 0, WORD_REGS };
		return 1;
	case PARTIAL:
		rules[0] = (struct rule){ start, 0, 0, WORD_PARTIAL };
		return 1;
	}
	rules[0] = (struct rule){ start, 8, 0, WORD_SP };
	rules[1] = (struct rule){ start + 1, 16, -16, WORD_SP_BP };
	rules[2] = (struct rule){ start + BODY, FRAME, -16, WORD_SP_BP };
	return 3;
}

/*
 * `names`: of the functions; NULL: "f" and its number. `data_size`: of data behind the tables,
 * which the symbol init_task is at; 0: none. Returns its address.
 */
static inline uint64_t machine_init_named(struct machine *machine,
					  const char *const names[FUNCTIONS], size_t data_size)
{
	static struct named symbols[FUNCTIONS + 8];
	struct rule rules[3 * FUNCTIONS];
	size_t count = 0;
	uint32_t named = 0;
	memset(machine, 0, sizeof(*machine));
	memset(machine->text, 0x90, sizeof(machine->text));
	machine->memory =
		(struct memory){ .read = machine_read, .name = "made-up", .word_size = 8 };
	machine->segments[0] = (struct segment){ TEXT, machine->text, sizeof(machine->text) };
	machine->segments[1] = (struct segment){ TABLES, machine->tables, sizeof(machine->tables) };
	machine->segments[2] = (struct segment){ STACK, machine->stack, sizeof(machine->stack) };
	symbols[named++] = (struct named){ TEXT, "_stext" };
	for (unsigned int i = 0; i < FUNCTIONS; i++) {
		symbols[named] = (struct named){ function(i), "" };
		snprintf(symbols[named].name, 32, "f%u", i);
		if (names[i])
			snprintf(symbols[named].name, 32, "%s", names[i]);
		named++;
		count += write_rules(i, rules + count);
		write_call(machine, function(i) + CALL, function(i + 1));
		write_call(machine, function(i) + LAST, function(i + 1));
	}
	symbols[named++] = (struct named){ TEXT + TEXT_SIZE, "_etext" };
	uint8_t *ips, *entries, *constant;
	uint64_t ips_at = take(machine, 4 * count, &ips);
	uint64_t entries_at = take(machine, 6 * count, &entries);
	uint64_t constant_at = take(machine, 6, &constant);
	for (size_t i = 0; i < count; i++) {
		store(ips + 4 * i, rules[i].address - (ips_at + 4 * i), 4);
		store(entries + 6 * i, (uint16_t)rules[i].sp_offset, 2);
		store(entries + 6 * i + 2, (uint16_t)rules[i].bp_offset, 2);
		store(entries + 6 * i + 4, rules[i].word, 2);
	}
	memcpy(constant, "\x10\x00\xf0\xff\x14\x02", 6);
	symbols[named++] = (struct named){ ips_at, "__start_orc_unwind_ip" };
	symbols[named++] = (struct named){ ips_at + 4 * count, "__stop_orc_unwind_ip" };
	symbols[named++] = (struct named){ entries_at, "__start_orc_unwind" };
	symbols[named++] = (struct named){ entries_at + 6 * count, "__stop_orc_unwind" };
	symbols[named++] = (struct named){ constant_at, "orc_fp_entry" };
	uint8_t *data;
	uint64_t data_at = data_size ? take(machine, data_size, &data) : 0;
	if (data_at)
		symbols[named++] = (struct named){ data_at, "init_task" };
	load_symbols(machine, symbols, named);
	machine->task = (struct task){ .stack = STACK, .on_cpu = true };
	machine->target.memory = &machine->memory;
	machine->target.arch = &arch_x86_64;
	machine->target.facts = &machine->facts;
	/* There is no dump to ask for more. */
	machine->target.cpus_loaded = machine->target.modules_loaded = true;
	return data_at;
}

/* `stops`: which function is called panic, 0: none. */
static inline void machine_init_with(struct machine *machine, unsigned int stops)
{
	const char *names[FUNCTIONS] = { NULL };
	if (stops)
		names[stops] = "panic";
	machine_init_named(machine, names, 0);
}

static inline void machine_init(struct machine *machine)
{
	machine_init_with(machine, 0);
}

static inline void machine_deinit(struct machine *machine)
{
	target_detach_all(&machine->target);
	symtab_destroy(machine->target.symbols);
}

/* --- stacks --------------------------------------------------------------------------------- */

static inline void push(struct machine *machine, uint64_t at, uint64_t value)
{
	store(machine->stack + (at - STACK), value, 8);
}

static inline struct registers start_at(uint64_t pc, uint64_t sp, uint64_t bp)
{
	struct registers registers = { .known = 0 };
	registers_set(&registers, X86_64_RIP, pc);
	registers_set(&registers, X86_64_RSP, sp);
	registers_set(&registers, X86_64_RBP, bp);
	registers_set(&registers, X86_64_CS, 0x10);
	registers_set(&registers, X86_64_SS, 0x18);
	registers_set(&registers, X86_64_RFLAGS, 0x246);
	return registers;
}

/* A frame of a plain function, called from `pc`, whose caller's rbp was `bp`; the next rsp. */
static inline uint64_t push_frame(struct machine *machine, uint64_t sp, uint64_t pc, uint64_t bp)
{
	push(machine, sp + FRAME - 16, bp);
	push(machine, sp + FRAME - 8, pc);
	return sp + FRAME;
}

static inline void push_pt_regs(struct machine *machine, uint64_t at,
				const struct registers *registers)
{
	static const uint8_t order[] = {
		X86_64_R15,    X86_64_R14, X86_64_R13, X86_64_R12,	X86_64_RBP, X86_64_RBX,
		X86_64_R11,    X86_64_R10, X86_64_R9,  X86_64_R8,	X86_64_RAX, X86_64_RCX,
		X86_64_RDX,    X86_64_RSI, X86_64_RDI, X86_64_ORIG_RAX, X86_64_RIP, X86_64_CS,
		X86_64_RFLAGS, X86_64_RSP, X86_64_SS,
	};
	for (size_t i = 0; i < sizeof(order); i++)
		push(machine, at + 8 * i, registers->values[order[i]]);
}

static inline void check_frame(const struct stack_trace *trace, size_t number, unsigned int in,
			       uint64_t offset, enum frame_kind kind)
{
	char name[16];
	CHECK(number < trace->count);
	if (number >= trace->count)
		return;
	snprintf(name, sizeof(name), "f%u", in);
	CHECK(trace->frames[number].has_symbol);
	CHECK_STRING(trace->frames[number].symbol.name, name);
	CHECK_U64(trace->frames[number].offset, offset);
	CHECK_U64(trace->frames[number].pc, function(in) + offset);
	CHECK_U64(trace->frames[number].kind, kind);
}

static inline void unwind_from(struct machine *machine, const struct registers *registers,
			       struct stack_trace *trace)
{
	CHECK_OK(unwind_registers(&machine->target, registers, &machine->task, trace));
}

#endif
