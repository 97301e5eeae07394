// SPDX-License-Identifier: GPL-3.0-or-later
#include "vmcore/machine.h"

#include "base/array.h"

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

/* sizeof(struct elf_prstatus) */
static const struct {
	size_t size;
	const char *machine;
} sizes[] = {
	{ 336, "x86_64" },
	{ 392, "aarch64" },
	{ 376, "riscv64" },
	{ 144, "i386" },
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
				return big_endian ? "s390x" : sizes[i].machine;
	return "";
}
