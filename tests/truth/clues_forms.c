// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Whether every form of instruction in the text of a kernel has a known and right set of registers
 * that it writes (debugger/code/lower_x86_64*.c):
 *
 *	clues_forms DUMP...
 *
 * A form is an instruction and the kinds of its operands. Each is lowered; one that is taken to
 * write everything because nobody knows it is "unknown". Those that a process may execute are: with
 * random registers, four times, in a child; a register that changes and is not in the set is
 * "wrong". x86-64 hosts only. And each instruction that decode_x86_64() decodes, Capstone decodes
 *to the same. Exit status 1 when a form is unknown or wrong, or a decoding differs.
 */
#include "base/array.h"
#include "debugger/code/lower_x86_64.h"
#include "debugger/infer/known/inference.h"
#include "tests/unit/same_decoding.h"
#include <capstone/capstone.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define REGISTERS 16
#define RSP	  4
#define AREA_SIZE (1u << 20)
#define ROUNDS	  4

struct form {
	char key[96];
	char text[224]; /* of the first one */
	uint8_t bytes[16];
	uint8_t size;
	uint64_t count;
	uint64_t written; /* by the lowering */
	bool is_unknown, runs;
	x86_reg base, index;
};

static struct form *forms;
static size_t form_count, form_capacity;
/* Of all instructions: those that decode_x86_64() knows, those it decodes otherwise. */
static uint64_t instructions, common, different;

/* --- forms in the text ---------------------------------------------------------------------- */

static void key_of(const cs_insn *instruction, char *key, size_t size)
{
	const cs_x86 *x86 = &instruction->detail->x86;
	int length = snprintf(key, size, "%s", instruction->mnemonic);
	for (uint8_t i = 0; i < x86->op_count; i++) {
		const cs_x86_op *operand = &x86->operands[i];
		length += snprintf(key + length, size - (size_t)length, " %c%u",
				   operand->type == X86_OP_REG	 ? 'r'
				   : operand->type == X86_OP_MEM ? 'm'
								 : 'i',
				   operand->size);
	}
}

static bool may_run(csh handle, const cs_insn *instruction)
{
	static const unsigned int groups[] = { X86_GRP_JUMP, X86_GRP_CALL, X86_GRP_RET,
					       X86_GRP_INT,  X86_GRP_IRET, X86_GRP_PRIVILEGE };
	const cs_x86 *x86 = &instruction->detail->x86;
	for (size_t i = 0; i < ARRAY_COUNT(groups); i++)
		if (cs_insn_group(handle, instruction, groups[i]))
			return false;
	for (uint8_t i = 0; i < x86->op_count; i++) {
		const cs_x86_op *operand = &x86->operands[i];
		if (operand->type == X86_OP_MEM &&
		    (operand->mem.base == X86_REG_RIP || operand->mem.segment ||
		     operand->mem.base == X86_REG_RSP || operand->mem.disp > AREA_SIZE / 4 ||
		     operand->mem.disp < -(int64_t)(AREA_SIZE / 4)))
			return false;
		if (operand->type == X86_OP_REG &&
		    (operand->reg == X86_REG_RSP || operand->reg == X86_REG_ESP))
			return false;
	}
	return instruction->id != X86_INS_PUSH && instruction->id != X86_INS_POP &&
	       instruction->id != X86_INS_LEAVE && instruction->id != X86_INS_PUSHFQ &&
	       instruction->id != X86_INS_POPFQ && instruction->id != X86_INS_SYSCALL;
}

static void lower_form(struct form *form, enum lower_class class)
{
	static struct decoder *decoder;
	struct ops ops = { .items = NULL };
	struct code code = { form->bytes, form->size, 0xffffffff81000000 };
	if (!decoder)
		decoder = lowering_x86_64.create();
	lowering_x86_64.lower(decoder, &code, &ops);
	for (size_t i = 0; i < ops.count; i++) {
		const struct op *op = &ops.items[i];
		if (op->kind == OP_CLOBBER) {
			form->written |= (uint64_t)op->constant;
			form->is_unknown |= op->constant == 0xffff && class != CLASS_ALL;
		} else if (op->kind != OP_COMPARE && op->to < REGISTERS) {
			form->written |= (uint64_t)1 << op->to;
		}
	}
	free(ops.items);
}

