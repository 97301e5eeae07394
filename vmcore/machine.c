// SPDX-License-Identifier: GPL-3.0-or-later
#include "vmcore/machine.h"

#include "base/array.h"
#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#ifndef EM_LOONGARCH
#define EM_LOONGARCH 258
#endif

/* Every machine that Linux ran on; a NULL name: as in the column before. */
static const struct {
	uint16_t machine;
	const char *name;   /* of 32 bits where there are both */
	const char *wide;   /* of 64 bits */
	const char *little; /* of 64 bits, the least significant byte first */
} elf_machines[] = {
	{ EM_X86_64, "x86_64", NULL, NULL },
	{ EM_AARCH64, "aarch64", NULL, NULL },
	{ EM_S390, "s390", "s390x", NULL },
	{ EM_PPC64, "ppc64", "ppc64", "ppc64le" },
	{ EM_RISCV, "riscv32", "riscv64", NULL },
	{ EM_LOONGARCH, "loongarch32", "loongarch64", NULL },
	{ EM_386, "i386", NULL, NULL },
	{ EM_ARM, "arm", NULL, NULL },
	{ EM_PPC, "ppc", NULL, NULL },
	{ EM_MIPS, "mips", "mips64", NULL },
	{ EM_IA_64, "ia64", NULL, NULL },
	{ EM_SPARC, "sparc", NULL, NULL },
	{ EM_SPARCV9, "sparc64", NULL, NULL },
	{ EM_PARISC, "parisc", "parisc64", NULL },
	{ EM_ALPHA, "alpha", NULL, NULL },
	{ EM_68K, "m68k", NULL, NULL },
	{ EM_SH, "sh", NULL, NULL },
	{ EM_ARCV2, "arc", NULL, NULL },
	{ EM_ARC_COMPACT, "arc", NULL, NULL },
	{ EM_MICROBLAZE, "microblaze", NULL, NULL },
	{ EM_ALTERA_NIOS2, "nios2", NULL, NULL },
	{ EM_OPENRISC, "openrisc", NULL, NULL },
	{ EM_XTENSA, "xtensa", NULL, NULL },
	{ EM_CSKY, "csky", NULL, NULL },
};

void machine_of_elf(uint16_t machine, uint8_t word_size, bool big_endian,
		    char ret[MACHINE_NAME_SIZE])
{
	for (size_t i = 0; i < ARRAY_COUNT(elf_machines); i++) {
		if (elf_machines[i].machine != machine)
			continue;
		const char *name = elf_machines[i].name;
		if (word_size == 8 && elf_machines[i].wide)
			name = elf_machines[i].wide;
		if (word_size == 8 && !big_endian && elf_machines[i].little)
			name = elf_machines[i].little;
		snprintf(ret, MACHINE_NAME_SIZE, "%s", name);
		return;
	}
	snprintf(ret, MACHINE_NAME_SIZE, "ELF %u", machine);
}

/*
 * Other words for one machine. QEMU's dump.c writes ELF_MACHINE_UNAME of its target's cpu.h, in
 * capitals, and "Unknown" for most.
 */
static const struct {
	const char *word, *big, *little;
} words[] = {
	{ "Unknown", "", "" },
	{ "arm64", "aarch64", "aarch64" },
	{ "aarch64_be", "aarch64", "aarch64" },
	{ "ia32", "i386", "i386" },
	{ "i486", "i386", "i386" },
	{ "i586", "i386", "i386" },
	{ "i686", "i386", "i386" },
	{ "ppc64", "ppc64", "ppc64le" },
	{ "S390X", "s390x", "s390x" },
	{ "X86_64", "x86_64", "x86_64" },
};

void machine_of_word(const char *word, bool big_endian, char ret[MACHINE_NAME_SIZE])
{
	for (size_t i = 0; i < ARRAY_COUNT(words); i++)
		if (!strcasecmp(word, words[i].word))
			word = big_endian ? words[i].big : words[i].little;
	snprintf(ret, MACHINE_NAME_SIZE, "%.*s", MACHINE_NAME_SIZE - 1, word);
}

/* Kernel arch/<name>/kernel/{machine_kexec,vmcore_info,crash_core}.c: arch_crash_save_vmcoreinfo()
 */
static const struct {
	const char *key, *machine;
} keys[] = {
	{ "NUMBER(phys_base)", "x86_64" },
	{ "NUMBER(pgtable_l5_enabled)", "x86_64" },
	{ "NUMBER(kimage_voffset)", "aarch64" },
	{ "SYMBOL(lowcore_ptr)", "s390x" },
	{ "NUMBER(va_kernel_pa_offset)", "riscv64" },
};

/* sizeof(struct elf_prstatus); "": no such machine */
static const struct {
	size_t size;
	const char *little, *big;
} sizes[] = {
	{ 336, "x86_64", "s390x" },
	{ 392, "aarch64", "aarch64" },
	{ 376, "riscv64", "" },
	{ 144, "i386", "" },
	{ 480, "loongarch64", "mips64" },
	{ 504, "ppc64le", "ppc64" },
	{ 148, "arm", "arm" },
	{ 268, "", "ppc" },
	{ 224, "", "s390" },
};

const char *machine_guess(const struct vmcoreinfo *info, const struct notes *notes, bool big_endian)
{
	for (size_t i = 0; info && i < ARRAY_COUNT(keys); i++)
		if (vmcoreinfo_get(info, keys[i].key))
			return keys[i].machine;
	for (size_t note = 0; note < notes->cpu_count; note++)
		for (size_t i = 0; i < ARRAY_COUNT(sizes); i++)
			if (notes->cpus[note].kind == CPU_NOTE_PRSTATUS &&
			    notes->cpus[note].size == sizes[i].size)
				return big_endian ? sizes[i].big : sizes[i].little;
	return "";
}
