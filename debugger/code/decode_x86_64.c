// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/code/decode_x86_64.h"

#include "base/bytes.h"

enum form {
	FORM_OTHER,	/* Capstone's */
	FORM_NONE,	/* no operands */
	FORM_IGNORED,	/* r/m, of a nop */
	FORM_RM,	/* r/m */
	FORM_RM_R,	/* r/m, register */
	FORM_R_RM,	/* register, r/m */
	FORM_R_PLACE,	/* register, r/m that is in memory */
	FORM_R_RM8,	/* register, r/m of 8 bits */
	FORM_R_RM16,	/* register, r/m of 16 bits */
	FORM_R_RM32,	/* register, r/m of 32 bits */
	FORM_RM_IMM,	/* r/m, immediate */
	FORM_RM_IMM8,	/* r/m, immediate of 8 bits */
	FORM_RM_COUNT,	/* r/m, immediate of 8 bits without a sign */
	FORM_RM_ONE,	/* r/m, 1 */
	FORM_RM_CL,	/* r/m, %cl */
	FORM_R_RM_IMM,	/* register, r/m, immediate */
	FORM_R_RM_IMM8, /* register, r/m, immediate of 8 bits */
	FORM_A_IMM,	/* %al, %ax, %eax or %rax, immediate */
	FORM_O,		/* register of the opcode */
	FORM_O_IMM,	/* register of the opcode, immediate as long as it */
	FORM_IMM,	/* immediate */
	FORM_IMM8,	/* immediate of 8 bits */
	FORM_JUMP,	/* distance of 32 bits */
	FORM_JUMP8	/* distance of 8 bits */
};

#define BYTE   1 /* operands of 8 bits */
#define STACK  2 /* operands of 64 bits without a prefix */
#define GROUP  4 /* which instruction it is, the second byte tells: `id` is a number in groups[] */
#define LOCKED 8 /* may have a lock prefix */

struct opcode {
	uint8_t form, flags;
	uint16_t id;
};

enum group {
	GROUP_ARITHMETIC,
	GROUP_SHIFT,
	GROUP_MOVE,
	GROUP_UNARY,
	GROUP_STEP,
	GROUP_STEP_OR_GO,
	GROUP_BITS
};

/* Instructions that the second byte chooses; 0: Capstone decodes them. */
static const uint16_t groups[][8] = {
	[GROUP_ARITHMETIC] = { X86_INS_ADD, X86_INS_OR, X86_INS_ADC, X86_INS_SBB, X86_INS_AND,
			       X86_INS_SUB, X86_INS_XOR, X86_INS_CMP },
	[GROUP_SHIFT] = { X86_INS_ROL, X86_INS_ROR, 0, 0, X86_INS_SHL, X86_INS_SHR, 0,
			  X86_INS_SAR },
	[GROUP_MOVE] = { X86_INS_MOV },
	[GROUP_UNARY] = { 0, 0, X86_INS_NOT, X86_INS_NEG },
	[GROUP_STEP] = { X86_INS_INC, X86_INS_DEC },
	[GROUP_STEP_OR_GO] = { X86_INS_INC, X86_INS_DEC, X86_INS_CALL, 0, X86_INS_JMP, 0,
			       X86_INS_PUSH },
	[GROUP_BITS] = { 0, 0, 0, 0, X86_INS_BT, X86_INS_BTS, X86_INS_BTR, X86_INS_BTC },
};