static void add_form(csh handle, const cs_insn *instruction)
{
	char key[96];
	key_of(instruction, key, sizeof(key));
	for (size_t i = 0; i < form_count; i++) {
		if (!strcmp(forms[i].key, key)) {
			forms[i].count++;
			/* One that can be run serves better. */
			if (forms[i].runs || !may_run(handle, instruction))
				return;
			forms[i--] = forms[--form_count];
			break;
		}
	}
	if (!array_reserve(&forms, &form_capacity, form_count + 1))
		abort();
	struct form *form = &forms[form_count++];
	*form = (struct form){ .size = (uint8_t)instruction->size, .count = 1 };
	memcpy(form->key, key, sizeof(key));
	memcpy(form->bytes, instruction->bytes, form->size);
	snprintf(form->text, sizeof(form->text), "%s %s", instruction->mnemonic,
		 instruction->op_str);
	form->runs = may_run(handle, instruction);
	const cs_x86 *x86 = &instruction->detail->x86;
	for (uint8_t i = 0; i < x86->op_count; i++)
		if (x86->operands[i].type == X86_OP_MEM) {
			form->base = x86->operands[i].mem.base;
			form->index = x86->operands[i].mem.index;
		}
	lower_form(form, lower_x86_64_class(instruction->id));
}

static void compare_decodings(struct decodings *decodings, const uint8_t *bytes, size_t size,
			      uint64_t address)
{
	bool own;
	const char *what = differs(decodings, bytes, size, address, &own);
	instructions++;
	common += own;
	if (what && !different++)
		printf("%#" PRIx64 ": %s differs: %s %s\n", address, what,
		       decodings->capstone->mnemonic, decodings->capstone->op_str);
}

static void read_function(csh handle, const uint8_t *bytes, size_t size, uint64_t address)
{
	static struct decodings decodings;
	cs_insn *instruction = cs_malloc(handle);
	if (!decodings.own && !decodings_init(&decodings))
		abort();
	while (size) {
		compare_decodings(&decodings, bytes, size, address);
		if (cs_disasm_iter(handle, &bytes, &size, &address, instruction)) {
			add_form(handle, instruction);
			continue;
		}
		bytes++, size--, address++;
	}
	cs_free(instruction, 1);
}

static struct error *read_dump(csh handle, const char *path)
{
	struct target_options options = { NULL };
	struct target *target;
	struct inference *inference;
	struct error *error = target_open(&path, 1, &options, &target);
	if (error)
		return error;
	error = inference_get(target, &inference);
	if (!error)
		error = inference_add_modules(inference);
	if (!error)
		error = text_load(&inference->text);
	for (uint32_t i = 0; !error && i < symtab_count(target->symbols); i++) {
		struct symbol symbol;
		symtab_get(target->symbols, i, &symbol);
		const uint8_t *bytes =
			symbol.size && strchr("tTwW", symbol.kind)
				? text_bytes(&inference->text, symbol.address, symbol.size)
				: NULL;
		if (bytes)
			read_function(handle, bytes, symbol.size, symbol.address);
	}
	target_close(target);
	return error;
}

/* --- running them ------------------------------------------------------------------------------
 */

/* Shared with the child. */
struct arena {
	uint8_t code[4096];
	uint64_t in[REGISTERS], out[REGISTERS];
	uint64_t stack;
	bool ran;
	uint8_t area[AREA_SIZE];
};

static uint8_t *put_move_to_rsp(uint8_t *at, uint64_t value)
{
	*at++ = 0x48, *at++ = 0xbc;
	memcpy(at, &value, sizeof(value));
	return at + sizeof(value);
}

/* Registers are popped from `in`, pushed to `out`: the stack pointer needs no other. */
static void assemble(struct arena *arena, const struct form *form)
{
	uint8_t *at = put_move_to_rsp(arena->code, (uint64_t)(uintptr_t)arena->in);
	for (int i = 0; i < REGISTERS; i++) {
		if (i == RSP)
			continue;
		if (i >= 8)
			*at++ = 0x41;
		*at++ = (uint8_t)(0x58 + i % 8);
	}
	at = put_move_to_rsp(at, (uint64_t)(uintptr_t)(arena->out + REGISTERS - 1));
	memcpy(at, form->bytes, form->size);
	at += form->size;
	for (int i = REGISTERS; i-- > 0;) {
		if (i == RSP)
			continue;
		if (i >= 8)
			*at++ = 0x41;
		*at++ = (uint8_t)(0x50 + i % 8);
	}
	at = put_move_to_rsp(at, (uint64_t)(uintptr_t)&arena->stack);
	static const uint8_t end[] = { 0x48, 0x8b, 0x24, 0x24, 0xc3 }; /* mov (%rsp), %rsp; ret */
	memcpy(at, end, sizeof(end));
}

