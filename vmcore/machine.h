/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The processor of a dump, by the name that `uname -m` has for it. */
#ifndef VMCORE_MACHINE_H
#define VMCORE_MACHINE_H

#include "vmcore/notes.h"
#include "vmcore/vmcoreinfo.h"

#define MACHINE_NAME_SIZE 16

/* "x86_64"; "ELF 4711" for a number that no Linux has. */
void machine_of_elf(uint16_t machine, uint8_t word_size, bool big_endian,
		    char ret[MACHINE_NAME_SIZE]);
/* From the word in a header; "" when it says nothing. */
void machine_of_word(const char *word, bool big_endian, char ret[MACHINE_NAME_SIZE]);
/*
 * For headers that do not name it: from keys that only one architecture writes into VMCOREINFO
 * (NULL: none there), else from the size of the PRSTATUS notes; "" when neither says.
 */
const char *machine_guess(const struct vmcoreinfo *info, const struct notes *notes,
			  bool big_endian);

#endif
