// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * x86-64: struct pt_regs (kernel arch/x86/include/asm/ptrace.h), struct elf_prstatus,
 * and the CPUState of QEMU's "QEMU" note (target/i386/arch_dump.c).
 */
#include "debugger/target/arch_x86_64.h"

#include "base/array.h"
#include "base/bytes.h"
#include "debugger/target/arch.h"
#include "debugger/target/paging_x86_64.h"

#define PT_REGS_SIZE	   168
#define PRSTATUS_PID	   32
#define PRSTATUS_REGISTERS 112
#define PRSTATUS_SIZE	   (PRSTATUS_REGISTERS + 27 * 8)
#define PRSTATUS_WHOLE	   (PRSTATUS_SIZE + 8) /* pr_fpvalid, and padding */
#define QEMU_VERSION	   1
#define QEMU_REGISTERS	   8
#define QEMU_SEGMENTS	   152
#define QEMU_SEGMENT_SIZE  24
#define QEMU_CONTROL	   (QEMU_SEGMENTS + 10 * QEMU_SEGMENT_SIZE)
#define QEMU_SIZE	   (QEMU_CONTROL + 5 * 8)

static const char *const names[X86_64_REGISTER_COUNT] = {
	[X86_64_RIP] = "rip",
	[X86_64_RSP] = "rsp",
	[X86_64_RFLAGS] = "rflags",
	[X86_64_RAX] = "rax",
	[X86_64_RBX] = "rbx",
	[X86_64_RCX] = "rcx",
	[X86_64_RDX] = "rdx",
	[X86_64_RSI] = "rsi",
	[X86_64_RDI] = "rdi",
	[X86_64_RBP] = "rbp",
	[X86_64_R8] = "r8",
	[X86_64_R9] = "r9",
	[X86_64_R10] = "r10",
	[X86_64_R11] = "r11",
	[X86_64_R12] = "r12",
	[X86_64_R13] = "r13",
	[X86_64_R14] = "r14",
	[X86_64_R15] = "r15",
	[X86_64_ORIG_RAX] = "orig_rax",
	[X86_64_CS] = "cs",
	[X86_64_SS] = "ss",
	[X86_64_DS] = "ds",
	[X86_64_ES] = "es",
	[X86_64_FS] = "fs",
	[X86_64_GS] = "gs",
	[X86_64_FS_BASE] = "fs_base",
	[X86_64_GS_BASE] = "gs_base",
	[X86_64_CR0] = "cr0",
	[X86_64_CR2] = "cr2",
	[X86_64_CR3] = "cr3",
	[X86_64_CR4] = "cr4",
};

/* struct pt_regs, and the first part of a PRSTATUS' user_regs_struct. */
static const uint8_t pt_regs_order[] = {
	X86_64_R15, X86_64_R14,	     X86_64_R13, X86_64_R12, X86_64_RBP,    X86_64_RBX, X86_64_R11,
	X86_64_R10, X86_64_R9,	     X86_64_R8,	 X86_64_RAX, X86_64_RCX,    X86_64_RDX, X86_64_RSI,
	X86_64_RDI, X86_64_ORIG_RAX, X86_64_RIP, X86_64_CS,  X86_64_RFLAGS, X86_64_RSP, X86_64_SS,
};
/* The rest of user_regs_struct. */
static const uint8_t user_order[] = {
	X86_64_FS_BASE, X86_64_GS_BASE, X86_64_DS, X86_64_ES, X86_64_FS, X86_64_GS,
};
static const uint8_t qemu_order[] = {
	X86_64_RAX, X86_64_RBX, X86_64_RCX, X86_64_RDX, X86_64_RSI, X86_64_RDI,
	X86_64_RSP, X86_64_RBP, X86_64_R8,  X86_64_R9,	X86_64_R10, X86_64_R11,
	X86_64_R12, X86_64_R13, X86_64_R14, X86_64_R15, X86_64_RIP, X86_64_RFLAGS,
};
static const uint8_t qemu_segments[] = {
	X86_64_CS, X86_64_DS, X86_64_ES, X86_64_FS, X86_64_GS, X86_64_SS,
};

static void take_words(const uint8_t *data, const uint8_t *order, size_t count,
		       struct registers *registers)
{
	for (size_t i = 0; i < count; i++)
		registers_set(registers, order[i], load_u64(data + 8 * i, false));
}

/* With FRED the words of cs and ss carry more than the selector (since Linux 6.9). */
static void mask_selectors(struct registers *registers)
{
	registers->values[X86_64_CS] &= 0xffff;
	registers->values[X86_64_SS] &= 0xffff;
}

static void from_pt_regs(const uint8_t *data, struct registers *ret)
{
	*ret = (struct registers){ .known = 0 };
	take_words(data, pt_regs_order, ARRAY_COUNT(pt_regs_order), ret);
	mask_selectors(ret);
}

static bool from_prstatus(const uint8_t *data, size_t size, struct registers *ret, int32_t *pid)
{
	if (size < PRSTATUS_SIZE)
		return false;
	const uint8_t *words = data + PRSTATUS_REGISTERS;
	from_pt_regs(words, ret);
	take_words(words + PT_REGS_SIZE, user_order, ARRAY_COUNT(user_order), ret);
	*pid = (int32_t)load_u32(data + PRSTATUS_PID, false);
	return true;
}