static void execute(struct arena *arena)
{
	void (*code)(void) = (void (*)(void))(uintptr_t)arena->code;
	uint64_t *stack = &arena->stack;
	__asm__ volatile("push %%rbp; lea -136(%%rsp), %%rsp; cld\n\t"
			 "lea -8(%%rsp), %%rax; mov %%rax, (%1); call *%0\n\t"
			 "lea 136(%%rsp), %%rsp; pop %%rbp; cld"
			 : "+D"(code), "+S"(stack)
			 :
			 : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13",
			   "r14", "r15", "memory", "cc");
}

/* Their places in `in` and `out`, which lack rsp. */
static size_t slot_of(int reg)
{
	return (size_t)(reg > RSP ? reg - 1 : reg);
}

static bool is_register(x86_reg reg, int number)
{
	static const x86_reg order[] = { X86_REG_RAX, X86_REG_RCX, X86_REG_RDX, X86_REG_RBX,
					 X86_REG_RSP, X86_REG_RBP, X86_REG_RSI, X86_REG_RDI,
					 X86_REG_R8,  X86_REG_R9,  X86_REG_R10, X86_REG_R11,
					 X86_REG_R12, X86_REG_R13, X86_REG_R14, X86_REG_R15 };
	return order[number] == reg;
}

static void set_inputs(struct arena *arena, const struct form *form, int round)
{
	for (int i = 0; i < REGISTERS; i++) {
		if (i == RSP)
			continue;
		uint64_t value = (uint64_t)random() << 33 ^ (uint64_t)random() << 11 ^
				 (uint64_t)random();
		if (round & 1)
			value = (uint64_t)random() % 1000 + 1;
		/* String instructions imply theirs. */
		if (is_register(form->base, i) || (i == 6 || i == 7))
			value = (uint64_t)(uintptr_t)(arena->area + AREA_SIZE / 2 + 64 * i);
		if (is_register(form->index, i))
			value = (uint64_t)random() % 64 + 1;
		if (i == 1 && (form->bytes[0] == 0xf3 || form->bytes[0] == 0xf2))
			value = 3;
		arena->in[slot_of(i)] = value;
	}
}

/* Registers that changed, a mask; false: it cannot be run here. */
static bool run_form(struct arena *arena, const struct form *form, uint64_t *ret)
{
	*ret = 0;
	bool ran = false;
	for (int round = 0; round < ROUNDS; round++) {
		set_inputs(arena, form, round);
		assemble(arena, form);
		arena->ran = false;
		pid_t child = fork();
		if (!child) {
			alarm(2);
			execute(arena);
			arena->ran = true;
			_exit(0);
		}
		waitpid(child, NULL, 0);
		if (!arena->ran)
			continue;
		ran = true;
		for (int i = 0; i < REGISTERS; i++)
			if (i != RSP && arena->in[slot_of(i)] != arena->out[slot_of(i)])
				*ret |= (uint64_t)1 << i;
	}
	return ran;
}

static int compare_counts(const void *a, const void *b)
{
	const struct form *left = a, *right = b;
	return left->count > right->count ? -1 : left->count < right->count;
}

int main(int argc, char **argv)
{
	size_t unknown = 0, wrong = 0, ran = 0;
	csh handle;
	cs_open(CS_ARCH_X86, CS_MODE_64, &handle);
	cs_option(handle, CS_OPT_DETAIL, CS_OPT_ON);
	for (int i = 1; i < argc; i++) {
		struct error *error = read_dump(handle, argv[i]);
		if (error)
			fprintf(stderr, "clues_forms: %s\n", error->message);
		error_free(error);
	}
	struct arena *arena = mmap(NULL, sizeof(*arena), PROT_READ | PROT_WRITE | PROT_EXEC,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (arena == MAP_FAILED)
		return 2;
	array_sort(forms, form_count, sizeof(*forms), compare_counts);
	for (size_t i = 0; i < form_count; i++) {
		struct form *form = &forms[i];
		uint64_t changed = 0;
		if (form->is_unknown)
			unknown++, printf("unknown\t%" PRIu64 "\t%s\t%s\n", form->count, form->key,
					  form->text);
		if (!form->runs || !run_form(arena, form, &changed))
			continue;
		ran++;
		if (changed & ~form->written)
			wrong++, printf("wrong\t%" PRIu64 "\t%s\t%s: writes %#" PRIx64
					", said %#" PRIx64 "\n",
					form->count, form->key, form->text, changed, form->written);
	}
	printf("%zu forms: %zu unknown, %zu run, %zu wrong\n", form_count, unknown, ran, wrong);
	printf("%" PRIu64 " instructions: %" PRIu64 " of common forms, %" PRIu64
	       " of them decoded otherwise than by Capstone\n",
	       instructions, common, different);
	free(forms);
	cs_close(&handle);
	return unknown || wrong || different;
}