#define ARITHMETIC(first, name)                                                                    \
	[(first)] = { FORM_RM_R, BYTE | LOCKED, X86_INS_##name },                                  \
	[(first) + 1] = { FORM_RM_R, LOCKED, X86_INS_##name },                                     \
	[(first) + 2] = { FORM_R_RM, BYTE, X86_INS_##name },                                       \
	[(first) + 3] = { FORM_R_RM, 0, X86_INS_##name },                                          \
	[(first) + 4] = { FORM_A_IMM, BYTE, X86_INS_##name },                                      \
	[(first) + 5] = { FORM_A_IMM, 0, X86_INS_##name }

#define CONDITIONS(first, form, flags, name)                                                       \
	[(first)] = { form, flags, X86_INS_##name##O },                                            \
	[(first) + 1] = { form, flags, X86_INS_##name##NO },                                       \
	[(first) + 2] = { form, flags, X86_INS_##name##B },                                        \
	[(first) + 3] = { form, flags, X86_INS_##name##AE },                                       \
	[(first) + 4] = { form, flags, X86_INS_##name##E },                                        \
	[(first) + 5] = { form, flags, X86_INS_##name##NE },                                       \
	[(first) + 6] = { form, flags, X86_INS_##name##BE },                                       \
	[(first) + 7] = { form, flags, X86_INS_##name##A },                                        \
	[(first) + 8] = { form, flags, X86_INS_##name##S },                                        \
	[(first) + 9] = { form, flags, X86_INS_##name##NS },                                       \
	[(first) + 10] = { form, flags, X86_INS_##name##P },                                       \
	[(first) + 11] = { form, flags, X86_INS_##name##NP },                                      \
	[(first) + 12] = { form, flags, X86_INS_##name##L },                                       \
	[(first) + 13] = { form, flags, X86_INS_##name##GE },                                      \
	[(first) + 14] = { form, flags, X86_INS_##name##LE },                                      \
	[(first) + 15] = { form, flags, X86_INS_##name##G }

static const struct opcode one_byte[256] = {
	ARITHMETIC(0x00, ADD),
	ARITHMETIC(0x08, OR),
	ARITHMETIC(0x10, ADC),
	ARITHMETIC(0x18, SBB),
	ARITHMETIC(0x20, AND),
	ARITHMETIC(0x28, SUB),
	ARITHMETIC(0x30, XOR),
	ARITHMETIC(0x38, CMP),
	[0x50 ... 0x57] = { FORM_O, STACK, X86_INS_PUSH },
	[0x58 ... 0x5f] = { FORM_O, STACK, X86_INS_POP },
	[0x63] = { FORM_R_RM32, 0, X86_INS_MOVSXD },
	[0x68] = { FORM_IMM, STACK, X86_INS_PUSH },
	[0x69] = { FORM_R_RM_IMM, 0, X86_INS_IMUL },
	[0x6a] = { FORM_IMM8, STACK, X86_INS_PUSH },
	[0x6b] = { FORM_R_RM_IMM8, 0, X86_INS_IMUL },
	CONDITIONS(0x70, FORM_JUMP8, STACK, J),
	[0x80] = { FORM_RM_IMM, BYTE | GROUP | LOCKED, GROUP_ARITHMETIC },
	[0x81] = { FORM_RM_IMM, GROUP | LOCKED, GROUP_ARITHMETIC },
	[0x83] = { FORM_RM_IMM8, GROUP | LOCKED, GROUP_ARITHMETIC },
	[0x84] = { FORM_RM_R, BYTE, X86_INS_TEST },
	[0x85] = { FORM_RM_R, 0, X86_INS_TEST },
	[0x86] = { FORM_RM_R, BYTE, X86_INS_XCHG },
	[0x87] = { FORM_RM_R, 0, X86_INS_XCHG },
	[0x88] = { FORM_RM_R, BYTE, X86_INS_MOV },
	[0x89] = { FORM_RM_R, 0, X86_INS_MOV },
	[0x8a] = { FORM_R_RM, BYTE, X86_INS_MOV },
	[0x8b] = { FORM_R_RM, 0, X86_INS_MOV },
	[0x8d] = { FORM_R_PLACE, 0, X86_INS_LEA },
	[0x90] = { FORM_NONE, 0, X86_INS_NOP },
	[0xa8] = { FORM_A_IMM, BYTE, X86_INS_TEST },
	[0xa9] = { FORM_A_IMM, 0, X86_INS_TEST },
	[0xb0 ... 0xb7] = { FORM_O_IMM, BYTE, X86_INS_MOV },
	[0xb8 ... 0xbf] = { FORM_O_IMM, 0, X86_INS_MOV },
	[0xc0] = { FORM_RM_COUNT, BYTE | GROUP, GROUP_SHIFT },
	[0xc1] = { FORM_RM_COUNT, GROUP, GROUP_SHIFT },
	[0xc3] = { FORM_NONE, 0, X86_INS_RET },
	[0xc6] = { FORM_RM_IMM, BYTE | GROUP, GROUP_MOVE },
	[0xc7] = { FORM_RM_IMM, GROUP, GROUP_MOVE },
	[0xc9] = { FORM_NONE, 0, X86_INS_LEAVE },
	[0xcc] = { FORM_NONE, 0, X86_INS_INT3 },
	[0xd0] = { FORM_RM_ONE, BYTE | GROUP, GROUP_SHIFT },
	[0xd1] = { FORM_RM_ONE, GROUP, GROUP_SHIFT },
	[0xd2] = { FORM_RM_CL, BYTE | GROUP, GROUP_SHIFT },
	[0xd3] = { FORM_RM_CL, GROUP, GROUP_SHIFT },
	[0xe8] = { FORM_JUMP, STACK, X86_INS_CALL },
	[0xe9] = { FORM_JUMP, STACK, X86_INS_JMP },
	[0xeb] = { FORM_JUMP8, STACK, X86_INS_JMP },
	[0xf6] = { FORM_RM, BYTE | GROUP | LOCKED, GROUP_UNARY },
	[0xf7] = { FORM_RM, GROUP | LOCKED, GROUP_UNARY },
	[0xfe] = { FORM_RM, BYTE | GROUP | LOCKED, GROUP_STEP },
	[0xff] = { FORM_RM, GROUP | LOCKED, GROUP_STEP_OR_GO },
};

/* Opcodes of two bytes, by the byte after 0x0f. */
static const struct opcode two_bytes[256] = {
	[0x0b] = { FORM_NONE, 0, X86_INS_UD2 },
	[0x1f] = { FORM_IGNORED, 0, X86_INS_NOP },
	CONDITIONS(0x40, FORM_R_RM, 0, CMOV),
	CONDITIONS(0x80, FORM_JUMP, STACK, J),
	CONDITIONS(0x90, FORM_RM, BYTE, SET),
	[0xa3] = { FORM_RM_R, 0, X86_INS_BT },
	[0xab] = { FORM_RM_R, LOCKED, X86_INS_BTS },
	[0xaf] = { FORM_R_RM, 0, X86_INS_IMUL },
	[0xb0] = { FORM_RM_R, BYTE | LOCKED, X86_INS_CMPXCHG },
	[0xb1] = { FORM_RM_R, LOCKED, X86_INS_CMPXCHG },
	[0xb3] = { FORM_RM_R, LOCKED, X86_INS_BTR },
	[0xb6] = { FORM_R_RM8, 0, X86_INS_MOVZX },
	[0xb7] = { FORM_R_RM16, 0, X86_INS_MOVZX },
	[0xba] = { FORM_RM_COUNT, GROUP | LOCKED, GROUP_BITS },
	[0xbb] = { FORM_RM_R, LOCKED, X86_INS_BTC },
	[0xbe] = { FORM_R_RM8, 0, X86_INS_MOVSX },
	[0xbf] = { FORM_R_RM16, 0, X86_INS_MOVSX },
};

/* --- registers ------------------------------------------------------------------------------- */

static const uint8_t bytes_of_old[8] = { X86_REG_AL, X86_REG_CL, X86_REG_DL, X86_REG_BL,
					 X86_REG_AH, X86_REG_CH, X86_REG_DH, X86_REG_BH };

/* Capstone's names of the registers, for operands of 1, 2, 4 and 8 bytes. */
static const uint8_t registers[4][16] = {
	{ X86_REG_AL, X86_REG_CL, X86_REG_DL, X86_REG_BL, X86_REG_SPL, X86_REG_BPL, X86_REG_SIL,
	  X86_REG_DIL, X86_REG_R8B, X86_REG_R9B, X86_REG_R10B, X86_REG_R11B, X86_REG_R12B,
	  X86_REG_R13B, X86_REG_R14B, X86_REG_R15B },
	{ X86_REG_AX, X86_REG_CX, X86_REG_DX, X86_REG_BX, X86_REG_SP, X86_REG_BP, X86_REG_SI,
	  X86_REG_DI, X86_REG_R8W, X86_REG_R9W, X86_REG_R10W, X86_REG_R11W, X86_REG_R12W,
	  X86_REG_R13W, X86_REG_R14W, X86_REG_R15W },
	{ X86_REG_EAX, X86_REG_ECX, X86_REG_EDX, X86_REG_EBX, X86_REG_ESP, X86_REG_EBP, X86_REG_ESI,
	  X86_REG_EDI, X86_REG_R8D, X86_REG_R9D, X86_REG_R10D, X86_REG_R11D, X86_REG_R12D,
	  X86_REG_R13D, X86_REG_R14D, X86_REG_R15D },
	{ X86_REG_RAX, X86_REG_RCX, X86_REG_RDX, X86_REG_RBX, X86_REG_RSP, X86_REG_RBP, X86_REG_RSI,
	  X86_REG_RDI, X86_REG_R8, X86_REG_R9, X86_REG_R10, X86_REG_R11, X86_REG_R12, X86_REG_R13,
	  X86_REG_R14, X86_REG_R15 },
};

/* --- the parts of an instruction ------------------------------------------------------------- */

#define REX_W 8
#define REX_R 4
#define REX_X 2
#define REX_B 1

struct parts {
	const uint8_t *at, *end;
	cs_x86 *x86;
	bool failed;			     /* it goes on behind the end */
	uint8_t rex;			     /* 0: none */
	bool is_short, is_locked, is_padded; /* prefixes 0x66, 0xf0, 0x2e */
	bool is_gs;
	uint8_t opcode, modrm;
};

/* The next `size` bytes as a number with a sign. */
static int64_t take(struct parts *parts, size_t size)
{
	if ((size_t)(parts->end - parts->at) < size) {
		parts->failed = true;
		return 0;
	}
	uint64_t value = load_unsigned(parts->at, (unsigned int)size, false);
	unsigned int above = 64 - 8 * (unsigned int)size;
	parts->at += size;
	return (int64_t)(value << above) >> above;
}

static cs_x86_op *add_operand(struct parts *parts, x86_op_type type, uint8_t size)
{
	cs_x86_op *operand = &parts->x86->operands[parts->x86->op_count++];
	*operand = (cs_x86_op){ .type = type, .size = size, .access = CS_AC_READ };
	return operand;
}

static void add_register(struct parts *parts, uint8_t number, uint8_t size)
{
	cs_x86_op *operand = add_operand(parts, X86_OP_REG, size);
	if (size == 1 && !parts->rex && number < 8)
		operand->reg = (x86_reg)bytes_of_old[number];
	else
		operand->reg = (x86_reg)registers[size == 1   ? 0
						  : size == 2 ? 1
						  : size == 4 ? 2
							      : 3][number];
}

/* As Capstone shows it: extended with its sign for 8 bytes, cut off for fewer. */
static void add_immediate(struct parts *parts, int64_t value, uint8_t size)
{
	if (size < 8)
		value &= ((int64_t)1 << 8 * size) - 1;
	add_operand(parts, X86_OP_IMM, size)->imm = value;
}

/* The register that the second byte names. */
static void add_modrm_register(struct parts *parts, uint8_t size)
{
	add_register(parts, (parts->modrm >> 3 & 7) | (parts->rex & REX_R ? 8 : 0), size);
}

static void take_index(struct parts *parts, x86_op_mem *place, uint8_t mode)
{
	uint8_t byte = (uint8_t)take(parts, 1);
	uint8_t base = byte & 7, index = (byte >> 3 & 7) | (parts->rex & REX_X ? 8 : 0);
	if (index != 4) {
		place->index = (x86_reg)registers[3][index];
		place->scale = 1 << (byte >> 6);
	}
	if (base == 5 && !mode)
		place->disp = take(parts, 4);
	else
		place->base = (x86_reg)registers[3][base | (parts->rex & REX_B ? 8 : 0)];
}

/* The register or place that the second byte names. */
static void add_modrm_place(struct parts *parts, uint8_t size)
{
	uint8_t mode = parts->modrm >> 6, base = parts->modrm & 7;
	if (mode == 3) {
		add_register(parts, base | (parts->rex & REX_B ? 8 : 0), size);
		return;
	}
	x86_op_mem *place = &add_operand(parts, X86_OP_MEM, size)->mem;
	if (parts->is_gs)
		place->segment = X86_REG_GS;
	place->scale = 1;
	if (base == 4) {
		take_index(parts, place, mode);
	} else if (base == 5 && !mode) {
		place->base = X86_REG_RIP;
		place->disp = take(parts, 4);
	} else {
		place->base = (x86_reg)registers[3][base | (parts->rex & REX_B ? 8 : 0)];
	}
	if (mode)
		place->disp = take(parts, mode == 1 ? 1 : 4);
}

/* Of each the last counts; more than a few are padding, and Capstone's. */
static void take_prefixes(struct parts *parts)
{
	for (int i = 0; i < 8 && parts->at < parts->end; i++, parts->at++) {
		switch (*parts->at) {
		case 0x2e:
			parts->is_padded = true;
			break;
		case 0x65:
			parts->is_gs = true;
			break;
		case 0x66:
			parts->is_short = true;
			break;
		case 0xf0:
			parts->is_locked = true;
			break;
		default:
			if (*parts->at >> 4 == 4)
				parts->rex = *parts->at++;
			return;
		}
	}
}

/* --- operands -------------------------------------------------------------------------------- */

static bool has_modrm(enum form form)
{
	return form >= FORM_IGNORED && form <= FORM_R_RM_IMM8;
}

static void add_register_operands(struct parts *parts, enum form form, uint8_t size)
{
	uint8_t other = form == FORM_R_RM8    ? 1
			: form == FORM_R_RM16 ? 2
			: form == FORM_R_RM32 ? 4
					      : size;
	add_modrm_register(parts, size);
	add_modrm_place(parts, other);
	if (form == FORM_R_RM_IMM)
		add_immediate(parts, take(parts, size < 4 ? size : 4), size);
	else if (form == FORM_R_RM_IMM8)
		add_immediate(parts, take(parts, 1), 8);
}

static void add_place_operands(struct parts *parts, enum form form, uint8_t size)
{
	add_modrm_place(parts, size);
	if (form == FORM_RM_R)
		add_modrm_register(parts, size);
	else if (form == FORM_RM_IMM)
		add_immediate(parts, take(parts, size < 4 ? size : 4), size);
	else if (form == FORM_RM_IMM8)
		/* The bits of or, and, xor are not written as a negative number. */
		add_immediate(parts, take(parts, 1),
			      1 << (parts->modrm >> 3 & 7) & 0x52 ? size : 8);
	else if (form == FORM_RM_COUNT)
		add_immediate(parts, take(parts, 1), 1);
	else if (form == FORM_RM_ONE)
		add_immediate(parts, 1, 1);
	else if (form == FORM_RM_CL)
		add_register(parts, 1, 1);
}

static void add_other_operands(struct parts *parts, enum form form, uint8_t size)
{
	uint8_t number = (parts->opcode & 7) | (parts->rex & REX_B ? 8 : 0);
	switch (form) {
	case FORM_A_IMM:
		add_register(parts, 0, size);
		add_immediate(parts, take(parts, size < 4 ? size : 4), size);
		break;
	case FORM_O:
		add_register(parts, number, size);
		break;
	case FORM_O_IMM:
		add_register(parts, number, size);
		add_immediate(parts, take(parts, size), size);
		break;
	case FORM_IMM:
	case FORM_IMM8:
		add_immediate(parts, take(parts, form == FORM_IMM ? 4 : 1), size);
		break;
	default:
		break;
	}
}

static void add_operands(struct parts *parts, const struct opcode *opcode, uint64_t address,
			 const uint8_t *start)
{
	enum form form = (enum form)opcode->form;
	bool is_stack = opcode->flags & STACK;
	uint8_t size = opcode->flags & BYTE		? 1
		       : is_stack || parts->rex & REX_W ? 8
		       : parts->is_short		? 2
							: 4;
	if (form == FORM_JUMP || form == FORM_JUMP8) {
		int64_t distance = take(parts, form == FORM_JUMP ? 4 : 1);
		add_immediate(parts, (int64_t)(address + (uint64_t)(parts->at - start)) + distance,
			      8);
	} else if (form >= FORM_R_RM && form <= FORM_R_RM32) {
		add_register_operands(parts, form, size);
	} else if (form == FORM_R_RM_IMM || form == FORM_R_RM_IMM8) {
		add_register_operands(parts, form, size);
	} else if (has_modrm(form)) {
		add_place_operands(parts, form, size);
	} else {
		add_other_operands(parts, form, size);
	}
}

/* --- the whole ------------------------------------------------------------------------------- */

/* The prefixes are those that the form can have, and so is the place. */
static bool is_plain(const struct parts *parts, const struct opcode *opcode)
{
	bool in_memory = parts->modrm >> 6 != 3;
	bool is_padding = opcode->form == FORM_IGNORED;
	bool only_reads = opcode->id == X86_INS_CMP || opcode->id == X86_INS_BT;
	if (parts->is_locked && (!(opcode->flags & LOCKED) || !in_memory || only_reads))
		return false;
	if (parts->is_short && (opcode->flags & STACK || opcode->form == FORM_NONE))
		return false;
	if (parts->is_padded && !is_padding)
		return false;
	switch (opcode->form) {
	case FORM_R_PLACE: /* lea */
		return in_memory && !parts->is_short && !parts->is_gs;
	case FORM_IGNORED:
		return in_memory;
	case FORM_R_RM32:
		return parts->rex & REX_W;
	case FORM_NONE: /* xchg %r8, %rax is a nop with a prefix */
		return !(parts->rex & REX_B);
	}
	return true;
}

/* What the second byte chooses. */
static void choose(const struct parts *parts, struct opcode *opcode)
{
	uint8_t choice = parts->modrm >> 3 & 7, group = (uint8_t)opcode->id;
	opcode->id = groups[group][choice];
	/* test lies among those with one operand, jumps among increments. */
	if (group == GROUP_UNARY && !choice)
		*opcode = (struct opcode){ FORM_RM_IMM, opcode->flags & BYTE, X86_INS_TEST };
	else if (group == GROUP_STEP_OR_GO && choice > 1)
		opcode->flags = STACK;
}

/* FORM_OTHER: not one that is known here. */
static struct opcode take_opcode(struct parts *parts)
{
	parts->opcode = (uint8_t)take(parts, 1);
	struct opcode opcode = one_byte[parts->opcode];
	if (parts->opcode == 0x0f) {
		parts->opcode = (uint8_t)take(parts, 1);
		opcode = two_bytes[parts->opcode];
	}
	if (has_modrm((enum form)opcode.form))
		parts->modrm = (uint8_t)take(parts, 1);
	if (opcode.flags & GROUP)
		choose(parts, &opcode);
	if (!opcode.id || !is_plain(parts, &opcode))
		opcode.form = FORM_OTHER;
	return opcode;
}

/* endbr64, at the head of functions that are called through pointers. */
static bool is_endbr(const uint8_t *bytes, size_t size)
{
	return size >= 4 && load_u32(bytes, false) == 0xfa1e0ff3;
}

bool decode_x86_64(const uint8_t *bytes, size_t size, uint64_t address, cs_insn *ret)
{
	struct parts parts = { .at = bytes, .end = bytes + size, .x86 = &ret->detail->x86 };
	struct opcode opcode = { FORM_NONE, 0, X86_INS_ENDBR64 };
	parts.x86->op_count = 0;
	parts.x86->addr_size = 8;
	if (is_endbr(bytes, size)) {
		parts.at += 4;
	} else {
		take_prefixes(&parts);
		opcode = take_opcode(&parts);
	}
	if (opcode.form == FORM_OTHER)
		return false;
	add_operands(&parts, &opcode, address, bytes);
	if (parts.failed || parts.at - bytes > 15)
		return false;
	parts.x86->prefix[0] = parts.is_locked ? X86_PREFIX_LOCK : 0;
	parts.x86->prefix[1] = parts.is_gs ? X86_PREFIX_GS : 0;
	ret->id = opcode.id;
	if (opcode.form == FORM_O_IMM && !(opcode.flags & BYTE) && parts.rex & REX_W)
		ret->id = X86_INS_MOVABS;
	ret->address = address;
	ret->size = (uint16_t)(parts.at - bytes);
	return true;
}