static void put_words(const struct registers *registers, const uint8_t *order, size_t count,
		      uint8_t *data)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t value = registers_has(registers, order[i]) ? registers->values[order[i]]
								    : 0;
		for (unsigned int byte = 0; byte < 8; byte++)
			data[8 * i + byte] = (uint8_t)(value >> 8 * byte);
	}
}

static void to_prstatus(const struct registers *registers, uint8_t *data)
{
	uint8_t *words = data + PRSTATUS_REGISTERS;
	put_words(registers, pt_regs_order, ARRAY_COUNT(pt_regs_order), words);
	put_words(registers, user_order, ARRAY_COUNT(user_order), words + PT_REGS_SIZE);
}

static bool from_qemu(const uint8_t *data, size_t size, struct registers *ret)
{
	if (size < QEMU_SIZE || load_u32(data, false) != QEMU_VERSION)
		return false;
	*ret = (struct registers){ .known = 0 };
	take_words(data + QEMU_REGISTERS, qemu_order, ARRAY_COUNT(qemu_order), ret);
	for (size_t i = 0; i < ARRAY_COUNT(qemu_segments); i++) {
		const uint8_t *segment = data + QEMU_SEGMENTS + i * QEMU_SEGMENT_SIZE;
		registers_set(ret, qemu_segments[i], load_u32(segment, false) & 0xffff);
		if (qemu_segments[i] == X86_64_FS)
			registers_set(ret, X86_64_FS_BASE, load_u64(segment + 16, false));
		if (qemu_segments[i] == X86_64_GS)
			registers_set(ret, X86_64_GS_BASE, load_u64(segment + 16, false));
	}
	static const uint8_t control[] = { X86_64_CR0, 0, X86_64_CR2, X86_64_CR3, X86_64_CR4 };
	for (size_t i = 0; i < ARRAY_COUNT(control); i++)
		if (control[i])
			registers_set(ret, control[i],
				      load_u64(data + QEMU_CONTROL + 8 * i, false));
	return true;
}

static bool is_user_mode(const struct registers *registers)
{
	if (registers_has(registers, X86_64_CS))
		return (registers->values[X86_64_CS] & 3) == 3;
	return registers_has(registers, X86_64_RIP) && registers->values[X86_64_RIP] &&
	       registers->values[X86_64_RIP] >> 56 == 0; /* with page tables of five levels */
}

#define SELECTOR_KERNEL_CODE 0x10
#define SELECTOR_KERNEL_DATA 0x18
/* A paravirtual guest of Xen has these (include/xen/interface/xen-x86_64.h). */
#define SELECTOR_XEN_CODE 0xe030
#define SELECTOR_XEN_DATA 0xe02b
#define RING_MASK	  3u
#define FLAGS_ALWAYS_SET  0x2u
/* Bits 3, 5 and 15, and all above ID: always zero. */
#define FLAGS_ALWAYS_CLEAR 0xffffffffffc08028u
/* One page at the top of memory that user mode can run: an old interface. */
#define VSYSCALL_PAGE 0xffffffffff600000u

static bool is_possible(const struct registers *registers)
{
	uint64_t code = registers->values[X86_64_CS], data = registers->values[X86_64_SS];
	uint64_t flags = registers->values[X86_64_RFLAGS], pc = registers->values[X86_64_RIP];
	if (!(flags & FLAGS_ALWAYS_SET) || flags & FLAGS_ALWAYS_CLEAR)
		return false;
	if ((code & RING_MASK) == RING_MASK)
		return (data & RING_MASK) == RING_MASK && code > RING_MASK &&
		       (pc >> 63 == 0 || pc >> 12 == VSYSCALL_PAGE >> 12);
	/* An interrupt that comes from user mode leaves a null ss, which the next one saves. */
	return (code == SELECTOR_KERNEL_CODE && (data == SELECTOR_KERNEL_DATA || !data)) ||
	       (code == SELECTOR_XEN_CODE && data == SELECTOR_XEN_DATA);
}

const struct arch arch_x86_64 = {
	.name = "x86_64",
	.word_size = 8,
	.register_names = names,
	.register_count = X86_64_REGISTER_COUNT,
	.pc = X86_64_RIP,
	.sp = X86_64_RSP,
	.fp = X86_64_RBP,
	.translator_create = paging_x86_64_create,
	.page_walk = paging_x86_64_walk,
	.page_flags = paging_x86_64_flags,
	.page_flag_count = PAGING_X86_64_FLAGS,
	.registers_from_prstatus = from_prstatus,
	.registers_from_qemu = from_qemu,
	.pt_regs_size = PT_REGS_SIZE,
	.registers_from_pt_regs = from_pt_regs,
	.prstatus_size = PRSTATUS_WHOLE,
	.registers_to_prstatus = to_prstatus,
	/* Kernel arch/x86/include/asm/pgtable_64_types.h: MODULES_VADDR of kernels that can be
	 * loaded anywhere, and MODULES_END. */
	.modules_start = 0xffffffffc0000000,
	.modules_end = 0xffffffffff000000,
	.is_possible = is_possible,
	.is_user_mode = is_user_mode,
};
