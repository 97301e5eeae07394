/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The header of an ELF core of an x86-64, behind which its program headers begin. */
#ifndef TESTS_UNIT_ELF_HEADER_H
#define TESTS_UNIT_ELF_HEADER_H

#include <elf.h>

static inline Elf64_Ehdr elf_core_header(uint16_t segments)
{
	return (Elf64_Ehdr){ .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1 },
			     .e_type = ET_CORE,
			     .e_machine = EM_X86_64,
			     .e_version = 1,
			     .e_phoff = sizeof(Elf64_Ehdr),
			     .e_ehsize = sizeof(Elf64_Ehdr),
			     .e_phentsize = sizeof(Elf64_Phdr),
			     .e_phnum = segments };
}

#endif
