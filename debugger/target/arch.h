/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What differs between processors. To add one:
 *  1. debugger/target/arch_NAME.c with one `const struct arch`;
 *  2. its page-table walk behind translator_create();
 *  3. the layouts of PRSTATUS and pt_regs behind registers_from_*();
 *  4. a line in archs[] (arch.c);
 *  5. an unwind step of its own where ORC does not serve (debugger/unwind).
 */
#ifndef DEBUGGER_TARGET_ARCH_H
#define DEBUGGER_TARGET_ARCH_H

#include "base/error.h"
#include "base/memory.h"
#include "debugger/target/page_walk.h"
#include "vmcore/virtual.h"
#include "vmcore/vmcoreinfo.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REGISTERS_MAX 64

/* Values of some registers; bit N of `known` says whether values[N] is one. */
struct registers {
	uint64_t values[REGISTERS_MAX];
	uint64_t known;
};

static inline bool registers_has(const struct registers *registers, unsigned int number)
{
	return registers->known >> number & 1;
}

static inline void registers_set(struct registers *registers, unsigned int number, uint64_t value)
{
	registers->values[number] = value;
	registers->known |= (uint64_t)1 << number;
}

static inline void registers_forget(struct registers *registers, unsigned int number)
{
	registers->known &= ~((uint64_t)1 << number);
}

struct arch {
	const char *name; /* as vmcore_facts.machine says it */
	uint8_t word_size;
	const char *const *register_names; /* lower case, as in C and assembly: "rax" */
	unsigned int register_count;
	unsigned int pc, sp, fp; /* their numbers */

	/*
	 * A translator from VMCOREINFO and physical memory. Caller frees it with free(). Errors say
	 * which key is missing.
	 */
	struct error *(*translator_create)(struct memory *physical, const struct vmcoreinfo *info,
					   struct translator **ret);
	/*
	 * One address through the tables whose top one lies at a physical address, or through the
	 * kernel's (PAGE_ROOT_KERNEL), by such a translator. Errors: of a table that cannot be
	 * read, with the virtual address; *ret then has the steps until there, and what the table
	 * is of.
	 */
	struct error *(*page_walk)(const struct translator *translator, uint64_t root,
				   uint64_t address, struct page_walk *ret);
	/* The names of the bits of an entry, lowest first; NULL: it has none. */
	const char *const *page_flags;
	size_t page_flag_count;
	/* Registers of an ELF NT_PRSTATUS note / QEMU's note; false when too short. `*pid`: pr_pid.
	 */
	bool (*registers_from_prstatus)(const uint8_t *data, size_t size, struct registers *ret,
					int32_t *pid);
	bool (*registers_from_qemu)(const uint8_t *data, size_t size, struct registers *ret);
	/* struct pt_regs as it lies in memory: size in bytes, and decoding of that many bytes. */
	size_t pt_regs_size;
	void (*registers_from_pt_regs)(const uint8_t *data, struct registers *ret);
	/* A PRSTATUS note: size in bytes, and where its registers go; what is not known is 0. */
	size_t prstatus_size;
	void (*registers_to_prstatus)(const struct registers *registers, uint8_t *data);
	/* Where the kernel may put modules: the first address, and the one behind the last. */
	uint64_t modules_start, modules_end;
	/* What an exception can have saved: selectors, flags and pc that no code runs with are not.
	 */
	bool (*is_possible)(const struct registers *registers);
	/* The registers are of user mode. */
	bool (*is_user_mode)(const struct registers *registers);
};

extern const struct arch arch_x86_64;

/* NULL when unknown. */
const struct arch *arch_find(const char *machine);

#endif
