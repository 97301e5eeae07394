/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Register numbers of x86-64 (struct registers). Their order is the one in which
 * register blocks are shown, three a line.
 */
#ifndef DEBUGGER_TARGET_ARCH_X86_64_H
#define DEBUGGER_TARGET_ARCH_X86_64_H

enum x86_64_register {
	X86_64_RIP,
	X86_64_RSP,
	X86_64_RFLAGS,
	X86_64_RAX,
	X86_64_RBX,
	X86_64_RCX,
	X86_64_RDX,
	X86_64_RSI,
	X86_64_RDI,
	X86_64_RBP,
	X86_64_R8,
	X86_64_R9,
	X86_64_R10,
	X86_64_R11,
	X86_64_R12,
	X86_64_R13,
	X86_64_R14,
	X86_64_R15,
	X86_64_ORIG_RAX,
	X86_64_CS,
	X86_64_SS,
	X86_64_DS,
	X86_64_ES,
	X86_64_FS,
	X86_64_GS,
	X86_64_FS_BASE,
	X86_64_GS_BASE,
	X86_64_CR0,
	X86_64_CR2,
	X86_64_CR3,
	X86_64_CR4,
	X86_64_REGISTER_COUNT
};

#endif
